// SPDX-License-Identifier: Apache-2.0
// Sensors that look back, as scene_sensors.c reads them and scene_live.c keeps them.
#ifndef CNI_IO_SCENE_LIVE_H
#define CNI_IO_SCENE_LIVE_H

#include "io/scene/scene_private.h"

enum {
  CNI_STATISTIC_NONE = 0,
  CNI_STATISTIC_MIN,
  CNI_STATISTIC_MAX,
  CNI_STATISTIC_MEAN,
  CNI_STATISTIC_RMS
};

int cni_sensor_is_plane(const CniSceneSensor *sensor);
int cni_sensor_counts(const CniSceneSensor *sensor); // bodies in a region
int cni_sensor_accelerates(const CniSceneSensor *sensor);
double cni_sensor_statistic(const CniSceneSensor *sensor); // NaN: no step was seen yet
// Bodies of the sensor's region.
CnStatus cni_scene_count(const CnScene *scene, const CnWorld *world, const CniSceneSensor *sensor,
                         double *count, double *mass);

// ---- while a world runs: scene_live.c ----

// Memory for it, at the end of reading; release with the scene.
CnStatus cni_scene_live_prepare(CnScene *scene);
void cni_scene_live_release(CnScene *scene);
// A world has just been filled: bodies of sources are put aside, all counts are zero.
CnStatus cni_scene_live_begin(CnScene *scene, CnWorld *world);
// All bodies of sources wait.
CnStatus cni_scene_put_all_aside(CnScene *scene, CnWorld *world);
// Bodies of sources let go, bodies at sinks taken away.
CnStatus cni_scene_feed(CnScene *scene, CnWorld *world);
// A sensor's value now, of those that scene_live.c knows; of several ranks all ask.
CnStatus cni_scene_measure_raw(const CnScene *scene, CnWorld *world, int32_t index, double *value);

#endif
