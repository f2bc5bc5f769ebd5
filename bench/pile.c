// SPDX-License-Identifier: Apache-2.0
#include <cairn/numbers.h>
#include "pile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene_g.h"

#define BOX_HALF 0.9 // of the radius of the sphere it stands for

// ---- lists ------------------------------------------------------------------------------------

int pile_scene_g(Bodies *bodies, int32_t count) {
  double *positions = malloc(3 * (size_t)count * sizeof *positions);
  if (!positions || !bodies_create(bodies, count, SCENE_G_PLANES)) {
    free(positions);
    return 0;
  }
  scene_g_positions(count, positions);
  for (int32_t i = 0; i < count; i++) {
    Sphere *s = &bodies->spheres[i];
    memcpy(s->position, positions + 3 * (size_t)i, sizeof s->position);
    s->radius = SCENE_G_RADIUS;
    s->density = SCENE_G_DENSITY;
  }
  free(positions);
  double planes[SCENE_G_PLANES][4];
  scene_g_planes(count, planes[0]);
  for (int32_t i = 0; i < SCENE_G_PLANES; i++) {
    memcpy(bodies->planes[i].normal, planes[i], sizeof bodies->planes[i].normal);
    bodies->planes[i].offset = planes[i][3];
  }
  bodies->gravity[2] = -SCENE_G_GRAVITY;
  bodies->friction = SCENE_G_FRICTION;
  bodies->time_step = SCENE_G_TIME_STEP;
  return 1;
}

int pile_lattice(Bodies *bodies, int32_t count, double radius, double density, double side) {
  if (!bodies_create(bodies, count, SCENE_G_PLANES)) return 0;
  double spacing = 2.02 * radius;
  int32_t row = (int32_t)floor((side - spacing) / spacing) + 1;
  if (row < 1) row = 1;
  uint64_t seed = 1;
  for (int32_t i = 0; i < count; i++) {
    Sphere *s = &bodies->spheres[i];
    int32_t in_layer = i % (row * row);
    s->position[0] = spacing * (in_layer % row - 0.5 * (row - 1));
    s->position[1] = spacing * (in_layer / row - 0.5 * (row - 1));
    s->position[2] = 0.5 * spacing + spacing * (i / (row * row));
    for (int32_t k = 0; k < 3; k++) s->position[k] += (2 * cn_random(&seed) - 1) * 0.01 * radius;
    s->radius = radius;
    s->density = density;
  }
  static const double normals[SCENE_G_PLANES][3] = {
      {0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  for (int32_t i = 0; i < SCENE_G_PLANES; i++) {
    memcpy(bodies->planes[i].normal, normals[i], sizeof normals[i]);
    bodies->planes[i].offset = i == 0 ? 0 : -0.5 * side;
  }
  bodies->gravity[2] = -SCENE_G_GRAVITY;
  bodies->friction = SCENE_G_FRICTION;
  bodies->time_step = SCENE_G_TIME_STEP;
  return 1;
}

// ---- the world --------------------------------------------------------------------------------

PileOptions pile_options(const char *solver, int32_t threads) {
  PileOptions options;
  memset(&options, 0, sizeof options);
  options.solver = solver;
  options.threads = threads;
  options.ground_kind = CN_BODY_FIXED;
  return options;
}

// The rotation that takes z to the unit vector n.
static CnQuat turn_from_z(const double n[3]) {
  if (n[2] < -0.999999) return (CnQuat){0, 1, 0, 0};
  double w = 1 + n[2], length = sqrt(w * w + n[0] * n[0] + n[1] * n[1]);
  return (CnQuat){w / length, -n[1] / length, n[0] / length, 0};
}

static CnStatus add_planes(Pile *pile, const Bodies *bodies, CnBodyKind kind) {
  CnBodyDef def = cn_body_def_default();
  def.kind = kind;
  CnStatus status = cn_body_create(pile->world, &def, &pile->ground);
  for (int32_t i = 0; status == CN_OK && i < bodies->plane_count; i++) {
    const Plane *p = &bodies->planes[i];
    CnShapeDef shape = cn_shape_def_default(CN_SHAPE_PLANE);
    double d = p->offset;
    shape.pose.position = (CnVec3){d * p->normal[0], d * p->normal[1], d * p->normal[2]};
    shape.pose.rotation = turn_from_z(p->normal);
    shape.material = pile->material;
    CnShapeId id;
    status = cn_shape_create(pile->world, pile->ground, &shape, &id);
  }
  return status;
}

static CnStatus add_spheres(Pile *pile, const Bodies *bodies, int boxes) {
  CnStatus status = CN_OK;
  for (int32_t i = 0; status == CN_OK && i < bodies->sphere_count; i++) {
    const Sphere *s = &bodies->spheres[i];
    CnBodyDef def = cn_body_def_default();
    def.pose.position = (CnVec3){s->position[0], s->position[1], s->position[2]};
    int box = boxes && i % 2;
    CnShapeDef shape = cn_shape_def_default(box ? CN_SHAPE_BOX : CN_SHAPE_SPHERE);
    double half = BOX_HALF * s->radius;
    if (box)
      shape.half_size = (CnVec3){half, half, half};
    else
      shape.radius = s->radius;
    shape.density = s->density;
    shape.material = pile->material;
    CnShapeId id;
    status = cn_body_create(pile->world, &def, &pile->ids[i]);
    if (status == CN_OK) status = cn_shape_create(pile->world, pile->ids[i], &shape, &id);
  }
  return status;
}

static CnStatus build(Pile *pile, const Bodies *bodies, const PileOptions *options) {
  CnWorldDef def = cn_world_def_default();
  def.gravity = (CnVec3){bodies->gravity[0], bodies->gravity[1], bodies->gravity[2]};
  def.time_step = bodies->time_step;
  def.solver = cn_solver_def_default(options->solver);
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.max_iterations = bodies->iterations;
  def.solver.tolerance = 0; // all iterations, as the peers
  def.worker_count = options->threads;
  def.contact_margin = options->contact_margin;
  def.hooks = options->hooks;
  pile->ids = malloc(((size_t)bodies->sphere_count + 1) * sizeof *pile->ids);
  pile->sphere_count = bodies->sphere_count;
  if (!pile->ids) return CN_NO_MEMORY;
  CnStatus status = cn_world_create(&def, &pile->world);
  if (status != CN_OK) return status;
  CnMaterialDef material = cn_material_def_default();
  material.friction = bodies->friction;
  status = cn_material_create(pile->world, &material, &pile->material);
  if (status == CN_OK) status = add_planes(pile, bodies, options->ground_kind);
  if (status == CN_OK) status = add_spheres(pile, bodies, options->boxes);
  return status;
}

static int complain(CnStatus status) {
  fprintf(stderr, "cairn-bench: %s: %s\n", cn_status_name(status), cn_error_message());
  return 0;
}

int pile_build(Pile *pile, const Bodies *bodies, const PileOptions *options) {
  memset(pile, 0, sizeof *pile);
  CnStatus status = build(pile, bodies, options);
  if (status == CN_OK) return 1;
  complain(status);
  pile_destroy(pile);
  return 0;
}

void pile_destroy(Pile *pile) {
  cn_world_destroy(pile->world);
  free(pile->ids);
  memset(pile, 0, sizeof *pile);
}

// ---- running ----------------------------------------------------------------------------------

int pile_step(Pile *pile, Figures *sum) {
  CnStepReport report;
  double start = seconds_now();
  CnStatus status = cn_world_step(pile->world, &report);
  double seconds = seconds_now() - start;
  if (status != CN_OK) return complain(status);
  if (!sum) return 1;
  sum->seconds += seconds;
  sum->collision += report.seconds_collision;
  sum->solver += report.seconds_solver;
  sum->setup += report.seconds_setup;
  sum->assembly += report.seconds_assembly;
  sum->prepare += report.solve.seconds_setup;
  sum->finish += report.solve.seconds_finish;
  sum->certificate += report.solve.seconds_certificate;
  sum->end += report.seconds_end;
  sum->contacts += report.contact_count;
  sum->iterations += report.solve.iterations;
  sum->residual += report.solve.certificate.residual;
  sum->residual_max = fmax(sum->residual_max, report.solve.certificate.residual);
  sum->step_count++;
  return 1;
}

int pile_steps(Pile *pile, int32_t count, Figures *figures) {
  for (int32_t i = 0; i < count; i++)
    if (!pile_step(pile, figures)) return 0;
  return 1;
}

void pile_positions(const Pile *pile, Bodies *bodies) {
  for (int32_t i = 0; i < bodies->sphere_count; i++) {
    CnPose pose;
    if (cn_body_pose(pile->world, pile->ids[i], &pose) != CN_OK) continue;
    double *p = bodies->spheres[i].position;
    p[0] = pose.position.x;
    p[1] = pose.position.y;
    p[2] = pose.position.z;
  }
}

int pile_run(Pile *pile, Bodies *bodies, Figures *sum) {
  int32_t last = bodies->step_count < BODIES_LAST_STEPS ? bodies->step_count : BODIES_LAST_STEPS;
  memset(sum, 0, sizeof *sum);
  if (!pile_steps(pile, bodies->step_count - last, NULL)) return 0;
  for (int32_t i = 0; i < last; i++) {
    if (!pile_step(pile, sum)) return 0;
    pile_positions(pile, bodies);
    if (!overlap_add(bodies, &sum->overlap)) return complain(CN_NO_MEMORY);
  }
  return 1;
}

// ---- figures ----------------------------------------------------------------------------------

double pile_ns_per_contact(const Figures *sum) {
  double n = sum->step_count, relaxed = sum->contacts / n * sum->iterations;
  return relaxed > 0 ? 1e9 * (sum->solver - sum->setup) / relaxed : 0;
}

void pile_row(Row *row, const Pile *pile, const Figures *sum) {
  double n = sum->step_count;
  CnWorldInfo info;
  cn_world_info(pile->world, &info);
  char hash[32];
  snprintf(hash, sizeof hash, "%016jx", (uintmax_t)cn_world_hash(pile->world));
  row_number(row, "ms_per_step", 1e3 * sum->seconds / n);
  row_number(row, "ms_collision", 1e3 * sum->collision / n);
  row_number(row, "ms_solver", 1e3 * sum->solver / n);
  row_number(row, "ms_setup", 1e3 * sum->setup / n);
  row_number(row, "contacts_mean", sum->contacts / n);
  row_number(row, "iterations_mean", sum->iterations / n);
  row_number(row, "ns_per_contact_iteration", pile_ns_per_contact(sum));
  // what is not a sweep, in sweeps: before the first one, and all of it
  double sweep = n * (sum->solver - sum->setup) / sum->iterations;
  if (!(sweep > 0)) sweep = INFINITY;
  row_number(row, "setup_sweeps", (sum->collision + sum->assembly + sum->prepare) / sweep);
  row_number(row, "rest_sweeps", (sum->collision + sum->setup) / sweep);
  row_number(row, "collision_sweeps", sum->collision / sweep);
  row_number(row, "assembly_sweeps", sum->assembly / sweep);
  row_number(row, "prepare_sweeps", sum->prepare / sweep);
  row_number(row, "finish_sweeps", sum->finish / sweep);
  row_number(row, "certificate_sweeps", sum->certificate / sweep);
  row_number(row, "end_sweeps", sum->end / sweep);
  row_number(row, "penetration_max", sum->overlap.max);
  row_number(row, "penetration_mean",
             sum->overlap.count > 0 ? sum->overlap.sum / (double)sum->overlap.count : 0);
  row_number(row, "residual_mean", sum->residual / n);
  row_number(row, "residual_max", sum->residual_max);
  row_number(row, "peak_memory_bytes", (double)info.memory_peak_bytes);
  row_number(row, "memory_bytes", (double)info.memory_bytes);
  row_text(row, "state_hash", hash);
}
