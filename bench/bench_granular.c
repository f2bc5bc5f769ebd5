// Scene G: a pile of equal spheres, engine beside engine in the same run.
//
// Figures are means over the last 20 steps; the penetration is computed from positions by the same
// code for every engine, its maximum over those steps and its mean over all overlapping pairs in
// them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/world.h>

#include "bench.h"
#include "bodies.h"
#include "peer.h"
#include "scene_g.h"

static int build(Bodies *bodies, int32_t count) {
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

// ---- Cairn ------------------------------------------------------------------------------------

// The rotation that takes z to the unit vector n.
static CnQuat turn_from_z(const double n[3]) {
  if (n[2] < -0.999999) return (CnQuat){0, 1, 0, 0};
  double w = 1 + n[2], length = sqrt(w * w + n[0] * n[0] + n[1] * n[1]);
  return (CnQuat){w / length, -n[1] / length, n[0] / length, 0};
}

static CnStatus add_planes(CnWorld *world, const Bodies *bodies, CnMaterialId material) {
  CnBodyDef def = cn_body_def_default();
  def.kind = CN_BODY_FIXED;
  CnBodyId ground;
  CnStatus status = cn_body_create(world, &def, &ground);
  for (int32_t i = 0; status == CN_OK && i < bodies->plane_count; i++) {
    const Plane *p = &bodies->planes[i];
    CnShapeDef shape = cn_shape_def_default(CN_SHAPE_PLANE);
    double d = p->offset;
    shape.pose.position = (CnVec3){d * p->normal[0], d * p->normal[1], d * p->normal[2]};
    shape.pose.rotation = turn_from_z(p->normal);
    shape.material = material;
    CnShapeId id;
    status = cn_shape_create(world, ground, &shape, &id);
  }
  return status;
}

static CnStatus add_spheres(CnWorld *world, const Bodies *bodies, CnMaterialId material,
                            CnBodyId *ids) {
  CnStatus status = CN_OK;
  for (int32_t i = 0; status == CN_OK && i < bodies->sphere_count; i++) {
    const Sphere *s = &bodies->spheres[i];
    CnBodyDef def = cn_body_def_default();
    def.pose.position = (CnVec3){s->position[0], s->position[1], s->position[2]};
    CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
    shape.radius = s->radius;
    shape.density = s->density;
    shape.material = material;
    CnShapeId id;
    status = cn_body_create(world, &def, &ids[i]);
    if (status == CN_OK) status = cn_shape_create(world, ids[i], &shape, &id);
  }
  return status;
}

static CnStatus build_world(const Values *values, const Bodies *bodies, int32_t threads,
                            CnWorld **world, CnBodyId *ids) {
  CnWorldDef def = cn_world_def_default();
  def.gravity = (CnVec3){bodies->gravity[0], bodies->gravity[1], bodies->gravity[2]};
  def.time_step = bodies->time_step;
  def.solver = cn_solver_def_default(value_text(values, "solver"));
  def.solver.max_iterations = bodies->iterations;
  def.solver.tolerance = 0; // all iterations, as the peers
  def.worker_count = threads;
  CnStatus status = cn_world_create(&def, world);
  if (status != CN_OK) return status;
  CnMaterialDef material = cn_material_def_default();
  material.friction = bodies->friction;
  CnMaterialId id;
  status = cn_material_create(*world, &material, &id);
  if (status == CN_OK) status = add_planes(*world, bodies, id);
  if (status == CN_OK) status = add_spheres(*world, bodies, id, ids);
  return status;
}

static CnStatus copy_positions(const CnWorld *world, const CnBodyId *ids, Bodies *bodies) {
  for (int32_t i = 0; i < bodies->sphere_count; i++) {
    CnPose pose;
    CnStatus status = cn_body_pose(world, ids[i], &pose);
    if (status != CN_OK) return status;
    double *p = bodies->spheres[i].position;
    p[0] = pose.position.x;
    p[1] = pose.position.y;
    p[2] = pose.position.z;
  }
  return CN_OK;
}

// Sums over the last steps.
typedef struct Figures {
  double seconds, collision, solver, setup;
  double contacts, iterations, residual, residual_max;
  Overlap overlap;
  int32_t step_count;
} Figures;

static CnStatus run_world(CnWorld *world, const CnBodyId *ids, Bodies *bodies, Figures *sum) {
  for (int32_t step = 0; step < bodies->step_count; step++) {
    CnStepReport report;
    double start = seconds_now();
    CnStatus status = cn_world_step(world, &report);
    double seconds = seconds_now() - start;
    if (status != CN_OK) return status;
    if (step < bodies->step_count - BODIES_LAST_STEPS) continue;
    sum->seconds += seconds;
    sum->collision += report.seconds_collision;
    sum->solver += report.seconds_solver;
    sum->setup += report.seconds_setup;
    sum->contacts += report.contact_count;
    sum->iterations += report.solve.iterations;
    sum->residual += report.solve.certificate.residual;
    sum->residual_max = fmax(sum->residual_max, report.solve.certificate.residual);
    sum->step_count++;
    status = copy_positions(world, ids, bodies);
    if (status != CN_OK) return status;
    if (!overlap_add(bodies, &sum->overlap)) return CN_NO_MEMORY;
  }
  return CN_OK;
}

// The figures under the names of the `run` command.
static void fill_row(Row *row, const CnWorld *world, const Figures *sum) {
  double n = sum->step_count, sweeps = sum->contacts / n * sum->iterations / n;
  CnWorldInfo info;
  cn_world_info(world, &info);
  char hash[32];
  snprintf(hash, sizeof hash, "%016jx", (uintmax_t)cn_world_hash(world));
  row_number(row, "ms_per_step", 1e3 * sum->seconds / n);
  row_number(row, "ms_collision", 1e3 * sum->collision / n);
  row_number(row, "ms_solver", 1e3 * sum->solver / n);
  row_number(row, "ms_setup", 1e3 * sum->setup / n);
  row_number(row, "contacts_mean", sum->contacts / n);
  row_number(row, "iterations_mean", sum->iterations / n);
  row_number(row, "ns_per_contact_iteration",
             sweeps > 0 ? 1e9 * (sum->solver - sum->setup) / n / sweeps : 0);
  row_number(row, "penetration_max", sum->overlap.max);
  row_number(row, "penetration_mean",
             sum->overlap.count > 0 ? sum->overlap.sum / (double)sum->overlap.count : 0);
  row_number(row, "residual_mean", sum->residual / n);
  row_number(row, "residual_max", sum->residual_max);
  row_number(row, "peak_memory_bytes", (double)info.memory_peak_bytes);
  row_text(row, "state_hash", hash);
}

// Cairn's row, with the peer's time and the ratio where there is one. The positions in `bodies` are
// those of the end afterwards.
static int cairn_row(const Values *values, Bodies *bodies, double ode_ms, Report *report) {
  int32_t threads = 1;
  if (!value_whole(values, "threads", 1, 256, &threads)) return 0;
  CnBodyId *ids = malloc((size_t)bodies->sphere_count * sizeof *ids);
  Row *row = report_row_begin(report);
  CnWorld *world = NULL;
  Figures sum;
  memset(&sum, 0, sizeof sum);
  CnStatus status = ids && row ? build_world(values, bodies, threads, &world, ids) : CN_NO_MEMORY;
  if (status == CN_OK) status = run_world(world, ids, bodies, &sum);
  if (status == CN_OK) {
    row_text(row, "engine", "cairn");
    row_number(row, "spheres", bodies->sphere_count);
    row_text(row, "solver", value_text(values, "solver"));
    row_number(row, "threads", threads);
    fill_row(row, world, &sum);
    if (isfinite(ode_ms)) {
      row_number(row, "ode_ms_per_step", ode_ms);
      row_number(row, "ratio", 1e3 * sum.seconds / sum.step_count / ode_ms);
    }
    report_row_end(report, row);
  } else {
    fprintf(stderr, "cairn-bench: granular: %s: %s\n", cn_status_name(status), cn_error_message());
  }
  cn_world_destroy(world);
  free(ids);
  return status == CN_OK;
}

// ---- all engines on one size ------------------------------------------------------------------

static int run_size(const Values *values, int32_t count, Report *report) {
  Bodies bodies;
  if (!build(&bodies, count)) {
    fprintf(stderr, "cairn-bench: out of memory\n");
    return 0;
  }
  double ode_ms = NAN;
  int ok = value_whole(values, "steps", 1, 1e6, &bodies.step_count) &&
           value_whole(values, "iterations", 1, 1e6, &bodies.iterations);
  if (ok && strcmp(value_text(values, "peers"), "none") != 0)
    ok = peer_row(report, values->directory, "ode", &bodies, &ode_ms);
  if (ok) ok = cairn_row(values, &bodies, ode_ms, report);
  bodies_destroy(&bodies);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t counts[VALUE_LIST], size_count = 0;
  if (!value_list(values, "spheres", 1, 1e7, counts, &size_count)) return 0;
  for (int32_t i = 0; i < size_count; i++)
    if (!run_size(values, counts[i], report)) return 0;
  return 1;
}

static const Parameter parameters[] = {{"spheres", "1000,8000", "numbers of spheres"},
                                       {"steps", "200", "steps, the last 20 of which are measured"},
                                       {"iterations", "120", "sweeps of the solver in each step"},
                                       {"solver", "psor", "Cairn's solver"},
                                       {"threads", "1", "Cairn's worker threads"},
                                       {"peers", "all", "all, or none to run Cairn alone"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"engine", "engine"},
                                 {"spheres", "spheres"},
                                 {"ms_per_step", "ms/step"},
                                 {"ms_collision", "collision"},
                                 {"contacts_mean", "contacts"},
                                 {"ns_per_contact_iteration", "ns/contact/iteration"},
                                 {"penetration_max", "depth max m"},
                                 {"penetration_mean", "mean m"},
                                 {"residual_mean", "residual"},
                                 {"ratio", "ratio"},
                                 {"status", "status"},
                                 {NULL, NULL}};
extern const Bench bench_granular;
const Bench bench_granular = {"granular", "scene G, a pile of equal spheres, beside other engines",
                              parameters, columns, run};
