// SPDX-License-Identifier: Apache-2.0
// Robots of tests/data/robots, written in the manner of the known collections, as MuJoCo understands them: degrees
// of freedom, places of all bodies, mass matrix and torques of gravity, as drawn and at random coordinates of hinges
// and slides. Equalities and couplings, springs and motors are taken out. CAIRN_ROBOT=FILE looks at another file.
//
// No joint is known by its name: velocities of Cairn's freedoms T and of MuJoCo's give the bodies that both know the
// same twists, B T = J. The mass matrix is then T^T M T.
#include "check.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/mechanism.h>
#include <cairn/scene.h>

#include "core/rng.h"
#include "core/vec.h"
#include "source_dir.h"

#define MOST 64
#define ROWS (6 * 2 * MOST)

typedef struct Pair {
  mjModel *model;
  mjData *data;
  CnScene *scene;
  CnWorld *world;
} Pair;

static double basis[ROWS * MOST], jac[ROWS * MOST], turn[MOST * MOST];

// ---- both sides ----

static void fill_world(Pair *p, const char *path) {
  static char names[MOST][32];
  CnSetting settings[MOST];
  CnWorldDef def = cn_world_def_default();
  int32_t count = 0, number = 0;
  for (int j = 0; j < p->model->njnt; j++) {
    int type = p->model->jnt_type[j];
    const char *name = mj_id2name(p->model, mjOBJ_JOINT, j);
    if (type == mjJNT_FREE) continue;
    snprintf(names[number], sizeof names[number], "joint%d", (int)number + 1);
    if (!name || !name[0]) name = names[number];
    number++;
    if (type != mjJNT_BALL)
      settings[count++] = (CnSetting){name, p->data->qpos[p->model->jnt_qposadr[j]]};
  }
  CHECK_OK(cn_scene_open(path, settings, count, NULL, &p->scene));
  cn_scene_world_def(p->scene, &def);
  CHECK_OK(cn_world_create(&def, &p->world));
  CHECK_OK(cn_scene_fill(p->scene, p->world));
}

static int is_equality(const Pair *p, const char *name) {
  for (int i = 0; i < p->model->neq; i++) {
    const char *own = mj_id2name(p->model, mjOBJ_EQUALITY, i);
    if (own && strcmp(own, name) == 0) return 1;
  }
  return (strncmp(name, "connect", 7) == 0 && name[7] >= '0' && name[7] <= '9') ||
         (strncmp(name, "weld", 4) == 0 && name[4] >= '0' && name[4] <= '9');
}

static void strip(Pair *p) {
  for (CnCouplingId c; (c = cn_world_next_coupling(p->world, (CnCouplingId){0, 0})).slot;)
    CHECK_OK(cn_coupling_destroy(p->world, c));
  for (CnForceId f; (f = cn_world_next_force(p->world, (CnForceId){0, 0})).slot;)
    CHECK_OK(cn_force_destroy(p->world, f));
  for (CnJointId j = cn_world_next_joint(p->world, (CnJointId){0, 0}), next; j.slot; j = next) {
    CnJointDef def;
    next = cn_world_next_joint(p->world, j);
    CHECK_OK(cn_joint_def(p->world, j, &def));
    if (is_equality(p, def.name) || def.kind == CN_JOINT_ROPE) {
      CHECK_OK(cn_joint_destroy(p->world, j));
      continue;
    }
    for (int32_t i = 0; i < CN_JOINT_AXES; i++) {
      CnJointAxis *a = &def.axes[i];
      a->stiffness = a->damping = a->friction = 0;
      a->motor_effort = a->motor_stiffness = a->motor_damping = 0;
      a->drive = CN_DRIVE_SPEED;
    }
    CHECK_OK(cn_joint_set(p->world, j, &def));
  }
}

// ---- what both know ----

// Bodies without a name are numbered on both sides.
static int body_of(const mjModel *m, const char *name) {
  int known = mj_name2id(m, mjOBJ_BODY, name), number = 0, end = 0;
  if (known >= 0 || sscanf(name, "body%d%n", &number, &end) != 1 || name[end]) return known;
  return number > 0 && number < m->nbody && !mj_id2name(m, mjOBJ_BODY, number) ? number : -1;
}

// Twists of the origins of all bodies that both know, by freedoms here and there. Returns the number of rows.
static int32_t read_twists(Pair *p, CnMachine *machine, int32_t freedoms, double *apart) {
  static double all[ROWS * MOST];
  double jp[3 * MOST], jr[3 * MOST];
  CnMachineInfo info;
  int32_t rows = 0;
  int nv = p->model->nv;
  CHECK_OK(cn_machine_info(machine, &info));
  CHECK(6 * info.body_count <= ROWS);
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_BASIS, all, ROWS * MOST, NULL, NULL));
  for (int32_t i = 0; i < info.body_count; i++) {
    CnBodyId id;
    CnBodyInfo about;
    CnPose pose;
    CHECK_OK(cn_machine_body(machine, i, &id));
    CHECK_OK(cn_body_info(p->world, id, &about));
    CHECK_OK(cn_body_pose(p->world, id, &pose));
    int other = body_of(p->model, about.name);
    if (other <= 0) continue;
    const double *x = p->data->xpos + 3 * other, *q = p->data->xquat + 4 * other;
    CnQuat d = cn_qmul(cn_qconj(pose.rotation), (CnQuat){q[0], q[1], q[2], q[3]});
    double off = cn_norm(cn_sub(pose.position, cn_vec3(x[0], x[1], x[2])));
    *apart = fmax(*apart, fmax(off, 2 * sqrt(d.x * d.x + d.y * d.y + d.z * d.z)));
    CnVec3 arm = cn_rotate(pose.rotation, about.com.position);
    mj_jacBody(p->model, p->data, jp, jr, other);
    for (int32_t k = 0; k < freedoms; k++) {
      const double *c = all + (size_t)(6 * i) * (size_t)freedoms + k;
      int32_t n = freedoms;
      CnVec3 w = {c[3 * n], c[4 * n], c[5 * n]};
      CnVec3 v = cn_sub(cn_vec3(c[0], c[n], c[2 * n]), cn_cross(w, arm));
      double t[] = {v.x, v.y, v.z, w.x, w.y, w.z};
      for (int32_t r = 0; r < 6; r++) basis[MOST * (rows + r) + k] = t[r];
    }
    for (int32_t k = 0; k < nv; k++)
      for (int32_t r = 0; r < 3; r++) {
        jac[MOST * (rows + r) + k] = jp[nv * r + k];
        jac[MOST * (rows + 3 + r) + k] = jr[nv * r + k];
      }
    rows += 6;
  }
  return rows;
}

// basis T = jac by orthogonal columns, twice over; what is left of jac is told.
static double solve(int32_t rows, int32_t freedoms, int32_t columns) {
  static double q[ROWS * MOST], upper[MOST * MOST];
  memcpy(q, basis, sizeof q);
  memset(upper, 0, sizeof upper);
  for (int32_t k = 0; k < freedoms; k++) {
    for (int32_t pass = 0; pass < 2; pass++)
      for (int32_t j = 0; j < k; j++) {
        double s = 0;
        for (int32_t r = 0; r < rows; r++) s += q[MOST * r + j] * q[MOST * r + k];
        for (int32_t r = 0; r < rows; r++) q[MOST * r + k] -= s * q[MOST * r + j];
        upper[MOST * j + k] += s;
      }
    double length = 0;
    for (int32_t r = 0; r < rows; r++) length += q[MOST * r + k] * q[MOST * r + k];
    upper[MOST * k + k] = length = sqrt(length);
    CHECK(length > 1e-9);
    for (int32_t r = 0; r < rows; r++) q[MOST * r + k] /= length;
  }
  double left = 0;
  for (int32_t c = 0; c < columns; c++) {
    for (int32_t k = freedoms; k-- > 0;) {
      double s = 0;
      for (int32_t r = 0; r < rows; r++) s += q[MOST * r + k] * jac[MOST * r + c];
      for (int32_t j = k + 1; j < freedoms; j++) s -= upper[MOST * k + j] * turn[MOST * j + c];
      turn[MOST * k + c] = s / upper[MOST * k + k];
    }
    for (int32_t r = 0; r < rows; r++) {
      double s = -jac[MOST * r + c];
      for (int32_t k = 0; k < freedoms; k++) s += basis[MOST * r + k] * turn[MOST * k + c];
      left = fmax(left, fabs(s));
    }
  }
  return left;
}

typedef struct Off {
  double places, twists, mass, gravity;
} Off;

static void compare(Pair *p, Off *off) {
  static double own[MOST * MOST], load[MOST], full[MOST * MOST];
  CnMachine *machine;
  CnMachineInfo info;
  int nv = p->model->nv;
  CHECK_OK(cn_machine_create(p->world, NULL, &machine));
  CHECK_OK(cn_machine_info(machine, &info));
  int32_t n = info.freedom_count;
  if (n != nv) fail_msg("%d freedoms and not %d", (int)n, nv);
  CHECK(n <= MOST && n > 0);
  mj_forward(p->model, p->data);
  mj_fullM(p->model, full, p->data->qM);
  int32_t rows = read_twists(p, machine, n, &off->places);
  off->twists = fmax(off->twists, solve(rows, n, nv));
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_MASS, own, MOST * MOST, NULL, NULL));
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_LOADS, load, MOST, NULL, NULL));
  double most = 1e-3;
  for (int i = 0; i < nv; i++) most = fmax(most, fabs(p->data->qfrc_bias[i]));
  for (int i = 0; i < nv; i++) {
    double g = p->data->qfrc_bias[i];
    for (int a = 0; a < n; a++) g += turn[MOST * a + i] * load[a];
    off->gravity = fmax(off->gravity, fabs(g) / most);
    for (int k = 0; k < nv; k++) {
      double m = -full[nv * i + k], size = sqrt(full[nv * i + i] * full[nv * k + k]);
      for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) m += turn[MOST * a + i] * own[n * a + b] * turn[MOST * b + k];
      off->mass = fmax(off->mass, fabs(m) / size);
    }
  }
  cn_machine_destroy(machine);
}

// ---- files ----

// Coordinates inside of limits, or about zero.
static void draw(Pair *p, CniRng *rng) {
  for (int j = 0; j < p->model->njnt; j++) {
    const double *range = p->model->jnt_range + 2 * j;
    int type = p->model->jnt_type[j], limited = p->model->jnt_limited[j];
    if (type == mjJNT_FREE || type == mjJNT_BALL) continue;
    p->data->qpos[p->model->jnt_qposadr[j]] =
        limited ? cni_rng_range(rng, fmax(range[0], -3), fmin(range[1], 3))
                : cni_rng_range(rng, -1, 1);
  }
}

static void check_file(const char *path, double bound) {
  char problem[500] = "";
  Pair p;
  Off off = {0};
  CniRng rng = {.state = 5};
  p.model = mj_loadXML(path, NULL, problem, sizeof problem);
  if (!p.model) fail_msg("%s: mujoco: %s", path, problem);
  p.data = mj_makeData(p.model);
  CHECK(p.model->nv <= MOST && p.model->nbody <= 2 * MOST);
  for (int32_t k = 0; k < 4; k++) {
    if (k > 0) draw(&p, &rng);
    fill_world(&p, path);
    strip(&p);
    compare(&p, &off);
    cn_world_destroy(p.world);
    cn_scene_destroy(p.scene);
  }
  if (getenv("CAIRN_SHOW"))
    printf("  %-40s freedoms %d places %.1e twists %.1e mass %.1e gravity %.1e\n", path,
           p.model->nv, off.places, off.twists, off.mass, off.gravity);
  if (!(off.places < 1e-9 && off.twists < 1e-8 && off.mass < bound && off.gravity < bound))
    fail_msg("%s: places off by %g, twists %g, mass matrix %g, gravity %g", path, off.places,
             off.twists, off.mass, off.gravity);
  mj_deleteData(p.data);
  mj_deleteModel(p.model);
}

// MuJoCo has principal axes of a tensor to 1e-8, corners of meshes as floats; bodies of several joints that are no
// joint of a scene are good to 2e-7 here (docs/howto/mjcf.md).
static void files(void **state) {
  static const struct {
    const char *name;
    double bound;
  } all[] = {{"hopper.xml", 1e-12}, {"quadruped.xml", 1e-8}, {"hand.xml", 1e-9},
             {"biped.xml", 1e-8},   {"figure.xml", 1e-6},    {"finger.xml", 1e-6},
             {"drone.xml", 1e-9},   {"mobile.urdf", 1e-6}};
  const char *other = getenv("CAIRN_ROBOT");
  char path[1024];
  (void)state;
  if (other) {
    check_file(other, 1e-6);
    return;
  }
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    snprintf(path, sizeof path, CAIRN_SOURCE_DIR "/tests/data/robots/%s", all[i].name);
    check_file(path, all[i].bound);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
