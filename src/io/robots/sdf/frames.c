// SPDX-License-Identifier: Apache-2.0
// SDF: values of elements, and where everything is. A pose is relative to the frame that it names, or
//
//     of a model   to the model or world that it is in; with a placement frame it is that frame's pose
//     of a link    to its model
//     of a joint   to its child
//     of a frame   to what it is attached to, or its model
#include <stdio.h>
#include <string.h>

#include "io/robots/sdf/sdf.h"

#define PI 3.14159265358979323846
#define UNKNOWN (-2)

// ---- values ----

const char *cni_sdf_text(CniXmlNode *above, const char *name) {
  CniXmlNode *node = cni_xml_child(above, name, NULL);
  CniXmlView view = cni_xml_view(node);
  return node ? cni_xml_text(&view, "text") : NULL;
}

CnStatus cni_sdf_number(CniXmlNode *above, const char *name, double *value) {
  CniXmlNode *node = cni_xml_child(above, name, NULL);
  CniXmlView view = cni_xml_view(node);
  return node ? cni_xml_number(&view, "text", value) : CN_OK;
}

CnStatus cni_sdf_vec3(CniXmlNode *above, const char *name, CnVec3 *value) {
  CniXmlNode *node = cni_xml_child(above, name, NULL);
  CniXmlView view = cni_xml_view(node);
  return node ? cni_xml_vec3(&view, "text", value) : CN_OK;
}

CnStatus cni_sdf_flag(CniXmlNode *above, const char *name, int32_t *value) {
  static const char *const words[] = {"false", "true", "0", "1", "False", "True", NULL};
  CniXmlNode *node = cni_xml_child(above, name, NULL);
  CniXmlView view = cni_xml_view(node);
  int32_t word = *value;
  if (node) CNI_TRY(cni_xml_choice(&view, "text", words, &word));
  *value = word % 2;
  return CN_OK;
}

CnStatus cni_sdf_pose(CniXmlNode *above, CnPose *pose, const char **relative) {
  static const char *const formats[] = {"euler_rpy", "quat_xyzw", NULL};
  static const char *const words[] = {"false", "true", "0", "1", NULL};
  CniXmlNode *node = cni_xml_child(above, "pose", NULL);
  double v[7] = {0};
  int32_t format = 0, degrees = 0;
  *pose = CN_POSE_ONE;
  if (relative) *relative = NULL;
  if (!node) return CN_OK;
  CniXmlView view = cni_xml_view(node);
  CNI_TRY(cni_xml_choice(&view, "rotation_format", formats, &format));
  CNI_TRY(cni_xml_choice(&view, "degrees", words, &degrees));
  CNI_TRY(cni_xml_numbers(&view, "text", format ? 7 : 6, format ? 7 : 6, v, NULL));
  const char *to = cni_xml_text(&view, "relative_to");
  if (!to) to = cni_xml_text(&view, "frame"); // as it was called before 1.7
  if (relative && to && to[0]) *relative = to;
  pose->position = cn_vec3(v[0], v[1], v[2]);
  for (int32_t i = 3; i < 6 && degrees % 2; i++) v[i] *= PI / 180;
  CnQuat q = {v[6], v[3], v[4], v[5]};
  if (!format) q = cni_turn_euler("XYZ", v + 3);
  if (!cni_xml_text(&view, "text")) q = CN_QUAT_ONE;
  if (!(cn_qnorm2(q) > 1e-24)) return cni_xml_fail(node, "its quaternion is zero");
  pose->rotation = cn_qunit(q);
  return CN_OK;
}

// ---- names ----

CnStatus cni_sdf_find(const CniSdf *s, const CniXmlNode *node, int32_t model, const char *name,
                      int32_t *entry) {
  char whole[1024];
  *entry = model;
  if (strcmp(name, "__model__") == 0) return CN_OK;
  const char *scope = model == CNI_SDF_WORLD ? "" : s->entries[model].name;
  int n = snprintf(whole, sizeof whole, "%s%s%s", scope, scope[0] ? "::" : "", name);
  *entry = n > 0 && (size_t)n < sizeof whole ? cni_name_find(&s->names, whole) : -1;
  if (*entry >= 0) return CN_OK;
  *entry = CNI_SDF_WORLD;
  if (strcmp(name, "world") == 0) return CN_OK;
  return cni_xml_fail(node, "no link, joint, frame or model is called %.60s", name);
}

// What an entry is attached to; a link to itself.
static CnStatus holder_of(const CniSdf *s, const CniXmlNode *node, int32_t entry, int32_t *holder) {
  const CniSdfEntry *e = &s->entries[entry];
  CniXmlView view = cni_xml_view(e->node);
  const char *name = NULL;
  int32_t scope = e->model;
  *holder = entry;
  if (e->kind == CNI_SDF_LINK) return CN_OK;
  if (e->kind == CNI_SDF_JOINT) name = cni_sdf_text(e->node, "child");
  if (e->kind == CNI_SDF_FRAME) name = cni_xml_text(&view, "attached_to");
  if (e->kind == CNI_SDF_MODEL) name = cni_xml_text(&view, "canonical_link"), scope = entry;
  if (name && name[0]) return cni_sdf_find(s, node, scope, name, holder);
  if (e->kind == CNI_SDF_MODEL && e->first_link < 0)
    return cni_xml_fail(node, "the model %.60s has no link", e->name);
  *holder = e->kind == CNI_SDF_MODEL ? e->first_link : e->model;
  return CN_OK;
}

CnStatus cni_sdf_link_of(CniSdf *s, const CniXmlNode *node, int32_t entry, int32_t *link) {
  int32_t at = entry, next;
  for (int32_t steps = 0; at != CNI_SDF_WORLD && s->entries[at].kind != CNI_SDF_LINK &&
                          s->entries[at].part_of == UNKNOWN;
       steps++) {
    if (steps > s->entry_count) return cni_xml_fail(node, "frames go round in a circle");
    CNI_TRY(holder_of(s, node, at, &at));
  }
  *link = at == CNI_SDF_WORLD || s->entries[at].kind == CNI_SDF_LINK ? at : s->entries[at].part_of;
  // the way is not gone twice
  for (at = entry; at != CNI_SDF_WORLD && s->entries[at].kind != CNI_SDF_LINK &&
                   s->entries[at].part_of == UNKNOWN;
       at = next) {
    CNI_TRY(holder_of(s, node, at, &next));
    s->entries[at].part_of = *link;
  }
  return CN_OK;
}

// ---- places ----

static CnStatus find_base(CniSdf *s, CniSdfEntry *e) {
  const char *to;
  CniXmlNode *holder = e->node;
  if (e->include && cni_xml_child(e->include, "pose", NULL)) holder = e->include;
  CNI_TRY(cni_sdf_pose(holder, &e->pose, &to));
  CniXmlView view = cni_xml_view(e->node);
  if (!to && e->kind == CNI_SDF_JOINT) to = cni_sdf_text(e->node, "child");
  if (!to && e->kind == CNI_SDF_FRAME) to = cni_xml_text(&view, "attached_to");
  e->base = e->model;
  if (to && to[0]) CNI_TRY(cni_sdf_find(s, holder, e->model, to, &e->base));
  return CN_OK;
}

// The pose of an entry, seen from `top`, through which its way must lead.
static CnStatus seen_from(const CniSdf *s, int32_t entry, int32_t top, CnPose *pose) {
  const CniXmlNode *node = s->entries[entry].node;
  *pose = CN_POSE_ONE;
  for (int32_t steps = 0; entry != top; steps++) {
    if (entry == CNI_SDF_WORLD || steps > s->entry_count)
      return cni_xml_fail(node, "it is not placed in its model, or in a circle");
    *pose = cn_pose_mul(s->entries[entry].pose, *pose);
    entry = s->entries[entry].base;
  }
  return CN_OK;
}

// The pose of a model with a placement frame is that of the frame.
static CnStatus use_placement(CniSdf *s, int32_t model) {
  CniSdfEntry *e = &s->entries[model];
  CniXmlNode *holders[] = {e->include, e->node};
  for (int32_t i = 0; e->kind == CNI_SDF_MODEL && i < 2; i++) {
    if (!holders[i]) continue;
    CniXmlView view = cni_xml_view(holders[i]);
    const char *name = cni_xml_text(&view, "placement_frame");
    if (!name) name = cni_sdf_text(holders[i], "placement_frame");
    int32_t frame;
    CnPose pose;
    if (!name || !name[0]) continue;
    CNI_TRY(cni_sdf_find(s, holders[i], model, name, &frame));
    CNI_TRY(seen_from(s, frame, model, &pose));
    e->pose = cn_pose_mul(e->pose, cn_pose_inverse(pose));
    return CN_OK;
  }
  return CN_OK;
}

CnPose cni_sdf_at(const CniSdf *s, int32_t entry) {
  return entry == CNI_SDF_WORLD ? CN_POSE_ONE : s->entries[entry].at;
}

CnStatus cni_sdf_place(CniSdf *s) {
  int32_t *way;
  CNI_TRY(cni_arena_array(&s->robot->arena, s->entry_count, sizeof *way, &way));
  for (int32_t i = 0; i < s->entry_count; i++) CNI_TRY(find_base(s, &s->entries[i]));
  for (int32_t i = 0; i < s->entry_count; i++) CNI_TRY(use_placement(s, i));
  for (int32_t i = 0; i < s->entry_count; i++) {
    int32_t count = 0, at = i;
    for (; at != CNI_SDF_WORLD && !s->entries[at].placed; at = s->entries[at].base) {
      if (count == s->entry_count)
        return cni_xml_fail(s->entries[i].node, "frames go round in a circle");
      way[count++] = at;
    }
    while (count > 0) {
      CniSdfEntry *e = &s->entries[way[--count]];
      e->at = cn_pose_mul(cni_sdf_at(s, e->base), e->pose);
      e->at.rotation = cn_qunit(e->at.rotation);
      e->placed = 1;
    }
  }
  return CN_OK;
}
