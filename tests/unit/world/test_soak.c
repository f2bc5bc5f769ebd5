// SPDX-License-Identifier: Apache-2.0
// A world that lives long: in every step something is destroyed and something like it created, of
// bodies, shapes, hulls, materials, joints, couplings, functions and forces. After a warm-up its
// memory, its blocks, its snapshot, the places of its ids and the descriptors of the process do not
// grow.
//
// CAIRN_SOAK_STEPS: how many steps with `impulse`; a tenth with each of the others.
#include "check.h"
#include "alloc.h"
#include "toys.h"

#include <cairn/cairn.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define LIVE 8

typedef struct Part {
  CnBodyId body;
  CnMaterialId material;
  CnGeometryId geometry;
  CnFunctionId function;
} Part;

typedef struct Soak {
  CnWorld *world;
  Part parts[LIVE];
  int32_t plain; // 1: what every integrator takes
  uint32_t slot; // the highest so far
} Soak;

static TestAlloc alloc;

static int32_t descriptor_count(void) {
  DIR *folder = opendir("/proc/self/fd");
  int32_t count = 0;
  if (!folder) return 0;
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

static void note(Soak *s, uint32_t slot) {
  if (slot > s->slot) s->slot = slot;
}

static void destroy_part(Soak *s, Part *p) {
  CnWorld *w = s->world;
  if (!p->body.slot) return;
  CHECK_OK(cn_body_destroy(w, p->body)); // with its shapes, joints, couplings and forces
  CHECK_OK(cn_material_destroy(w, p->material));
  if (p->geometry.slot) CHECK_OK(cn_geometry_destroy(w, p->geometry));
  CHECK_OK(cn_function_destroy(w, p->function));
}

static void create_shape(Soak *s, Part *p, int64_t i) {
  CnWorld *w = s->world;
  CnShapeKind kinds[] = {CN_SHAPE_SPHERE, CN_SHAPE_BOX, CN_SHAPE_HULL, CN_SHAPE_CAPSULE};
  CnShapeDef def = cn_shape_def_default(s->plain ? CN_SHAPE_SPHERE : kinds[i % 4]);
  CnMaterialDef material = cn_material_def_default();
  CnShapeId shape;
  material.name = "stuff";
  material.restitution = .2;
  CHECK_OK(cn_material_create(w, &material, &p->material));
  def.radius = def.half_length = .05;
  def.half_size = cn_vec3(.05, .05, .05);
  def.material = p->material;
  p->geometry = (CnGeometryId){0, 0};
  if (def.kind == CN_SHAPE_HULL) {
    CnVec3 corners[] = {{-.05, -.05, -.05}, {.05, -.05, -.05}, {0, .05, -.05}, {0, 0, .05}};
    CHECK_OK(cn_geometry_create_points(w, "wedge", corners, 4, &p->geometry));
    def.geometry = p->geometry;
  }
  CHECK_OK(cn_shape_create(w, p->body, &def, &shape));
  note(s, shape.slot);
}

// What holds it: a rope or a hinge to the ground, now and then with a coupling that follows.
static void create_joint(Soak *s, Part *p, int64_t i) {
  CnWorld *w = s->world;
  CnJointDef joint = cn_joint_def_default(i % 2 ? CN_JOINT_REVOLUTE : CN_JOINT_ROPE);
  CnJointId id;
  if (s->plain && i % 2 == 0) return;
  joint.name = "held";
  joint.body_b = p->body;
  if (i % 2) joint.axes[0].damping = .01;
  if (i % 2 == 0) joint.distance = 1;
  CHECK_OK(
      cn_joint_def_along(w, cn_vec3(.15 * (double)(i % LIVE), 0, .5), cn_vec3(0, 1, 0), &joint));
  CHECK_OK(cn_joint_create(w, &joint, &id));
  note(s, id.slot);
  if (i % 4 != 1 || s->plain) return;
  CnCouplingDef coupling = cn_coupling_def_default();
  CnCouplingId coupled;
  coupling.term_count = 1;
  coupling.terms[0] = (CnCouplingTerm){id, 0, 1};
  CHECK_OK(cn_coupling_create(w, &coupling, &coupled));
  note(s, coupled.slot);
}

static void create_part(Soak *s, int64_t i) {
  CnWorld *w = s->world;
  Part *p = &s->parts[i % LIVE];
  CnBodyDef body = cn_body_def_default();
  CnFunctionDef function = cn_function_def_default(CN_FUNCTION_SINE);
  CnForceDef force = cn_force_def_default(i % 2 ? CN_FORCE_SPRING : CN_FORCE_DRAG);
  CnForceId force_id;
  destroy_part(s, p);
  body.pose.position = cn_vec3(.15 * (double)(i % LIVE), 0, .2 + .01 * (double)(i % 7));
  body.name = i % 3 ? "part" : "another part";
  CHECK_OK(cn_body_create(w, &body, &p->body));
  note(s, p->body.slot);
  function.amplitude = .1;
  function.frequency = 1;
  CHECK_OK(cn_function_create(w, &function, &p->function));
  note(s, p->function.slot);
  create_shape(s, p, i);
  if (i % 3 == 0) create_joint(s, p, i / 3);
  force.body_b = p->body;
  if (force.kind == CN_FORCE_SPRING)
    force.stiffness = 10, force.frame_a.position = cn_vec3(0, 0, 1);
  else
    force.linear_drag = .1;
  CHECK_OK(cn_force_create(w, &force, &force_id));
  note(s, force_id.slot);
}

static void soak(const char *integrator, int64_t steps) {
  Soak s = {.plain = strcmp(integrator, "impulse") != 0};
  CnWorldDef def = cn_world_def_default();
  size_t bytes = 0, size = 0, most = 0;
  int64_t blocks = 0;
  uint32_t slot = 0;
  test_alloc_init(&alloc);
  def.allocator = test_alloc_hook(&alloc);
  def.integrator = integrator;
  def.solver.max_iterations = 10;
  def.time_step = 2e-3;
  s.world = toy_world_from(&def);
  toy_floor(s.world);
  int32_t descriptors = descriptor_count();
  for (int64_t i = 0; i < steps; i++) {
    create_part(&s, i);
    CHECK_OK(cn_world_step(s.world, NULL));
    if (i % 16 == 0) CHECK_OK(cn_world_save(s.world, NULL, 0, &size));
    if (size > most) most = size;
    if (i == steps / 4) {
      bytes = alloc.peak_bytes;
      blocks = alloc.live_blocks;
      slot = s.slot;
      most = 0;
    }
  }
  print_message("%s: %lld steps, %zu bytes at most, %zu in a snapshot, %lld blocks, slot %u\n",
                integrator, (long long)steps, alloc.peak_bytes, most, (long long)alloc.live_blocks,
                s.slot);
  // blocks of names and hulls differ by what is there at the moment
  CHECK(alloc.live_blocks <= blocks + 4 * LIVE);
  CHECK(alloc.peak_bytes <= bytes + bytes / 8);
  CHECK(s.slot == slot && slot <= 8 * LIVE);
  CHECK(most <= 64 * 1024);
  CHECK(descriptor_count() == descriptors);
  cn_world_destroy(s.world);
  test_alloc_check_clean(&alloc);
}

static void every_integrator(void **state) {
  (void)state;
  const char *text = getenv("CAIRN_SOAK_STEPS");
  int64_t steps = text ? strtoll(text, NULL, 10) : 20000;
  for (int32_t i = 0; cn_integrator_name(i); i++) {
    const char *name = cn_integrator_name(i);
    soak(name, strcmp(name, "impulse") == 0 ? steps : steps / 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_integrator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
