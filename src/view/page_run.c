// SPDX-License-Identifier: Apache-2.0
// A page from a run file, through the reading functions of run.h. The total energy, which a run
// file does not hold, is added to its scalars here, step by step, and works are summed up from the first
// step on: later the plots are thinned.
#include "view/view_private.h"

#include <string.h>

#define TOTAL "total_energy"
#define WORK "work_"
#define PART 512 // values added at a time

typedef struct RunView {
  CnRun *run;
  int32_t scalar_count; // in the file
  int32_t total;        // 1: and the sum of the energies
  double work;          // J: sum of the series being read, up to where it was read
} RunView;

static CnRun *run_of(const void *context) { return ((const RunView *)context)->run; }

static CnStatus run_parameter(void *context, int32_t index, CnRunParameter *parameter) {
  return cn_run_parameter(run_of(context), index, parameter);
}

static CnStatus run_body(void *context, int32_t index, CnRunBody *body) {
  return cn_run_body(run_of(context), index, body);
}

static CnStatus run_color(void *context, int32_t index, double color[4]) {
  return cn_run_body_color(run_of(context), index, color);
}

static CnStatus run_shape(void *context, int32_t index, CnRunShape *shape) {
  return cn_run_shape(run_of(context), index, shape);
}

static CnStatus run_joint(void *context, int32_t index, CnRunJoint *joint) {
  return cn_run_joint(run_of(context), index, joint);
}

static CnStatus run_triangles(void *context, int32_t shape, int32_t quarter,
                              CnTriangles *triangles) {
  return cn_run_shape_triangles(run_of(context), shape, quarter, triangles);
}

static CnStatus run_frame(void *context, int64_t index, double *time, CnPose *poses,
                          CnTwist *twists) {
  return cn_run_frame(run_of(context), index, time, poses, twists);
}

static CnStatus run_inertias(void *context, CnPose *coms, CnVec3 *moments) {
  return cn_run_inertias(run_of(context), coms, moments);
}

static CnStatus run_materials(void *context, int32_t *materials, int32_t *count) {
  return cn_run_materials(run_of(context), materials, count);
}

static CnStatus run_material_name(void *context, int32_t index, char *name, size_t size) {
  return cn_run_material_name(run_of(context), index, name, size);
}

static CnStatus run_drives(void *context, int32_t *coordinates) {
  return cn_run_drives(run_of(context), coordinates);
}

static CnStatus run_contacts(void *context, int64_t frame, CnRunContact *contacts, int32_t capacity,
                             int32_t *count) {
  return cn_run_contacts(run_of(context), frame, contacts, capacity, count);
}

static CnStatus run_events(void *context, int64_t first, int64_t count, CnRunEvent *events) {
  return cn_run_events(run_of(context), first, count, events);
}

static CnStatus run_states(void *context, int64_t index, double *time, CnJointState *states) {
  const RunView *view = context;
  CNI_TRY(cn_run_frame(view->run, index, time, NULL, NULL));
  return cn_run_joint_states(view->run, index, states);
}

static CnStatus run_coupling(void *context, int32_t index, const char **name) {
  return cn_run_coupling(run_of(context), index, name);
}

static CnStatus run_coupling_states(void *context, int64_t index, CnCouplingState *states) {
  return cn_run_coupling_states(run_of(context), index, states);
}

static CnStatus run_series(void *context, int32_t index, CnRunSeries *series) {
  const RunView *view = context;
  if (index < view->scalar_count) return cn_run_scalar(view->run, index, series);
  index -= view->scalar_count + view->total;
  *series = (CnRunSeries){.name = TOTAL, .unit = "J"};
  return index < 0 ? CN_OK : cn_run_sensor(view->run, index, series);
}

static CnStatus run_values(void *context, const char *name, int64_t first, int64_t count,
                           double *values) {
  RunView *view = context;
  if (strncmp(name, WORK, strlen(WORK)) == 0) {
    CNI_TRY(cn_run_values(view->run, name, first, count, values));
    if (first == 0) view->work = 0; // series are read from the beginning on
    for (int64_t i = 0; i < count; i++) values[i] = view->work += values[i];
    return CN_OK;
  }
  if (strcmp(name, TOTAL) != 0) return cn_run_values(view->run, name, first, count, values);
  CNI_TRY(cn_run_values(view->run, "kinetic_energy", first, count, values));
  for (int64_t done = 0; done < count; done += PART) {
    double potential[PART];
    int64_t part = count - done < PART ? count - done : PART;
    CNI_TRY(cn_run_values(view->run, "potential_energy", first + done, part, potential));
    for (int64_t i = 0; i < part; i++) values[done + i] += potential[i];
  }
  return CN_OK;
}

// Both parts are there, and no series has the name of the sum.
static CnStatus can_sum(RunView *view, const CnRunInfo *info, int32_t *answer) {
  int32_t parts = 0;
  for (int32_t i = 0; i < info->scalar_count + info->sensor_count; i++) {
    CnRunSeries series;
    CNI_TRY(run_series(view, i, &series));
    if (strcmp(series.name, TOTAL) == 0) parts -= 2;
    if (i < info->scalar_count)
      parts += strcmp(series.name, "kinetic_energy") == 0 ||
               strcmp(series.name, "potential_energy") == 0;
  }
  *answer = parts == 2;
  return CN_OK;
}

// A run as a source, and what has to be released with it.
typedef struct RunSource {
  RunView view;
  CniPageSource source;
  CniPageMemory memory;
  CnWorld *world;
} RunSource;

static CnStatus open_source(CnRun *run, const char *label, RunSource *s) {
  *s = (RunSource){.view = {.run = run}};
  CniPageSource *source = &s->source;
  *source = (CniPageSource){.context = &s->view,
                            .description = "",
                            .label = label,
                            .parameter = run_parameter,
                            .body = run_body,
                            .color = run_color,
                            .shape = run_shape,
                            .triangles = run_triangles,
                            .joint = run_joint,
                            .frame = run_frame,
                            .inertias = run_inertias,
                            .materials = run_materials,
                            .material_name = run_material_name,
                            .drives = run_drives,
                            .events = run_events,
                            .series = run_series,
                            .values = run_values};
  cn_run_info(run, &source->info);
  s->view.scalar_count = source->info.scalar_count;
  if (source->info.joints_recorded) source->states = run_states;
  if (source->info.contacts_recorded) source->contacts = run_contacts;
  source->coupling = run_coupling;
  source->coupling_states = run_coupling_states;
  int32_t total = 0;
  CNI_TRY(can_sum(&s->view, &source->info, &total));
  source->info.scalar_count += s->view.total = total;
  source->world = s->world = cni_page_curves(run, &source->info);
  return cni_page_springs(run, &s->memory, source);
}

CnStatus cni_page_from_runs(CnRun *const *runs, const char *const *labels, int32_t count,
                            const CniPageDef *def) {
  RunSource opened[2];
  const CniPageSource *sources[2];
  if (count < 1 || count > 2)
    return cni_page_error(CN_INVALID_ARGUMENT, "a page shows one run or two (got %d)", (int)count);
  CnStatus status = CN_OK;
  int32_t n = 0;
  for (int32_t i = 0; i < count && def->output && status == CN_OK; i++)
    status = cn_run_check_output(runs[i], def->output);
  for (; n < count && status == CN_OK; n++) {
    status = open_source(runs[n], labels ? labels[n] : NULL, &opened[n]);
    sources[n] = &opened[n].source;
  }
  if (status == CN_OK) status = cni_page_write(sources, count, def);
  for (int32_t i = 0; i < n; i++) {
    cni_page_memory_release(&opened[i].memory);
    cn_world_destroy(opened[i].world);
  }
  return status;
}

CnStatus cni_page_from_run(CnRun *run, const CniPageDef *def) {
  if (!run) return cni_page_error(CN_INVALID_ARGUMENT, "cni_page_from_run: the run is null");
  return cni_page_from_runs(&run, NULL, 1, def);
}
