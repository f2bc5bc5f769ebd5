// SPDX-License-Identifier: Apache-2.0
// MJCF: actuators of joints as motors, and sensors.
//
// An actuator gives  f = gain u + b0 + b1 l + b2 l'  with its control u and its length l = gear q, and
// the joint gets gear f. As a motor of the scene:
//
//     b1 < 0: a servo of stiffness -b1 gear^2 about (gain u + b0)/(-b1 gear), damping -b2 gear^2
//     b2 < 0: a servo of speed, damping -b2 gear^2, about (gain u + b0)/(-b2 gear)
//     else  : an effort  gear (gain u + b0)
//
// Controls are those of the keyframe, or zero.
#include <math.h>
#include <string.h>

#include "io/robots/mjcf.h"

typedef struct Law {
  double gain, bias[3];
} Law;

static CnStatus motor_law(CniMjcf *m, const CniXmlView *view, Law *law) {
  (void)m, (void)view;
  law->gain = 1;
  return CN_OK;
}

static CnStatus position_law(CniMjcf *m, const CniXmlView *view, Law *law) {
  double kp = 1, kv = 0, ratio = 0;
  CNI_TRY(cni_xml_number(view, "kp", &kp));
  CNI_TRY(cni_xml_number(view, "kv", &kv));
  CNI_TRY(cni_xml_number(view, "dampratio", &ratio));
  if (ratio > 0)
    cni_robot_note(m->robot, "line %d: \"dampratio\" is not used: give \"kv\"",
                   (int)view->node->line);
  *law = (Law){kp, {0, -kp, -kv}};
  return CN_OK;
}

static CnStatus velocity_law(CniMjcf *m, const CniXmlView *view, Law *law) {
  double kv = 1;
  (void)m;
  CNI_TRY(cni_xml_number(view, "kv", &kv));
  *law = (Law){kv, {0, 0, -kv}};
  return CN_OK;
}

static CnStatus general_law(CniMjcf *m, const CniXmlView *view, Law *law) {
  static const char *const dynamics[] = {"none", NULL}, *const gains[] = {"fixed", NULL};
  static const char *const biases[] = {"none", "affine", NULL};
  double gain[10] = {1}, bias[10] = {0};
  int32_t choice = 0, affine = 0;
  (void)m;
  CNI_TRY(cni_xml_choice(view, "dyntype", dynamics, &choice));
  CNI_TRY(cni_xml_choice(view, "gaintype", gains, &choice));
  CNI_TRY(cni_xml_choice(view, "biastype", biases, &affine));
  CNI_TRY(cni_xml_numbers(view, "gainprm", 1, 10, gain, NULL));
  CNI_TRY(cni_xml_numbers(view, "biasprm", 1, 10, bias, NULL));
  *law = (Law){.gain = gain[0]};
  if (affine) memcpy(law->bias, bias, sizeof law->bias);
  return CN_OK;
}

static const struct {
  const char *name;
  CnStatus (*law)(CniMjcf *m, const CniXmlView *view, Law *law);
} actuators[] = {{"motor", motor_law},
                 {"position", position_law},
                 {"velocity", velocity_law},
                 {"general", general_law}};

// The largest force an actuator gives; infinite without a bound.
static CnStatus read_bound(CniMjcf *m, const CniXmlView *view, double *bound) {
  double range[2];
  int32_t limited = 2, n;
  CNI_TRY(cni_xml_numbers(view, "forcerange", 2, 2, range, &n));
  CNI_TRY(cni_mjcf_flag(view, "forcelimited", &limited));
  *bound = INFINITY;
  if (n == 0 || limited == 0 || (limited == 2 && !m->auto_limits)) return CN_OK;
  *bound = fmax(fabs(range[0]), fabs(range[1]));
  if (range[0] != -range[1])
    cni_robot_note(m->robot, "line %d: \"forcerange\" becomes -%g to %g", (int)view->node->line,
                   *bound, *bound);
  return CN_OK;
}

static CnStatus read_control(CniMjcf *m, const CniXmlView *view, int32_t index, double *control) {
  double range[2];
  int32_t limited = 2, n;
  CNI_TRY(cni_xml_numbers(view, "ctrlrange", 2, 2, range, &n));
  CNI_TRY(cni_mjcf_flag(view, "ctrllimited", &limited));
  *control = index < m->control_count ? m->control[index] : 0;
  if (n > 0 && (limited == 1 || (limited == 2 && m->auto_limits)))
    *control = fmin(fmax(*control, range[0]), range[1]);
  return CN_OK;
}

static json_t *effort_of(double effort) {
  return isfinite(effort) ? json_real(effort) : json_string("unlimited");
}

// The motor of a joint: a new object, null if it cannot be.
static json_t *motor_of(const Law *law, double gear, double control, double bound) {
  double push = law->gain * control + law->bias[0], k = -law->bias[1], d = -law->bias[2];
  if (k < 0 || d < 0 || gear == 0) return NULL;
  double effort = fabs(gear) * bound;
  if (k > 0)
    return json_pack("{s:s, s:f, s:f, s:f, s:o}", "drive", "position", "motor_position",
                     push / (k * gear), "motor_stiffness", k * gear * gear, "motor_damping",
                     d * gear * gear, "motor_effort", effort_of(effort));
  if (d > 0)
    return json_pack("{s:s, s:f, s:f, s:o}", "drive", "speed", "motor_speed", push / (d * gear),
                     "motor_damping", d * gear * gear, "motor_effort", effort_of(effort));
  return json_pack("{s:s, s:f}", "drive", "effort", "motor_effort",
                   gear * fmin(fmax(push, -bound), bound));
}

static CnStatus read_actuator(CniMjcf *m, const CniXmlView *view, int32_t row, int32_t index) {
  CniRobot *robot = m->robot;
  CniRobotJoint *joint;
  double gear[6] = {1, 0, 0, 0, 0, 0}, bound, control;
  Law law = {0};
  CNI_TRY(cni_mjcf_joint(m, view, "joint", &joint));
  if (!joint) CNI_TRY(cni_mjcf_joint(m, view, "jointinparent", &joint));
  if (!joint || !joint->coordinate) {
    cni_robot_note(robot,
                   "line %d: only actuators of hinges and slides are made: this one is left out",
                   (int)view->node->line);
    return CN_OK;
  }
  const char *name = cni_xml_text(view, "name");
  CNI_TRY(cni_xml_numbers(view, "gear", 1, 6, gear, NULL));
  CNI_TRY(actuators[row].law(m, view, &law));
  CNI_TRY(read_bound(m, view, &bound));
  CNI_TRY(read_control(m, view, index, &control));
  if (joint->motor) {
    cni_robot_note(robot, "line %d: %.60s has a motor already: this one is left out",
                   (int)view->node->line, joint->name);
    return CN_OK;
  }
  joint->motor = motor_of(&law, gear[0], control, bound);
  if (!joint->motor)
    cni_robot_note(robot, "line %d: the actuator %.60s pushes away from its target: left out",
                   (int)view->node->line, name ? name : "");
  return CN_OK;
}

CnStatus cni_mjcf_actuators(CniMjcf *m, CniXmlNode *root) {
  int32_t index = 0;
  for (CniXmlNode *section = NULL; (section = cni_xml_child(root, "actuator", section));)
    for (CniXmlNode *n = NULL; (n = cni_xml_next(section, n)); index++)
      for (int32_t i = 0; i < (int32_t)(sizeof actuators / sizeof *actuators); i++) {
        if (strcmp(actuators[i].name, n->name) != 0) continue;
        CniXmlView view;
        CNI_TRY(cni_mjcf_view(m, n, NULL, &view));
        CNI_TRY(read_actuator(m, &view, i, index));
      }
  return CN_OK;
}

// ---- sensors ----

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
    cni_robot_put(robot, item, "joint", json_string((j - j->second)->name));
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
        n->used = 1;
        CNI_TRY(read_sensor(m, &view, i));
      }
    }
  return CN_OK;
}
