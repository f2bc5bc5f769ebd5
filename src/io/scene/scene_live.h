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

#endif
