// SPDX-License-Identifier: Apache-2.0
// A world as equations of motion (equations.h).
//
// Joints without stiffness and damping are bilateral constraints, others are forces. Contacts are
// those that collision finds within the reach of the bodies (touches.c). Bodies without mass in the
// problem (fixed, kinematic) keep their velocity: they have a unit mass and no columns; what they do
// to a row is its rate. Those that follow functions of time are where these say, in every function;
// their accelerations are in the curvature. What the integrator makes of their own state (it sees the
// acceleration as a force) tells it how fast they change, and is forgotten.
//
//     M = (m, R J R^T),  f = (m g + F, T - w x R J R^T w)
//     contact: g along the normal n,  row (n, arm x n) on b and minus that on a
//     curvature: what n and the arms do while the velocities stand still
#include "world/equations/equations.h"

#include <string.h>

#include "core/error.h"
#include "integrator/integrator.h"

// ---- rows ----

void cni_put_point(const CniModel *model, const CnTwist *known, int32_t body, double side,
                   CnVec3 axis, CnVec3 arm, CnVec3 spin, double *at, double *rate) {
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
    CnTwist twist = known[body];
    *rate += side * (cn_dot(axis, twist.velocity) + cn_dot(turn, twist.spin));
  }
}

double *cni_put_pair(const CniModel *model, const CnTwist *known, int32_t body_a, CnVec3 arm_a,
                     int32_t body_b, CnVec3 arm_b, CnVec3 axis, CnVec3 turn, double *row,
                     double *rate) {
  int free_a = cni_is_free(model, body_a), free_b = cni_is_free(model, body_b);
  cni_put_point(model, known, body_b, 1, axis, arm_b, turn,
                row + (free_a && body_a < body_b ? 6 : 0), rate);
  cni_put_point(model, known, body_a, -1, axis, arm_a, turn,
                row + (free_b && body_b < body_a ? 6 : 0), rate);
  return row + 6 * (free_a + free_b);
}

int32_t cni_pair_groups(const CniModel *model, int32_t a, int32_t b, int32_t *list) {
  int32_t low = a < b ? a : b, high = a < b ? b : a, count = 0;
  if (cni_is_free(model, low)) list[count++] = low;
  if (cni_is_free(model, high)) list[count++] = high;
  return count;
}

const CniWorldRow *cni_equations_row(const struct CniWorldEquations *eq, int32_t row,
                                     int32_t *touch, int32_t *k) {
  const CnEquations *e = &eq->equations;
  int32_t bilateral = e->bilateral_count,
          bound = row - bilateral - e->contact_count * e->contact_dim;
  if (row < bilateral) return &eq->rows[row];
  if (bound >= 0) return &eq->rows[bilateral + eq->limit_count + bound];
  *touch = (row - bilateral) / e->contact_dim;
  *k = (row - bilateral) % e->contact_dim;
  return *touch < eq->touch_count ? NULL : &eq->rows[bilateral + *touch - eq->touch_count];
}

static int32_t groups(void *context, int32_t constraint, int32_t *list) {
  const CnWorld *world = context;
  const struct CniWorldEquations *eq = world->work.equations;
  int32_t touch = constraint - eq->equations.bilateral_count;
  if (touch >= 0 && touch < eq->touch_count)
    return cni_pair_groups(&world->now.model, eq->touches[touch].body_a, eq->touches[touch].body_b,
                           list);
  if (touch >= 0) constraint -= eq->touch_count;
  return cni_row_groups(world, &eq->rows[constraint], list);
}

// ---- bodies that follow functions of time ----

void cni_equations_here(const CnWorld *world, double t, const double **q, const double **v) {
  const struct CniWorldEquations *eq = world->work.equations;
  const CniModel *model = &world->now.model;
  cni_turns_at(world, t);
  if (!eq->change) return;
  if (*q != eq->here_q) memcpy(eq->here_q, *q, 7 * (size_t)model->body_count * sizeof **q);
  *q = eq->here_q;
  if (v && *v != eq->here_v) {
    memcpy(eq->here_v, *v, (size_t)cni_equations_velocities(eq, model) * sizeof **v);
    *v = eq->here_v;
  }
  for (int32_t i = 0; i < model->motion_count; i++) {
    CnPose pose;
    CnTwist twist, change;
    int32_t b = cni_motion_at(model, i, t, &pose, &twist, &change);
    ((CnPose *)eq->here_q)[b] = pose;
    eq->known[b] = twist;
    eq->change[b] = change;
    if (v) ((CnTwist *)eq->here_v)[b] = twist;
  }
}

static CnStatus take_motions(CnWorld *world, struct CniWorldEquations *eq) {
  const CniModel *model = &world->now.model;
  int32_t bodies = model->body_count, velocities = cni_equations_velocities(eq, model);
  eq->known = world->now.model.twist;
  if (model->motion_count == 0) return CN_OK;
  CNI_TRY(cni_equations_take(world, bodies, sizeof *eq->known, &eq->known));
  CNI_TRY(cni_equations_take(world, bodies, sizeof *eq->change, &eq->change));
  CNI_TRY(cni_equations_take(world, bodies, sizeof *eq->follows, &eq->follows));
  CNI_TRY(cni_equations_take(world, 7 * bodies, sizeof *eq->here_q, &eq->here_q));
  CNI_TRY(cni_equations_take(world, velocities, sizeof *eq->here_v, &eq->here_v));
  CNI_TRY(cni_equations_take(world, velocities, sizeof *eq->line, &eq->line));
  memcpy(eq->known, model->twist, (size_t)bodies * sizeof *eq->known);
  for (int32_t i = 0; i < model->motion_count; i++) {
    CnPose pose;
    CnTwist twist, change;
    eq->follows[cni_motion_at(model, i, 0, &pose, &twist, &change)] = 1;
  }
  return CN_OK;
}

// ---- the functions ----

static const struct CniWorldEquations *equations_of(void *context) {
  const CnWorld *world = context;
  return world->work.equations;
}

static CnStatus mass(void *context, double t, const double *q, double *m) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = world->work.equations;
  const CnPose *pose = (const CnPose *)q;
  (void)t;
  memset(m, 0, 6 * (size_t)cni_equations_velocities(eq, model) * sizeof *m);
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
  double *extra = m + 36 * (size_t)model->body_count;
  for (int32_t i = 0; i < (eq->rotor_count + 5) / 6 * 6; i++)
    extra[6 * i + i % 6] = i < eq->rotor_count ? eq->rotors[i] : 1;
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
    CniForceSight seen = cni_force_sight(&force->def, at.ends);
    seen.near = at.sight.near;
    seen.time = t;
    seen.rest = at.sight.rest;
    seen.bends = at.sight.bends;
    at.sight = seen;
    CNI_TRY(cni_force_act(force, &at, &place));
    CnTwist total = cni_force_total(&place, at.ends);
    add_pair(model, at.bodies[0], at.bodies[1], &place.rows, total.velocity, total.spin, f);
  }
  return CN_OK;
}

static void spring_forces(const CniModel *model, double t, const CnPose *pose, const double *v,
                          double *f) {
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CniJointPlace place;
    CniJointImpulse efforts;
    if (!cni_joint_has_efforts(joint)) continue;
    cni_joint_efforts(model, joint, t, pose, v, &place, &efforts);
    for (int32_t k = 0; k < place.locked_count; k++)
      if (efforts.locked[k] != 0)
        add_effort(model, joint, &place, &place.locked[k], efforts.locked[k], f);
    for (int32_t k = 0; k < place.axis_count; k++) {
      const double *parts = efforts.axes[k];
      double size = parts[CNI_PART_SPRING] + parts[CNI_PART_MOTOR] + parts[CNI_PART_LOWER] -
                    parts[CNI_PART_UPPER];
      if (size != 0) add_effort(model, joint, &place, &place.axes[k], size, f);
    }
  }
}

// What holds touching surfaces together.
static void cohesion_forces(const CniModel *model, const struct CniWorldEquations *eq,
                            const CnPose *pose, double *f) {
  for (int32_t i = 0; i < eq->touch_count; i++) {
    const CniWorldTouch *touch = &eq->touches[i];
    CniTouchFrame at;
    double pull = cni_touch_pull(model, pose, touch, &at);
    if (!(pull > 0)) continue;
    CnVec3 force = cn_scale(pull, at.axis[0]);
    if (cni_is_free(model, touch->body_a)) add_at(f, touch->body_a, force, at.arm_a, CN_VEC3_ZERO);
    if (cni_is_free(model, touch->body_b))
      add_at(f, touch->body_b, cn_neg(force), at.arm_b, CN_VEC3_ZERO);
  }
}

static CnStatus force(void *context, double t, const double *q, const double *v, double *f) {
  CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = world->work.equations;
  cni_equations_here(world, t, &q, &v);
  const CnPose *pose = (const CnPose *)q;
  memset(f, 0, (size_t)cni_equations_velocities(eq, model) * sizeof *f);
  for (int32_t i = 0; i < model->body_count; i++) {
    if (!cni_is_free(model, i)) {
      if (eq->change) memcpy(f + 6 * (size_t)i, &eq->change[i], sizeof *eq->change);
      continue;
    }
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
  cohesion_forces(model, eq, pose, f);
  CNI_TRY(element_forces(model, t, pose, v, f));
  const CnTwist *loads;
  cni_turns_back(world); // a hook may ask for coordinates, which are those of the step's start
  CNI_TRY(cni_world_loads(world, t, pose, (const CnTwist *)v, &loads));
  for (int32_t i = 0; loads && i < model->body_count; i++)
    if (cni_is_free(model, i)) add_at(f, i, loads[i].velocity, CN_VEC3_ZERO, loads[i].spin);
  return CN_OK;
}

static CnStatus gaps(void *context, double t, const double *q, double *g) {
  const CnWorld *world = context;
  const struct CniWorldEquations *eq = equations_of(context);
  cni_equations_here(world, t, &q, NULL);
  const CnPose *pose = (const CnPose *)q;
  int32_t bilateral = eq->equations.bilateral_count;
  for (int32_t i = 0; i < bilateral; i++) g[i] = cni_row_value(world, &eq->rows[i], t, pose);
  g += bilateral;
  for (int32_t i = 0; i < eq->touch_count; i++)
    g[i] = cni_touch_frame(&world->now.model, pose, &eq->touches[i]).gap;
  g += eq->touch_count;
  for (int32_t i = 0; i < eq->limit_count; i++)
    g[i] = cni_row_value(world, &eq->rows[bilateral + i], t, pose);
  g += eq->limit_count;
  int32_t servos =
      bilateral + eq->limit_count + eq->equations.bound_count - eq->equations.servo_count;
  for (int32_t i = 0; i < eq->equations.servo_count; i++)
    g[i] = cni_row_value(world, &eq->rows[servos + i], t, pose);
  return CN_OK;
}

static CnStatus jacobian(void *context, double t, const double *q, const int32_t *rows,
                         int32_t count, double *result, double *rate) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = equations_of(context);
  cni_equations_here(world, t, &q, NULL);
  const CnPose *pose = (const CnPose *)q;
  for (int32_t i = 0; i < count; i++) {
    int32_t touch = 0, k = 0;
    const CniWorldRow *row = cni_equations_row(eq, rows[i], &touch, &k);
    if (row) {
      result = cni_row_write(world, row, pose, eq->known, result, &rate[i]);
      rate[i] -= cni_row_speed(world, row, t);
    } else {
      const CniWorldTouch *own = &eq->touches[touch];
      result = cni_touch_write(model, pose, eq->known, own, k, result, &rate[i]);
      rate[i] += cni_touch_slide(model, pose, own, k);
    }
  }
  return CN_OK;
}

static CnStatus curvature(void *context, double t, const double *q, const double *v,
                          const int32_t *rows, int32_t count, double *result) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = equations_of(context);
  cni_equations_here(world, t, &q, &v);
  const CnPose *pose = (const CnPose *)q;
  for (int32_t i = 0; i < count; i++) {
    int32_t touch = 0, k = 0;
    const CniWorldRow *row = cni_equations_row(eq, rows[i], &touch, &k);
    const CniWorldTouch *own = &eq->touches[touch];
    result[i] = row ? cni_row_curvature(world, row, t, pose, v)
                    : cni_touch_curvature(model, pose, v, own, k);
    if (!eq->change) continue;
    // what the accelerations that are known do to the row
    if (row)
      cni_row_write(world, row, pose, eq->change, eq->line, &result[i]);
    else
      cni_touch_write(model, pose, eq->change, own, k, eq->line, &result[i]);
  }
  return CN_OK;
}

// Velocities jump where places are to follow functions with corners, accelerations where speeds are.
static double next_jolt(void *context, double t) {
  const CnWorld *world = context;
  const CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = world->work.equations;
  double next = cni_motions_kink(model, t);
  const CnEquations *e = &eq->equations;
  for (int32_t i = 0; i < e->bilateral_count + eq->limit_count + e->bound_count; i++) {
    const CniWorldRow *row = &eq->rows[i];
    if (row->follows == CNI_FOLLOWS_NOTHING) continue;
    const CnJointAxis *axis = &model->joints[row->joint].def.axes[row->row - CNI_JOINT_LOCKED];
    next = cn_min(next, cni_function_kink(model, axis->motor_function, t));
  }
  return next;
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

// ---- names ----

static void bilateral_name(void *context, int32_t row, char *text, size_t capacity) {
  cni_row_name(context, &equations_of(context)->rows[row], text, capacity);
}

static void contact_name(void *context, int32_t contact, char *text, size_t capacity) {
  const struct CniWorldEquations *eq = equations_of(context);
  if (contact < eq->touch_count)
    cni_touch_name(context, contact, text, capacity);
  else
    bilateral_name(context, eq->equations.bilateral_count + contact - eq->touch_count, text,
                   capacity);
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
  int32_t rows = e->bilateral_count + e->contact_count * e->contact_dim + e->bound_count;
  double weight = eq->steps_impulse ? 1 : point->step * eq->unit.time;
  double step = point->step * eq->unit.time, time = point->time * eq->unit.time;
  const double *q = point->q, *v = point->v;
  (void)integrator;
  if (eq->q) {
    cni_units_state(world, q, v, 1, eq->scratch_q, eq->scratch_v);
    q = eq->scratch_q;
    v = eq->scratch_v;
  }
  cni_equations_here(world, time, &q, &v);
  for (int32_t i = 0; i < rows; i++) {
    double force = point->multipliers[i];
    if (force != 0 && eq->q) force *= cni_units_force(world, i, eq->steps_impulse);
    eq->impulses[i] += weight * force;
    eq->ends[i] = force;
  }
  cni_powers_note(world, time, step, q, v, point->multipliers);
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < eq->touch_count; i++) {
    CniTouchFrame at;
    double pull = cni_touch_pull(model, (const CnPose *)q, &eq->touches[i], &at);
    eq->impulses[e->bilateral_count + i * e->contact_dim] -= step * pull;
    eq->ends[e->bilateral_count + i * e->contact_dim] -= pull;
  }
  for (int32_t i = 0; i < model->joint_count; i++) {
    CniJointPlace place;
    CniJointImpulse efforts;
    if (!cni_joint_has_efforts(&model->joints[i])) continue;
    cni_joint_efforts(model, &model->joints[i], time, (const CnPose *)q, v, &place, &efforts);
    eq->end_efforts[i] = efforts;
    for (int32_t k = 0; k < CNI_JOINT_LOCKED; k++)
      eq->efforts[i].locked[k] += step * efforts.locked[k];
    for (int32_t k = 0; k < place.axis_count; k++)
      for (int32_t part = 0; part < CNI_PART_COUNT; part++)
        eq->efforts[i].axes[k][part] += step * efforts.axes[k][part];
  }
}

static void note_strike(void *context, const int32_t *rows, const double *impulses, int32_t count) {
  CnWorld *world = context;
  struct CniWorldEquations *eq = world->work.equations;
  eq->struck = eq->jumped = 1;
  eq->works.motors_known = 0;
  for (int32_t i = 0; i < count; i++)
    eq->impulses[rows[i]] += impulses[i] * (eq->q ? cni_units_force(world, rows[i], 1) : 1);
}

// Where the integrator goes on.
static void note_begin(void *context, double t, const double *q, const double *v) {
  CnWorld *world = context;
  cni_equations_plain(world, &q, &v, &t);
  cni_turns_from(world, t, q, v);
  cni_powers_again(world, t, q, v);
}

static void note_event(void *context, CnIntegrator *integrator, const CnEvent *event) {
  CnWorld *world = context;
  struct CniWorldEquations *eq = world->work.equations;
  const CniModel *model = &world->now.model;
  int impact = event->kind == CN_EVENT_IMPACT;
  double speed = event->speed, impulse = event->impulse;
  (void)integrator;
  if (event->contact < eq->equations.contact_count) {
    int32_t row = eq->equations.bilateral_count + event->contact * eq->equations.contact_dim;
    if (eq->q) {
      speed *= cni_units_speed(world, row);
      impulse *= cni_units_force(world, row, impact);
    }
  }
  if (event->contact >= eq->touch_count) return; // a limit has no shapes to be told of
  const CniWorldTouch *touch = &eq->touches[event->contact];
  const CniShape *a = &model->shapes[touch->shape_a], *b = &model->shapes[touch->shape_b];
  int first = a->slot < b->slot;
  CnShapeId id_a = cni_shape_id(model, touch->shape_a), id_b = cni_shape_id(model, touch->shape_b);
  if (CNI_RESERVE(&world->allocator, world->located, world->located_capacity, world->located_count,
                  world->located_count + 1) != CN_OK) {
    eq->events_lost = 1;
    return;
  }
  world->located[world->located_count++] = (CnLocatedEvent){
      event->kind, first ? id_a : id_b, first ? id_b : id_a, event->time * eq->unit.time, speed,
      impulse};
}

// ---- preparation ----

// Impulses of the rows so far (null: none); those of the contacts of an old list go with their names.
static CnStatus carry(CnWorld *world, struct CniWorldEquations *eq,
                      const struct CniWorldEquations *old, const double *from, double **result) {
  const CnEquations *e = &eq->equations, *was = &old->equations;
  int32_t bilateral = e->bilateral_count;
  int32_t first = bilateral + e->contact_count * e->contact_dim; // of the bounds
  int32_t old_first = bilateral + was->contact_count * was->contact_dim;
  CNI_TRY(cni_equations_take(world, first + e->bound_count, sizeof **result, result));
  if (!from) return CN_OK;
  double *to = *result;
  memcpy(to, from, (size_t)bilateral * sizeof *to);
  memcpy(to + first, from + old_first, (size_t)e->bound_count * sizeof *to);
  int32_t dim = e->contact_dim < was->contact_dim ? e->contact_dim : was->contact_dim;
  for (int32_t i = 0; i < eq->limit_count; i++)
    to[bilateral + (eq->touch_count + i) * e->contact_dim] =
        from[bilateral + (old->touch_count + i) * was->contact_dim];
  for (int32_t i = 0, k = 0; i < old->touch_count; i++) {
    while (k < eq->touch_count && cni_touch_before(&eq->touches[k], &old->touches[i])) k++;
    int32_t same = k; // a rim's place has another name when it has moved on
    if (k == eq->touch_count || cni_touch_before(&old->touches[i], &eq->touches[k]))
      same = cni_touch_like(eq, &old->touches[i]);
    for (int32_t d = 0; same >= 0 && d < dim; d++)
      to[bilateral + same * e->contact_dim + d] += from[bilateral + i * was->contact_dim + d];
  }
  return CN_OK;
}

static const double *plain_velocity(const CnWorld *world) {
  const struct CniWorldEquations *eq = world->work.equations;
  return eq && eq->velocity ? eq->velocity : (const double *)world->now.model.twist;
}

// The functions, over contacts that have just been found.
static void put_functions(struct CniWorldEquations *eq) {
  CnEquations *e = &eq->equations;
  e->mass = mass;
  e->force = force;
  e->gaps = gaps;
  e->jacobian = jacobian;
  e->curvature = curvature;
  e->kinematics = kinematics;
  e->normalise = normalise;
  e->contact_name = contact_name;
  e->bilateral_name = bilateral_name;
  e->bounds = cni_rows_bounds;
  e->group_size = 6;
  e->groups = groups;
  e->covered = cni_touches_cover;
  e->next_jolt = next_jolt;
  cni_units_put(eq);
}

// The state in the units of the scene, and memory to take it back.
static CnStatus take_units(CnWorld *world, struct CniWorldEquations *eq) {
  const CniModel *model = &world->now.model;
  int32_t q = 7 * model->body_count, v = cni_equations_velocities(eq, model);
  CNI_TRY(cni_equations_take(world, q, sizeof *eq->q, &eq->q));
  CNI_TRY(cni_equations_take(world, v, sizeof *eq->v, &eq->v));
  CNI_TRY(cni_equations_take(world, q, sizeof *eq->scratch_q, &eq->scratch_q));
  CNI_TRY(cni_equations_take(world, v, sizeof *eq->scratch_v, &eq->scratch_v));
  CNI_TRY(cni_equations_take(world, v / 6 + 1, sizeof *eq->scratch_groups, &eq->scratch_groups));
  cni_units_state(world, (const double *)model->pose, plain_velocity(world), 0, eq->q, eq->v);
  return CN_OK;
}

CnStatus cni_equations_detect(CnWorld *world, double t, const double *q, const double *v,
                              double h) {
  struct CniWorldEquations *eq = world->work.equations, old = *eq;
  CnProblem *p;
  CnAnswer *answer;
  CNI_TRY(cni_touches_find(world, eq, t, (const CnPose *)q, (const CnTwist *)v, h));
  eq->touch_count = eq->equations.contact_count;
  for (int32_t i = 0; i < eq->limit_count; i++) {
    const CniWorldRow *limit = &eq->rows[eq->equations.bilateral_count + i];
    CnContactLaw *law = &eq->laws[eq->touch_count + i];
    *law = (CnContactLaw){0, 0, 0, 0};
    if (limit->joint < 0) continue;
    const CniJoint *joint = &world->now.model.joints[limit->joint];
    law->restitution = joint->def.axes[limit->row - CNI_JOINT_LOCKED].restitution;
  }
  eq->equations.contact_count += eq->limit_count;
  for (int32_t i = 0; i < eq->equations.contact_count; i++) {
    eq->laws[i].rolling /= eq->unit.length;
    eq->laws[i].spinning /= eq->unit.length;
  }
  if (!cni_units_plain(&eq->unit))
    CNI_TRY(cni_equations_take(world, cni_limit_row(eq, eq->limit_count), sizeof *eq->scratch_rows,
                               &eq->scratch_rows));
  put_functions(eq);
  CNI_TRY(carry(world, eq, &old, old.impulses, &eq->impulses));
  CNI_TRY(carry(world, eq, &old, old.ends, &eq->ends));
  world->work.time_step = world->now.settings.time_step; // not what was left of it
  // the frames in which forces are kept
  return cni_system_of(world).problem(world, t, q, v, world->now.settings.time_step, &p, &answer);
}

CnStatus cni_equations_prepare(CnWorld *world) {
  const CniModel *model = &world->now.model;
  struct CniWorldEquations *eq = NULL;
  CNI_TRY(cni_equations_take(world, 1, sizeof *eq, &eq));
  world->work.equations = eq;
  world->located_count = 0;
  CNI_TRY(cni_rows_check(world));
  eq->time = world->now.time;
  CNI_TRY(cni_rows_list(world));
  CNI_TRY(cni_equations_take(world, model->joint_count, sizeof *eq->efforts, &eq->efforts));
  CNI_TRY(cni_equations_take(world, model->joint_count, sizeof *eq->end_efforts, &eq->end_efforts));
  eq->steps_impulse = cni_integrator_find(world->now.settings.integrator)->impulse_multipliers;
  eq->unit = cni_units_of(world);
  CNI_TRY(take_motions(world, eq));
  if (!cni_units_plain(&eq->unit)) CNI_TRY(take_units(world, eq));
  CnObserver observer = {world, note_point, note_event};
  CNI_TRY(cni_turns_take(world, eq));
  const double *q = (const double *)model->pose, *v = plain_velocity(world);
  cni_equations_here(world, world->now.time, &q, &v);
  cni_turns_from(world, world->now.time, q, v);
  CNI_TRY(cni_powers_begin(world, q, v));
  CniListener listener = {note_strike, cni_powers_ask(world) ? cni_powers_start : NULL,
                          eq->turns.count > 0 || eq->works_known ? note_begin : NULL};
  cni_integrator_observe(world->now.engine.integrator, &observer, listener);
  return cni_equations_detect(world, world->now.time, q, v, world->now.settings.time_step);
}

CniStart cni_equations_start(const CnWorld *world) {
  const struct CniWorldEquations *eq = world->work.equations;
  CniStart start = {(const double *)world->now.model.pose, plain_velocity(world), 1};
  if (eq && eq->q) start = (CniStart){eq->q, eq->v, eq->unit.time};
  return start;
}

void cni_equations_report(const CnWorld *world, CnIntegratorReport *report) {
  const struct CniWorldEquations *eq = world->work.equations;
  if (!eq || !eq->q) return;
  report->time *= eq->unit.time;
  report->step *= eq->unit.time;
  report->position_drift *= eq->unit.length;
  report->velocity_drift *= eq->unit.length / eq->unit.time;
}

void cni_equations_plain(CnWorld *world, const double **q, const double **v, double *t) {
  struct CniWorldEquations *eq = world->work.equations;
  if (!eq) return;
  if (eq->q) {
    cni_units_state(world, *q, *v, 1, eq->scratch_q, eq->scratch_v);
    *q = eq->scratch_q;
    *v = eq->scratch_v;
    *t *= eq->unit.time;
  }
  cni_equations_here(world, *t, q, v);
}

int cni_equations_turned(CnWorld *world, double t, const double *q, const double *v) {
  const struct CniWorldEquations *eq = world->work.equations;
  if (!eq || eq->steps_impulse) return 0;
  cni_turns_from(world, t, q, v);
  return 1;
}

void cni_equations_undo(CnWorld *world) {
  if (world->work.equations) cni_turns_back(world);
}

int32_t cni_equations_velocity_count(const CnWorld *world) {
  const struct CniWorldEquations *eq = world->work.equations;
  return eq ? cni_equations_velocities(eq, &world->now.model) : 6 * world->now.model.body_count;
}

const CnEquations *cni_equations_of(const CnWorld *world) {
  return world->work.equations ? &world->work.equations->equations : NULL;
}
