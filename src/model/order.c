// SPDX-License-Identifier: Apache-2.0
// Bodies put in another order: all dense arrays follow, ids stay valid. Shapes follow their bodies:
// they stand in the order of the bodies, those of one body in the order of their creation. Every array is put
// in order in its place.
#include "core/sort.h"
#include "model/model_private.h"

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t numbers_bytes(const CniModel *model) {
  size_t most = larger((size_t)model->body_count, (size_t)model->shape_count);
  return (most * sizeof(int32_t) + CNI_ORDER_LINE - 1) / CNI_ORDER_LINE * CNI_ORDER_LINE;
}

size_t cni_model_reorder_bytes(const CniModel *model) {
  size_t most = larger((size_t)model->body_count, (size_t)model->shape_count);
  return numbers_bytes(model) + cni_permute_bytes(most);
}

// Shapes by body. Lists become runs of neighbours. order: room for a number a shape.
static void gather_shapes(CniModel *model, int32_t *order, uint64_t *bits) {
  int32_t n = 0;
  for (int32_t i = 0; i < model->body_count; i++)
    for (int32_t s = model->bodies[i].first_shape; s >= 0; s = model->shapes[s].next)
      order[n++] = s;
  cni_permute(model->shapes, sizeof *model->shapes, order, n, bits);
  n = 0;
  for (int32_t i = 0; i < model->body_count; i++) {
    CniBody *body = &model->bodies[i];
    if (body->first_shape < 0) continue;
    int32_t first = n, last = 0;
    for (; !last; n++) {
      CniShape *shape = &model->shapes[n];
      last = shape->next < 0;
      shape->body = i;
      shape->previous = n - 1;
      shape->next = last ? -1 : n + 1;
      cni_ids_move(&model->shape_ids, shape->slot, n);
    }
    model->shapes[first].previous = n - 1;
    body->first_shape = first;
  }
}

// Joints know their bodies by their places.
static void follow(CniModel *model, const int32_t *order, int32_t *now_at) {
  if (model->joint_count == 0) return;
  for (int32_t i = 0; i < model->body_count; i++) now_at[order[i]] = i;
  for (int32_t j = 0; j < model->joint_count; j++) {
    CniJoint *joint = &model->joints[j];
    if (joint->body_a >= 0) joint->body_a = now_at[joint->body_a];
    if (joint->body_b >= 0) joint->body_b = now_at[joint->body_b];
  }
}

void cni_model_reorder(CniModel *model, const int32_t *order, void *scratch) {
  int32_t count = model->body_count;
  if (count <= 0) return; // nothing, perhaps not even arrays
  model->edits++;
  int32_t *numbers = scratch;
  uint64_t *bits = (uint64_t *)(void *)((char *)scratch + numbers_bytes(model));
#define PERMUTE(array)                                                                             \
  if (model->array) cni_permute(model->array, sizeof *model->array, order, count, bits)
  PERMUTE(pose);
  PERMUTE(twist);
  PERMUTE(load);
  PERMUTE(mass);
  PERMUTE(inertias);
  PERMUTE(bodies);
#undef PERMUTE
  for (int32_t i = 0; i < count; i++) cni_ids_move(&model->body_ids, model->bodies[i].slot, i);
  follow(model, order, numbers);
  gather_shapes(model, numbers, bits);
}
