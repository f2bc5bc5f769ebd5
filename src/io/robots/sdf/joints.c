// SPDX-License-Identifier: Apache-2.0
// SDF: joints. Each has a frame, by default that of its child, in whose origin it is. Its axis is seen
//
//     since 1.7   from the frame that `expressed_in` names, else from the joint's
//     since 1.5   from the joint's, or, with <use_parent_model_frame>, from the model's
//     before      from the model's
//
// Joints that close loops become joints of the scene without anything that acts on their coordinates.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/robots/sdf/sdf.h"

#define PI 3.14159265358979323846
#define ENDLESS 1e16 // the format's limits of what has none

static const struct {
  const char *type;
  CnJointKind kind;
  int32_t axes, limits; // how many it has, may they be limited
} types[] = {{"revolute", CN_JOINT_REVOLUTE, 1, 1},   {"continuous", CN_JOINT_REVOLUTE, 1, 0},
             {"prismatic", CN_JOINT_PRISMATIC, 1, 1}, {"screw", CN_JOINT_SCREW, 1, 1},
             {"universal", CN_JOINT_REVOLUTE, 2, 1},  {"revolute2", CN_JOINT_REVOLUTE, 2, 1},
             {"ball", CN_JOINT_BALL, 0, 0},           {"fixed", CN_JOINT_WELD, 0, 0}};
static const char *const axis_names[] = {"axis", "axis2"};

static CnStatus find_type(const CniSdfEntry *e, int32_t *row) {
  CniXmlView view = cni_xml_view(e->node);
  const char *type = cni_xml_text(&view, "type");
  for (*row = 0; *row < (int32_t)(sizeof types / sizeof *types); ++*row)
    if (type && strcmp(types[*row].type, type) == 0) return CN_OK;
  return cni_xml_fail(e->node,
                      "\"type\" must be revolute, continuous, prismatic, screw, universal, "
                      "revolute2, ball or fixed (got \"%.60s\")",
                      type ? type : "nothing");
}

// ---- axes ----

// Of length 1, in the world.
static CnStatus read_direction(CniSdf *s, int32_t joint, CniXmlNode *axis, CnVec3 *direction) {
  const CniSdfEntry *e = &s->entries[joint];
  CniXmlNode *node = cni_xml_child(axis, "xyz", NULL);
  int32_t frame = joint, by_model = s->version < 105;
  *direction = cn_vec3(0, 0, 1);
  if (node) {
    CniXmlView view = cni_xml_view(node);
    CNI_TRY(cni_xml_vec3(&view, "text", direction));
    CNI_TRY(cni_sdf_flag(axis, "use_parent_model_frame", &by_model));
    const char *name = cni_xml_text(&view, "expressed_in");
    if (by_model) frame = e->model;
    if (name && name[0]) CNI_TRY(cni_sdf_find(s, node, e->model, name, &frame));
  }
  double length = cn_norm(*direction);
  if (!(length > 1e-12 && length < 1e12))
    return cni_xml_fail(axis, "its direction has the length %g", length);
  *direction = cn_rotate(cni_sdf_at(s, frame).rotation, cn_scale(1 / length, *direction));
  return CN_OK;
}

static CnStatus read_limits(CniXmlNode *axis, CniRobotJoint *j) {
  CniXmlNode *limit = cni_xml_child(axis, "limit", NULL);
  j->lower = -ENDLESS, j->upper = ENDLESS;
  if (limit) {
    CNI_TRY(cni_sdf_number(limit, "lower", &j->lower));
    CNI_TRY(cni_sdf_number(limit, "upper", &j->upper));
  }
  if (!(j->lower > -ENDLESS)) j->lower = -INFINITY;
  if (!(j->upper < ENDLESS)) j->upper = INFINITY;
  j->limited = isfinite(j->lower) || isfinite(j->upper);
  return CN_OK;
}

static CnStatus read_dynamics(CniXmlNode *axis, CniRobotJoint *j) {
  CniXmlNode *node = cni_xml_child(axis, "dynamics", NULL);
  if (!node) return CN_OK;
  CNI_TRY(cni_sdf_number(node, "damping", &j->damping));
  CNI_TRY(cni_sdf_number(node, "friction", &j->friction));
  CNI_TRY(cni_sdf_number(node, "spring_stiffness", &j->stiffness));
  return cni_sdf_number(node, "spring_reference", &j->rest);
}

// Metres a turn. What is called thread_pitch is in radians a metre, to the other side.
static CnStatus read_lead(CniXmlNode *node, double *lead) {
  double pitch = 1;
  CNI_TRY(cni_sdf_number(node, "thread_pitch", &pitch));
  *lead = -2 * PI / pitch;
  CNI_TRY(cni_sdf_number(node, "screw_thread_pitch", lead));
  return pitch != 0 && *lead != 0 ? CN_OK : cni_xml_fail(node, "a screw has a pitch");
}

// One of the axes of a joint, seen from the link below.
static CnStatus read_axis(CniSdf *s, int32_t joint, int32_t row, int32_t number, CniRobotJoint *j) {
  const CniSdfEntry *e = &s->entries[joint];
  CniXmlNode *axis = cni_xml_child(e->node, axis_names[number], NULL);
  CnPose below = cni_sdf_at(s, e->below);
  CnVec3 direction = {0, 0, 1};
  *j = (CniRobotJoint){.node = e->node,
                       .kind = types[row].kind,
                       .axis = {0, 0, 1},
                       .turn = CN_QUAT_ONE,
                       .source = e->label};
  j->anchor = cn_pose_local(below, e->at.position);
  if (types[row].axes == 0) return CN_OK;
  if (!axis) return cni_xml_fail(e->node, "needs <%s>", axis_names[number]);
  CNI_TRY(read_direction(s, joint, axis, &direction));
  j->axis = cn_unrotate(below.rotation, direction);
  if (types[row].limits) CNI_TRY(read_limits(axis, j));
  if (j->kind == CN_JOINT_SCREW) CNI_TRY(read_lead(e->node, &j->lead));
  return read_dynamics(axis, j);
}

// ---- in the tree ----

CnStatus cni_sdf_joints(CniSdf *s, const CniSdfEntry *link) {
  CniSdfEntry *e = &s->entries[link->joint];
  int32_t row, index;
  CNI_TRY(find_type(e, &row));
  if (types[row].kind == CN_JOINT_WELD) return CN_OK;
  for (int32_t i = 0; i < (types[row].axes > 1 ? 2 : 1); i++) {
    CniRobotJoint joint;
    CNI_TRY(read_axis(s, link->joint, row, i, &joint));
    if (i > 0) {
      char name[400];
      int n = snprintf(name, sizeof name, "%.300s_axis2", e->label);
      if (!(joint.source = cni_xml_keep(&s->robot->arena, name, (size_t)n)))
        return cni_error_memory(sizeof name);
    }
    CNI_TRY(cni_robot_add_joint(s->robot, &joint, &index));
  }
  return CN_OK;
}

// ---- in loops ----

static CnStatus close_loop(CniSdf *s, int32_t joint) {
  CniSdfEntry *e = &s->entries[joint];
  CniRobot *robot = s->robot;
  int32_t row;
  const char *name;
  json_t *item;
  CniRobotJoint axes[2] = {{.axis = {0, 0, 1}}};
  CNI_TRY(find_type(e, &row));
  for (int32_t i = 0; i < (types[row].axes > 1 ? 2 : 1); i++)
    CNI_TRY(read_axis(s, joint, row, i, &axes[i]));
  CnPose at = {axes[0].anchor, cni_joint_axes(axes[0].axis)};
  const char *kind = cn_joint_kind_name(types[row].kind);
  if (types[row].axes > 1) {
    CnVec3 x = axes[0].axis, y = axes[1].axis;
    kind = "universal";
    if (fabs(cn_dot(x, y)) > 1e-9)
      return cni_xml_fail(e->node, "closes a loop: its axes must be at right angles");
    at.rotation = cni_quat_from_mat((CnMat3){.x = x, .y = y, .z = cn_cross(x, y)});
  }
  for (int32_t i = 0; i < 2; i++)
    if (axes[i].limited || axes[i].damping > 0 || axes[i].friction > 0 || axes[i].stiffness > 0)
      cni_robot_note(robot,
                     "beware: line %d: limits, dampers and springs of the joint %.60s, which "
                     "closes a loop, are left out",
                     (int)e->node->line, e->label);
  CnPose world = cn_pose_mul(cni_sdf_at(s, e->below), at);
  CnPose above = cn_pose_mul(cn_pose_inverse(cni_sdf_at(s, e->above)), world);
  int32_t a = e->above == CNI_SDF_WORLD ? CNI_ROBOT_WORLD : s->entries[e->above].body;
  int32_t b = e->below == CNI_SDF_WORLD ? CNI_ROBOT_WORLD : s->entries[e->below].body;
  CNI_TRY(cni_robot_name(robot, 1, e->label, &name));
  CNI_TRY(cni_robot_link(robot, robot->links, kind, name, a, above, b, at, &item));
  if (item && types[row].kind == CN_JOINT_SCREW)
    cni_robot_put(robot, item, "lead", json_real(axes[0].lead));
  return CN_OK;
}

// follower = multiplier (leader - reference) + offset
static CnStatus follow(CniSdf *s, const CniSdfEntry *e, CniXmlNode *node) {
  CniRobot *robot = s->robot;
  CniXmlView view = cni_xml_view(node);
  const char *text, *name;
  int32_t leader;
  double multiplier = 1, offset = 0, reference = 0;
  cni_xml_text(&view, "axis");
  CNI_TRY(cni_xml_required(&view, "joint", &text));
  CNI_TRY(cni_sdf_find(s, node, e->model, text, &leader));
  CNI_TRY(cni_sdf_number(node, "multiplier", &multiplier));
  CNI_TRY(cni_sdf_number(node, "offset", &offset));
  CNI_TRY(cni_sdf_number(node, "reference", &reference));
  int32_t own = cni_name_find(&robot->joint_names, e->label);
  int32_t other = leader < 0 ? -1 : cni_name_find(&robot->joint_names, s->entries[leader].label);
  if (own < 0 || other < 0 || own == other || !robot->joints[own].coordinate ||
      !robot->joints[other].coordinate)
    return cni_xml_fail(node, "needs two joints with a coordinate");
  CNI_TRY(cni_robot_name(robot, 3, e->label, &name));
  cni_robot_push(robot, robot->couplings,
                 json_pack("{s:s, s:[o,o], s:f}", "name", name, "terms",
                           cni_robot_term(&robot->joints[own], 1),
                           cni_robot_term(&robot->joints[other], -multiplier), "offset",
                           offset - multiplier * reference));
  return CN_OK;
}

CnStatus cni_sdf_close(CniSdf *s) {
  for (int32_t i = 0; i < s->entry_count; i++) {
    const CniSdfEntry *e = &s->entries[i];
    if (e->kind != CNI_SDF_JOINT) continue;
    if (e->in_loop) CNI_TRY(close_loop(s, i));
    CniXmlNode *axis = cni_xml_child(e->node, "axis", NULL);
    CniXmlNode *mimic = axis ? cni_xml_child(axis, "mimic", NULL) : NULL;
    if (mimic) CNI_TRY(follow(s, e, mimic));
  }
  return CN_OK;
}
