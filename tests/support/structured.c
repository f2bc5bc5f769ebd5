// SPDX-License-Identifier: Apache-2.0
#include "structured.h"

#include "check.h"
#include "scenes.h"
#include "core/vec.h"

#define STEP .01
#define GRAVITY 9.81

// ---- parts ----

static CnProblem *empty_problem(CnFrictionModel friction) {
  CnProblemDef def = cn_problem_def_default();
  def.friction = friction;
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CnGroupDef ground = cn_group_def_default();
  CHECK_OK(cn_problem_add_group(p, &ground, NULL));
  return p;
}

static int32_t add_set(CnProblem *p, CnBlockKind kind, double mu) {
  CnSet set = cn_set_default(kind);
  int32_t index;
  set.mu = mu;
  CHECK_OK(cn_problem_add_set(p, &set, &index));
  return index;
}

// A unit cube after a step of gravity.
static int32_t add_cube(CnProblem *p, double mass, CnVec3 velocity) {
  CnGroupDef def = cn_group_def_default();
  double inverse = 6 / mass;
  int32_t index;
  def.inv_mass = 1 / mass;
  def.inv_inertia = cn_sdiag(inverse, inverse, inverse);
  def.free.velocity = cn_add(velocity, cn_vec3(0, 0, -GRAVITY * STEP));
  def.old.velocity = velocity;
  CHECK_OK(cn_problem_add_group(p, &def, &index));
  return index;
}

// The four corners of a unit cube b on a (0: the ground), gaps zero; `times` blocks a corner.
static void add_face(CnProblem *p, int32_t set, int32_t a, int32_t b, int32_t times) {
  static const double corner[4][2] = {{.5, .5}, {.5, -.5}, {-.5, .5}, {-.5, -.5}};
  double zero[3] = {0};
  for (int32_t i = 0; i < 4 * times; i++) {
    CnPairDef c = cn_pair_def_default();
    double x = corner[i / times][0], y = corner[i / times][1];
    c.group_a = a;
    c.group_b = b;
    c.normal = cn_vec3(0, 0, 1);
    c.tangent = cn_vec3(1, 0, 0);
    c.arm_a = cn_vec3(x, y, .5);
    c.arm_b = cn_vec3(x, y, -.5);
    CHECK_OK(cn_problem_add_pair(p, set, 3, &c, zero, NULL));
  }
}

// One sparse row along `axis` of a group.
static void add_row(CnProblem *p, int32_t set, int32_t group, CnVec3 axis, double b) {
  CnRowEntry entry = {0, group, {axis, CN_VEC3_ZERO}};
  CHECK_OK(cn_problem_add_rows(p, set, 1, &entry, 1, &b, NULL));
}

CnProblem *box_stack(int32_t count, double ratio, double speed, CnFrictionModel friction) {
  CnProblem *p = empty_problem(friction);
  int32_t set = add_set(p, CN_BLOCK_FRICTION, .5), below = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t cube = add_cube(p, i == count - 1 ? ratio : 1, cn_vec3(speed, 0, 0));
    add_face(p, set, below, cube, 1);
    below = cube;
  }
  return p;
}

// ---- easy ----

static CnProblem *box_sticks(CnFrictionModel f) { return box_stack(1, 1, .02, f); }
static CnProblem *box_slides(CnFrictionModel f) { return box_stack(1, 1, 2, f); }
static CnProblem *stack_of_3(CnFrictionModel f) { return box_stack(3, 1, 0, f); }
static CnProblem *stack_sticks(CnFrictionModel f) { return box_stack(3, 1, .01, f); }
static CnProblem *stack_slides(CnFrictionModel f) { return box_stack(3, 1, 1, f); }

// Every corner has two contacts: the impulses are not unique.
static CnProblem *redundant_contacts(CnFrictionModel f) {
  CnProblem *p = empty_problem(f);
  int32_t set = add_set(p, CN_BLOCK_FRICTION, .5);
  add_face(p, set, 0, add_cube(p, 1, cn_vec3(.02, 0, 0)), 2);
  return p;
}

// A cube held by the same rows three times over.
static CnProblem *redundant_joints(CnFrictionModel f) {
  CnProblem *p = empty_problem(f);
  int32_t set = add_set(p, CN_BLOCK_BILATERAL, 0), cube = add_cube(p, 2, cn_vec3(1, 2, 3));
  for (int32_t i = 0; i < 3; i++) {
    add_row(p, set, cube, cn_vec3(1, 0, 0), 0);
    add_row(p, set, cube, cn_vec3(0, 0, 1), 0);
  }
  return p;
}

// A cube pressed into a corner of three planes without friction, one of which it leaves.
static CnProblem *corner(CnFrictionModel f) {
  CnProblem *p = empty_problem(f);
  int32_t set = add_set(p, CN_BLOCK_UNILATERAL, 0), cube = add_cube(p, 1, cn_vec3(-1, 2, 0));
  add_row(p, set, cube, cn_vec3(1, 0, 0), 0);
  add_row(p, set, cube, cn_vec3(0, 1, 0), 0);
  add_row(p, set, cube, cn_vec3(0, 0, 1), 0);
  return p;
}

// A motor of limited force drives a cube that stands on the ground.
static CnProblem *motor(CnFrictionModel f) {
  CnProblem *p = empty_problem(f);
  int32_t set = add_set(p, CN_BLOCK_FRICTION, .5), cube = add_cube(p, 1, CN_VEC3_ZERO);
  add_face(p, set, 0, cube, 1);
  CnSet drive = cn_set_default(CN_BLOCK_INTERVAL);
  int32_t index;
  drive.lo = -.2;
  drive.hi = .2;
  CHECK_OK(cn_problem_add_set(p, &drive, &index));
  add_row(p, index, cube, cn_vec3(1, 0, 0), -3);
  return p;
}

// ---- hard ----

static CnProblem *stack_of_10(CnFrictionModel f) { return box_stack(10, 1, 0, f); }
static CnProblem *heavy_top(CnFrictionModel f) { return box_stack(10, 1e3, 0, f); }
static CnProblem *very_heavy_top(CnFrictionModel f) { return box_stack(10, 1e6, 0, f); }

// A light cube between the ground and one a million times as heavy, both sliding.
static CnProblem *squeezed(CnFrictionModel f) { return box_stack(2, 1e6, 1, f); }

// ---- infeasible ----

// v_x = 0 and v_x = 1.
static CnProblem *torn(CnFrictionModel f) {
  CnProblem *p = empty_problem(f);
  int32_t set = add_set(p, CN_BLOCK_BILATERAL, 0), cube = add_cube(p, 1, CN_VEC3_ZERO);
  add_row(p, set, cube, cn_vec3(1, 0, 0), 0);
  add_row(p, set, cube, cn_vec3(1, 0, 0), -1);
  return p;
}

// A cube in a press whose jaws close: v_z >= 1 and v_z <= -1, with friction at the lower one.
static CnProblem *press(CnFrictionModel f) {
  CnProblem *p = empty_problem(f);
  int32_t wall = add_set(p, CN_BLOCK_UNILATERAL, 0), set = add_set(p, CN_BLOCK_FRICTION, .5);
  int32_t cube = add_cube(p, 1, CN_VEC3_ZERO);
  add_face(p, set, 0, cube, 1);
  for (int32_t i = 0; i < p->row_count; i += 3) p->b[i] = -1;
  add_row(p, wall, cube, cn_vec3(0, 0, -1), -1);
  return p;
}

const Structured structured_problems[] = {
    {"box sticks", STRUCTURED_EASY, 1, box_sticks},
    {"box slides", STRUCTURED_EASY, 1, box_slides},
    {"stack of 3", STRUCTURED_EASY, 1, stack_of_3},
    {"stack sticks", STRUCTURED_EASY, 1, stack_sticks},
    {"stack slides", STRUCTURED_EASY, 1, stack_slides},
    {"redundant contacts", STRUCTURED_EASY, 1, redundant_contacts},
    {"redundant joints", STRUCTURED_EASY, 1, redundant_joints},
    {"corner", STRUCTURED_EASY, 1, corner},
    {"motor", STRUCTURED_EASY, 1, motor},
    {"stack of 10", STRUCTURED_HARD, 1, stack_of_10},
    {"top 1e3 times heavier", STRUCTURED_HARD, 1, heavy_top},
    {"top 1e6 times heavier", STRUCTURED_HARD, 1, very_heavy_top},
    {"squeezed", STRUCTURED_HARD, 1, squeezed},
    {"torn", STRUCTURED_INFEASIBLE, 0, torn},
    {"press", STRUCTURED_INFEASIBLE, 0, press},
    {NULL, STRUCTURED_EASY, 0, NULL},
};
