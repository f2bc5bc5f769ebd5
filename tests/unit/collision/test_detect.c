// SPDX-License-Identifier: Apache-2.0
// From a model and its poses to contacts: what is found, what is not, in which order, under which
// names; that nothing is missed in fast steps; that workers, broad phases and earlier calls change
// nothing; that memory is asked for once.
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "check.h"
#include "collision/collision.h"
#include "core/error.h"
#include "core/rng.h"

// ---- a model and its collision object ----

typedef struct Rig {
  TestAlloc alloc;
  CnAllocator hook;
  CniModel model;
  CniCollision *collision;
  CniCollisionInput input;
  const CniContact *contacts;
  int32_t count;
} Rig;

static void rig_start(Rig *r) {
  *r = (Rig){0};
  test_alloc_init(&r->alloc);
  r->hook = test_alloc_hook(&r->alloc);
  CHECK_OK(cni_model_init(&r->model, &r->hook));
  CHECK_OK(cni_collision_create("grid", &r->hook, &r->collision));
  r->input = (CniCollisionInput){.model = &r->model, .gravity = {0, 0, -10}, .time_step = 0.01};
}

static void rig_end(Rig *r) {
  cni_collision_destroy(r->collision);
  cni_model_release(&r->model);
  test_alloc_check_clean(&r->alloc);
}

static CnStatus try_detect(Rig *r) {
  r->input.pose = r->model.pose;
  r->input.twist = r->model.twist;
  return cni_collision_detect(r->collision, &r->input, &r->contacts, &r->count);
}

static void detect(Rig *r) { CHECK_OK(try_detect(r)); }

static CnBodyId add_body(Rig *r, CnBodyKind kind, CnVec3 at) {
  CnBodyDef def = cn_body_def_default();
  def.kind = kind;
  def.pose.position = at;
  CnBodyId id;
  CHECK_OK(cni_model_add_body(&r->model, &def, &id));
  return id;
}

static CnShapeId add_shape(Rig *r, CnBodyId body, CnShapeDef def) {
  CnShapeId id;
  CHECK_OK(cni_model_add_shape(&r->model, body, &def, &id));
  return id;
}

static CnShapeDef sphere(double radius) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_SPHERE);
  def.radius = radius;
  return def;
}

static CnShapeDef box(double x, double y, double z) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_BOX);
  def.half_size = (CnVec3){x, y, z};
  return def;
}

static CnShapeDef plane(void) { return cn_shape_def_default(CN_SHAPE_PLANE); }

static CnBodyId add(Rig *r, CnBodyKind kind, CnVec3 at, CnShapeDef def) {
  CnBodyId id = add_body(r, kind, at);
  add_shape(r, id, def);
  return id;
}

static int32_t index_of(const Rig *r, CnBodyId id) {
  int32_t index = -1;
  CHECK_OK(cni_model_find_body(&r->model, id, &index));
  return index;
}

static void set_twist(Rig *r, CnBodyId id, CnVec3 velocity, CnVec3 spin) {
  r->model.twist[index_of(r, id)] = (CnTwist){velocity, spin};
}

// A pile: boxes and spheres over a floor, overlapping here and there, some with two shapes.
static void fill(Rig *r, int32_t count) {
  CniRng rng = {3};
  add(r, CN_BODY_FIXED, (CnVec3){0, 0, 0}, plane());
  for (int32_t i = 0; i < count; i++) {
    double x = cni_rng_range(&rng, -1, 1), y = cni_rng_range(&rng, -1, 1);
    CnBodyId id = add_body(r, CN_BODY_DYNAMIC, (CnVec3){x, y, cni_rng_range(&rng, 0, 1)});
    add_shape(r, id, i % 2 ? sphere(0.1) : box(0.1, 0.08, 0.12));
    CnShapeDef second = sphere(0.05);
    second.pose.position.x = 0.15;
    if (i % 5 == 0) add_shape(r, id, second);
    set_twist(r, id, (CnVec3){x, y, 0}, (CnVec3){0, x, y});
  }
}

// The order of contacts, and of the two shapes in one.
static void check_sorted(const Rig *r) {
  for (int32_t i = 0; i < r->count; i++) {
    const CniContact *c = &r->contacts[i], *last = c - 1;
    CHECK(r->model.shapes[c->shape_a].slot < r->model.shapes[c->shape_b].slot);
    CHECK(r->model.shapes[c->shape_a].body == c->body_a);
    CHECK(r->model.shapes[c->shape_b].body == c->body_b);
    if (i == 0) continue;
    CHECK(cni_contact_rank(last) < cni_contact_rank(c) ||
          (cni_contact_rank(last) == cni_contact_rank(c) && last->feature < c->feature));
  }
}

// The name of a contact, which lasts.
typedef struct Name {
  uint32_t slot_a, slot_b, feature;
} Name;

static Name name_of(const Rig *r, int32_t i) {
  const CniContact *c = &r->contacts[i];
  return (Name){r->model.shapes[c->shape_a].slot, r->model.shapes[c->shape_b].slot, c->feature};
}

static int same_name(Name a, Name b) {
  return a.slot_a == b.slot_a && a.slot_b == b.slot_b && a.feature == b.feature;
}

// Where the contact of that name is, -1: nowhere.
static int32_t find_name(const Rig *r, Name name) {
  for (int32_t i = 0; i < r->count; i++)
    if (same_name(name_of(r, i), name)) return i;
  return -1;
}

// ---- what is found ----

static void sphere_on_plane(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  CnBodyId ball = add(&r, CN_BODY_DYNAMIC, (CnVec3){1, 2, 0.499}, sphere(0.5));
  CnBodyId ground = add(&r, CN_BODY_FIXED, (CnVec3){0, 0, 0}, plane());
  detect(&r);
  assert_int_equal(r.count, 1);
  // the ball is older: a; the normal goes down into the ground
  const CniContact *c = &r.contacts[0];
  assert_int_equal(c->body_a, index_of(&r, ball));
  assert_int_equal(c->body_b, index_of(&r, ground));
  CHECK_NEAR(c->gap, -0.001, 1e-15);
  CHECK_NEAR(c->normal.z, -1, 1e-15);
  CHECK_NEAR(c->point.x, 1, 1e-15);
  CHECK_NEAR(c->point.y, 2, 1e-15);
  CHECK_NEAR(c->point.z, -0.0005, 1e-15);
  check_sorted(&r);
  rig_end(&r);
}

// The other order of creation turns the normal round.
static void plane_before_sphere(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  add(&r, CN_BODY_FIXED, (CnVec3){0, 0, 0}, plane());
  add(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0.5}, sphere(0.5));
  detect(&r);
  assert_int_equal(r.count, 1);
  CHECK_NEAR(r.contacts[0].normal.z, 1, 1e-15);
  CHECK_NEAR(r.contacts[0].gap, 0, 1e-15);
  rig_end(&r);
}

static void stack_of_boxes(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  add(&r, CN_BODY_FIXED, (CnVec3){0, 0, 0}, plane());
  for (int32_t i = 0; i < 10; i++)
    add(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0.5 + i}, box(0.5, 0.5, 0.5));
  detect(&r);
  // every interface is a square with four corners
  assert_int_equal(r.count, 40);
  check_sorted(&r);
  double z = 0;
  for (int32_t i = 0; i < r.count; i++) {
    CHECK_NEAR(fabs(r.contacts[i].normal.z), 1, 1e-15);
    CHECK_NEAR(r.contacts[i].gap, 0, 1e-14);
    z += r.contacts[i].point.z;
  }
  CHECK_NEAR(z, 4 * 45, 1e-12);
  rig_end(&r);
}

// Two shapes on one body keep out of each other, and both touch a third.
static void shapes_of_one_body(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  CnBodyId pair = add_body(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0});
  CnShapeDef left = sphere(0.5), right = sphere(0.5);
  left.pose.position.x = -0.3;
  right.pose.position.x = 0.3;
  add_shape(&r, pair, left);
  add_shape(&r, pair, right);
  add(&r, CN_BODY_FIXED, (CnVec3){0, 0, -0.5}, plane());
  detect(&r);
  assert_int_equal(r.count, 2);
  CHECK_NEAR(r.contacts[0].point.x, -0.3, 1e-15);
  CHECK_NEAR(r.contacts[1].point.x, 0.3, 1e-15);
  rig_end(&r);
}

static void empty_and_alone(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  detect(&r);
  assert_int_equal(r.count, 0);
  add_body(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0});
  detect(&r);
  assert_int_equal(r.count, 0);
  add(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0}, sphere(1));
  detect(&r);
  assert_int_equal(r.count, 0);
  rig_end(&r);
}

// ---- margins ----

// At rest and without gravity the margin is 0.05 of the smaller inradius, or what is given.
static void base_margin(void **state) {
  (void)state;
  for (int32_t given = 0; given < 2; given++) {
    double margin = given ? 0.2 : 0.05 * 0.1;
    for (int32_t inside = 0; inside < 2; inside++) {
      Rig r;
      rig_start(&r);
      r.input.gravity = (CnVec3){0, 0, 0};
      if (given) r.input.margin = margin;
      double gap = margin * (inside ? 1 - 1e-9 : 1 + 1e-9);
      add(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0}, sphere(1));
      add(&r, CN_BODY_DYNAMIC, (CnVec3){0.6 * (1.1 + gap), 0.8 * (1.1 + gap), 0}, sphere(0.1));
      detect(&r);
      assert_int_equal(r.count, inside);
      rig_end(&r);
    }
  }
}

// reach = h (|v| + h |g|) for each; a sphere's spin about its centre does not count.
static void margin_grows_with_speed(void **state) {
  (void)state;
  double h = 0.01, margin = 0.05 * 0.1 + h * (3 + h * 10) + h * (4 + h * 10);
  for (int32_t inside = 0; inside < 2; inside++) {
    Rig r;
    rig_start(&r);
    double distance = 0.2 + margin * (inside ? 1 - 1e-9 : 1 + 1e-9);
    CnBodyId a = add(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0}, sphere(0.1));
    CnBodyId b = add(&r, CN_BODY_DYNAMIC, (CnVec3){0, distance, 0}, sphere(0.1));
    set_twist(&r, a, (CnVec3){3, 0, 0}, (CnVec3){100, 0, 0});
    set_twist(&r, b, (CnVec3){0, 0, -4}, (CnVec3){0, 100, 0});
    detect(&r);
    assert_int_equal(r.count, inside);
    rig_end(&r);
  }
}

// A load accelerates within the step; a kinematic body does not fall, a fixed one does not move.
static void margin_of_loads_and_kinds(void **state) {
  (void)state;
  double h = 0.01;
  static const double share[] = {1 - 1e-9, 1 + 1e-9};
  for (int32_t kind = 0; kind < 3; kind++) {
    double reach = kind == 0 ? h * (2 + h * 10 + h * 1000) : kind == 1 ? h * 2 : 0;
    double margin = 0.05 * 0.1 + reach + h * h * 10;
    for (int32_t k = 0; k < 2; k++) {
      Rig r;
      rig_start(&r);
      CnBodyId a = add(&r, (CnBodyKind)kind, (CnVec3){0, 0, 0}, sphere(0.1));
      add(&r, CN_BODY_DYNAMIC, (CnVec3){0.2 + margin * share[k], 0, 0}, sphere(0.1));
      int32_t index = index_of(&r, a);
      r.model.twist[index].velocity = (CnVec3){0, 2, 0};
      CHECK_OK(cni_model_loads(&r.model));
      r.model.load[index].velocity = (CnVec3){0, 0, 1000 * r.model.mass[index].mass};
      detect(&r);
      assert_int_equal(r.count, k == 0);
      rig_end(&r);
    }
  }
}

// A bullet of 1000 m/s, 10 m a step, meets a plate a millimetre thick from every place before it.
static void bullet_meets_plate(void **state) {
  (void)state;
  for (int32_t i = 0; i <= 100; i++) {
    Rig r;
    rig_start(&r);
    double before = 10.0 * i / 100 + 1e-3;
    CnBodyId bullet = add(&r, CN_BODY_DYNAMIC, (CnVec3){-before - 0.005, 0.1, 0.2}, sphere(0.005));
    add(&r, CN_BODY_FIXED, (CnVec3){5e-4, 0, 0}, box(5e-4, 2, 2));
    set_twist(&r, bullet, (CnVec3){1000, 0, 0}, (CnVec3){0, 0, 0});
    detect(&r);
    assert_int_equal(r.count, 1);
    CHECK_NEAR(r.contacts[0].gap, before, 1e-12);
    CHECK_NEAR(r.contacts[0].normal.x, 1, 1e-12);
    rig_end(&r);
  }
}

// The tip of a turning bat comes round within the step.
static void turning_tip_is_seen(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  CnBodyId bat = add(&r, CN_BODY_KINEMATIC, (CnVec3){0, 0, 0}, box(1, 0.05, 0.05));
  add(&r, CN_BODY_DYNAMIC, (CnVec3){0.9, 0.4, 0}, sphere(0.05));
  detect(&r);
  assert_int_equal(r.count, 0);
  set_twist(&r, bat, (CnVec3){0, 0, 0}, (CnVec3){0, 0, 50});
  detect(&r);
  CHECK(r.count > 0);
  rig_end(&r);
}

// A plane that turns sweeps farther the farther out: 2 rad/s at 100 m covers 2 m in 10 ms.
static void turning_plane_is_seen(void **state) {
  (void)state;
  for (int32_t far = 0; far < 2; far++) {
    Rig r;
    rig_start(&r);
    CnBodyId lid = add(&r, CN_BODY_KINEMATIC, (CnVec3){0, 0, 0}, plane());
    add(&r, CN_BODY_DYNAMIC, (CnVec3){far ? 100 : 10, 0, 1.8}, sphere(0.1));
    set_twist(&r, lid, (CnVec3){0, 0, 0}, (CnVec3){0, -2, 0});
    detect(&r);
    assert_int_equal(r.count, far);
    rig_end(&r);
  }
}

// ---- what is not found ----

static void prescribed_bodies_make_none(void **state) {
  (void)state;
  for (int32_t kind_a = CN_BODY_KINEMATIC; kind_a <= CN_BODY_FIXED; kind_a++)
    for (int32_t kind_b = CN_BODY_KINEMATIC; kind_b <= CN_BODY_FIXED; kind_b++) {
      Rig r;
      rig_start(&r);
      add(&r, (CnBodyKind)kind_a, (CnVec3){0, 0, 0}, sphere(1));
      add(&r, (CnBodyKind)kind_b, (CnVec3){0, 0, 1}, sphere(1));
      add(&r, (CnBodyKind)kind_b, (CnVec3){0, 0, 0}, plane());
      detect(&r);
      assert_int_equal(r.count, 0);
      rig_end(&r);
    }
}

// Each one's category must be in the other's mask.
static void categories_and_masks(void **state) {
  (void)state;
  static const uint32_t cases[][5] = {{1, 1, 1, 1, 1}, {1, 2, 2, 1, 1},     {1, 2, 2, 2, 0},
                                      {1, 1, 2, 1, 0}, {0, ~0u, 1, ~0u, 0}, {6, 8, 12, 2, 1}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int32_t with_plane = 0; with_plane < 2; with_plane++) {
      Rig r;
      rig_start(&r);
      CnShapeDef a = sphere(1), b = with_plane ? plane() : sphere(1);
      a.category = cases[k][0], a.mask = cases[k][1];
      b.category = cases[k][2], b.mask = cases[k][3];
      add(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0.5}, a);
      add(&r, CN_BODY_FIXED, (CnVec3){0, 0, 0}, b);
      detect(&r);
      assert_int_equal(r.count, (int)cases[k][4]);
      rig_end(&r);
    }
}

// Links meet others but not their neighbours; without the joint they do.
static void joined_bodies_do_not_meet(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  CnBodyId links[5];
  CnJointId joints[4];
  for (int32_t i = 0; i < 5; i++)
    links[i] = add(&r, CN_BODY_DYNAMIC, (CnVec3){0.5 * i, 0, 0}, sphere(0.55));
  for (int32_t i = 0; i < 4; i++) {
    CnJointDef def = cn_joint_def_default(CN_JOINT_BALL);
    // both directions, so that both lists are walked
    def.body_a = links[i % 2 ? i + 1 : i];
    def.body_b = links[i % 2 ? i : i + 1];
    def.frame_a.position.x = i % 2 ? -0.25 : 0.25;
    def.frame_b.position.x = -def.frame_a.position.x;
    CHECK_OK(cni_model_add_joint(&r.model, &def, &joints[i]));
  }
  // joints to the ground keep no one from meeting anything
  CnJointDef anchor = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId id;
  anchor.body_a = links[0];
  CHECK_OK(cni_model_add_joint(&r.model, &anchor, &id));
  anchor.body_a = links[2];
  anchor.frame_b.position.x = 1;
  CHECK_OK(cni_model_add_joint(&r.model, &anchor, &id));

  // neighbours 0.5 apart are joined, next but one 1.0 apart touch
  detect(&r);
  assert_int_equal(r.count, 3);
  for (int32_t i = 0; i < r.count; i++)
    assert_int_equal(name_of(&r, i).slot_b - name_of(&r, i).slot_a, 2);
  CHECK_OK(cni_model_remove_joint(&r.model, joints[1]));
  detect(&r);
  assert_int_equal(r.count, 4);
  rig_end(&r);
}

// Twenty bodies at one place and joints between any of them, in either direction and some twice:
// exactly the pairs without a joint meet.
static void every_joint_is_found(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  CnBodyId bodies[20];
  int32_t joined[20][20] = {{0}}, expected = 0;
  for (int32_t i = 0; i < 20; i++)
    bodies[i] = add(&r, CN_BODY_DYNAMIC, (CnVec3){1e-3 * i, 0, 0}, sphere(1));
  CniRng rng = {4};
  for (int32_t k = 0; k < 80; k++) {
    int32_t i = (int32_t)cni_rng_range(&rng, 0, 20), j = (int32_t)cni_rng_range(&rng, 0, 20);
    if (i == j) continue;
    CnJointDef def = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id;
    def.body_a = bodies[i];
    def.body_b = bodies[j];
    CHECK_OK(cni_model_add_joint(&r.model, &def, &id));
    joined[i][j] = joined[j][i] = 1;
  }
  for (int32_t i = 0; i < 20; i++)
    for (int32_t j = i + 1; j < 20; j++) expected += !joined[i][j];
  CHECK(expected > 50 && expected < 170);
  detect(&r);
  assert_int_equal(r.count, expected);
  for (int32_t k = 0; k < r.count; k++) CHECK(!joined[r.contacts[k].body_a][r.contacts[k].body_b]);
  rig_end(&r);
}

typedef struct Asked {
  CnShapeId a[64], b[64];
  int32_t count;
  uint32_t refuse; // slot
} Asked;

static int32_t ask(void *context, CnShapeId a, CnShapeId b) {
  Asked *asked = context;
  CHECK(asked->count < 64);
  asked->a[asked->count] = a;
  asked->b[asked->count++] = b;
  return a.slot != asked->refuse && b.slot != asked->refuse;
}

// Asked once for each pair, smaller slot first, in the order of the contacts, with valid ids.
static void user_filter(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  for (int32_t i = 0; i < 6; i++) add(&r, CN_BODY_DYNAMIC, (CnVec3){0.01 * i, 0, 0.5}, sphere(0.5));
  CnBodyId ground = add_body(&r, CN_BODY_FIXED, (CnVec3){0, 0, 0});
  CnShapeId floor_id = add_shape(&r, ground, plane());
  Asked asked = {.refuse = floor_id.slot};
  r.input.filter = ask;
  r.input.filter_context = &asked;
  detect(&r);
  assert_int_equal(asked.count, 6 * 5 / 2 + 6);
  assert_int_equal(r.count, 6 * 5 / 2);
  for (int32_t i = 0; i < asked.count; i++) {
    CHECK(asked.a[i].slot < asked.b[i].slot);
    int32_t index;
    CHECK_OK(cni_model_find_shape(&r.model, asked.a[i], &index));
    CHECK_OK(cni_model_find_shape(&r.model, asked.b[i], &index));
    if (i == 0) continue;
    CHECK(asked.a[i - 1].slot < asked.a[i].slot ||
          (asked.a[i - 1].slot == asked.a[i].slot && asked.b[i - 1].slot < asked.b[i].slot));
  }
  check_sorted(&r);
  rig_end(&r);
}

// ---- names ----

// A stack that slides, sinks and turns a little keeps the names of its contacts.
static void names_last_while_bodies_move(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  add(&r, CN_BODY_FIXED, (CnVec3){0, 0, 0}, plane());
  for (int32_t i = 0; i < 4; i++)
    add(&r, CN_BODY_DYNAMIC, (CnVec3){0.1 * i, 0.05 * i, 0.5 + i}, box(0.5, 0.5, 0.5));
  detect(&r);
  int32_t count = r.count;
  CHECK(count == 16);
  Name names[16];
  for (int32_t i = 0; i < count; i++) names[i] = name_of(&r, i);
  for (int32_t step = 1; step <= 20; step++) {
    for (int32_t b = 1; b < 5; b++) {
      CnPose *pose = &r.model.pose[b];
      pose->position.x += 1e-3;
      pose->position.z -= 1e-5;
      pose->rotation = cn_qmul(cni_quat_exp((CnVec3){1e-6, 0, 1e-4 * b}), pose->rotation);
    }
    detect(&r);
    assert_int_equal(r.count, count);
    for (int32_t i = 0; i < count; i++) CHECK(same_name(names[i], name_of(&r, i)));
  }
  rig_end(&r);
}

// Removing and adding moves dense indices and uses slots again: names follow the slots.
static void slots_are_recycled(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  CnBodyId balls[4];
  for (int32_t i = 0; i < 4; i++)
    balls[i] = add(&r, CN_BODY_DYNAMIC, (CnVec3){3.0 * i, 0, 0.5}, sphere(0.5));
  add(&r, CN_BODY_FIXED, (CnVec3){0, 0, 0}, plane());
  detect(&r);
  assert_int_equal(r.count, 4);
  Name last = name_of(&r, 3);

  CHECK_OK(cni_model_remove_body(&r.model, balls[1]));
  detect(&r);
  assert_int_equal(r.count, 3);
  check_sorted(&r);
  CHECK(find_name(&r, last) >= 0);

  // the new ball takes the free slot, its body is last in memory
  CnBodyId fresh = add(&r, CN_BODY_DYNAMIC, (CnVec3){100, 0, 0.5}, sphere(0.5));
  detect(&r);
  assert_int_equal(r.count, 4);
  check_sorted(&r);
  int32_t at = find_name(&r, (Name){last.slot_a - 2, last.slot_b, 0});
  CHECK(at >= 0);
  assert_int_equal(r.contacts[at].body_a, index_of(&r, fresh));
  CHECK_NEAR(r.contacts[at].point.x, 100, 1e-12);
  rig_end(&r);
}

// ---- nothing but the input counts ----

static CniContact *copy(const Rig *r) {
  CniContact *contacts = malloc((size_t)(r->count + 1) * sizeof *contacts);
  CHECK(contacts != NULL);
  memcpy(contacts, r->contacts, (size_t)r->count * sizeof *contacts);
  return contacts;
}

static void check_same(const Rig *r, const CniContact *contacts, int32_t count) {
  assert_int_equal(r->count, count);
  for (int32_t i = 0; i < count; i++) {
    const CniContact *a = &contacts[i], *b = &r->contacts[i];
    assert_int_equal(a->feature, b->feature);
    assert_memory_equal(&a->point, &b->point, sizeof a->point);
    assert_memory_equal(&a->normal, &b->normal, sizeof a->normal);
    assert_memory_equal(&a->gap, &b->gap, sizeof a->gap);
    CHECK(a->shape_a == b->shape_a && a->shape_b == b->shape_b);
    CHECK(a->body_a == b->body_a && a->body_b == b->body_b);
  }
}

static void workers_and_phases_change_nothing(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  fill(&r, 1500);
  detect(&r);
  CHECK(r.count > 3000);
  check_sorted(&r);
  int32_t count = r.count;
  CniContact *expected = copy(&r);
  CnAllocator threads = cn_allocator_default();
  for (int32_t k = 0; cn_broad_phase_name(k); k++) {
    cni_collision_destroy(r.collision);
    CHECK_OK(cni_collision_create(cn_broad_phase_name(k), &r.hook, &r.collision));
    for (int32_t workers = 1; workers <= 4; workers++) {
      CHECK_OK(cn_tasks_create(workers, NULL, &threads, &r.input.tasks));
      detect(&r);
      check_same(&r, expected, count);
      cn_tasks_destroy(r.input.tasks);
    }
    r.input.tasks = NULL;
  }
  free(expected);
  rig_end(&r);
}

// A collision without a past finds the same contacts.
static void check_fresh(Rig *r) {
  int32_t count = r->count;
  CniContact *expected = copy(r);
  r->input.arena = NULL;
  CHECK_OK(cni_collision_create("grid", &r->hook, &r->collision));
  detect(r);
  check_same(r, expected, count);
  cni_collision_destroy(r->collision);
  free(expected);
}

// A pair list that is kept from call to call gives what a fresh one gives: while bodies creep and
// rush, when one jumps, when others take their places in memory, when the floor is put elsewhere
// and when the margin changes; in an arena of the caller's as in memory of its own.
static void earlier_calls_change_nothing(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  fill(&r, 300);
  CniCollision *lasting = r.collision;
  CniRng rng = {11};
  CniArena arena;
  cni_arena_init(&arena, &r.hook);
  for (int32_t call = 0; call < 120; call++) {
    double way = call % 40 < 25 ? 2e-4 : 0.02;
    for (int32_t b = 1; b < r.model.body_count; b++) {
      CnVec3 *x = &r.model.pose[b].position, *v = &r.model.twist[b].velocity;
      *x = cn_madd(*x, way, *v);
      if (call == 30) *v = cn_scale(-1, *v);
    }
    if (call % 9 == 5) r.model.pose[1 + call].position.z += 0.5;
    if (call % 15 == 3) r.model.pose[0].position.z += 0.02;
    r.input.margin = call % 24 < 12 ? 0 : 0.15;
    if (call % 20 == 7) { // as many shapes as before, at other places
      CnBodyId gone = cni_body_id(&r.model, 2 + call);
      int32_t before = r.model.shape_count;
      CHECK_OK(cni_model_remove_body(&r.model, gone));
      int floor = call % 40 < 20;
      CnBodyKind kind = floor ? CN_BODY_FIXED : CN_BODY_DYNAMIC;
      CnBodyId fresh = add_body(&r, kind, (CnVec3){0, 0, cni_rng_range(&rng, 0, 1)});
      while (r.model.shape_count < before) add_shape(&r, fresh, floor ? plane() : sphere(0.1));
    }
    r.collision = lasting;
    CHECK_OK(cni_arena_reset(&arena));
    r.input.arena = &arena;
    detect(&r);
    check_fresh(&r);
  }
  cni_arena_release(&arena);
  r.collision = lasting;
  rig_end(&r);
}

// Of the caller's arena nothing but the contacts of spheres stays taken, also when the list is made
// anew and when there are more or fewer contacts than in the last call.
static void contacts_alone_stay(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  CniRng rng = {5};
  add(&r, CN_BODY_FIXED, (CnVec3){0, 0, 0}, plane());
  for (int32_t i = 0; i < 500; i++) {
    CnVec3 at = {cni_rng_range(&rng, -1, 1), cni_rng_range(&rng, -1, 1), cni_rng_range(&rng, 0, 1)};
    add(&r, CN_BODY_DYNAMIC, at, sphere(0.1));
  }
  CniCollision *lasting = r.collision;
  CniArena arena;
  cni_arena_init(&arena, &r.hook);
  for (int32_t call = 0; call < 30; call++) {
    double stretch = call % 3 == 0 ? 1 : call < 15 ? 1.02 : 0.98;
    for (int32_t b = 1; b < r.model.body_count; b++)
      r.model.pose[b].position = cn_scale(stretch, r.model.pose[b].position);
    r.collision = lasting;
    r.input.arena = &arena;
    CHECK_OK(cni_arena_reset(&arena));
    detect(&r);
    CHECK(r.count > 300);
    CHECK(arena.total < (size_t)r.count * sizeof(CniContact) + CNI_ALIGNMENT);
    check_fresh(&r);
  }
  cni_arena_release(&arena);
  r.collision = lasting;
  rig_end(&r);
}

// The contacts are those that testing every shape with every other finds.
static void nothing_is_missed(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  fill(&r, 300);
  r.input.time_step = 0;
  r.input.margin = 0.02;
  detect(&r);
  int32_t expected = 0;
  const CniModel *m = &r.model;
  for (int32_t i = 0; i < m->shape_count; i++)
    for (int32_t j = 0; j < m->shape_count; j++) {
      const CniShape *a = &m->shapes[i], *b = &m->shapes[j];
      if (a->slot >= b->slot || a->body == b->body) continue;
      CniPlaced pa = cni_model_placed(m, i, &m->pose[a->body]);
      CniPlaced pb = cni_model_placed(m, j, &m->pose[b->body]);
      CniManifold manifold;
      cni_collide(&pa, &pb, 0.02, &manifold);
      expected += manifold.count;
    }
  CHECK(expected > 500);
  assert_int_equal(r.count, expected);
  rig_end(&r);
}

// ---- memory and misuse ----

static void later_calls_allocate_nothing(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  fill(&r, 400);
  detect(&r);
  detect(&r);
  int64_t before = r.alloc.allocation_count;
  for (int32_t i = 0; i < 10; i++) {
    for (int32_t b = 0; b < r.model.body_count; b++) r.model.pose[b].position.x += 1e-3 * (b % 7);
    detect(&r);
  }
  assert_int_equal(r.alloc.allocation_count, before);
  rig_end(&r);
}

// Every allocation of a detection fails once; the same call then gives what it should.
static void failing_allocations_leave_nothing_behind(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  fill(&r, 200);
  detect(&r);
  int32_t count = r.count;
  CniContact *expected = copy(&r);
  int64_t failures = 0;
  for (int64_t n = 1;; n++) {
    cni_collision_destroy(r.collision);
    CHECK_OK(cni_collision_create("grid", &r.hook, &r.collision));
    test_alloc_fail_at(&r.alloc, n);
    CnStatus status = try_detect(&r);
    int64_t failed = r.alloc.failed_count;
    test_alloc_fail_never(&r.alloc);
    if (!failed) {
      CHECK_OK(status);
      break;
    }
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(r.contacts == NULL && r.count == 0);
    failures++;
    detect(&r);
    check_same(&r, expected, count);
  }
  CHECK(failures > 5);
  test_alloc_fail_at(&r.alloc, 1);
  CniCollision *none = r.collision;
  CHECK_STATUS(cni_collision_create("grid", &r.hook, &none), CN_NO_MEMORY);
  CHECK(none == NULL);
  test_alloc_fail_never(&r.alloc);
  free(expected);
  rig_end(&r);
}

static void unknown_phase_is_an_error(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniCollision *collision = NULL;
  CHECK_STATUS(cni_collision_create("octree", &allocator, &collision), CN_INVALID_ARGUMENT);
  CHECK(collision == NULL);
  CHECK(strstr(cn_error_message(), "octree") != NULL);
  for (int32_t i = 0; cn_broad_phase_name(i); i++)
    CHECK(strstr(cn_error_message(), cn_broad_phase_name(i)) != NULL);
  CHECK_OK(cni_collision_create(NULL, &allocator, &collision));
  cni_collision_destroy(collision);
  cni_collision_destroy(NULL);
}

static void nonsense_is_refused(void **state) {
  (void)state;
  Rig r;
  rig_start(&r);
  add(&r, CN_BODY_DYNAMIC, (CnVec3){0, 0, 0}, sphere(1));
  CnBodyDef def = cn_body_def_default();
  def.name = "lost";
  CnBodyId id;
  CHECK_OK(cni_model_add_body(&r.model, &def, &id));
  add_shape(&r, id, sphere(1));
  int32_t lost = index_of(&r, id);
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int32_t k = 0; k < 3; k++) {
    r.model.pose[lost].position.y = bad[k];
    CHECK_STATUS(try_detect(&r), CN_NOT_FINITE);
    CHECK(strstr(cn_error_message(), "'lost'") != NULL);
    r.model.pose[lost].position.y = 0;
    r.model.twist[lost].velocity.z = bad[k];
    CHECK_STATUS(try_detect(&r), CN_NOT_FINITE);
    r.model.twist[lost].velocity.z = 0;
    r.input.time_step = bad[k];
    CHECK_STATUS(try_detect(&r), CN_INVALID_ARGUMENT);
    r.input.time_step = 0.01;
    r.input.margin = bad[k];
    CHECK_STATUS(try_detect(&r), CN_INVALID_ARGUMENT);
    r.input.margin = 0;
  }
  detect(&r);
  assert_int_equal(r.count, 1);
  rig_end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sphere_on_plane),
      cmocka_unit_test(plane_before_sphere),
      cmocka_unit_test(stack_of_boxes),
      cmocka_unit_test(shapes_of_one_body),
      cmocka_unit_test(empty_and_alone),
      cmocka_unit_test(base_margin),
      cmocka_unit_test(margin_grows_with_speed),
      cmocka_unit_test(margin_of_loads_and_kinds),
      cmocka_unit_test(bullet_meets_plate),
      cmocka_unit_test(turning_tip_is_seen),
      cmocka_unit_test(turning_plane_is_seen),
      cmocka_unit_test(prescribed_bodies_make_none),
      cmocka_unit_test(categories_and_masks),
      cmocka_unit_test(joined_bodies_do_not_meet),
      cmocka_unit_test(every_joint_is_found),
      cmocka_unit_test(user_filter),
      cmocka_unit_test(names_last_while_bodies_move),
      cmocka_unit_test(slots_are_recycled),
      cmocka_unit_test(workers_and_phases_change_nothing),
      cmocka_unit_test(earlier_calls_change_nothing),
      cmocka_unit_test(contacts_alone_stay),
      cmocka_unit_test(nothing_is_missed),
      cmocka_unit_test(later_calls_allocate_nothing),
      cmocka_unit_test(failing_allocations_leave_nothing_behind),
      cmocka_unit_test(unknown_phase_is_an_error),
      cmocka_unit_test(nonsense_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
