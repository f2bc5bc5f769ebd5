// SPDX-License-Identifier: Apache-2.0
// Where everything is. Coordinates at the start give the place of every body; bodies without mass that
// nothing moves become part of the one that carries them.
//
//     place of a body = place of its parent, pose as drawn, then its joints in order:
//     a hinge turns by q - ref about its axis through its anchor, a slide moves by q - ref along it
#include <math.h>
#include <string.h>

#include "core/math.h"
#include "io/robots/model.h"

#define PI 3.14159265358979323846
#define ROUNDED 0.02 // of an inertia: what rounding may have done
#define THIN 1e-3    // of the largest inertia: the least of one that is put right

static int has_start(const CniRobotJoint *joint) {
  return joint->kind == CN_JOINT_REVOLUTE || joint->kind == CN_JOINT_PRISMATIC ||
         joint->kind == CN_JOINT_SCREW;
}

static int one_of(const char *key, const char *const *keys) {
  while (*keys && strcmp(*keys, key) != 0) keys++;
  return *keys != NULL;
}

static CnStatus use_settings(CniRobot *robot) {
  static const char *const switches[] = {"floating", "keyframe", "tendons", NULL};
  for (int32_t i = 0; i < robot->def->setting_count; i++) {
    const CnSetting *s = &robot->def->settings[i];
    if (one_of(s->key, switches)) continue;
    int32_t j = cni_name_find(&robot->joint_names, s->key);
    for (int32_t k = 0; j < 0 && k < robot->joint_count; k++)
      if (strcmp(robot->joints[k].name, s->key) == 0) j = k;
    if (j < 0) {
      char hint[CNI_HINT_SIZE];
      CniNearestName nearest = cni_nearest(s->key, strlen(s->key));
      for (int32_t k = 0; k < robot->joint_count; k++)
        cni_nearest_offer(&nearest, robot->joints[k].source);
      cni_nearest_hint(&nearest, hint);
      return cni_bad_data(
          "%s: no joint is called %.60s%s (floating, keyframe and tendons may be set too)",
          robot->def->path, s->key, hint);
    }
    if (!has_start(&robot->joints[j]) || !isfinite(s->value))
      return cni_bad_data("%s: the joint %.60s cannot start at %g", robot->def->path, s->key,
                          s->value);
    robot->joints[j].start = s->value;
    robot->joints[j].dependent = 0;
  }
  return CN_OK;
}

CnPose cni_robot_motion(const CniRobotJoint *j) {
  double moved = j->start - j->ref;
  if (j->kind == CN_JOINT_PRISMATIC) return (CnPose){cn_scale(moved, j->axis), CN_QUAT_ONE};
  CnQuat turn = CN_QUAT_ONE;
  if (j->kind == CN_JOINT_BALL) turn = j->turn;
  if (j->kind == CN_JOINT_REVOLUTE || j->kind == CN_JOINT_SCREW)
    turn = cni_turn_about(j->axis, moved);
  CnVec3 shift = cn_sub(j->anchor, cn_rotate(turn, j->anchor));
  if (j->kind == CN_JOINT_SCREW) shift = cn_madd(shift, j->lead * moved / (2 * PI), j->axis);
  return (CnPose){shift, turn};
}

CnTwist cni_robot_rate(const CniRobotJoint *j, CnPose before) {
  CnVec3 axis = cn_rotate(before.rotation, j->axis), anchor = cn_pose_point(before, j->anchor), w;
  if (j->kind == CN_JOINT_PRISMATIC) return (CnTwist){cn_scale(j->rate[0], axis), CN_VEC3_ZERO};
  if (j->kind == CN_JOINT_BALL)
    w = cn_rotate(cn_qmul(before.rotation, j->turn), cn_vec3(j->rate[0], j->rate[1], j->rate[2]));
  else
    w = cn_scale(j->rate[0], axis);
  return (CnTwist){cn_cross(anchor, w), w};
}

// A free body's own velocity, seen from the world's origin.
static CnTwist free_rate(const CniRobot *robot, const CniRobotBody *b, CnPose at) {
  CnVec3 v = cn_rotate(robot->def->place.rotation, b->velocity),
         w = cn_rotate(at.rotation, b->spin);
  return (CnTwist){cn_add(v, cn_cross(at.position, w)), w};
}

// Parents come before their children.
static void place_body(CniRobot *robot, int32_t i) {
  CniRobotBody *b = &robot->bodies[i];
  const CniRobotBody *above = b->parent == CNI_ROBOT_WORLD ? NULL : &robot->bodies[b->parent];
  CnPose at = cn_pose_mul(above ? above->at : robot->def->place, b->starts ? b->start : b->pose);
  b->rate = b->free ? free_rate(robot, b, at) : above ? above->rate : (CnTwist){0};
  for (int32_t k = 0; k < b->joint_count; k++) {
    const CniRobotJoint *j = &robot->joints[b->first_joint + k];
    CnTwist more = cni_robot_rate(j, at);
    b->rate = (CnTwist){cn_add(b->rate.velocity, more.velocity), cn_add(b->rate.spin, more.spin)};
    at = cn_pose_mul(at, cni_robot_motion(j));
  }
  at.rotation = cn_qunit(at.rotation);
  b->at = at;
  int rides = b->joint_count == 0 && !b->free;
  b->group = !rides ? i : above ? above->group : CNI_ROBOT_WORLD;
  b->carrier = i;
  b->offset = CN_POSE_ONE;
  if (rides && !(b->mass > 0)) {
    b->carrier = above ? above->carrier : CNI_ROBOT_WORLD;
    b->offset = above ? cn_pose_mul(above->offset, b->pose) : b->pose;
  }
}

// A machine's base is held by a weld, whose forces can be told; what has nothing that moves on it is
// furniture, and fixed, as what has a plane is. Children of the world decide for all below.
static CnStatus find_fixed(CniRobot *robot) {
  int32_t *top, *moves;
  CNI_TRY(cni_arena_array(&robot->arena, robot->body_count, sizeof *top, &top));
  CNI_TRY(cni_arena_array(&robot->arena, robot->body_count, sizeof *moves, &moves));
  for (int32_t i = 0; i < robot->body_count; i++) {
    int32_t parent = robot->bodies[i].parent;
    top[i] = parent == CNI_ROBOT_WORLD ? i : top[parent];
    if (robot->bodies[i].group != CNI_ROBOT_WORLD) moves[top[i]] = 1;
  }
  for (int32_t i = 0; i < robot->body_count; i++) {
    CniRobotBody *b = &robot->bodies[i];
    if (b->unbounded && b->group != CNI_ROBOT_WORLD)
      return cni_xml_fail(b->node, "%.60s moves: a plane cannot be on it", b->source);
    b->fixed = b->group == CNI_ROBOT_WORLD && b->carrier == i && (!moves[top[i]] || b->unbounded);
  }
  return CN_OK;
}

CnStatus cni_robot_solid(CniRobot *robot, double mass, CnPose com, CnSym3 inertia) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId id;
  CniModel probe;
  def.mass = mass;
  def.com = com;
  def.inertia = inertia;
  CNI_TRY(cni_model_init(&probe, robot->allocator));
  CnStatus status = cni_model_add_body(&probe, &def, &id);
  cni_model_release(&probe);
  return status;
}

// Inertias of few digits may be those of no solid: the largest principal one is more than the others together, by
// little. It becomes as much as they are. Formats whose files are not checked by anyone have worse ones.
static void round_inertia(CniRobot *robot, CniRobotBody *b) {
  CnVec3 p;
  CnMat3 axes;
  cni_seigen(b->inertia, &p, &axes);
  double *sorted[] = {&p.x, &p.y, &p.z}, was[] = {p.x, p.y, p.z};
  for (int32_t i = 0; i < 3; i++) // the largest last
    for (int32_t k = 0; k < 2; k++)
      if (*sorted[k] > *sorted[k + 1]) {
        double *other = sorted[k];
        sorted[k] = sorted[k + 1];
        sorted[k + 1] = other;
      }
  double most = *sorted[2], past = most - *sorted[1] - *sorted[0];
  int rounded = past > 1e-12 * most && past <= ROUNDED * most && *sorted[0] > 0;
  if (!rounded && robot->lenient && most > 0)
    for (int32_t i = 0; i < 2; i++) *sorted[i] = fmax(*sorted[i], THIN * most);
  past = most - *sorted[1] - *sorted[0];
  if (rounded || (robot->lenient && past > 1e-12 * most)) *sorted[2] = *sorted[1] + *sorted[0];
  if (p.x == was[0] && p.y == was[1] && p.z == was[2]) return;
  cni_robot_note(
      robot,
      "%s%.60s (line %d): the inertia %.6g, %.6g, %.6g is of no solid: taken as %.6g, %.6g, %.6g",
      rounded ? "" : "beware: ", b->name, (int)b->node->line, was[0], was[1], was[2], p.x, p.y,
      p.z);
  b->inertia = cn_srotate(axes, p);
}

// What a body must be, and a little mass for what moves without any.
static CnStatus check_mass(CniRobot *robot, int32_t i, double total) {
  CniRobotBody *b = &robot->bodies[i];
  if (b->carrier != i) return CN_OK;
  if (!(b->mass > 0)) {
    double mass = 1e-6 * (total > 0 ? total : 1), j = mass * 1e-4;
    b->mass = mass;
    b->inertia = cn_sdiag(j, j, j);
    b->com = CN_POSE_ONE;
    cni_robot_note(robot, "%.60s (line %d) moves and has no mass: it gets %g kg", b->name,
                   (int)b->node->line, mass);
  }
  round_inertia(robot, b);
  CnStatus status = cni_robot_solid(robot, b->mass, b->com, b->inertia);
  if (status == CN_OK || status == CN_NO_MEMORY) return status;
  char why[CNI_MESSAGE_SIZE];
  strncpy(why, cn_error_message(), sizeof why - 1);
  why[sizeof why - 1] = 0;
  return cni_xml_fail(b->node, "%.60s: %s", b->source, why);
}

static void note_start(CniRobot *robot, const CniRobotJoint *j) {
  double past = fmax(j->lower - j->start, j->start - j->upper);
  int single = j->kind == CN_JOINT_REVOLUTE || j->kind == CN_JOINT_PRISMATIC;
  if (single && j->limited && past > 1e-6)
    cni_robot_note(robot, "beware: %.60s starts at %.6g, outside of its limits, %.6g to %.6g",
                   j->name, j->start, j->lower, j->upper);
}

CnStatus cni_robot_settle(CniRobot *robot) {
  double total = 0;
  CNI_TRY(use_settings(robot));
  for (int32_t i = 0; i < robot->body_count; i++) {
    place_body(robot, i);
    const CniRobotBody *b = &robot->bodies[i];
    if (b->joint_count > 0) cni_robot_compose(robot->joints + b->first_joint, b->joint_count);
    total += robot->bodies[i].mass;
  }
  for (int32_t i = 0; i < robot->joint_count; i++) note_start(robot, &robot->joints[i]);
  CNI_TRY(find_fixed(robot));
  for (int32_t i = 0; i < robot->body_count; i++) CNI_TRY(check_mass(robot, i, total));
  return CN_OK;
}
