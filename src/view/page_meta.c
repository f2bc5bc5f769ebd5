// SPDX-License-Identifier: Apache-2.0
// The text of a page as one JSON block: what the run was, its settings, the scene's parameters, the
// names of bodies and series, and the scene file itself if it is not too long.
#include "view/view_private.h"

#include <inttypes.h>
#include <string.h>

#define MAX_SCENE_TEXT 262144 // bytes

static void key(CniPageFile *file, const char *name) {
  cni_page_file_text(file, ",\n");
  cni_page_file_string(file, name);
  cni_page_file_text(file, ":");
}

static void text_field(CniPageFile *file, const char *name, const char *value) {
  key(file, name);
  cni_page_file_string(file, value);
}

static void number_field(CniPageFile *file, const char *name, double value) {
  key(file, name);
  cni_page_file_number(file, value);
}

static void write_info(CniPageFile *file, const CniPageSource *source) {
  const CnRunInfo *info = &source->info;
  char seed[24]; // as text: JSON numbers have 53 bits
  snprintf(seed, sizeof seed, "%" PRIu64, info->seed);
  text_field(file, "source", source->is_scene ? "scene" : "run");
  text_field(file, "pageVersion", cn_version());
  text_field(file, "cairnVersion", info->cairn_version);
  text_field(file, "sceneName", info->scene_name);
  text_field(file, "sceneTitle", info->scene_title);
  text_field(file, "description", source->description);
  text_field(file, "integrator", info->integrator);
  text_field(file, "solver", info->solver);
  text_field(file, "friction", info->friction == CN_FRICTION_CONVEX ? "convex" : "coulomb");
  key(file, "gravity");
  const double gravity[3] = {info->gravity.x, info->gravity.y, info->gravity.z};
  for (int32_t k = 0; k < 3; k++) {
    cni_page_file_text(file, k ? "," : "[");
    cni_page_file_number(file, gravity[k]);
  }
  cni_page_file_text(file, "]");
  number_field(file, "timeStep", info->time_step);
  number_field(file, "iterations", info->iterations);
  number_field(file, "tolerance", info->tolerance);
  text_field(file, "seed", seed);
  number_field(file, "workers", info->worker_count);
  number_field(file, "bodies", info->body_count);
  number_field(file, "shapes", info->shape_count);
  number_field(file, "joints", info->joint_count);
  number_field(file, "couplings", info->coupling_count);
  number_field(file, "steps", (double)info->step_count);
  number_field(file, "recordedFrames", (double)info->frame_count);
  number_field(file, "complete", info->complete);
  int own_steps = (cn_integrator_traits(info->integrator) & CN_INTEGRATOR_OWN_STEPS) != 0;
  number_field(file, "ownSteps", own_steps); // no step problems
  number_field(file, "integratorTolerance", info->integrator_tolerance);
  text_field(file, "label", source->label ? source->label : "");
  number_field(file, "events", (double)info->event_count);
  text_field(file, "verdict", info->verdict ? info->verdict : "");
  number_field(file, "trusted", info->verdict ? info->trusted : -1);
}

// A list of `count` items, each written by one function.
typedef CnStatus (*Item)(CniPageFile *file, const CniPageSource *source, int32_t index);

static CnStatus write_list(CniPageFile *file, const CniPageSource *source, const char *name,
                           int32_t count, Item item) {
  key(file, name);
  cni_page_file_text(file, "[");
  for (int32_t i = 0; i < count; i++) {
    if (i > 0) cni_page_file_text(file, ",");
    CNI_TRY(item(file, source, i));
  }
  cni_page_file_text(file, "]");
  return CN_OK;
}

static CnStatus put_parameter(CniPageFile *file, const CniPageSource *source, int32_t i) {
  CnRunParameter parameter;
  CNI_TRY(source->parameter(source->context, i, &parameter));
  cni_page_file_text(file, "[");
  cni_page_file_string(file, parameter.name);
  cni_page_file_text(file, ",");
  cni_page_file_number(file, parameter.value);
  cni_page_file_text(file, "]");
  return CN_OK;
}

static CnStatus put_name(CniPageFile *file, const CniPageSource *source, int32_t i) {
  CnRunBody body;
  CNI_TRY(source->body(source->context, i, &body));
  cni_page_file_string(file, body.name);
  return CN_OK;
}

// A list a body, as long as any has a color.
static CnStatus write_colors(CniPageFile *file, const CniPageSource *source) {
  int32_t count = source->color ? source->info.body_count : 0, given = 0;
  double color[4];
  for (int32_t i = 0; i < count; i++) {
    CNI_TRY(source->color(source->context, i, color));
    given += color[0] >= 0 || color[3] >= 0;
  }
  for (int32_t i = 0; given > 0 && i < count; i++) {
    if (i == 0) key(file, "colors");
    CNI_TRY(source->color(source->context, i, color));
    for (int32_t k = 0; k < 4; k++) {
      cni_page_file_text(file, k > 0 ? "," : i > 0 ? ",[" : "[[");
      cni_page_file_number(file, color[k] >= 0 ? color[k] : NAN);
    }
    cni_page_file_text(file, "]");
  }
  if (given > 0) cni_page_file_text(file, "]");
  return CN_OK;
}

static CnStatus put_series(CniPageFile *file, const CniPageSource *source, int32_t i) {
  CnRunSeries series;
  CNI_TRY(source->series(source->context, i, &series));
  cni_page_file_text(file, "{\"name\":");
  cni_page_file_string(file, series.name);
  text_field(file, "unit", series.unit);
  text_field(file, "kind", i < source->info.scalar_count ? "scalar" : "sensor");
  cni_page_file_text(file, "}");
  return CN_OK;
}

static CnStatus put_joint(CniPageFile *file, const CniPageSource *source, int32_t i) {
  CnRunJoint joint;
  CNI_TRY(source->joint(source->context, i, &joint));
  cni_page_file_text(file, "{\"name\":");
  cni_page_file_string(file, joint.name);
  text_field(file, "kind", cn_joint_kind_name(joint.kind));
  cni_page_file_text(file, "}");
  return CN_OK;
}

static CnStatus put_material(CniPageFile *file, const CniPageSource *source, int32_t i) {
  char name[256] = "";
  CNI_TRY(source->material_name(source->context, i, name, sizeof name));
  if (!name[0]) snprintf(name, sizeof name, "material %d", (int)i);
  cni_page_file_string(file, name);
  return CN_OK;
}

static CnStatus write_materials(CniPageFile *file, const CniPageSource *source) {
  CniPageMemory memory = {NULL};
  int32_t *materials = NULL, count = 0;
  CnStatus status =
      cni_page_array(&memory, source->info.shape_count, sizeof *materials, &materials);
  if (status == CN_OK && source->materials && source->info.shape_count > 0)
    status = source->materials(source->context, materials, &count);
  if (status == CN_OK) status = write_list(file, source, "materials", count, put_material);
  cni_page_memory_release(&memory);
  return status;
}

CnStatus cni_page_write_meta(CniPageFile *file, const CniPageSource *source,
                             int64_t steps_per_point) {
  cni_page_file_json(file, "meta");
  cni_page_file_text(file, "{\"format\":2");
  write_info(file, source);
  number_field(file, "stepsPerPoint", (double)steps_per_point);
  const char *text = source->info.scene_text ? source->info.scene_text : "";
  size_t text_size = strlen(text);
  number_field(file, "sceneTextBytes", (double)text_size);
  text_field(file, "sceneText", text_size <= MAX_SCENE_TEXT ? text : "");
  const CnRunInfo *info = &source->info;
  CNI_TRY(write_list(file, source, "parameters", info->parameter_count, put_parameter));
  CNI_TRY(write_list(file, source, "names", info->body_count, put_name));
  CNI_TRY(write_colors(file, source));
  CNI_TRY(write_list(file, source, "series", info->scalar_count + info->sensor_count, put_series));
  CNI_TRY(write_list(file, source, "jointNames", info->joint_count, put_joint));
  CNI_TRY(write_materials(file, source));
  cni_page_file_text(file, "}");
  cni_page_file_json_end(file);
  return CN_OK;
}
