// SPDX-License-Identifier: Apache-2.0
// The drift along trees: the motion, momenta and forces of the general one, which a rotor of next to no inertia asks
// for; held turns and closed loops to round-off; the same bits at every level of wide arithmetic.
#include "check.h"
#include "draws.h"
#include "worlds.h"

#include "assembly/drift/along.h"
#include "core/rng.h"

#include <string.h>

#define H 2e-3
#define LINKS 4

typedef struct Robot {
  CnWorld *world;
  CnBodyId trunk, links[2][LINKS], tips[2];
  CnJointId motors[2], loops[2];
} Robot;

// A trunk that floats, with two four-bar linkages, each turned by a motor, and on each a rod on a ball joint.
static Robot make(int general) {
  Robot r;
  CnWorldDef def = cn_world_def_default();
  CniRng rng = {11};
  def.time_step = H;
  def.gravity = CN_VEC3_ZERO;
  def.balance = 1;
  r.world = world_make(&def);
  CnTwist spin = {{.1, 0, 0}, {.3, -.5, .2}};
  r.trunk = world_mass(r.world, 2, cn_vec3(.1, .2, .15), CN_POSE_ONE, spin);
  for (int k = 0; k < 2; k++) {
    CnVec3 at = cn_vec3(k ? .4 : -.4, .3 * k, 0), axis = cn_unit_or(draw(&rng, 1), at), x, y;
    cni_tangents(axis, &x, &y);
    double corners[5][2] = {{0, 0}, {0, .1}, {.35, .25}, {.3, 0}, {0, 0}};
    CnBodyId before = r.trunk;
    for (int i = 0; i < 3; i++) {
      CnVec3 from = cn_madd(cn_madd(at, corners[i][0], x), corners[i][1], y);
      CnVec3 to = cn_madd(cn_madd(at, corners[i + 1][0], x), corners[i + 1][1], y);
      CnPose pose = {cn_scale(.5, cn_add(from, to)), CN_QUAT_ONE};
      CnVec3 inertia = cn_add(cn_vec3(2e-3, 2e-3, 2e-3), draw(&rng, 5e-4));
      CnBodyId body = world_mass(r.world, .2, inertia, pose, (CnTwist){spin.velocity, spin.spin});
      CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
      hinge.body_a = i % 2 ? body : before;
      hinge.body_b = i % 2 ? before : body;
      CHECK_OK(cn_joint_def_along(r.world, from, axis, &hinge));
      if (i == 0) {
        hinge.axes[0].motor_speed = 5 - 8 * k;
        hinge.axes[0].motor_effort = 100;
      }
      if (i == 1 && general) hinge.axes[0].armature = 1e-13;
      CnJointId id;
      CHECK_OK(cn_joint_create(r.world, &hinge, &id));
      if (i == 0) r.motors[k] = id;
      r.links[k][i] = before = body;
    }
    CnVec3 last = cn_madd(cn_madd(at, corners[3][0], x), corners[3][1], y);
    r.loops[k] = world_join(r.world, CN_JOINT_REVOLUTE, before, r.trunk, last, axis, NULL);
    CnPose tip = {cn_madd(at, .2, axis), CN_QUAT_ONE};
    r.tips[k] = world_mass(r.world, .1, cn_vec3(1e-3, 2e-3, 2e-3), tip, spin);
    world_join(r.world, CN_JOINT_BALL, r.links[k][1], r.tips[k], cn_madd(at, .1, axis), axis, NULL);
  }
  return r;
}

static double apart(const Robot *a, const Robot *b) {
  double most = cn_norm(
      cn_sub(world_pose(a->world, a->trunk).position, world_pose(b->world, b->trunk).position));
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 3; i++)
      most = cn_max(most, cn_norm(cn_sub(world_pose(a->world, a->links[k][i]).position,
                                         world_pose(b->world, b->links[k][i]).position)));
    most = cn_max(most, cn_norm(cn_sub(world_pose(a->world, a->tips[k]).position,
                                       world_pose(b->world, b->tips[k]).position)));
  }
  return most;
}

static void as_the_general_one(void **state) {
  (void)state;
  Robot a = make(0), b = make(1);
  CnWorldSums start, end;
  double open = 0, left = 0, speed = 0, torn = 0, size = 0, far = 0;
  cn_world_sums(a.world, &start);
  for (int i = 0; i < 200; i++) {
    CnStepBalance balance;
    world_step(a.world);
    world_step(b.world);
    CHECK_OK(cn_world_balance(a.world, &balance));
    left = cn_max(left, fabs(balance.residual.energy));
    far = cn_max(far, apart(&a, &b));
    for (int k = 0; k < 2; k++) {
      CnJointState loop = world_joint(a.world, a.loops[k]),
                   other = world_joint(b.world, b.loops[k]);
      open = cn_max(open, loop.error);
      speed = cn_max(speed, fabs(world_joint(a.world, a.motors[k]).rate[0] - (5 - 8 * k)));
      size = cn_max(size, cn_norm(loop.force));
      torn = cn_max(torn, cn_norm(cn_sub(loop.force, other.force)));
    }
  }
  cn_world_sums(a.world, &end);
  print_message("apart %.1e m, forces %.1e of %.1e N, loops open %.1e m, speeds off %.1e rad/s, "
                "energy left %.1e J\n",
                far, torn, size, open, speed, left);
  CHECK(far < 1e-10 && torn < 1e-4 * size);
  CHECK(open < 1e-14 && speed < 1e-6 && left < 1e-14);
  CHECK_NEAR(cn_norm(cn_sub(end.momentum, start.momentum)), 0, 1e-13);
  CHECK_NEAR(cn_norm(cn_sub(end.angular_momentum, start.angular_momentum)), 0, 1e-13);
  cn_world_destroy(a.world);
  cn_world_destroy(b.world);
}

// Two bodies whose hinge a motor holds, in flight, turn by what their spin says at any step (drift/pace.c).
static void as_a_whole(void **state) {
  (void)state;
  CnPose ends[2];
  for (int general = 0; general < 2; general++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = H;
    def.gravity = CN_VEC3_ZERO;
    CnWorld *world = world_make(&def);
    CnVec3 spin = {0, 0, 100}, j = {.01, .01, .01};
    CnTwist left = {cn_vec3(1, -20, 0), spin}, right = {cn_vec3(1, 20, 0), spin};
    CnBodyId a = world_mass(world, 1, j, (CnPose){{-.2, 0, 0}, CN_QUAT_ONE}, left);
    CnBodyId b = world_mass(world, 1, j, (CnPose){{.2, 0, 0}, CN_QUAT_ONE}, right);
    CnJointAxis act = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    act.motor_effort = 1000;
    act.armature = general ? 1e-13 : 0;
    world_join(world, CN_JOINT_REVOLUTE, a, b, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &act);
    for (int i = 0; i < 100; i++) world_step(world);
    ends[general] = world_pose(world, b);
    CnVec3 middle = cn_scale(.5, cn_add(ends[general].position, world_pose(world, a).position));
    CHECK_NEAR(cn_norm(cn_sub(middle, cn_vec3(100 * H, 0, 0))), 0, 1e-12);
    cn_world_destroy(world);
  }
  CHECK_NEAR(cn_norm(cn_sub(ends[0].position, ends[1].position)), 0, 1e-10);
  CHECK_NEAR(ends[0].position.x - 100 * H, .2 * cos(100 * 100 * H), 1e-9);
}

// ---- levels ----

#define NODES 5
#define COORDINATES 10
#define NULLS 5 // joints: those of four nodes and of a loop

typedef struct Small {
  CniDrift drift;
  CniAlong along;
  CniAlongNode nodes[NODES];
  CniAlongLoop loop;
  CniAlongGroup group;
  CniAlongJoint joints[NODES + 1];
  _Alignas(64) CniAlongLane lane[NODES];
  _Alignas(64) CniAlongNull nulls[NULLS];
  _Alignas(64) CniAlongNull others[NULLS];
  int32_t node_list[NODES - 1], loop_list[1];
  _Alignas(64) double x[6 * NULLS];
  _Alignas(64) double join[64];
  _Alignas(64) double part[8];
  _Alignas(64) double lanes[8 * COORDINATES];
} Small;

static void draw_numbers(CniRng *rng, double *to, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = cni_rng_range(rng, -1, 1);
}

static void draw_node(CniRng *rng, CniAlongNode *node) {
  CnVec3 *numbers[] = {&node->mean,     &node->other_mean, &node->free,
                       &node->axis_end, &node->end,        &node->other_end,
                       &node->slope.x,  &node->slope.y,    &node->slope.z};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = draw(rng, 1);
  node->mass = cni_rng_range(rng, 1, 2);
}

// A root, a hinge, a ball, what is held, a hinge, and a loop from the last one to the root; nothing but numbers by
// chance, as large as those of a machine.
static void run_level(CniSimdLevel level, Small *s) {
  static const int32_t counts[NODES] = {6, 1, 3, 0, 0};
  const CniAlongKernels *kernels = cni_along_kernels(level);
  CniRng rng = {5};
  memset(s, 0, sizeof *s);
  s->along = (CniAlong){
      .d = &s->drift, .pace = .01, .node_count = NODES, .loop_count = 1, .nodes = s->nodes};
  s->along.loops = &s->loop;
  s->along.joints = s->joints;
  s->along.lane = s->lane;
  s->along.lanes = s->lanes;
  s->along.node_list = s->node_list;
  s->along.loop_list = s->loop_list;
  for (int32_t i = 0, at = 0; i < NODES; at += counts[i++]) {
    s->nodes[i] = (CniAlongNode){.parent = i - 1, .link = i - 1, .at = at, .count = counts[i]};
    s->nodes[i].group = i > 0 ? 0 : -1;
    s->nodes[i].in_group = i - 1;
    if (i > 0) s->node_list[i - 1] = i;
    draw_node(&rng, &s->nodes[i]);
  }
  s->group = (CniAlongGroup){.loop_end = 1, .node_end = NODES - 1};
  s->loop = (CniAlongLoop){.nodes = {NODES - 1, 0}, .meet = 0};
  for (int32_t k = 0; k < 2; k++) s->loop.means[k] = draw(&rng, 1);
  for (int32_t i = 0; i <= NODES; i++) {
    CniAlongJoint *joint = &s->joints[i];
    joint->lines = i % 4;
    joint->mass = cni_rng_range(&rng, 1, 2);
    for (int32_t k = 0; k < 3; k++) joint->line[k] = draw(&rng, 1);
    draw_numbers(&rng, joint->weight, 3);
  }
  draw_numbers(&rng, s->lanes, 8 * COORDINATES);
  draw_numbers(&rng, s->nulls[NULLS - 1].force.x, 48);
  for (int32_t i = 0; i < NULLS; i++) draw_numbers(&rng, s->others[i].number[0], 48);
  draw_numbers(&rng, s->x, 6 * NULLS);
  kernels->move(&s->along);
  kernels->go_through(&s->along, &s->group, s->nulls);
  kernels->join(s->others, s->nulls, s->x, NULLS, s->join);
  kernels->part(s->nulls, s->x, NULLS, s->part);
}

static void same_bits(void **state) {
  (void)state;
  static const CniSimdLevel levels[] = {CNI_SIMD_LEVEL_SSE2, CNI_SIMD_LEVEL_AVX2,
                                        CNI_SIMD_LEVEL_AVX512, CNI_SIMD_LEVEL_NEON};
  static _Alignas(64) Small plain, wide;
  run_level(CNI_SIMD_LEVEL_PLAIN, &plain);
  CHECK(fabs(plain.join[0]) > 0 && fabs(plain.part[0]) > 0 && fabs(plain.lanes[0]) > 1);
  for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++) {
    int x86 = levels[k] != CNI_SIMD_LEVEL_NEON;
    if (x86 != (cni_simd_level() != CNI_SIMD_LEVEL_NEON) || levels[k] > cni_simd_level() ||
        !cni_along_kernels(levels[k]))
      continue;
    run_level(levels[k], &wide);
    CHECK(memcmp(plain.lanes, wide.lanes, sizeof plain.lanes) == 0);
    CHECK(memcmp(plain.nulls, wide.nulls, sizeof plain.nulls) == 0);
    CHECK(memcmp(plain.join, wide.join, sizeof plain.join) == 0);
    CHECK(memcmp(plain.part, wide.part, sizeof plain.part) == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_general_one),
                                     cmocka_unit_test(as_a_whole), cmocka_unit_test(same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
