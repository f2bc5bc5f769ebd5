// SPDX-License-Identifier: Apache-2.0
// The step problem that a world hands out, and whose its groups and blocks are.
//
// Group i is the body that stood at place i when the problem was made. As long as bodies keep their
// places nothing has to be written down; before they change them (a body is destroyed, or all are put
// in another order) the ids of all groups are. Blocks of forces and joints come first; those of
// contacts follow in the order of the contacts kept.
#include "core/error.h"
#include "core/floats.h"
#include "problem/problem.h"
#include "world/world.h"

CnStatus cni_problem_map_reserve(CniContents *contents) {
  CniEngine *engine = &contents->engine;
  int32_t groups = engine->problem->group_count;
  return CNI_RESERVE(&contents->model.allocator, engine->group_bodies, engine->group_capacity, 0,
                     groups);
}

void cni_problem_map_name(CniContents *contents) {
  CniEngine *engine = &contents->engine;
  if (!engine->solved || engine->solved == 3 || engine->groups_named) return;
  for (int32_t i = 0; i < engine->problem->group_count - 1; i++)
    engine->group_bodies[i] = cni_body_id(&contents->model, i);
  engine->groups_named = 1;
}

CnStatus cni_problem_map_begin(CnWorld *world) {
  CniEngine *engine = &world->now.engine;
  int32_t blocks = world->work.joint_blocks[world->now.model.joint_count];
  return CNI_RESERVE(&world->allocator, engine->block_joints, engine->joint_capacity, 0, blocks);
}

void cni_problem_map_joints(CnWorld *world) {
  CniEngine *engine = &world->now.engine;
  const CniModel *model = &world->now.model;
  const int32_t *blocks = world->work.joint_blocks;
  for (int32_t b = 0; b < blocks[0]; b++) engine->block_joints[b] = (CnJointId){0, 0}; // forces
  for (int32_t i = 0; i < model->joint_count; i++)
    for (int32_t b = blocks[i]; b < blocks[i + 1]; b++)
      engine->block_joints[b] = cni_joint_id(model, i);
  engine->joint_block_count = blocks[model->joint_count];
}

// ---- questions ----

static CnStatus none(const char *call) {
  return cni_invalid(
      "%s: the world has made no step yet, was restored since, or its last step failed", call);
}

static CnStatus shared(const char *call) {
  return cni_error(CN_UNSUPPORTED,
                   "%s: of several ranks each has a part of the problem; one process has it whole",
                   call);
}

CnStatus cn_world_problem(CnWorld *world, CnProblem **problem, const CnAnswer **answer) {
  CNI_FLOATS;
  if (problem) *problem = NULL;
  if (answer) *answer = NULL;
  CNI_TRY(cni_world_open(world, "cn_world_problem"));
  if (!problem) return cni_null_argument("cn_world_problem", "problem");
  CniEngine *engine = &world->now.engine;
  if (!engine->solved) return none("cn_world_problem");
  if (engine->solved == 3) return shared("cn_world_problem");
  if (answer) {
    // a step does without u
    CnAnswer *own = &engine->answer;
    CNI_TRY(cni_answer_reserve_u(own));
    cni_problem_velocity(engine->problem, own->v, own->g, own->u);
    *answer = own;
  }
  CNI_TRY(cni_problem_widen_b(engine->problem));
  *problem = engine->problem;
  return CN_OK;
}

static CnStatus ask(const CnWorld *world, const char *call, const char *what, int32_t index,
                    int32_t count) {
  if (!world) return cni_null_argument(call, "the world");
  if (!world->now.engine.solved) return none(call);
  if (world->now.engine.solved == 3) return shared(call);
  if (index >= 0 && index < count) return CN_OK;
  return cni_invalid("%s: %s %d is none, there are %d", call, what, (int)index, (int)count);
}

CnStatus cn_world_problem_body(const CnWorld *world, int32_t group, CnBodyId *body) {
  CNI_FLOATS;
  if (!body) return cni_null_argument("cn_world_problem_body", "the result pointer");
  *body = (CnBodyId){0, 0};
  const CniEngine *engine = world ? &world->now.engine : NULL;
  int32_t count = engine && engine->problem ? engine->problem->group_count : 0;
  if (engine && engine->solved == 2) count = world->now.model.body_count + 1;
  CNI_TRY(ask(world, "cn_world_problem_body", "group", group, count));
  if (group == count - 1) return CN_OK; // the ground
  *body =
      engine->groups_named ? engine->group_bodies[group] : cni_body_id(&world->now.model, group);
  return CN_OK;
}

CnStatus cn_world_problem_block(const CnWorld *world, int32_t block, CnBlockOwner *owner) {
  CNI_FLOATS;
  if (!owner) return cni_null_argument("cn_world_problem_block", "the result pointer");
  *owner = (CnBlockOwner){{0, 0}, -1};
  const CniEngine *engine = world ? &world->now.engine : NULL;
  int32_t count = engine && engine->problem ? engine->problem->block_count : 0;
  if (engine && engine->solved == 2) count = world->now.model.joint_count; // of a machine of hinges
  CNI_TRY(ask(world, "cn_world_problem_block", "block", block, count));
  if (engine->solved == 2) {
    owner->joint = cni_joint_id(&world->now.model, block);
    return CN_OK;
  }
  if (block < engine->joint_block_count)
    owner->joint = engine->block_joints[block];
  else
    owner->contact = block - engine->joint_block_count;
  return CN_OK;
}
