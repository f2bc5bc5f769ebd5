// SPDX-License-Identifier: Apache-2.0
// The CnSystem of a world: how the integrator's questions are answered from the model.
//
//     detect    collision: which contacts may act in this step
//     problem   assembly: groups, joints, contacts, warm start
//     advance   x += h v,  q <- exp(h w) q, back to length one
//     drift     the same, bodies that are not like balls tumbling freely (assembly/drift.c)
//     done      the one place where a step changes the world. It makes room for contacts and
//               events first: without memory everything stays as it was, and the step fails
#include <float.h>
#include <string.h>

#include "core/clock.h"
#include "core/assert.h"
#include "solver/solver.h"
#include "sparse/sparse.h"
#include "world/world.h"

#define BODIES_PER_TASK 1024

_Static_assert(sizeof(CnPose) == 7 * sizeof(double), "poses are the state vector q");
_Static_assert(sizeof(CnTwist) == 6 * sizeof(double), "twists are the state vector v");

int32_t cni_world_filter(void *context, CnShapeId a, CnShapeId b) {
  const CnWorld *world = context;
  return world->hooks.filter(world->hooks.context, world, a, b);
}

void cni_world_modify(void *context, CnContactTuning *contact) {
  const CnWorld *world = context;
  world->hooks.modify(world->hooks.context, world, contact);
}

static CnStatus take_indices(CniArena *arena, int32_t count, int32_t **indices) {
  size_t bytes = (size_t)(count > 0 ? count : 1) * sizeof **indices;
  *indices = cni_arena_take(arena, bytes);
  return *indices ? CN_OK : cni_error_memory(bytes);
}

CnStatus cni_world_detect(CnWorld *world, const CnPose *pose, const CnTwist *twist, CnVec3 gravity,
                          double h) {
  CniStepWork *work = &world->work;
  double start = cni_seconds();
  CniCollisionInput input = {.model = &world->now.model,
                             .pose = pose,
                             .twist = twist,
                             .gravity = gravity,
                             .time_step = h,
                             .margin = world->now.settings.contact_margin,
                             .rows = !work->equations,
                             .tasks = world->tasks,
                             .arena = &world->memory.arena,
                             .filter = world->hooks.filter ? cni_world_filter : NULL,
                             .filter_context = world};
  CNI_TRY(
      take_indices(&world->memory.arena, world->now.model.joint_count + 1, &work->joint_blocks));
  work->places = NULL;
  size_t bytes = (size_t)world->now.model.joint_count * sizeof *work->places;
  if (bytes > 0 && !work->equations) {
    work->places = cni_arena_take(&world->memory.arena, bytes);
    if (!work->places) return cni_error_memory(bytes);
  }
  work->mark = cni_arena_mark(&world->memory.arena);
  CNI_TRY(cni_collision_detect(world->collision, &input, &work->contacts, &work->contact_count));
  CNI_VALIDATE(cni_collision_fault(input.model, work->contacts, work->contact_count));
  work->time_step = h;
  work->seconds_collision += cni_seconds() - start;
  return CN_OK;
}

static int calm(CnWorld *world, const double *q, double h);
static CnStatus drift_first(CnWorld *world, const double *q, const double *v, double h);

static CnStatus detect(void *context, double t, const double *q, const double *v, double h) {
  CnWorld *world = context;
  if (world->work.equations) {
    double unit = cni_equations_start(world).time_unit;
    cni_equations_plain(world, &q, &v, &t);
    return cni_equations_detect(world, t, q, v, h * unit);
  }
  CNI_TRY(cni_world_detect(world, (const CnPose *)q, (const CnTwist *)v,
                           world->now.settings.gravity, h));
  if (calm(world, q, h)) return drift_first(world, q, v, h);
  return cni_world_touch(world, (const CnPose *)q, (const CnTwist *)v, h);
}

// m/s or rad/s
double cni_bounce_threshold(const CnWorld *world, double h) {
  double threshold = world->now.settings.restitution_threshold;
  return threshold < 0 ? cn_norm(world->now.settings.gravity) * h : threshold;
}

static CnStatus problem(void *context, double t, const double *q, const double *v, double h,
                        CnProblem **result, CnAnswer **answer) {
  CnWorld *world = context;
  CniStepWork *work = &world->work;
  const CniSettings *settings = &world->now.settings;
  CniEngine *engine = &world->now.engine;
  double start = cni_seconds();
  int32_t *block_of;
  const CnTwist *loads;
  CNI_TRY(cni_world_loads(world, t, (const CnPose *)q, (const CnTwist *)v, &loads));
  CNI_TRY(take_indices(&world->memory.arena, work->contact_count, &block_of));
  CNI_TRY(cni_contacts_begin(world, work->contact_count));
  const CniTouch *touch = work->touch;
  CniAssemblyInput input = {.model = &world->now.model,
                            .pose = touch ? touch->pose : (const CnPose *)q,
                            .twist = touch ? touch->twist : (const CnTwist *)v,
                            .times = touch ? touch->time : NULL,
                            .flies = touch ? touch->flies : NULL,
                            .loads = loads,
                            .contacts = work->contacts,
                            .contact_count = work->contact_count,
                            .gravity = settings->gravity,
                            .time = t,
                            .time_step = h,
                            .stabilisation = settings->stabilisation,
                            .contact_stabilisation = settings->contact_stabilisation,
                            .contact_slop = settings->contact_slop,
                            .recovery_speed = settings->recovery_speed,
                            .restitution_threshold = cni_bounce_threshold(world, h),
                            .late = work->equations ? 0 : 1 - settings->spring_theta,
                            .geometric_stiffness = settings->geometric_stiffness,
                            .modify = world->hooks.modify ? cni_world_modify : NULL,
                            .modify_context = world,
                            .movable = 1,
                            .shorts = world->found.shorts,
                            .bounces = work->equations ? NULL : &world->found.bounces,
                            .places = work->places,
                            .arena = &world->memory.arena,
                            .tasks = world->tasks};
  world->found.bounces.law = (int32_t)settings->restitution_law;
  CNI_TRY(cni_contacts_warm(world, &input.old));
  CNI_TRY(cni_assemble(&input, engine->problem, &engine->answer, work->joint_blocks, block_of));
  CNI_VALIDATE(cni_problem_fault(engine->problem));
  work->block_of = block_of;
  cni_watch_deepest(input.model, work->contacts, work->contact_count, world->found.shorts,
                    &work->overlap);
  CNI_TRY(cni_contacts_note(world));
  // the solver works in the place of the contacts; the equations look at them again
  if (!work->equations) {
    work->contacts = NULL;
    work->block_of = NULL;
    work->loads = NULL;
    cni_arena_back(&world->memory.arena, work->mark);
  }
  if (!cni_solver_takes_b_per_block(engine->solver)) CNI_TRY(cni_problem_widen_b(engine->problem));
  world->memory.lent_groups = engine->problem->groups;
  *result = engine->problem;
  *answer = &engine->answer;
  work->seconds_assembly += cni_seconds() - start;
  return CN_OK;
}

static CnStatus again(void *context, int32_t solves, CnProblem *problem, CnAnswer *answer,
                      int32_t *more) {
  CnWorld *world = context;
  CniBounces *bounces = &world->found.bounces;
  bounces->sequential = world->now.settings.integration.impact == CN_IMPACT_SEQUENTIAL;
  return cni_bounce_again(bounces, solves, problem, answer, more);
}

CnPose cni_advance_pose(CnPose pose, CnTwist twist, double h) {
  pose.position = cn_madd(pose.position, h, twist.velocity);
  // without a spin the rotation keeps its bits
  CnVec3 w = twist.spin;
  if (w.x != 0 || w.y != 0 || w.z != 0)
    pose.rotation = cn_qunit(cn_qmul(cni_quat_exp(cn_scale(h, w)), pose.rotation));
  return pose;
}

typedef struct Advance {
  const CnPose *pose;
  const CnTwist *twist;
  double h;
  CnPose *result;
} Advance;

static void advance_range(void *context, int32_t begin, int32_t end) {
  const Advance *a = context;
  for (int32_t i = begin; i < end; i++)
    a->result[i] = cni_advance_pose(a->pose[i], a->twist[i], a->h);
}

static void advance(void *context, const double *q, const double *v, double h, double *q_new) {
  CnWorld *world = context;
  Advance a = {(const CnPose *)q, (const CnTwist *)v, h, (CnPose *)q_new};
  double start = cni_seconds();
  cni_parallel_for(world->tasks, world->now.model.body_count, BODIES_PER_TASK, advance_range, &a);
  world->work.seconds_end += cni_seconds() - start;
}

// ---- drift: the motion after the impulses of `impulse` ----

typedef struct Drift {
  const CniModel *model;
  const CnPose *pose;
  const CnTwist *twist;
  double h;
  CnPose *pose_new;
  CnTwist *end; // null: no body turns by axis, none has a joint, no spring is late: velocities stay
  const CniTouch *touch; // null: impulses acted at the beginning
  CnVec3 gravity;
} Drift;

// Where a body is after the time t, and its twist there, if no joint holds it.
static CnPose drift_to(const Drift *d, int32_t i, double t, CnTwist *twist) {
  *twist = d->twist[i];
  return cni_world_path(d->model, i, d->pose[i], t, twist);
}

// The same from where impulses acted to the end of the step, with the rest of the weight.
static CnPose drift_on(const Drift *d, int32_t i, CnTwist *twist) {
  double t = d->touch->time[i], left = d->h - t;
  *twist = d->twist[i];
  CnPose pose = cni_world_path(d->model, i, d->touch->pose[i], left, twist);
  if (!d->touch->flies[i]) return pose;
  pose.position = cn_madd(pose.position, 0.5 * left * left, d->gravity);
  twist->velocity = cn_madd(twist->velocity, 0.5 * d->h - t, d->gravity);
  return pose;
}

static void drift_range(void *context, int32_t begin, int32_t end) {
  const Drift *d = context;
  for (int32_t i = begin; i < end; i++) {
    CnTwist twist;
    if (cni_drift_takes(d->model, i)) continue; // the joints'
    int moved = d->touch && cni_has_mass(&d->model->mass[i]);
    d->pose_new[i] = moved ? drift_on(d, i, &twist) : drift_to(d, i, d->h, &twist);
    if (d->end) d->end[i] = twist;
  }
}

// The way of a body for those that are continuous. Joints may have moved it to the side: then it is
// the straight one.
static CnPose drift_path(const void *context, int32_t i, double t, CnTwist *twist) {
  const Drift *d = context;
  if (d->model->bodies[i].first_joint < 0) return drift_to(d, i, t, twist);
  CnPose from = d->pose[i], to = d->pose_new[i];
  CnQuat p = from.rotation, q = to.rotation;
  double s = t / d->h, dot = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z, b = dot < 0 ? -s : s;
  CnQuat between = {(1 - s) * p.w + b * q.w, (1 - s) * p.x + b * q.x, (1 - s) * p.y + b * q.y,
                    (1 - s) * p.z + b * q.z};
  CnVec3 way = cn_sub(to.position, from.position);
  *twist = (CnTwist){cn_scale(1 / d->h, way), cn_scale(2, d->twist[i].spin)};
  return (CnPose){cn_madd(from.position, s, way), cn_qunit(between)};
}

// Impulses of all rounds.
static const double *kick_impulses(const CnWorld *world) {
  const CniBounces *bounces = &world->found.bounces;
  return bounces->rounds > 0 ? bounces->total : world->now.engine.answer.g;
}

static CnStatus drift_joints(CnWorld *world, const Drift *d) {
  const CniModel *model = d->model;
  if (!world->direct) CNI_TRY(cni_direct_create(&world->allocator, &world->direct));
  CnTwist *reactions;
  CNI_TRY(cni_arena_array(&world->memory.arena, model->joint_count, sizeof *reactions, &reactions));
  world->work.reactions = reactions;
  if (world->now.settings.balance)
    CNI_TRY(cni_arena_array(&world->memory.arena, CN_BALANCE_PART_COUNT,
                            sizeof *world->work.drift_terms, &world->work.drift_terms));
  return cni_drift_joints(&(CniDriftInput){.model = model,
                                           .problem = world->now.engine.problem,
                                           .g = kick_impulses(world),
                                           .joint_blocks = world->work.joint_blocks,
                                           .places = world->work.places,
                                           .pose = d->pose,
                                           .twist = d->twist,
                                           .time_step = d->h,
                                           .stabilisation = world->now.settings.stabilisation,
                                           .recovery_speed = world->now.settings.recovery_speed,
                                           .threshold = cni_bounce_threshold(world, d->h),
                                           .gravity = world->now.settings.gravity,
                                           .terms = world->work.drift_terms,
                                           .efforts = &world->work.efforts,
                                           .effort_count = &world->work.effort_count,
                                           .torn = &world->work.torn,
                                           .pose_new = d->pose_new,
                                           .end = d->end,
                                           .reactions = reactions,
                                           .direct = world->direct,
                                           .arena = &world->memory.arena,
                                           .tasks = world->tasks});
}

// ---- drift before kick ----
//
// After kick and drift positions are half a step ahead of velocities, all of the error of first order of
// a machine on joints. Where nothing but gravity and rigid joints acts every other step is made the other
// way round: kick, drift, drift, kick is symmetric, and of second order, at no cost.

static int is_calm(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  if (!world->now.settings.geometric_stiffness || world->now.step % 2 == 0 ||
      model->joint_count == 0 || model->coupling_count > 0 || model->force_count > 0 ||
      model->motion_count > 0 || world->work.contact_count > 0 || world->hooks.force ||
      world->hooks.before_step)
    return 0;
  for (int32_t i = 0; i < model->body_count; i++) {
    CnTwist load = cni_model_load(model, i);
    if (cn_norm2(load.velocity) > 0 || cn_norm2(load.spin) > 0 ||
        model->bodies[i].kind == CN_BODY_KINEMATIC)
      return 0;
  }
  return 1;
}

static int calm(CnWorld *world, const double *q, double h) {
  return is_calm(world) && cni_joints_calm(&(CniAssemblyInput){.model = &world->now.model,
                                                               .pose = (const CnPose *)q,
                                                               .time_step = h,
                                                               .places = world->work.places,
                                                               .tasks = world->tasks});
}

static CnStatus drift_first(CnWorld *world, const double *q, const double *v, double h) {
  const CniModel *model = &world->now.model;
  CNI_TRY(cni_touch_reserve(world));
  CniTouch *touch = &world->touch;
  Drift d = {.model = model,
             .pose = (const CnPose *)q,
             .twist = (const CnTwist *)v,
             .h = h,
             .pose_new = touch->pose,
             .end = touch->twist};
  cni_parallel_for(world->tasks, model->body_count, BODIES_PER_TASK, drift_range, &d);
  CNI_TRY(drift_joints(world, &d));
  for (int32_t i = 0; i < model->body_count; i++) {
    touch->time[i] = h;
    touch->flies[i] = 0;
  }
  world->work.mark = cni_arena_mark(&world->memory.arena);
  world->work.touch = touch;
  world->work.drifted = 1;
  return CN_OK;
}

// What springs have still to do.
static CnStatus late_springs(CnWorld *world, const Drift *d, double late) {
  const CniModel *model = d->model;
  CnTwist *momentum;
  CNI_TRY(
      cni_arena_array(&world->memory.arena, model->body_count + 1, sizeof *momentum, &momentum));
  cni_late_springs(model, world->now.engine.problem, world->work.joint_blocks, kick_impulses(world),
                   late, (double *)momentum);
  for (int32_t i = 0; i < model->body_count; i++) {
    CnTwist p = momentum[i];
    if (!cni_has_mass(&model->mass[i])) continue;
    CnSym3 inverse = cni_model_inv_inertia(model, i, d->pose_new[i].rotation);
    d->end[i].velocity = cn_madd(d->end[i].velocity, 1 / model->mass[i].mass, p.velocity);
    d->end[i].spin = cn_add(d->end[i].spin, cn_smul(inverse, p.spin));
  }
  world->work.late = momentum;
  return CN_OK;
}

static CnStatus drift(void *context, const double *q, const double *v, double h, double *q_new,
                      const double **v_end) {
  CnWorld *world = context;
  const CniModel *model = &world->now.model;
  double start = cni_seconds();
  Drift d = {.model = model,
             .pose = (const CnPose *)q,
             .twist = (const CnTwist *)v,
             .h = h,
             .pose_new = (CnPose *)q_new,
             .touch = world->work.touch,
             .gravity = world->now.settings.gravity};
  double late = model->joint_count + model->force_count > 0 ? world->now.settings.spring_theta : 1;
  late = 1 - late;
  if (world->work.drifted) {
    memcpy(q_new, d.touch->pose, (size_t)model->body_count * sizeof *d.touch->pose);
    return CN_OK;
  }
  if (model->inertias || model->joint_count > 0 || late > 0 || d.touch) {
    CNI_TRY(CNI_TAKE(&world->memory.arena, model->body_count, d.end));
    *v_end = (const double *)d.end;
  }
  cni_parallel_for(world->tasks, model->body_count, BODIES_PER_TASK, drift_range, &d);
  if (model->joint_count > 0) CNI_TRY(drift_joints(world, &d));
  CNI_TRY(cni_collision_sweep(world->collision, &(CniSweepInput){.model = model,
                                                                 .time_step = h,
                                                                 .path = drift_path,
                                                                 .context = &d,
                                                                 .pose_new = d.pose_new,
                                                                 .end = d.end,
                                                                 .arena = &world->memory.arena,
                                                                 .tasks = world->tasks}));
  if (late > 0) CNI_TRY(late_springs(world, &d, late));
  world->work.seconds_end += cni_seconds() - start;
  return CN_OK;
}

typedef struct TakeLoop {
  CniModel *model;
  const CnPose *found; // where contacts were
  const CnPose *pose;
  const CnTwist *twist;
  CnVec3 *before; // null: nobody will ask
} TakeLoop;

static void take_states(void *context, int32_t begin, int32_t end) {
  const TakeLoop *loop = context;
  if (loop->before)
    for (int32_t i = begin; i < end; i++) loop->before[i] = loop->found[i].position;
  for (int32_t i = begin; i < end; i++) {
    loop->model->pose[i] = loop->pose[i];
    loop->model->twist[i] = loop->twist[i];
  }
  if (loop->model->load)
    for (int32_t i = begin; i < end; i++)
      loop->model->load[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
}

static CnStatus balance(CnWorld *world, const CnPose *pose, const CnTwist *twist,
                        const CnAnswer *answer, int solved) {
  const CniSettings *settings = &world->now.settings;
  CniModel *model = &world->now.model;
  const CniTouch *touch = world->work.touch;
  CniBalanceInput input = {.model = model,
                           .problem = world->now.engine.problem,
                           .answer = answer,
                           .from = model->pose,
                           .start = model->twist,
                           .pose = touch ? touch->pose : model->pose,
                           .pose_new = pose,
                           .twist = touch ? touch->twist : model->twist,
                           .end = twist,
                           .flies = touch ? touch->flies : NULL,
                           .drift = world->work.drift_terms,
                           .late = world->work.late,
                           .joint_blocks = world->work.joint_blocks,
                           .time = world->now.time,
                           .gravity = settings->gravity,
                           .time_step = world->work.time_step,
                           .restitution_threshold =
                               cni_bounce_threshold(world, world->work.time_step),
                           .geometric_stiffness = settings->geometric_stiffness,
                           .rounds = solved ? world->found.bounces.rounds : 0,
                           .by_quadrature = !solved,
                           .arena = &world->memory.arena};
  return cni_balance(&input, &world->balance);
}

// What joints and couplings did in the drift.
static void keep_drift(CniModel *model, const CniStepWork *work) {
  for (int32_t i = 0; work->reactions && i < model->joint_count; i++) {
    CnTwist *total = &model->joints[i].total, more = work->reactions[i];
    model->joints[i].carried = more.velocity;
    *total = (CnTwist){cn_add(total->velocity, more.velocity), cn_add(total->spin, more.spin)};
  }
  for (int32_t i = 0; i < work->effort_count; i++) {
    const CniDriftEffort *e = &work->efforts[i];
    if (e->joint < 0)
      model->couplings[e->coupling].drift = e->impulse;
    else
      model->joints[e->joint].drift[e->axis][e->part] =
          e->part == CNI_PART_UPPER ? -e->impulse : e->impulse;
  }
}

// A sum of many steps drifts away from their number times h; what is a multiple of h but for
// round-off becomes that multiple. After a change of h it is so again only where they fit.
static double multiple_of_step(double t, double h) {
  double multiple = floor(t / h + 0.5) * h;
  return fabs(t - multiple) <= 4 * DBL_EPSILON * fabs(t) ? multiple : t;
}

static CnStatus done(void *context, double t_new, const double *q_new, const double *v_new,
                     const CnAnswer *answer) {
  CnWorld *world = context;
  CniContents *now = &world->now;
  CniModel *model = &now->model;
  cni_equations_plain(world, &q_new, &v_new, &t_new);
  const CnPose *pose = (const CnPose *)q_new;
  const CnTwist *twist = (const CnTwist *)v_new;
  int32_t *order = NULL;
  double start = cni_seconds();
  int solved = answer != NULL;
  CnAnswer all; // the impulses of all rounds
  if (solved && world->found.bounces.rounds > 0) {
    all = *answer;
    all.g = world->found.bounces.total;
    answer = &all;
  }
  if (!answer) {
    CNI_TRY(cni_equations_answer(world, &answer));
    all = *answer;
    all.v = (double *)v_new;
    if (now->settings.balance)
      CNI_TRY(cni_forces_put(model, pose, twist, now->time, world->work.time_step,
                             now->engine.problem, answer->g));
  }
  if (now->settings.balance) CNI_TRY(balance(world, pose, twist, solved ? answer : &all, solved));
  CNI_TRY(cni_order_plan(world, pose, &order));
  CNI_TRY(cni_problem_map_begin(world));
  if (order) CNI_TRY(cni_problem_map_reserve(now));
  CNI_TRY(cni_contacts_commit(world, pose, answer));
  for (int32_t i = 0; i < model->joint_count; i++)
    cni_joint_keep(model, &model->joints[i], now->time, world->work.time_step,
                   solved ? 1 - now->settings.spring_theta : 0, now->engine.problem, answer->g,
                   world->work.joint_blocks[i], world->work.places);
  cni_couplings_keep(model, world->work.time_step, now->engine.problem, answer->g,
                     world->work.joint_blocks[0]);
  keep_drift(model, &world->work);
  const CniContactCache *kept = &now->contacts;
  const CniTouch *touch = world->work.touch;
  TakeLoop take = {model, touch ? touch->pose : model->pose, pose, twist,
                   kept->before_count > 0 ? kept->before : NULL};
  cni_parallel_for(world->tasks, model->body_count, BODIES_PER_TASK, take_states, &take);
  cni_joints_follow(model, world->work.time_step);
  now->engine.solved = solved;
  world->balance_known = now->settings.balance;
  cni_problem_map_joints(world);
  now->time = multiple_of_step(t_new, world->work.time_step);
  now->step++;
  if (order) cni_order_apply(world, order);
  world->work.seconds_end += cni_seconds() - start;
  return CN_OK;
}

CnSystem cni_system_of(CnWorld *world) {
  return (CnSystem){.context = world,
                    .q_count = 7 * world->now.model.body_count,
                    .v_count = cni_equations_velocity_count(world),
                    .step = world->now.step + 1,
                    .detect = detect,
                    .problem = problem,
                    .again = again,
                    .advance = advance,
                    .drift = drift,
                    .done = done,
                    .equations = cni_equations_of(world),
                    .memory = &world->memory};
}
