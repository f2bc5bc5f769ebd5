// SPDX-License-Identifier: Apache-2.0
// Where momentum, angular momentum and energy went in a step of `impulse`: sums over all bodies with
// mass, as identities of the scheme.
//
// Kick. With M (v+ - v_old) = sum of impulses p, every impulse has a momentum, an angular momentum
// about the origin, and the work p.(v+ + v_old)/2; together they are exactly the change from v_old to
// v+. For a block of the problem p = E^T g, and momentum, angular momentum and work are g.(E f) with f
// the velocities of a rigid motion of all bodies with mass, or their own mean velocities: one
// product with seven fields f, whatever the storage. Bodies without mass have f = 0 there.
//
// Moving supports. What rubs, hits or stretches is the motion of two bodies against each other. So a row
// between a body and a support that is moved as prescribed (a kinematic body, a belt) works with the
// velocity against that support, and the rest, g.(E V) with V the support's own velocities, is what the
// one who moves it puts in: work of drives.
//
// Drift. Bodies go along without forces, which changes none of the three; joints do (drift_joints.c),
// and their work there is counted the same way with the means of the drift. The weight does m g.(x1 -
// x0); what it did in the kick less that is the scheme's. So is what geometric stiffness adds.
//
// Speeds that a joint or a coupling does not allow, as bodies may have them at the start, are taken in one blow: its
// work belongs to the impacts. hem5 and rkf45 take it before their first step, and tell nothing of it: what is left
// of such a step is the blow.
//
// By the integrators that work with equations of motion the impulses are sums over the step
// (`by_quadrature`): joints work by the means of their rates at both ends, which of a rigid one are zero;
// what means of velocities and directions of one place do not tell of the rest is the scheme's.
// The work of springs, servos and loads is integrated along the motion (world/equations/powers.c). A
// coupling that is one-sided and closes takes by impact.
//
// Cost: linear, a few hundred operations a block; on demand.
#include "assembly/assembly_private.h"

#include "core/error.h"
#include "core/math.h"

#define JERK 1e-3 // of the speeds
#define FIELDS 9
#define MEAN 6 // mean velocities of the kick, bodies with mass
#define OLD 7  // velocities before the step, all bodies
#define LED 8  // of bodies that move as prescribed

typedef struct Sum {
  const CniBalanceInput *in;
  double *fields[FIELDS]; // six numbers a group
  CnTwist *impulses;      // E^T g by group, with rounds; null: free velocities are in the groups
  CnStepBalance *out;
  int blow;   // speeds at the start that joints or couplings do not allow
  int jerked; // and that motors without a bound change at once
} Sum;

static void add(CnBalanceTerm *term, CnVec3 momentum, CnVec3 angular, double energy) {
  term->momentum = cn_add(term->momentum, momentum);
  term->angular_momentum = cn_add(term->angular_momentum, angular);
  term->energy += energy;
}

static void put_field(double *field, int32_t group, CnVec3 v, CnVec3 w) {
  double *to = field + 6 * (size_t)group;
  to[0] = v.x, to[1] = v.y, to[2] = v.z;
  to[3] = w.x, to[4] = w.y, to[5] = w.z;
}

static CnTwist velocity_of(const CnAnswer *answer, int32_t group) {
  const double *v = &answer->v[6 * (size_t)group];
  return (CnTwist){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

static CnTwist mean_twist(CnTwist a, CnTwist b) {
  return (CnTwist){cn_scale(0.5, cn_add(a.velocity, b.velocity)),
                   cn_scale(0.5, cn_add(a.spin, b.spin))};
}

static int has_mass(const CniBalanceInput *in, int32_t body) {
  return body >= 0 && cni_has_mass(&in->model->mass[body]);
}

static int is_led(const CniBalanceInput *in, int32_t body) {
  return body >= 0 && in->model->bodies[body].kind == CN_BODY_KINEMATIC;
}

// ---- bodies ----

static void change_of(const CniBalanceInput *in, int32_t i, const CnPose *from,
                      const CnTwist *before, const CnPose *to, const CnTwist *after,
                      CnBalanceTerm *change) {
  double m = in->model->mass[i].mass;
  CnVec3 old = cn_smul(cni_model_inertia(in->model, i, from->rotation), before->spin);
  CnVec3 now = cn_smul(cni_model_inertia(in->model, i, to->rotation), after->spin);
  CnVec3 p_old = cn_scale(m, before->velocity), p_now = cn_scale(m, after->velocity);
  CnVec3 turn = cn_sub(cn_add(cn_cross(to->position, p_now), now),
                       cn_add(cn_cross(from->position, p_old), old));
  double energy = cn_dot(p_now, after->velocity) + cn_dot(now, after->spin) -
                  cn_dot(p_old, before->velocity) - cn_dot(old, before->spin);
  add(change, cn_sub(p_now, p_old), turn, 0.5 * energy);
}

// What gravity does before and after the impulses.
static void flight(const CniBalanceInput *in, int32_t i, CnTwist kick, CnBalanceTerm *parts) {
  CnBalanceTerm done = {0};
  change_of(in, i, &in->from[i], &in->start[i], &in->pose[i], &in->twist[i], &done);
  change_of(in, i, &in->pose[i], &kick, &in->pose_new[i], &in->end[i], &done);
  add(&parts[CN_BALANCE_GRAVITY], done.momentum, done.angular_momentum, 0);
  parts[CN_BALANCE_SCHEME].energy += done.energy;
}

// Weight, loads, and what the scheme adds to a body.
static void body_terms(const Sum *s, int32_t i) {
  const CniBalanceInput *in = s->in;
  const CnProblem *p = in->problem;
  double m = in->model->mass[i].mass, h = in->time_step;
  int flies = in->flies && in->flies[i];
  CnVec3 x = in->pose[i].position, weight = cn_scale(flies ? 0 : h * m, in->gravity);
  CnTwist old = in->twist[i], kick = velocity_of(in->answer, i), mean = mean_twist(old, kick);
  CnSym3 inertia = cni_model_inertia(in->model, i, in->pose[i].rotation), inverse;
  CnBalanceTerm *parts = s->out->parts;

  double fallen = m * cn_dot(in->gravity, cn_sub(in->pose_new[i].position, in->from[i].position));
  add(&parts[CN_BALANCE_GRAVITY], weight, cn_cross(x, weight), fallen);
  add(&parts[CN_BALANCE_SCHEME], CN_VEC3_ZERO, CN_VEC3_ZERO,
      cn_dot(weight, mean.velocity) - fallen);
  if (flies) flight(in, i, kick, parts);

  // what made the free velocity out of the old one, and the inertia that geometric stiffness added;
  // after rounds the free velocity is the last one less what all of them did
  CnTwist free = cni_group_free(&p->groups[i]), gone = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  if (s->impulses) {
    free = kick;
    gone = s->impulses[i];
  }
  if (in->by_quadrature) old = cni_group_old(p, i); // the problem may be one of within the step
  CnVec3 more = CN_VEC3_ZERO, spin = cn_smul(inertia, cn_sub(free.spin, old.spin));
  if (in->geometric_stiffness && in->model->bodies[i].first_joint >= 0) {
    inverse = cn_sinverse(cni_group_inertia(p, i));
    spin = cn_sub(cn_smul(inverse, free.spin), cn_smul(inertia, old.spin));
    more = cn_sub(cn_smul(inertia, kick.spin), cn_smul(inverse, kick.spin));
  }
  spin = cn_sub(spin, gone.spin);
  CnVec3 push = cn_sub(cn_scale(m, cn_sub(free.velocity, old.velocity)), weight);
  push = cn_sub(push, gone.velocity);
  add(&parts[CN_BALANCE_LOADS], push, cn_add(cn_cross(x, push), spin),
      cn_dot(push, mean.velocity) + cn_dot(spin, mean.spin));
  add(&parts[CN_BALANCE_SCHEME], CN_VEC3_ZERO, more, cn_dot(more, mean.spin));
}

static void fill_fields(const Sum *s, int32_t i) {
  const CniBalanceInput *in = s->in;
  const CnVec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  put_field(s->fields[OLD], i, cni_group_free(&in->problem->groups[i]).velocity,
            in->problem->groups[i].w);
  if (is_led(in, i)) {
    CnTwist mean = mean_twist(in->twist[i], in->end[i]);
    put_field(s->fields[LED], i, mean.velocity, mean.spin);
  }
  if (!has_mass(in, i)) return;
  for (int32_t k = 0; k < 3; k++) {
    put_field(s->fields[k], i, unit[k], CN_VEC3_ZERO);
    put_field(s->fields[3 + k], i, cn_cross(unit[k], in->pose[i].position), unit[k]);
  }
  CnTwist mean = mean_twist(in->twist[i], velocity_of(in->answer, i));
  put_field(s->fields[MEAN], i, mean.velocity, mean.spin);
  put_field(s->fields[OLD], i, in->twist[i].velocity, in->twist[i].spin);
}

// ---- blocks ----

// Rows [begin, end) of a block to a part; products[f] are E f.
static void add_rows(const Sum *s, CnBalancePart part, const double *g,
                     double (*products)[CNI_MAX_DIM], int32_t begin, int32_t end) {
  double sum[FIELDS] = {0};
  for (int32_t r = begin; r < end; r++)
    for (int32_t f = 0; f < FIELDS; f++) sum[f] += g[r] * products[f][r];
  if (s->in->works && part == CN_BALANCE_SPRINGS) sum[LED] = 0; // theirs is known
  add(&s->out->parts[part], cn_vec3(sum[0], sum[1], sum[2]), cn_vec3(sum[3], sum[4], sum[5]),
      sum[MEAN] + sum[LED]);
  s->out->parts[CN_BALANCE_DRIVES].energy -= sum[LED];
}

// Belts: the velocity of b's surface against a's, which the rows of friction have in b.
static void add_slide(const CnProblem *p, const CniBlock *block, double *led) {
  double b[CNI_MAX_DIM];
  if (p->b_per_block || block->dim < 3) return;
  cni_block_b(p, block, b);
  led[1] += b[1];
  led[2] += b[2];
}

// A contact (part CN_BALANCE_PART_COUNT) is divided into its normal and the rest.
static void add_block(const Sum *s, int32_t index, CnBalancePart part) {
  const CnProblem *p = s->in->problem;
  const CniBlock *block = &p->blocks[index];
  const double *g = &s->in->answer->g[block->row];
  double products[FIELDS][CNI_MAX_DIM] = {{0}};
  int any = 0;
  for (int32_t r = 0; r < block->dim; r++) any |= g[r] != 0;
  if (!any) return;
  for (int32_t f = 0; f < FIELDS; f++)
    cni_storages[block->storage].velocity(p, block, s->fields[f], products[f]);
  if (part != CN_BALANCE_PART_COUNT) {
    add_rows(s, part, g, products, 0, block->dim);
    return;
  }
  add_slide(p, block, products[LED]);
  int closing = products[OLD][0] < -s->in->restitution_threshold;
  add_rows(s, closing ? CN_BALANCE_IMPACTS : CN_BALANCE_STABILISATION, g, products, 0, 1);
  add_rows(s, CN_BALANCE_FRICTION, g, products, 1, block->dim);
}

static CnTwist start_of(const CniBalanceInput *in, int32_t body) {
  CnTwist none = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  return body < 0 || in->model->bodies[body].kind == CN_BODY_FIXED ? none : in->twist[body];
}

// How fast the coordinates of a coupling may change against it by what its bodies turn in a step.
static double coupling_slack(const CniBalanceInput *in, const CniCoupling *coupling) {
  CniCouplingTerm terms[CN_COUPLING_TERMS];
  double slack = in->restitution_threshold;
  cni_coupling_terms(in->model, coupling, in->pose, terms);
  for (int32_t k = 0; k < coupling->def.term_count; k++) {
    const CniJoint *joint = &in->model->joints[terms[k].joint];
    CnTwist a = start_of(in, joint->body_a), b = start_of(in, joint->body_b);
    double turn = cn_norm(a.spin) + cn_norm(b.spin);
    double speed = terms[k].row.turns ? turn : cn_norm(cn_sub(b.velocity, a.velocity));
    slack += fabs(terms[k].slope) * in->time_step * turn * (speed + turn);
  }
  return slack;
}

// A coupling that closes because it is one-sided, or that the bodies come with speeds against: what it takes
// is a blow.
static CnBalancePart coupling_part(Sum *s, int32_t index, const CniCoupling *coupling) {
  const CniBlock *block = &s->in->problem->blocks[index];
  double u[CNI_MAX_DIM] = {0};
  cni_storages[block->storage].velocity(s->in->problem, block, s->fields[OLD], u);
  int blow = coupling->def.one_sided ? u[0] < -s->in->restitution_threshold
                                     : fabs(u[0]) > coupling_slack(s->in, coupling);
  s->blow |= blow;
  return blow ? CN_BALANCE_IMPACTS : CN_BALANCE_JOINTS;
}

CnBalancePart cni_joint_part(const CniJointBlock *block) {
  static const CnBalancePart parts[CNI_PART_COUNT + 1] = {
      [CNI_PART_SPRING] = CN_BALANCE_SPRINGS,    [CNI_PART_LOWER] = CN_BALANCE_IMPACTS,
      [CNI_PART_UPPER] = CN_BALANCE_IMPACTS,     [CNI_PART_MOTOR] = CN_BALANCE_DRIVES,
      [CNI_PART_FRICTION] = CN_BALANCE_FRICTION, [CNI_PART_LOCKED] = CN_BALANCE_JOINTS,
      [CNI_PART_ARMATURE] = CN_BALANCE_DRIVES};
  int soft = block->part == CNI_PART_LOCKED && block->set.compliance[0] > 0;
  return soft ? CN_BALANCE_SPRINGS : parts[block->part];
}

// ---- joints ----

// Of a body with mass, or of one that moves as prescribed.
static CnTwist end_of(const CniBalanceInput *in, int32_t body, int led) {
  int own = led ? is_led(in, body) : has_mass(in, body);
  return own ? in->end[body] : (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
}

// Is it a motor or a soft limit whose work is known better than by its mean effort?
static int is_known(const CniBalanceInput *in, const CniJoint *joint, const CniJointBlock *block) {
  if (!in->works) return 0;
  const CnJointAxis *axis = &joint->def.axes[block->axis];
  if (block->part == CNI_PART_MOTOR) return in->works->motors_known || cni_joint_is_servo(axis);
  return (block->part == CNI_PART_LOWER || block->part == CNI_PART_UPPER) && cni_axis_is_soft(axis);
}

// With the rows where the step ends in place of those where it began.
static void turn_rows(const Sum *s, const CniJoint *joint, const CniJointPlace *place,
                      const CniJointBlock *blocks, const CnBalancePart *parts, int32_t count,
                      int32_t first) {
  const CniBalanceInput *in = s->in;
  CniJointPlace now;
  cni_joint_at(joint, in->pose_new, &now);
  for (int32_t k = 0; k < count; k++)
    for (int32_t r = 0; r < blocks[k].dim && !is_known(in, joint, &blocks[k]); r++) {
      double g = in->answer->g[in->problem->blocks[first + k].row + r] * blocks[k].scale[r];
      const CniJointRow *old = cni_joint_block_row(&blocks[k], r, place);
      const CniJointRow *new = cni_joint_block_row(&blocks[k], r, &now);
      double rates[2];
      for (int led = 0; led < 2; led++) {
        CnTwist a = end_of(in, joint->body_a, led), b = end_of(in, joint->body_b, led);
        rates[led] = cni_joint_rate(&now, new, &a, &b) - cni_joint_rate(place, old, &a, &b);
      }
      s->out->parts[parts[k]].energy += 0.5 * g * (rates[0] + rates[1]);
      s->out->parts[CN_BALANCE_DRIVES].energy -= 0.5 * g * rates[1];
    }
}

// A rotor gets A (x'1 - x'0) in the step, whatever its force was at one time or other.
static void turn_rotors(const Sum *s, const CniJoint *joint, const CniJointPlace *place,
                        const CniJointBlock *blocks, int32_t count, int32_t first) {
  const CniBalanceInput *in = s->in;
  CniJointEnd a, b, a_new, b_new;
  CniJointPlace now;
  cni_joint_ends(joint, in->pose, in->twist, &a, &b);
  cni_joint_ends(joint, in->pose_new, in->end, &a_new, &b_new);
  cni_joint_between(joint, &a_new, &b_new, &now);
  for (int32_t k = 0; k < count; k++) {
    if (blocks[k].part != CNI_PART_ARMATURE) continue;
    int32_t axis = blocks[k].axis;
    double g = in->answer->g[in->problem->blocks[first + k].row] * blocks[k].scale[0];
    double old = cni_joint_rate(place, &place->axes[axis], &a.twist, &b.twist);
    double rate = cni_joint_rate(&now, &now.axes[axis], &a_new.twist, &b_new.twist);
    double miss = joint->def.axes[axis].armature * (rate - old) + g;
    s->out->parts[CN_BALANCE_DRIVES].energy -= 0.5 * (old + rate) * miss;
  }
}

// An impulse on a body, from the loads to the drives.
static void move_push(const Sum *s, int32_t body, CnVec3 push, CnVec3 arm, CnVec3 turn) {
  const CniBalanceInput *in = s->in;
  if (!has_mass(in, body)) return;
  CnTwist mean = mean_twist(in->twist[body], velocity_of(in->answer, body));
  CnVec3 spin = cn_add(cn_cross(arm, push), turn);
  CnVec3 angular = cn_add(cn_cross(in->pose[body].position, push), spin);
  double energy = cn_dot(push, mean.velocity) + cn_dot(spin, mean.spin);
  add(&s->out->parts[CN_BALANCE_DRIVES], push, angular, in->works ? 0 : energy);
  add(&s->out->parts[CN_BALANCE_LOADS], cn_neg(push), cn_neg(angular), -energy);
}

// Motors that give an effort have no rows: they are in the free velocities.
static void move_efforts(const Sum *s, const CniJoint *joint, const CniJointPlace *place) {
  for (int32_t k = 0; k < place->axis_count; k++) {
    double h = s->in->time_step;
    double effort = h * cni_drive_effort(s->in->model, &joint->def.axes[k], s->in->time, h);
    if (effort == 0) continue;
    CnVec3 push = cn_scale(effort, place->axes[k].linear);
    CnVec3 turn = cn_scale(effort, place->axes[k].angular);
    move_push(s, joint->body_b, push, place->arm_b, turn);
    move_push(s, joint->body_a, cn_neg(push), place->arm_a, cn_neg(turn));
  }
}

// Did the bodies come with speeds that the joint does not allow, more than its turning in a step, or
// gravity, could leave? Then what it takes is a blow.
static int is_blow(const Sum *s, const CniJoint *joint, const CniJointPlace *place,
                   const CniJointBlock *block) {
  const CniBalanceInput *in = s->in;
  CnTwist a = start_of(in, joint->body_a), b = start_of(in, joint->body_b);
  double h = in->time_step, turn = cn_norm(a.spin) + cn_norm(b.spin);
  double reach = cn_norm(place->arm_a) + cn_norm(place->arm_b);
  CnVec3 apart = cn_sub(cn_add(b.velocity, cn_cross(b.spin, place->arm_b)),
                        cn_add(a.velocity, cn_cross(a.spin, place->arm_a)));
  double slow = in->restitution_threshold + h * turn * (cn_norm(apart) + turn * reach);
  for (int32_t r = 0; r < block->dim; r++) {
    const CniJointRow *row = cni_joint_block_row(block, r, place);
    double slow_turn = cn_max(h * turn * turn, in->restitution_threshold / block->scale[r]);
    if (fabs(cni_joint_rate(place, row, &a, &b)) > (row->turns ? slow_turn : slow)) return 1;
  }
  return 0;
}

// Does a motor without a bound find its coordinate at another speed than it wants? It makes it that at once.
static int is_jerk(const Sum *s, const CniJoint *joint, const CniJointPlace *place,
                   const CniJointBlock *block) {
  const CniBalanceInput *in = s->in;
  const CnJointAxis *axis = &joint->def.axes[block->axis];
  if (block->part != CNI_PART_MOTOR || block->set.kind != CN_BLOCK_BILATERAL) return 0;
  CnTwist a = start_of(in, joint->body_a), b = start_of(in, joint->body_b);
  double target[3], rate = cni_joint_rate(place, &place->axes[block->axis], &a, &b);
  cni_joint_target(in->model, axis, in->time, target);
  double wanted = target[axis->drive == CN_DRIVE_POSITION];
  return fabs(rate - wanted) > JERK * (fabs(rate) + fabs(wanted));
}

// ---- all of a joint ----

static void joint_terms(Sum *s, int32_t i) {
  const CniBalanceInput *in = s->in;
  const CniJoint *joint = &in->model->joints[i];
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  CnBalancePart parts[CNI_JOINT_BLOCKS];
  CniJointPlace place;
  int32_t first = in->joint_blocks[i];
  cni_joint_at(joint, in->pose, &place);
  move_efforts(s, joint, &place);
  if (in->joint_blocks[i + 1] == first) return;
  int32_t count = cni_joint_list(in->problem, joint, &place, in->time_step, blocks);
  for (int32_t k = 0; k < count; k++) {
    parts[k] = cni_joint_part(&blocks[k]);
    if (parts[k] == CN_BALANCE_JOINTS && is_blow(s, joint, &place, &blocks[k])) {
      parts[k] = CN_BALANCE_IMPACTS;
      s->blow = 1;
    }
    s->jerked |= in->by_quadrature && is_jerk(s, joint, &place, &blocks[k]);
    double before = s->out->parts[parts[k]].energy;
    double drives = s->out->parts[CN_BALANCE_DRIVES].energy;
    add_block(s, first + k, parts[k]);
    cni_soft_work(in, joint, &place, &blocks[k],
                  in->answer->g[in->problem->blocks[first + k].row] * blocks[k].scale[0],
                  s->out->parts[parts[k]].energy - before);
    if (!is_known(in, joint, &blocks[k])) continue;
    s->out->parts[CN_BALANCE_DRIVES].energy = drives;
    s->out->parts[parts[k]].energy = before;
  }
  if (!in->by_quadrature) return;
  turn_rows(s, joint, &place, blocks, parts, count, first);
  turn_rotors(s, joint, &place, blocks, count, first);
}

// ---- the drift: joints, and springs after it ----

static void late_terms(const Sum *s, int32_t i) {
  const CniBalanceInput *in = s->in;
  CnTwist mean = mean_twist(cni_before_late(in, i), in->end[i]);
  CnVec3 push = in->late[i].velocity, turn = in->late[i].spin;
  add(&s->out->parts[CN_BALANCE_SPRINGS], push,
      cn_add(cn_cross(in->pose_new[i].position, push), turn),
      cn_dot(push, mean.velocity) + cn_dot(turn, mean.spin));
}

// What springs then do to a support comes from the one who moves it.
static void late_led(const Sum *s, int32_t i) {
  const CniBalanceInput *in = s->in;
  double work = cn_dot(in->late[i].velocity, in->twist[i].velocity) +
                cn_dot(in->late[i].spin, in->twist[i].spin);
  s->out->parts[CN_BALANCE_SPRINGS].energy += work;
  s->out->parts[CN_BALANCE_DRIVES].energy -= work;
}

// Change less all parts.
static CnBalanceTerm what_is_left(const CnStepBalance *balance) {
  CnBalanceTerm left = balance->change;
  for (int32_t k = 0; k < CN_BALANCE_PART_COUNT; k++)
    add(&left, cn_neg(balance->parts[k].momentum), cn_neg(balance->parts[k].angular_momentum),
        -balance->parts[k].energy);
  return left;
}

CnStatus cni_balance(const CniBalanceInput *in, CnStepBalance *balance) {
  Sum s = {.in = in, .out = balance};
  const CnProblem *p = in->problem;
  const CniModel *model = in->model;
  *balance = (CnStepBalance){0};
  for (int32_t f = 0; f < FIELDS; f++)
    CNI_TRY(cni_arena_array(in->arena, 6 * (int64_t)p->group_count, sizeof(double), &s.fields[f]));
  if (in->rounds > 0) {
    CNI_TRY(cni_arena_array(in->arena, p->group_count, sizeof *s.impulses, &s.impulses));
    for (int32_t i = 0; i < p->block_count; i++)
      cni_storages[p->blocks[i].storage].momentum(
          p, &p->blocks[i], &in->answer->g[p->blocks[i].row], (double *)s.impulses);
  }
  for (int32_t i = 0; i < model->body_count; i++) {
    fill_fields(&s, i);
    if (in->late && is_led(in, i)) late_led(&s, i);
    if (!has_mass(in, i)) continue;
    change_of(in, i, &in->from[i], &in->start[i], &in->pose_new[i], &in->end[i], &balance->change);
    body_terms(&s, i);
    if (in->late) late_terms(&s, i);
  }
  int32_t couplings = in->joint_blocks[0] - model->coupling_count;
  for (int32_t i = 0; i < in->joint_blocks[0]; i++)
    add_block(&s, i,
              i < couplings ? CN_BALANCE_SPRINGS
                            : coupling_part(&s, i, &model->couplings[i - couplings]));
  for (int32_t i = 0; i < model->joint_count; i++) joint_terms(&s, i);
  for (int32_t i = in->joint_blocks[model->joint_count]; i < p->block_count; i++)
    add_block(&s, i, CN_BALANCE_PART_COUNT);

  for (int32_t k = 0; in->drift && k < CN_BALANCE_PART_COUNT; k++)
    add(&balance->parts[k], in->drift[k].momentum, in->drift[k].angular_momentum,
        in->drift[k].energy);
  if (in->works) {
    balance->parts[CN_BALANCE_SPRINGS].energy = in->works->springs;
    balance->parts[CN_BALANCE_DRIVES].energy += in->works->drives;
    if (in->works->motors_known) balance->parts[CN_BALANCE_DRIVES].energy += in->works->motors;
    balance->parts[CN_BALANCE_IMPACTS].energy += in->works->limits;
    if (in->soft) in->soft->limits = in->works->limits;
    balance->parts[CN_BALANCE_LOADS].energy = in->works->loads;
  }
  if (in->by_quadrature) {
    balance->parts[CN_BALANCE_SCHEME] = (CnBalanceTerm){0};
    CnBalanceTerm left = what_is_left(balance);
    CnBalancePart part = s.blow     ? CN_BALANCE_IMPACTS
                         : s.jerked ? CN_BALANCE_DRIVES
                                    : CN_BALANCE_SCHEME;
    add(&balance->parts[part], left.momentum, left.angular_momentum, left.energy);
  }
  balance->residual = what_is_left(balance);
  return CN_OK;
}
