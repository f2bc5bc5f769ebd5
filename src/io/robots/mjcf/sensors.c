// SPDX-License-Identifier: Apache-2.0
// MJCF: sensors that have a counterpart.
#include <string.h>

#include "io/robots/mjcf/mjcf.h"

static const struct {
  const char *name, *kind, *axis;
  int32_t of_joint;
} sensors[] = {{"jointvel", "joint_rate", NULL, 1},
               {"jointactuatorfrc", "joint_effort", "motor", 1},
               {"jointlimitfrc", "joint_effort", "limit", 1},
               {"framepos", "position", NULL, 0},
               {"framequat", "rotation", NULL, 0},
               {"framelinvel", "velocity", NULL, 0},
               {"frameangvel", "spin", NULL, 0}};

static CnStatus read_sensor(CniMjcf *m, const CniXmlView *view, int32_t row) {
  CniRobot *robot = m->robot;
  const char *name = cni_xml_text(view, "name"), *made;
  json_t *item = json_pack("{s:s}", "kind", sensors[row].kind);
  if (!item) return cni_error_memory(1);
  cni_robot_push(robot, robot->sensors, item);
  if (sensors[row].of_joint) {
    CniRobotJoint *j;
    CNI_TRY(cni_mjcf_joint(m, view, "joint", &j));
    if (!j || !j->coordinate) return cni_xml_fail(view->node, "needs a hinge or slide");
    cni_robot_put(robot, item, "joint", json_string((j - j->rank)->name));
    cni_robot_put(robot, item, "coordinate", json_string(j->coordinate));
    if (!name) name = j->source;
  } else {
    static const char *const types[] = {"body", "xbody", "site", NULL};
    int32_t type = 1, body;
    CniMjcfSite *site = NULL;
    CNI_TRY(cni_xml_choice(view, "objtype", types, &type));
    if (type == 2) CNI_TRY(cni_mjcf_site(m, view, "objname", &site));
    if (site)
      body = site->body;
    else
      CNI_TRY(cni_mjcf_body(m, view, "objname", &body));
    CnPose pose = site                     ? site->pose
                  : type == 0 && body >= 0 ? robot->bodies[body].com
                                           : CN_POSE_ONE;
    if (body != CNI_ROBOT_WORLD) {
      pose = cn_pose_mul(robot->bodies[body].offset, pose);
      body = robot->bodies[body].carrier;
    }
    if (body == CNI_ROBOT_WORLD) return cni_xml_fail(view->node, "measures what stands still");
    cni_robot_put(robot, item, "body", json_string(robot->bodies[body].name));
    if (strcmp(sensors[row].kind, "position") == 0 || strcmp(sensors[row].kind, "velocity") == 0)
      cni_robot_put(robot, item, "point", cni_json_vec3(pose.position));
    if (!name) name = sensors[row].name;
  }
  if (sensors[row].axis) cni_robot_put(robot, item, "axis", json_string(sensors[row].axis));
  CNI_TRY(cni_robot_name(robot, 2, name, &made));
  cni_robot_put(robot, item, "name", json_string(made));
  return CN_OK;
}

CnStatus cni_mjcf_sensors(CniMjcf *m, CniXmlNode *root) {
  for (CniXmlNode *section = NULL; (section = cni_xml_child(root, "sensor", section));)
    for (CniXmlNode *n = NULL; (n = cni_xml_next(section, n));) {
      // every coordinate is measured anyway
      if (strcmp(n->name, "jointpos") == 0) {
        CniXmlView view = cni_xml_view(n);
        static const char *const known[] = {"name", "joint", NULL};
        n->used = 1;
        cni_xml_known(&view, known);
      }
      for (int32_t i = 0; i < (int32_t)(sizeof sensors / sizeof *sensors); i++) {
        if (strcmp(sensors[i].name, n->name) != 0) continue;
        CniXmlView view = cni_xml_view(n);
        const char *of = cni_xml_text(&view, "objtype");
        // listed as not used: what they are of, or are measured from, is no body's
        if (of && (strcmp(of, "geom") == 0 || strcmp(of, "camera") == 0)) continue;
        if (cni_xml_text(&view, "reftype") || cni_xml_text(&view, "refname")) continue;
        n->used = 1;
        CNI_TRY(read_sensor(m, &view, i));
      }
    }
  return CN_OK;
}
