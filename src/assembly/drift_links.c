// SPDX-License-Identifier: Apache-2.0
// What takes part in the drift on joints: bodies, rigid joints with their locked directions, the
// coordinates that motors, dry friction and limits hold, couplings; and how far they are from where
// they are to be. The motion itself is in drift_joints.c.
#include "assembly/drift_private.h"

#include "core/error.h"
#include "core/math.h"

#define LINES CNI_DRIFT_LINES
#define TURNS 1e-13    // rad
#define HINGES 500     // times that much is let be at hinges, which are many
#define SPEEDS 1e-9    // rad/s, m/s: of motors
#define ROUNDING 2e-15 // of the positions
#define APART 1e4      // error, in units of what may be left, that is none of round-off

static int moves(const CniModel *model, const CniJoint *joint) {
  return (joint->body_a >= 0 && cni_has_mass(&model->mass[joint->body_a])) ||
         (joint->body_b >= 0 && cni_has_mass(&model->mass[joint->body_b]));
}

static int32_t locked_rows(const CnJointDef *def) {
  int soft = def->stiffness > 0 || def->damping > 0;
  return soft ? 0 : cni_joint_locked_count(def);
}

// A point that is locked in all directions has rows along axes that stay, not those of a body, so that
// its force keeps its direction when the bodies turn: those of the world, or of hinges their own where the step
// begins, the axle last, along which loops of hinges depend on each other. It acts at b's point on both.
static int locks_point(const CniJointPlace *place) {
  const CniJointRow *rows = place->locked;
  if (place->locked_count < 3) return 0;
  for (int32_t r = 0; r < 3; r++)
    if (rows[r].turns || cn_norm2(rows[r].angular) > 0) return 0;
  return 1;
}

// How far the points are apart, from rows along any three axes, and the row of an axis of the world.
static CnVec3 apart(const CniJointPlace *place) {
  const CniJointRow *rows = place->locked;
  CnVec3 d = cn_scale(rows[0].value, rows[0].linear);
  return cn_madd(cn_madd(d, rows[1].value, rows[1].linear), rows[2].value, rows[2].linear);
}

static CniJointRow world_row(CnVec3 d, int32_t r) {
  CnVec3 axis = {r == 0, r == 1, r == 2};
  return (CniJointRow){.linear = axis, .value = r == 0 ? d.x : r == 1 ? d.y : d.z};
}

// Locked directions, and a row for every coordinate that something may hold.
static int32_t most_rows(const CniModel *model, const CniJoint *joint) {
  if (!moves(model, joint)) return 0;
  int32_t rows = locked_rows(&joint->def) + cni_joint_hold_count(&joint->def);
  return rows < CNI_JOINT_LOCKED ? rows : CNI_JOINT_LOCKED;
}

int cni_drift_takes(const CniModel *model, int32_t body) {
  for (int32_t j = model->bodies[body].first_joint; j >= 0;) {
    const CniJoint *joint = &model->joints[j];
    if (cni_has_mass(&model->mass[body]) &&
        (locked_rows(&joint->def) > 0 || cni_joint_hold_count(&joint->def) > 0 ||
         cni_drift_rotor_count(model, joint) > 0))
      return 1;
    j = joint->body_a == body ? joint->next_a : joint->next_b;
  }
  return 0;
}

// rotors: how many rows they have.
static CnStatus take(CniDrift *d, int32_t *rotor_count) {
  const CniModel *model = d->in->model;
  *rotor_count = 0;
  for (int32_t i = 0; i < model->joint_count; i++) {
    int32_t rows = most_rows(model, &model->joints[i]);
    int32_t rotors = cni_drift_rotor_count(model, &model->joints[i]);
    d->link_count += (rows > 0) + (rotors > 0);
    *rotor_count += rotors;
    d->row_count += rows + rotors;
    d->entry_count += 2 * (rows + rotors);
  }
  d->pair_count = d->link_count;
  d->line_count = d->row_count;
  for (int32_t i = 0; i < model->coupling_count; i++) {
    int32_t terms = model->couplings[i].def.term_count;
    d->link_count++;
    d->row_count++;
    d->pair_count += terms;
    d->line_count += terms;
    d->entry_count += 2 * terms;
  }
  CniArena *arena = d->in->arena;
  CNI_TRY(CNI_TAKE(arena, d->link_count, d->links));
  CNI_TRY(CNI_TAKE(arena, d->pair_count, d->pairs));
  CNI_TRY(CNI_TAKE(arena, d->line_count, d->lines));
  CNI_TRY(CNI_TAKE(arena, d->line_count, d->means));
  CNI_TRY(CNI_TAKE(arena, 2 * d->pair_count, d->bodies));
  CNI_TRY(CNI_TAKE(arena, d->row_count, d->holds));
  double **numbers[] = {&d->target, &d->open,  &d->left, &d->residual,  &d->impulse,
                        &d->change, &d->loose, &d->soft, &d->compliance};
  for (int32_t i = 0; i < 9; i++) CNI_TRY(CNI_TAKE(arena, d->row_count, *numbers[i]));
  return CN_OK;
}

static int32_t number(CniDrift *d, int32_t *place_of, int32_t body, int32_t link) {
  const CniModel *model = d->in->model;
  if (body < 0 || !cni_has_mass(&model->mass[body])) return -1;
  if (place_of[body] > 0) return place_of[body] - 1;
  CnVec3 spin = cn_unrotate(d->in->pose[body].rotation, d->in->twist[body].spin);
  CnVec3 j = cni_model_principal(model, body);
  double mass = model->mass[body].mass;
  // a flywheel's bearing is at its centre of mass
  d->bodies[d->body_count] = (CniDriftBody){.body = body,
                                            .owner = link,
                                            .mass = mass,
                                            .size = sqrt(cn_max(j.x, cn_max(j.y, j.z)) / mass),
                                            .distance = cn_norm(d->in->pose[body].position),
                                            .inertia = j,
                                            .spin = spin,
                                            .middle = spin};
  place_of[body] = ++d->body_count;
  return d->body_count - 1;
}

// How far the arms of a joint are from the axes about which its bodies turn.
static void look_across(const CniDrift *d, const CniDriftPair *pair) {
  for (int32_t side = 0; side < 2; side++) {
    int32_t i = side ? pair->b : pair->a;
    if (i < 0) continue;
    CniDriftBody *body = &d->bodies[i];
    CnVec3 w = d->in->twist[body->body].spin, r = pair->arms[side];
    double both = cn_norm2(w) * cn_norm2(r);
    if (both > 0) body->across = cn_max(body->across, cn_norm2(cn_cross(w, r)) / both);
  }
}

static double distance_of(const CniDrift *d, int32_t number, int32_t body) {
  if (number >= 0) return d->bodies[number].distance;
  return body < 0 ? 0 : cn_norm(d->in->pose[body].position);
}
static double size_of(const CniDrift *d, int32_t number) {
  return number < 0 ? 0 : d->bodies[number].size;
}

// The bodies of a joint; returns what may be left of its errors, m.
static double add_pair(CniDrift *d, int32_t *place_of, int32_t link, const CniJoint *joint,
                       CnVec3 arm_a, CnVec3 arm_b) {
  int32_t a = number(d, place_of, joint->body_a, link);
  int32_t b = number(d, place_of, joint->body_b, link);
  d->pairs[d->pair_count++] = (CniDriftPair){.a = a, .b = b, .arms = {arm_a, arm_b}};
  return LINES * (cn_norm(arm_a) + cn_norm(arm_b) + size_of(d, a) + size_of(d, b)) +
         ROUNDING * (distance_of(d, a, joint->body_a) + distance_of(d, b, joint->body_b));
}

// A row is to be where it is, less an error. What is more than round-off goes away after the drift, a
// share of it in a step and no faster than a body falls along the size of the joint. Round-off of a
// row that holds to one side stays: a speed from it would stay as well.
static void aim_row(CniDrift *d, double value, double error, double may, double size, int turns,
                    const CniHold *hold) {
  const CniDriftInput *in = d->in;
  double part = in->stabilisation * error, speed = in->recovery_speed;
  d->target[d->row_count] = hold && hold->side ? value : value - part;
  d->change[d->row_count] = d->target[d->row_count] - value;
  d->open[d->row_count] = 0;
  d->loose[d->row_count] = hold && !hold->active;
  d->impulse[d->row_count] = hold ? hold->impulse : 0;
  d->soft[d->row_count] = hold ? hold->compliance : 0;
  if (hold) d->holds[d->row_count] = *hold;
  if (fabs(error) > APART * may) {
    double g = cn_norm(in->gravity);
    if (speed < 0) speed = g > 0 ? sqrt(g * size) : INFINITY;
    double most = in->time_step * speed / (turns ? size : 1);
    d->target[d->row_count] = value;
    d->change[d->row_count] = 0;
    d->open[d->row_count] = cn_clamp(part, -most, most);
    d->open_count++;
  }
  d->row_count++;
}

static void add_line(CniDrift *d, const CniJointRow *row, int locked) {
  CniDriftLine line = {row->linear, row->angular}, none = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  d->lines[d->line_count] = line;
  d->means[d->line_count++] = locked ? line : none; // efforts act once the arms are known
}

// Limits are watched: they want to be looked at after the last step of Newton's method.
static int is_limited(const CnJointDef *def) {
  int any = 0;
  for (int32_t k = 0; k < CN_JOINT_AXES; k++)
    any |= def->axes[k].lower > -INFINITY || def->axes[k].upper < INFINITY;
  return any;
}

static void add_joint(CniDrift *d, int32_t *place_of, int32_t i) {
  const CniDriftInput *in = d->in;
  const CniJoint *joint = &in->model->joints[i];
  const CniJointKind *kind = cni_joint_kind(joint->def.kind);
  int32_t rows = most_rows(in->model, joint), at = d->row_count;
  if (rows == 0) return;
  CniJointPlace own;
  CniHold holds[CN_JOINT_AXES];
  const CniJointPlace *place = cni_joint_seen(in->model, in->places, joint, in->pose, &own);
  int32_t held = rows > locked_rows(&joint->def) ? cni_joint_holds(in, i, place, holds) : 0;
  CniDriftLink *link = &d->links[d->link_count];
  *link = (CniDriftLink){.joint = i,
                         .coupling = -1,
                         .pair = d->pair_count,
                         .pair_count = 1,
                         .row = at,
                         .dim = rows,
                         .locked = locked_rows(&joint->def),
                         .line = d->line_count,
                         .point = locks_point(place),
                         .apart = kind->apart};
  if (link->apart && !kind->curves)
    link->length =
        link->locked ? place->locked[0].value + joint->def.distance : place->axes[0].value;
  link->turns = link->point && link->locked > 0 && kind->lock_turn &&
                (rows == link->locked || (kind->free && !is_limited(&joint->def)));
  link->tolerance = add_pair(d, place_of, d->link_count, joint, place->arm_a, place->arm_b);
  double size = link->tolerance / LINES; // m
  CnVec3 gap = link->point ? apart(place) : CN_VEC3_ZERO;
  if (link->turns) { // the gap stays as it is
    d->pairs[link->pair].arms[0] = cn_sub(place->arm_a, gap);
    d->pairs[link->pair].rest[0] = gap;
  }
  for (int32_t r = 0; r < link->locked; r++) {
    CniJointRow world;
    const CniJointRow *row = &place->locked[r];
    if (link->point && !link->turns && r < 3) {
      world = world_row(gap, r);
      row = &world;
    }
    add_line(d, row, 1);
    aim_row(d, row->value, row->value, row->turns ? TURNS : link->tolerance, size, row->turns,
            NULL);
  }
  for (int32_t k = 0; k < held && d->row_count < at + rows; k++) {
    const CniJointRow *row = &place->axes[holds[k].axis];
    d->hold_count += holds[k].active || holds[k].side != 0;
    add_line(d, row, 0);
    aim_row(d, holds[k].target, holds[k].passed, row->turns ? TURNS : link->tolerance, size,
            row->turns, &holds[k]);
    d->change[d->row_count - 1] += holds[k].target - row->value;
  }
  int carries = link->locked > 0;
  for (int32_t k = 0; k < held; k++) carries |= holds[k].active;
  if (carries) look_across(d, &d->pairs[link->pair]);
  d->link_count++;
}

static void add_rotors(CniDrift *d, int32_t *place_of, int32_t i) {
  const CniDriftInput *in = d->in;
  const CniJoint *joint = &in->model->joints[i];
  int32_t rows = cni_drift_rotor_count(in->model, joint);
  CniHold holds[CN_JOINT_AXES];
  CniJointPlace own;
  if (rows == 0) return;
  const CniJointPlace *place = cni_joint_seen(in->model, in->places, joint, in->pose, &own);
  CniDriftLink *link = &d->links[d->link_count];
  *link = (CniDriftLink){.joint = i,
                         .coupling = -1,
                         .pair = d->pair_count,
                         .pair_count = 1,
                         .row = d->row_count,
                         .dim = rows,
                         .line = d->line_count,
                         .rotor = 1,
                         .apart = cni_joint_kind(joint->def.kind)->apart};
  link->tolerance = add_pair(d, place_of, d->link_count, joint, place->arm_a, place->arm_b);
  cni_drift_rotors(d, joint, place, holds);
  for (int32_t k = 0; k < rows; k++) {
    const CniJointRow *row = &place->axes[holds[k].axis];
    add_line(d, row, 0);
    aim_row(d, holds[k].target, 0, link->tolerance, link->tolerance / LINES, row->turns, &holds[k]);
  }
  d->hold_count += rows;
  d->link_count++;
}

static void add_coupling(CniDrift *d, int32_t *place_of, int32_t i) {
  const CniDriftInput *in = d->in;
  CniCouplingTerm terms[CN_COUPLING_TERMS];
  CniDriftLink *link = &d->links[d->link_count];
  double value = cni_coupling_terms(in->model, &in->model->couplings[i], in->pose, terms);
  *link = (CniDriftLink){.joint = -1,
                         .coupling = i,
                         .pair = d->pair_count,
                         .pair_count = in->model->couplings[i].def.term_count,
                         .row = d->row_count,
                         .dim = 1,
                         .line = d->line_count};
  double scale = 0, size = 0;
  for (int32_t k = 0; k < link->pair_count; k++) {
    const CniCouplingTerm *t = &terms[k];
    double one =
        add_pair(d, place_of, d->link_count, &in->model->joints[t->joint], t->arm_a, t->arm_b);
    double left = t->row.turns ? TURNS + ROUNDING * fabs(t->row.value) : one;
    link->tolerance += fabs(t->slope) * left;
    scale = cn_max(scale, fabs(t->slope));
    size = cn_max(size, one / LINES);
    CniJointRow row = {cn_scale(t->slope, t->row.linear), cn_scale(t->slope, t->row.angular), 0, 0,
                       0};
    add_line(d, &row, 0);
  }
  if (!(scale > 0)) link->tolerance = TURNS;
  CniHold hold = cni_coupling_hold(in, i, value);
  d->hold_count++;
  aim_row(d, hold.target, hold.passed, link->tolerance, size, terms[0].row.turns, &hold);
  d->link_count++;
}

CnStatus cni_drift_list(CniDrift *d) {
  const CniModel *model = d->in->model;
  int32_t *place_of, rotors;
  CNI_TRY(take(d, &rotors));
  CNI_TRY(cni_arena_array(d->in->arena, model->body_count, sizeof *place_of, &place_of));
  d->link_count = d->pair_count = d->line_count = d->row_count = 0;
  for (int32_t i = 0; i < model->joint_count; i++) add_joint(d, place_of, i);
  for (int32_t i = 0; i < model->coupling_count; i++) add_coupling(d, place_of, i);
  for (int32_t i = 0; rotors > 0 && i < model->joint_count; i++) add_rotors(d, place_of, i);
  return CN_OK;
}

// ---- where they are ----

static CnVec3 mean(CnVec3 a, CnVec3 b) { return cn_scale(0.5, cn_add(a, b)); }

CnVec3 cni_drift_mean_arm(const CniDrift *d, const CniDriftPair *pair, int32_t side) {
  int32_t i = d->bodies[side ? pair->b : pair->a].body;
  CnVec3 in_body = cn_unrotate(d->in->pose[i].rotation, pair->arms[side]);
  return mean(pair->arms[side], cn_rotate(d->in->pose_new[i].rotation, in_body));
}

static void mean_pair(const CniDrift *d, int32_t i, CnVec3 arm_a, CnVec3 arm_b) {
  CniDriftPair *pair = &d->pairs[i];
  pair->mean_arms[0] = d->closing ? arm_a : mean(pair->arms[0], arm_a);
  pair->mean_arms[1] = d->closing ? arm_b : mean(pair->arms[1], arm_b);
  for (int32_t side = 0; side < 2 && !d->closing; side++)
    if ((side ? pair->b : pair->a) >= 0)
      pair->rest[side] = cn_sub(pair->mean_arms[side], cni_drift_mean_arm(d, pair, side));
}

static void mean_line(const CniDrift *d, int32_t line, CnVec3 linear, CnVec3 angular) {
  const CniDriftLine *old = &d->lines[line];
  d->means[line] = d->closing
                       ? (CniDriftLine){linear, angular}
                       : (CniDriftLine){mean(old->linear, linear), mean(old->angular, angular)};
}

// A line of another length at the end (a rope that becomes taut): the mean of the vectors between the
// points, so that force and reaction act along it; its product with their change is that of the length.
static void mean_straight(const CniDrift *d, const CniDriftLink *link, int32_t row, CnVec3 unit,
                          double length) {
  double sum = link->length + length;
  CnVec3 old = d->lines[link->line + row].linear;
  if (d->closing || !(sum > 0)) return;
  d->means[link->line + row].linear =
      cn_scale(1 / sum, cn_madd(cn_scale(link->length, old), length, unit));
}

// The row has a value; returns what is left in units of what may be.
static double note(const CniDrift *d, int32_t row, double value, double may) {
  d->left[row] = value - d->target[row];
  d->residual[row] = d->loose[row] > 0 ? 0 : d->left[row];
  return fabs(d->residual[row]) / may;
}

static double look_at_coupling(const CniDrift *d, const CniDriftLink *link, int follow) {
  const CniDriftInput *in = d->in;
  CniCouplingTerm terms[CN_COUPLING_TERMS];
  const CniCoupling *c = &in->model->couplings[link->coupling];
  double value = cni_coupling_terms(in->model, c, in->pose_new, terms);
  for (int32_t k = 0; k < link->pair_count; k++) {
    const CniCouplingTerm *t = &terms[k];
    mean_pair(d, link->pair + k, t->arm_a, t->arm_b);
    if (follow)
      mean_line(d, link->line + k, cn_scale(t->slope, t->row.linear),
                cn_scale(t->slope, t->row.angular));
  }
  return note(d, link->row, value, link->tolerance);
}

// A coordinate that is held: where it is, whole turns counted.
static double look_at_hold(const CniDrift *d, const CniDriftLink *link, int32_t r,
                           const CniJointRow *now, int follow) {
  const CniHold *hold = &d->holds[link->row + r];
  double target = d->target[link->row + r], value = now->value;
  int limits = hold->part == CNI_PART_LOWER || hold->part == CNI_PART_UPPER;
  if (now->wraps == 1) value = cni_joint_nearest(value, limits ? hold->near : target);
  if (follow) mean_line(d, link->line + r, now->linear, now->angular);
  double may = TURNS + ROUNDING * fabs(target); // what is left at a limit stays, and adds up
  double keeps = cn_clamp(SPEEDS * d->in->time_step, may, HINGES * may);
  return note(d, link->row + r, value, hold->side ? may : keeps);
}

// The rows after those of the point.
static double look_at_turn_rows(const CniDrift *d, const CniDriftLink *link,
                                const CniJointSight *sight, int follow) {
  const CniJointKind *kind = cni_joint_kind(sight->def->kind);
  double worst = 0, values[3];
  CniJointPlace place;
  place.locked_count = place.axis_count = 0;
  if (follow > 1 || !kind->turn_values) {
    kind->lock_turn(sight, &place);
    for (int32_t r = 3; r < link->locked; r++) {
      const CniJointRow *now = &place.locked[r - 3];
      if (follow > 1) mean_line(d, link->line + r, now->linear, now->angular);
      values[r - 3] = now->value;
    }
  } else {
    kind->turn_values(sight, values);
  }
  for (int32_t r = 3; r < link->locked; r++)
    worst = cn_max(worst, note(d, link->row + r, values[r - 3], HINGES * TURNS));
  if (link->dim > link->locked) kind->free(sight, &place);
  for (int32_t r = link->locked; r < link->dim; r++) {
    const CniJointRow *now = &place.axes[d->holds[link->row + r].axis];
    worst = cn_max(worst, look_at_hold(d, link, r, now, follow));
  }
  return worst;
}

// A point, whose rows stay, and turns: a hinge, with a motor or without.
static double look_at_turns(const CniDrift *d, const CniDriftLink *link, int follow) {
  const CniJoint *joint = &d->in->model->joints[link->joint];
  CniJointSight sight;
  cni_joint_sight_at(joint, d->in->pose_new, &sight);
  CnVec3 gap = cn_sub(sight.at_b.position, sight.at_a.position);
  CniDriftPair *pair = &d->pairs[link->pair];
  CnVec3 arm_a = cn_add(sight.arm_a, gap);
  pair->mean_arms[0] = d->closing ? arm_a : cn_add(mean(pair->arms[0], sight.arm_a), pair->rest[0]);
  pair->mean_arms[1] = d->closing ? sight.arm_b : mean(pair->arms[1], sight.arm_b);
  double worst = 0;
  for (int32_t r = 0; r < 3; r++)
    worst = cn_max(worst, note(d, link->row + r, cn_dot(d->lines[link->line + r].linear, gap),
                               HINGES * link->tolerance));
  return cn_max(worst, look_at_turn_rows(d, link, &sight, follow));
}

double cni_drift_bent(const CniDrift *d) {
  double most = 0;
  for (int32_t i = 0; i < d->link_count; i++) {
    const CniDriftLink *link = &d->links[i];
    for (int32_t r = 0; r < link->dim && !link->rotor; r++) {
      double size = link->point && r < 3 ? link->tolerance / LINES : 1;
      most = cn_max(most, fabs(d->residual[link->row + r]) / size);
    }
  }
  return most;
}

double cni_drift_look(const CniDrift *d, const CniDriftLink *link, int follow) {
  if (link->turns) return look_at_turns(d, link, follow);
  if (link->joint < 0) return look_at_coupling(d, link, follow);
  CniJointPlace place;
  const CniJoint *joint = &d->in->model->joints[link->joint];
  if (link->dim == link->locked)
    cni_joint_locked_at(joint, d->in->pose_new, &place);
  else
    cni_joint_at(joint, d->in->pose_new, &place);
  mean_pair(d, link->pair, place.arm_a, place.arm_b);
  CnVec3 gap = link->point ? apart(&place) : CN_VEC3_ZERO;
  double worst = 0;
  for (int32_t r = 0; r < link->dim; r++) {
    const CniHold *hold = cni_drift_hold(d, link, r);
    CniJointRow world = world_row(gap, r);
    const CniJointRow *now = hold                   ? &place.axes[hold->axis]
                             : link->point && r < 3 ? &world
                                                    : &place.locked[r];
    double value = now->value, target = d->target[link->row + r];
    int limits = hold && (hold->part == CNI_PART_LOWER || hold->part == CNI_PART_UPPER);
    if (link->rotor)
      value = cni_drift_rotor_way(d, link, &place, r);
    else if (now->wraps == 1)
      value = cni_joint_nearest(value, limits ? hold->near : target);
    if (follow || link->apart) mean_line(d, link->line + r, now->linear, now->angular);
    if (link->length > 0)
      mean_straight(d, link, r, now->linear, now->value + (hold ? 0 : joint->def.distance));
    double may = now->turns ? TURNS + (hold ? ROUNDING * fabs(target) : 0) : link->tolerance;
    worst = cn_max(worst, note(d, link->row + r, value, may));
  }
  return worst;
}
