// SPDX-License-Identifier: Apache-2.0
// MJCF: what the compiler's options make of masses, and what acts on bodies by themselves.
//
// Armature of a free joint is inertia that gravity does not see: a is added to the inertia about all axes, and as
// a point to the mass, at the origin of the body, with the force - a g there.
#include <math.h>

#include "io/robots/mjcf/mjcf.h"

// Mass, centre and inertia in the axes of the body.
static CniMassProps whole_of(const CniRobotBody *b) {
  CnVec3 principal;
  CnMat3 axes, r = cn_qmat(b->com.rotation);
  cni_seigen(b->inertia, &principal, &axes);
  CnMat3 turned = {cn_mmul(r, axes.x), cn_mmul(r, axes.y), cn_mmul(r, axes.z)};
  return (CniMassProps){b->mass, b->com.position, cn_srotate(turned, principal)};
}

void cni_mjcf_bound(const CniMjcf *m, CniRobotBody *b) {
  CnVec3 p;
  CnMat3 axes;
  b->mass = fmax(b->mass, m->least_mass);
  if (!m->balance && !(m->least_inertia > 0)) return;
  cni_seigen(b->inertia, &p, &axes);
  double sum = p.x + p.y + p.z, most = fmax(p.x, fmax(p.y, p.z));
  if (m->balance && most > sum - most) p = cn_vec3(sum / 3, sum / 3, sum / 3);
  p = cn_vec3(fmax(p.x, m->least_inertia), fmax(p.y, m->least_inertia),
              fmax(p.z, m->least_inertia));
  b->inertia = cn_srotate(axes, p);
}

void cni_mjcf_total(CniMjcf *m) {
  CniRobot *robot = m->robot;
  double sum = 0;
  for (int32_t i = 0; i < robot->body_count; i++) sum += robot->bodies[i].mass;
  if (!(m->total_mass > 0) || !(sum > 0)) return;
  double by = m->total_mass / sum;
  for (int32_t i = 0; i < robot->body_count; i++) {
    CniRobotBody *b = &robot->bodies[i];
    double *j[] = {&b->inertia.xx, &b->inertia.yy, &b->inertia.zz,
                   &b->inertia.xy, &b->inertia.xz, &b->inertia.yz};
    b->mass *= by;
    for (int32_t k = 0; k < 6; k++) *j[k] *= by;
  }
}

// ---- what joints move ----

CnStatus cni_mjcf_inertia(CniMjcf *m, const CniRobotJoint *j, double *inertia) {
  const CniRobot *robot = m->robot;
  if (!m->carried) {
    CNI_TRY(cni_arena_array(&m->robot->arena, robot->body_count, sizeof *m->carried, &m->carried));
    for (int32_t i = robot->body_count; i-- > 0;) {
      const CniRobotBody *b = &robot->bodies[i];
      CnPose at = cni_mjcf_drawn(robot, i);
      CnVec3 p;
      CnMat3 axes, r = cn_qmat(at.rotation);
      CniMassProps own = whole_of(b), *sum = &m->carried[i];
      cni_seigen(own.inertia, &p, &axes);
      CnMat3 turned = {cn_mmul(r, axes.x), cn_mmul(r, axes.y), cn_mmul(r, axes.z)};
      own = (CniMassProps){own.mass, cn_pose_point(at, own.centre), cn_srotate(turned, p)};
      if (own.mass > 0) *sum = sum->mass > 0 ? cni_mass_add(*sum, own) : own;
      if (b->parent == CNI_ROBOT_WORLD || !(sum->mass > 0)) continue;
      CniMassProps *above = &m->carried[b->parent];
      *above = above->mass > 0 ? cni_mass_add(*above, *sum) : *sum;
    }
  }
  const CniMassProps *c = &m->carried[j->body];
  CnPose at = cni_mjcf_drawn(robot, j->body);
  CnVec3 axis = cn_rotate(at.rotation, j->axis);
  CnVec3 arm = cn_cross(axis, cn_sub(c->centre, cn_pose_point(at, j->anchor)));
  *inertia = j->armature + c->mass;
  if (j->kind == CN_JOINT_PRISMATIC) return CN_OK;
  CnVec3 turned = cn_smul(c->inertia, axis);
  *inertia = j->armature + cn_dot(axis, turned) + c->mass * cn_norm2(arm);
  return CN_OK;
}

static CnStatus put_drag(CniMjcf *m, const CniMjcfLoad *load) {
  CniRobot *robot = m->robot;
  const CniRobotBody *b = &robot->bodies[load->body];
  const char *name;
  CNI_TRY(cni_robot_name(robot, 3, "damping", &name));
  cni_robot_push(robot, robot->forces,
                 json_pack("{s:s, s:s, s:s, s:f, s:f}", "name", name, "kind", "drag", "body",
                           b->name, "linear_drag", load->damping, "angular_drag", load->damping));
  return CN_OK;
}

static CnStatus put_armature(CniMjcf *m, const CniMjcfLoad *load) {
  CniRobotBody *b = &m->robot->bodies[load->body];
  double a = load->armature;
  CniMassProps point = {a, CN_VEC3_ZERO, cn_sdiag(a, a, a)};
  CniMassProps sum = cni_mass_add(whole_of(b), point);
  b->mass = sum.mass;
  b->com = (CnPose){sum.centre, CN_QUAT_ONE};
  b->inertia = sum.inertia;
  cni_robot_note(m->robot, "line %d: the armature of a free joint, %g, is in the mass of %.60s",
                 (int)load->line, a, b->name);
  CnVec3 force = cn_scale(-a, m->gravity);
  return cni_robot_load(m->robot, "armature", load->body, CN_VEC3_ZERO, force, CN_VEC3_ZERO, 0);
}

CnStatus cni_mjcf_loads(CniMjcf *m) {
  for (int32_t i = 0; i < m->load_count; i++) {
    const CniMjcfLoad *load = &m->loads[i];
    CniRobotBody *b = &m->robot->bodies[load->body];
    int passive = !(m->off & CNI_MJCF_PASSIVE);
    if (load->friction != 0 && !(m->off & CNI_MJCF_FRICTION))
      cni_robot_note(m->robot, "beware: line %d: \"frictionloss\" of a free joint is left out",
                     (int)load->line);
    if (load->gravcomp != 0 && passive && b->mass > 0) {
      CnVec3 force = cn_scale(-load->gravcomp * b->mass, m->gravity);
      CNI_TRY(cni_robot_load(m->robot, "gravcomp", load->body, b->com.position, force, CN_VEC3_ZERO,
                             0));
    }
    if (load->damping > 0 && passive) CNI_TRY(put_drag(m, load));
    if (load->armature > 0) CNI_TRY(put_armature(m, load));
    b->inertia.xx += load->ball_armature;
    b->inertia.yy += load->ball_armature;
    b->inertia.zz += load->ball_armature;
  }
  return CN_OK;
}
