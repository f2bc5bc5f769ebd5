// SPDX-License-Identifier: Apache-2.0
// The built-in scenes: names, and one line about each.
#include "io/scene/scene_private.h"

const char *cn_builtin_scene_name(int32_t index) {
  return index >= 0 && index < cni_builtin_scene_count ? cni_builtin_scenes[index].name : NULL;
}

const char *cn_builtin_scene_summary(int32_t index) {
  return index >= 0 && index < cni_builtin_scene_count ? cni_builtin_scenes[index].title : NULL;
}
