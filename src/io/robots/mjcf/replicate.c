// SPDX-License-Identifier: Apache-2.0
// MJCF: <replicate> becomes frames, each a step of offset and turn after the one before, with copies of what it
// holds. Names get a number behind them, with as many digits as the count has.
#include <stdio.h>
#include <string.h>

#include "io/robots/mjcf/mjcf.h"

#define ATTRIBUTES 16 // what an element may have for its own

typedef struct Copy {
  CniArena *arena;
  const char *separator;
  int32_t index, digits;
  int32_t *made; // elements, of all copies; one with many attributes counts as several
} Copy;

static CnStatus copy_attributes(const Copy *c, const CniXmlNode *from, CniXmlNode *to) {
  int32_t n = from->attribute_count;
  CNI_TRY(cni_arena_array(c->arena, n, sizeof *to->attributes, &to->attributes));
  to->attribute_count = n;
  for (int32_t i = 0; i < n; i++) {
    to->attributes[i] = (CniXmlAttribute){from->attributes[i].name, from->attributes[i].value, 0};
    if (strcmp(from->attributes[i].name, "name") != 0) continue;
    char name[400];
    int length = snprintf(name, sizeof name, "%.200s%.100s%0*d", from->attributes[i].value,
                          c->separator, (int)c->digits, (int)c->index);
    to->attributes[i].value = cni_xml_keep(c->arena, name, (size_t)length);
    if (!to->attributes[i].value) return cni_error_memory(sizeof name);
  }
  return CN_OK;
}

// Elements are at most CNI_XML_DEPTH deep.
static CnStatus copy_children(const Copy *c, const CniXmlNode *from, CniXmlNode *to) {
  for (const CniXmlNode *n = from->first; n; n = n->next) {
    CniXmlNode *made;
    *c->made += 1 + n->attribute_count / ATTRIBUTES;
    if (*c->made > CNI_XML_ELEMENTS)
      return cni_xml_fail(from, "more than %d elements", CNI_XML_ELEMENTS);
    CNI_TRY(cni_arena_array(c->arena, 1, sizeof *made, &made));
    *made = (CniXmlNode){.name = n->name, .file = n->file, .line = n->line, .depth = to->depth + 1};
    made->parent = to;
    CNI_TRY(copy_attributes(c, n, made));
    if (to->last)
      to->last->next = made;
    else
      to->first = made;
    to->last = made;
    CNI_TRY(copy_children(c, n, made));
  }
  return CN_OK;
}

// A frame with a pose.
static CnStatus make_frame(CniArena *arena, const CniXmlNode *node, CnPose pose,
                           CniXmlNode **made) {
  char position[100], turn[140];
  CniXmlNode *n;
  snprintf(position, sizeof position, "%.17g %.17g %.17g", pose.position.x, pose.position.y,
           pose.position.z);
  snprintf(turn, sizeof turn, "%.17g %.17g %.17g %.17g", pose.rotation.w, pose.rotation.x,
           pose.rotation.y, pose.rotation.z);
  CNI_TRY(cni_arena_array(arena, 1, sizeof *n, &n));
  CNI_TRY(cni_arena_array(arena, 2, sizeof *n->attributes, &n->attributes));
  n->name = "frame";
  n->file = node->file;
  n->line = node->line;
  n->depth = node->depth;
  n->parent = node->parent;
  n->attribute_count = 2;
  n->attributes[0] = (CniXmlAttribute){"pos", cni_xml_keep(arena, position, strlen(position)), 0};
  n->attributes[1] = (CniXmlAttribute){"quat", cni_xml_keep(arena, turn, strlen(turn)), 0};
  *made = n;
  return n->attributes[0].value && n->attributes[1].value ? CN_OK : cni_error_memory(sizeof *n);
}

static CnStatus expand_all(CniMjcf *m, CniXmlNode *root, int32_t *made);

// The frames take the place of the element; what is repeated in it is first, so that its number comes first.
static CnStatus expand(CniMjcf *m, CniXmlNode *node, CniXmlNode *previous, int32_t *made) {
  CniXmlView view = cni_xml_view(node);
  double count = 0, angles[3] = {0, 0, 0};
  CnPose step = CN_POSE_ONE, at = CN_POSE_ONE;
  const char *separator = cni_xml_text(&view, "sep");
  CniXmlNode *last = previous, *above = node->parent;
  CNI_TRY(cni_xml_number(&view, "count", &count));
  CNI_TRY(cni_xml_vec3(&view, "offset", &step.position));
  CNI_TRY(cni_xml_numbers(&view, "euler", 3, 3, angles, NULL));
  if (!(count >= 1 && count <= CNI_XML_ELEMENTS && count == (int32_t)count))
    return cni_xml_fail(node, "\"count\" must be a number of copies (got %g)", count);
  for (int32_t i = 0; i < 3; i++) angles[i] *= m->angle;
  step.rotation = cni_turn_euler(m->euler, angles);
  CNI_TRY(expand_all(m, node, made));
  Copy copy = {.arena = &m->robot->arena, .separator = separator ? separator : "", .made = made};
  copy.digits = snprintf(NULL, 0, "%d", (int)count);
  for (; copy.index < (int32_t)count; copy.index++) {
    CniXmlNode *frame;
    if (++*made > CNI_XML_ELEMENTS)
      return cni_xml_fail(node, "more than %d elements", CNI_XML_ELEMENTS);
    CNI_TRY(make_frame(copy.arena, node, at, &frame));
    CNI_TRY(copy_children(&copy, node, frame));
    if (last)
      last->next = frame;
    else
      above->first = frame;
    last = frame;
    at = cn_pose_mul(at, step);
  }
  last->next = node->next;
  if (!node->next) above->last = last;
  return CN_OK;
}

static CnStatus expand_all(CniMjcf *m, CniXmlNode *root, int32_t *made) {
  CniXmlNode *node = root;
  while (node) {
    CniXmlNode *previous = NULL, *child = node->first;
    while (child) {
      if (strcmp(child->name, "replicate") != 0) {
        previous = child;
        child = child->next;
        continue;
      }
      CNI_TRY(expand(m, child, previous, made));
      child = previous ? previous->next : node->first;
    }
    if (node->first) {
      node = node->first;
      continue;
    }
    while (node != root && !node->next) node = node->parent;
    node = node == root ? NULL : node->next;
  }
  return CN_OK;
}

CnStatus cni_mjcf_replicate(CniMjcf *m, CniXmlNode *root) {
  int32_t made = 0;
  return expand_all(m, root, &made);
}
