// SPDX-License-Identifier: Apache-2.0
// A toy joint: a ball joint under another name. tests/open_house adds it to a copy of the sources.
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) { cni_joint_lock_point(sight, p); }

const CniJointKind cni_joint_toy = {
    .name = "toy", .summary = "a toy", .locked_count = 3, .point = 1, .place = place};
