// SPDX-License-Identifier: Apache-2.0
// Solids as closed meshes, made by rules: balls, rings, and what comes of a profile that is turned or
// drawn out.
#ifndef TESTS_SOLIDS_H
#define TESTS_SOLIDS_H

#include "io/meshes/mesh_file.h"

// An icosahedron whose triangles are divided in four so many times, corners on a sphere of radius 1.
CniMeshData solid_icosphere(int32_t divisions);
// A ring: `around` sections, each a polygon of `about` corners on a circle.
CniMeshData solid_torus(double radius, double tube, int32_t around, int32_t about);
// A polygon in the plane (counter-clockwise, not convex in general) drawn out by `height`.
CniMeshData solid_prism(const double (*corners)[2], int32_t count, double height);
// A profile of (radius, height), counter-clockwise in that plane, turned about z in so many steps. A
// radius of 0 is a pole.
CniMeshData solid_turned(const double (*profile)[2], int32_t count, int32_t around);
// Of the L and the U: profiles for solid_prism; of the cup one for solid_turned; a gear wheel.
extern const double solid_l[6][2], solid_u[8][2], solid_cup[6][2];
// A profile for solid_turned: a cone on a tube, open at both ends, its wall a fiftieth of its size.
extern const double solid_funnel[8][2];
// Corners on a grid of binary fractions, so that sines of any library give the same solid.
CniMeshData solid_on_grid(CniMeshData mesh);
#define SOLID_TEETH 12
CniMeshData solid_gear(double height);

// As an OBJ file, with all digits.
void solid_write(const CniMeshData *mesh, const char *path);

// Sums over tetrahedra in extended precision, from the origin: volume, centre, inertia about the centre
// (xx yy zz xy xz yz).
typedef struct SolidMass {
  double volume, centre[3], inertia[6];
} SolidMass;
SolidMass solid_mass(const CniMeshData *mesh);

// The folder of meshes that others made (CAIRN_MESH_DIR, else ../shared/data/meshes); null: none.
const char *mesh_folder(void);

#endif
