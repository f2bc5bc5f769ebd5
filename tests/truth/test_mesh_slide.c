// SPDX-License-Identifier: Apache-2.0
// Bodies slide and roll over a flat floor of triangles as over a half-space: no edge inside it is felt.
#include "check.h"
#include "core/math.h"
#include "meshes.h"
#include "worlds.h"

// 10 m by 10 m in `cells` by `cells` cells, two triangles each, at random places, turned by a pose.
static CnBodyId add_floor(CnWorld *world, CniRng *rng, int cells, CnPose pose,
                          CnMaterialId material) {
  MeshLists lists = mesh_floor(8, 8, cells, cells);
  if (rng) mesh_shuffle(&lists, rng, 8, 8, cells, cells);
  return mesh_body(world, lists, CN_BODY_FIXED, pose, 0, 0, material);
}

// Shapes that stand or lie at the height h over their floor.
static CnShapeDef shape_of(int kind, double *height) {
  static const CnShapeKind kinds[] = {CN_SHAPE_BOX, CN_SHAPE_CAPSULE, CN_SHAPE_CYLINDER,
                                      CN_SHAPE_CYLINDER, CN_SHAPE_SPHERE};
  CnShapeDef def = cn_shape_def_default(kinds[kind]);
  def.radius = .25;
  def.half_length = .4;
  def.half_size = cn_vec3(.5, .5, .25);
  *height = kind == 2 ? .4 : .25;
  if (kind == 1 || kind == 3) def.pose.rotation = turn(cn_vec3(1, 0, 0), CNI_PI / 2);
  return def;
}

static void slide(int kind, int n, double speed, int tilted) {
  CniRng rng = {(uint64_t)(10 * kind + n + 1)};
  CnWorldDef def = cn_world_def_default();
  CnPose pose = {random_in_cube(&rng, 1), CN_QUAT_ONE};
  if (tilted) {
    pose.rotation = random_rotation(&rng);
    def.gravity = cn_scale(-9.81, cn_rotate(pose.rotation, cn_vec3(0, 0, 1)));
  }
  def.time_step = .01;
  CnWorld *world = world_make(&def);
  CnMaterialId smooth = world_material(world, 0, 0);
  add_floor(world, &rng, 10, pose, smooth);
  double height, angle = n * 0.7 + .1;
  CnShapeDef shape = shape_of(kind, &height);
  shape.material = smooth;
  CnVec3 way = {cni_cos(angle), cni_sin(angle), 0};
  CnVec3 from = cn_madd(cn_vec3(.0137, -.0241, height), -5, way);
  CnQuat about = turn(cn_vec3(0, 0, 1), .3 * n);
  CnBodyDef body = cn_body_def_default();
  body.pose = (CnPose){cn_pose_point(pose, from), cn_qmul(pose.rotation, about)};
  body.twist.velocity = cn_rotate(pose.rotation, cn_scale(speed, way));
  CnBodyId id;
  CnShapeId of;
  CHECK_OK(cn_body_create(world, &body, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &of));
  double worst = 0, slowest = 0;
  for (int i = 0; i < (int)(10 / speed / def.time_step); i++) {
    world_step(world);
    CnPose now;
    CnTwist twist;
    CHECK_OK(cn_body_pose(world, id, &now));
    CHECK_OK(cn_body_twist(world, id, &twist));
    worst = cn_max(worst, fabs(cn_pose_local(pose, now.position).z - height));
    slowest = cn_max(slowest, fabs(cn_norm(twist.velocity) - speed) / speed);
  }
  if (!(worst < 1e-6 && slowest < 1e-6))
    print_message("kind %d way %d: height %.2g m, speed %.2g\n", kind, n, worst, slowest);
  CHECK(worst < 1e-6 && slowest < 1e-6);
  cn_world_destroy(world);
}

static void frictionless(void **state) {
  (void)state;
  for (int kind = 0; kind < 5; kind++)
    for (int n = 0; n < 9; n++) slide(kind, n, n % 2 ? 5 : 2, n % 3 == 2);
}

// Rolling without slipping it keeps its speed, too.
static void rolling(void **state) {
  (void)state;
  for (int n = 0; n < 5; n++) {
    CniRng rng = {(uint64_t)(n + 77)};
    CnWorldDef def = cn_world_def_default();
    CnWorld *world = world_make(&def);
    CnMaterialId rough = world_material(world, .5, 0);
    add_floor(world, &rng, 10, CN_POSE_ONE, rough);
    double angle = .1 + n * 1.3, v = 3;
    CnVec3 way = {cni_cos(angle), cni_sin(angle), 0};
    CnVec3 from = cn_madd(cn_vec3(.0137, -.0241, .25), -5, way);
    CnBodyId ball = world_ball(world, .25, 1, from, cn_scale(v, way), rough);
    CnTwist twist = {cn_scale(v, way), cn_scale(v / .25, cn_cross(cn_vec3(0, 0, 1), way))};
    CHECK_OK(cn_body_set_twist(world, ball, &twist));
    for (int i = 0; i < 330; i++) {
      world_step(world);
      CHECK_NEAR(cn_norm(world_twist(world, ball).velocity), v, 1e-6 * v);
      CHECK_NEAR(world_pose(world, ball).position.z, .25, 1e-6);
    }
    cn_world_destroy(world);
  }
}

// A box and a ball over cells of .3 m, at 0, 20 and 45 degrees to the edges. With friction the box
// stops after a closed form of the scheme's own, straight and without a turn.
static void bump(void **state) {
  (void)state;
  const double angles[3] = {0, CNI_PI / 9, CNI_PI / 4}, h = .01, v = 5, mu = .3;
  for (int n = 0; n < 12; n++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = h;
    CnWorld *world = world_make(&def);
    int rubs = n % 2, ball = n / 6;
    if (ball && rubs) {
      cn_world_destroy(world);
      continue;
    }
    CnMaterialId material = world_material(world, rubs ? mu : 0, 0);
    MeshLists lists = mesh_floor(18, 18, 120, 120);
    CnBodyId body;
    mesh_body(world, lists, CN_BODY_FIXED, CN_POSE_ONE, 0, 0, material);
    double a = angles[n / 2 % 3];
    CnVec3 way = {cni_cos(a), cni_sin(a), 0}, from = {-.013, .021, .25};
    from = cn_madd(from, -15, way);
    if (ball)
      body = world_ball(world, .25, 1, from, cn_scale(v, way), material);
    else
      body = world_box(world, cn_vec3(.5, .5, .25), 1, (CnPose){from, CN_QUAT_ONE},
                       cn_scale(v, way), material);
    int steps = rubs ? 250 : 600;
    for (int i = 0; i < steps; i++) world_step(world);
    CnPose end = world_pose(world, body);
    CnVec3 gone = cn_sub(end.position, from);
    CHECK_NEAR(end.position.z, .25, 1e-6);
    // impulses at the ends of the steps: v h/2 short of v^2/(2 mu g)
    double far = rubs ? v * v / (2 * mu * 9.81) : v * h * steps;
    CHECK_NEAR(cn_dot(gone, way), far, rubs ? .51 * v * h + 1e-3 : 1e-6 * far);
    CHECK_NEAR(cn_norm(cn_cross(gone, way)), 0, 1e-6);
    CHECK_NEAR(fabs(end.rotation.w), 1, 1e-9);
    if (!rubs) CHECK_NEAR(cn_norm(world_twist(world, body).velocity), v, 1e-6 * v);
    cn_world_destroy(world);
  }
}

// A ball at 5 m/s leaves a ridge of 1 degree and lands on the slope. Over the ridge its centre is
// r (1 - cos) nearer to the slope than r: it comes down with u^2 = (v sin)^2 - 2 g cos r (1 - cos)
// along the normal, which is lost. Up the same slope v sin is lost at once.
static void fold(void **state) {
  (void)state;
  const double slope = CNI_PI / 180, v = 5, r = .25;
  for (int up = 0; up < 2; up++)
    for (int n = 0; n < 3; n++) {
      CnWorldDef def = cn_world_def_default();
      def.time_step = 2e-5;
      def.gravity = cn_vec3(0, 0, up ? 0 : -9.81);
      CnWorld *world = world_make(&def);
      CnMaterialId smooth = world_material(world, 0, 0);
      MeshLists lists = mesh_floor(2, 2, 8, 8);
      for (int32_t i = 0; i < lists.vertex_count; i++) {
        double x = lists.vertices[i].x;
        if (x > 0) lists.vertices[i].z = (up ? 1 : -1) * x * cni_sin(slope) / cni_cos(slope);
      }
      mesh_body(world, lists, CN_BODY_FIXED, CN_POSE_ONE, 0, 0, smooth);
      CnVec3 from = {-.0123, .037 + .2 * n, r};
      world_ball(world, r, 1, from, cn_vec3(v, 0, 0), smooth);
      double before = world_energy(world);
      for (int i = 0; i < 1500; i++) world_step(world);
      double lost = before - world_energy(world), sine = cni_sin(slope), cosine = cni_cos(slope);
      double truth = v * v * sine * sine / 2;
      if (!up) truth -= 9.81 * cosine * r * (1 - cosine);
      CHECK_NEAR(lost, truth, .01 * truth);
      cn_world_destroy(world);
    }
}

// A ball swings through a trough of plane pieces, d rad apart. Its centre goes along a polygon, and each corner takes of its
// kinetic energy sin^2 of the angle where it slides; where it rolls, the momentum about the new place is kept:
// 1 - ((cos + 2/5) / (7/5))^2. Nothing else: what it comes to before its feet is no load that is there already, and
// holds it neither before it is touched (m g times the gap would be lost at a corner) nor too late.
static void swing(double d, int pieces, double big, double r, double start, double h, double mu,
                  double bound) {
  const double g = 9.81;
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, mu, 0);
  MeshLists lists = mesh_floor(0.5 * pieces, 1, pieces, 1);
  for (int32_t i = 0; i < lists.vertex_count; i++) {
    double a = d * lists.vertices[i].x;
    lists.vertices[i].x = big * cni_sin(a);
    lists.vertices[i].z = -big * cni_cos(a);
  }
  mesh_body(world, lists, CN_BODY_FIXED, CN_POSE_ONE, 0, 0, material);
  // from the centre of the trough to that of the ball, at the middle of a piece
  double near = big * cni_cos(d / 2) - r, angle = start * d;
  CnVec3 from = {near * cni_sin(angle), .1, -near * cni_cos(angle)};
  CnBodyId ball = world_ball(world, r, 1, from, CN_VEC3_ZERO, material);

  double energy = g * from.z, least = -g * near; // a kilogram
  double kept = (cni_cos(d) + .4) / 1.4;
  double share = mu > 0 ? 1 - kept * kept : cni_sin(d) * cni_sin(d);
  for (int j = (int)start; j >= -pieces / 2; j--) {
    double kinetic = energy + g * near / cni_cos(d / 2) * cni_cos(j * d);
    if (kinetic <= 0) break;
    energy -= kinetic * share;
  }
  CnTwist twist;
  int n = 0;
  do {
    world_step(world);
    twist = world_twist(world, ball);
  } while (++n < 4000 && twist.velocity.x <= 0);
  CHECK(n < 4000);
  double got = .5 * cn_norm2(twist.velocity) + .2 * r * r * cn_norm2(twist.spin) +
               g * world_pose(world, ball).position.z;
  CHECK_NEAR((got - least) / (g * from.z - least), (energy - least) / (g * from.z - least), bound);
  cn_world_destroy(world);
}

static void trough(void **state) {
  (void)state;
  swing(.03, 40, .5, .05, 9.5, 5e-4, 0, .007);
  for (int n = 0; n < 6; n++) swing(.004, 120, 1, .05, 49.5, 2e-3 / (1 << n / 2), n % 2, 6e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(frictionless), cmocka_unit_test(rolling),
                                     cmocka_unit_test(bump), cmocka_unit_test(fold),
                                     cmocka_unit_test(trough)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
