// SPDX-License-Identifier: Apache-2.0
// The kinds of shapes, CN_SHAPE(NUMBER, name), in the order of their numbers. This file is the one
// list: the enum of <cairn/shape.h> and the table of rows follow from it. A new kind is one line at
// the end and one file src/geometry/shape_NAME.c with its row. Included where CN_SHAPE is defined.
CN_SHAPE(SPHERE, sphere)
CN_SHAPE(BOX, box)
CN_SHAPE(PLANE, plane)
CN_SHAPE(CAPSULE, capsule)
CN_SHAPE(HULL, hull)
CN_SHAPE(CYLINDER, cylinder)
CN_SHAPE(CONE, cone)
CN_SHAPE(ELLIPSOID, ellipsoid)
CN_SHAPE(MESH, mesh)
