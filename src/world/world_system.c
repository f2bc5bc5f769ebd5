// SPDX-License-Identifier: Apache-2.0
// The CnSystem of a world: how the integrator's questions are answered from the model.
//
//     detect    collision: which contacts may act in this step
//     problem   assembly: groups, joints, contacts, warm start
//     advance   x += h v,  q <- exp(h w) q, back to length one
//     drift     the same, bodies that are not like balls tumbling freely (system_drift.c)
//     done      the one place where a step changes the world. It makes room for contacts and
//               events first: without memory everything stays as it was, and the step fails
#include <float.h>

#include "core/clock.h"
#include "core/assert.h"
#include "solver/solver.h"
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
                             .some = work->share.asked,
                             .first_body = work->share.begin,
                             .last_body = work->share.end,
                             .tasks = world->tasks,
                             .arena = &world->memory.arena,
                             .filter = world->hooks.filter ? cni_world_filter : NULL,
                             .filter_context = world};
  CNI_TRY(CNI_TAKE(&world->memory.arena, world->now.model.joint_count + 1, work->joint_blocks));
  work->places = NULL;
  if (world->now.model.joint_count > 0 && !work->equations)
    CNI_TRY(CNI_TAKE(&world->memory.arena, world->now.model.joint_count, work->places));
  work->mark = cni_arena_mark(&world->memory.arena);
  CNI_TRY(cni_collision_detect(world->collision, &input, &work->contacts, &work->contact_count));
  CNI_VALIDATE(cni_collision_fault(input.model, work->contacts, work->contact_count));
  work->time_step = h;
  work->found = cni_seconds(); // a look at the clock takes as long as a hundred operations
  work->seconds_collision += work->found - start;
  return CN_OK;
}

static CnStatus detect(void *context, double t, const double *q, const double *v, double h) {
  CnWorld *world = context;
  if (world->work.equations) {
    double unit = cni_equations_start(world).time_unit;
    cni_equations_plain(world, &q, &v, &t);
    return cni_equations_detect(world, t, q, v, h * unit);
  }
  cni_share_begin(world);
  CNI_TRY(cni_share_hand_over(world));
  CNI_TRY(cni_world_detect(world, (const CnPose *)q, (const CnTwist *)v,
                           world->now.settings.gravity, h));
  CNI_TRY(cni_share_agree(world));
  CNI_TRY(cni_share_old(world));
  if (world->work.share.part) return CN_OK; // of few bodies that bounce it is not asked
  if (cni_drift_calm(world, q, h)) return cni_drift_first(world, q, v, h);
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
  double start = work->found > 0 ? work->found : cni_seconds();
  int32_t *block_of;
  const CnTwist *loads;
  CniSubset bodies, shapes;
  CNI_TRY(cni_world_loads(world, t, (const CnPose *)q, (const CnTwist *)v, &loads));
  CNI_TRY(CNI_TAKE(&world->memory.arena, work->contact_count, block_of));
  CNI_TRY(cni_contacts_begin(world, work->contact_count));
  const CniTouch *touch = work->touch;
  double inradius = 0;
  CniAssemblyInput input = {.model = &world->now.model,
                            .pose = touch ? touch->pose : (const CnPose *)q,
                            .twist = touch ? touch->twist : (const CnTwist *)v,
                            .times = touch ? touch->time : NULL,
                            .flies = touch ? touch->flies : NULL,
                            .loads = loads,
                            .contacts = work->contacts,
                            .contact_count = work->contact_count,
                            .bodies = work->share.part ? &bodies : NULL,
                            .shapes = work->share.part ? &shapes : NULL,
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
                            .least_inradius = &inradius,
                            .bounces =
                                work->equations || work->share.part ? NULL : &world->found.bounces,
                            .places = work->places,
                            .arena = &world->memory.arena,
                            .tasks = world->tasks};
  world->found.bounces.law = (int32_t)settings->restitution_law;
  if (work->share.part) {
    world->found.bounces.count = world->found.bounces.rounds = 0;
    CNI_TRY(cni_share_subsets(world, &bodies, &shapes));
  }
  CNI_TRY(cni_contacts_warm(world, &input.old));
  CNI_TRY(cni_assemble(&input, engine->problem, &engine->answer, work->joint_blocks, block_of));
  CNI_VALIDATE(cni_problem_fault(engine->problem));
  cni_share_place(world, engine->problem);
  work->block_of = block_of;
  int32_t deepest = cni_watch_deepest(input.model, work->contacts, work->contact_count,
                                      world->found.shorts, inradius, &work->overlap);
  if (work->share.part) CNI_TRY(cni_share_deepest(world, deepest));
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
  work->found = 0;
  return CN_OK;
}

static CnStatus again(void *context, int32_t solves, CnProblem *problem, CnAnswer *answer,
                      int32_t *more) {
  CnWorld *world = context;
  CniStepWork *work = &world->work;
  CniBounces *bounces = &world->found.bounces;
  CniJointRub *rub = &work->rub;
  // friction of joints first, as long as the first round is found
  if (bounces->rounds == 0 && work->places) {
    rub->model = &world->now.model;
    rub->places = work->places;
    rub->joint_blocks = work->joint_blocks;
    rub->time_step = work->time_step;
    rub->late = 1 - world->now.settings.spring_theta;
    CNI_TRY(cni_joints_rub(rub, problem, answer->g, more));
    if (*more) {
      rub->repeats++;
      *more = 2;
      return CN_OK;
    }
  }
  solves -= rub->repeats;
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

// A sum of many steps drifts away from their number times h; what is a multiple of h but for
// round-off becomes that multiple. After a change of h it is so again only where they fit.
double cni_multiple_of_step(double t, double h) {
  double multiple = floor(t / h + 0.5) * h;
  return fabs(t - multiple) <= 4 * DBL_EPSILON * fabs(t) ? multiple : t;
}

static CnStatus done(void *context, double t_new, const double *q_new, const double *v_new,
                     const CnAnswer *answer) {
  CnWorld *world = context;
  CniContents *now = &world->now;
  CniModel *model = &now->model;
  int lean = world->work.share.lean;
  if (world->work.moved) q_new = (const double *)world->work.moved;
  cni_equations_plain(world, &q_new, &v_new, &t_new);
  int turned = cni_equations_turned(world, t_new, q_new, v_new);
  const CnPose *pose = (const CnPose *)q_new;
  const CnTwist *twist = (const CnTwist *)v_new;
  if (!lean) CNI_TRY(cni_world_rows_finite(world, pose));
  const int32_t *order = NULL;
  CniOrderRoom room;
  double start = world->work.drifts > 0 ? world->work.drifts : cni_seconds();
  int solved = answer != NULL;
  CnAnswer all; // the impulses of all rounds
  if (solved && world->found.bounces.rounds > 0) {
    all = *answer;
    all.g = world->found.bounces.total;
    answer = &all;
  }
  if (!answer) {
    CNI_TRY(cni_motors_follow(world, t_new, q_new, v_new));
    CNI_TRY(cni_equations_answer(world, &answer));
    all = *answer;
    all.v = (double *)v_new;
    if (now->settings.balance)
      CNI_TRY(cni_forces_put(model, pose, twist, now->time, world->work.time_step,
                             now->engine.problem, answer->g));
  }
  if (now->settings.balance || (world->work.springs && solved && !world->work.share.part))
    CNI_TRY(cni_balance_step(world, pose, twist, solved ? answer : &all, solved));
  if (!solved) cni_equations_tell(world);
  CNI_TRY(cni_order_room(world, &room));
  if (!lean) order = cni_order_find(world, pose, &room);
  CNI_TRY(cni_problem_map_begin(world));
  if (world->work.share.part)
    CNI_TRY(cni_share_reorder(world, order != NULL || (lean && room.moving > 0)));
  else if (order)
    CNI_TRY(cni_problem_map_reserve(now));
  CNI_TRY(cni_contacts_commit(world, pose, answer));
  for (int32_t i = 0; i < model->joint_count; i++)
    cni_joint_keep(model, &model->joints[i], now->time, world->work.time_step,
                   solved ? 1 - now->settings.spring_theta : 0, now->engine.problem, answer->g,
                   world->work.joint_blocks[i], world->work.places);
  cni_couplings_keep(model, world->work.time_step, now->engine.problem, answer->g,
                     world->work.joint_blocks[0]);
  cni_drift_keep(model, &world->work);
  const CniTouch *touch = world->work.touch;
  const CnPose *acted = !solved ? pose : touch ? touch->pose : model->pose;
  if (!lean)
    cni_share_take(world, acted, pose, twist);
  else
    order = cni_order_find(world, model->pose, &room);
  if (!solved) cni_equations_turn(world);
  // where impulses act within the step places are those of that time
  cni_turns_follow(model, turned ? 0 : world->work.time_step,
                   solved && !touch ? world->work.places : NULL);
  now->engine.solved = world->work.share.part ? 3 : solved;
  world->balance_known = now->settings.balance;
  cni_problem_map_joints(world);
  now->time = cni_multiple_of_step(t_new, world->work.time_step);
  now->step++;
  if (order)
    cni_order_apply(world, order);
  else
    cni_share_settled(world);
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
                    .drift = cni_drift_after,
                    .done = done,
                    .equations = cni_equations_of(world),
                    .memory = &world->memory};
}
