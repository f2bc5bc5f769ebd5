// SPDX-License-Identifier: Apache-2.0
// Spheres on a stair, and a chain of hinges. See cascade.h.
#include "cascade.h"

#include "core/rng.h"
#include "core/vec.h"

#include <math.h>
#include <string.h>

#define WIDTH 5    // spheres across the channel
#define RADIUS .05 // m
#define STEP .01   // s
#define STAIR 6    // spheres from one edge of the stair to the next

typedef struct Maker {
  CnProblem *p;
  CniRng rng;
  int32_t left, set, failed;
} Maker;

static int32_t add_sphere(Maker *m, CnVec3 velocity) {
  CnGroupDef def = cn_group_def_default();
  double mass = cni_rng_range(&m->rng, .5, 2), j = 1 / (.4 * mass * RADIUS * RADIUS);
  int32_t group = -1;
  def.inv_mass = 1 / mass;
  def.inv_inertia = cn_sdiag(j, j, j);
  def.free.velocity = velocity;
  if (cn_problem_add_group(m->p, &def, &group) != CN_OK) m->failed = 1;
  return group;
}

// A contact with a gap of up to a twentieth of the radius, open or overlapping.
static void add_contact(Maker *m, int32_t a, int32_t b, CnVec3 normal) {
  CnSphereDef def = cn_sphere_def_default();
  double gap = cni_rng_range(&m->rng, -.02, .05) * RADIUS,
         side = gap > 0 ? gap / STEP : .2 * gap / STEP;
  if (m->left <= 0 || m->failed) return;
  def.group_a = a;
  def.group_b = b;
  def.normal = cn_unit_or(normal, cn_vec3(0, 0, 1));
  def.radius_a = a == 0 ? 0 : RADIUS;
  def.radius_b = RADIUS;
  def.length = RADIUS;
  if (cn_problem_add_sphere(m->p, m->set, 1, &def, &side, NULL) != CN_OK) m->failed = 1;
  m->left--;
}

static CnVec3 wobble(Maker *m, CnVec3 n) {
  double d[3];
  for (int32_t i = 0; i < 3; i++) d[i] = cni_rng_range(&m->rng, -.15, .15);
  return cn_vec3(n.x + d[0], n.y + d[1], n.z + d[2]);
}

static CnVec3 tumbling(Maker *m) {
  return cn_vec3(cni_rng_range(&m->rng, .2, 1), cni_rng_range(&m->rng, -.3, .3),
                 cni_rng_range(&m->rng, -1.2, -.1));
}

// One row of spheres across the channel: floor, walls, neighbours; now and then one on top of
// three.
static void add_across(Maker *m, int32_t along, const int32_t *before, int32_t *now) {
  int edge = along % STAIR == STAIR - 1; // the lip of a stair leans forward
  for (int32_t j = 0; j < WIDTH; j++) {
    now[j] = add_sphere(m, tumbling(m));
    add_contact(m, 0, now[j], wobble(m, edge ? cn_vec3(.6, 0, .8) : cn_vec3(0, 0, 1)));
    if (before[j] >= 0) add_contact(m, before[j], now[j], wobble(m, cn_vec3(1, 0, 0)));
    if (j > 0) add_contact(m, now[j - 1], now[j], wobble(m, cn_vec3(0, 1, 0)));
    if (j == 0) add_contact(m, 0, now[j], cn_vec3(0, 1, 0));
  }
  for (int32_t j = along % 2; j + 1 < WIDTH && along > 0; j += 2) {
    int32_t top = add_sphere(m, tumbling(m));
    add_contact(m, before[j], top, wobble(m, cn_vec3(.5, .3, .8)));
    add_contact(m, before[j + 1], top, wobble(m, cn_vec3(.5, -.3, .8)));
    add_contact(m, now[j], top, wobble(m, cn_vec3(-.5, .1, .8)));
  }
}

static CnProblem *empty(void) {
  CnProblemDef def = cn_problem_def_default();
  CnGroupDef ground = cn_group_def_default();
  CnProblem *p = NULL;
  ground.inv_mass = 0;
  memset(&ground.inv_inertia, 0, sizeof ground.inv_inertia);
  if (cn_problem_create(&def, &p) != CN_OK) return NULL;
  if (cn_problem_add_group(p, &ground, NULL) == CN_OK) return p;
  cn_problem_destroy(p);
  return NULL;
}

CnProblem *cascade_problem(int32_t rows) {
  Maker m = {.p = empty(), .rng = {2005}, .left = rows};
  CnSet set = cn_set_default(CN_BLOCK_UNILATERAL);
  if (!m.p) return NULL;
  m.failed = cn_problem_add_set(m.p, &set, &m.set) != CN_OK;
  int32_t lines[2][WIDTH];
  for (int32_t j = 0; j < WIDTH; j++) lines[0][j] = lines[1][j] = -1;
  for (int32_t along = 0; m.left > 0 && !m.failed; along++)
    add_across(&m, along, lines[along % 2], lines[(along + 1) % 2]);
  if (!m.failed) return m.p;
  cn_problem_destroy(m.p);
  return NULL;
}

// Row r of a hinge at lever arms a and b: three of its point, two of its axis (y).
static void hinge_row(int32_t r, double arm, int32_t group, double sign, CnRowEntry *entry) {
  CnVec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, lever = {0, 0, arm};
  CnVec3 spin = r == 3 ? axis[0] : axis[2], move = {0, 0, 0};
  if (r < 3) {
    move = axis[r];
    spin = cn_cross(lever, move);
  }
  *entry = (CnRowEntry){r, group, {cn_scale(sign, move), cn_scale(sign, spin)}};
}

CnProblem *hinge_chain(int32_t rows) {
  CnProblem *p = empty();
  CnSet set = cn_set_default(CN_BLOCK_BILATERAL);
  int32_t index = 0, before = 0, failed = !p;
  if (!failed) failed = cn_problem_add_set(p, &set, &index) != CN_OK;
  for (int32_t i = 0; i < rows / 5 && !failed; i++) {
    CnGroupDef def = cn_group_def_default();
    CnRowEntry entries[10];
    int32_t group = 0;
    const double b[5] = {0, 0, 0, 0, 0};
    def.inv_mass = 1;
    def.inv_inertia = cn_sdiag(80, 100, 120);
    def.free.velocity = cn_vec3(.01, 0, -.0981);
    failed |= cn_problem_add_group(p, &def, &group) != CN_OK;
    for (int32_t r = 0; r < 5; r++) {
      hinge_row(r, -.1, before, -1, &entries[2 * r]);
      hinge_row(r, .1, group, 1, &entries[2 * r + 1]);
    }
    failed |= cn_problem_add_rows(p, index, 5, entries, 10, b, NULL) != CN_OK;
    before = group;
  }
  if (!failed) return p;
  cn_problem_destroy(p);
  return NULL;
}
