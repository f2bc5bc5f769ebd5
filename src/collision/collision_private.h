// SPDX-License-Identifier: Apache-2.0
// What the stages of a detection share with each other and with nobody else.
#ifndef CNI_COLLISION_PRIVATE_H
#define CNI_COLLISION_PRIVATE_H

#include "collision/broad_private.h"

#define CNI_PRESCRIBED 1u   // no inverse mass
#define CNI_ENDLESS 2u      // a half-space
#define CNI_JOINTED 4u      // its body has a joint
#define CNI_IS_SPHERE 8u    // a sphere
#define CNI_CHOOSY 16u      // whom it meets is to be asked: mask, trigger, pairs that are disabled
#define CNI_OFFSET 32u      // it is not at the origin of its body
#define CNI_LONE 64u        // the only shape of its body
#define CNI_PIECE 128u      // bounded, and maybe a part of a larger solid (seams.c)
#define CNI_CONTINUOUS 256u // its body stops where it touches (sweep.c)
#define CNI_IS_MESH 512u    // a surface of triangles
#define CNI_GHOST 1024u     // its category or its mask is empty: it meets nobody
#define CNI_AHEAD 8         // pairs whose data is fetched ahead of use: they may lie anywhere

// What decides about a pair before its shapes are looked at, one cache line.
typedef struct CniProxy {
  CnVec3 centre; // of the bounding ball; of a half-space: a point of its surface
  double outradius;
  double base;  // m, its share of the margin if it is the smaller one
  double reach; // m, in this step; of a half-space without its spin
  int32_t body;
  uint32_t slot;
  uint32_t flags;
  int32_t plane; // which one, of a half-space
} CniProxy;
_Static_assert(sizeof(CniProxy) == 64, "a proxy is one cache line");

typedef struct CniPlane {
  CnVec3 up;
  double height;      // of its surface along `up`, from the origin
  double far;         // |x| + |y| + |z| of its point
  double base, reach; // as in its proxy
  int32_t shape;
  int32_t rotates; // it turns, and reaches farther the farther away it is touched
} CniPlane;

// The contacts of one block of pairs. What does not fit is counted all the same.
typedef struct CniContactChunk {
  CniContact *contacts;
  int32_t room, count;
  int32_t others;  // pairs without a sphere, which may have several points
  int32_t points;  // of those
  int32_t again;   // it had not enough room
  uint32_t pieces; // CNI_PIECE: some of them are of pieces
} CniContactChunk;

// Contacts of one pair, as its manifolds come.
typedef struct CniTouching {
  CniPair pair;
  int32_t body_a, body_b;
  CniContactChunk *part;
  int32_t first;     // of its contacts in the part
  int32_t manifolds; // taken
} CniTouching;

// Where a shape has to stay for the list of candidates to be good, seen from the list's origin. It
// lies in the wide bounds that the list was made with, whatever the rounding.
typedef struct CniWide {
  float centre[3];
  float half; // along x; of a ball: its radius
} CniWide;
// What is not a ball has two sides more; of balls they are -1.
typedef struct CniWideSides {
  float y, z;
} CniWideSides;

// Two shapes that may meet in this step, one of them of a continuous body.
typedef struct CniSwept {
  int32_t a, b;
  double reach_a, reach_b; // how far they were expected to come
  double size;             // outradii of both
} CniSwept;

// Shapes that are looked at for the bodies of one of several ranks (some.c), ascending.
typedef struct CniSome {
  int32_t *shapes;
  int32_t count, capacity; // count 0: all of them
  int32_t of;              // shapes of the model
  int32_t first_body, last_body;
  CniBounds box;   // the bodies' shapes are in it, and no shape that is left out
  uint64_t edits;  // of the model
  uint64_t number; // of choices made
} CniSome;

struct CniCollision {
  CnAllocator allocator;
  CniSome of_some;
  const CniBroadPhase *broad;
  CniArena arena; // for calls that bring none
  double points;  // expected of a pair without a sphere: a guess of room, never seen in the result
  int32_t expected; // contacts that the last call had room for: a guess likewise
  CniSwept *swept;  // of the last call
  int32_t swept_count, swept_capacity;

  // candidates: see candidates.c
  CniWide *wide;       // per shape
  CniWideSides *sides; // likewise; null: there have been balls and half-spaces only
  CnVec3 origin;       // of these
  int32_t *starts;     // per shape and one more: where its pairs begin
  int32_t *partners;   // the larger indices of the pairs of a shape, ascending
  uint8_t *near;       // per shape: it may come near one of the planes
  CniPlane *planes;    // half-spaces that there were, all at rest
  int32_t wide_capacity, side_capacity, start_capacity, partner_capacity;
  int32_t near_capacity, plane_capacity;
  int32_t plane_count; // of these; -1: one moved
  int32_t wide_count;  // shapes there were; -1: the list is not valid
  int32_t pair_count;
  CniHint *axes; // of the partners; null: there have been balls and half-spaces only
  int32_t axis_capacity;
  uint64_t axis_edits; // of the model that the axes of surfaces were found with
  int32_t axis_rows;   // shapes there were when axes, starts and partners were made together
  int32_t some, first_body, last_body; // whose pairs are in the list: as in the input
  uint64_t edits;  // of the model that the list of some was made for: masses tell whose a pair is
  int32_t age;     // calls that the list has served
  int32_t hurried; // lists in a row that served one call only
  int32_t narrow_left; // lists yet to be made without a skin
};

// One detection.
typedef struct CniDetection {
  const CniCollisionInput *in;
  const CniCollision *collision;
  CniArena *arena; // working memory
  CniArenaMark start;
  size_t headroom; // bytes left free in front of all working memory, for the contacts
  int32_t count;   // shapes
  double gravity;  // m/s^2, its size
  CniProxy *proxies;
  CniPlaced *placed; // of shapes that are neither balls nor half-spaces; null: not kept
  CniPlane *planes;
  int32_t plane_count;
  const uint8_t *near; // per shape: may it be near a half-space? null: all may
  int32_t has_others;  // there are shapes that are neither balls nor half-spaces
  int32_t has_continuous;
  int32_t key_shift; // key = smaller index << key_shift | larger
  uint64_t *keys;    // pairs that are left, ascending
  int32_t key_count;
  CniContact *contacts;
  int32_t contact_room;
  CniContactChunk *parts; // of the contacts, one a block of pairs
  int32_t part_count;
  int32_t overflow; // a second try is under way: only parts that had not enough room
} CniDetection;

// some.c: the shapes to be looked at, and a model that has no others, in the arena; null: all are.
CnStatus cni_some_choose(CniCollision *c, const CniDetection *w, CniModel **chosen);
// Contacts of shapes of that model become those of the whole one.
void cni_some_name(const CniCollision *c, CniContact *contacts, int32_t count);
// place.c: what there is to know of a shape. A half-space has no number yet.
CniProxy cni_proxy_of(const CniDetection *w, int32_t shape);
// proxies of all shapes; *inside: every shape is within its wide bounds.
CnStatus cni_detection_place(CniCollision *c, CniDetection *w, int32_t *inside);
// The bounds of a shape grown by its reach, its share of the margin and a skin, m.
CniBounds cni_grown_bounds(const CniDetection *w, int32_t shape, double skin);
// candidates.c
CnStatus cni_detection_candidates(CniCollision *c, CniDetection *w);
// axes.c: the axis of a pair of the list, to be read and set; null: it has none. When the list is
// made anew, the old ones are put aside and those of pairs that stay taken over.
typedef struct CniOldAxes {
  int32_t *starts, *partners, rows;
  CniHint *axes;
} CniOldAxes;
CniHint *cni_axis_of(const CniCollision *c, CniPair pair);
CnStatus cni_axes_leave(CniCollision *c, const CniDetection *w, CniOldAxes *old);
CnStatus cni_axes_take(CniCollision *c, const CniDetection *w, const CniOldAxes *old);
void cni_axes_check(CniCollision *c,
                    const CniDetection *w); // of surfaces: those of changed shapes go
// cull.c
CnStatus cni_detection_cull(CniCollision *c, CniDetection *w);
void cni_detection_filter(CniDetection *w);
// narrow.c: how many contacts there may be, cut into parts; then those that there are, with room
// for as many.
CnStatus cni_detection_parts(CniCollision *c, CniDetection *w);
CnStatus cni_detection_narrow(CniCollision *c, CniDetection *w, int32_t *count);
// Take a manifold of a pair, a CniTouching; after the last: features ascend, none twice.
void cni_touching_take(void *touching, const CniManifold *manifold);
void cni_touching_end(const CniTouching *touching);

// aim.c: rows of open contacts turned to the place of closest approach. Of two spheres, 1: it was;
// the contacts of a pair from `first` on.
#define CNI_AIM_SLOP 1e-3 // of the smaller inradius: how wrong the distance of a row may be
int cni_aim_spheres(const CniDetection *w, const CniProxy *a, const CniProxy *b,
                    CniPointContact *touch);
// Can the distance of two spheres be so wrong, and the row act? Most of a pile cannot come far enough in a step.
static inline int cni_may_aim(const CniProxy *a, const CniProxy *b, double gap) {
  double reach = a->reach + b->reach, radius = a->outradius + b->outradius;
  return (gap < 1.001 * reach) & // whatever the rounding
         (reach * reach > 2 * radius * (CNI_AIM_SLOP * cn_min(a->outradius, b->outradius)));
}
void cni_aim_any(const CniDetection *w, const CniProxy *a, const CniProxy *b, CniPair pair,
                 CniContactChunk *part, int32_t first);

// sweep.c: pairs of continuous bodies. Their rows are for what is near.
int cni_is_swept(const CniDetection *w, const CniProxy *a, const CniProxy *b);
CnStatus cni_detection_swept(CniCollision *c, const CniDetection *w);
static inline double cni_swept_margin(const CniProxy *a, const CniProxy *b) {
  double base = cn_min(a->base, b->base);
  return base + cn_min(base, a->reach + b->reach);
}

// seams.c: contacts with what another piece of the same solid covers are taken out.
CnStatus cni_detection_seams(CniDetection *w, int32_t *count);

// Are contacts of a pair looked for in this detection?
static inline int cni_is_looked_for(const CniCollisionInput *in, const CniProxy *a,
                                    const CniProxy *b) {
  int32_t low = a->body < b->body ? a->body : b->body;
  if (!in->some) return 1;
  if (a->flags & CNI_PRESCRIBED) low = b->body;
  if (b->flags & CNI_PRESCRIBED) low = a->body;
  return low >= in->first_body && low < in->last_body;
}

// The outward normal of a half-space.
static inline CnVec3 cni_plane_up(const CniPlaced *plane) {
  return cn_qmat(plane->pose.rotation).z;
}

static inline CniPair cni_pair_of(const CniDetection *w, uint64_t key) {
  uint64_t mask = ((uint64_t)1 << w->key_shift) - 1;
  return (CniPair){(int32_t)(key >> w->key_shift), (int32_t)(key & mask)};
}

static inline CniPair cni_key_pair(const CniDetection *w, int32_t k) {
  return cni_pair_of(w, w->keys[k]);
}

static inline CniPlaced cni_placed(const CniDetection *w, int32_t shape) {
  const CniModel *m = w->in->model;
  return cni_model_placed(m, shape, &w->in->pose[m->shapes[shape].body]);
}

// The same, where it was placed already.
static inline const CniPlaced *cni_placed_at(const CniDetection *w, int32_t shape,
                                             CniPlaced *room) {
  const uint32_t others = CNI_IS_SPHERE | CNI_ENDLESS;
  if (w->placed && !(w->proxies[shape].flags & others)) return &w->placed[shape];
  *room = cni_placed(w, shape);
  return room;
}

// What the spin of a half-space adds to its reach where the other shape is.
static inline double cni_plane_swing(const CniDetection *w, const CniProxy *plane,
                                     const CniProxy *other) {
  if (!w->planes[plane->plane].rotates) return 0;
  CnVec3 arm = cn_sub(other->centre, w->in->pose[plane->body].position);
  double r = cn_norm(arm) + other->outradius + other->reach;
  return w->in->time_step * cn_norm(w->in->twist[plane->body].spin) * r;
}

static inline double cni_pair_margin(const CniDetection *w, const CniProxy *a, const CniProxy *b) {
  double margin = cn_min(a->base, b->base) + a->reach + b->reach;
  if (a->flags & CNI_ENDLESS) margin += cni_plane_swing(w, a, b);
  if (b->flags & CNI_ENDLESS) margin += cni_plane_swing(w, b, a);
  return margin;
}

#endif
