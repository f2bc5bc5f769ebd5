// SPDX-License-Identifier: Apache-2.0
// Groups of scenes: who ignores whom; triggers by the sensor that counts overlaps.
#include "check.h"

#include <cairn/query.h>
#include <cairn/scene.h>
#include <stdio.h>
#include <string.h>

static CnScene *scene_of(const char *text) {
  CnScene *scene;
  CHECK_OK(cn_scene_parse(text, strlen(text), "groups", NULL, 0, NULL, &scene));
  return scene;
}

static CnWorld *world_of(const CnScene *scene) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill((CnScene *)(uintptr_t)scene, world));
  return world;
}

// Balls one over another on a floor: which of them have contacts with whom.
static const char stack[] =
    "{\"groups\": {\"a\": {\"ignores\": [\"b\"]}, \"b\": {}, \"c\": {\"ignores\": [\"c\"]}},"
    "\"bodies\": [{\"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
    "{\"name\": \"one\", %s \"position\": [0, 0, 0.1], \"shapes\": [{\"kind\": \"sphere\", "
    "\"radius\": 0.1}]},"
    "{\"name\": \"two\", %s \"position\": [0, 0, 0.3], \"shapes\": [{\"kind\": \"sphere\", "
    "\"radius\": 0.1}]}]}";

static int32_t contacts_between(const char *first, const char *second) {
  char text[1024];
  snprintf(text, sizeof text, stack, first, second);
  CnScene *scene = scene_of(text);
  CnWorld *world = world_of(scene);
  CnBodyId floor = cn_world_next_body(world, (CnBodyId){0, 0});
  CnBodyId one = cn_world_next_body(world, floor), two = cn_world_next_body(world, one);
  CHECK_OK(cn_world_step(world, NULL));
  int32_t count, list[4];
  CHECK_OK(cn_world_contacts_of(world, one, floor, list, 4, &count));
  CHECK(count == 1);
  CnContact contact;
  CHECK_OK(cn_world_contact(world, list[0], &contact));
  CHECK(contact.body_a.slot == floor.slot && contact.body_b.slot == one.slot);
  CHECK_OK(cn_world_contacts_of(world, two, one, list, 4, &count));
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return count;
}

static void groups(void **state) {
  (void)state;
  CHECK(contacts_between("", "") == 1);
  CHECK(contacts_between("\"group\": \"a\",", "\"group\": \"b\",") == 0);
  CHECK(contacts_between("\"group\": \"b\",", "\"group\": \"a\",") == 0);
  CHECK(contacts_between("\"group\": \"a\",", "\"group\": \"a\",") == 1);
  CHECK(contacts_between("\"group\": \"a\",", "") == 1);
  CHECK(contacts_between("\"group\": \"c\",", "\"group\": \"c\",") == 0);
  CHECK(contacts_between("\"group\": \"c\",", "\"group\": \"a\",") == 1);
}

static void refused(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"{\"groups\": {\"a\": {\"ignores\": [\"x\"]}}}", "there is no group named"},
      {"{\"groups\": {\"a\": {\"ignores\": \"some\"}}}", "must be a list of groups, or"},
      {"{\"groups\": {\"a\": {\"ignored\": []}}}", "ignored"},
      {"{\"bodies\": [{\"group\": \"a\", \"kind\": \"fixed\"}]}", "there is no group named"},
      {"{\"disabled_pairs\": [{\"bodies\": [\"a\"]}]}", "must be a list of two bodies"},
      {"{\"disabled_pairs\": [{\"bodies\": [\"a\", \"b\"]}]}", "there is no body named"},
      {"{\"bodies\": [{\"name\": \"a\", \"kind\": \"fixed\"}], \"disabled_pairs\": "
       "[{\"bodies\": [\"a\", \"a\"]}]}",
       "a body and itself"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CnScene *scene;
    CHECK_STATUS(cn_scene_parse(texts[i][0], strlen(texts[i][0]), "bad", NULL, 0, NULL, &scene),
                 CN_INVALID_DATA);
    CHECK_TEXT(cn_error_message(), texts[i][1]);
  }
  char many[2048] = "{\"groups\": {";
  for (int i = 0; i < 32; i++)
    snprintf(many + strlen(many), sizeof many - strlen(many), "%s\"g%d\": {}", i ? ", " : "", i);
  snprintf(many + strlen(many), sizeof many - strlen(many), "}}");
  CnScene *scene;
  CHECK_STATUS(cn_scene_parse(many, strlen(many), "many", NULL, 0, NULL, &scene), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "at most 31 groups");
}

// A ball falls through a gate that meets nothing: it goes as in the air, and is counted from
// z = .15 to -.15: sqrt(2 (1 - z)/g).
static void trigger(void **state) {
  (void)state;
  CnScene *scene = scene_of(
      "{\"settings\": {\"time_step\": 0.0001}, \"groups\": {\"ghosts\": {\"ignores\": \"all\"}},"
      "\"bodies\": [{\"name\": \"gate\", \"kind\": \"fixed\", \"group\": \"ghosts\", \"shapes\": "
      "[{\"kind\": \"box\", \"size\": [1, 1, 0.1]}]}, {\"name\": \"ball\", \"position\": [0, 0, "
      "1], "
      "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]}],"
      "\"sensors\": [{\"name\": \"passing\", \"kind\": \"overlaps\", \"body\": \"gate\"}]}");
  CnWorld *world = world_of(scene);
  double was = 0, began = 0, ended = 0;
  for (int i = 1; i <= 5500; i++) {
    double now;
    CHECK_OK(cn_world_step(world, NULL));
    CHECK_OK(cn_scene_measure(scene, world, &now));
    if (now > was) began = i * 1e-4;
    if (now < was) ended = i * 1e-4;
    was = now;
  }
  CHECK_NEAR(began, sqrt(2 * 0.85 / 9.81), 3e-4);
  CHECK_NEAR(ended, sqrt(2 * 1.15 / 9.81), 3e-4);
  CnWorldSums sums;
  cn_world_sums(world, &sums);
  CHECK_REL(sums.momentum.z, -sums.mass * 9.81 * 0.55, 1e-9);
  CnBodyId gate = cn_world_next_body(world, (CnBodyId){0, 0}), met;
  int32_t count;
  CHECK_OK(cn_body_overlaps(world, gate, &met, 1, &count));
  CHECK(count == 0);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// The same gate as a trigger tells so itself; the plate above it is not met by this ball.
static void events(void **state) {
  (void)state;
  CnScene *scene =
      scene_of("{\"disabled_pairs\": [{\"bodies\": [\"plate\", \"ball\"]}],"
               "\"bodies\": [{\"name\": \"gate\", \"kind\": \"fixed\", \"shapes\": "
               "[{\"kind\": \"box\", \"size\": [1, 1, 0.1], \"trigger\": true}]},"
               "{\"name\": \"plate\", \"kind\": \"fixed\", \"position\": [0, 0, 0.5], \"shapes\": "
               "[{\"kind\": \"box\", \"size\": [1, 1, 0.1]}]},"
               "{\"name\": \"ball\", \"position\": [0, 0, 1], "
               "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]}]}");
  CnWorld *world = world_of(scene);
  int when[4] = {0, 0, 0, 0};
  for (int i = 1; i <= 550; i++) {
    const CnContactEvent *list;
    int32_t count;
    CHECK_OK(cn_world_step(world, NULL));
    cn_world_events(world, &list, &count);
    for (int32_t k = 0; k < count; k++) when[list[k].kind] = i;
  }
  CHECK(when[CN_CONTACT_BEGAN] == 0 && when[CN_CONTACT_ENDED] == 0);
  CHECK_NEAR(1e-3 * when[CN_TRIGGER_ENTERED], sqrt(2 * 0.85 / 9.81), 2e-3);
  CHECK_NEAR(1e-3 * when[CN_TRIGGER_LEFT], sqrt(2 * 1.15 / 9.81), 2e-3);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(groups), cmocka_unit_test(refused),
                                     cmocka_unit_test(trigger), cmocka_unit_test(events)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
