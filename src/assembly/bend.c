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
#define FLAT 1e-9   // of normals: those of a contact and of a face are one

static int bends(const CniModel *m, int32_t shape) {
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

// The gap after the step: of a shape over a flat face of the other that goes with `body`, if there is one.
static double gap_then(const CniAssemblyInput *in, const CniContact *c, const CniPlaced *a,
                       const CniPlaced *b) {
  for (int32_t side = 0; side < 2; side++) {
    int32_t shape = side ? c->shape_b : c->shape_a, body = side ? c->body_b : c->body_a;
    CniPlaced then = side ? *b : *a, now = cni_model_placed(in->model, shape, &in->pose[body]);
    CnVec3 n = side ? cn_neg(c->normal) : c->normal;
    if (!is_flat(c, side, &now, n)) continue;
    CnVec3 x = cn_pose_local(now.pose, cn_madd(c->point, -0.5 * c->gap, n));
    CnVec3 turned = cn_rotate(then.pose.rotation, cn_unrotate(now.pose.rotation, n));
    return -cni_shape_beyond(side ? a : b, cn_pose_point(then.pose, x), cn_neg(turned));
  }
  return cni_places(a, b).gap;
}

// m/s: of the second body against the first at a contact, with the present twists.
static double speed_at(const CniAssemblyInput *in, const CniContact *c, CnTwist a, CnTwist b) {
  CnVec3 arm_a = cn_sub(c->point, in->pose[c->body_a].position);
  CnVec3 arm_b = cn_sub(c->point, in->pose[c->body_b].position);
  CnVec3 v = cn_sub(cn_add(b.velocity, cn_cross(b.spin, arm_b)),
                    cn_add(a.velocity, cn_cross(a.spin, arm_a)));
  return cn_dot(c->normal, v);
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

double cni_contact_bend(const CniAssemblyInput *in, const CniContactPlan *plan, int32_t i) {
  const CniModel *m = in->model;
  int32_t low = lowest(in, i);
  const CniContact *c = &in->contacts[low];
  if (!(bends(m, c->shape_a) || bends(m, c->shape_b)) || in->times) return 0;
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
  double way = gap_then(in, c, &at_a, &at_b) - (c->gap + h * speed_at(in, c, a, b));
  if (!(fabs(way) <= share * most)) return 0;
  return low == i ? way : fabs(way);
}
