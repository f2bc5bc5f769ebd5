// SPDX-License-Identifier: Apache-2.0
// The order of bodies in memory: neighbours in space should be neighbours there.
//
// Everything that follows bodies and contacts (the grid, the narrow phase, above all the sweeps of
// the solver) goes through memory in the order of the bodies. Bodies move, so now and then they are
// put in order again. The order is part of the result, since contacts are solved in it: it is in
// the snapshot, and whether and how it changes is a function of the positions and of the number of
// steps alone.
//
// The order: the bodies are cut into as many slabs of equal number as the solver has
// (cni_cuts_aim), one after the other along the longest side of the scene, and every slab into as
// many rows of equal number, across. The side along gravity counts a third: a slab that stands
// upright holds the columns that carry the load. Bodies of one slab touch only those of the same and
// of the two next to it, those of one row likewise: that is what lets workers sweep over every other
// row of every other slab at the same time. Within a row bodies lie in layers from the floor to the
// top, a layer being as high as a body of mean size, and sweeps carry the load up in one go. Bodies
// without mass come first: sweeps begin where a pile rests on the floor, which leaves smaller
// overlaps than solving those contacts among the others.
//
// A few bodies far away must not make the cells large: the sides of the scene are those that hold
// all but the outermost SPARE of a sample of the bodies, and what lies outside counts as lying on
// the border.
//
// Cost of a look: three sorts, every ORDER_STEPS steps. Bodies are moved only if more than one in
// DISORDER is not in its part of memory (the stretch that the order gives to two layers of a row).
#include "core/math/sum.h"
#include "core/sort.h"
#include "world/world.h"

#define ORDER_BODIES 128 // fewer are swept through in no time, whatever their order
#define ORDER_STEPS 64
#define DISORDER 8
#define UPRIGHT 3.0  // the side along gravity counts so much less
#define CELL_BITS 15 // of each coordinate within a row
#define SLAB_BITS 8
#define COLUMN_BITS 15
_Static_assert(CNI_CUT_LIMIT < 1 << SLAB_BITS, "a slab has a number");
_Static_assert(CNI_CUT_LIMIT *CNI_CUT_LIMIT < 1 << COLUMN_BITS, "a column has a number");
#define LAYER_BITS (2 * CELL_BITS + 1) // of a key: the place within two layers
#define CELL_LIMIT ((1 << CELL_BITS) - 1)
#define SAMPLE 256
#define SPARE 8 // of the sample, at either end

// Sides of the scene and how positions become cells.
typedef struct Raster {
  double lo[3], inv_cell;
  int32_t axis;    // across which it is cut into slabs
  int32_t up;      // across which a row is cut into layers
  int32_t third;   // across which a slab is cut into rows
  int32_t last[3]; // largest cell number of each axis
} Raster;

static double coordinate(CnVec3 x, int32_t axis) { return axis == 0 ? x.x : axis == 1 ? x.y : x.z; }

static int moves(const CniModel *model, int32_t i) { return cni_has_mass(&model->mass[i]); }

// Every n-th of the bodies with mass, at most SAMPLE of them; answers how many.
static int32_t take_sample(const CniModel *model, const CnPose *pose, int32_t moving,
                           CnVec3 sample[SAMPLE]) {
  int32_t stride = (moving - 1) / SAMPLE + 1, n = 0, seen = 0;
  for (int32_t i = 0; i < model->body_count && n < SAMPLE; i++)
    if (moves(model, i) && seen++ % stride == 0) sample[n++] = pose[i].position;
  return n;
}

static void insertion_sort(double *x, int32_t count) {
  for (int32_t i = 1; i < count; i++) {
    double value = x[i];
    int32_t j = i;
    for (; j > 0 && x[j - 1] > value; j--) x[j] = x[j - 1];
    x[j] = value;
  }
}

// Mean size of the bodies with mass, by their first shapes; 0 without any. The order of the bodies in
// memory does not enter.
static double mean_size(const CniModel *model) {
  CniSum sum;
  int32_t n = 0;
  cni_sum_init(&sum);
  for (int32_t i = 0; i < model->body_count; i++) {
    int32_t s = model->bodies[i].first_shape;
    if (!moves(model, i) || s < 0 || !isfinite(cni_model_outradius(&model->shapes[s]))) continue;
    cni_sum_add(&sum, 2 * cni_model_outradius(&model->shapes[s]));
    n++;
  }
  return n > 0 ? cni_sum_value(&sum) / n : 0;
}

// The axis that gravity follows most, -1 without gravity.
static int32_t down_axis(CnVec3 gravity) {
  double x = fabs(gravity.x), y = fabs(gravity.y), z = fabs(gravity.z);
  if (!(x > 0 || y > 0 || z > 0)) return -1;
  return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
}

static Raster make_raster(const CniModel *model, const CnPose *pose, int32_t moving, int32_t down) {
  CnVec3 sample[SAMPLE];
  double side[3], longest = 0, widest = 0, cell = mean_size(model);
  int32_t n = take_sample(model, pose, moving, sample);
  Raster r = {.axis = 0};
  for (int32_t axis = 0; axis < 3; axis++) {
    double x[SAMPLE];
    for (int32_t i = 0; i < n; i++) x[i] = coordinate(sample[i], axis);
    insertion_sort(x, n);
    // what the spared ones leave, and a margin as wide as a tenth of it
    double lo = x[SPARE], hi = x[n - 1 - SPARE], margin = 0.1 * (hi - lo);
    r.lo[axis] = lo - margin;
    side[axis] = hi - lo + 2 * margin;
    longest = cn_max(longest, side[axis]);
    double counted = axis == down ? side[axis] / UPRIGHT : side[axis];
    if (counted > widest) {
      widest = counted;
      r.axis = axis;
    }
  }
  r.up = down >= 0 ? down : (r.axis + 1) % 3;
  r.third = (r.up + 1) % 3 == r.axis ? (r.up + 2) % 3 : (r.up + 1) % 3;
  cell = cn_max(cell, longest / CELL_LIMIT);
  r.inv_cell = cell > 0 ? 1 / cell : 0;
  for (int32_t axis = 0; axis < 3; axis++)
    r.last[axis] = (int32_t)cn_min(side[axis] * r.inv_cell, CELL_LIMIT);
  return r;
}

static uint64_t cell_of(const Raster *r, CnVec3 position, int32_t axis) {
  double cell = (coordinate(position, axis) - r->lo[axis]) * r->inv_cell;
  return (uint64_t)cn_clamp(cell, 0, r->last[axis]);
}

// Layers from the floor to the top; in each of them rows.
static uint64_t layer_key(const Raster *r, CnVec3 x) {
  uint64_t along = cell_of(r, x, r->axis == r->up ? (r->up + 2) % 3 : r->axis);
  return cell_of(r, x, r->up) << 2 * CELL_BITS | cell_of(r, x, r->third) << CELL_BITS | along;
}

// Bodies along an axis, those without mass before all others.
static void sort_along(const CniModel *model, const CnPose *pose, int32_t axis, CniSort *sort) {
  for (int32_t i = 0; i < model->body_count; i++) {
    double x = coordinate(pose[i].position, axis);
    sort->keys[i] = moves(model, i) ? cni_double_key(x) : 0;
    sort->values[i] = i;
  }
  cni_sort_keys(sort, model->body_count, 64);
}

// The bodies are in order: the stretch of each, from 1 on; 0 for those without mass.
static void number_stretches(const CniSort *sort, int32_t count, int32_t moving, int32_t stretches,
                             uint64_t *numbers) {
  int32_t fixed = count - moving;
  for (int32_t k = 0; k < count; k++)
    numbers[sort->values[k]] =
        k < fixed ? 0 : (uint64_t)((int64_t)(k - fixed) * stretches / moving) + 1;
}

// Keys of all bodies: slab first, then row, then layer.
#define KEY_BITS (COLUMN_BITS + 3 * CELL_BITS)
static void make_keys(const CniModel *model, const Raster *r, const CnPose *pose, int32_t moving,
                      CniSort *sort, uint64_t *keys) {
  int32_t count = model->body_count;
  CniCuts cuts = cni_cuts_aim(moving);
  sort_along(model, pose, r->axis, sort);
  number_stretches(sort, count, moving, cuts.slabs, keys);
  if (cuts.rows > 1) {
    sort_along(model, pose, r->third, sort);
    for (int32_t k = 0; k < count; k++) sort->keys[k] = keys[sort->values[k]];
    cni_sort_keys(sort, count, SLAB_BITS);
    number_stretches(sort, count, moving, cuts.slabs * cuts.rows, keys);
  }
  for (int32_t i = 0; i < count; i++)
    if (keys[i] > 0) keys[i] = keys[i] << 3 * CELL_BITS | layer_key(r, pose[i].position);
}

CnStatus cni_order_room(CnWorld *world, CniOrderRoom *room) {
  const CniModel *model = &world->now.model;
  CniArena *arena = &world->memory.arena;
  int32_t count = model->body_count, moving = 0;
  int64_t step = world->now.step + 1;
  *room = (CniOrderRoom){.moving = 0};
  if (count < ORDER_BODIES || model->shape_count == 0 || (step != 1 && step % ORDER_STEPS != 0))
    return CN_OK;
  for (int32_t i = 0; i < count; i++) moving += moves(model, i);
  if (moving < ORDER_BODIES) return CN_OK;
  CNI_TRY(CNI_TAKE(arena, count, room->keys));
  CNI_TRY(cni_sort_init(&room->sort, arena, count));
  // once all is sorted nobody needs the keys
  size_t bytes = cni_model_reorder_bytes(model);
  room->scratch = room->sort.keys;
  if (bytes > 2 * (size_t)count * sizeof *room->keys) room->scratch = cni_arena_take(arena, bytes);
  if (!room->scratch) return cni_error_memory(bytes);
  room->moving = moving;
  return CN_OK;
}

const int32_t *cni_order_find(CnWorld *world, const CnPose *pose, CniOrderRoom *room) {
  const CniModel *model = &world->now.model;
  int32_t count = model->body_count, wrong = 0;
  CniSort *sort = &room->sort;
  uint64_t *keys = room->keys;
  if (room->moving == 0) return NULL;
  Raster raster = make_raster(model, pose, room->moving, down_axis(world->now.settings.gravity));
  make_keys(model, &raster, pose, room->moving, sort, keys);
  for (int32_t i = 0; i < count; i++) {
    sort->keys[i] = keys[i];
    sort->values[i] = i;
  }
  cni_sort_keys(sort, count, KEY_BITS);
  for (int32_t i = 0; i < count; i++) wrong += keys[i] >> LAYER_BITS != sort->keys[i] >> LAYER_BITS;
  world->work.order_scratch = room->scratch;
  return wrong <= count / DISORDER ? NULL : sort->values;
}

void cni_order_apply(CnWorld *world, const int32_t *order) {
  cni_problem_map_name(&world->now);
  cni_contacts_leave(&world->now, order, world->work.order_scratch);
  cni_model_reorder(&world->now.model, order, world->work.order_scratch);
  cni_contacts_arrive(&world->now);
}
