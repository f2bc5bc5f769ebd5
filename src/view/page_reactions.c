// SPDX-License-Identifier: Apache-2.0
// Plots of what joints did, from the states recorded with the frames: coordinates, rates, efforts along
// them, sizes of reaction forces and torques, efforts of couplings. Efforts that stay zero are left out, and so is what goes
// beyond the room of a page.
#include "view/view_private.h"

#include <string.h>

#define MAX_POINTS 1500
#define MAX_SERIES 120

typedef struct Series {
  int32_t joint, quantity, axis; // axis -1: of the joint as a whole; joint -1: coupling `axis`
  double *values;
} Series;

// What is plotted along a coordinate: the arrays of CnJointState.
static const struct {
  const char *title, *name; // name: of the effort
  size_t offset;
  int32_t always;       // also where it stays zero
  const char *units[2]; // of coordinates in m and in rad
} quantities[] = {
    {"Joint coordinates", "", offsetof(CnJointState, coordinate), 1, {"m", "rad"}},
    {"Joint rates", "", offsetof(CnJointState, rate), 1, {"m/s", "rad/s"}},
    {"Joint efforts", " motor", offsetof(CnJointState, motor), 0, {"N", "N m"}},
    {"Joint efforts", " limit", offsetof(CnJointState, limit), 0, {"N", "N m"}},
    {"Joint efforts", " friction", offsetof(CnJointState, friction), 0, {"N", "N m"}},
    {"Joint efforts", " spring", offsetof(CnJointState, spring), 0, {"N", "N m"}},
    {"Joint reactions", "", offsetof(CnJointState, force), 0, {"N", "N"}},
    {"Joint reactions", "", offsetof(CnJointState, torque), 0, {"N m", "N m"}},
};
#define ALONG 6 // of them along coordinates; the others are vectors
#define QUANTITIES ((int32_t)(sizeof quantities / sizeof quantities[0]))

static double value_of(const CnJointState *state, const Series *s) {
  const double *x =
      (const double *)(const void *)((const char *)state + quantities[s->quantity].offset);
  if (s->axis >= 0) return x[s->axis];
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

// All that may be plotted, in the order of the page.
static int32_t list_series(const CnRunJoint *joints, int32_t joint_count, int32_t coupling_count,
                           Series *series) {
  int32_t count = 0;
  for (int32_t i = 0; i < coupling_count && count < MAX_SERIES / 2; i++)
    series[count++] = (Series){.joint = -1, .axis = i};
  for (int32_t i = 0; i < joint_count; i++) {
    int32_t axes = 0;
    while (cn_joint_coordinate_name(joints[i].kind, axes)) axes++;
    for (int32_t q = 0; q < QUANTITIES; q++)
      for (int32_t k = q < ALONG ? 0 : -1; k < (q < ALONG ? axes : 0); k++) {
        if (count == MAX_SERIES) return count;
        series[count++] = (Series){.joint = i, .quantity = q, .axis = k};
      }
  }
  return count;
}

static int is_shown(const Series *s, int64_t points) {
  if (s->joint < 0 || quantities[s->quantity].always) return 1;
  for (int64_t p = 0; p < points; p++)
    if (s->values[p] != 0) return 1;
  return 0;
}

static CnStatus write_coupling(CniPageFile *file, const CniPageSource *source, const Series *s,
                               int32_t index) {
  const char *own;
  char name[160];
  CNI_TRY(source->coupling(source->context, s->axis, &own));
  if (own[0])
    snprintf(name, sizeof name, "%.150s", own);
  else
    snprintf(name, sizeof name, "coupling %d", (int)s->axis);
  cni_page_file_text(file, index ? ",{\"title\":" : "{\"title\":");
  cni_page_file_string(file, "Coupling efforts");
  cni_page_file_text(file, ",\"name\":");
  cni_page_file_string(file, name);
  cni_page_file_text(file, ",\"unit\":\"N or N m\"}");
  return CN_OK;
}

static void write_entry(CniPageFile *file, const CnRunJoint *joint, const Series *s,
                        int32_t index) {
  const char *axis = s->axis < 0 ? NULL : cn_joint_coordinate_name(joint->kind, s->axis);
  const char *unit = s->axis < 0 ? "m" : cn_joint_coordinate_unit(joint->kind, s->axis);
  char name[160];
  size_t used;
  if (joint->name[0])
    used = (size_t)snprintf(name, 100, "%s", joint->name);
  else
    used = (size_t)snprintf(name, 100, "joint %d", (int)s->joint);
  if (used > 99) used = 99;
  snprintf(name + used, sizeof name - used, "%s%s%s", axis ? " " : "", axis ? axis : "",
           quantities[s->quantity].name);
  cni_page_file_text(file, index ? ",{\"title\":" : "{\"title\":");
  cni_page_file_string(file, quantities[s->quantity].title);
  cni_page_file_text(file, ",\"name\":");
  cni_page_file_string(file, name);
  cni_page_file_text(file, ",\"unit\":");
  cni_page_file_string(file, quantities[s->quantity].units[strcmp(unit, "rad") == 0]);
  cni_page_file_text(file, "}");
}

static void write_numbers(CniPageFile *file, const char *name, const double *values,
                          int64_t count) {
  cni_page_file_begin(file, name);
  for (int64_t i = 0; i < count; i++) cni_page_file_float64(file, values[i]);
  cni_page_file_end(file);
}

static CnStatus write_from(CniPageFile *file, const CniPageSource *source, CniPageMemory *memory) {
  int32_t joint_count = source->info.joint_count, count, shown = 0;
  int64_t frames = source->info.frame_count, stride = (frames + MAX_POINTS - 1) / MAX_POINTS;
  int64_t points = (frames + stride - 1) / stride;
  CnRunJoint *joints;
  CnJointState *states;
  CnCouplingState *coupled;
  int32_t coupling_count = source->coupling_states ? source->info.coupling_count : 0;
  Series *series;
  double *times;
  CNI_TRY(cni_page_array(memory, joint_count, sizeof *joints, &joints));
  CNI_TRY(cni_page_array(memory, joint_count, sizeof *states, &states));
  CNI_TRY(cni_page_array(memory, coupling_count, sizeof *coupled, &coupled));
  CNI_TRY(cni_page_array(memory, MAX_SERIES, sizeof *series, &series));
  CNI_TRY(cni_page_array(memory, points, sizeof *times, &times));
  for (int32_t i = 0; i < joint_count; i++) CNI_TRY(source->joint(source->context, i, &joints[i]));
  count = list_series(joints, joint_count, coupling_count, series);
  for (int32_t s = 0; s < count; s++)
    CNI_TRY(cni_page_array(memory, points, sizeof(double), &series[s].values));
  for (int64_t p = 0; p < points; p++) {
    CNI_TRY(source->states(source->context, p * stride, &times[p], states));
    if (coupling_count > 0) CNI_TRY(source->coupling_states(source->context, p * stride, coupled));
    for (int32_t s = 0; s < count; s++)
      series[s].values[p] = series[s].joint < 0 ? coupled[series[s].axis].effort
                                                : value_of(&states[series[s].joint], &series[s]);
  }
  cni_page_file_json(file, "reactions");
  cni_page_file_text(file, "[");
  for (int32_t s = 0; s < count; s++) {
    if (!is_shown(&series[s], points)) continue;
    if (series[s].joint < 0)
      CNI_TRY(write_coupling(file, source, &series[s], shown++));
    else
      write_entry(file, &joints[series[s].joint], &series[s], shown++);
  }
  cni_page_file_text(file, "]");
  cni_page_file_json_end(file);
  write_numbers(file, "reactions-time", times, points);
  shown = 0;
  for (int32_t s = 0; s < count; s++) {
    char name[40];
    if (!is_shown(&series[s], points)) continue;
    snprintf(name, sizeof name, "reactions-%d", (int)shown++);
    write_numbers(file, name, series[s].values, points);
  }
  return CN_OK;
}

CnStatus cni_page_write_reactions(CniPageFile *file, const CniPageSource *source) {
  CniPageMemory memory = {NULL};
  if (!source->states || source->info.joint_count == 0 || source->info.frame_count < 2)
    return CN_OK;
  CnStatus status = write_from(file, source, &memory);
  cni_page_memory_release(&memory);
  return status;
}
