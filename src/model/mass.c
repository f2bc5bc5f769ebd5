// SPDX-License-Identifier: Apache-2.0
// Mass properties of a body: from the numbers of its definition, or summed over its shapes; then
// the principal axes, and the change to them.
//
// The equations of motion are shortest at the centre of mass in principal axes, so the state is
// kept there. When shapes come and go the centre of mass moves within the body. The part itself
// does not jump: with D the old frame seen from the new, P the pose and (v, w) the twist,
//
//     P' = P D,   v' = v + w x R d,   torque' = torque - R d x force      (R d: D's shift, world)
//
// keep the body frame's pose and velocity and the load as they were.
#include "model/model_private.h"

// Off-diagonal parts and differences below this share of the largest inertia are rounding: a box
// keeps its own axes, a sphere or cube becomes exactly isotropic.
#define ROUNDING 1e-13
// Inertias given with six digits may miss A + B >= C by this share.
#define TRIANGLE_TOLERANCE 1e-5
// Smallest principal inertia over the largest: below it an eigenvalue is lost in rounding.
#define SMALLEST_RATIO 1e-14

static double largest_of(CnVec3 a) { return cn_max(a.x, cn_max(a.y, a.z)); }
static double smallest_of(CnVec3 a) { return cn_min(a.x, cn_min(a.y, a.z)); }

// Principal inertias and axes of a tensor given in `axes`; answers whether it is isotropic, in
// which case the body's own axes do as well as any.
static int32_t principal(CnSym3 j, CnQuat axes, CnVec3 *values, CnQuat *rotation) {
  CnVec3 d = {j.xx, j.yy, j.zz};
  double off = cn_max(fabs(j.xy), cn_max(fabs(j.xz), fabs(j.yz)));
  *values = d;
  *rotation = axes;
  if (off > ROUNDING * largest_of(d)) {
    CnMat3 vectors;
    cni_seigen(j, values, &vectors);
    *rotation = cn_qunit(cn_qmul(axes, cni_quat_from_mat(vectors)));
  }
  if (largest_of(*values) - smallest_of(*values) > ROUNDING * largest_of(*values)) return 0;
  double mean = (values->x + values->y + values->z) / 3;
  *values = cn_vec3(mean, mean, mean);
  *rotation = CN_QUAT_ONE;
  return 1;
}

CnStatus cni_body_mass_check(CnBodyDef *def) {
  CNI_TRY(cni_field_check(cni_field_find(cni_body_fields, "mass"), "body", def));
  CnSym3 j = def->inertia;
  if (def->mass == 0) def->mass = 0; // none has no sign
  if (def->mass == 0 && def->kind == CN_BODY_DYNAMIC &&
      (j.xx != 0 || j.yy != 0 || j.zz != 0 || j.xy != 0 || j.xz != 0 || j.yz != 0))
    return cni_invalid("body: an inertia without a mass (mass 0: both are those of the shapes)");
  if (def->mass == 0) return CN_OK;
  CNI_TRY(cni_check_pose("body: com", &def->com));
  CnVec3 d = {j.xx, j.yy, j.zz}, values;
  CNI_TRY(cni_check_vec3("body: inertia (xx, yy, zz)", d));
  CNI_TRY(cni_check_vec3("body: inertia (xy, xz, yz)", cn_vec3(j.xy, j.xz, j.yz)));
  CnMat3 vectors;
  cni_seigen(j, &values, &vectors); // ascending
  if (!(values.x > SMALLEST_RATIO * fabs(values.z)) || !isfinite(values.z))
    return cni_invalid("body: inertia must be positive definite (principal values %g, %g, %g)",
                       values.x, values.y, values.z);
  if (values.x + values.y < values.z * (1 - TRIANGLE_TOLERANCE))
    return cni_invalid(
        "body: inertia is of no solid: the largest principal value exceeds the sum of "
        "the others (%g, %g, %g)",
        values.x, values.y, values.z);
  if (!isfinite(1 / def->mass) || !isfinite(1 / values.x))
    return cni_invalid("body: mass %g with inertia %g is too small", def->mass, values.x);
  return CN_OK;
}

static CniMassProps shape_mass(const CniShape *shape) {
  CniPlaced placed = cni_shape_at(shape, cni_shape_def_pose(shape));
  return cni_shape_mass(&placed, cni_shape_trigger(shape) ? 0 : shape->density);
}

static CniMassProps plus(CniMassProps sum, CniMassProps part) {
  if (part.mass == 0) return sum;
  return sum.mass == 0 ? part : cni_mass_add(sum, part);
}

// Sum over the shapes in order of creation, in the body frame.
static CniMassProps shapes_mass(const CniModel *model, const CniBody *body, int32_t without,
                                const CniShape *extra) {
  CniMassProps sum = {0};
  for (int32_t i = body->first_shape; i >= 0; i = model->shapes[i].next)
    if (i != without) sum = plus(sum, shape_mass(&model->shapes[i]));
  if (extra) sum = plus(sum, shape_mass(extra));
  return sum;
}

CnStatus cni_body_frame(const CniModel *model, const CniBody *body, int32_t without,
                        const CniShape *extra, CniBodyFrame *frame) {
  *frame = (CniBodyFrame){.com = CN_POSE_ONE};
  CniMassProps props;
  CnQuat axes = CN_QUAT_ONE;
  const CniBodyDetail *given = body->detail;
  if (given && given->def_mass != 0) {
    props = (CniMassProps){given->def_mass, given->def_com.position, given->def_inertia};
    axes = given->def_com.rotation;
  } else {
    props = shapes_mass(model, body, without, extra);
  }
  frame->mass.mass = props.mass;
  if (!isfinite(props.mass))
    return cni_invalid("the mass of the body's shapes is not finite (%g)", props.mass);
  if (body->kind != CN_BODY_DYNAMIC) return CN_OK;

  // without mass the state stays at the body frame and the step is refused
  if (!(props.mass > 0)) return CN_OK;
  CniBodyFrame made = {.com = {props.centre, CN_QUAT_ONE}, .mass = {.mass = props.mass}};
  CnVec3 *inertia = &made.inertia;
  int isotropic = principal(props.inertia, axes, inertia, &made.com.rotation);
  made.mass.inertia = isotropic ? inertia->x : CNI_TURNS_BY_AXIS;
  if (!cn_vec3_finite(*inertia) || !cn_vec3_finite(made.com.position))
    return cni_invalid("the inertia of the body's shapes is not finite (%g)", largest_of(*inertia));
  // so small that the inverse is none: as good as massless
  double least = smallest_of(*inertia);
  if (isfinite(1 / props.mass) && least > 0 && isfinite(1 / least)) *frame = made;
  return CN_OK;
}

static int same_pose(CnPose a, CnPose b) {
  CnVec3 p = a.position, q = b.position;
  CnQuat r = a.rotation, s = b.rotation;
  return p.x == q.x && p.y == q.y && p.z == q.z && r.w == s.w && r.x == s.x && r.y == s.y &&
         r.z == s.z;
}

CnStatus cni_body_frame_reserve(CniModel *model, int32_t body, const CniBodyFrame *frame) {
  CniBody *b = &model->bodies[body];
  if (frame->mass.inertia == CNI_TURNS_BY_AXIS) CNI_TRY(cni_model_inertias(model));
  if (cni_pose_is_one(frame->com)) return CN_OK;
  if (!b->detail) {
    b->detail = cni_allocate(&model->allocator, sizeof *b->detail);
    if (!b->detail) return cni_error_memory(sizeof *b->detail);
    *b->detail = (CniBodyDetail){.com = CN_POSE_ONE, .def_com = CN_POSE_ONE};
  }
  for (int32_t i = b->first_shape; i >= 0; i = model->shapes[i].next)
    CNI_TRY(cni_shape_poses_reserve(model, &model->shapes[i]));
  return CN_OK;
}

static void take_mass(CniModel *model, int32_t body, const CniBodyFrame *frame) {
  model->mass[body] = frame->mass;
  if (model->inertias) model->inertias[body] = frame->inertia;
}

void cni_body_reframe(CniModel *model, int32_t body, const CniBodyFrame *frame) {
  CniBody *b = &model->bodies[body];
  CnPose com = cni_body_com(b);
  model->edits++;
  take_mass(model, body, frame);
  if (same_pose(com, frame->com)) return;

  // the state and the load move to the new centre
  CnPose d = cn_pose_mul(cn_pose_inverse(com), frame->com);
  CnPose *pose = &model->pose[body];
  CnTwist *twist = &model->twist[body], *load = model->load ? &model->load[body] : NULL;
  CnVec3 shift = cn_rotate(pose->rotation, d.position);
  pose->position = cn_add(pose->position, shift);
  pose->rotation = cn_qunit(cn_qmul(pose->rotation, d.rotation));
  twist->velocity = cn_add(twist->velocity, cn_cross(twist->spin, shift));
  if (load) load->spin = cn_sub(load->spin, cn_cross(shift, load->velocity));
  b->detail->com = frame->com;

  // what hangs on the body is expressed anew
  for (int32_t i = b->first_shape; i >= 0; i = model->shapes[i].next) {
    CniShapePoses *poses = cni_shape_poses(&model->shapes[i]);
    if (poses) poses->pose = cni_shape_local_pose(frame->com, poses->def_pose);
  }
  for (int32_t i = b->first_joint; i >= 0;) {
    CniJoint *joint = &model->joints[i];
    cni_joint_local_frames(model, joint);
    i = joint->body_a == body ? joint->next_a : joint->next_b;
  }
}

CnStatus cni_model_derive(CniModel *model) {
  for (int32_t i = 0; i < model->body_count; i++) {
    CniBodyFrame frame;
    if (cni_body_frame(model, &model->bodies[i], -1, NULL, &frame) != CN_OK)
      return cni_bad_data("the mass of body %d is not finite", (int)i);
    CNI_TRY(cni_body_frame_reserve(model, i, &frame));
    if (model->bodies[i].detail) model->bodies[i].detail->com = frame.com;
    take_mass(model, i, &frame);
  }
  for (int32_t i = 0; i < model->shape_count; i++) {
    CniShapePoses *poses = cni_shape_poses(&model->shapes[i]);
    if (!poses) continue;
    CnPose com = cni_body_com(&model->bodies[model->shapes[i].body]);
    poses->pose = cni_shape_local_pose(com, poses->def_pose);
  }
  for (int32_t i = 0; i < model->joint_count; i++) cni_joint_local_frames(model, &model->joints[i]);
  return CN_OK;
}

CnSym3 cni_model_inertia(const CniModel *model, int32_t body, CnQuat rotation) {
  double j = model->mass[body].inertia;
  if (j != CNI_TURNS_BY_AXIS) return cn_sdiag(j, j, j);
  return cn_srotate(cn_qmat(rotation), model->inertias[body]);
}

CnSym3 cni_model_inv_inertia(const CniModel *model, int32_t body, CnQuat rotation) {
  double j = model->mass[body].inertia, inverse = j > 0 ? 1 / j : 0;
  if (j != CNI_TURNS_BY_AXIS) return cn_sdiag(inverse, inverse, inverse);
  CnVec3 own = model->inertias[body];
  return cn_srotate(cn_qmat(rotation), (CnVec3){1 / own.x, 1 / own.y, 1 / own.z});
}
