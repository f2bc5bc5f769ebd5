// SPDX-License-Identifier: Apache-2.0
// The friction problem at one instant (drive.h): which forces within their cones and bounds keep closed
// contacts and bounds from moving, and where none can. It is posed for accelerations and for impacts,
// over all of them at once, and solved by a solver of the table.
//
// Where something slips already, that decides the direction of its force: the slip is added to its
// acceleration, so much larger than all of these that the cone's border is the only answer.
#include "integrator/events/drive.h"

#include "core/error.h"
#include "core/vec.h"

#include <string.h>

double cni_slip_zero(const CniDrive *d) {
  return (10 * CNI_SPEED_ZERO + 10 * d->def.tolerance) * (1 + cni_largest(d->v, d->motion.v_count));
}

double cni_slip_slow(const CniDrive *d) {
  return 0.03 * sqrt(d->def.tolerance) * (1 + cni_largest(d->v, d->motion.v_count));
}

// A slip of u turns into the direction of its force within u/(mu L W). In steps of a fixed length h that is none where
// friction turns it by more than one within h: its direction is then that of the end of the step, and is kept.
#define STIFF 0.5

static double fixed_step(const CniDrive *d) {
  double step = d->def.step / cni_time_unit(d->motion.eq), whole = d->t_end - d->t_start;
  return step > 0 ? cn_min(step, whole) : whole;
}

double cni_slip_stiff(const CniDrive *d) {
  return d->def.tolerance > 0 ? cni_slip_slow(d) : STIFF * fixed_step(d) * d->most;
}

// Where a slip in space has come to its end, some of its velocity is left across the direction in which
// it was stopped, and would be stopped next, and so on.
static double part_zero(const CniDrive *d, int32_t contact, int32_t part) {
  double zero = cni_slip_zero(d);
  if (contact != d->stops || part != d->stops_part) return zero;
  return cn_max(zero, cni_slip_slow(d));
}

// On which side of its place a servo is, 1 or -1; 0: it is there, at rest. Near it that is the side to
// which it goes.
static double servo_side(const CniDrive *d, int32_t contact, double speed) {
  int32_t gap = cni_servo_gap(d->probe.eq, contact - d->probe.eq->contact_count);
  double x = gap < 0 ? 0 : d->probe.gaps[gap], near = CNI_GAP_CLOSED + d->def.tolerance;
  if (gap < 0 || (fabs(x) <= near && fabs(speed) <= cni_slip_zero(d))) return 0;
  int stays = fabs(x) > near || (fabs(x) > CNI_SERVO_CROSSES && x * speed < 0);
  return (stays ? x : speed) < 0 ? -1 : 1;
}

#define SLIDES 1e3     // slip there is, over all accelerations: it decides the friction's direction
#define SLIDES_ON 1e7  // likewise: what even that cannot move is locked
#define AT_LIMIT 1e-3  // of its largest force: friction of what slides is nearer to it
#define NO_FORCE 1e-10 // what a force does to its own contact, of the largest acceleration and one
#define NO_SLIP 1e-8   // accelerations of tangents below it: the contact sticks

// What a unit force of a row does to the row itself.
static double own_response(const CniClash *clash, int32_t row) {
  for (int32_t e = clash->start[row]; e < clash->start[row + 1]; e++)
    if (clash->column[e] == row) return clash->w[e];
  return 0;
}

// Is the velocity at the end of a step of fixed length to tell the direction of a slip?
static int is_stiff(const CniDrive *d, CniPartRows rows, double speed) {
  return d->ahead && rows.count > 1 && speed < cni_slip_stiff(d);
}

// Where something slips, that decides the direction of its force.
static void add_slide(CniDrive *d, int32_t contact, const CniMotion *p, int32_t row, double most) {
  for (int32_t part = 0; part < CNI_PARTS; part++) {
    CniPartRows rows = cni_part_rows(d, contact, part);
    int32_t at = row + rows.row - p->list[row];
    double speed = 0, zero = part_zero(d, contact, part);
    for (int32_t k = 0; k < rows.count; k++) speed += d->speeds[at + k] * d->speeds[at + k];
    speed = sqrt(speed);
    double side = contact < p->eq->contact_count ? 0 : servo_side(d, contact, d->speeds[at]);
    if (side != 0) {
      d->clash.q[at] += d->slides * most * side;
      return;
    }
    double by = is_stiff(d, rows, speed) ? 1 / fixed_step(d) : d->slides * most / speed;
    for (int32_t k = 0; speed > zero && k < rows.count; k++)
      d->clash.q[at + k] += by * d->speeds[at + k];
  }
}

// The right side of the friction problem; *most: largest acceleration, and one.
static void pose_problem(CniDrive *d, int32_t count, double *most) {
  CniMotion *p = &d->probe;
  const CnEquations *eq = p->eq;
  CniClash *clash = &d->clash;
  for (int32_t i = 0; i < p->active; i++)
    clash->q[i] = cni_motion_row(p, p->scratch_g, i, d->impulses[i], d->a);
  d->most = *most = 1 + cni_largest(clash->q, p->active);
  int32_t row = d->fixed_count;
  for (int32_t i = 0; i < count; i++) {
    add_slide(d, d->chosen[i], p, row, *most);
    row += cni_contact_rows(eq, d->chosen[i]);
  }
  for (int32_t i = 0; i < eq->bound_count; i++)
    add_slide(d, eq->contact_count + i, p, row + i, *most);
}

#define FOLLOWS 90     // repetitions for bounds that go with the forces they change
#define ANY_BOUND 1e12 // N s: holds whatever moves; a jam is looked for from there
#define FOLLOWED 1e-11 // relative change of a bound that is none

// The largest part that makes up a reaction: one that passes through zero is their round-off.
static double find_parts(const CniDrive *d, double time) {
  double most = 0;
  for (int32_t i = 0; i < d->fixed_count; i++) {
    double own = own_response(&d->clash, i);
    if (own > 0) most = cn_max(most, fabs(d->clash.q[i]) / own);
  }
  return time > 0 ? most / time : most;
}

// Bounds by the answer; returns the largest relative change.
static double follow_bounds(CniDrive *d, double t, const double *q, double time,
                            CniRepeat *repeat) {
  CniMotion *p = &d->probe;
  double most = 0, *before = d->bounds + p->eq->bound_count;
  memcpy(before, d->bounds, (size_t)p->eq->bound_count * sizeof *before);
  memset(d->all_multipliers, 0, (size_t)p->row_count * sizeof(double));
  for (int32_t i = 0; i < p->active; i++)
    d->all_multipliers[p->list[i]] = d->clash.answer.g[i] / (time > 0 ? time : 1);
  cni_least_share(&d->least, d->all_multipliers);
  p->eq->bounds(p->system->context, t, q, d->all_multipliers, !(time > 0), d->bounds);
  double least = CNI_ROUNDED * cn_max(d->parts, cni_largest(d->all_multipliers, p->row_count));
  for (int32_t i = 0; i < p->eq->bound_count; i++) {
    double change = fabs(d->bounds[i] - before[i]);
    if (change > least) most = cn_max(most, change / cn_max(d->bounds[i], before[i]));
  }
  if (most > FOLLOWED) cni_repeat(repeat);
  return most;
}

CnStatus cni_modes_solve(CniDrive *d, double t, const double *q, int32_t count, double time,
                         CnSolveReport *report) {
  const CnEquations *eq = d->probe.eq;
  int impact = !(time > 0);
  int32_t n = eq->bound_count;
  CniRepeat repeat = {n, 0, d->bounds + n, d->bounds, d->bounds + 2 * n};
  CniClash *clash = &d->clash;
  memset(d->all_multipliers, 0, (size_t)d->probe.row_count * sizeof(double));
  if (eq->bound_count > 0)
    eq->bounds(d->probe.system->context, t, q, d->all_multipliers, impact, d->bounds);
  if (eq->bound_count > 0) CNI_TRY(cni_least_at(&d->least, &d->probe, t, q));
  for (int32_t i = 0; impact && d->jam > 0 && i < eq->bound_count; i++) d->bounds[i] = ANY_BOUND;
  d->parts = find_parts(d, time);
  for (int32_t k = 0; k < FOLLOWS; k++) {
    clash->block_count = 0;
    for (int32_t i = 0; i < d->fixed_count; i++) cni_clash_block(clash, CN_BLOCK_BILATERAL, 1, 0);
    for (int32_t i = 0; i < count; i++) cni_clash_contact(clash, eq, d->chosen[i]);
    for (int32_t i = 0; i < eq->bound_count; i++)
      cni_clash_bound(clash, d->bounds[i] * (impact ? 1 : time));
    CNI_TRY(cni_clash_solve(clash, d->solver, report));
    if (!(report->certificate.error_siconos <= 1e-8))
      return cni_error(CN_STOPPED,
                       "%s: t = %.17g s: the %s of %d closed contacts and %d bounds were not found "
                       "(%s left an error of %g)",
                       d->stepper->name, t * cni_time_unit(eq),
                       time == 1 ? "accelerations" : "impulses", (int)count, (int)eq->bound_count,
                       report->solver, report->certificate.error_siconos);
    if (eq->bound_count == 0 || follow_bounds(d, t, q, time, &repeat) <= FOLLOWED) return CN_OK;
  }
  return cni_error(CN_STOPPED, "%s: t = %.17g s: friction that goes with its own reaction locks",
                   d->stepper->name, t * cni_time_unit(eq));
}

#define SOFT                                                                                       \
  1e-9 // of what a force does to its own contact: what it gives way where others do the same

// Normals that depend on each other can share their forces in many ways, and where they slide the motion
// goes with the way: a box between two jaws turns if one corner carries more than another. The share taken is
// that of points which all give way a little: corners of a face carry alike, and change together.
static CnStatus find_depends(CniDrive *d, double t, const double *q, int32_t count, int *depends) {
  int32_t n = d->fixed_count + count, kept = n;
  *depends = 0;
  if (count < 2) return CN_OK;
  CNI_TRY(cni_modes_probe(d, count, 0));
  CNI_TRY(
      cni_motion_independent(&d->probe, t, q, d->probe.list, n, CNI_SHARE_MOVES, d->rows, &kept));
  *depends = kept < n;
  return CN_OK;
}

static void soften(CniDrive *d, int32_t count) {
  CniClash *clash = &d->clash;
  int32_t row = d->fixed_count;
  for (int32_t i = 0; i < count; i++) {
    for (int32_t e = clash->start[row]; e < clash->start[row + 1]; e++)
      if (clash->column[e] == row) clash->w[e] *= 1 + SOFT;
    row += cni_contact_rows(d->probe.eq, d->chosen[i]);
  }
}

// The friction problem of the accelerations at a state, over the contacts chosen[0 .. count):
//
//     a = M^-1 (f + G^T L),  0 <= G_n a + d/dt(G_n) v _|_ L_n >= 0,
//     L_t in the disc of radius mu L_n against G_t a + d/dt(G_t) v, or against the slip there is
//
// Forces into d->all_multipliers, accelerations of the probe's rows into d->impulses.
static CnStatus find_accelerations(CniDrive *d, double t, const double *q, const double *v,
                                   int32_t count) {
  CniMotion *p = &d->probe;
  CniClash *clash = &d->clash;
  CnSolveReport report;
  double most;
  int depends;
  if (!(d->slides > 0)) d->slides = SLIDES;
  CNI_TRY(find_depends(d, t, q, count, &depends));
  CNI_TRY(cni_modes_probe(d, count, 1));
  CNI_TRY(cni_motion_curvature(p, t, q, v, d->impulses));
  CNI_TRY(cni_modes_speeds(d, t, q, v));
  if (p->eq->servo_count > 0) CNI_TRY(cni_motion_gaps(p, t, q));
  CNI_TRY(cni_motion_mass(p, t, q));
  CNI_TRY(p->eq->force(p->system->context, t, q, v, d->a));
  cni_motion_mass_solve(p, d->a);
  CNI_TRY(cni_clash_begin(clash, p, p->scratch_g, p->scratch_g));
  if (depends) soften(d, count);
  pose_problem(d, count, &most);
  CNI_TRY(cni_modes_solve(d, t, q, count, 1, &report));
  memset(d->all_multipliers, 0, (size_t)p->row_count * sizeof(double));
  for (int32_t i = 0; i < p->active; i++) {
    d->all_multipliers[p->list[i]] = clash->answer.g[i];
    d->impulses[i] = clash->answer.u[i];
  }
  cni_motion_push(p, clash->answer.g, d->a);
  return CN_OK;
}

// Does a part whose rows begin at `at` of the probe slip, by the answer? Where it was seen to give way
// (`gives_way`), being at the limit is enough: the acceleration grows from zero. `most`: its largest
// force. `side`: where a servo is.
static void find_part(CniDrive *d, CniPartRows rows, int32_t at, double most, double zero,
                      int gives_way, double side, CniContactPart *part) {
  const double *w = d->impulses + at, *g = d->clash.answer.g + at, *u = d->speeds + at;
  double speed = 0, along = 0, force = 0;
  for (int32_t k = 0; k < rows.count; k++) {
    speed += u[k] * u[k];
    along += w[k] * w[k];
    force += g[k] * g[k];
  }
  speed = sqrt(speed);
  force = sqrt(force);
  int slides = speed > zero || side != 0;
  int moves = sqrt(along) > NO_SLIP * d->most && force >= (1 - 1e-9) * most;
  part->slips = slides || moves || (gives_way && force > (1 - 1e-6) * most);
  int stiff = is_stiff(d, rows, speed);
  if (slides && side == 0 && force < (1 - (stiff ? 1e-9 : AT_LIMIT)) * most) d->locks = 1;
  // the force is against the slip that begins; one that is nothing leaves the acceleration
  for (int32_t k = 0; part->slips && k < 2; k++)
    part->direction[k] = k >= rows.count    ? 0
                         : side != 0        ? side
                         : slides && !stiff ? u[k] / speed
                         : force > 0        ? -g[k] / force
                                            : w[k] / sqrt(along);
}

// What a closed contact does whose rows begin at `row` of the probe, by the answer.
static void find_mode(CniDrive *d, int32_t contact, int32_t row, const CniFound *found) {
  CniContactMode *mode = &d->modes[contact];
  int bound = contact >= d->motion.eq->contact_count;
  double load = bound ? 1 : d->clash.answer.g[row];
  if (!bound) {
    double push = own_response(&d->clash, row) * load;
    mode->load = load;
    mode->closed = push > d->impulses[row] && push > NO_FORCE * d->most;
    if (!mode->closed) return;
  }
  for (int32_t k = 0; k < CNI_PARTS; k++) {
    CniPartRows rows = cni_part_rows(d, contact, k);
    int gives_way = found->kind == CN_EVENT_SLIP && found->contact == contact && found->part == k;
    mode->parts[k].slips = 0;
    int32_t at = row + rows.row - d->probe.list[row];
    if (rows.count > 0)
      find_part(d, rows, at, rows.friction * load, part_zero(d, contact, k), gives_way,
                bound ? servo_side(d, contact, d->speeds[at]) : 0, &mode->parts[k]);
  }
}

CnStatus cni_friction_choose(CniDrive *d, const int32_t *candidates, int32_t count,
                             const CniFound *found) {
  const CnEquations *eq = d->motion.eq;
  CnStatus status;
  memmove(d->chosen, candidates, (size_t)count * sizeof *candidates);
  d->stops = found->kind == CN_EVENT_STICK ? found->contact : -1;
  d->stops_part = found->part;
  d->ahead = !(d->def.tolerance > 0);
  for (d->slides = SLIDES;;) {
    int32_t row = d->fixed_count;
    d->locks = 0;
    status = find_accelerations(d, d->t, d->q, d->v, count);
    if (status != CN_OK) break;
    for (int32_t i = 0; i < count; i++) {
      find_mode(d, d->chosen[i], row, found);
      row += cni_contact_rows(eq, d->chosen[i]);
    }
    for (int32_t i = 0; i < eq->bound_count; i++)
      find_mode(d, eq->contact_count + i, row + i, found);
    if (!d->locks || d->slides == SLIDES_ON) break;
    // what comes to rest within the step has the direction that it has
    if (!d->ahead) d->slides = SLIDES_ON;
    d->ahead = 0;
  }
  d->slides = SLIDES;
  d->ahead = 0;
  d->stops = -1;
  CNI_TRY(status);
  if (d->locks)
    return cni_error(CN_STOPPED, "%s: t = %.17g s: what slips cannot go on: its friction locks",
                     d->stepper->name, d->t * cni_time_unit(eq));
  return CN_OK;
}

// Do the parts of a contact that hold stand still, by the answer?
static int parts_hold(const CniDrive *d, int32_t contact, int32_t row, double zero) {
  int hold = 1;
  for (int32_t part = 0; part < CNI_PARTS; part++) {
    CniPartRows rows = cni_part_rows(d, contact, part);
    int32_t at = row + rows.row - d->probe.list[row];
    for (int32_t k = 0; k < rows.count && !d->modes[contact].parts[part].slips; k++)
      hold &= fabs(d->impulses[at + k]) <= zero;
  }
  return hold;
}

CnStatus cni_modes_hold(CniDrive *d, double t, const double *q, const double *v, int *hold) {
  const CnEquations *eq = d->motion.eq;
  int32_t count = 0, row = d->fixed_count;
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (d->modes[i].closed) d->chosen[count++] = i;
  CNI_TRY(find_accelerations(d, t, q, v, count));
  double zero = 10 * NO_SLIP * d->most;
  *hold = 1;
  for (int32_t i = 0; i < count; i++) {
    *hold &= fabs(d->impulses[row]) <= zero && parts_hold(d, d->chosen[i], row, zero);
    row += cni_contact_rows(eq, d->chosen[i]);
  }
  for (int32_t i = 0; i < eq->bound_count; i++)
    *hold &= parts_hold(d, eq->contact_count + i, row + i, zero);
  return CN_OK;
}

CnStatus cni_modes_share(CniDrive *d) {
  const CnEquations *eq = d->motion.eq;
  int32_t count = 0, row = d->fixed_count;
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (d->modes[i].closed) d->chosen[count++] = i;
  CNI_TRY(find_accelerations(d, d->t, d->q, d->v, count));
  for (int32_t i = 0; i < count; i++) {
    d->modes[d->chosen[i]].load = d->clash.answer.g[row];
    row += cni_contact_rows(eq, d->chosen[i]);
  }
  for (int32_t i = 0; i < d->motion.slip_count; i++) {
    CniSlip *slip = &d->motion.slip[i];
    if (slip->normal >= 0 || slip->owner >= eq->contact_count) continue;
    double load = d->modes[slip->owner].load;
    slip->friction =
        slip->part < 0 ? load : load * cni_part_rows(d, slip->owner, slip->part).friction;
  }
  return CN_OK;
}

// Forces of contacts that stick into d->all_multipliers: those that slip pull along their velocity.
static void slip_forces(CniDrive *d, const double *change) {
  double *told = d->all_multipliers;
  for (int32_t i = 0; i < d->motion.slip_count; i++) {
    const CniSlip *slip = &d->motion.slip[i];
    int32_t contact = slip->owner;
    double force = slip->friction;
    if (slip->part < 0 || (change && slip->normal < 0)) continue;
    if (change)
      force *= change[slip->normal];
    else if (contact < d->motion.eq->contact_count)
      force = cni_part_rows(d, contact, slip->part).friction *
              told[cni_normal_row(d->motion.eq, contact)];
    for (int32_t k = 0; k < slip->count; k++)
      told[slip->row + k] = (change ? told[slip->row + k] : 0) - force * slip->now[k];
  }
}

// What is told where rows of closed contacts depend on each other. The motion is made with those that do not,
// whose forces alone may pull; told are those of the friction problem, within their cones, and what they
// lack of the forces of the motion by its round-off.
CnStatus cni_modes_tell(CniDrive *d) {
  const CnEquations *eq = d->motion.eq;
  const CniStep *s = &d->step;
  CniMotion *m = &d->motion, *p = &d->probe;
  double *a = d->v_new, *told = d->all_multipliers, *w = m->scratch_v, *change = m->multipliers;
  int32_t count = 0;
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (d->modes[i].closed) d->chosen[count++] = i;
  memcpy(a, d->a, (size_t)m->v_count * sizeof *a);
  CnStatus status = find_accelerations(d, d->t, s->q1, s->v1, count);
  if (status != CN_OK) {
    memcpy(d->a, a, (size_t)m->v_count * sizeof *a);
    return status;
  }
  slip_forces(d, NULL);
  for (int32_t i = 0; i < p->active; i++) d->impulses[i] = told[p->list[i]] - d->clash.answer.g[i];
  cni_motion_push(p, d->impulses, d->a);
  for (int32_t i = 0; i < m->v_count; i++) {
    w[i] = d->a[i];
    d->a[i] = a[i];
    a[i] -= w[i];
    w[i] = 0;
  }
  for (int32_t i = 0; i < m->active; i++) change[i] = cni_motion_row(m, s->jacobian1, i, 0, a);
  CNI_TRY(cni_motion_mass(m, d->t, s->q1));
  CNI_TRY(cni_motion_solve(m, d->t, s->jacobian1, s->jacobian1, w, change));
  for (int32_t i = 0; i < m->active; i++) told[m->list[i]] += change[i];
  slip_forces(d, change);
  return CN_OK;
}
