// SPDX-License-Identifier: Apache-2.0
// MJCF: equalities, as joints that close loops and as couplings.
//
// Points and poses that an equality keeps are those of the description as drawn, whatever a keyframe starts with.
#include <stdio.h>
#include <string.h>

#include "io/robots/mjcf/mjcf.h"

CnPose cni_mjcf_drawn(const CniRobot *robot, int32_t body) {
  CnPose pose = CN_POSE_ONE;
  for (; body != CNI_ROBOT_WORLD; body = robot->bodies[body].parent)
    pose = cn_pose_mul(robot->bodies[body].pose, pose);
  return pose;
}

static CnPose at_point(CnVec3 point) { return (CnPose){point, CN_QUAT_ONE}; }

CnStatus cni_mjcf_name(CniMjcf *m, const CniXmlView *view, int32_t kind, const char **name) {
  const char *text = cni_xml_text(view, "name");
  char own[CNI_NAME_SIZE];
  snprintf(own, sizeof own, "%.20s%d", view->node->name,
           (int)m->robot->scene_names[kind].count + 1);
  return cni_robot_name(m->robot, kind, text ? text : own, name);
}

// Two sites, or two bodies and a point of the first.
static CnStatus read_connect(CniMjcf *m, const CniXmlView *view) {
  CniRobot *robot = m->robot;
  CniMjcfSite *s1, *s2;
  int32_t a, b;
  CnPose fa, fb;
  const char *name;
  json_t *item;
  CnVec3 anchor = CN_VEC3_ZERO;
  CNI_TRY(cni_mjcf_site(m, view, "site1", &s1));
  CNI_TRY(cni_mjcf_site(m, view, "site2", &s2));
  CNI_TRY(cni_mjcf_body(m, view, "body1", &a));
  CNI_TRY(cni_mjcf_body(m, view, "body2", &b));
  CNI_TRY(cni_xml_vec3(view, "anchor", &anchor));
  if (s1 && s2) {
    a = s1->body, b = s2->body;
    fa = at_point(s1->pose.position), fb = at_point(s2->pose.position);
  } else {
    CnVec3 world = cn_pose_point(cni_mjcf_drawn(robot, a), anchor);
    fa = at_point(anchor), fb = at_point(cn_pose_local(cni_mjcf_drawn(robot, b), world));
  }
  CNI_TRY(cni_mjcf_name(m, view, 1, &name));
  return cni_robot_link(robot, robot->links, "ball", name, a, fa, b, fb, &item);
}

static CnStatus read_weld(CniMjcf *m, const CniXmlView *view) {
  CniRobot *robot = m->robot;
  CniMjcfSite *s1, *s2;
  int32_t a, b, n;
  double r[7];
  CnVec3 anchor = CN_VEC3_ZERO;
  const char *name;
  json_t *item;
  CNI_TRY(cni_mjcf_site(m, view, "site1", &s1));
  CNI_TRY(cni_mjcf_site(m, view, "site2", &s2));
  CNI_TRY(cni_mjcf_body(m, view, "body1", &a));
  CNI_TRY(cni_mjcf_body(m, view, "body2", &b));
  CNI_TRY(cni_xml_numbers(view, "relpose", 7, 7, r, &n));
  CNI_TRY(cni_xml_vec3(view, "anchor", &anchor)); // of no meaning where all is rigid
  CnPose fa = cn_pose_mul(cn_pose_inverse(cni_mjcf_drawn(robot, a)), cni_mjcf_drawn(robot, b)),
         fb = CN_POSE_ONE;
  CnQuat q = {n ? r[3] : 0, n ? r[4] : 0, n ? r[5] : 0, n ? r[6] : 0};
  if (cn_qnorm2(q) > 0) fa = (CnPose){{r[0], r[1], r[2]}, cn_qunit(q)};
  if (s1 && s2) a = s1->body, b = s2->body, fa = s1->pose, fb = s2->pose;
  CNI_TRY(cni_mjcf_name(m, view, 1, &name));
  return cni_robot_link(robot, robot->links, "weld", name, a, fa, b, fb, &item);
}

// q1 - ref1 = c0 + c1 y + c2 y^2 + c3 y^3 + c4 y^4 with y = q2 - ref2, in powers of q2.
static CnStatus read_joint(CniMjcf *m, const CniXmlView *view) {
  CniRobot *robot = m->robot;
  CniRobotJoint *j1, *j2;
  double c[5] = {0, 1, 0, 0, 0}, p[5] = {0};
  const char *name;
  CNI_TRY(cni_mjcf_joint(m, view, "joint1", &j1));
  CNI_TRY(cni_mjcf_joint(m, view, "joint2", &j2));
  CNI_TRY(cni_xml_numbers(view, "polycoef", 1, 5, c, NULL));
  if (!j1) return cni_xml_fail(view->node, "needs \"joint1\"");
  if (!j1->coordinate || (j2 && !j2->coordinate) || j1 == j2)
    return cni_xml_fail(view->node, "needs two hinges or slides");
  CNI_TRY(cni_mjcf_name(m, view, 3, &name));
  json_t *item = json_pack("{s:s, s:[]}", "name", name, "terms");
  cni_robot_push(robot, robot->couplings, item);
  if (!item) return cni_error_memory(1);
  json_t *terms = json_object_get(item, "terms");
  // Horner with (x - ref)
  for (int32_t k = 4; k >= 0; k--) {
    for (int32_t i = 4; i > 0; i--) p[i] = p[i - 1] - (j2 ? j2->ref : 0) * p[i];
    p[0] = -(j2 ? j2->ref : 0) * p[0] + c[k];
  }
  double offset = (j2 ? p[0] : c[0]) + j1->ref;
  if (j2) cni_robot_push(robot, terms, cni_robot_term(j2, -p[1]));
  cni_robot_push(robot, terms, cni_robot_term(j1, 1));
  cni_robot_put(robot, item, "offset", json_real(offset));
  static const char *const powers[] = {"square", "cube", "fourth"};
  for (int32_t i = 0; j2 && i < 3; i++)
    if (p[i + 2] != 0) cni_robot_put(robot, item, powers[i], json_real(-p[i + 2]));
  return CN_OK;
}

CnStatus cni_mjcf_equality(CniMjcf *m, CniXmlNode *root) {
  static const struct {
    const char *name;
    CnStatus (*read)(CniMjcf *m, const CniXmlView *view);
  } rows[] = {{"connect", read_connect},
              {"weld", read_weld},
              {"joint", read_joint},
              {"tendon", cni_mjcf_tendon_equality}};
  static const char *const names[] = {"equality", NULL};
  static const char *const known[] = {"name", NULL};
  for (CniXmlNode *section = NULL; (section = cni_xml_child(root, "equality", section));)
    for (CniXmlNode *n = NULL; (n = cni_xml_next(section, n));)
      for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, n->name) != 0) continue;
        CniXmlView view;
        int32_t active = 1;
        CNI_TRY(cni_mjcf_view_as(m, n, NULL, names, &view));
        CNI_TRY(cni_mjcf_flag(&view, "active", &active));
        cni_xml_known(&view, known);
        if (!active || (m->off & CNI_MJCF_EQUALITY))
          cni_robot_note(m->robot, "line %d: an equality that is not active is left out",
                         (int)n->line);
        else
          CNI_TRY(rows[i].read(m, &view));
      }
  return CN_OK;
}
