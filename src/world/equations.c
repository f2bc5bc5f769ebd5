// SPDX-License-Identifier: Apache-2.0
// A world as equations of motion (equations.h).
//
// Joints without stiffness and damping are bilateral constraints, others are forces. Contacts are
// those that collision finds within the reach of the bodies (touches.c). Bodies without mass in the
// problem (fixed, kinematic) keep their velocity: they have a unit mass and no columns; what they do
// to a row is its rate.
//
//     M = (m, R J R^T),  f = (m g + F, T - w x R J R^T w)
//     contact: g along the normal n,  row (n, arm x n) on b and minus that on a
//     curvature: what n and the arms do while the velocities stand still
#include "world/equations.h"

#include <string.h>

#include "core/error.h"
#include "integrator/integrator.h"

// ---- rows ----

// side * (axis . velocity of a point of the body + spin . the body's): six numbers where it is free,
// a rate where it is not.
static void put_point(const CniModel *model, int32_t body, double side, CnVec3 axis, CnVec3 arm,
                      CnVec3 spin, double *at, double *rate) {
  if (body < 0) return;
  CnVec3 turn = cn_add(cn_cross(arm, axis), spin);
  if (cni_is_free(model, body)) {
    at[0] = side * axis.x;
    at[1] = side * axis.y;
    at[2] = side * axis.z;
    at[3] = side * turn.x;
    at[4] = side * turn.y;
    at[5] = side * turn.z;
  } else {
    CnTwist twist = model->twist[body];
    *rate += side * (cn_dot(axis, twist.velocity) + cn_dot(turn, twist.spin));
  }
}

// A row on two bodies, the free ones by ascending index: that of two points, and of the spins along
// `turn`; returns where the next one begins.
static double *put_pair(const CniModel *model, int32_t body_a, CnVec3 arm_a, int32_t body_b,
                        CnVec3 arm_b, CnVec3 axis, CnVec3 turn, double *row, double *rate) {
  int free_a = cni_is_free(model, body_a), free_b = cni_is_free(model, body_b);
  put_point(model, body_b, 1, axis, arm_b, turn, row + (free_a && body_a < body_b ? 6 : 0), rate);
  put_point(model, body_a, -1, axis, arm_a, turn, row + (free_b && body_b < body_a ? 6 : 0), rate);
  return row + 6 * (free_a + free_b);
}

static int32_t groups(void *context, int32_t constraint, int32_t *list) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = world->work.equations;
  int32_t a, b, count = 0, bilateral = eq->equations.bilateral_count;
  if (constraint < bilateral) {
    const CniJoint *joint = &model->joints[eq->rows[constraint].joint];
    a = joint->body_a;
    b = joint->body_b;
  } else {
    a = eq->touches[constraint - bilateral].body_a;
    b = eq->touches[constraint - bilateral].body_b;
  }
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  if (cni_is_free(model, low)) list[count++] = low;
  if (cni_is_free(model, high)) list[count++] = high;
  return count;
}

// The ends of a joint at poses whose quaternions may be off the sphere by the error of a stage;
// twists from v, null: at rest.
static void joint_ends(const CniJoint *joint, const CnPose *pose, const double *v, CniJointEnd *a,
                       CniJointEnd *b) {
  cni_joint_ends(joint, pose, (const CnTwist *)v, a, b);
  a->pose.rotation = cn_qunit(a->pose.rotation);
  if (!b->ground) b->pose.rotation = cn_qunit(b->pose.rotation);
}

static void joint_place(const CniJoint *joint, const CnPose *pose, CniJointPlace *place) {
  CniJointEnd a, b;
  joint_ends(joint, pose, NULL, &a, &b);
  cni_joint_between(joint, &a, &b, place);
}

// ---- the functions ----

static const struct CniWorldEquations *equations_of(void *context) {
  const CnWorld *world = context;
  return world->work.equations;
}

static CnStatus mass(void *context, double t, const double *q, double *m) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const CnPose *pose = (const CnPose *)q;
  (void)t;
  memset(m, 0, 36 * (size_t)model->body_count * sizeof *m);
  for (int32_t i = 0; i < model->body_count; i++) {
    double *at = m + 36 * (size_t)i;
    int moves = cni_is_free(model, i);
    CnSym3 inertia =
        moves ? cni_model_inertia(model, i, cn_qunit(pose[i].rotation)) : cn_sdiag(1, 1, 1);
    for (size_t k = 0; k < 3; k++) at[7 * k] = moves ? model->mass[i].mass : 1;
    at[21] = inertia.xx;
    at[28] = inertia.yy;
    at[35] = inertia.zz;
    at[22] = at[27] = inertia.xy;
    at[23] = at[33] = inertia.xz;
    at[29] = at[34] = inertia.yz;
  }
  return CN_OK;
}

static void add_at(double *f, int32_t body, CnVec3 force, CnVec3 arm, CnVec3 torque) {
  double *at = f + 6 * (size_t)body;
  CnVec3 turn = cn_add(cn_cross(arm, force), torque);
  at[0] += force.x;
  at[1] += force.y;
  at[2] += force.z;
  at[3] += turn.x;
  at[4] += turn.y;
  at[5] += turn.z;
}

static int is_spring(const CniJoint *joint) {
  return joint->def.stiffness > 0 || joint->def.damping > 0;
}

// On b at its frame, the opposite on a.
static void add_pair(const CniModel *model, int32_t a, int32_t b, const CniJointPlace *place,
                     CnVec3 force, CnVec3 torque, double *f) {
  if (cni_is_free(model, b)) add_at(f, b, force, place->arm_b, torque);
  if (cni_is_free(model, a)) add_at(f, a, cn_neg(force), place->arm_a, cn_neg(torque));
}

// An effort along a joint's row.
static void add_effort(const CniModel *model, const CniJoint *joint, const CniJointPlace *place,
                       const CniJointRow *row, double effort, double *f) {
  add_pair(model, joint->body_a, joint->body_b, place, cn_scale(effort, row->linear),
           cn_scale(effort, row->angular), f);
}

static CnStatus element_forces(const CniModel *model, double t, const CnPose *pose, const double *v,
                               double *f) {
  for (int32_t i = 0; i < model->force_count; i++) {
    const CniForce *force = &model->forces[i];
    CniForceAt at;
    CniForcePlace place;
    cni_force_at(model, force, t, pose, (const CnTwist *)v, &at);
    for (int32_t k = 0; k < 2; k++) at.ends[k].pose.rotation = cn_qunit(at.ends[k].pose.rotation);
    at.sight = cni_force_sight(&force->def, at.ends);
    at.sight.time = t;
    CNI_TRY(cni_force_act(force, &at, &place));
    CnTwist total = cni_force_total(&place, at.ends);
    add_pair(model, at.bodies[0], at.bodies[1], &place.rows, total.velocity, total.spin, f);
  }
  return CN_OK;
}

// Joints with stiffness or damping: -(k c + d c') along their rows; springs and motors without rows
// on coordinates.
static void spring_forces(const CniModel *model, double t, const CnPose *pose, const double *v,
                          double *f) {
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CniJointEnd a, b;
    CniJointPlace place;
    joint_ends(joint, pose, v, &a, &b);
    cni_joint_between(joint, &a, &b, &place);
    for (int32_t k = 0; is_spring(joint) && k < place.locked_count; k++) {
      const CniJointRow *row = &place.locked[k];
      double rate = cni_joint_rate(&place, row, &a.twist, &b.twist);
      double size = -(joint->def.stiffness * row->value + joint->def.damping * rate);
      add_effort(model, joint, &place, row, size, f);
    }
    for (int32_t k = 0; k < place.axis_count; k++) {
      const CnJointAxis *axis = &joint->def.axes[k];
      const CniJointRow *row = &place.axes[k];
      double size = 0, target[3];
      if (axis->stiffness > 0 || axis->damping > 0)
        size = cni_joint_spring(axis, &place, row, &a.twist, &b.twist);
      if (axis->drive == CN_DRIVE_EFFORT || cni_joint_is_servo(axis)) {
        cni_joint_target(model, axis, t, target);
        double rate = cni_joint_rate(&place, row, &a.twist, &b.twist);
        size += cni_joint_push(axis, target, row->value, rate);
      }
      if (size != 0) add_effort(model, joint, &place, row, size, f);
    }
  }
}

static CnStatus force(void *context, double t, const double *q, const double *v, double *f) {
  CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const CnPose *pose = (const CnPose *)q;
  memset(f, 0, 6 * (size_t)model->body_count * sizeof *f);
  for (int32_t i = 0; i < model->body_count; i++) {
    if (!cni_is_free(model, i)) continue;
    const double *at = v + 6 * (size_t)i;
    CnVec3 w = cn_vec3(at[3], at[4], at[5]);
    CnVec3 l = cn_smul(cni_model_inertia(model, i, cn_qunit(pose[i].rotation)), w);
    CnTwist load = cni_model_load(model, i);
    CnVec3 linear = cn_madd(load.velocity, model->mass[i].mass, world->now.settings.gravity);
    CnVec3 turn = cn_sub(load.spin, cn_cross(w, l));
    double *to = f + 6 * (size_t)i;
    to[0] = linear.x;
    to[1] = linear.y;
    to[2] = linear.z;
    to[3] = turn.x;
    to[4] = turn.y;
    to[5] = turn.z;
  }
  spring_forces(model, t, pose, v, f);
  CNI_TRY(element_forces(model, t, pose, v, f));
  const CnTwist *loads;
  CNI_TRY(cni_world_loads(world, t, pose, (const CnTwist *)v, &loads));
  for (int32_t i = 0; loads && i < model->body_count; i++)
    if (cni_is_free(model, i)) add_at(f, i, loads[i].velocity, CN_VEC3_ZERO, loads[i].spin);
  return CN_OK;
}

// Where a row is kept, with two derivatives: a motor's place, and zero for all others.
static void row_target(const CnWorld *world, const CniWorldRow *row, double t, double target[3]) {
  target[0] = row->start + row->speed * (t - world->work.equations->time);
  target[1] = row->speed;
  target[2] = 0;
  if (row->follows) {
    const CniJoint *joint = &world->now.model.joints[row->joint];
    cni_joint_target(&world->now.model, &joint->def.axes[row->row - CNI_JOINT_LOCKED], t, target);
  }
}

static CnStatus gaps(void *context, double t, const double *q, double *g) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = equations_of(context);
  const CnPose *pose = (const CnPose *)q;
  for (int32_t i = 0; i < eq->equations.bilateral_count; i++) {
    const CniWorldRow *row = &eq->rows[i];
    CniJointPlace place;
    joint_place(&model->joints[row->joint], pose, &place);
    double target[3];
    row_target(world, row, t, target);
    g[i] = cni_joint_row(&place, row->row)->value - target[0];
  }
  for (int32_t i = 0; i < eq->equations.contact_count; i++)
    g[eq->equations.bilateral_count + i] = cni_touch_frame(model, pose, &eq->touches[i]).gap;
  return CN_OK;
}

static CnStatus jacobian(void *context, double t, const double *q, const int32_t *rows,
                         int32_t count, double *result, double *rate) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = equations_of(context);
  const CnPose *pose = (const CnPose *)q;
  int32_t bilateral = eq->equations.bilateral_count, dim = eq->equations.contact_dim;
  (void)t;
  for (int32_t i = 0; i < count; i++) {
    if (rows[i] < bilateral) {
      const CniWorldRow *own = &eq->rows[rows[i]];
      const CniJoint *joint = &model->joints[own->joint];
      CniJointPlace place;
      joint_place(joint, pose, &place);
      const CniJointRow *r = cni_joint_row(&place, own->row);
      result = put_pair(model, joint->body_a, place.arm_a, joint->body_b, place.arm_b, r->linear,
                        r->angular, result, &rate[i]);
      double target[3];
      row_target(world, own, t, target);
      rate[i] -= target[1];
    } else {
      const CniWorldTouch *touch = &eq->touches[(rows[i] - bilateral) / dim];
      CniTouchFrame f = cni_touch_frame(model, pose, touch);
      CnVec3 axis = f.axis[(rows[i] - bilateral) % dim];
      result = put_pair(model, touch->body_a, f.arm_a, touch->body_b, f.arm_b, axis, CN_VEC3_ZERO,
                        result, &rate[i]);
    }
  }
  return CN_OK;
}

static double joint_curvature(const CnWorld *world, double t, const CnPose *pose, const double *v,
                              const CniWorldRow *row) {
  const CniJoint *joint = &world->now.model.joints[row->joint];
  CniJointEnd a, b;
  double target[3];
  joint_ends(joint, pose, v, &a, &b);
  row_target(world, row, t, target);
  return cni_joint_curvature(&joint->def, &a, &b, row->row) - target[2];
}

static CnStatus curvature(void *context, double t, const double *q, const double *v,
                          const int32_t *rows, int32_t count, double *result) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = equations_of(context);
  const CnPose *pose = (const CnPose *)q;
  int32_t bilateral = eq->equations.bilateral_count, dim = eq->equations.contact_dim;
  (void)t;
  for (int32_t i = 0; i < count; i++) {
    const CniWorldRow *row = &eq->rows[rows[i]];
    result[i] = rows[i] < bilateral
                    ? joint_curvature(world, t, pose, v, row)
                    : cni_touch_curvature(model, pose, v, &eq->touches[(rows[i] - bilateral) / dim],
                                          (rows[i] - bilateral) % dim);
  }
  return CN_OK;
}

static void kinematics(void *context, double t, const double *q, const double *v, double *q_dot) {
  const CnWorld *world = context;
  const CnPose *pose = (const CnPose *)q;
  const CnTwist *twist = (const CnTwist *)v;
  CnPose *result = (CnPose *)q_dot;
  (void)t;
  for (int32_t i = 0; i < world->now.model.body_count; i++) {
    CnVec3 w = twist[i].spin;
    CnQuat r = cn_qmul((CnQuat){0, w.x, w.y, w.z}, pose[i].rotation);
    result[i].position = twist[i].velocity;
    result[i].rotation = (CnQuat){0.5 * r.w, 0.5 * r.x, 0.5 * r.y, 0.5 * r.z};
  }
}

// A quaternion of length one to rounding keeps its bits.
static void normalise(void *context, double *q) {
  const CnWorld *world = context;
  CnPose *pose = (CnPose *)q;
  for (int32_t i = 0; i < world->now.model.body_count; i++)
    if (fabs(cn_qnorm2(pose[i].rotation) - 1) > 1e-15)
      pose[i].rotation = cn_qunit(pose[i].rotation);
}

// ---- which rows there are ----

// The rows of rigid joints, and those of motors without a bound, whose place is kept in time.
static int32_t list_joints(const CniModel *model, CniWorldRow *rows) {
  int32_t count = 0;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    if (!cni_is_free(model, joint->body_a) && !cni_is_free(model, joint->body_b)) continue;
    int32_t locked = is_spring(joint) ? 0 : cni_joint_kinds[joint->def.kind]->locked_count;
    for (int32_t k = 0; k < locked; k++, count++)
      if (rows) rows[count] = (CniWorldRow){.joint = i, .row = k};
    CniJointPlace place;
    joint_place(joint, model->pose, &place);
    for (int32_t k = 0; k < place.axis_count; k++) {
      const CnJointAxis *axis = &joint->def.axes[k];
      if (axis->drive == CN_DRIVE_EFFORT || !(axis->motor_effort > 0) || cni_joint_is_servo(axis))
        continue;
      CniWorldRow row = {i, CNI_JOINT_LOCKED + k, axis->drive == CN_DRIVE_POSITION,
                         place.axes[k].value, axis->motor_speed};
      if (rows) rows[count] = row;
      count++;
    }
  }
  return count;
}

static CnStatus check_joints(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    const char *what = cni_joint_one_sided(&joint->def);
    if (what)
      return cni_error(CN_UNSUPPORTED, "%s: joint '%s' (%s): %s is not followed, use impulse",
                       world->now.settings.integrator, joint->name,
                       cni_joint_kinds[joint->def.kind]->name, what);
    for (int32_t k = 0; k < CN_JOINT_AXES; k++) {
      const CnJointAxis *axis = &joint->def.axes[k];
      if (axis->motor_function.slot != 0 && axis->drive == CN_DRIVE_SPEED && axis->motor_effort > 0)
        return cni_error(
            CN_UNSUPPORTED,
            "%s: joint '%s': a speed by a function is not followed: give the position, "
            "or use impulse",
            world->now.settings.integrator, joint->name);
    }
  }
  return CN_OK;
}

CnStatus cni_equations_take(CnWorld *world, int32_t count, size_t size, void *memory) {
  size_t bytes = (size_t)(count > 0 ? count : 1) * size;
  void *taken = cni_arena_take(&world->memory.arena, bytes);
  if (!taken) return cni_error_memory(bytes);
  memset(taken, 0, bytes);
  memcpy(memory, &taken, sizeof taken);
  return CN_OK;
}

// ---- events and impulses on the way ----

static void note_point(void *context, CnIntegrator *integrator, const CnPoint *point) {
  CnWorld *world = context;
  struct CniWorldEquations *eq = world->work.equations;
  const CnEquations *e = &eq->equations;
  int32_t rows = e->bilateral_count + e->contact_count * e->contact_dim;
  double weight = eq->steps_impulse ? 1 : point->step;
  (void)integrator;
  for (int32_t i = 0; i < rows; i++) eq->impulses[i] += weight * point->multipliers[i];
}

static void note_event(void *context, CnIntegrator *integrator, const CnEvent *event) {
  CnWorld *world = context;
  struct CniWorldEquations *eq = world->work.equations;
  const CniModel *model = &world->now.model;
  const CniWorldTouch *touch = &eq->touches[event->contact];
  const CniShape *a = &model->shapes[touch->shape_a], *b = &model->shapes[touch->shape_b];
  (void)integrator;
  int first = a->slot < b->slot;
  CnShapeId id_a = cni_shape_id(model, touch->shape_a), id_b = cni_shape_id(model, touch->shape_b);
  if (event->kind == CN_EVENT_IMPACT)
    eq->impulses[eq->equations.bilateral_count + event->contact * eq->equations.contact_dim] +=
        event->impulse;
  if (cni_array_reserve(&world->allocator, (void **)&world->located, &world->located_capacity,
                        world->located_count, world->located_count + 1,
                        sizeof *world->located) != CN_OK) {
    eq->events_lost = 1;
    return;
  }
  world->located[world->located_count++] =
      (CnLocatedEvent){event->kind, first ? id_a : id_b, first ? id_b : id_a,
                       event->time, event->speed,        event->impulse};
}

// ---- preparation ----

// Impulses of the rows so far; those of the contacts of an old list go with their names.
static CnStatus carry_impulses(CnWorld *world, struct CniWorldEquations *eq,
                               const struct CniWorldEquations *old) {
  const CnEquations *e = &eq->equations, *was = &old->equations;
  int32_t bilateral = e->bilateral_count;
  CNI_TRY(cni_equations_take(world, bilateral + e->contact_count * e->contact_dim,
                             sizeof *eq->impulses, &eq->impulses));
  if (!old->impulses) return CN_OK;
  memcpy(eq->impulses, old->impulses, (size_t)bilateral * sizeof *eq->impulses);
  int32_t dim = e->contact_dim < was->contact_dim ? e->contact_dim : was->contact_dim;
  for (int32_t i = 0, k = 0; i < was->contact_count; i++) {
    while (k < e->contact_count && cni_touch_before(&eq->touches[k], &old->touches[i])) k++;
    if (k == e->contact_count || cni_touch_before(&old->touches[i], &eq->touches[k])) continue;
    for (int32_t d = 0; d < dim; d++)
      eq->impulses[bilateral + k * e->contact_dim + d] =
          old->impulses[bilateral + i * was->contact_dim + d];
  }
  return CN_OK;
}

CnStatus cni_equations_detect(CnWorld *world, double t, const double *q, const double *v,
                              double h) {
  struct CniWorldEquations *eq = world->work.equations, old = *eq;
  CnProblem *p;
  CnAnswer *answer;
  eq->equations.curvature = curvature;
  CNI_TRY(cni_touches_find(world, eq, (const CnPose *)q, (const CnTwist *)v, h));
  CNI_TRY(carry_impulses(world, eq, &old));
  world->work.time_step = world->now.settings.time_step; // not what was left of it
  // the frames in which forces are kept
  return cni_system_of(world).problem(world, t, q, v, world->now.settings.time_step, &p, &answer);
}

CnStatus cni_equations_prepare(CnWorld *world) {
  const CniModel *model = &world->now.model;
  struct CniWorldEquations *eq = NULL;
  CNI_TRY(cni_equations_take(world, 1, sizeof *eq, &eq));
  CnEquations *e = &eq->equations;
  world->work.equations = eq;
  world->located_count = 0;
  if (world->hooks.modify)
    return cni_error(CN_UNSUPPORTED, "%s does not call the modify hook",
                     world->now.settings.integrator);
  CNI_TRY(check_joints(world));
  eq->time = world->now.time;
  e->bilateral_count = list_joints(model, NULL);
  CNI_TRY(cni_equations_take(world, e->bilateral_count, sizeof *eq->rows, &eq->rows));
  list_joints(model, eq->rows);
  eq->steps_impulse = cni_integrator_find(world->now.settings.integrator)->impulse_multipliers;
  e->mass = mass;
  e->force = force;
  e->gaps = gaps;
  e->jacobian = jacobian;
  e->kinematics = kinematics;
  e->normalise = normalise;
  e->contact_name = cni_touch_name;
  e->group_size = 6;
  e->groups = groups;
  e->covered = cni_touches_cover;
  CnObserver observer = {world, note_point, note_event};
  cni_integrator_observe(world->now.engine.integrator, &observer);
  return cni_equations_detect(world, world->now.time, (const double *)model->pose,
                              (const double *)model->twist, world->now.settings.time_step);
}

const CnEquations *cni_equations_of(const CnWorld *world) {
  return world->work.equations ? &world->work.equations->equations : NULL;
}

// ---- back to the caches ----

// Impulse of a touch over the step, on b, world axes, in the frame at the start.
static CnVec3 touch_impulse(const CnWorld *world, int32_t contact) {
  const struct CniWorldEquations *eq = world->work.equations;
  const CnEquations *e = &eq->equations;
  CniTouchFrame f =
      cni_touch_frame(&world->now.model, world->now.model.pose, &eq->touches[contact]);
  const double *g = &eq->impulses[e->bilateral_count + contact * e->contact_dim];
  CnVec3 sum = CN_VEC3_ZERO;
  for (int32_t k = 0; k < e->contact_dim; k++) sum = cn_madd(sum, g[k], f.axis[k]);
  return sum;
}

static void keep_touch(CnWorld *world, int32_t contact) {
  const CniWorldTouch *touch = &world->work.equations->touches[contact];
  const CnProblem *p = world->now.engine.problem;
  const CniContact *c = &world->work.contacts[touch->contact];
  if (world->work.block_of[touch->contact] < 0) return;
  const CniBlock *block = &p->blocks[world->work.block_of[touch->contact]];
  int same = c->shape_a == touch->shape_a;
  CnVec3 impulse = cn_scale(same ? 1 : -1, touch_impulse(world, contact)), t1, t2;
  double *g = &world->now.engine.answer.g[block->row];
  cn_tangents(c->normal, &t1, &t2);
  if (block->storage == CNI_PAIR) {
    t1 = p->pairs[block->index].tangent;
    t2 = cn_cross(p->pairs[block->index].normal, t1);
  }
  g[0] = cn_dot(c->normal, impulse);
  if (block->dim > 1) g[1] = cn_dot(t1, impulse);
  if (block->dim > 2) g[2] = cn_dot(t2, impulse);
}

CnStatus cni_equations_answer(CnWorld *world, const CnAnswer **result) {
  const struct CniWorldEquations *eq = world->work.equations;
  CnAnswer *answer = &world->now.engine.answer;
  if (eq->events_lost) return cni_error_memory(sizeof *world->located);
  const CnProblem *p = world->now.engine.problem;
  for (int32_t i = 0; i < answer->row_count; i++) answer->g[i] = 0;
  for (int32_t i = 0; i < eq->equations.contact_count; i++)
    if (eq->impulses[eq->equations.bilateral_count + i * eq->equations.contact_dim] != 0)
      keep_touch(world, i);
  for (int32_t i = 0; i < eq->equations.bilateral_count; i++) {
    const CniWorldRow *row = &eq->rows[i];
    const int32_t *blocks = &world->work.joint_blocks[row->joint];
    cni_joint_put(&world->now.model.joints[row->joint], world->now.model.pose, p, blocks[0],
                  blocks[1], row->row, eq->impulses[i], answer->g);
  }
  *result = answer;
  return CN_OK;
}
