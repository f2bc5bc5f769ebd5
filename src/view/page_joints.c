// SPDX-License-Identifier: Apache-2.0
// Joints of a page, as it draws them: what a kind is like follows from its row, so that a new kind
// needs nothing in web/. Two points that are held apart are a link, joints without coordinates a point,
// those that leave a plane a square in it, all others their axis; springs between bodies are zigzags.
#include "view/view_private.h"

#include <string.h>

#include "joint/joint.h"

static CniPageJoint drawing_of(CnJointKind number) {
  const CniJointKind *kind = cni_joint_kind(number);
  if (kind->apart && !kind->curves) return CNI_PAGE_LINK;
  if (!kind->coordinates || kind->curves) return CNI_PAGE_POINT;
  return strcmp(kind->coordinates[0].name, "x") == 0 ? CNI_PAGE_SQUARE : CNI_PAGE_AXIS;
}

static void put_pose(CniPageFile *file, CnPose pose) {
  const double numbers[] = {pose.position.x, pose.position.y, pose.position.z, pose.rotation.w,
                            pose.rotation.x, pose.rotation.y, pose.rotation.z};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    cni_page_file_float32(file, (float)numbers[i]);
}

#define SAMPLES 240 // of a curve, about

static CnStatus put_curve(CniPageFile *file, const CnAllocator *allocator, const CnCurveDef *def,
                          int32_t joint, int32_t side) {
  CniCurve curve;
  CNI_TRY(cni_curve_make(allocator, def, &curve));
  int32_t each = 1 + SAMPLES / curve.piece_count, count = curve.piece_count * each + 1;
  cni_page_file_float32(file, (float)joint);
  cni_page_file_float32(file, (float)side);
  cni_page_file_float32(file, (float)count);
  for (int32_t i = 0; i < count; i++) {
    int32_t piece = i / each < curve.piece_count ? i / each : curve.piece_count - 1;
    CniCurveAt at = cni_curve_piece_at(&curve, piece, (double)(i - piece * each) / each);
    cni_page_file_float32(file, (float)at.p[0]);
    cni_page_file_float32(file, (float)at.p[1]);
  }
  cni_curve_forget(allocator, &curve);
  return CN_OK;
}

static CnStatus write_curves(CniPageFile *file, const CniPageSource *source) {
  CnAllocator allocator = cn_allocator_default();
  CnStatus status = CN_OK;
  cni_page_file_begin(file, "curves");
  for (int32_t i = 0; i < source->info.joint_count && source->scene; i++)
    for (int32_t side = 0; side < 2 && status == CN_OK; side++) {
      CnCurveDef def = cni_scene_joint_curve(source->scene, i, side);
      if (def.point_count > 0) status = put_curve(file, &allocator, &def, i, side);
    }
  cni_page_file_end(file);
  return status;
}

static void put_link(CniPageFile *file, CniPageJoint drawing, const CnRunJoint *joint) {
  cni_page_file_float32(file, (float)drawing);
  cni_page_file_float32(file, (float)joint->body_a);
  cni_page_file_float32(file, (float)joint->body_b);
  put_pose(file, joint->frame_a);
  put_pose(file, joint->frame_b);
}

CnStatus cni_page_write_joints(CniPageFile *file, const CniPageSource *source) {
  CnStatus status = CN_OK;
  cni_page_file_begin(file, "joints");
  for (int32_t i = 0; i < source->info.joint_count && status == CN_OK; i++) {
    CnRunJoint joint;
    status = source->joint(source->context, i, &joint);
    if (status == CN_OK) put_link(file, drawing_of(joint.kind), &joint);
  }
  for (int32_t i = 0; i < source->spring_count; i++)
    put_link(file, CNI_PAGE_SPRING, &source->springs[i]);
  cni_page_file_end(file);
  CNI_TRY(status);
  return write_curves(file, source);
}
