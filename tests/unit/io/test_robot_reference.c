// SPDX-License-Identifier: Apache-2.0
// Real robots against reference figures (*.ref.json beside the models, ../shared/data/robots or
// CAIRN_PROBLEM_DIR/robots; skipped without them): mass, degrees of freedom, places of all bodies, mass
// matrix, torques of gravity, torques of a motion, free acceleration. All relative to the largest entry.
//
// Loops, couplings and springs are taken out, as the figures are without them. Where a base or a ball is
// free, motions of the other coordinates are prescribed at rest acceleration, and their efforts
// compared with M_pu a_u + b_p, a_u = -M_uu^-1 b_u (u: free, p: prescribed).
#include "check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/mechanism.h>
#include <cairn/scene.h>

#include "core/vec.h"
#include "problems.h"

#define MOST 40

typedef struct Robot {
  CnWorld *world;
  json_t *ref, *state;
  int32_t nv;
  // per degree of freedom: joint of the world and coordinate; none: a base or a ball
  CnJointId joint[MOST];
  int32_t coordinate[MOST];
} Robot;

static const double *numbers(const json_t *list, double *values, size_t most) {
  size_t n = json_array_size(list);
  CHECK(n <= most);
  for (size_t i = 0; i < n; i++) values[i] = json_number_value(json_array_get(list, i));
  return values;
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static int32_t whole(const json_t *object, const char *key) {
  return (int32_t)json_number_value(json_object_get(object, key));
}

static double largest(const double *v, int32_t n) {
  double most = 0;
  for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
  return most;
}

static void compare(const char *what, const double *a, const double *b, int32_t n, double least,
                    double bound) {
  double size = fmax(largest(b, n), least), worst = 0;
  for (int32_t i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  if (getenv("CAIRN_SHOW")) printf("    %-14s %.1e\n", what, worst / (size > 0 ? size : 1));
  if (!(worst <= bound * (size > 0 ? size : 1))) fail_msg("%s: off by %g of %g", what, worst, size);
}

// ---- building ----

static CnBodyId find_body(const CnWorld *world, const char *name) {
  CnBodyInfo info;
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(world, b))
    if (cn_body_info(world, b, &info) == CN_OK && info.name && strcmp(info.name, name) == 0)
      return b;
  return (CnBodyId){0, 0};
}

// The world's joint and coordinate of a degree of freedom: its sensor knows them by name.
static void find_coordinate(Robot *r, const CnScene *scene, const char *name, int32_t dof) {
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  json_t *root = json_loadb(info.text, info.text_size, 0, NULL), *item;
  size_t i;
  json_array_foreach(json_object_get(root, "sensors"), i, item) {
    if (strcmp(text_of(item, "name"), name) != 0) continue;
    for (CnJointId j = cn_world_next_joint(r->world, (CnJointId){0, 0}); j.slot;
         j = cn_world_next_joint(r->world, j)) {
      CnJointDef def;
      CHECK_OK(cn_joint_def(r->world, j, &def));
      if (strcmp(def.name, text_of(item, "joint")) != 0) continue;
      r->joint[dof] = j;
      for (int32_t c = 0; cn_joint_coordinate_name(def.kind, c); c++)
        if (strcmp(cn_joint_coordinate_name(def.kind, c), text_of(item, "coordinate")) == 0)
          r->coordinate[dof] = c;
    }
  }
  json_decref(root);
  if (!r->joint[dof].slot) fail_msg("no joint for %s", name);
}

// Joints without a name in the description are numbered.
static void joint_name(const json_t *joint, size_t i, char name[64]) {
  const char *given = text_of(joint, "name");
  snprintf(name, 64, "%s", given);
  if (!given[0]) snprintf(name, 64, "joint%d", (int)i + 1);
}

static CnScene *open_at(const Robot *r, const char *path, int floating) {
  static char names[MOST][64];
  CnSetting settings[MOST + 1];
  double q[64];
  int32_t count = 0;
  size_t i;
  json_t *joint;
  numbers(json_object_get(r->state, "qpos"), q, 64);
  json_array_foreach(json_object_get(r->ref, "joints"), i, joint) {
    const char *type = text_of(joint, "type");
    if (strcmp(type, "hinge") != 0 && strcmp(type, "slide") != 0) continue;
    joint_name(joint, i, names[i]);
    settings[count++] = (CnSetting){names[i], q[whole(joint, "qpos")]};
  }
  if (floating) settings[count++] = (CnSetting){"floating", 1};
  CnScene *scene;
  CHECK_OK(cn_scene_open(path, settings, count, NULL, &scene));
  return scene;
}

static void strip(Robot *r) {
  for (CnCouplingId c; (c = cn_world_next_coupling(r->world, (CnCouplingId){0, 0})).slot;)
    CHECK_OK(cn_coupling_destroy(r->world, c));
  for (CnForceId f; (f = cn_world_next_force(r->world, (CnForceId){0, 0})).slot;)
    CHECK_OK(cn_force_destroy(r->world, f));
  for (CnJointId j = cn_world_next_joint(r->world, (CnJointId){0, 0}), next; j.slot; j = next) {
    CnJointDef def;
    next = cn_world_next_joint(r->world, j);
    CHECK_OK(cn_joint_def(r->world, j, &def));
    if (strncmp(def.name, "connect", 7) == 0) {
      CHECK_OK(cn_joint_destroy(r->world, j));
      continue;
    }
    for (int32_t i = 0; i < CN_JOINT_AXES; i++)
      def.axes[i].stiffness = def.axes[i].damping = def.axes[i].friction = 0,
      def.axes[i].motor_effort = 0, def.axes[i].motor_stiffness = def.axes[i].motor_damping = 0;
    CHECK_OK(cn_joint_set(r->world, j, &def));
  }
}

// A free base is where the state has it, and everything on it; a body on a ball is put there by its
// reference place.
static void place_free(Robot *r) {
  double q[64], x[3 * MOST], quat[4 * MOST];
  size_t i;
  json_t *joint, *bodies = json_object_get(r->ref, "bodies");
  numbers(json_object_get(r->state, "qpos"), q, 64);
  numbers(json_object_get(r->state, "xpos"), x, 3 * MOST);
  numbers(json_object_get(r->state, "xquat"), quat, 4 * MOST);
  json_array_foreach(json_object_get(r->ref, "joints"), i, joint) {
    int32_t number = whole(joint, "body"), at = whole(joint, "qpos");
    CnBodyId body = find_body(r->world, text_of(json_array_get(bodies, (size_t)number), "name"));
    CnPose old, pose;
    if (strcmp(text_of(joint, "type"), "free") == 0) {
      CHECK_OK(cn_body_pose(r->world, body, &old));
      pose = (CnPose){{q[at], q[at + 1], q[at + 2]}, {q[at + 3], q[at + 4], q[at + 5], q[at + 6]}};
      CnPose by = cn_pose_mul(pose, cn_pose_inverse(old));
      for (CnBodyId b = cn_world_next_body(r->world, (CnBodyId){0, 0}); b.slot;
           b = cn_world_next_body(r->world, b)) {
        CnBodyInfo info;
        CHECK_OK(cn_body_info(r->world, b, &info));
        CHECK_OK(cn_body_pose(r->world, b, &old));
        pose = cn_pose_mul(by, old);
        pose.rotation = cn_qunit(pose.rotation);
        if (info.kind == CN_BODY_DYNAMIC) CHECK_OK(cn_body_set_pose(r->world, b, &pose));
      }
    } else if (strcmp(text_of(joint, "type"), "ball") == 0) {
      const double *p = x + 3 * number, *o = quat + 4 * number;
      pose = (CnPose){{p[0], p[1], p[2]}, cn_qunit((CnQuat){o[0], o[1], o[2], o[3]})};
      CHECK_OK(cn_body_set_pose(r->world, body, &pose));
    }
  }
}

static void find_coordinates(Robot *r, const CnScene *scene) {
  size_t i;
  json_t *joint;
  json_array_foreach(json_object_get(r->ref, "joints"), i, joint) {
    const char *type = text_of(joint, "type");
    char name[64];
    joint_name(joint, i, name);
    if (strcmp(type, "hinge") == 0 || strcmp(type, "slide") == 0)
      find_coordinate(r, scene, name, whole(joint, "dof"));
  }
}

// ---- comparing ----

static void check_places(const Robot *r) {
  double x[3 * MOST], quat[4 * MOST], mine[3 * MOST];
  size_t i;
  json_t *body;
  numbers(json_object_get(r->state, "xpos"), x, 3 * MOST);
  numbers(json_object_get(r->state, "xquat"), quat, 4 * MOST);
  memcpy(mine, x, sizeof mine);
  double turned = 0;
  int32_t n = 0;
  json_array_foreach(json_object_get(r->ref, "bodies"), i, body) {
    CnBodyId id = find_body(r->world, text_of(body, "name"));
    CnPose pose;
    n++;
    if (!id.slot) continue; // without mass: part of another; or without a name
    CHECK_OK(cn_body_pose(r->world, id, &pose));
    memcpy(mine + 3 * i, &pose.position, sizeof pose.position);
    const double *o = quat + 4 * i;
    CnQuat d = cn_qmul(cn_qconj(pose.rotation), (CnQuat){o[0], o[1], o[2], o[3]});
    turned = fmax(turned, sqrt(d.x * d.x + d.y * d.y + d.z * d.z));
  }
  compare("places", mine, x, 3 * n, 0, 1e-9);
  CHECK_NEAR(turned, 0, 1e-9);
}

static CnPose ref_pose(const Robot *r, int32_t body) {
  double x[3 * MOST], q[4 * MOST];
  numbers(json_object_get(r->state, "xpos"), x, 3 * MOST);
  numbers(json_object_get(r->state, "xquat"), q, 4 * MOST);
  const double *p = x + 3 * body, *o = q + 4 * body;
  return (CnPose){{p[0], p[1], p[2]}, {o[0], o[1], o[2], o[3]}};
}

static CnVec3 ref_vector(const json_t *object, const char *key) {
  double v[3];
  numbers(json_object_get(object, key), v, 3);
  return cn_vec3(v[0], v[1], v[2]);
}

// Twist at the centre of mass of a body of the reference for one degree of freedom at rate 1. (Hinges
// of one body would need their order: not where this is used.)
static void ref_twist(const Robot *r, const char *name, int32_t dof, double twist[6]) {
  json_t *bodies = json_object_get(r->ref, "bodies"), *joint;
  size_t i, body = 0;
  while (strcmp(text_of(json_array_get(bodies, body), "name"), name) != 0) body++;
  CnVec3 com = ref_vector(json_array_get(bodies, body), "com");
  CnVec3 at = cn_pose_point(ref_pose(r, (int32_t)body), com), v = {0, 0, 0}, w = {0, 0, 0};
  for (size_t b = body; b > 0; b = (size_t)whole(json_array_get(bodies, b), "parent"))
    json_array_foreach(json_object_get(r->ref, "joints"), i, joint) {
      const char *type = text_of(joint, "type");
      int32_t first = whole(joint, "dof"), k = dof - first;
      int free = strcmp(type, "free") == 0, ball = strcmp(type, "ball") == 0;
      if (whole(joint, "body") != (int32_t)b || k < 0 || k >= (free ? 6 : ball ? 3 : 1)) continue;
      CnPose pose = ref_pose(r, (int32_t)b);
      CnVec3 axis = cn_rotate(pose.rotation, ref_vector(joint, "axis"));
      CnVec3 anchor = cn_pose_point(pose, ref_vector(joint, "pos"));
      if (free && k < 3) v = cn_vec3(k == 0, k == 1, k == 2);
      if (ball || (free && k >= 3)) {
        int32_t c = k - (free ? 3 : 0);
        axis = cn_rotate(pose.rotation, cn_vec3(c == 0, c == 1, c == 2));
        if (free) anchor = pose.position;
      }
      if (strcmp(type, "slide") == 0) v = axis;
      if (strcmp(type, "hinge") == 0 || ball || (free && k >= 3)) {
        w = axis;
        v = cn_cross(axis, cn_sub(at, anchor));
      }
    }
  double all[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
  memcpy(twist, all, sizeof all);
}

// Velocities of the machine's freedoms for one degree of freedom of the reference at rate 1.
static void column(const Robot *r, CnMachine *machine, int32_t dof, double *rates) {
  CnMachineInfo info;
  CHECK_OK(cn_machine_info(machine, &info));
  CHECK(info.freedom_count == r->nv);
  for (int32_t k = 0; k < r->nv; k++) {
    CnMachineFreedom f;
    CnBodyInfo body;
    double twist[6];
    CHECK_OK(cn_machine_freedom(machine, k, &f));
    rates[k] = f.joint.slot == r->joint[dof].slot && f.coordinate == r->coordinate[dof];
    if (f.joint.slot) continue;
    CHECK_OK(cn_body_info(r->world, f.body, &body));
    ref_twist(r, body.name, dof, twist);
    rates[k] = twist[f.coordinate];
  }
}

static void check_matrix(const Robot *r, double *mass) {
  int32_t n = r->nv;
  double own[MOST * MOST], load[MOST], ref[MOST * MOST], gravity[MOST], mine[MOST] = {0};
  static double columns[MOST][MOST];
  CnMachine *machine;
  CHECK_OK(cn_machine_create(r->world, NULL, &machine));
  for (int32_t i = 0; i < n; i++) column(r, machine, i, columns[i]);
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_MASS, own, MOST * MOST, NULL, NULL));
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_LOADS, load, MOST, NULL, NULL));
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      mass[n * i + j] = 0;
      for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++)
          mass[n * i + j] += columns[i][a] * own[n * a + b] * columns[j][b];
    }
  for (int32_t i = 0; i < n; i++)
    for (int32_t a = 0; a < n; a++) mine[i] -= columns[i][a] * load[a];
  numbers(json_object_get(r->state, "mass_matrix"), ref, MOST * MOST);
  numbers(json_object_get(r->state, "gravity"), gravity, MOST);
  compare("mass matrix", mass, ref, n * n, 0, 1e-9);
  compare("gravity", mine, gravity, n, 0, 1e-9);
  cn_machine_destroy(machine);
}

// Gauss with pivoting: x = A^-1 b.
static void solve(double *a, double *b, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    int32_t p = k;
    for (int32_t i = k; i < n; i++)
      if (fabs(a[n * i + k]) > fabs(a[n * p + k])) p = i;
    for (int32_t j = 0; j < n; j++) {
      double t = a[n * k + j];
      a[n * k + j] = a[n * p + j], a[n * p + j] = t;
    }
    double t = b[k];
    b[k] = b[p], b[p] = t;
    for (int32_t i = k + 1; i < n; i++) {
      double f = a[n * i + k] / a[n * k + k];
      for (int32_t j = k; j < n; j++) a[n * i + j] -= f * a[n * k + j];
      b[i] -= f * b[k];
    }
  }
  for (int32_t k = n; k-- > 0;) {
    for (int32_t j = k + 1; j < n; j++) b[k] -= a[n * k + j] * b[j];
    b[k] /= a[n * k + k];
  }
}

// Twists of all bodies at the state's velocities: the machine's basis times its rates.
static void set_velocities(const Robot *r, const double *v) {
  CnMachine *machine;
  CnMachineInfo info;
  CHECK_OK(cn_machine_create(r->world, NULL, &machine));
  CHECK_OK(cn_machine_info(machine, &info));
  int32_t rows = 6 * info.body_count, n = r->nv;
  double *basis = calloc((size_t)(rows * n), sizeof *basis), rates[MOST], sum[MOST] = {0};
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_BASIS, basis, rows * n, NULL, NULL));
  for (int32_t i = 0; i < n; i++) {
    column(r, machine, i, rates);
    for (int32_t k = 0; k < n; k++) sum[k] += v[i] * rates[k];
  }
  for (int32_t b = 0; b < info.body_count; b++) {
    double t[6] = {0};
    CnBodyId id;
    CnBodyInfo about;
    CnPose pose;
    for (int32_t k = 0; k < 6; k++)
      for (int32_t j = 0; j < n; j++) t[k] += basis[n * (6 * b + k) + j] * sum[j];
    CHECK_OK(cn_machine_body(machine, b, &id));
    CHECK_OK(cn_body_info(r->world, id, &about));
    CHECK_OK(cn_body_pose(r->world, id, &pose));
    CnVec3 w = {t[3], t[4], t[5]}, arm = cn_rotate(pose.rotation, about.com.position);
    CnTwist twist = {cn_sub(cn_vec3(t[0], t[1], t[2]), cn_cross(w, arm)), w};
    CHECK_OK(cn_body_set_twist(r->world, id, &twist));
  }
  free(basis);
  cn_machine_destroy(machine);
}

// Efforts of a motion, and for a robot without anything free the acceleration it has by itself.
static void check_motion(const Robot *r, const double *mass) {
  int32_t n = r->nv, free_count = 0, p = 0, list[MOST];
  double q[64], v[MOST], bias[MOST], tau[MOST], acc[MOST], m[MOST * MOST], a[MOST] = {0};
  double efforts[MOST], expected[MOST];
  CnDriveMotion motions[MOST];
  CnInverse inverse;
  size_t i;
  json_t *joint;
  numbers(json_object_get(r->state, "qpos"), q, 64);
  numbers(json_object_get(r->state, "qvel"), v, MOST);
  numbers(json_object_get(r->state, "bias"), bias, MOST);
  numbers(json_object_get(r->state, "tau"), tau, MOST);
  numbers(json_object_get(r->state, "qacc_no_passive"), acc, MOST);
  set_velocities(r, v);
  for (int32_t k = 0; k < n; k++)
    if (!r->joint[k].slot) list[free_count++] = k;
  for (int32_t k = 0; k < free_count; k++) {
    a[k] = -bias[list[k]];
    for (int32_t j = 0; j < free_count; j++) m[free_count * k + j] = mass[n * list[k] + list[j]];
  }
  solve(m, a, free_count);
  json_array_foreach(json_object_get(r->ref, "joints"), i, joint) {
    int32_t dof = whole(joint, "dof");
    if (!r->joint[dof].slot) continue;
    CnJointState at;
    CHECK_OK(cn_joint_state(r->world, r->joint[dof], &at));
    CHECK_NEAR(at.coordinate[r->coordinate[dof]], q[whole(joint, "qpos")], 1e-12);
    motions[p] = (CnDriveMotion){.joint = r->joint[dof],
                                 .coordinate = r->coordinate[dof],
                                 .value = at.coordinate[r->coordinate[dof]],
                                 .rate = v[dof]};
    expected[p] = bias[dof];
    for (int32_t k = 0; k < free_count; k++) expected[p] += mass[n * dof + list[k]] * a[k];
    p++;
  }
  CHECK_OK(cn_world_inverse(r->world, 0, motions, p, &inverse));
  for (int32_t k = 0; k < p; k++) efforts[k] = motions[k].effort;
  CHECK(inverse.freedoms == free_count);
  compare("efforts", efforts, expected, p, fmax(largest(bias, n), 1e-2), 1e-9);
  if (free_count > 0) return;
  memcpy(m, mass, (size_t)(n * n) * sizeof *m);
  for (int32_t k = 0; k < n; k++) a[k] = tau[k] - efforts[k];
  solve(m, a, n);
  compare("acceleration", a, acc, n, 0, 1e-8);
}

static void check_robot(const char *model, const char *figures, int floating) {
  char path[1024], name[1100];
  Robot r = {0};
  size_t i;
  snprintf(path, sizeof path, "%s/robots/%s", problem_folder(), model);
  snprintf(name, sizeof name, "%s/robots/%s", problem_folder(), figures);
  r.ref = json_load_file(name, 0, NULL);
  CHECK(r.ref != NULL);
  r.nv = whole(json_object_get(r.ref, "counts"), "nv");
  CHECK(r.nv <= MOST);
  json_array_foreach(json_object_get(r.ref, "states"), i, r.state) {
    double mass[MOST * MOST];
    if (getenv("CAIRN_SHOW")) printf("  %s %s\n", figures, text_of(r.state, "name"));
    CnScene *scene = open_at(&r, path, floating);
    CnWorldDef def = cn_world_def_default();
    cn_scene_world_def(scene, &def);
    CHECK_OK(cn_world_create(&def, &r.world));
    CHECK_OK(cn_scene_fill(scene, r.world));
    memset(r.joint, 0, sizeof r.joint);
    find_coordinates(&r, scene);
    strip(&r);
    place_free(&r);
    double total = 0;
    for (CnBodyId b = cn_world_next_body(r.world, (CnBodyId){0, 0}); b.slot;
         b = cn_world_next_body(r.world, b)) {
      CnBodyInfo info;
      CHECK_OK(cn_body_info(r.world, b, &info));
      total += info.kind == CN_BODY_DYNAMIC ? info.mass : 0;
    }
    CHECK_REL(total, json_number_value(json_object_get(r.ref, "total_mass")), 1e-9);
    check_places(&r);
    check_matrix(&r, mass);
    check_motion(&r, mass);
    cn_world_destroy(r.world);
    cn_scene_destroy(scene);
  }
  json_decref(r.ref);
}

static void robots(void **state) {
  (void)state;
  static const struct {
    const char *model, *figures;
    int floating;
  } all[] = {{"panda/panda.urdf", "panda/panda.ref.json", 0},
             {"ur5/ur5.urdf", "ur5/ur5.ref.json", 0},
             {"solo12/solo12.urdf", "solo12/solo12.ref.json", 0},
             {"solo12/solo12.urdf", "solo12/solo12.floating.ref.json", 1},
             {"r2d2/r2d2.urdf", "r2d2/r2d2.ref.json", 0},
             {"ant/ant.xml", "ant/ant.ref.json", 0},
             {"humanoid/humanoid.xml", "humanoid/humanoid.ref.json", 0},
             {"cassie/cassie.xml", "cassie/cassie.ref.json", 0},
             {"wx250s/wx250s.xml", "wx250s/wx250s.ref.json", 0},
             {"slider_crank/slider_crank.xml", "slider_crank/slider_crank.ref.json", 0}};
  if (!problem_folder_has("robots/panda/panda.urdf")) skip();
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    check_robot(all[i].model, all[i].figures, all[i].floating);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(robots)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
