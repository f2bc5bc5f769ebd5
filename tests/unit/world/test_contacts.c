// SPDX-License-Identifier: Apache-2.0
// Contacts as users see them: forces, torques, events, overlaps, and the two hooks.
#include "check.h"
#include "toys.h"

#include "core/math.h"

static const CnMaterialId no_material = {0, 0};

static double mass_of(CnWorld *w, CnBodyId body) {
  CnBodyInfo info;
  CHECK_OK(cn_body_info(w, body, &info));
  return info.mass;
}

static CnWorldDef sharp(void) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.solver.max_iterations = 500;
  def.solver.tolerance = 0;
  return def;
}

static void test_resting_ball(void **state) {
  (void)state;
  CnWorldDef def = sharp();
  CnWorld *w = toy_world_from(&def);
  CnBodyId floor = toy_floor(w);
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(0, 0, 0.1), no_material);
  double weight = 9.81 * mass_of(w, ball);
  CnContact c;
  CHECK_STATUS(cn_world_contact(w, 0, &c), CN_INVALID_ARGUMENT);
  toy_steps(w, 20);
  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.contact_count == 1);
  CHECK_OK(cn_world_contact(w, 0, &c));
  // a is the floor, whose shape is older; the normal points from it to the ball
  CHECK(c.body_a.slot == floor.slot && c.body_b.slot == ball.slot);
  CHECK(c.shape_b.slot == cn_body_shape(w, ball, 0).slot);
  CHECK(c.shape_b.generation == cn_body_shape(w, ball, 0).generation);
  CHECK_NEAR(c.normal.z, 1, 1e-15);
  CHECK_REL(c.force.z, weight, 1e-9);
  CHECK_REL(c.impulse.z, weight * 0.01, 1e-9);
  CHECK_NEAR(c.force.x, 0, 1e-9);
  CHECK_NEAR(c.point.z, 0, 1e-9);
  CHECK_NEAR(c.gap, 0, 1e-9);
  CHECK_STATUS(cn_world_contact(w, 1, &c), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_contact(w, -1, &c), CN_INVALID_ARGUMENT);
  CHECK(c.body_a.slot == 0);
  cn_world_destroy(w);
}

// A box resting on its face: up to eight points, whose forces add up to the weight.
static void test_resting_box(void **state) {
  (void)state;
  CnWorldDef def = sharp();
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId box = toy_box(w, cn_vec3(0.2, 0.1, 0.05), cn_vec3(0, 0, 0.05), CN_QUAT_ONE);
  toy_steps(w, 20);
  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.contact_count == 4);
  double sum = 0;
  for (int32_t i = 0; i < info.contact_count; i++) {
    CnContact c, previous;
    CHECK_OK(cn_world_contact(w, i, &c));
    sum += c.force.z;
    if (i == 0) continue;
    CHECK_OK(cn_world_contact(w, i - 1, &previous));
    CHECK(previous.feature < c.feature);
  }
  CHECK_REL(sum, 9.81 * mass_of(w, box), 1e-9);
  cn_world_destroy(w);
}

// Rolling resistance: a torque against the roll, at most length times normal force.
static void test_rolling_torque(void **state) {
  (void)state;
  CnWorldDef def = sharp();
  CnWorld *w = toy_world_from(&def);
  CnMaterialDef m = cn_material_def_default();
  CnMaterialId material;
  m.rolling_friction = 2e-3;
  CHECK_OK(cn_material_create(w, &m, &material));
  toy_floor(w);
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(0, 0, 0.1), material);
  toy_set_twist(w, ball, cn_vec3(1, 0, 0), cn_vec3(0, 10, 0));
  toy_steps(w, 5);
  CnContact c;
  CHECK_OK(cn_world_contact(w, 0, &c));
  CHECK_REL(c.torque.y, -2e-3 * c.force.z, 1e-6);
  cn_world_destroy(w);
}

// ---- events ----

static int32_t events(const CnWorld *w, CnContactEvent *first) {
  const CnContactEvent *list;
  int32_t count;
  cn_world_events(w, &list, &count);
  *first = count > 0 ? list[0] : (CnContactEvent){0};
  return count;
}

static void test_events(void **state) {
  (void)state;
  CnWorldDef def = sharp();
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(0, 0, 0.15), no_material);
  CnShapeId shape = cn_body_shape(w, ball, 0);
  CnContactEvent e;
  int began = 0, ended = 0;
  for (int i = 0; i < 30; i++) {
    toy_steps(w, 1);
    if (events(w, &e) == 0) continue;
    CHECK(e.kind == CN_CONTACT_BEGAN);
    CHECK(e.shape_b.slot == shape.slot && e.shape_b.generation == shape.generation);
    began++;
  }
  CHECK(began == 1);
  // up and away
  toy_set_twist(w, ball, cn_vec3(0, 0, 3), CN_VEC3_ZERO);
  for (int i = 0; i < 10; i++) {
    toy_steps(w, 1);
    if (events(w, &e) == 0) continue;
    CHECK(e.kind == CN_CONTACT_ENDED);
    ended++;
  }
  CHECK(ended == 1);
  cn_world_destroy(w);
}

// A ball destroyed while it touches: the end is told, under its old id; its successor in the same
// slot begins anew, sorted after it.
static void test_events_of_destroyed(void **state) {
  (void)state;
  CnWorldDef def = sharp();
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(0, 0, 0.1), no_material);
  CnShapeId old = cn_body_shape(w, ball, 0);
  toy_steps(w, 5);
  CHECK_OK(cn_body_destroy(w, ball));
  CnContact c;
  CHECK_OK(cn_world_contact(w, 0, &c)); // the last step's contact is still told
  CHECK(c.shape_b.generation == old.generation);
  ball = toy_ball(w, 0.1, cn_vec3(0, 0, 0.1), no_material);
  CnShapeId new = cn_body_shape(w, ball, 0);
  CHECK(new.slot == old.slot &&new.generation != old.generation);
  toy_steps(w, 1);
  const CnContactEvent *list;
  int32_t count;
  cn_world_events(w, &list, &count);
  CHECK(count == 2);
  CHECK(list[0].kind == CN_CONTACT_ENDED && list[0].shape_b.generation == old.generation);
  CHECK(list[1].kind == CN_CONTACT_BEGAN && list[1].shape_b.generation == new.generation);
  CHECK_OK(cn_body_destroy(w, ball));
  toy_steps(w, 1);
  cn_world_events(w, &list, &count);
  CHECK(count == 1 && list[0].kind == CN_CONTACT_ENDED);
  cn_world_destroy(w);
}

// ---- overlaps ----

static void test_penetration(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  toy_floor(w);
  toy_ball(w, 0.1, cn_vec3(0, 0, 0.09), no_material);                    // 0.01 into the floor
  toy_ball(w, 0.1, cn_vec3(5, 0, 1), no_material);                       // free
  toy_ball(w, 0.1, cn_vec3(5, 0.17, 1), no_material);                    // 0.03 into the former
  toy_ball(w, 0.1, cn_vec3(8, 0, 0.1001), no_material);                  // just above
  toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(11, 0, 0.08), CN_QUAT_ONE); // 0.02, four points
  CnPenetration p;
  CHECK_OK(cn_world_penetration(w, &p));
  CHECK(p.overlap_count == 3);
  CHECK_NEAR(p.max, 0.03, 1e-14);
  CHECK_NEAR(p.mean, 0.02, 1e-14);
  cn_world_destroy(w);
}

// ---- hooks ----

typedef struct Rules {
  CnWorld *world;
  CnShapeId hidden;
  int32_t filter_calls, modify_calls;
} Rules;

static int32_t hide(void *context, const CnWorld *world, CnShapeId a, CnShapeId b) {
  Rules *rules = context;
  rules->filter_calls++;
  // here not even loads may change
  CnBodyId first = cn_world_next_body(world, (CnBodyId){0, 0});
  if (rules->world) CHECK_STATUS(cn_body_apply_torque(rules->world, first, CN_VEC3_ZERO), CN_BUSY);
  return a.slot != rules->hidden.slot && b.slot != rules->hidden.slot;
}

static void test_filter(void **state) {
  (void)state;
  Rules rules = {NULL, {0, 0}, 0, 0};
  CnWorldDef def = sharp();
  def.hooks.filter = hide;
  def.hooks.context = &rules;
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId seen = toy_ball(w, 0.1, cn_vec3(0, 0, 0.1), no_material);
  CnBodyId unseen = toy_ball(w, 0.1, cn_vec3(1, 0, 0.1), no_material);
  rules.hidden = cn_body_shape(w, unseen, 0);
  rules.world = w;
  toy_steps(w, 10);
  rules.world = NULL;
  CHECK(rules.filter_calls > 0);
  CHECK_NEAR(toy_pose(w, seen).position.z, 0.1, 1e-6);
  CHECK_NEAR(toy_twist(w, unseen).velocity.z, -0.981, 1e-12);
  CnPenetration p;
  CHECK_OK(cn_world_penetration(w, &p));
  CHECK(p.max < 1e-6);
  cn_world_destroy(w);
}

static void drive(void *context, const CnWorld *world, CnContactTuning *contact) {
  Rules *rules = context;
  CnBodyInfo info;
  CHECK_OK(cn_body_info(world, contact->body_b, &info));
  rules->modify_calls++;
  CHECK_NEAR(contact->normal.z, 1, 1e-12);
  CHECK_NEAR(contact->friction, 0.5, 0);
  if (info.user_data == 1) contact->enabled = 0;
  if (info.user_data == 2) contact->friction = 0;
  if (info.user_data == 3) contact->surface_velocity = cn_vec3(1, 0, 0);
}

// Three boxes: one falls through, one slides without friction, one is carried by a belt.
static void test_modify(void **state) {
  (void)state;
  Rules rules = {NULL, {0, 0}, 0, 0};
  CnWorldDef def = sharp();
  def.hooks.modify = drive;
  def.hooks.context = &rules;
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId bodies[3];
  for (int i = 0; i < 3; i++) {
    CnBodyDef body = cn_body_def_default();
    CnShapeDef box = cn_shape_def_default(CN_SHAPE_BOX);
    CnShapeId shape;
    body.pose.position = cn_vec3(2.0 * i, 0, 0.1);
    body.user_data = (uint64_t)(i + 1);
    box.half_size = cn_vec3(0.1, 0.1, 0.1);
    CHECK_OK(cn_body_create(w, &body, &bodies[i]));
    CHECK_OK(cn_shape_create(w, bodies[i], &box, &shape));
  }
  toy_set_twist(w, bodies[1], cn_vec3(2, 0, 0), CN_VEC3_ZERO);
  CnStepReport report;
  for (int i = 0; i < 10; i++) CHECK_OK(cn_world_step(w, &report));
  CHECK(rules.modify_calls >= 3 * 4 * 9);
  CHECK(report.contact_count == 8); // those of the first box are out
  CHECK_NEAR(toy_twist(w, bodies[0]).velocity.z, -0.981, 1e-12);
  CHECK_NEAR(toy_twist(w, bodies[1]).velocity.x, 2, 1e-9);
  // friction mu g works for the belt until the speeds agree: 0.4905 m/s in 0.1 s. The surface
  // velocity is b's relative to a's, so the body goes the other way.
  CHECK_NEAR(toy_twist(w, bodies[2]).velocity.x, -0.5 * 9.81 * 0.1, 1e-6);
  cn_world_destroy(w);
}

static void check_same_place(const CnContact *a, const CnContact *b) {
  CHECK(a->shape_a.slot == b->shape_a.slot && a->shape_b.slot == b->shape_b.slot);
  assert_memory_equal(&a->point, &b->point, sizeof a->point);
  assert_memory_equal(&a->normal, &b->normal, sizeof a->normal);
  assert_memory_equal(&a->gap, &b->gap, sizeof a->gap);
  assert_memory_equal(&a->impulse, &b->impulse, sizeof a->impulse);
}

// A contact speaks of its step, whatever becomes of the bodies afterwards.
static void test_own_step(void **state) {
  (void)state;
  CnWorldDef def = sharp();
  CnWorld *w = toy_world_from(&def);
  CnBodyId other = toy_ball(w, 0.1, cn_vec3(5, 0, 0), no_material);
  CnBodyId a = toy_ball(w, 0.1, cn_vec3(0, 0, 0), no_material);
  CnBodyId b = toy_ball(w, 0.2, cn_vec3(0.299, 0, 0), no_material);
  toy_set_twist(w, b, cn_vec3(-1, 0, 0), CN_VEC3_ZERO);
  toy_steps(w, 1);
  CnContact first, c;
  CHECK_OK(cn_world_contact(w, 0, &first));
  CHECK_NEAR(first.gap, -0.001, 1e-15);
  CHECK_NEAR(first.normal.x, 1, 0);
  CHECK(fabs(toy_pose(w, a).position.x) > 1e-4); // it has moved since
  CnPose far = {{1, 2, 3}, CN_QUAT_ONE};
  CHECK_OK(cn_body_set_pose(w, a, &far));
  toy_ball(w, 0.1, cn_vec3(0, 0, 5), no_material);
  CHECK_OK(cn_world_contact(w, 0, &c));
  check_same_place(&first, &c);
  CHECK_OK(cn_body_destroy(w, other)); // another body moves to its place
  CHECK_OK(cn_world_contact(w, 0, &c));
  check_same_place(&first, &c);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_resting_ball),
      cmocka_unit_test(test_resting_box),
      cmocka_unit_test(test_rolling_torque),
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_events_of_destroyed),
      cmocka_unit_test(test_penetration),
      cmocka_unit_test(test_filter),
      cmocka_unit_test(test_modify),
      cmocka_unit_test(test_own_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
