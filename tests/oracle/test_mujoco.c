// SPDX-License-Identifier: Apache-2.0
// MJCF files as MuJoCo understands them. Of machines of hinges and slides, with several joints a body about points
// near and far: mass matrix, relative to its diagonal, and the torques of gravity at random coordinates. Of all
// files: degrees of freedom, mass, and where the bodies are after .3 s, from the start that the first
// keyframe gives, if there is one. Contacts are off; there are no limits and equalities, which are soft there.
#include "check.h"

#include <jansson.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cairn/mechanism.h>
#include <cairn/scene.h>

#include "core/rng.h"
#include "core/vec.h"

#define MOST 24
#define ALL "<mujoco><compiler angle='radian'/><option><flag contact='disable'/></option>"
#define ROD "<geom type='capsule' size='.03' fromto='0 0 0 .3 .1 .05'/>"
#define TILE "<geom type='box' size='.1 .2 .05' pos='.05 -.02 .1' euler='.2 .3 .4'/>"
#define SLIDE(name, axis) "<joint name='" name "' type='slide' axis='" axis "'/>"
#define HINGE(name, axis, more) "<joint name='" name "' axis='" axis "' " more "/>"

typedef struct Case {
  const char *name, *text;
  double matrix; // largest error of the mass matrix
  double moved;  // and of a place or an angle after .3 s, over the largest way of a body
} Case;

typedef struct Pair {
  char path[200];
  mjModel *model;
  mjData *data;
  CnScene *scene;
  CnWorld *world;
} Pair;

// ---- both sides ----

static void write_file(Pair *p, const char *text) {
  snprintf(p->path, sizeof p->path, "/tmp/cairn-mujoco-%d.xml", (int)getpid());
  FILE *f = fopen(p->path, "w");
  CHECK(f != NULL);
  fputs(text, f);
  fclose(f);
}

static void open_pair(Pair *p, const char *text) {
  char problem[500] = "";
  write_file(p, text);
  p->model = mj_loadXML(p->path, NULL, problem, sizeof problem);
  if (!p->model) fail_msg("mujoco: %s", problem);
  p->data = mj_makeData(p->model);
  if (p->model->nkey > 0) mj_resetDataKeyframe(p->model, p->data, 0);
}

static void close_pair(Pair *p) {
  mj_deleteData(p->data);
  mj_deleteModel(p->model);
  remove(p->path);
}

static const char *joint_name(const mjModel *m, int j) {
  const char *name = mj_id2name(m, mjOBJ_JOINT, j);
  return name ? name : "";
}

// The world, with hinges and slides at the coordinates of MuJoCo's data, or as a keyframe says.
static void fill_world(Pair *p, int from_data) {
  CnSetting settings[MOST];
  CnWorldDef def = cn_world_def_default();
  int32_t count = 0;
  for (int j = 0; from_data && j < p->model->njnt; j++)
    settings[count++] =
        (CnSetting){joint_name(p->model, j), p->data->qpos[p->model->jnt_qposadr[j]]};
  if (!from_data && p->model->nkey > 0) settings[count++] = (CnSetting){"keyframe", 1};
  if (!from_data) settings[count++] = (CnSetting){"tendons", 1};
  CHECK_OK(cn_scene_open(p->path, settings, count, NULL, &p->scene));
  cn_scene_world_def(p->scene, &def);
  def.integrator = "hem5";
  def.time_step = 1e-3;
  CHECK_OK(cn_world_create(&def, &p->world));
  CHECK_OK(cn_scene_fill(p->scene, p->world));
}

static void empty_world(Pair *p) {
  cn_world_destroy(p->world);
  cn_scene_destroy(p->scene);
}

// ---- mass matrix ----

// MuJoCo's degree of freedom of a freedom of the machine: its sensor has the joint's name.
static int dof_of(const Pair *p, const json_t *sensors, const CnMachineFreedom *f) {
  CnJointDef def;
  size_t i;
  json_t *item;
  CHECK(f->joint.slot);
  CHECK_OK(cn_joint_def(p->world, f->joint, &def));
  const char *coordinate = cn_joint_coordinate_name(def.kind, f->coordinate);
  json_array_foreach(sensors, i, item) {
    if (strcmp(json_string_value(json_object_get(item, "joint")), def.name) != 0) continue;
    if (strcmp(json_string_value(json_object_get(item, "coordinate")), coordinate) != 0) continue;
    int j = mj_name2id(p->model, mjOBJ_JOINT, json_string_value(json_object_get(item, "name")));
    CHECK(j >= 0);
    return p->model->jnt_dofadr[j];
  }
  fail_msg("no joint for %s of %s", coordinate, def.name);
  return 0;
}

static void compare_matrix(Pair *p, double *mass, double *gravity) {
  CnMachine *machine;
  CnMachineInfo info;
  CnSceneInfo about;
  int nv = p->model->nv;
  double own[MOST * MOST], load[MOST], full[MOST * MOST];
  int dof[MOST];
  CHECK_OK(cn_machine_create(p->world, NULL, &machine));
  CHECK_OK(cn_machine_info(machine, &info));
  CHECK(info.freedom_count == nv);
  cn_scene_info(p->scene, &about);
  json_t *root = json_loadb(about.text, about.text_size, 0, NULL);
  for (int i = 0; i < nv; i++) {
    CnMachineFreedom f;
    CHECK_OK(cn_machine_freedom(machine, i, &f));
    dof[i] = dof_of(p, json_object_get(root, "sensors"), &f);
  }
  json_decref(root);
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_MASS, own, MOST * MOST, NULL, NULL));
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_LOADS, load, MOST, NULL, NULL));
  mj_forward(p->model, p->data);
  mj_fullM(p->model, full, p->data->qM);
  double most = 0;
  for (int i = 0; i < nv; i++) most = fmax(most, fabs(p->data->qfrc_bias[i]));
  for (int i = 0; i < nv; i++) {
    int a = dof[i];
    if (most > 0) *gravity = fmax(*gravity, fabs(load[i] + p->data->qfrc_bias[a]) / most);
    for (int k = 0; k < nv; k++) {
      int b = dof[k];
      double size = sqrt(full[nv * a + a] * full[nv * b + b]);
      *mass = fmax(*mass, fabs(own[nv * i + k] - full[nv * a + b]) / size);
    }
  }
  cn_machine_destroy(machine);
}

static void matrices(const Case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    Pair p;
    CniRng rng = {.state = 77 + i};
    double mass = 0, gravity = 0;
    open_pair(&p, cases[i].text);
    for (int32_t k = 0; k < 5; k++) {
      for (int j = 0; j < p.model->njnt; j++)
        p.data->qpos[p.model->jnt_qposadr[j]] =
            k == 0 ? p.model->qpos0[p.model->jnt_qposadr[j]] : cni_rng_range(&rng, -2, 2);
      fill_world(&p, 1);
      compare_matrix(&p, &mass, &gravity);
      empty_world(&p);
    }
    if (getenv("CAIRN_SHOW"))
      printf("  %-16s mass %.1e  gravity %.1e\n", cases[i].name, mass, gravity);
    if (!(mass < cases[i].matrix && gravity < cases[i].matrix))
      fail_msg("%s: mass matrix off by %g, gravity by %g", cases[i].name, mass, gravity);
    close_pair(&p);
  }
}

// ---- motion ----

static CnBodyId find_body(const CnWorld *world, const char *name) {
  CnBodyInfo info;
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(world, b))
    if (cn_body_info(world, b, &info) == CN_OK && info.name && strcmp(info.name, name) == 0)
      return b;
  fail_msg("no body %s", name);
  return (CnBodyId){0, 0};
}

static double run_both(Pair *p) {
  double x[3 * MOST], worst = 0, moved = 1e-3;
  mjModel *m = p->model;
  CHECK(m->nbody <= MOST);
  m->opt.timestep = 1e-4;
  m->opt.integrator = mjINT_RK4;
  mj_forward(m, p->data);
  memcpy(x, p->data->xpos, (size_t)(3 * m->nbody) * sizeof *x);
  for (int i = 0; i < 3000; i++) mj_step(m, p->data);
  mj_forward(m, p->data);
  for (int i = 0; i < 300; i++) CHECK_OK(cn_world_step(p->world, NULL));
  for (int i = 1; i < m->nbody; i++) {
    const double *at = p->data->xpos + 3 * i, *q = p->data->xquat + 4 * i;
    CnPose pose;
    CHECK_OK(cn_body_pose(p->world, find_body(p->world, mj_id2name(m, mjOBJ_BODY, i)), &pose));
    CnVec3 there = {at[0], at[1], at[2]}, was = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
    CnQuat d = cn_qmul(cn_qconj(pose.rotation), (CnQuat){q[0], q[1], q[2], q[3]});
    double turned = 2 * sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    moved = fmax(moved, cn_norm(cn_sub(there, was)));
    worst = fmax(worst, fmax(cn_norm(cn_sub(there, pose.position)), turned));
  }
  return worst / fmax(moved, 0.1);
}

// With the armature of free joints, which is mass here.
static double total_mass(const mjModel *m) {
  double total = mj_getTotalmass(m);
  for (int j = 0; j < m->njnt; j++)
    if (m->jnt_type[j] == mjJNT_FREE) total += m->dof_armature[m->jnt_dofadr[j]];
  return total;
}

static void motions(const Case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    Pair p;
    CnMechanism mechanism;
    double total = 0;
    open_pair(&p, cases[i].text);
    fill_world(&p, 0);
    CHECK_OK(cn_world_mechanism(p.world, &mechanism, NULL, 0));
    if (mechanism.freedoms != p.model->nv)
      fail_msg("%s: %d freedoms and not %d", cases[i].name, (int)mechanism.freedoms, p.model->nv);
    for (CnBodyId b = cn_world_next_body(p.world, (CnBodyId){0, 0}); b.slot;
         b = cn_world_next_body(p.world, b)) {
      CnBodyInfo info;
      CHECK_OK(cn_body_info(p.world, b, &info));
      total += info.kind == CN_BODY_DYNAMIC ? info.mass : 0;
    }
    CHECK_REL(total, total_mass(p.model), 1e-6); // meshes there are of floats
    double error = run_both(&p);
    if (getenv("CAIRN_SHOW"))
      printf("  %-16s mass %.1e  motion %.1e\n", cases[i].name, total - mj_getTotalmass(p.model),
             error);
    if (!(error <= cases[i].moved)) fail_msg("%s: off by %g", cases[i].name, error);
    empty_world(&p);
    close_pair(&p);
  }
}

// ---- machines of several joints a body ----

#define IN(inside)                                                                                 \
  ALL "<worldbody><body name='a' pos='0 0 1'>" inside "</body></worldbody></mujoco>"

static const Case chains[] = {
    {"planar", IN(SLIDE("x", "1 0 0") SLIDE("z", "0 0 1") HINGE("y", "0 1 0", "pos='0 0 .3'") ROD),
     1e-12, 1e-12},
    {"planar far",
     IN(SLIDE("x", "1 0 0") SLIDE("z", "0 0 1") HINGE("y", "0 1 0", "pos='0 0 -30'") ROD), 1e-11,
     1e-11},
    {"planar turned",
     IN(SLIDE("z", "0 0 1") SLIDE("x", "1 0 0") HINGE("y", "0 1 0", "ref='.4'") TILE), 1e-12,
     1e-12},
    {"table", IN(SLIDE("x", "1 0 0") SLIDE("y", "0 1 0") TILE), 1e-12, 1e-9},
    {"gantry of slides", IN(SLIDE("x", "1 0 0") SLIDE("z", "0 0 1") SLIDE("y", "0 1 0") ROD), 2e-7,
     2e-7},
    {"oblique",
     IN(SLIDE("x", "1 0 0") SLIDE("y", ".5 1 0") HINGE("t", ".2 .3 1", "pos='.4 .1 0'") TILE), 1e-6,
     3e-5},
    {"gantry",
     IN(SLIDE("x", "1 0 0") SLIDE("y", "0 1 0") SLIDE("z", "0 0 1")
            HINGE("c", "0 0 1", "pos='.1 0 0'") ROD),
     1e-6, 1e-6},
    {"wrist", IN(HINGE("x", "1 0 0", "") HINGE("y", "0 1 0", "") HINGE("z", "0 0 1", "") TILE),
     1e-6, 1e-6},
    {"wrist apart",
     IN(HINGE("x", "1 0 0", "pos='0 0 .2'") HINGE("y", "0 1 0", "pos='.1 0 0'")
            HINGE("z", "0 0 1", "pos='0 .3 .1'") TILE),
     1e-6, 3e-6},
    {"wrist far", IN(HINGE("x", "1 .1 0", "pos='0 0 20'") HINGE("y", "0 1 0", "pos='10 0 0'") TILE),
     1e-6, 1e-6},
    {"cross", IN(HINGE("x", "1 0 0", "pos='.3 .1 0'") HINGE("y", "0 1 0", "pos='.2 .5 0'") ROD),
     1e-12, 1e-8},
    {"parallel", IN(HINGE("p", "0 1 0", "") HINGE("q", "0 1 0", "pos='.2 0 0'") ROD), 1e-6, 1e-6},
    {"shaft", IN(SLIDE("s", "1 1 0") HINGE("t", "1 1 0", "pos='0 .1 .1' ref='.3'") TILE), 1e-12,
     1e-9},
    {"drill", IN(HINGE("t", "0 1 1", "pos='0 .1 .1'") SLIDE("s", "0 1 1") ROD), 1e-12, 1e-9},
    {"trolley",
     IN(HINGE("h", "0 1 0", "") SLIDE("s", "1 0 0") HINGE("k", "0 1 1", "pos='.1 0 0'") ROD), 1e-6,
     1e-6},
    {"hand",
     IN(SLIDE("x", "1 0 0") SLIDE("y", "0 1 0") SLIDE("z", "0 0 1") HINGE("r", "1 0 0", "")
            HINGE("p", "0 1 0", "") HINGE("w", "0 0 1", "") TILE
        "<body name='b' pos='.3 0 0'>" HINGE("f", "0 1 0", "") HINGE("g", "0 0 1", "pos='0 .1 0'")
            ROD "</body>"),
     1e-6, 1e-6},
    {"needle",
     IN(SLIDE("x", "1 0 0") SLIDE("z", "0 0 1") HINGE("u", "1 0 0", "")
            HINGE("v", "0 1 .5",
                  "pos='.2 0 .1'") "<geom type='capsule' size='.002' fromto='0 0 0 .5 0 0'/>"),
     3e-4, 1e-6},
};
#define COUNT(list) (sizeof list / sizeof *list)

// ---- what acts on machines ----

#define ARM(name, x, joint)                                                                        \
  "<body name='" name "' pos='0 " x " 1'>" joint                                                   \
  "<geom type='capsule' size='.03' fromto='0 0 0 .3 0 0'/></body>"
#define TWO(joints)                                                                                \
  "<worldbody>" ARM("a", "0", joints) ARM("b", "1", HINGE("k", "0 1 0", "")) "</worldbody>"
#define KEY(text) "<keyframe><key " text "/></keyframe></mujoco>"
#define H HINGE("h", "0 1 0", "damping='.1'")

static const Case loads[] = {
    {"shared defaults",
     ALL "<default><position kp='50'/></default>" TWO(H) "<actuator><general joint='h'/><motor "
                                                         "joint='k' gear='2'/></actuator>" KEY(
                                                             "qpos='.1 .2' ctrl='.3 .4'"),
     0, 1e-7},
    {"classes",
     ALL "<default><motor ctrlrange='-1 1' ctrllimited='true' gear='3'/><default "
         "class='p'><general "
         "biastype='affine' gainprm='20' biasprm='1 -20 -.5'/></default></default>" TWO(
             H) "<actuator><general class='p' joint='h'/><velocity joint='k' "
                "kv='2'/></actuator>" KEY("qpos='.1 .2' ctrl='.3 4'"),
     0, 1e-7},
    {"several a joint",
     ALL TWO(
         H) "<actuator><position joint='h' kp='30'/><velocity joint='h' kv='2'/><motor "
            "joint='h'/><position joint='h' kp='5' gear='-2'/><motor joint='k'/><general joint='k' "
            "biastype='affine' biasprm='0 -3 -1'/></actuator>" KEY("ctrl='.3 .2 1 .1 2 0'"),
     0, 1e-7},
    {"bounds",
     ALL TWO(H) "<actuator><position joint='h' kp='300' forcelimited='true' forcerange='-1 "
                "2'/><motor joint='h'/><motor joint='k' forcelimited='true' forcerange='-.5 "
                ".3'/><position joint='k' kp='10' forcelimited='true' forcerange='-2 "
                ".4'/></actuator>" KEY("ctrl='.9 -.3 5 1'"),
     0, 3e-5},
    {"affine gain",
     ALL TWO(
         H) "<actuator><general joint='h' gaintype='affine' gainprm='2 -3 -.4'/><damper joint='k' "
            "kv='2' ctrlrange='0 2'/></actuator>" KEY("ctrl='.9 1.5' qvel='1 -2'"),
     0, 1e-7},
    {"slide and bounds",
     ALL "<worldbody>" ARM("a", "0", SLIDE("s", "1 0 1")) "<body name='b' pos='1 1 1'>" H ROD
                                                          "<body name='c' pos='.3 0 0'>" SLIDE(
                                                              "t", "1 0 0") ROD
     "</body></body></worldbody>"
     "<actuator><position joint='s' kp='300' forcelimited='true' forcerange='-8 20'/><position "
     "joint='t' kp='200' forcelimited='true' forcerange='-1 9'/></actuator>" KEY("ctrl='.9 .1'"),
     0, 1e-6},
    {"free body",
     ALL
     "<default><joint damping='2' armature='.3'/></default><worldbody><body name='f' pos='0 0 "
     "1'><joint name='free' type='free'/>" TILE "</body></worldbody><actuator><motor joint='free' "
     "gear='1 2 3 .1 .2 .3'/></actuator>" KEY("qpos='0 0 1 .8 .6 0 0' qvel='1 2 3 4 5 6' ctrl='7'"),
     0, 1e-6},
    {"thrusters",
     ALL "<worldbody><body name='f' pos='0 0 1'><freejoint/>" TILE "<site name='s' pos='.2 .1 0' "
         "euler='.3 .2 .1'/><body name='w' pos='0 .2 0'><site name='t'/><geom "
         "size='.05'/></body></body>"
         "</worldbody><actuator><motor site='s' gear='0 0 1 0 0 -.02'/><motor site='t' gear='1 0 0 "
         "0 .1 "
         "0'/></actuator>" KEY("qvel='0 0 0 1 2 0' ctrl='9 -3'"),
     0, 1e-6},
    {"ball",
     ALL "<worldbody><body name='a' pos='0 0 1'><joint type='ball' stiffness='3' damping='.2' "
         "armature='.05' pos='0 .1 0'/>" TILE "<body name='b' pos='.3 0 0'><joint type='ball' "
         "stiffness='2'/>" ROD
         "</body></body></worldbody>" KEY("qpos='.9 .1 .2 .3 1 0 0 0' qvel='1 2 3 -1 0 2'"),
     0, 1e-6},
    {"rates",
     ALL "<worldbody><body name='a' pos='0 0 1'>" SLIDE("x", "1 0 0")
         HINGE("u", "0 1 1", "pos='.1 0 .2'") HINGE("v", "1 0 0", "") TILE
     "<body name='b' pos='.3 0 0'><joint type='ball' pos='0 .1 0'/>" ROD
     "<body name='c' pos='.1 .1 .1'>" HINGE("w", "1 1 0", "pos='0 .2 0'") ROD
     "</body></body></body></worldbody>" KEY("qpos='.1 .2 .3 .8 .6 0 0 .4' qvel='1 2 3 4 5 6 7'"),
     0, 3e-6},
    {"tendons",
     ALL TWO(
         H) "<tendon><fixed name='t'><joint joint='h' coef='.5'/></fixed><fixed name='u'><joint "
            "joint='h' coef='1'/><joint joint='k' coef='-2'/></fixed></tendon><actuator><position "
            "tendon='t' kp='40' gear='2'/><motor tendon='u' gear='.5'/></actuator>" KEY(
                "ctrl='.3 2'"),
     0, 1e-7},
    {"servo of two joints",
     ALL TWO(
         H) "<tendon><fixed name='u' stiffness='3' damping='.2' springlength='.4'><joint joint='h' "
            "coef='1'/><joint joint='k' coef='-.7'/></fixed><fixed name='v' stiffness='5'><joint "
            "joint='h' "
            "coef='.5'/><joint joint='k' coef='1'/></fixed></tendon><actuator><position tendon='u' "
            "kp='40' gear='1.5' forcelimited='true' forcerange='-9 9'/></actuator>" KEY(
                "qpos='.2 -.3' qvel='1 2' ctrl='.3'"),
     0, 1e-6},
    {"tendon springs",
     ALL
     "<default><tendon stiffness='30' damping='.5'/></default><worldbody><site name='o' pos='0 0 "
     "2'/>" ARM(
         "a", "0",
         H "<site name='e' pos='.2 0 .05'/><site name='m' pos='.1 0 .1'/>") "</"
                                                                            "worldbody><tendon><"
                                                                            "fixed "
                                                                            "springlength='.4'><"
                                                                            "joint joint='h' "
                                                                            "coef='.7'/></"
                                                                            "fixed><spatial "
                                                                            "springlength='.9'><"
                                                                            "site site='o'/><site "
                                                                            "site='e'/><site "
                                                                            "site='m'/></spatial></"
                                                                            "tendon></mujoco>",
     0, 1e-7},
    {"masses",
     ALL
     "<compiler boundmass='.5' boundinertia='.02' balanceinertia='true' inertiagrouprange='0 1' "
     "settotalmass='7'/><worldbody><body name='a' pos='0 0 1'>" H
     "<inertial pos='.1 0 0' mass='.1' "
     "diaginertia='.1 .1 .5'/><body name='b' pos='.3 0 0'>" HINGE(
         "q", "0 1 1", "") "<geom type='box' size='.1 .05 .02' pos='.1 0 0'/><geom size='.2' "
                           "group='2'/></body></body>"
                           "</worldbody></mujoco>",
     0, 1e-7},
    {"ends and meshes",
     ALL "<asset><mesh name='m' vertex='0 0 0 .3 0 0 0 .2 0 0 0 .4 .3 .2 0 .3 0 .4 0 .2 .4 .3 .2 "
         ".4'/></asset><worldbody><body name='a' pos='0 0 1'>" H
         "<geom type='mesh' mesh='m' pos='.1 0 "
         "0'/><body name='b' pos='.3 0 0'>" HINGE(
             "q", "0 1 1", "") "<geom type='capsule' size='.03 .5 .2' fromto='0 0 0 .3 .1 "
                               "0'/><geom type='box' size='.02 .3' "
                               "fromto='0 0 0 0 .1 .3'/><geom type='box' mesh='m' density='500' "
                               "pos='0 0 .2'/></body></body>"
                               "</worldbody></mujoco>",
     0, 1e-4},
    {"flags",
     "<mujoco><option><flag contact='disable' passive='disable' limit='disable' "
     "actuation='disable' "
     "frictionloss='disable'/></option><worldbody>" ARM(
         "a", "0",
         HINGE("h", "0 1 0",
               "damping='3' stiffness='9' "
               "frictionloss='1' limited='true' range='-1 1'")) "</worldbody><actuator><motor "
                                                                "joint='h'/></actuator>" KEY(
                                                                    "ctrl='3'"),
     0, 1e-7},
};

static void actuated(void **state) {
  (void)state;
  motions(loads, COUNT(loads));
}

static void several_joints(void **state) {
  (void)state;
  matrices(chains, COUNT(chains));
}

static void several_joints_move(void **state) {
  (void)state;
  motions(chains, COUNT(chains));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(several_joints),
                                     cmocka_unit_test(several_joints_move),
                                     cmocka_unit_test(actuated)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
