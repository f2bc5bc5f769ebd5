// SPDX-License-Identifier: Apache-2.0
// Seams: contacts with what is no surface, because another piece of the same solid covers it.
//
// A floor of boxes side by side is flat, but each box is known by itself: what slides over it meets
// the side of the next one, or the edge of it. Let S touch the piece T in points p (on the surface of
// T), and let T' be another piece that does not move against T. The contacts of S and T are left out
// if for all p
//
//     1. p lies in T' as well (or beside it, and is no place where T is nearest along the contact's normal),
//     2. T' is nearer to S than T is,
//     3. T does not stand out of T' at p: a point above p, as high as S lies over the surface of T',
//        is not in T.
//
// Proof. The distance to S is a convex function, and so is T'. Along the way from p to the point of
// T' that is nearest to S it falls from the beginning: by 1 that way lies in the solid, by 2 its end is
// nearer. So p is no place where the solid is nearest to S, not even locally, and by 3 it is none that
// S could come to along T'. A real step, however small, has a p outside T' or fails by 3. Pieces that
// do not touch (a slit) are two solids. The tolerance is that of the positions; of two that
// are equally near to it (a side just over a seam) one stays.
//
// Pieces are the shapes of fixed bodies, and those of a body that has several.
#include "collision/collision_private.h"

#include "core/error.h"
#include "core/sort.h"

// Of distances from the origin and sizes: how exact places are, and what a solve leaves of turns, which
// shift them along an edge.
#define ROUNDING 1e-12
#define SHIFTED 1e-6 // of the size: how far points of contact may be off along a surface

// The contacts of one pair, seen from the shape that is no piece or not this one.
typedef struct Side {
  int32_t shape, piece; // S and T
  int32_t first, count; // contacts
  double gap;           // the least
} Side;

static int is_piece(const CniDetection *w, int32_t shape) {
  uint32_t flags = w->proxies[shape].flags;
  return (flags & CNI_PIECE) || (flags & CNI_ENDLESS);
}

// The solid that a piece belongs to: all fixed bodies are one.
static uint32_t solid_of(const CniDetection *w, int32_t piece) {
  int32_t body = w->proxies[piece].body;
  return w->in->model->bodies[body].kind == CN_BODY_FIXED ? 0 : (uint32_t)body + 1;
}

// Distance of a point from a shape, negative inside.
static double distance(const CniDetection *w, int32_t shape, CnVec3 point, double margin) {
  CniPlaced placed = cni_placed(w, shape);
  CniPlaced at = {.kind = CN_SHAPE_SPHERE, .pose = {point, CN_QUAT_ONE}};
  CniManifold manifold;
  cni_collide(&at, &placed, margin, &manifold);
  return manifold.count > 0 ? manifold.points[0].gap : INFINITY;
}

// Outward normal of the piece in a contact.
static CnVec3 outward(const CniContact *c, int32_t piece) {
  return c->shape_a == piece ? c->normal : cn_neg(c->normal);
}

// How exact places are.
static double rounding(CnVec3 x, double size) {
  return ROUNDING * (fabs(x.x) + fabs(x.y) + fabs(x.z) + size);
}

static int covers(const CniDetection *w, const Side *side, const Side *other, int other_closed) {
  const CniProxy *p = &w->proxies[side->piece], *q = &w->proxies[other->piece];
  double size = p->flags & CNI_ENDLESS ? 0 : p->outradius;
  // one that is left out itself counts only where it is nearer without a doubt: of two one stays
  double tie = rounding(w->contacts[side->first].point, size);
  if (!(other->gap < side->gap + (other_closed ? -tie : tie))) return 0;
  CnVec3 up = outward(&w->contacts[other->first], other->piece);
  for (int32_t i = side->first; i < side->first + side->count; i++) {
    const CniContact *c = &w->contacts[i];
    CnVec3 x = cn_madd(c->point, -0.5 * c->gap, outward(c, side->piece));
    double small = rounding(x, size), reach = small;
    if (!(q->flags & CNI_ENDLESS)) {
      reach += q->outradius;
      if (cn_norm2(cn_sub(x, q->centre)) > reach * reach) return 0;
    }
    if (!(distance(w, other->piece, x, 2 * small) <= small)) {
      // a point farther on, of a round body that begins to lie on it: T has no such normal there
      CniPlaced piece = cni_placed(w, side->piece);
      if (!(distance(w, other->piece, x, SHIFTED * size) <= SHIFTED * size) ||
          !(c->gap > side->gap + small) ||
          !(cni_shape_beyond(&piece, x, outward(c, side->piece)) > small))
        return 0;
      continue;
    }
    CnVec3 above = cn_madd(x, cn_max(-other->gap, 0) + 8 * small, up);
    if (distance(w, side->piece, above, 4 * small) <= 2 * small) return 0;
  }
  return 1;
}

// Sides of the contacts, in their order: at most two of each.
static int32_t list_sides(const CniDetection *w, int32_t count, Side *sides) {
  int32_t n = 0;
  for (int32_t i = 0, next; i < count; i = next) {
    const CniContact *c = &w->contacts[i];
    double gap = c->gap;
    for (next = i + 1; next < count; next++) {
      const CniContact *d = &w->contacts[next];
      if (d->shape_a != c->shape_a || d->shape_b != c->shape_b) break;
      gap = cn_min(gap, d->gap);
    }
    if (is_piece(w, c->shape_a)) sides[n++] = (Side){c->shape_b, c->shape_a, i, next - i, gap};
    if (is_piece(w, c->shape_b)) sides[n++] = (Side){c->shape_a, c->shape_b, i, next - i, gap};
  }
  return n;
}

// Contacts of a group of sides, all of one shape and one solid, that another one covers.
static void close_group(CniDetection *w, const Side *sides, const int32_t *order, int32_t count,
                        uint8_t *closed) {
  for (int32_t i = 0; i < count; i++)
    for (int32_t j = 0; j < count && !closed[sides[order[i]].first]; j++)
      if (i != j && covers(w, &sides[order[i]], &sides[order[j]], closed[sides[order[j]].first]))
        closed[sides[order[i]].first] = 1;
}

static void take_out(CniDetection *w, const uint8_t *closed, int32_t *count) {
  int32_t n = 0, out = 0;
  for (int32_t i = 0; i < *count; i++) {
    const CniContact *c = &w->contacts[i], *last = c - (i > 0);
    if (i == 0 || cni_contact_rank(c) != cni_contact_rank(last)) out = closed[i];
    if (!out) w->contacts[n++] = *c;
  }
  *count = n;
}

CnStatus cni_detection_seams(CniDetection *w, int32_t *count) {
  CniArenaMark mark = cni_arena_mark(w->arena);
  Side *sides;
  uint8_t *closed;
  CniSort sort;
  CNI_TRY(cni_arena_array(w->arena, 2 * (int64_t)*count, sizeof *sides, &sides));
  CNI_TRY(cni_arena_array(w->arena, *count, 1, &closed));
  int32_t found = list_sides(w, *count, sides);
  CNI_TRY(cni_sort_init(&sort, w->arena, found));
  for (int32_t i = 0; i < found; i++) {
    sort.keys[i] = (uint64_t)sides[i].shape << 32 | solid_of(w, sides[i].piece);
    sort.values[i] = i;
  }
  cni_sort_keys(&sort, found, 32 + w->key_shift);
  for (int32_t i = 0, next; i < found; i = next) {
    for (next = i + 1; next < found && sort.keys[next] == sort.keys[i];) next++;
    if (next > i + 1) close_group(w, sides, &sort.values[i], next - i, closed);
  }
  take_out(w, closed, count);
  cni_arena_back(w->arena, mark);
  return CN_OK;
}
