// SPDX-License-Identifier: Apache-2.0
// Bodies put in another order: all dense arrays follow, ids stay valid. Shapes follow their bodies:
// they stand in the order of the bodies, those of one body in the order of their creation.
#include <string.h>

#include "model/model_private.h"

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// Whole lines, so that what follows starts at one.
static size_t lines(size_t bytes) {
  return (bytes + CNI_ORDER_LINE - 1) / CNI_ORDER_LINE * CNI_ORDER_LINE;
}

size_t cni_model_reorder_bytes(const CniModel *model) {
  size_t bodies = (size_t)model->body_count, shapes = (size_t)model->shape_count;
  size_t column = larger(larger(sizeof(CnPose), sizeof(CniBodyMass)), sizeof(CniBody));
  return lines(bodies * sizeof(int32_t)) + larger(bodies * column, shapes * sizeof(CniShape));
}

static void gather(void *column, size_t size, const int32_t *order, int32_t count, void *scratch) {
  char *to = scratch;
  for (int32_t i = 0; i < count; i++)
    memcpy(to + (size_t)i * size, (const char *)column + (size_t)order[i] * size, size);
  memcpy(column, scratch, (size_t)count * size);
}

// Shapes by body. Lists become runs of neighbours.
static void gather_shapes(CniModel *model, CniShape *scratch) {
  int32_t n = 0;
  for (int32_t i = 0; i < model->body_count; i++) {
    CniBody *body = &model->bodies[i];
    int32_t first = n;
    for (int32_t s = body->first_shape; s >= 0; s = model->shapes[s].next) {
      scratch[n] = model->shapes[s];
      scratch[n].body = i;
      scratch[n].previous = n - 1;
      scratch[n].next = n + 1;
      n++;
    }
    if (n == first) continue;
    scratch[n - 1].next = -1;
    scratch[first].previous = n - 1;
    body->first_shape = first;
  }
  if (n <= 0) return;
  memcpy(model->shapes, scratch, (size_t)n * sizeof *scratch);
  for (int32_t s = 0; s < n; s++) cni_ids_move(&model->shape_ids, scratch[s].slot, s);
}

void cni_model_reorder(CniModel *model, const int32_t *order, void *scratch) {
  int32_t count = model->body_count;
  if (count <= 0) return; // nothing, perhaps not even arrays
  model->edits++;
  int32_t *now_at = scratch; // where the body of an old index has gone
  void *rest = (char *)scratch + lines((size_t)count * sizeof(int32_t));
  for (int32_t i = 0; i < count; i++) now_at[order[i]] = i;
  gather(model->pose, sizeof *model->pose, order, count, rest);
  gather(model->twist, sizeof *model->twist, order, count, rest);
  if (model->load) gather(model->load, sizeof *model->load, order, count, rest);
  gather(model->mass, sizeof *model->mass, order, count, rest);
  if (model->inertias) gather(model->inertias, sizeof *model->inertias, order, count, rest);
  gather(model->bodies, sizeof *model->bodies, order, count, rest);
  for (int32_t i = 0; i < count; i++) cni_ids_move(&model->body_ids, model->bodies[i].slot, i);
  for (int32_t j = 0; j < model->joint_count; j++) {
    CniJoint *joint = &model->joints[j];
    if (joint->body_a >= 0) joint->body_a = now_at[joint->body_a];
    if (joint->body_b >= 0) joint->body_b = now_at[joint->body_b];
  }
  gather_shapes(model, rest);
}
