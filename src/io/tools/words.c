// SPDX-License-Identifier: Apache-2.0
// Words that other engines have for things of ours, so that a message can offer the right one.
#include <string.h>

#include "io/tools/names.h"

static const char *const words[][2] = {
    {"hinge", "revolute"},
    {"pin", "revolute"},
    {"rotational", "revolute"},
    {"slider", "prismatic"},
    {"translational", "prismatic"},
    {"linear", "prismatic"},
    {"fixed", "weld"},
    {"rigid", "weld"},
    {"lock", "weld"},
    {"point", "ball"},
    {"socket", "ball"},
    {"ball_socket", "ball"},
    {"cardan", "universal"},
    {"hooke", "universal"},
    {"cv", "constant_velocity"},
    {"helical", "screw"},
    {"piston", "cylindrical"},
    {"cable", "rope"},
    {"6dof", "generic"},
    {"d6", "generic"},
    {"free", "generic"},
    {"groove", "point_on_curve"},
    {"slot", "point_on_curve"},
    {"cam", "curve_on_curve"},
    {"cube", "box"},
    {"cuboid", "box"},
    {"convex", "hull"},
    {"static", "fixed"},
    {"type", "kind"},
    {"mu", "friction"},
    {"pos", "position"},
    {"orientation", "rotation"},
    {"parent", "bodies"},
    {"rest", "rest_length"},
    {"max_force", "motor_effort"},
    {"speed", "motor_speed"},
};

int cni_word_means(const char *word, size_t length, const char *name) {
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i][0]) == length && memcmp(words[i][0], word, length) == 0 &&
        strcmp(words[i][1], name) == 0)
      return 1;
  return 0;
}
