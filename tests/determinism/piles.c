// SPDX-License-Identifier: Apache-2.0
// Piles of spheres, boxes, both, and chains of both hanging in a heap. Rolling friction, bouncing
// and a conveyor are among them, so that every law takes part in the bits. The wide ones have so
// many contacts that the solver cuts them into slabs for its workers, and so many bodies that the
// world puts them in order; the last one so many that slabs are cut into columns.
#include "piles.h"

// A small generator of positions; any will do as long as it is the same everywhere.
static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

// Three draws in a fixed order (within one expression the order would be the compiler's).
static CnVec3 draw3(uint64_t *state) {
  double x = draw(state), y = draw(state), z = draw(state);
  return (CnVec3){x, y, z};
}

// A world with a floor and four walls that lean outwards, `half` m from the middle.
static CnWorld *open_box(int32_t worker_count, double half, CnMaterialId *material) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.005;
  def.worker_count = worker_count;
  def.solver = cn_solver_def_default("psor");
  def.solver.max_iterations = 30;
  CnWorld *world = NULL;
  if (cn_world_create(&def, &world) != CN_OK) return NULL;
  CnMaterialDef belt = cn_material_def_default();
  belt.surface_velocity = (CnVec3){0.3, 0, 0};
  belt.restitution = 0.3;
  belt.rolling_friction = 0.002;
  CnMaterialDef plain = cn_material_def_default();
  plain.restitution = 0.1;
  CnBodyDef ground = cn_body_def_default();
  ground.kind = CN_BODY_FIXED;
  CnBodyId body;
  CnMaterialId belt_id;
  int ok = cn_material_create(world, &plain, material) == CN_OK &&
           cn_material_create(world, &belt, &belt_id) == CN_OK &&
           cn_body_create(world, &ground, &body) == CN_OK;
  // tilts about y and x by +-0.6 rad: half-angle cosine and sine
  const double c = 0.955336489125606, s = 0.29552020666133955;
  const CnPose faces[5] = {{{0, 0, 0}, {1, 0, 0, 0}},
                           {{-half, 0, 0}, {c, 0, s, 0}},
                           {{half, 0, 0}, {c, 0, -s, 0}},
                           {{0, -half, 0}, {c, -s, 0, 0}},
                           {{0, half, 0}, {c, s, 0, 0}}};
  for (int i = 0; ok && i < 5; ++i) {
    CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
    plane.pose = faces[i];
    plane.material = i == 0 ? belt_id : *material;
    CnShapeId shape;
    ok = cn_shape_create(world, body, &plane, &shape) == CN_OK;
  }
  if (ok) return world;
  cn_world_destroy(world);
  return NULL;
}

// Drop `count` bodies in layers of side x side, so far above each other; every box_every-th is a box
// (0: none); with links, each is joined to the one before it for runs of four.
static CnWorld *drop_layers(int32_t worker_count, int side, int count, double height, int box_every,
                            int links) {
  CnMaterialId material;
  CnWorld *world = open_box(worker_count, 0.1 * side, &material);
  uint64_t random = 7;
  CnBodyId last = {0, 0};
  for (int i = 0; world != NULL && i < count; ++i) {
    CnBodyDef def = cn_body_def_default();
    CnVec3 shift = draw3(&random), size = draw3(&random);
    double corner = 0.1 * (side - 1);
    def.pose.position = (CnVec3){0.2 * (i % side) - corner + 0.02 * shift.x,
                                 0.2 * (i / side % side) - corner + 0.02 * shift.y,
                                 0.15 + height * (i / (side * side))};
    def.twist.spin = draw3(&random);
    int is_box = box_every > 0 && i % box_every == 0;
    CnShapeDef shape = cn_shape_def_default(is_box ? CN_SHAPE_BOX : CN_SHAPE_SPHERE);
    shape.radius = 0.06 + 0.03 * size.x;
    shape.half_size = (CnVec3){0.05 + 0.04 * size.y, 0.06, 0.08};
    shape.material = material;
    CnBodyId body;
    CnShapeId shape_id;
    int ok = cn_body_create(world, &def, &body) == CN_OK &&
             cn_shape_create(world, body, &shape, &shape_id) == CN_OK;
    if (ok && links && i % 4 != 0) {
      CnJointDef joint = cn_joint_def_default(i % 2 ? CN_JOINT_BALL : CN_JOINT_DISTANCE);
      joint.body_a = last;
      joint.body_b = body;
      CnJointId joint_id;
      ok = cn_joint_def_at(world, def.pose.position, &joint) == CN_OK;
      if (joint.kind == CN_JOINT_DISTANCE) joint.frame_a.position = (CnVec3){0, 0, 0};
      ok = ok && cn_joint_create(world, &joint, &joint_id) == CN_OK;
    }
    last = body;
    if (ok) continue;
    cn_world_destroy(world);
    world = NULL;
  }
  return world;
}

static CnWorld *drop(int32_t workers, int side, int count, int box_every, int links) {
  return drop_layers(workers, side, count, 0.2, box_every, links);
}

static CnWorld *spheres(int32_t workers) { return drop(workers, 5, 300, 0, 0); }
static CnWorld *boxes(int32_t workers) { return drop(workers, 5, 200, 1, 0); }
static CnWorld *both(int32_t workers) { return drop(workers, 5, 250, 2, 0); }
static CnWorld *chains(int32_t workers) { return drop(workers, 5, 120, 3, 1); }
static CnWorld *wide_spheres(int32_t workers) { return drop(workers, 14, 1372, 0, 0); }
static CnWorld *wide_boxes(int32_t workers) { return drop(workers, 14, 784, 1, 0); }
static CnWorld *wide_both(int32_t workers) { return drop(workers, 14, 980, 2, 0); }

// near each other from the start, as it takes few steps
static CnWorld *columns(int32_t workers) { return drop_layers(workers, 18, 5184, 0.15, 7, 0); }

static CnWorld *wide_chains(int32_t workers) { return drop(workers, 14, 588, 3, 1); }

// A ball that is as wide as a quarter of the heap, and falls into it.
static CnWorld *with_boulder(int32_t workers) {
  CnWorld *world = drop_layers(workers, 14, 1176, 0.15, 7, 0);
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnBodyId body;
  CnShapeId shape_id;
  def.pose.position = (CnVec3){0.1, 0, 1.5};
  def.twist.velocity.z = -3;
  shape.radius = 0.45;
  if (world && cn_body_create(world, &def, &body) == CN_OK &&
      cn_shape_create(world, body, &shape, &shape_id) == CN_OK)
    return world;
  cn_world_destroy(world);
  return NULL;
}

// Every third body is thrown across the scene: the order of bodies in memory is soon none.
static CnWorld *thrown(int32_t workers) {
  CnWorld *world = drop_layers(workers, 14, 1372, 0.16, 5, 0);
  uint64_t random = 3;
  CnBodyId body = {0, 0};
  for (int i = 0; world && (body = cn_world_next_body(world, body)).generation; ++i) {
    CnVec3 way = draw3(&random);
    CnTwist twist = {{10 * way.x - 5, 10 * way.y - 5, 2 * way.z}, {0, 0, 0}};
    if (i % 3 == 2) (void)cn_body_set_twist(world, body, &twist);
  }
  return world;
}

// A drum that its motor turns, with mass, half full of balls: a body that touches all others.
static CnWorld *drum(int32_t workers) {
  CnMaterialId material;
  CnWorld *world = open_box(workers, 4, &material);
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  CnShapeId shape_id;
  CnJointId joint_id;
  const double c = 0.9238795325112867, s = 0.38268343236508977; // of an eighth of a turn
  def.pose.position.z = 1.5;
  int ok = world && cn_body_create(world, &def, &body) == CN_OK;
  CnQuat turn = {1, 0, 0, 0};
  for (int i = 0; ok && i < 10; ++i) {
    // eight staves about y, then the lids
    CnShapeDef side = cn_shape_def_default(CN_SHAPE_BOX);
    side.material = material;
    side.half_size = i < 8 ? (CnVec3){0.36, 0.8, 0.05} : (CnVec3){0.9, 0.05, 0.9};
    double cosine = turn.w * turn.w - turn.y * turn.y, sine = 2 * turn.w * turn.y;
    if (i < 8) side.pose = (CnPose){{-0.85 * sine, 0, -0.85 * cosine}, turn};
    if (i >= 8) side.pose.position.y = i == 8 ? -0.85 : 0.85;
    ok = cn_shape_create(world, body, &side, &shape_id) == CN_OK;
    turn = (CnQuat){c * turn.w - s * turn.y, 0, c * turn.y + s * turn.w, 0};
  }
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
  hinge.body_a = body;
  hinge.axes[0].motor_speed = 3;
  hinge.axes[0].motor_effort = 2e4;
  ok = ok && cn_joint_def_at(world, def.pose.position, &hinge) == CN_OK;
  hinge.frame_a.rotation = hinge.frame_b.rotation =
      (CnQuat){0.7071067811865476, -0.7071067811865476, 0, 0}; // z along y
  ok = ok && cn_joint_create(world, &hinge, &joint_id) == CN_OK;
  uint64_t random = 5;
  for (int i = 0; ok && i < 900; ++i) {
    CnVec3 size = draw3(&random);
    CnShapeDef ball = cn_shape_def_default(CN_SHAPE_SPHERE);
    ball.radius = 0.055 + 0.01 * size.x;
    ball.material = material;
    def = cn_body_def_default();
    def.pose.position = (CnVec3){0.135 * (i % 8) - 0.47 + 0.01 * size.y,
                                 0.135 * (i / 8 % 11) - 0.675, 1.1 + 0.132 * (i / 88)};
    ok = cn_body_create(world, &def, &body) == CN_OK &&
         cn_shape_create(world, body, &ball, &shape_id) == CN_OK;
  }
  if (ok) return world;
  cn_world_destroy(world);
  return NULL;
}

// A chain of balls that swings through the heap from a hook above it.
static CnWorld *swing(int32_t workers) {
  CnWorld *world = drop_layers(workers, 14, 1176, 0.15, 7, 0);
  CnBodyId last = {0, 0};
  for (int i = 0; world && i < 12; ++i) {
    CnBodyDef def = cn_body_def_default();
    CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    CnShapeId shape_id;
    CnJointId joint_id;
    def.pose.position = (CnVec3){0.2 * i - 0.8, 0.3, 1.6};
    def.twist.velocity.z = -0.5 * i;
    shape.radius = 0.08;
    shape.density = 5000;
    CnVec3 hook = {0.2 * i - 0.9, 0.3, 1.6};
    int ok = cn_body_create(world, &def, &joint.body_b) == CN_OK &&
             cn_shape_create(world, joint.body_b, &shape, &shape_id) == CN_OK;
    joint.body_a = last;
    last = joint.body_b;
    ok = ok && cn_joint_def_at(world, hook, &joint) == CN_OK &&
         cn_joint_create(world, &joint, &joint_id) == CN_OK;
    if (ok) continue;
    cn_world_destroy(world);
    world = NULL;
  }
  return world;
}

static CnWorld *many(int32_t workers) { return drop_layers(workers, 30, 27000, 0.145, 0, 0); }
static CnWorld *many_both(int32_t workers) { return drop_layers(workers, 30, 27000, 0.15, 4, 0); }

const Pile heaps[] = {
    {"wide-chains", wide_chains, 60},
    {"boulder", with_boulder, 60},
    {"thrown", thrown, 80},
    {"drum", drum, 40},
    {"swing", swing, 40},
    {"many", many, 3},
    {"many-both", many_both, 3},
};
const int heap_count = sizeof heaps / sizeof heaps[0];

// Balls on strings that hit each other and the floor, by an integrator that works with equations.
static CnWorld *mechanism(const char *integrator, int32_t projection, int32_t workers) {
  CnWorldDef def = cn_world_def_default();
  def.integration.projection = projection;
  def.integrator = integrator;
  def.time_step = 0.01;
  def.worker_count = workers;
  CnWorld *world = NULL;
  if (cn_world_create(&def, &world) != CN_OK) return NULL;
  CnMaterialDef smooth = cn_material_def_default();
  smooth.friction = 0;
  smooth.restitution = 0.7;
  CnMaterialId material;
  CnBodyDef ground = cn_body_def_default();
  ground.kind = CN_BODY_FIXED;
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyId body;
  CnShapeId shape_id;
  CnJointId joint_id;
  int ok = cn_material_create(world, &smooth, &material) == CN_OK &&
           cn_body_create(world, &ground, &body) == CN_OK;
  plane.material = material;
  ok = ok && cn_shape_create(world, body, &plane, &shape_id) == CN_OK;
  for (int i = 0; ok && i < 5; ++i) {
    CnBodyDef ball = cn_body_def_default();
    ball.pose.position = (CnVec3){0.31 * i, 0.02 * i, 0.5 + 0.1 * i};
    ball.twist.velocity = (CnVec3){i == 0 ? 2 : 0, 0.1 * i, 0};
    ball.twist.spin = (CnVec3){i, 1, 0.5};
    CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
    sphere.radius = 0.1;
    sphere.material = material;
    ok = cn_body_create(world, &ball, &body) == CN_OK &&
         cn_shape_create(world, body, &sphere, &shape_id) == CN_OK;
    if (!ok || i % 2 == 0) continue;
    CnJointDef joint = cn_joint_def_default(i == 1 ? CN_JOINT_BALL : CN_JOINT_DISTANCE);
    joint.body_a = body;
    CnVec3 hook = {ball.pose.position.x, ball.pose.position.y, 1.5};
    ok = cn_joint_def_at(world, hook, &joint) == CN_OK;
    if (joint.kind == CN_JOINT_DISTANCE) joint.frame_a.position = (CnVec3){0, 0, 0};
    // strings start at rest in their own direction
    CnTwist still = {{0, 0, 0}, {0, 0, 1}};
    ok = ok && cn_body_set_twist(world, body, &still) == CN_OK &&
         cn_joint_create(world, &joint, &joint_id) == CN_OK;
  }
  if (ok) return world;
  cn_world_destroy(world);
  return NULL;
}

static CnWorld *by_hem5(int32_t workers) { return mechanism("hem5", -1, workers); }
static CnWorld *by_rkf45(int32_t workers) { return mechanism("rkf45", -1, workers); }
static CnWorld *by_moreau_jean(int32_t workers) { return mechanism("moreau-jean", -1, workers); }
// every third step ends with a projection, also where a snapshot lies between
static CnWorld *projected(int32_t workers) { return mechanism("moreau-jean", 3, workers); }

const Pile piles[] = {
    {"spheres", spheres, 120},
    {"boxes", boxes, 120},
    {"both", both, 120},
    {"chains", chains, 120},
    {"wide-spheres", wide_spheres, 120},
    {"wide-boxes", wide_boxes, 120},
    {"wide-both", wide_both, 120},
    {"columns", columns, 8},
    {"hem5", by_hem5, 120},
    {"rkf45", by_rkf45, 120},
    {"moreau-jean", by_moreau_jean, 120},
    {"moreau-jean-projected", projected, 120},
};
const int pile_count = sizeof piles / sizeof piles[0];
