// SPDX-License-Identifier: Apache-2.0
// The drift of a world's step: where bodies go after the impulses of `impulse`, free ones by themselves,
// those on joints together (assembly/drift_joints.c), and what springs do after it.
#include <string.h>

#include "core/clock.h"
#include "integrator/integrator.h"
#include "sparse/sparse.h"
#include "world/world.h"

#define BODIES_PER_TASK 1024

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

// Terms of the balance that the drift adds to, if somebody asks.
static CnStatus take_terms(CnWorld *world) {
  CnBalanceTerm **terms = &world->work.drift_terms;
  if (!world->now.settings.balance || *terms) return CN_OK;
  return cni_arena_array(&world->memory.arena, CN_BALANCE_PART_COUNT, sizeof **terms, terms);
}

// Velocities at the end, where there is a place for them.
static CnStatus take_end(CnWorld *world, Drift *d, const double **v_end) {
  CNI_TRY(CNI_TAKE(&world->memory.arena, d->model->body_count, d->end));
  *v_end = (const double *)d->end;
  return CN_OK;
}

// What was in each other deeper than rows said counts as an overlap, also if it was taken back.
static CnStatus correct(CnWorld *world, Drift *d, const double **v_end) {
  const CniStepContacts *found = &world->found;
  int part = world->work.share.part;
  if (found->full_count == 0 && !part) return CN_OK;
  CNI_TRY(take_terms(world));
  CnBalanceTerm *terms = world->work.drift_terms;
  CniContact deepest;
  int32_t any = 0;
  CniCorrectInput in = {.model = d->model,
                        .contacts = found->full,
                        .count = found->full_count,
                        .time_step = d->h,
                        .times = d->touch ? d->touch->time : NULL,
                        .pose = d->touch ? d->touch->pose : d->pose,
                        .twist = d->twist,
                        .end = d->end,
                        .pose_new = d->pose_new,
                        .term = terms ? &terms[CN_BALANCE_STABILISATION] : NULL,
                        .arena = &world->memory.arena,
                        .tasks = world->tasks};
  if (part) { // bodies are moved one after the other, whosever they are
    CNI_TRY(cni_collision_deeper(&in, &any));
    CNI_TRY(cni_share_full(world, any, &in.contacts, &in.count));
    if (in.count == 0) return CN_OK;
    if (!d->end) {
      CNI_TRY(take_end(world, d, v_end));
      memcpy(d->end, d->twist, (size_t)d->model->body_count * sizeof *d->end);
      in.end = d->end;
    }
  }
  CNI_TRY(cni_collision_correct(&in, &deepest, &any));
  cni_watch_deepest(d->model, &deepest, any, NULL, 0, &world->work.overlap);
  return CN_OK;
}

static CnStatus drift_joints(CnWorld *world, const Drift *d) {
  const CniModel *model = d->model;
  if (!world->direct) CNI_TRY(cni_direct_create(&world->allocator, &world->direct));
  CnTwist *reactions;
  CNI_TRY(cni_arena_array(&world->memory.arena, model->joint_count, sizeof *reactions, &reactions));
  world->work.reactions = reactions;
  CNI_TRY(take_terms(world));
  return cni_drift_joints(&(CniDriftInput){.model = model,
                                           .problem = world->now.engine.problem,
                                           .g = kick_impulses(world),
                                           .last = world->now.engine.answer.g,
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
                                           .missed = &world->work.missed,
                                           .pose_new = d->pose_new,
                                           .end = d->end,
                                           .reactions = reactions,
                                           .direct = world->direct,
                                           .arena = &world->memory.arena,
                                           .tasks = world->tasks});
}

// What the scheme has taken of the angular momentum of machines that float. `kicked`: impulses came first.
static CnStatus turn_whole(CnWorld *world, const Drift *d, int kicked) {
  return cni_whole_turn(&(CniWholeTurn){.model = d->model,
                                        .problem = kicked ? world->now.engine.problem : NULL,
                                        .g = kicked ? kick_impulses(world) : NULL,
                                        .joint_blocks = world->work.joint_blocks,
                                        .pose = d->touch ? d->touch->pose : d->pose,
                                        .twist = d->twist,
                                        .pose_new = d->pose_new,
                                        .end = d->end,
                                        .missed = world->work.missed,
                                        .terms = world->work.drift_terms,
                                        .arena = &world->memory.arena});
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

int cni_drift_calm(CnWorld *world, const double *q, double h) {
  return is_calm(world) && cni_joints_calm(&(CniAssemblyInput){.model = &world->now.model,
                                                               .pose = (const CnPose *)q,
                                                               .time_step = h,
                                                               .places = world->work.places,
                                                               .tasks = world->tasks});
}

CnStatus cni_drift_first(CnWorld *world, const double *q, const double *v, double h) {
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
  CNI_TRY(turn_whole(world, &d, 0));
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

// Of a shared step: all velocities, and places for the new positions.
static CnStatus tell_velocities(CnWorld *world, const double **v, double **q_new,
                                const double **v_end) {
  int32_t bodies = world->now.model.body_count;
  CnPose *moved;
  CNI_TRY(cni_share_velocities(world, &world->now.engine.answer, v));
  world->work.told = *v_end = *v;
  CNI_TRY(cni_check_state("v", *v, 6 * bodies, world->now.time));
  CNI_TRY(CNI_TAKE(&world->memory.arena, bodies, moved));
  world->work.moved = moved;
  *q_new = (double *)moved;
  return CN_OK;
}

CnStatus cni_drift_after(void *context, const double *q, const double *v, double h, double *q_new,
                         const double **v_end) {
  CnWorld *world = context;
  const CniModel *model = &world->now.model;
  world->work.drifts = cni_seconds(); // `done` tells what it took
  CNI_TRY(cni_contacts_share(world, &world->now.engine.answer));
  if (world->work.share.lean) return cni_share_finite(world, &world->now.engine.answer);
  if (world->work.share.part) CNI_TRY(tell_velocities(world, &v, &q_new, v_end));
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
  if (model->inertias || model->joint_count > 0 || late > 0 || d.touch ||
      (world->found.full_count > 0 && !world->work.share.part))
    CNI_TRY(take_end(world, &d, v_end));
  cni_parallel_for(world->tasks, model->body_count, BODIES_PER_TASK, drift_range, &d);
  if (model->joint_count > 0) {
    CNI_TRY(drift_joints(world, &d));
    CNI_TRY(turn_whole(world, &d, 1));
  }
  CNI_TRY(cni_collision_sweep(world->collision, &(CniSweepInput){.model = model,
                                                                 .time_step = h,
                                                                 .path = drift_path,
                                                                 .context = &d,
                                                                 .pose_new = d.pose_new,
                                                                 .end = d.end,
                                                                 .arena = &world->memory.arena,
                                                                 .tasks = world->tasks}));
  CNI_TRY(correct(world, &d, v_end));
  if (late > 0) CNI_TRY(late_springs(world, &d, late));
  if (!world->work.moved) return CN_OK;
  CNI_TRY(cni_check_state("v", *v_end, 6 * model->body_count, world->now.time));
  return cni_check_state("q", q_new, 7 * model->body_count, world->now.time);
}

void cni_drift_keep(CniModel *model, const CniStepWork *work) {
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
