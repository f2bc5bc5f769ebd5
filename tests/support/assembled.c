// SPDX-License-Identifier: Apache-2.0
#include "assembled.h"

#include "check.h"

#include <string.h>

void assembled_start(Assembled *a) {
  CnAllocator allocator = cn_allocator_default();
  assembled_start_with(a, &allocator);
}

void assembled_start_with(Assembled *a, const CnAllocator *allocator) {
  CnAllocator plain = cn_allocator_default();
  memset(a, 0, sizeof *a);
  CHECK_OK(cni_model_init(&a->model, &plain));
  cni_arena_init(&a->arena, allocator);
  CnProblemDef def = cn_problem_def_default();
  def.allocator = *allocator;
  CHECK_OK(cn_problem_create(&def, &a->problem));
  a->answer = cn_answer_empty(allocator);
  a->input = (CniAssemblyInput){.model = &a->model,
                                .contacts = a->contacts,
                                .old = {.full = a->old_contacts,
                                        .rank = a->old_rank,
                                        .linear = a->old_linear,
                                        .angular = a->old_angular},
                                .gravity = {0, 0, -9.81},
                                .time_step = 0.01,
                                .stabilisation = 0.2,
                                .contact_stabilisation = 0.2,
                                .recovery_speed = 1,
                                .restitution_threshold = 0.01,
                                .geometric_stiffness = 1,
                                .arena = &a->arena};
}

void assembled_end(Assembled *a) {
  cn_answer_release(&a->answer);
  cn_problem_destroy(a->problem);
  cni_arena_release(&a->arena);
  cni_model_release(&a->model);
}

CnBodyId assembled_id(const Assembled *a, int32_t body) { return cni_body_id(&a->model, body); }

static int32_t add_body(Assembled *a, const CnBodyDef *def, const CnShapeDef *shape) {
  CnBodyId id;
  CnShapeId shape_id;
  CHECK_OK(cni_model_add_body(&a->model, def, &id));
  CHECK_OK(cni_model_add_shape(&a->model, id, shape, &shape_id));
  int32_t index;
  CHECK_OK(cni_model_find_body(&a->model, id, &index));
  return index;
}

int32_t assembled_ball(Assembled *a, double radius, CnVec3 position, CnTwist twist) {
  CnBodyDef def = cn_body_def_default();
  double j = 0.4 * 2 * radius * radius;
  def.mass = 2;
  def.inertia = cn_sdiag(j, j, j);
  def.pose.position = position;
  def.twist = twist;
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  shape.radius = radius;
  return add_body(a, &def, &shape);
}

int32_t assembled_block(Assembled *a, CnVec3 inertia, CnPose pose, CnTwist twist) {
  CnBodyDef def = cn_body_def_default();
  def.mass = 2;
  def.inertia = cn_sdiag(inertia.x, inertia.y, inertia.z);
  def.pose = pose;
  def.twist = twist;
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  shape.half_size = cn_vec3(0.5, 0.5, 0.5);
  return add_body(a, &def, &shape);
}

int32_t assembled_ground(Assembled *a, CnBodyKind kind, CnTwist twist) {
  CnBodyDef def = cn_body_def_default();
  def.kind = kind;
  def.twist = twist;
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_PLANE);
  return add_body(a, &def, &shape);
}

void assembled_material(Assembled *a, int32_t body, const CnMaterialDef *def) {
  CnMaterialId id;
  int32_t index;
  CHECK_OK(cni_model_add_material(&a->model, def, &id));
  CHECK_OK(cni_model_find_material(&a->model, id, &index));
  a->model.shapes[a->model.bodies[body].first_shape].material = index;
}

int32_t assembled_contact(Assembled *a, int32_t body_a, int32_t body_b, CnVec3 point, CnVec3 normal,
                          double gap) {
  int32_t shape_a = a->model.bodies[body_a].first_shape;
  int32_t shape_b = a->model.bodies[body_b].first_shape;
  int32_t i = a->input.contact_count++;
  CHECK(i < ASSEMBLED_MAX);
  a->contacts[i] = (CniContact){.feature = (uint32_t)i,
                                .shape_a = shape_a,
                                .shape_b = shape_b,
                                .body_a = body_a,
                                .body_b = body_b,
                                .point = point,
                                .normal = normal,
                                .gap = gap};
  return i;
}

void assembled_old(Assembled *a, int32_t contact, uint32_t feature, CnVec3 linear, CnVec3 angular) {
  int32_t i = a->input.old.count++;
  a->old_contacts[i] = a->contacts[contact];
  a->old_contacts[i].feature = feature;
  a->old_rank[i] = cni_contact_rank(&a->contacts[contact]);
  a->old_linear[i] = linear;
  a->old_angular[i] = angular;
}

CnStatus assembled_try(Assembled *a) {
  CHECK_OK(cni_arena_reset(&a->arena));
  a->input.pose = a->model.pose;
  a->input.twist = a->model.twist;
  return cni_assemble(&a->input, a->problem, &a->answer, a->joint_block, a->block);
}

void assembled_write(Assembled *a) { CHECK_OK(assembled_try(a)); }

const CniBlock *assembled_block_of(const Assembled *a, int32_t contact) {
  CHECK(a->block[contact] >= 0);
  return &a->problem->blocks[a->block[contact]];
}

double assembled_b(const Assembled *a, int32_t contact, int32_t row) {
  double b[CNI_MAX_DIM];
  cni_block_b(a->problem, assembled_block_of(a, contact), b);
  return b[row];
}

const CnSet *assembled_set(const Assembled *a, int32_t contact) {
  return &a->problem->sets[assembled_block_of(a, contact)->set];
}
