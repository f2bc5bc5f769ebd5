// SPDX-License-Identifier: Apache-2.0
// Save and restore: a restored world goes on with the same bits, ids stay valid, and damaged data
// of any kind leaves the world as it was.
#include "check.h"
#include "old_hash.h"
#include "source_dir.h"
#include "toys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "model/model.h"
#include "world/world.h"

#define ROOM (1 << 20)

static unsigned char saved[ROOM], again[ROOM], damaged[ROOM];

static size_t save(const CnWorld *w, unsigned char *data) {
  size_t size, written;
  CHECK_OK(cn_world_save(w, NULL, 0, &size));
  CHECK(size <= ROOM);
  CHECK_OK(cn_world_save(w, data, size, &written));
  CHECK(written == size);
  return size;
}

// A heap of everything: balls and boxes with materials, joints, an eccentric body, a kinematic
// sweeper, gaps in the ids, loads waiting.
static CnWorld *mixture(void) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 5e-3;
  def.solver.max_iterations = 30;
  CnWorld *w = toy_world_from(&def);
  CnMaterialId rubber = toy_material(w, 0.9, 0.4), ice = toy_material(w, 0.05, 0);
  CnMaterialId gone = toy_material(w, 0.3, 0.3);
  CnBodyId last = {0, 0};
  toy_floor(w);
  CHECK_OK(cn_material_destroy(w, gone));
  for (int i = 0; i < 14; i++) {
    CnVec3 at = cn_vec3(0.13 * (i % 3), 0.02 * i, 0.15 + 0.12 * i);
    CnBodyId b = i % 2 ? toy_ball(w, 0.06, at, i % 4 == 1 ? rubber : ice)
                       : toy_box(w, cn_vec3(0.05, 0.06, 0.04), at, CN_QUAT_ONE);
    if (i % 5 == 4) {
      CnJointDef d = cn_joint_def_default(i % 2 ? CN_JOINT_BALL : CN_JOINT_DISTANCE);
      CnJointId joint;
      d.body_a = b;
      d.body_b = last;
      d.name = "link";
      if (d.kind == CN_JOINT_BALL) CHECK_OK(cn_joint_def_at(w, at, &d));
      CHECK_OK(cn_joint_create(w, &d, &joint));
    }
    if (i == 6 || i == 9) {
      CHECK_OK(cn_body_destroy(w, last));
      last = cn_world_next_body(w, (CnBodyId){0, 0});
    }
    last = b;
  }
  CnShapeDef extra = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId shape;
  extra.radius = 0.03;
  extra.pose.position = cn_vec3(0.05, 0.02, 0.04);
  CHECK_OK(cn_shape_create(w, last, &extra, &shape));
  CnForceDef spring = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId force;
  spring.body_a = last;
  spring.stiffness = 50;
  spring.damping = 1;
  spring.name = "spring";
  CHECK_OK(cn_force_create(w, &spring, &force));
  CnBodyDef sweeper = cn_body_def_default();
  CnShapeDef box = cn_shape_def_default(CN_SHAPE_BOX);
  CnBodyId body;
  sweeper.kind = CN_BODY_KINEMATIC;
  sweeper.name = "sweeper";
  sweeper.twist.spin.z = 3;
  sweeper.pose.position.z = 0.06;
  box.half_size = cn_vec3(0.5, 0.02, 0.05);
  CHECK_OK(cn_body_create(w, &sweeper, &body));
  CHECK_OK(cn_shape_create(w, body, &box, &shape));
  return w;
}

static void same_world(const CnWorld *a, const CnWorld *b) {
  size_t size = save(a, saved);
  CHECK(save(b, again) == size);
  assert_memory_equal(saved, again, size);
  CHECK(cn_world_hash(a) == cn_world_hash(b));
}

// Every tenth step of a run: restored here and in another world, all three go on alike.
static void test_continues(void **state) {
  (void)state;
  CnWorld *w = mixture(), *other = toy_world(0.1);
  toy_ball(other, 1, CN_VEC3_ZERO, (CnMaterialId){0, 0}); // will be replaced
  for (int i = 0; i < 12; i++) {
    CnBodyId b = cn_world_next_body(w, (CnBodyId){0, 0});
    b = cn_world_next_body(w, b);
    CHECK_OK(cn_body_apply_force(w, b, cn_vec3(1, 2, 3), CN_VEC3_ZERO));
    size_t size = save(w, damaged);
    CHECK_OK(cn_world_restore(other, damaged, size));
    same_world(w, other);
    toy_steps(w, 10);
    toy_steps(other, 10);
    same_world(w, other);
    CHECK_OK(cn_world_restore(other, damaged, size));
    toy_steps(other, 10);
    same_world(w, other);
  }
  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.contact_count > 10 && info.step == 120);
  cn_world_destroy(other);
  cn_world_destroy(w);
}

// What is created after a restore gets the ids it would have got without.
static void test_ids_continue(void **state) {
  (void)state;
  CnWorld *w = mixture(), *other = toy_world(0.1);
  CnBodyDef def = cn_body_def_default();
  def.mass = 1;
  def.inertia = cn_sdiag(1, 1, 1);
  CHECK_OK(cn_world_restore(other, saved, save(w, saved)));
  for (int i = 0; i < 8; i++) {
    CnBodyId a, b;
    if (i % 3 == 2) {
      a = cn_world_next_body(w, cn_world_next_body(w, (CnBodyId){0, 0}));
      CHECK_OK(cn_body_destroy(w, a));
      CHECK_OK(cn_body_destroy(other, a));
    }
    CHECK_OK(cn_body_create(w, &def, &a));
    CHECK_OK(cn_body_create(other, &def, &b));
    CHECK(a.slot == b.slot && a.generation == b.generation);
  }
  same_world(w, other);
  cn_world_destroy(other);
  cn_world_destroy(w);
}

static void test_capacity(void **state) {
  (void)state;
  CnWorld *w = mixture();
  size_t size, told;
  CHECK_OK(cn_world_save(w, NULL, 0, &size));
  memset(saved, 0xaa, sizeof saved);
  CHECK_STATUS(cn_world_save(w, saved, size - 1, &told), CN_INVALID_ARGUMENT);
  CHECK(told == size && saved[0] == 0xaa);
  CHECK_OK(cn_world_save(w, saved, sizeof saved, &told));
  CHECK(told == size && saved[size] == 0xaa);
  cn_world_destroy(w);
}

// Where the settings of a snapshot begin: behind the text of the layout.
static size_t settings_at(const unsigned char *data) {
  return 36 + ((size_t)data[32] | (size_t)data[33] << 8 | (size_t)data[34] << 16);
}

// The layout is part of the promise: an empty world's first bytes.
static void test_header(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.5);
  size_t size = save(w, saved);
  const unsigned char start[16] = {'C', 'A', 'I', 'R', 'N', 'S', 'N', 'P', 5, 0, 0, 0, 0, 0, 0, 0};
  assert_memory_equal(saved, start, 16);
  CHECK(saved[16] == (size & 0xff) && saved[17] == size >> 8);
  const unsigned char half[8] = {0, 0, 0, 0, 0, 0, 0xe0, 0x3f};
  assert_memory_equal(saved + 36, "record settings\nvector gravity\nnumber time_step\n", 48);
  assert_memory_equal(saved + settings_at(saved) + 24, half, 8);
  cn_world_destroy(w);
}

// ---- damage ----

static void refuse(CnWorld *w, size_t size) {
  size_t before = save(w, saved);
  CHECK_STATUS(cn_world_restore(w, damaged, size), CN_INVALID_DATA);
  CHECK(save(w, again) == before);
  assert_memory_equal(saved, again, before);
}

static void test_damage(void **state) {
  (void)state;
  CnWorld *w = mixture(), *target = toy_world(0.1);
  toy_steps(w, 60);
  toy_floor(target);
  toy_ball(target, 0.1, cn_vec3(0, 0, 0.1), (CnMaterialId){0, 0});
  toy_steps(target, 3);
  size_t size = save(w, damaged);
  CniRng rng = {99};
  // any byte, any length: the checksum, the size or the magic tell
  for (int i = 0; i < 1500; i++) {
    size_t at = i < 64 ? (size_t)i : (size_t)(cni_rng_unit(&rng) * (double)size);
    unsigned char bit = (unsigned char)(1u << (i % 8));
    damaged[at] ^= bit;
    refuse(target, size);
    damaged[at] ^= bit;
  }
  for (int i = 0; i < 300; i++)
    refuse(target, i < 40 ? (size_t)i : (size_t)(cni_rng_unit(&rng) * (double)size));
  damaged[size] = 0;
  refuse(target, size + 1);
  CHECK_OK(cn_world_restore(target, damaged, size));
  cn_world_destroy(target);
  cn_world_destroy(w);
}

// Damage under a good checksum: refused, or a world that can be used. `settings` is where settings
// end; behind it a changed number cannot make a step endless.
static void use(CnWorld *w, size_t at, size_t settings) {
  CnPenetration penetration;
  CnWorldSums sums;
  CnContact contact;
  CnWorldInfo info;
  cn_world_sums(w, &sums);
  cn_world_info(w, &info);
  for (int32_t i = 0; i < info.contact_count; i++) CHECK_OK(cn_world_contact(w, i, &contact));
  if (at < settings) return;
  (void)cn_world_step(w, NULL);
  (void)cn_world_penetration(w, &penetration);
  for (CnBodyId b = cn_world_next_body(w, (CnBodyId){0, 0}); b.slot; b = cn_world_next_body(w, b))
    CHECK_OK(cn_body_destroy(w, b));
  CHECK_OK(cni_model_consistent(&w->now.model));
}

static unsigned char good[ROOM];

// Bytes from .. to of the snapshot in `good`, one way after the other.
static void damage_sealed(size_t size, size_t from, size_t to, size_t settings, int tries,
                          int least_taken) {
  CnWorld *target = toy_world(0.1);
  CniRng rng = {7};
  int refused = 0, taken = 0;
  for (int i = 0; i < tries; i++) {
    memcpy(damaged, good, size);
    size_t length = size, at = from + (size_t)(cni_rng_unit(&rng) * (double)(to - from));
    int way = i % 4;
    if (way == 0) damaged[at] ^= (unsigned char)(1u << (i / 4 % 8));
    if (way == 1) damaged[at] = (unsigned char)cni_rng_next(&rng);
    if (way == 2) memset(damaged + at, i % 8 < 4 ? 0xff : 0x7f, at + 8 < size ? 8 : 1);
    if (way == 3) length = at;
    cni_snapshot_seal(damaged, length);
    size_t before = save(target, saved);
    CnStatus status = cn_world_restore(target, damaged, length);
    if (status == CN_OK) {
      taken++;
      use(target, at, settings);
      continue;
    }
    refused++;
    CHECK(status == CN_INVALID_DATA);
    CHECK(save(target, again) == before);
    assert_memory_equal(saved, again, before);
  }
  CHECK(refused > tries / 4 && taken >= least_taken);
  cn_world_destroy(target);
}

static void test_sealed_damage(void **state) {
  (void)state;
  CnWorld *w = mixture();
  toy_steps(w, 60);
  size_t size = save(w, good), settings = settings_at(good);
  damage_sealed(size, settings, size, settings + 400, 3000, 100);
  damage_sealed(size, 32, settings, SIZE_MAX, 800, 0);
  cn_world_destroy(w);
}

// ---- fields by name ----

// The place of a text in the layout.
static unsigned char *find_text(unsigned char *data, const char *text) {
  for (size_t i = 36; i + strlen(text) <= settings_at(data); i++)
    if (memcmp(data + i, text, strlen(text)) == 0) return data + i;
  fail_msg("the layout lacks '%s'", text);
  return data;
}

static void refuse_with(CnWorld *w, size_t size, const char *message) {
  cni_snapshot_seal(damaged, size);
  refuse(w, size);
  assert_string_equal(cn_error_message(), message);
}

// Names that this version does not know: a field, a solver, a sort of record, a kind in use.
static void test_unknown_names(void **state) {
  (void)state;
  static const struct {
    const char *text, *other, *message;
  } cases[] = {
      {"number contact_slop\n", "number contact_slip\n",
       "snapshot: settings has a field 'contact_slip', which is unknown here"},
      {"number contact_slop\n", "vector contact_slop\n",
       "snapshot: field 'contact_slop' is a vector, here a number"},
      {"number radius\n", "number radios\n",
       "snapshot: shape sphere has a field 'radios', which is unknown here"},
      {"number contact_slop\n", "number contact_sl p\n",
       "snapshot: settings has a field 'contact_sl', which is unknown here"},
      {"number contact_slop\n", "number  ontact_slop\n",
       "snapshot: its layout cannot be read behind 'number'"},
      {"number contact_margin\n", "number recovery_speed\n",
       "snapshot: its layout has twice 'recovery_speed'"},
      {"record turning\n", "record contact\n", "snapshot: its layout has twice 'contact'"},
      {"record turning\n", "record tendons\n",
       "snapshot: it has records 'tendons', which are unknown here"},
      {"record settings\n", "number settings\n",
       "snapshot: its layout does not begin with 'record'"},
      {"sphere box plane", "sphere bux plane", "snapshot: kind 'bux' is unknown here"},
      {"choice kind spring", "choice kind sprung", "snapshot: kind 'sprung' is unknown here"},
      {"ball distance", "ball distonce", "snapshot: kind 'distonce' is unknown here"},
  };
  CnWorld *w = mixture(), *target = toy_world(0.1);
  toy_steps(w, 30);
  size_t size = save(w, good);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK(strlen(cases[i].text) == strlen(cases[i].other));
    memcpy(damaged, good, size);
    memcpy(find_text(damaged, cases[i].text), cases[i].other, strlen(cases[i].other));
    refuse_with(target, size, cases[i].message);
  }
  memcpy(damaged, good, size);
  unsigned char *at = damaged + settings_at(damaged);
  while (memcmp(at, "auto", 4) != 0) at++;
  memcpy(at, "auta", 4);
  refuse_with(target, size, "snapshot: name 'auta' is unknown here");
  cn_world_destroy(target);
  cn_world_destroy(w);
}

// A kind that nothing is of may be unknown, and a field may be missing: it takes its default.
static void test_missing_names(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.contact_slop = 0.125;
  def.contact_margin = 0.25;
  CnWorld *w = toy_world_from(&def), *target = toy_world(0.1);
  toy_ball(w, 0.1, cn_vec3(0, 0, 1), (CnMaterialId){0, 0});
  size_t size = save(w, good);
  memcpy(find_text(good, "sphere box plane"), "sphere bux plane", 16);
  const char *line = "number contact_slop\n";
  size_t length = strlen(line), settings = settings_at(good);
  unsigned char *at = find_text(good, line);
  memmove(at, at + length, size - (size_t)(at - good) - length);
  uint32_t text = (uint32_t)(settings - 36 - length);
  for (int i = 0; i < 4; i++) good[32 + i] = (unsigned char)(text >> 8 * i);
  size -= length;
  settings -= length;
  size_t slop = settings + 24 + 3 * 8; // behind gravity, the time step and two shares
  memmove(good + slop, good + slop + 8, size - slop - 8);
  size -= 8;
  cni_snapshot_seal(good, size);
  CHECK_OK(cn_world_restore(target, good, size));
  CHECK(target->now.settings.contact_slop == 0 && target->now.settings.contact_margin == 0.25);
  CHECK(cn_world_hash(target) == cn_world_hash(w));
  cn_world_destroy(target);
  cn_world_destroy(w);
}

// ---- a snapshot of Cairn 0.1 ----

static size_t read_old(unsigned char *data) {
  FILE *file = fopen(CAIRN_SOURCE_DIR "/tests/data/snapshot-0.1.bin", "rb");
  assert_non_null(file);
  size_t size = fread(data, 1, ROOM, file);
  fclose(file);
  return size;
}

// Loads with the state that 0.1 had (tests/data/README.md), and goes on as from the form of now; not
// with the bits of 0.1, whose open contacts were not aimed.
static void test_old_snapshot(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.1), *other = toy_world(0.1);
  size_t size = read_old(good);
  CHECK_OK(cn_world_restore(w, good, size));
  CHECK(old_hash(w) == 0xe42cb76c924cd1fdu);
  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.contact_count == 23 && info.step == 160 && info.joint_count == 2);
  CHECK(info.time_step == 4e-3 && info.gravity.x == 0.1);
  const CniSettings *s = &w->now.settings;
  assert_string_equal(s->solver.name, "pssor");
  CHECK(s->solver.max_iterations == 25 && s->solver.facets == 12 && s->contact_slop == 1e-4);
  CHECK(s->integration.impact == CN_IMPACT_SEQUENTIAL && s->integration.max_events == 777);
  CHECK_OK(cn_world_restore(other, damaged, save(w, damaged))); // in the form of now
  toy_steps(w, 200);
  toy_steps(other, 200);
  same_world(w, other);
  cn_world_destroy(other);
  cn_world_destroy(w);
  damage_sealed(size, 32, size, 32 + 400, 800, 40);
}

// Pairs of balls at exactly their margin, one unit of the last place to either side, beside a body
// so fast that lists of candidates are made anew in each step: a copy that knows no list finds the
// same contacts, with either broad phase.
static void test_ties(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1e-3;
  def.gravity = CN_VEC3_ZERO;
  CnWorld *w = toy_world_from(&def);
  CnMaterialId plain = toy_material(w, 0.5, 0);
  CniRng rng = {7};
  int differ = 0;
  for (int i = 0; i < 400; i++) {
    double r = cni_rng_range(&rng, 0.05, 0.15), z = 1e-4 * (int)cni_rng_range(&rng, 0, 1e5);
    double up = z + (2 * r + 0.05 * r);
    for (int k = i % 5 - 2; k; k += k < 0 ? 1 : -1) up = nextafter(up, k < 0 ? -1e9 : 1e9);
    toy_ball(w, r, cn_vec3(3 * (i % 20), 3 * (i / 20), z), plain);
    toy_ball(w, r, cn_vec3(3 * (i % 20), 3 * (i / 20), up), plain);
  }
  CnBodyId fast = toy_ball(w, 0.1, cn_vec3(0, -50, 0), plain);
  CnTwist hurry = {{1e4, 0, 0}, {0, 0, 0}};
  CHECK_OK(cn_body_set_twist(w, fast, &hurry));
  for (int step = 0; step < 12; step++) {
    size_t size = save(w, saved);
    CnStepReport went_on, restored;
    CHECK_OK(cn_world_step(w, &went_on));
    for (int phase = 0; phase < 2; phase++) {
      def.broad_phase = cn_broad_phase_name(phase);
      CnWorld *copy = toy_world_from(&def);
      CHECK_OK(cn_world_restore(copy, saved, size));
      CHECK_OK(cn_world_step(copy, &restored));
      differ += went_on.contact_count != restored.contact_count;
      cn_world_destroy(copy);
    }
  }
  CHECK(differ == 0);
  cn_world_destroy(w);
}

// Events belong to the step that was made last; after a restore there is none.
static void test_events_end(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  const CnLocatedEvent *events;
  int32_t count;
  size_t size;
  def.integrator = "rkf45";
  def.time_step = .05;
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  toy_ball(w, .1, cn_vec3(0, 0, .12), toy_material(w, 0, .9));
  CHECK_OK(cn_world_save(w, saved, ROOM, &size));
  do {
    toy_steps(w, 1);
    cn_world_located_events(w, &events, &count);
  } while (count == 0);
  CHECK_OK(cn_world_restore(w, saved, size));
  cn_world_located_events(w, &events, &count);
  CHECK(count == 0);
  cn_world_destroy(w);
}

// What a joint's kind has no use for is not kept, so that a restored world judges its joints alike: a ball
// joint that is open, with a distance.
static void test_unread_distance(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *w = toy_world_from(&def), *copy = toy_world_from(&def);
  CnJointDef ball = cn_joint_def_default(CN_JOINT_BALL), kept;
  CnJointId joint;
  ball.body_a = toy_ball(w, 0.1, cn_vec3(0, 0, 1), (CnMaterialId){0, 0});
  ball.frame_a.position.x = 0.1;
  ball.frame_b.position = cn_vec3(0, 0, 1);
  ball.distance = 3;
  CHECK_OK(cn_joint_create(w, &ball, &joint));
  CHECK_OK(cn_joint_def(w, joint, &kept));
  CHECK(kept.distance == 0);
  CHECK_OK(cn_world_restore(copy, saved, save(w, saved)));
  for (int i = 0; i < 2; i++) CHECK_OK(cn_world_step(i ? copy : w, NULL));
  size_t size = save(w, saved);
  CHECK(save(copy, again) == size && memcmp(saved, again, size) == 0);
  cn_world_destroy(copy);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_continues),     cmocka_unit_test(test_ids_continue),
      cmocka_unit_test(test_capacity),      cmocka_unit_test(test_header),
      cmocka_unit_test(test_damage),        cmocka_unit_test(test_sealed_damage),
      cmocka_unit_test(test_unknown_names), cmocka_unit_test(test_missing_names),
      cmocka_unit_test(test_old_snapshot),  cmocka_unit_test(test_ties),
      cmocka_unit_test(test_events_end),    cmocka_unit_test(test_unread_distance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
