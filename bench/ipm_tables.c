// SPDX-License-Identifier: Apache-2.0
#include "ipm_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/math.h"
#include "scene_g.h"
#include "solver/cones/cones.h"
#include "solver/solver.h"

#define RADIUS 0.1
#define DENSITY 1000.0
#define ITERATIONS 100

// ---- worlds ----

static CnStatus open_scene(IpmScene *scene, const char *solver, CnMaterialId *material) {
  CnWorldDef def = cn_world_def_default();
  CnAllocator allocator = cn_allocator_default();
  memset(scene, 0, sizeof *scene);
  scene->units = 1;
  def.time_step = 0.01;
  def.contact_margin = 0.1 * RADIUS;
  // b = phi/h, and at most 1 m/s out of overlaps
  def.contact_stabilisation = 1;
  def.contact_slop = 1e-9;
  def.recovery_speed = 1;
  def.solver = cn_solver_def_default(solver);
  def.solver.effort = CN_EFFORT_EXACT;
  if (strcmp(solver, "psor") == 0) {
    def.solver.tolerance = 1e-4;
    def.solver.max_iterations = 1000;
  }
  CnStatus status = cn_world_create(&def, &scene->world);
  if (status == CN_OK) status = cni_cones_create(&allocator, &scene->cones);
  CnMaterialDef smooth = cn_material_def_default();
  smooth.friction = 0;
  smooth.restitution = 0;
  return status == CN_OK ? cn_material_create(scene->world, &smooth, material) : status;
}

static CnStatus add_body(IpmScene *scene, const CnBodyDef *body, CnShapeDef *shape,
                         CnMaterialId material) {
  CnBodyId id;
  CnShapeId shape_id;
  shape->material = material;
  CnStatus status = cn_body_create(scene->world, body, &id);
  return status == CN_OK ? cn_shape_create(scene->world, id, shape, &shape_id) : status;
}

static CnStatus add_plane(IpmScene *scene, CnVec3 normal, double offset, CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_PLANE);
  body.kind = CN_BODY_FIXED;
  shape.pose.position = (CnVec3){offset * normal.x, offset * normal.y, offset * normal.z};
  // the turn that takes z to the normal; no normal points down
  double w = sqrt((1 + normal.z) / 2);
  shape.pose.rotation = (CnQuat){w, -normal.y / (2 * w), normal.x / (2 * w), 0};
  return add_body(scene, &body, &shape, material);
}

static CnStatus add_ball(IpmScene *scene, CnVec3 position, double ratio, CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  body.mass = ratio * DENSITY * 4 / 3 * CNI_PI * RADIUS * RADIUS * RADIUS;
  double inertia = 0.4 * body.mass * RADIUS * RADIUS;
  body.inertia = (CnSym3){inertia, inertia, inertia, 0, 0, 0};
  body.pose.position = position;
  shape.radius = RADIUS;
  return add_body(scene, &body, &shape, material);
}

CnStatus ipm_scene_balls(IpmScene *scene, int32_t count, double ratio) {
  CnMaterialId material;
  double planes[4 * SCENE_G_PLANES];
  CnStatus status = open_scene(scene, ratio == 1 ? "psor" : "ipm", &material);
  scene->units = ratio == 1;
  double *positions = malloc(3 * (size_t)count * sizeof *positions);
  if (!positions) return CN_NO_MEMORY;
  scene_g_planes(count, planes);
  scene_g_positions(count, positions);
  for (int32_t i = 0; status == CN_OK && i < SCENE_G_PLANES; i++) {
    const double *p = planes + 4 * (size_t)i;
    status = add_plane(scene, (CnVec3){p[0], p[1], p[2]}, p[3], material);
  }
  for (int32_t i = 0; status == CN_OK && i < count; i++) {
    const double *p = positions + 3 * (size_t)i;
    status = add_ball(scene, (CnVec3){p[0], p[1], p[2]}, i % 10 == 0 ? ratio : 1, material);
  }
  free(positions);
  return status;
}

CnStatus ipm_scene_brick(IpmScene *scene) {
  CnMaterialId material;
  CnStatus status = open_scene(scene, "ipm", &material);
  if (status == CN_OK) status = add_plane(scene, (CnVec3){0, 0, 1}, 0, material);
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  const double x = 0.4, y = 0.2, z = 0.1;
  body.mass = 2000 * x * y * z;
  body.inertia = (CnSym3){body.mass * (y * y + z * z) / 12,
                          body.mass * (x * x + z * z) / 12,
                          body.mass * (x * x + y * y) / 12,
                          0,
                          0,
                          0};
  body.pose.position = (CnVec3){0, 0, z / 2};
  shape.half_size = (CnVec3){x / 2, y / 2, z / 2};
  return status == CN_OK ? add_body(scene, &body, &shape, material) : status;
}

CnStatus ipm_scene_ball(IpmScene *scene) {
  CnMaterialId material;
  CnStatus status = open_scene(scene, "ipm", &material);
  if (status == CN_OK) status = add_plane(scene, (CnVec3){0, 0, 1}, 0, material);
  return status == CN_OK ? add_ball(scene, (CnVec3){0, 0, RADIUS}, 1, material) : status;
}

void ipm_scene_release(IpmScene *scene) {
  cn_world_destroy(scene->world);
  cni_cones_destroy(scene->cones);
  free(scene->pair);
  free(scene->g);
  memset(scene, 0, sizeof *scene);
}

// ---- warm starts ----

static void groups_of(const CnProblem *p, int32_t i, int32_t *a, int32_t *b) {
  const CniBlock *block = &p->blocks[i];
  int sphere = block->storage == CNI_SPHERE;
  *a = sphere ? p->spheres[block->index].group_a : p->pairs[block->index].group_a;
  *b = sphere ? p->spheres[block->index].group_b : p->pairs[block->index].group_b;
}

// Normal impulses of the step before, contact by contact: the k-th of a pair gets the k-th's.
static void warm_impulses(const IpmScene *scene, const CnProblem *p, double *g) {
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t a, b, before = 0, k = 0, x, y;
    groups_of(p, i, &a, &b);
    for (int32_t j = i - 1; j >= 0; j--) {
      groups_of(p, j, &x, &y);
      if (x != a || y != b) break; // contacts of a pair follow each other
      before++;
    }
    double *to = g + p->blocks[i].row;
    memset(to, 0, p->blocks[i].dim * sizeof *to);
    for (k = 0; k < scene->count; k++)
      if (scene->pair[2 * k] == a && scene->pair[2 * k + 1] == b && before-- == 0) break;
    if (k < scene->count) to[0] = scene->g[k];
  }
}

// Velocities before the step in the scaled units, beyond the free ones.
static void warm_velocities(const CniCones *c, double *w) {
  const CnProblem *p = c->p;
  for (int32_t i = 0; i < p->group_count; i++) {
    const CniGroup *group = &p->groups[i];
    if (c->group_node[i] < 0) continue;
    CnTwist before = cni_group_old(p, i), after = cni_group_free(group);
    const double *old = &before.velocity.x, *free = &after.velocity.x;
    CnSym3 j = cni_group_inertia(p, i);
    double inverse[6] = {group->inv_mass, group->inv_mass, group->inv_mass, j.xx, j.yy, j.zz};
    for (int32_t d = 0; d < c->node_size[c->group_node[i]]; d++)
      w[c->first_velocity[c->group_node[i]] + d] = (old[d] - free[d]) / sqrt(inverse[d]) / c->kappa;
  }
}

static CnStatus remember(IpmScene *scene, const CnProblem *p, const double *g) {
  if (scene->capacity < p->block_count) {
    size_t room = 2 * (size_t)p->block_count;
    free(scene->pair);
    free(scene->g);
    scene->pair = malloc(2 * room * sizeof *scene->pair);
    scene->g = malloc(room * sizeof *scene->g);
    scene->capacity = scene->pair && scene->g ? (int32_t)room : 0;
    if (scene->capacity == 0) return CN_NO_MEMORY;
  }
  scene->count = p->block_count;
  for (int32_t i = 0; i < p->block_count; i++) {
    groups_of(p, i, &scene->pair[2 * i], &scene->pair[2 * i + 1]);
    scene->g[i] = g[p->blocks[i].row];
  }
  return CN_OK;
}

// ---- one call ----

static CnStatus solve(IpmScene *scene, const CnProblem *p, int32_t warm, const double *given,
                      double *g, IpmCall *call) {
  CniCones *c = scene->cones;
  CniIpmEnd end;
  CniRowIpmRule rule = {CNI_START_DAPUZZO, (CniRowWarm)warm, ITERATIONS, scene->units};
  double start = cni_seconds();
  CnStatus status = cni_cones_load(c, p);
  double *w = calloc((size_t)c->velocities + 1, sizeof *w);
  if (status == CN_OK && w) {
    warm_velocities(c, w);
    cni_cones_import(c, given, g);
    status = cni_row_ipm(c, &rule, w, g, &end);
    call->iterations[warm] = end.iterations;
    call->failed[warm] = end.stalled;
  }
  if (warm == 0) call->seconds = cni_seconds() - start;
  free(w);
  return w ? status : CN_NO_MEMORY;
}

CnStatus ipm_scene_call(IpmScene *scene, int32_t warm_kinds, IpmCall *call) {
  CnProblem *p;
  const CnAnswer *answer;
  CnStatus status = cn_world_step(scene->world, NULL);
  memset(call, 0, sizeof *call);
  if (status == CN_OK) status = cn_world_problem(scene->world, &p, &answer);
  if (status != CN_OK || p->block_count == 0) return status;
  double *given = malloc((size_t)p->row_count * sizeof *given);
  double *g = malloc((size_t)p->row_count * sizeof *g);
  status = given && g ? CN_OK : CN_NO_MEMORY;
  if (status == CN_OK) warm_impulses(scene, p, given);
  for (int32_t warm = 0; warm < warm_kinds && status == CN_OK; warm++)
    status = solve(scene, p, warm, given, g, call);
  if (warm_kinds > 0) call->matrix_size = 6 * scene->cones->group_nodes + p->block_count;
  // the impulses of the last solve, or of the world where there was none
  if (status == CN_OK && warm_kinds > 0) cni_cones_export(scene->cones, g, given);
  if (status == CN_OK) status = remember(scene, p, warm_kinds > 0 ? given : answer->g);
  free(given);
  free(g);
  return status;
}
