// SPDX-License-Identifier: Apache-2.0
/// More of a run file: what a program that draws it, or repeats it, needs. Part of libcairn-io.
#ifndef CAIRN_RUN_LOOK_H
#define CAIRN_RUN_LOOK_H

#include <cairn/look.h>
#include <cairn/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The settings that a run was made with, over those of the definition: what the file does not say stays. Names
/// are those of the run or of the tables.
CN_API CnStatus cn_run_settings(CnRun *run, CnWorldDef *def);

/// Color of body `index`: red, green, blue, opacity, each 0 .. 1; those that the scene did not give are
/// negative.
CN_API CnStatus cn_run_body_color(const CnRun *run, int32_t index, double color[4]);

/// Shape `index` of a run as triangles, as cn_shape_triangles.
CN_API CnStatus cn_run_shape_triangles(const CnRun *run, int32_t index, int32_t quarter,
                                       CnTriangles *triangles);

/// The springs between bodies, as links: bodies and frames are told, the kind is not. *count is how many there
/// are, the first `capacity` are given; none in runs of 0.1.
CN_API CnStatus cn_run_springs(CnRun *run, CnRunJoint *springs, int32_t capacity, int32_t *count);

/// Centres of mass with the principal axes in the body frames, and the principal moments (kg m^2): body_count each.
CN_API CnStatus cn_run_inertias(CnRun *run, CnPose *coms, CnVec3 *moments);

/// The number of each shape's material, shape_count of them; -1: the usual one. *count is how many materials
/// there are; 0 in runs of 0.1.
CN_API CnStatus cn_run_materials(CnRun *run, int32_t *materials, int32_t *count);
/// The name of a material, "" without one, cut to `size` bytes.
CN_API CnStatus cn_run_material_name(CnRun *run, int32_t index, char *name, size_t size);

/// The first coordinate of each joint that has a motor, joint_count of them; -1: none, or a run of 0.1.
CN_API CnStatus cn_run_drives(CnRun *run, int32_t *coordinates);

/// Where cn_run_export writes to: `output`, or where that is null the name of the run with the ending of the
/// format. CN_INVALID_ARGUMENT where `size` bytes do not hold it.
CN_API CnStatus cn_run_export_path(const char *run_path, const char *format, const char *output,
                                   char *path, size_t size);

#ifdef __cplusplus
}
#endif
#endif
