// SPDX-License-Identifier: Apache-2.0
// The kinds of joints, one a line: CN_JOINT(NAME, name) makes CN_JOINT_NAME and stands for the file
// src/joint/joint_name.c. Included where the list is needed, again and again; the order is the
// number of a kind in the interface: add at the end.
CN_JOINT(BALL, ball)
CN_JOINT(DISTANCE, distance)
CN_JOINT(WELD, weld)
CN_JOINT(PRISMATIC, prismatic)
