// SPDX-License-Identifier: Apache-2.0
// Flush seams for equations of motion (equations.h): contacts with what is no surface, because another
// piece of the same solid covers it.
//
// It is the rule of collision/seams.c, asked of one place at a time. S touches the piece T in p, n points
// out of T, and C is another piece that does not move against T. The touch is none if
//
//     1. p lies in C as well,
//     2. C has a point x with n.(x - p) > 0,
//     3. T does not stand out of C at p: a point above p, as high as S lies over the surface of C, is not
//        in T.
//
// Proof. C is convex, so that the way from p to x lies in the solid, and along it the distance to S falls
// from the beginning: p is no place where the solid is nearest to S, and by 3 none that S could come to
// along C. Unlike a comparison of two distances, 2 is of first order in how far S is from the seam: just
// beside it, where both distances are the same to round-off, it still decides.
//
// What has one place with everything (a ball, an ellipsoid) goes over to C there: gap and normal of its
// touch with T are those with C, so that a step that ends beyond a seam sees the floor that is there.
//
// Cost: nothing without neighbours that touch each other and the same shape; else a distance or two a
// place.
#include "world/equations/equations.h"

#include "core/error.h"

#define ROUNDING 1e-12 // of distances from the origin and sizes
#define COVERED (-1.0) // a domain that does not hold the place

static double size_of(const CniPlaced *shape) {
  return cni_shape_unbounded(shape->kind) ? 0 : cni_shape_outradius(shape);
}

// Distance of a point from a shape, negative inside; INFINITY beyond the margin.
static double distance(const CniPlaced *shape, CnVec3 point, double margin) {
  CniPlaced at = {.kind = CN_SHAPE_SPHERE, .pose = {point, CN_QUAT_ONE}};
  CniManifold manifold;
  cni_collide(&at, shape, margin, &manifold);
  return manifold.count > 0 ? manifold.points[0].gap : INFINITY;
}

// Does `cover` make x, on `piece` with the outward normal n, no surface for `other`?
static int hides(const CniPlaced *cover, const CniPlaced *piece, const CniPlaced *other, CnVec3 x,
                 CnVec3 n) {
  double small = ROUNDING * (fabs(x.x) + fabs(x.y) + fabs(x.z) + size_of(piece));
  if (!cni_shape_unbounded(cover->kind) &&
      cn_norm(cn_sub(x, cover->pose.position)) > size_of(cover) + small)
    return 0;
  if (!(distance(cover, x, 2 * small) <= small) || !(cni_shape_beyond(cover, x, n) > 4 * small))
    return 0;
  CniPlaces over = cni_places(cover, other);
  CnVec3 above = cn_madd(x, cn_max(-over.gap, 0) + 8 * small, over.normal);
  return !(distance(piece, above, 4 * small) <= 2 * small);
}

int32_t cni_touch_cover(const CniModel *model, CnPose pose_a, CnPose pose_b,
                        const CniWorldTouch *touch, const CniTouchFrame *f, CniPlaced *cover) {
  pose_a.rotation = cn_qunit(pose_a.rotation);
  pose_b.rotation = cn_qunit(pose_b.rotation);
  CniPlaced a = cni_model_placed(model, touch->shape_a, &pose_a);
  CniPlaced b = cni_model_placed(model, touch->shape_b, &pose_b);
  for (int32_t i = 0; i < touch->cover_count; i++) {
    const CniCover *c = &touch->covers[i];
    CnPose body = cn_pose_mul(c->of_b ? pose_b : pose_a, c->seen);
    CnVec3 x = c->of_b ? cn_add(pose_b.position, f->arm_b) : cn_add(pose_a.position, f->arm_a);
    *cover = cni_model_placed(model, c->shape, &body);
    if (hides(cover, c->of_b ? &b : &a, c->of_b ? &a : &b, x,
              c->of_b ? cn_neg(f->axis[0]) : f->axis[0]))
      return c->of_b ? 2 : 1;
  }
  return 0;
}

double cni_touch_domain(const CniModel *model, const CnPose *pose, const CniWorldTouch *touch) {
  CniPlaced cover;
  CnPose a = pose[touch->body_a], b = pose[touch->body_b];
  CniTouchFrame f = cni_touch_between(model, a, b, touch);
  if (touch->cover_count == 0 || !(f.domain >= 0)) return f.domain;
  return cni_touch_cover(model, a, b, touch, &f, &cover) ? COVERED : f.domain;
}

// ---- which may cover which ----

static int is_piece(const CniModel *model, int32_t shape) {
  const CniBody *body = &model->bodies[model->shapes[shape].body];
  return body->kind == CN_BODY_FIXED || model->shapes[body->first_shape].next >= 0;
}

static int one_solid(const CniModel *model, int32_t p, int32_t q) {
  int32_t a = model->shapes[p].body, b = model->shapes[q].body;
  return p != q && is_piece(model, p) && is_piece(model, q) &&
         (a == b ||
          (model->bodies[a].kind == CN_BODY_FIXED && model->bodies[b].kind == CN_BODY_FIXED));
}

static int adjoin(const CniModel *model, const CnPose *pose, int32_t p, int32_t q) {
  CniPlaced a = cni_model_placed(model, p, &pose[model->shapes[p].body]);
  CniPlaced b = cni_model_placed(model, q, &pose[model->shapes[q].body]);
  if (cni_shape_unbounded(a.kind) && cni_shape_unbounded(b.kind)) return 0;
  CnVec3 x = cni_shape_unbounded(a.kind) ? b.pose.position : a.pose.position;
  double small = ROUNDING * (fabs(x.x) + fabs(x.y) + fabs(x.z) + size_of(&a) + size_of(&b));
  return cni_places(&a, &b).gap <= small;
}

// The next touch of other shapes.
static int32_t next_pair(const struct CniWorldEquations *eq, int32_t i) {
  const CniWorldTouch *own = &eq->touches[i];
  for (i++; i < eq->equations.contact_count; i++)
    if (eq->touches[i].shape_a != own->shape_a || eq->touches[i].shape_b != own->shape_b) break;
  return i;
}

// What may cover the shapes of a touch; `covers` null: their number.
static int32_t list_covers(const CnWorld *world, const struct CniWorldEquations *eq,
                           const CnPose *pose, const CniWorldTouch *touch, CniCover *covers) {
  const CniModel *model = &world->now.model;
  int32_t count = 0;
  for (int32_t j = 0; j < eq->equations.contact_count; j = next_pair(eq, j)) {
    const CniWorldTouch *near = &eq->touches[j];
    for (int32_t of_b = 0; of_b < 2; of_b++) {
      int32_t piece = of_b ? touch->shape_b : touch->shape_a;
      int32_t other = of_b ? touch->shape_a : touch->shape_b;
      int32_t cover = near->shape_a == other   ? near->shape_b
                      : near->shape_b == other ? near->shape_a
                                               : -1;
      if (cover < 0 || !one_solid(model, piece, cover) || !adjoin(model, pose, piece, cover))
        continue;
      CnPose from = pose[model->shapes[piece].body], to = pose[model->shapes[cover].body];
      if (covers)
        covers[count] = (CniCover){cover, of_b,
                                   model->shapes[piece].body == model->shapes[cover].body
                                       ? CN_POSE_ONE
                                       : cn_pose_mul(cn_pose_inverse(from), to)};
      count++;
    }
  }
  return count;
}

CnStatus cni_covers_find(CnWorld *world, struct CniWorldEquations *eq, const CnPose *pose) {
  int32_t count = eq->equations.contact_count;
  for (int32_t i = 0, next; i < count; i = next) {
    next = next_pair(eq, i);
    int32_t covers = list_covers(world, eq, pose, &eq->touches[i], NULL);
    CniCover *list = NULL;
    if (covers == 0) continue;
    CNI_TRY(cni_equations_take(world, covers, sizeof *list, &list));
    list_covers(world, eq, pose, &eq->touches[i], list);
    for (int32_t k = i; k < next; k++) {
      eq->touches[k].covers = list;
      eq->touches[k].cover_count = covers;
    }
    eq->equations.domains = cni_touches_domains;
  }
  return CN_OK;
}
