// SPDX-License-Identifier: Apache-2.0
// Matrices of machines by C query: mass matrix, Jacobian, freedoms, basis, generalised loads.
#include "check.h"

#include <cairn/mechanism.h>
#include <stdlib.h>

#include "core/math.h"
#include "toys.h"
#include "worlds.h"

static const double G = 9.81;

static CnMachine *machine_of(CnWorld *world, CnMachineInfo *info) {
  CnMachine *machine;
  CHECK_OK(cn_machine_create(world, NULL, &machine));
  CHECK_OK(cn_machine_info(machine, info));
  return machine;
}

// Two rods of 1 m and 1 kg hanging at angles t1 and t2 from the vertical. In the angles t1 and
// t2 - t1: M = [4/3 + 1/3 + c, 1/3 + c/2; ., 1/3], c = cos(t2 - t1).
static void double_pendulum(void **state) {
  (void)state;
  const CnVec3 minus_y = {0, -1, 0};
  double t1 = 0.5, t2 = 1.3, c = cni_cos(t2 - t1);
  CnWorld *w = toy_world(1e-3);
  CnVec3 p1 = cn_vec3(cni_sin(t1), 0, -cni_cos(t1)), d2 = cn_vec3(cni_sin(t2), 0, -cni_cos(t2));
  CnBodyId a = world_part(w, 1, 1.0 / 12, cn_scale(0.5, p1), -t1);
  CnBodyId b = world_part(w, 1, 1.0 / 12, cn_madd(p1, 0.5, d2), -t2);
  CnJointId j1 = world_join(w, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, a, CN_VEC3_ZERO, minus_y, NULL);
  CnJointId j2 = world_join(w, CN_JOINT_REVOLUTE, a, b, p1, minus_y, NULL);
  CnMachineInfo info;
  CnMachine *m = machine_of(w, &info);
  CHECK(info.body_count == 2 && info.row_count == 10 && info.freedom_count == 2);
  CHECK(info.dependent_count == 0);
  CnMachineFreedom f;
  CHECK_OK(cn_machine_freedom(m, 0, &f));
  CHECK(f.joint.slot == j1.slot && f.coordinate == 0);
  CHECK_OK(cn_machine_freedom(m, 1, &f));
  CHECK(f.joint.slot == j2.slot);
  double mass[4], load[2], basis[24], jacobian[120];
  int32_t rows, columns;
  CHECK_OK(cn_machine_matrix(m, CN_MACHINE_REDUCED_MASS, mass, 4, &rows, &columns));
  CHECK(rows == 2 && columns == 2);
  CHECK_NEAR(mass[0], 5.0 / 3 + c, 1e-12);
  CHECK_NEAR(mass[1], 1.0 / 3 + c / 2, 1e-12);
  CHECK_NEAR(mass[2], 1.0 / 3 + c / 2, 1e-12);
  CHECK_NEAR(mass[3], 1.0 / 3, 1e-12);
  CHECK_OK(cn_machine_matrix(m, CN_MACHINE_REDUCED_LOADS, load, 2, NULL, NULL));
  CHECK_NEAR(load[1], -0.5 * G * cni_sin(t2), 1e-12);
  CHECK_NEAR(load[0], -1.5 * G * cni_sin(t1) - 0.5 * G * cni_sin(t2), 1e-12);
  // free motions open no joint
  CHECK_OK(cn_machine_matrix(m, CN_MACHINE_BASIS, basis, 24, NULL, NULL));
  CHECK_OK(cn_machine_matrix(m, CN_MACHINE_JACOBIAN, jacobian, 120, NULL, NULL));
  for (int i = 0; i < 10; i++)
    for (int k = 0; k < 2; k++) {
      double sum = 0;
      for (int j = 0; j < 12; j++) sum += jacobian[12 * i + j] * basis[2 * j + k];
      CHECK_NEAR(sum, 0, 1e-13);
    }
  CnMachineRow row;
  CHECK_OK(cn_machine_row(m, 7, &row));
  CHECK(row.kind == CN_MACHINE_LOCKED && row.joint.slot == j2.slot && row.index == 2);
  CHECK_NEAR(row.error, 0, 1e-15);
  CHECK_STATUS(cn_machine_row(m, 10, &row), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_machine_matrix(m, CN_MACHINE_MASS, mass, 4, NULL, NULL), CN_INVALID_ARGUMENT);
  cn_machine_destroy(m);
  cn_world_destroy(w);
}

// Crank r .1 m 1 kg, rod l .4 m 2 kg, slider 3 kg: the inertia that the crank sees,
// J = m1 r^2/3 + m2 v2^2 + J2 p'^2 + m3 s'^2 with s' = ds/dth; an armature is added to it.
static void slider_crank(void **state) {
  (void)state;
  const CnVec3 y = {0, 1, 0};
  double r = 0.1, l = 0.4, th = 0.7, st = cni_sin(th), ct = cni_cos(th);
  double phi = cni_asin(r * st / l), cp = cni_cos(phi);
  CnWorldDef settings = cn_world_def_default();
  settings.gravity = CN_VEC3_ZERO;
  CnWorld *w = toy_world_from(&settings);
  CnVec3 pin = cn_vec3(r * ct, 0, r * st), head = cn_vec3(r * ct + l * cp, 0, 0);
  CnBodyId crank = world_part(w, 1, r * r / 12, cn_scale(0.5, pin), -th);
  CnBodyId rod = world_part(w, 2, 2 * l * l / 12, cn_scale(0.5, cn_add(pin, head)), phi);
  CnBodyId slider = world_part(w, 3, 1, head, 0);
  CnJointId j1 =
      world_join(w, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, crank, CN_VEC3_ZERO, cn_neg(y), NULL);
  world_join(w, CN_JOINT_REVOLUTE, crank, rod, pin, y, NULL);
  world_join(w, CN_JOINT_REVOLUTE, rod, slider, head, y, NULL);
  world_join(w, CN_JOINT_PRISMATIC, (CnBodyId){0, 0}, slider, head, cn_vec3(1, 0, 0), NULL);
  CnMachineInfo info;
  CnMachine *m = machine_of(w, &info);
  // three hinges in a plane hold the loop three times too often
  CHECK(info.freedom_count == 1 && info.row_count == 20 && info.dependent_count == 3);
  double phi1 = r * ct / (l * cp), s1 = -r * st - l * cni_sin(phi) * phi1;
  double vx = -r * st - 0.5 * l * cni_sin(phi) * phi1, vz = 0.5 * r * ct, mass;
  double truth = r * r / 3 + 2 * (vx * vx + vz * vz) + 2 * l * l / 12 * phi1 * phi1 + 3 * s1 * s1;
  CHECK_OK(cn_machine_matrix(m, CN_MACHINE_REDUCED_MASS, &mass, 1, NULL, NULL));
  CHECK_REL(mass, truth, 1e-12);
  cn_machine_destroy(m);
  CnJointDef def;
  CHECK_OK(cn_joint_def(w, j1, &def));
  def.axes[0].armature = 0.02;
  CHECK_OK(cn_joint_set(w, j1, &def));
  m = machine_of(w, &info);
  CHECK_OK(cn_machine_matrix(m, CN_MACHINE_REDUCED_MASS, &mass, 1, NULL, NULL));
  CHECK_REL(mass, truth + 0.02, 1e-12);
  cn_machine_destroy(m);
  cn_world_destroy(w);
}

// A free body has its own six directions.
static void free_body(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  toy_floor(w);
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(0, 0, 0.1), (CnMaterialId){0, 0});
  CnMachineInfo info;
  CnMachine *m = machine_of(w, &info);
  CnMachineFreedom f;
  CnBodyId body;
  CHECK(info.freedom_count == 6 && info.row_count == 0);
  CHECK_OK(cn_machine_freedom(m, 4, &f));
  CHECK_OK(cn_machine_body(m, 0, &body));
  CHECK(f.body.slot == ball.slot && body.slot == ball.slot && f.coordinate == 4);
  cn_machine_destroy(m);
  CnMachineDef def = cn_machine_def_default();
  def.contacts = CN_CONTACTS_STICKING;
  CHECK_OK(cn_machine_create(w, &def, &m));
  CHECK_OK(cn_machine_info(m, &info));
  CHECK(info.freedom_count == 3 && info.row_count == 3);
  cn_machine_destroy(m);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(double_pendulum),
                                     cmocka_unit_test(slider_crank), cmocka_unit_test(free_body)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
