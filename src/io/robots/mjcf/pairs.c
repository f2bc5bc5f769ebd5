// SPDX-License-Identifier: Apache-2.0
// MJCF: which geoms and bodies meet whatever their bits say: <pair> and <exclude>.
//
// A geom that a pair names has a category and a material of its own. Bodies that a joint connects do not meet in a
// scene, whatever a pair says, which is told.
#include <string.h>

#include "io/robots/mjcf/mjcf.h"

#define MOST_PAIRED 24 // geoms: a scene has 31 categories

// The number of a geom that a pair names, from 1; 0: none does.
int32_t cni_mjcf_paired(const CniMjcf *m, const char *name) {
  int32_t i = name ? cni_name_find(&m->paired, name) : -1;
  return i < 0 ? 0 : i + 1;
}

static CnStatus add_geom(CniMjcf *m, const CniXmlView *view, const char *attribute, int32_t *own) {
  const char *name;
  CNI_TRY(cni_xml_required(view, attribute, &name));
  *own = cni_mjcf_paired(m, name);
  if (*own || m->own_count == MOST_PAIRED) return CN_OK;
  CNI_TRY(cni_name_add(&m->paired, m->robot->allocator, name, m->own_count));
  m->owners[m->own_count] = (CniMjcfOwner){.name = name, .body = CNI_ROBOT_WORLD - 1};
  *own = ++m->own_count;
  return CN_OK;
}

CnStatus cni_mjcf_find_pairs(CniMjcf *m, CniXmlNode *root) {
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "contact", n));)
    for (CniXmlNode *e = NULL; (e = cni_xml_child(n, "pair", e));) {
      CniXmlView view;
      CniMjcfPair pair = {.node = e};
      CNI_TRY(cni_mjcf_view(m, e, NULL, &view));
      CNI_TRY(add_geom(m, &view, "geom1", &pair.a));
      CNI_TRY(add_geom(m, &view, "geom2", &pair.b));
      if (pair.a == 0 || pair.b == 0)
        cni_robot_note(m->robot,
                       "beware: line %d: pairs of more than %d geoms: this one is left out",
                       (int)e->line, MOST_PAIRED);
      else
        CNI_TRY(CNI_PUSH(m->robot->allocator, m->pairs, m->pair_capacity, m->pair_count, pair));
    }
  return CN_OK;
}

int cni_mjcf_meet(const CniMjcf *m, CniMjcfBits a, CniMjcfBits b) {
  int by_bits = (a.type & b.affinity) != 0 || (b.type & a.affinity) != 0;
  if (m->off & CNI_MJCF_CONTACT) return 0;
  if (by_bits && m->collision != CNI_MJCF_PREDEFINED) return 1;
  for (int32_t i = 0; a.own && b.own && m->collision != CNI_MJCF_DYNAMIC && i < m->pair_count; i++)
    if ((m->pairs[i].a == a.own && m->pairs[i].b == b.own) ||
        (m->pairs[i].a == b.own && m->pairs[i].b == a.own))
      return 1;
  return 0;
}

// Does a joint, or nothing, come between two bodies?
static int neighbours(const CniRobot *robot, int32_t a, int32_t b) {
  int32_t ga = a == CNI_ROBOT_WORLD ? CNI_ROBOT_WORLD : robot->bodies[a].group;
  int32_t gb = b == CNI_ROBOT_WORLD ? CNI_ROBOT_WORLD : robot->bodies[b].group;
  if (ga == gb) return 1;
  if (ga == CNI_ROBOT_WORLD || gb == CNI_ROBOT_WORLD) return 0; // the world's shapes are no joint's
  for (int32_t i = 0; i < 2; i++) {
    int32_t child = i ? ga : gb, other = i ? gb : ga;
    if (robot->bodies[child].free) continue;
    int32_t parent = robot->bodies[child].parent;
    if ((parent == CNI_ROBOT_WORLD ? CNI_ROBOT_WORLD : robot->bodies[parent].group) == other)
      return 1;
  }
  return 0;
}

// The friction of a pair is a law of its two materials.
static CnStatus finish_pair(CniMjcf *m, const CniMjcfPair *pair) {
  CniRobot *robot = m->robot;
  const CniMjcfOwner *a = &m->owners[pair->a - 1], *b = &m->owners[pair->b - 1];
  double friction[5] = {1, 1, 0.005, 0.0001, 0.0001}, dimensions = 3;
  CniXmlView view;
  int32_t given, n = 0;
  static const char *const known[] = {"name", NULL};
  CNI_TRY(cni_mjcf_view(m, pair->node, NULL, &view));
  cni_xml_known(&view, known);
  for (int32_t i = 0; i < 2; i++)
    if ((i ? b : a)->body < CNI_ROBOT_WORLD)
      return cni_xml_fail(pair->node, "no geom is called %.60s", (i ? b : a)->name);
  if (neighbours(robot, a->body, b->body))
    cni_robot_note(robot, "beware: line %d: %.60s and %.60s do not meet: a joint connects them",
                   (int)pair->node->line, a->name, b->name);
  CNI_TRY(cni_xml_numbers(&view, "friction", 1, 5, friction, &given));
  const char *text = cni_xml_text(&view, "condim");
  CNI_TRY(cni_xml_numbers(&view, "condim", 1, 1, &dimensions, &n));
  if ((given == 0 && !text) || !a->material || !b->material) return CN_OK;
  if (given > 1 && friction[0] != friction[1])
    cni_robot_note(robot, "beware: line %d: friction is the same in all directions, the first",
                   (int)pair->node->line);
  json_t *law = json_pack("{s:[s,s], s:f}", "materials", a->material, b->material, "friction",
                          dimensions < 3 ? 0 : friction[0]);
  cni_robot_push(robot, robot->material_pairs, law);
  if (law && dimensions >= 4)
    cni_robot_put(robot, law, "spinning_friction", json_real(friction[2]));
  if (law && dimensions >= 6) cni_robot_put(robot, law, "rolling_friction", json_real(friction[3]));
  return CN_OK;
}

CnStatus cni_mjcf_contacts(CniMjcf *m, CniXmlNode *root) {
  for (int32_t i = 0; i < m->pair_count; i++) CNI_TRY(finish_pair(m, &m->pairs[i]));
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "contact", n));)
    for (CniXmlNode *e = NULL; (e = cni_xml_child(n, "exclude", e));) {
      CniXmlView view = cni_xml_view(e);
      int32_t a, b;
      CNI_TRY(cni_mjcf_body(m, &view, "body1", &a));
      CNI_TRY(cni_mjcf_body(m, &view, "body2", &b));
      cni_xml_text(&view, "name");
      cni_robot_apart(m->robot, a, b);
    }
  return CN_OK;
}
