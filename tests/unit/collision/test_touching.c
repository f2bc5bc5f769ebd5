// SPDX-License-Identifier: Apache-2.0
// A pair that touches in several places: a toy pair gives two manifolds, and its contacts come out
// in the order that the rest of a step counts on.
#include "check.h"
#include "collision/collision_private.h"

// Two places, named by parts `first` and `second` of a shape, of two points each.
static void toy_pair(uint32_t first, uint32_t second, CniTake take, void *context) {
  const uint32_t part[2] = {first, second};
  for (int32_t k = 0; k < 2; k++) {
    CniManifold m = {.normal = k ? cn_vec3(0, 1, 0) : cn_vec3(0, 0, 1), .count = 2};
    for (uint32_t i = 0; i < 2; i++) {
      uint32_t feature = cni_feature_of_part(part[k], cni_feature(i, 1));
      m.points[i] = (CniPoint){{k, i, 0}, -0.1 * (k + 1), feature};
    }
    take(context, &m);
  }
}

static void collide(uint32_t first, uint32_t second, CniContactChunk *part) {
  CniTouching t = {{3, 5}, 1, 2, part, part->count, 0};
  toy_pair(first, second, cni_touching_take, &t);
  CHECK(t.manifolds == 2);
  cni_touching_end(&t);
}

static void both_manifolds_are_kept(void **state) {
  (void)state;
  CniContact contacts[8] = {{.feature = 77}};
  CniContactChunk part = {.contacts = contacts, .room = 8, .count = 1};
  collide(4, 9, &part);
  CHECK(part.count == 5 && contacts[0].feature == 77);
  for (int32_t i = 1; i < 5; i++) {
    const CniContact *c = &contacts[i];
    uint32_t number = i < 3 ? 4 : 9, corner = (uint32_t)(i - 1) % 2;
    CHECK(c->feature == (number << 20 | corner << 10 | 1));
    CHECK(c->shape_a == 3 && c->shape_b == 5 && c->body_a == 1 && c->body_b == 2);
    CHECK(i < 3 ? c->normal.z == 1 : c->normal.y == 1);
    CHECK(c->point.x == (i < 3 ? 0 : 1) && c->point.y == corner);
  }
}

static void parts_may_come_in_any_order(void **state) {
  (void)state;
  CniContact contacts[8];
  CniContactChunk part = {.contacts = contacts, .room = 8};
  collide(4095, 0, &part);
  CHECK(part.count == 4);
  for (int32_t i = 1; i < 4; i++) CHECK(contacts[i - 1].feature < contacts[i].feature);
  CHECK(contacts[0].normal.y == 1 && contacts[3].normal.z == 1);
}

// Parts whose numbers wrapped round to one name: the deeper contacts stay.
static void one_name_stays_once(void **state) {
  (void)state;
  CniContact contacts[8];
  CniContactChunk part = {.contacts = contacts, .room = 8};
  collide(7, 7 + 4096, &part);
  CHECK(part.count == 2);
  for (int32_t i = 0; i < 2; i++) CHECK(contacts[i].gap == -0.2 && contacts[i].normal.y == 1);
}

static void what_has_no_room_is_counted(void **state) {
  (void)state;
  CniContact contacts[4] = {{0}};
  contacts[3].feature = 99;
  CniContactChunk part = {.contacts = contacts, .room = 3};
  collide(1, 2, &part);
  CHECK(part.count == 4 && contacts[3].feature == 99);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_manifolds_are_kept),
      cmocka_unit_test(parts_may_come_in_any_order),
      cmocka_unit_test(one_name_stays_once),
      cmocka_unit_test(what_has_no_room_is_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
