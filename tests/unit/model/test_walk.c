// SPDX-License-Identifier: Apache-2.0
// A long random walk of additions and removals, beside a reference that keeps plain lists and
// looks everything up the slow way. After each move the model must be consistent; every so often
// all of it is compared: ids, order of shapes, frames, poses in the world, mass, anchors, laws.
// Allocations fail at random on the way: then nothing may have changed. Now and then all bodies are
// put in another order.
#include "check.h"
#include "alloc.h"

#include <string.h>

#include "core/rng.h"
#include "model/model.h"

#define MAX 4000

typedef struct RefBody {
  CnBodyId id;
  CnBodyKind kind;
  CnPose pose;
  CnTwist twist;
  double mass;
  int alive;
} RefBody;
typedef struct RefShape {
  CnShapeId id;
  int body, material, alive;
  CnShapeDef def;
} RefShape;
typedef struct RefMaterial {
  CnMaterialId id;
  int alive;
  double friction;
} RefMaterial;
typedef struct RefJoint {
  CnJointId id;
  int a, b, alive;
  CnVec3 local_a, local_b;
} RefJoint;

static RefBody bodies[MAX];
static RefShape shapes[MAX];
static RefMaterial materials[MAX];
static RefJoint joints[MAX];
static int body_total, shape_total, material_total, joint_total;
static TestAlloc alloc;
static CniModel model;
static CnCurveId oval; // for joints that have curves
static CniRng rng;

static double uniform(double lo, double hi) { return cni_rng_range(&rng, lo, hi); }
static int pick(int n) { return (int)(cni_rng_unit(&rng) * n); }
static CnVec3 any_vec(double s) {
  double x = uniform(-s, s), y = uniform(-s, s);
  return cn_vec3(x, y, uniform(-s, s));
}
static CnQuat any_rotation(void) {
  CnVec3 v = any_vec(1);
  return cn_qunit((CnQuat){uniform(0.1, 1), v.x, v.y, v.z});
}

// A living entry, -1 if there is none. Every array of the reference has its own.
#define LIVING(array, total, found)                                                                \
  do {                                                                                             \
    found = -1;                                                                                    \
    for (int tries = 0; tries < 60 && (total) > 0 && (found) < 0; tries++) {                       \
      int at = pick(total);                                                                        \
      if (array[at].alive) found = at;                                                             \
    }                                                                                              \
  } while (0)

static void add_body(void) {
  if (body_total == MAX) return;
  RefBody *r = &bodies[body_total];
  CnBodyDef def = cn_body_def_default();
  def.kind = (CnBodyKind)pick(3);
  if (pick(2)) def.kind = CN_BODY_DYNAMIC;
  def.pose = (CnPose){any_vec(10), any_rotation()};
  if (def.kind != CN_BODY_FIXED) def.twist = (CnTwist){any_vec(3), any_vec(3)};
  def.user_data = (uint64_t)body_total;
  if (pick(3) == 0) {
    def.mass = uniform(0.5, 2);
    def.com = (CnPose){any_vec(0.2), any_rotation()};
    def.inertia = cn_srotate(cn_qmat(any_rotation()), cn_vec3(1, 1.2, 1.7));
  }
  CnBodyId id;
  if (cni_model_add_body(&model, &def, &id) != CN_OK) return;
  *r = (RefBody){id, def.kind, def.pose, def.twist, def.mass, 1};
  body_total++;
}

static void add_shape(void) {
  int b, m;
  LIVING(bodies, body_total, b);
  LIVING(materials, material_total, m);
  if (b < 0 || shape_total == MAX) return;
  CnShapeDef def = cn_shape_def_default((CnShapeKind)pick(CN_SHAPE_KIND_COUNT));
  if (cni_shape_needs_geometry(def.kind)) def.kind = CN_SHAPE_BOX;
  if (def.kind == CN_SHAPE_PLANE && bodies[b].kind == CN_BODY_DYNAMIC) def.kind = CN_SHAPE_BOX;
  def.radius = uniform(0.05, 0.3);
  def.half_length = uniform(0.05, 0.3);
  def.half_size = cn_vec3(uniform(0.05, 0.3), uniform(0.05, 0.3), uniform(0.05, 0.3));
  def.pose = (CnPose){any_vec(1), any_rotation()};
  def.density = pick(8) ? uniform(100, 2000) : 0;
  if (m >= 0 && pick(3)) def.material = materials[m].id;
  CnShapeId id;
  if (cni_model_add_shape(&model, bodies[b].id, &def, &id) != CN_OK) return;
  shapes[shape_total++] = (RefShape){id, b, def.material.slot ? m : -1, 1, def};
}

static void add_material(void) {
  if (material_total == MAX) return;
  CnMaterialDef def = cn_material_def_default();
  def.friction = uniform(0, 1);
  CnMaterialId id;
  if (cni_model_add_material(&model, &def, &id) != CN_OK) return;
  materials[material_total++] = (RefMaterial){id, 1, def.friction};
}

static void add_curve(void) {
  static const double x[] = {0.1, -0.1}, y[] = {0, 0}, half[] = {1, 1};
  CnCurveDef def = cn_curve_def_default(CN_CURVE_PATH);
  def.closed = 1;
  def.point_count = 2;
  def.x = x;
  def.y = y;
  def.bulges = half;
  CHECK_OK(cni_model_add_curve(&model, &def, &oval));
}

static void add_joint(void) {
  int a, b;
  LIVING(bodies, body_total, a);
  LIVING(bodies, body_total, b);
  if (a < 0 || joint_total == MAX) return;
  int ground = pick(8);
  if (ground < 2) b = -1;
  if (ground == 2) a = -1;
  int legal = a != b && ((a >= 0 && bodies[a].kind == CN_BODY_DYNAMIC) ||
                         (b >= 0 && bodies[b].kind == CN_BODY_DYNAMIC));
  CnJointDef def = cn_joint_def_default((CnJointKind)pick(CN_JOINT_KIND_COUNT));
  if (a >= 0) def.body_a = bodies[a].id;
  if (b >= 0) def.body_b = bodies[b].id;
  def.frame_a.position = any_vec(1);
  def.frame_b.position = any_vec(1);
  def.curve_a = def.curve_b = oval;
  if (cni_joint_kinds[def.kind]->curves < 2) def.curve_b = (CnCurveId){0, 0};
  if (cni_joint_kinds[def.kind]->curves < 1) def.curve_a = (CnCurveId){0, 0};
  if (cni_joint_kinds[def.kind]->curves) def.side = CN_SIDE_RIGHT;
  CnJointId id;
  CnStatus status = cni_model_add_joint(&model, &def, &id);
  if (status == CN_NO_MEMORY) return;
  CHECK(legal == (status == CN_OK));
  if (!legal) return;
  joints[joint_total++] = (RefJoint){id, a, b, 1, def.frame_a.position, def.frame_b.position};
}

static void remove_body(void) {
  int b;
  LIVING(bodies, body_total, b);
  if (b < 0) return;
  CHECK_OK(cni_model_remove_body(&model, bodies[b].id));
  bodies[b].alive = 0;
  for (int i = 0; i < shape_total; i++)
    if (shapes[i].body == b) shapes[i].alive = 0;
  for (int i = 0; i < joint_total; i++)
    if (joints[i].a == b || joints[i].b == b) joints[i].alive = 0;
}

static void remove_shape(void) {
  int s;
  LIVING(shapes, shape_total, s);
  if (s < 0) return;
  CHECK_OK(cni_model_remove_shape(&model, shapes[s].id));
  shapes[s].alive = 0;
}

static void remove_material(void) {
  int m, used = 0;
  LIVING(materials, material_total, m);
  if (m < 0) return;
  for (int i = 0; i < shape_total; i++) used += shapes[i].alive && shapes[i].material == m;
  CnStatus status = cni_model_remove_material(&model, materials[m].id);
  CHECK((used == 0) == (status == CN_OK));
  if (used == 0) materials[m].alive = 0;
}

static void remove_joint(void) {
  int j;
  LIVING(joints, joint_total, j);
  if (j < 0) return;
  CHECK_OK(cni_model_remove_joint(&model, joints[j].id));
  joints[j].alive = 0;
}

static void check_vec(CnVec3 a, CnVec3 b) {
  CHECK_NEAR(a.x, b.x, 1e-11);
  CHECK_NEAR(a.y, b.y, 1e-11);
  CHECK_NEAR(a.z, b.z, 1e-11);
}

static void check_body(const RefBody *r) {
  int32_t i;
  if (!r->alive) {
    CHECK_STATUS(cni_model_find_body(&model, r->id, &i), CN_INVALID_HANDLE);
    return;
  }
  CHECK_OK(cni_model_find_body(&model, r->id, &i));
  CHECK(model.bodies[i].user_data == (uint64_t)(r - bodies));
  CnPose pose = cni_model_body_pose(&model, i);
  check_vec(pose.position, r->pose.position);
  CnVec3 probe = cn_vec3(0.3, 0.5, -0.8);
  check_vec(cn_rotate(pose.rotation, probe), cn_rotate(r->pose.rotation, probe));
  check_vec(cni_model_body_twist(&model, i).velocity, r->twist.velocity);
  check_vec(cni_model_body_twist(&model, i).spin, r->twist.spin);

  // shapes in order of creation, their places, the centre of mass, the mass
  double mass = 0;
  CnVec3 moment = CN_VEC3_ZERO;
  int32_t s = model.bodies[i].first_shape, count = 0;
  for (int k = 0; k < shape_total; k++) {
    if (!shapes[k].alive || shapes[k].body != r - bodies) continue;
    CHECK(s >= 0);
    CHECK(model.shapes[s].slot == shapes[k].id.slot);
    CniPlaced placed = cni_model_placed(&model, s, &model.pose[i]);
    check_vec(placed.pose.position, cn_pose_point(r->pose, shapes[k].def.pose.position));
    check_vec(cn_rotate(placed.pose.rotation, probe),
              cn_rotate(r->pose.rotation, cn_rotate(shapes[k].def.pose.rotation, probe)));
    const CnShapeDef *def = &shapes[k].def;
    CniPlaced alone = cni_shape_placed(def);
    CniMassProps part = cni_shape_mass(&alone, def->density);
    mass += part.mass;
    moment = cn_madd(moment, part.mass, part.centre);
    s = model.shapes[s].next;
    count++;
  }
  CHECK(s == -1 && count == cni_model_shape_count(&model, i));
  int32_t first = model.bodies[i].first_shape;
  CHECK(first < 0 || model.shapes[model.shapes[first].previous].next == -1);
  if (r->mass > 0) {
    CHECK(model.mass[i].mass == r->mass);
  } else {
    CHECK_REL(model.mass[i].mass, mass, 1e-12);
    if (mass > 0 && r->kind == CN_BODY_DYNAMIC)
      check_vec(cni_body_com(&model.bodies[i]).position, cn_scale(1 / mass, moment));
  }
}

static void check_shape(const RefShape *r) {
  int32_t i, b;
  if (!r->alive) {
    CHECK_STATUS(cni_model_find_shape(&model, r->id, &i), CN_INVALID_HANDLE);
    return;
  }
  CHECK_OK(cni_model_find_shape(&model, r->id, &i));
  CHECK_OK(cni_model_find_body(&model, bodies[r->body].id, &b));
  CHECK(model.shapes[i].body == b);
  double friction = r->material < 0 ? 0.5 : materials[r->material].friction;
  CHECK(model.materials[model.shapes[i].material].def.friction == friction);
}

static void check_end(int32_t body, CnVec3 local, int ref, CnVec3 given) {
  CnVec3 at = body < 0 ? local : cn_pose_point(model.pose[body], local);
  check_vec(at, body < 0 ? given : cn_pose_point(bodies[ref].pose, given));
}

static void check_joint(const RefJoint *r) {
  int32_t i, a = -1, b = -1;
  if (!r->alive) {
    CHECK_STATUS(cni_model_find_joint(&model, r->id, &i), CN_INVALID_HANDLE);
    return;
  }
  CHECK_OK(cni_model_find_joint(&model, r->id, &i));
  if (r->a >= 0) CHECK_OK(cni_model_find_body(&model, bodies[r->a].id, &a));
  if (r->b >= 0) CHECK_OK(cni_model_find_body(&model, bodies[r->b].id, &b));
  const CniJoint *j = &model.joints[i];
  CHECK(j->body_a == a && j->body_b == b);
  check_end(a, j->local_a.position, r->a, r->local_a);
  check_end(b, j->local_b.position, r->b, r->local_b);
}

static void check_everything(void) {
  int counts[4] = {0, 0, 0, 0};
  for (int i = 0; i < body_total; i++) {
    check_body(&bodies[i]);
    counts[0] += bodies[i].alive;
  }
  for (int i = 0; i < shape_total; i++) {
    check_shape(&shapes[i]);
    counts[1] += shapes[i].alive;
  }
  for (int i = 0; i < joint_total; i++) {
    check_joint(&joints[i]);
    counts[2] += joints[i].alive;
  }
  for (int i = 0; i < material_total; i++) {
    int32_t index;
    CnStatus status = cni_model_find_material(&model, materials[i].id, &index);
    CHECK((status == CN_OK) == materials[i].alive);
    if (status == CN_OK) CHECK(model.materials[index].def.friction == materials[i].friction);
    counts[3] += materials[i].alive;
  }
  CHECK(counts[0] == model.body_count && counts[1] == model.shape_count);
  CHECK(counts[2] == model.joint_count && counts[3] + 1 == model.material_count);
}

// All bodies in any other order: nothing that can be asked by id changes.
static void shuffle(void) {
  static CniRng deck = {5};
  static int32_t order[MAX];
  static _Alignas(64) char scratch[1 << 21];
  CHECK(cni_model_reorder_bytes(&model) <= sizeof scratch);
  for (int32_t i = 0; i < model.body_count; i++) order[i] = i;
  for (int32_t i = model.body_count - 1; i > 0; i--) {
    int32_t j = (int32_t)(cni_rng_unit(&deck) * (i + 1)), moved = order[i];
    order[i] = order[j];
    order[j] = moved;
  }
  cni_model_reorder(&model, order, scratch);
  for (int32_t i = 1; i < model.shape_count; i++)
    CHECK(model.shapes[i - 1].body <= model.shapes[i].body);
}

static void test_walk(void **state) {
  (void)state;
  static void (*const moves[])(void) = {add_body,    add_body,     add_shape,       add_shape,
                                        add_shape,   add_material, add_joint,       add_joint,
                                        remove_body, remove_shape, remove_material, remove_joint};
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CHECK_OK(cni_model_init(&model, &hook));
  add_curve();
  rng.state = 2024;
  for (int step = 0; step < 6000; step++) {
    // tides: now it grows, now it shrinks
    int from = step / 700 % 2 ? 5 : 0;
    int move = from + pick(12 - from);
    if (pick(20) == 0) test_alloc_fail_at(&alloc, 1);
    moves[move]();
    test_alloc_fail_never(&alloc);
    if (step % 40 == 0) shuffle();
    CHECK_OK(cni_model_consistent(&model));
    if (step % 150 == 0) check_everything();
  }
  CHECK(body_total > 500 && shape_total > 500 && joint_total > 100 && material_total > 100);
  check_everything();
  cni_model_release(&model);
  test_alloc_check_clean(&alloc);
}

// The derived data is a function of the definitions: deriving again changes no bit.
static void test_derive(void **state) {
  (void)state;
  body_total = shape_total = material_total = joint_total = 0;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CHECK_OK(cni_model_init(&model, &hook));
  add_curve();
  rng.state = 7;
  for (int i = 0; i < 40; i++) add_body();
  for (int i = 0; i < 150; i++) add_shape();
  for (int i = 0; i < 60; i++) add_joint();
  for (int i = 0; i < 30; i++) remove_shape();
  static CniJoint old_joints[100];
  static CniBodyMass old_mass[60];
  static CnVec3 old_inertia[60];
  static CnPose old_com[60], old_pose[200];
  memcpy(old_joints, model.joints, (size_t)model.joint_count * sizeof(CniJoint));
  memcpy(old_mass, model.mass, (size_t)model.body_count * sizeof(CniBodyMass));
  for (int i = 0; i < model.body_count; i++) {
    old_com[i] = cni_body_com(&model.bodies[i]);
    old_inertia[i] = cni_model_principal(&model, i);
  }
  for (int i = 0; i < model.shape_count; i++) old_pose[i] = cni_shape_pose(&model.shapes[i]);
  CHECK_OK(cni_model_derive(&model));
  for (int i = 0; i < model.shape_count; i++) {
    CnPose pose = cni_shape_pose(&model.shapes[i]);
    assert_memory_equal(&old_pose[i], &pose, sizeof(CnPose));
  }
  for (int i = 0; i < model.joint_count; i++) {
    assert_memory_equal(&old_joints[i].local_a, &model.joints[i].local_a, sizeof(CnPose));
    assert_memory_equal(&old_joints[i].local_b, &model.joints[i].local_b, sizeof(CnPose));
  }
  for (int i = 0; i < model.body_count; i++) {
    CnPose com = cni_body_com(&model.bodies[i]);
    assert_memory_equal(&old_com[i], &com, sizeof(CnPose));
    CnVec3 inertia = cni_model_principal(&model, i);
    assert_memory_equal(&old_inertia[i], &inertia, sizeof(CnVec3));
  }
  assert_memory_equal(old_mass, model.mass, (size_t)model.body_count * sizeof(CniBodyMass));
  cni_model_release(&model);
  test_alloc_check_clean(&alloc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_walk),
      cmocka_unit_test(test_derive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
