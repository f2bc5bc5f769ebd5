// SPDX-License-Identifier: Apache-2.0
// The kinds of joints, one a line: CN_JOINT(NAME, name) makes CN_JOINT_NAME and stands for the file
// src/joint/joint_name.c. Included where the list is needed, again and again; the order is the
// number of a kind in the interface: add at the end.
CN_JOINT(BALL, ball)
CN_JOINT(DISTANCE, distance)
CN_JOINT(WELD, weld)
CN_JOINT(PRISMATIC, prismatic)
CN_JOINT(REVOLUTE, revolute)
CN_JOINT(CYLINDRICAL, cylindrical)
CN_JOINT(SPHERICAL, spherical)
CN_JOINT(UNIVERSAL, universal)
CN_JOINT(PLANAR, planar)
CN_JOINT(SCREW, screw)
CN_JOINT(ROPE, rope)
CN_JOINT(POINT_ON_LINE, point_on_line)
CN_JOINT(POINT_ON_PLANE, point_on_plane)
CN_JOINT(CONSTANT_VELOCITY, constant_velocity)
CN_JOINT(GENERIC, generic)
CN_JOINT(POINT_ON_CURVE, point_on_curve)
CN_JOINT(CURVE_ON_CURVE, curve_on_curve)
