// SPDX-License-Identifier: Apache-2.0
// Joints of a page, as it draws them: what a kind is like follows from its row, so that a new kind
// needs nothing in web/. Two points that are held apart are a link, joints without coordinates a point,
// those that leave a plane a square in it, all others their axis; springs between bodies are zigzags.
#include "view/view_private.h"

#include <string.h>

static void put_pose(CniPageFile *file, CnPose pose) {
  const double numbers[] = {pose.position.x, pose.position.y, pose.position.z, pose.rotation.w,
                            pose.rotation.x, pose.rotation.y, pose.rotation.z};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    cni_page_file_float32(file, (float)numbers[i]);
}

#define SAMPLES 240 // of a curve

// At even distances along it.
static CnStatus put_curve(CniPageFile *file, const CnWorld *world, CnCurveId curve, int32_t joint,
                          int32_t side) {
  CnCurvePoint at;
  CNI_TRY(cn_curve_point(world, curve, 0, &at));
  double length = at.length;
  cni_page_file_float32(file, (float)joint);
  cni_page_file_float32(file, (float)side);
  cni_page_file_float32(file, (float)(SAMPLES + 1));
  for (int32_t i = 0; i <= SAMPLES; i++) {
    CNI_TRY(cn_curve_point(world, curve, length * i / SAMPLES, &at));
    cni_page_file_float32(file, (float)at.x);
    cni_page_file_float32(file, (float)at.y);
  }
  return CN_OK;
}

static CnStatus write_curves(CniPageFile *file, const CniPageSource *source) {
  CnStatus status = CN_OK;
  CnJointId joint = {0, 0};
  cni_page_file_begin(file, "curves");
  for (int32_t i = 0; i < source->info.joint_count && source->world && status == CN_OK; i++) {
    CnJointDef def;
    joint = cn_world_next_joint(source->world, joint);
    status = cn_joint_def(source->world, joint, &def);
    if (status == CN_OK && def.curve_a.slot)
      status = put_curve(file, source->world, def.curve_a, i, 0);
    if (status == CN_OK && def.curve_b.slot)
      status = put_curve(file, source->world, def.curve_b, i, 1);
  }
  cni_page_file_end(file);
  return status;
}

static void put_link(CniPageFile *file, CniPageJoint drawing, int32_t drive,
                     const CnRunJoint *joint) {
  cni_page_file_float32(file, (float)drawing);
  cni_page_file_float32(file, (float)drive);
  cni_page_file_float32(file, (float)joint->body_a);
  cni_page_file_float32(file, (float)joint->body_b);
  put_pose(file, joint->frame_a);
  put_pose(file, joint->frame_b);
}

// Does a motor turn the joint (1) or make it slide (2)? 0: there is none.
static int32_t drive_of(CnJointKind kind, int32_t coordinate) {
  const char *unit = coordinate < 0 ? NULL : cn_joint_coordinate_unit(kind, coordinate);
  return !unit ? 0 : strcmp(unit, "rad") == 0 ? 1 : 2;
}

static CnStatus write_joints(CniPageFile *file, const CniPageSource *source,
                             CniPageMemory *memory) {
  int32_t *drives, n = source->info.joint_count;
  CNI_TRY(cni_page_array(memory, n, sizeof *drives, &drives));
  for (int32_t i = 0; i < n; i++) drives[i] = -1;
  if (n > 0 && source->drives) CNI_TRY(source->drives(source->context, drives));
  cni_page_file_begin(file, "joints");
  for (int32_t i = 0; i < n; i++) {
    CnRunJoint joint;
    CNI_TRY(source->joint(source->context, i, &joint));
    put_link(file, (CniPageJoint)cn_joint_drawing(joint.kind), drive_of(joint.kind, drives[i]),
             &joint);
  }
  for (int32_t i = 0; i < source->spring_count; i++)
    put_link(file, CNI_PAGE_SPRING, 0, &source->springs[i]);
  cni_page_file_end(file);
  return CN_OK;
}

CnStatus cni_page_write_joints(CniPageFile *file, const CniPageSource *source) {
  CniPageMemory memory = {NULL};
  CnStatus status = write_joints(file, source, &memory);
  cni_page_memory_release(&memory);
  CNI_TRY(status);
  return write_curves(file, source);
}
