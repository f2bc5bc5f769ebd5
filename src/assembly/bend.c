// SPDX-License-Identifier: Apache-2.0
// Round bodies that roll and rock: a row of a step follows the tangent of a surface, and the surface
// bends away from it, or towards it.
//
// A body that touches with the radius of curvature R, its centre of mass at the height H over the
// place, and turns at w has after the step h the gap
//
//     phi + h u_n + 1/2 h^2 w^2 (H - R) + ...
//
// so that one which rocks upright on a flat side (R > H) sinks in a little in every step, and the row
// must ask for u_n >= -(phi + c)/h with that third term c. In general c is the gap of the two shapes
// where their present twists would bring them, less what the row says of it; it belongs to shapes that
// touch in one place, bore a load there and go on touching. A rim that rolls has points ahead of it and behind it
// as well, which do not touch: a coin that wobbles at the tilt t goes round 1/sin t times as fast as it turns, and
// sinks by that factor more. What is more than 1/2 h^2 w^2 times FLATTEST sizes (STEEPEST of a rim) is no
// curvature: another place comes into contact. The points beside it may come lower by as much: where the rim touches
// at the end of the step the row of the lowest point has seen to. A flat face is taken for the plane that it lies
// in: where it ends is not curvature either, and another piece of the floor may go on there.
//
// Two balls, a ball on a plane, and what does not turn have none of it. Cost: one look at the pair.
#include "assembly/assembly_private.h"

#define LEAST 1e-3  // of the slop: less is not worth a look
#define FLATTEST 16 // radius of curvature, in sizes
#define STEEPEST 64 // of a rim whose other points are seen: a tilt of 1/64
#define NEAR 0.5    // of the smaller outradius
#define FLAT 1e-9   // of normals: those of a contact and of a face are one

static int bends(const CniModel *m, int32_t shape) {
  if (m->shapes[shape].kind == CN_SHAPE_CAPSULE) return 1;
  return (cni_shape_kinds[m->shapes[shape].kind]->flags & CNI_SHAPE_CURVED) != 0;
}

// Is it the only contact of its two shapes that touches? Then how much of most it may bend, else 0.
static double alone(const CniAssemblyInput *in, int32_t i, double slop) {
  const CniContact *c = &in->contacts[i];
  uint64_t rank = cni_contact_rank(c);
  double share = FLATTEST;
  for (int32_t way = -1; way <= 1; way += 2)
    for (int32_t k = i + way; k >= 0 && k < in->contact_count; k += way) {
      const CniContact *other = &in->contacts[k];
      if (cni_contact_rank(other) != rank) break;
      if (other->gap <= c->gap + slop) return 0;
      share = STEEPEST;
    }
  return share;
}

static CnTwist twist_of(const CniAssemblyInput *in, int32_t body) {
  if (in->model->bodies[body].kind == CN_BODY_FIXED) return (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  return in->twist[body];
}

static CniPlaced carried(const CniAssemblyInput *in, int32_t shape, int32_t body, CnTwist twist) {
  double h = in->time_step;
  CnPose pose = in->pose[body];
  pose.position = cn_madd(pose.position, h, twist.velocity);
  pose.rotation = cn_qunit(cn_qmul(cni_quat_exp(cn_scale(h, twist.spin)), pose.rotation));
  return cni_model_placed(in->model, shape, &pose);
}

// Does one side of a contact touch with a flat face? Its outward normal is n. Of a surface the name of the
// contact tells.
static int is_flat(const CniContact *c, int32_t side, const CniPlaced *shape, CnVec3 n) {
  const CniShapeKind *kind = cni_shape_kinds[shape->kind];
  CniFace face;
  if (cni_shape_is_surface(shape->kind))
    return (c->feature >> (side ? 0 : 10) & 0x3ffu) == CNI_FEATURE_FACE;
  if (kind->flags & (CNI_SHAPE_CURVED | CNI_SHAPE_UNBOUNDED | CNI_SHAPE_SURFACE)) return 0;
  CnVec3 own = cn_unrotate(shape->pose.rotation, n);
  kind->face(shape, own, &face);
  return face.count > 2 && cn_norm(cn_sub(face.normal, own)) <= FLAT;
}

// The place of a shape that is farthest along a direction.
static CnVec3 farthest(const CniPlaced *shape, CnVec3 direction) {
  const CniShapeKind *kind = cni_shape_kinds[shape->kind];
  uint32_t corner;
  CnVec3 own = kind->support(shape, cn_unrotate(shape->pose.rotation, direction), &corner);
  return cn_madd(cn_pose_point(shape->pose, own), kind->rounding(shape), direction);
}

// The gap after the step, and where: of a shape over a flat face of the other that goes with `body`, if there
// is one.
static double gap_then(const CniAssemblyInput *in, const CniContact *c, const CniPlaced *a,
                       const CniPlaced *b, CnVec3 *place) {
  for (int32_t side = 0; side < 2; side++) {
    int32_t shape = side ? c->shape_b : c->shape_a, body = side ? c->body_b : c->body_a;
    CniPlaced then = side ? *b : *a, now = cni_model_placed(in->model, shape, &in->pose[body]);
    CnVec3 n = side ? cn_neg(c->normal) : c->normal;
    if (!is_flat(c, side, &now, n)) continue;
    CnVec3 x = cn_pose_local(now.pose, cn_madd(c->point, -0.5 * c->gap, n));
    CnVec3 turned = cn_rotate(then.pose.rotation, cn_unrotate(now.pose.rotation, n));
    const CniPlaced *other = side ? a : b;
    if (cni_shape_unbounded(other->kind) || cni_shape_is_surface(other->kind)) break;
    *place = farthest(other, cn_neg(turned));
    return cn_dot(turned, cn_sub(*place, cn_pose_point(then.pose, x)));
  }
  CniPlaces p = cni_places_of(a, b, c->feature, c->normal);
  *place = cn_madd(p.a, 0.5 * p.gap, p.normal);
  return p.gap;
}

// m/s: of the two bodies at a contact, with the present twists.
static void speeds_at(const CniAssemblyInput *in, const CniContact *c, CnTwist a, CnTwist b,
                      CnVec3 v[2]) {
  CnVec3 arm_a = cn_sub(c->point, in->pose[c->body_a].position);
  CnVec3 arm_b = cn_sub(c->point, in->pose[c->body_b].position);
  v[0] = cn_add(a.velocity, cn_cross(a.spin, arm_a));
  v[1] = cn_add(b.velocity, cn_cross(b.spin, arm_b));
}

// Is the place after the step near a contact, or nearer to it than to the others of its two shapes, which go on
// as the bodies do? What comes down elsewhere is the affair of the row there.
static int is_there(const CniAssemblyInput *in, int32_t low, CnTwist a, CnTwist b, CnVec3 place) {
  uint64_t rank = cni_contact_rank(&in->contacts[low]);
  const CniShape *shapes = in->model->shapes;
  const CniContact *at = &in->contacts[low];
  double size =
      cn_min(cni_model_outradius(&shapes[at->shape_a]), cni_model_outradius(&shapes[at->shape_b]));
  double own = 0, others = INFINITY, near2 = NEAR * NEAR * size * size;
  for (int32_t way = -1; way <= 1; way++)
    for (int32_t k = low + way; k >= 0 && k < in->contact_count; k += way) {
      const CniContact *c = &in->contacts[k];
      CnVec3 v[2];
      if (cni_contact_rank(c) != rank) break;
      speeds_at(in, c, a, b, v);
      CnVec3 then = cn_madd(c->point, 0.5 * in->time_step, cn_add(v[0], v[1]));
      double distance2 = cn_norm2(cn_sub(place, then));
      if (way != 0) others = cn_min(others, distance2);
      if (way == 0) own = distance2;
      if (way == 0) break;
    }
  return own <= near2 || own <= others;
}

// The one of the contacts of its two shapes with the least gap.
static int32_t lowest(const CniAssemblyInput *in, int32_t i) {
  uint64_t rank = cni_contact_rank(&in->contacts[i]);
  int32_t first = i, least;
  while (first > 0 && cni_contact_rank(&in->contacts[first - 1]) == rank) first--;
  least = first;
  for (int32_t k = first; k < in->contact_count && cni_contact_rank(&in->contacts[k]) == rank; k++)
    if (in->contacts[k].gap < in->contacts[least].gap) least = k;
  return least;
}

// Of the lowest contact of two shapes.
static double bend_of(const CniAssemblyInput *in, const CniContactPlan *plan, int32_t low) {
  const CniModel *m = in->model;
  const CniContact *c = &in->contacts[low];
  CnTwist a = twist_of(in, c->body_a), b = twist_of(in, c->body_b);
  double h = in->time_step, size = 0;
  if (!cni_shape_unbounded(m->shapes[c->shape_a].kind))
    size += cn_norm2(a.spin) * cni_model_outradius(&m->shapes[c->shape_a]);
  if (!cni_shape_unbounded(m->shapes[c->shape_b].kind))
    size += cn_norm2(b.spin) * cni_model_outradius(&m->shapes[c->shape_b]);
  double most = 0.5 * h * h * size;
  double slop = cni_contact_slop(in, plan, c);
  if (!(most > LEAST * slop) || c->gap > slop) return 0;
  double share = alone(in, low, slop);
  if (!(share > 0)) return 0;
  CniPlaced at_a = carried(in, c->shape_a, c->body_a, a);
  CniPlaced at_b = carried(in, c->shape_b, c->body_b, b);
  CnVec3 place, v[2];
  speeds_at(in, c, a, b, v);
  double speed = cn_dot(c->normal, cn_sub(v[1], v[0]));
  double way = gap_then(in, c, &at_a, &at_b, &place) - (c->gap + h * speed);
  if (!(fabs(way) <= share * most) || !is_there(in, low, a, b, place)) return 0;
  return way;
}

double cni_contact_bend(const CniAssemblyInput *in, const CniContactPlan *plan, int32_t i,
                        CniBend *last) {
  const CniModel *m = in->model;
  const CniContact *c = &in->contacts[i];
  if (!(bends(m, c->shape_a) || bends(m, c->shape_b)) || in->times) return 0;
  int32_t low = lowest(in, i);
  if (low != last->low) *last = (CniBend){low, bend_of(in, plan, low)};
  return low == i ? last->way : fabs(last->way);
}
