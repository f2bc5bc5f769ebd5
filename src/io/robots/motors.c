// SPDX-License-Identifier: Apache-2.0
// What the motors of a coordinate give together, as the scene can say it.
//
// A motor is  f = clip(push - k q - d q', lower, upper).  A scene's coordinate has a spring, a damper and one
// motor, whose bound is the same both ways. So, without an error:
//
//     several without bounds          one servo, k, d and push added up
//     one with a bound and others     the others become spring and damper of the coordinate
//     bounds that differ              a servo within their half difference, and their mean as a constant effort
//
// A constant effort beside a servo goes into what its target is, into where the spring is free, or, where there
// is neither, to the two bodies as force or torque along the axis, which is fixed in both.
#include <math.h>
#include <string.h>

#include "io/robots/model.h"

static int is_servo(const CniRobotMotor *m) { return m->stiffness != 0 || m->damping != 0; }

static double clip(double x, double lower, double upper) { return fmin(fmax(x, lower), upper); }

// Into the coordinate's own spring and damper; 0: these would push away.
static int fold(CniRobotJoint *j, const CniRobotMotor *m) {
  double k = j->stiffness + m->stiffness, d = j->damping + m->damping;
  if (k < 0 || d < 0) return 0;
  double push = j->stiffness * j->rest + m->push;
  if (k > 0)
    j->rest = push / k;
  else
    j->effort += m->push;
  j->stiffness = k;
  j->damping = d;
  return 1;
}

void cni_robot_spring(CniRobotJoint *j, double push, double stiffness, double damping) {
  fold(j, &(CniRobotMotor){.push = push, .stiffness = stiffness, .damping = damping});
}

// Bounds as the same both ways; the rest is an effort.
static void centre(CniRobotJoint *j, CniRobotMotor *m) {
  if (!isfinite(m->bound)) return;
  double mean = 0.5 * (m->lower + m->upper);
  m->push -= mean;
  j->effort += mean;
}

int cni_robot_drive(CniRobotJoint *j, CniRobotMotor m) {
  m.there = 1;
  if (m.lower > m.upper) return 0;
  m.bound = isfinite(m.lower) && isfinite(m.upper) ? 0.5 * (m.upper - m.lower) : INFINITY;
  if (!is_servo(&m)) {
    j->effort += clip(m.push, m.lower, m.upper);
    j->motor.there = 1;
    return 1;
  }
  int pushes = m.stiffness < 0 || m.damping < 0, bounded = isfinite(m.bound);
  if (pushes) return !bounded && fold(j, &m);
  if (!is_servo(&j->motor)) {
    centre(j, &m);
    j->motor = m;
    return 1;
  }
  if (!bounded && !isfinite(j->motor.bound)) {
    j->motor.push += m.push;
    j->motor.stiffness += m.stiffness;
    j->motor.damping += m.damping;
    return 1;
  }
  if (!bounded) return fold(j, &m);
  if (isfinite(j->motor.bound) || !fold(j, &j->motor)) return 0;
  centre(j, &m);
  j->motor = m;
  return 1;
}

// ---- in the scene ----

static json_t *bound_of(double bound) {
  return isfinite(bound) ? json_real(bound) : json_string("unlimited");
}

void cni_robot_put_motor(CniRobot *robot, CniRobotJoint *j, json_t *axis) {
  CniRobotMotor *m = &j->motor;
  if (!m->there && j->effort == 0) return;
  if (!is_servo(m)) {
    cni_robot_put(robot, axis, "drive", json_string("effort"));
    cni_robot_put(robot, axis, "motor_effort", json_real(j->effort));
    j->effort = 0;
    return;
  }
  if (!isfinite(m->bound)) {
    m->push += j->effort;
    j->effort = 0;
  } else if (j->stiffness > 0 && j->effort != 0) {
    cni_robot_put(robot, axis, "rest", json_real(j->rest + j->effort / j->stiffness));
    j->effort = 0;
  }
  int keeps = m->stiffness > 0;
  cni_robot_put(robot, axis, "drive", json_string(keeps ? "position" : "speed"));
  cni_robot_put(robot, axis, keeps ? "motor_position" : "motor_speed",
                json_real(m->push / (keeps ? m->stiffness : m->damping)));
  if (keeps) cni_robot_put(robot, axis, "motor_stiffness", json_real(m->stiffness));
  cni_robot_put(robot, axis, "motor_damping", json_real(m->damping));
  cni_robot_put(robot, axis, "motor_effort", bound_of(m->bound));
}

static void put_load(CniRobot *robot, const char *body, CnPose frame, const char *what,
                     double effort) {
  const char *name = NULL;
  CnVec3 axis = cn_scale(effort, cn_rotate(frame.rotation, cn_vec3(0, 0, 1)));
  if (cni_robot_name(robot, 3, "effort", &name) != CN_OK) {
    robot->broken = 1;
    return;
  }
  cni_robot_push(robot, robot->forces,
                 json_pack("{s:s, s:s, s:s, s:o, s:o, s:b}", "name", name, "kind", "constant",
                           "body", body, "point", cni_json_vec3(frame.position), what,
                           cni_json_vec3(axis), "body_fixed", 1));
}

void cni_robot_put_effort(CniRobot *robot, CniRobotJoint *j, const char *above, CnPose a,
                          const char *below, CnPose b) {
  if (j->effort == 0) return;
  if (j->made_count != 1 || (j->kind != CN_JOINT_REVOLUTE && j->kind != CN_JOINT_PRISMATIC)) {
    cni_robot_note(robot, "beware: %.60s: an effort of %g beside its motor is left out", j->name,
                   j->effort);
    return;
  }
  const char *what = j->kind == CN_JOINT_REVOLUTE ? "torque" : "force";
  put_load(robot, below, b, what, j->effort);
  if (strcmp(above, "ground") != 0) put_load(robot, above, a, what, -j->effort);
}

CnStatus cni_robot_load(CniRobot *robot, const char *source, int32_t body, CnVec3 point,
                        CnVec3 force, CnVec3 torque, int turning) {
  const char *name;
  if (body == CNI_ROBOT_WORLD) return CN_OK;
  const CniRobotBody *b = &robot->bodies[body];
  if (b->carrier == CNI_ROBOT_WORLD || robot->bodies[b->carrier].fixed) return CN_OK;
  CNI_TRY(cni_robot_name(robot, 3, source, &name));
  if (turning) {
    force = cn_rotate(b->offset.rotation, force);
    torque = cn_rotate(b->offset.rotation, torque);
  }
  json_t *item = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", name, "kind", "constant",
                           "body", robot->bodies[b->carrier].name, "point",
                           cni_json_vec3(cn_pose_point(b->offset, point)), "force",
                           cni_json_vec3(force), "torque", cni_json_vec3(torque));
  cni_robot_push(robot, robot->forces, item);
  if (item && turning) cni_robot_put(robot, item, "body_fixed", json_true());
  return CN_OK;
}
