// SPDX-License-Identifier: Apache-2.0
// Loops closed along the tree have the motion and the forces of all rows solved together: plane loops with
// three rows too many each, loaded in their plane (their answer is of least norm at once) and across it (it
// is not, and the rows of all joints are asked), hinges and balls in space, a machine on fixed bodies.
#include "check.h"
#include "worlds.h"

#include "assembly/tree/tree_private.h"
#include "core/vec.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#define MOST 640
#define LONG 200 // windows
#define STEPS 50

typedef struct Machine {
  CnWorld *world;
  CnBodyId bodies[MOST];
  CnJointId joints[MOST];
  int32_t body_count, joint_count;
} Machine;

static Machine start(CnVec3 gravity) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = .002;
  def.gravity = gravity;
  return (Machine){.world = world_make(&def)};
}

static CnBodyId add_rod(Machine *m, CnVec3 centre, CnVec3 half, CnTwist twist) {
  double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
  CnVec3 j = cn_scale(1.0 / 3, cn_vec3(y + z, x + z, x + y));
  CnPose pose = {centre, {1, 0, 0, 0}};
  return m->bodies[m->body_count++] = world_mass(m->world, 1, j, pose, twist);
}

static void join(Machine *m, CnJointKind kind, CnBodyId a, CnBodyId b, CnVec3 at, CnVec3 axis) {
  m->joints[m->joint_count++] = world_join(m->world, kind, a, b, at, axis, NULL);
}

// Windows of rods side by side, as in the benchmark; every second upright stands on a fixed body.
static Machine windows(CnVec3 gravity, int32_t count) {
  Machine m = start(gravity);
  CnBodyId none = {0, 0}, base;
  CnBodyDef fixed = cn_body_def_default();
  CnVec3 y = {0, 1, 0};
  fixed.kind = CN_BODY_FIXED;
  fixed.pose = (CnPose){{1, 2, 3}, world_turn(y, .3)};
  CHECK_OK(cn_body_create(m.world, &fixed, &base));
  CnTwist swing = {{.5, 0, 0}, {0, 1, 0}}, slide = {{1, 0, 0}, {0, 0, 0}};
  for (int32_t i = 0; i <= count; i++) {
    CnBodyId rod = add_rod(&m, cn_vec3(i, 0, .5), cn_vec3(.02, .03, .5), swing);
    join(&m, CN_JOINT_REVOLUTE, i % 2 ? base : none, rod, cn_vec3(i, 0, 0), y);
  }
  for (int32_t i = 0; i < count; i++) {
    CnBodyId bar = add_rod(&m, cn_vec3(i + .5, 0, 1), cn_vec3(.5, .03, .02), slide);
    join(&m, CN_JOINT_REVOLUTE, m.bodies[i], bar, cn_vec3(i, 0, 1), y);
    join(&m, CN_JOINT_REVOLUTE, bar, m.bodies[i + 1], cn_vec3(i + 1, 0, 1), y);
  }
  return m;
}

static Machine ladder(CnVec3 gravity) { return windows(gravity, 9); }

// Plates on three legs each, two of them hinged to the ground, with balls on top, and a ball below the third: nothing too many.
static Machine tables(CnVec3 gravity) {
  Machine m = start(gravity);
  CnBodyId none = {0, 0};
  for (int32_t n = 0; n < 5; n++) {
    CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
    CnVec3 at = {4 * n, 0, 0};
    CnBodyId plate = add_rod(&m, cn_add(at, cn_vec3(0, 0, 1)), cn_vec3(.5, .6, .05), rest);
    for (int32_t k = 0; k < 3; k++) {
      double angle = 2.0943951023931953 * k + .2 * n;
      CnVec3 out = {cos(angle), sin(angle), 0}, foot = cn_madd(at, .9, out);
      CnVec3 top = cn_add(cn_madd(at, .5, out), cn_vec3(0, 0, 1)), axis = {-out.y, out.x, 0};
      CnVec3 middle = cn_scale(.5, cn_add(foot, top));
      CnBodyId leg = add_rod(&m, middle, cn_vec3(.05, .06, .5), rest);
      join(&m, k == 1 ? CN_JOINT_BALL : CN_JOINT_REVOLUTE, none, leg, foot, axis);
      join(&m, CN_JOINT_BALL, leg, plate, top, axis);
    }
  }
  return m;
}

typedef Machine Make(CnVec3 gravity);

static void end(Machine *m) { cn_world_destroy(m->world); }

static void use(CniTree *tree, int closure) {
  if (tree->loops.closure.used != closure) tree->kicked = 0;
  tree->loops.closure.used = closure;
}

// The machine twice: as it is, and with all rows together. full: the first is to have asked for these.
static void compare(Make *make, CnVec3 gravity, int full) {
  Machine a = make(gravity), b = make(gravity);
  double far = 0, apart = 0, most = 0;
  int32_t asked = 0;
  for (int32_t i = 0; i < STEPS; i++) {
    if (i > 0) use(b.world->tree, 0);
    // where all rows are as cheap they would be taken
    if (i > 0) use(a.world->tree, 1);
    CnStepReport report = world_step(a.world);
    CHECK(strcmp(report.solve.method, "tree") == 0);
    CHECK(strcmp(world_step(b.world).solve.method, "tree") == 0);
    if (i > 0) CHECK(a.world->tree->loops.closure.used);
    if (i > 0) asked += a.world->tree->loops.closure.full; // by the last factor of the step
  }
  for (int32_t i = 0; i < a.body_count; i++) {
    CnPose p = world_pose(a.world, a.bodies[i]), q = world_pose(b.world, b.bodies[i]);
    far = fmax(far, cn_norm(cn_sub(p.position, q.position)));
  }
  for (int32_t i = 0; i < a.joint_count; i++) {
    CnJointState p = world_joint(a.world, a.joints[i]), q = world_joint(b.world, b.joints[i]);
    apart = fmax(apart, cn_norm(cn_sub(p.force, q.force)));
    apart = fmax(apart, cn_norm(cn_sub(p.torque, q.torque)));
    most = fmax(most, cn_norm(p.force));
  }
  print_message("%.2g m, %.2g N of %.3g\n", far, apart, most);
  CHECK(full ? asked > STEPS / 3 : asked == 0);
  CHECK(far < 1e-11);
  CHECK(apart < 1e-6 * most);
  end(&a);
  end(&b);
}

static void in_plane(void **state) {
  (void)state;
  compare(ladder, cn_vec3(0, 0, -9.81), 0);
}

static void across(void **state) {
  (void)state;
  compare(ladder, cn_vec3(0, 4, -9), 1);
}

static void in_space(void **state) {
  (void)state;
  compare(tables, cn_vec3(1, 2, -9), 0);
}

// Three rows too many a window, however long the ladder is, and all of them known; nothing is solved twice.
static void long_ladder(void **state) {
  (void)state;
  Machine m = windows(cn_vec3(0, 0, -9.81), LONG);
  double open = 0;
  for (int32_t i = 0; i < 20; i++) {
    CHECK(strcmp(world_step(m.world).solve.method, "tree") == 0);
    CHECK(m.world->tree->loops.closure.used && !m.world->tree->loops.closure.full);
    CHECK(m.world->tree->loops.closure.lost == 3 * LONG);
  }
  for (int32_t i = 0; i < m.joint_count; i++)
    open = fmax(open, world_joint(m.world, m.joints[i]).error);
  print_message("%.2g m open\n", open);
  CHECK(open < 1e-12);
  end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_plane), cmocka_unit_test(across),
                                     cmocka_unit_test(in_space), cmocka_unit_test(long_ladder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
