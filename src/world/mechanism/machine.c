// SPDX-License-Identifier: Apache-2.0
// A world as a machine (machine.h): bodies, rows, masses, and the space of free motions.
#include "world/mechanism/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

// ---- what there is ----

static int moves(const CniMachine *m, int32_t body) { return body >= 0 && m->place[body] >= 0; }

// A motor that keeps a coordinate, and so is a row.
static int keeps(const CnJointAxis *axis) {
  return axis->drive != CN_DRIVE_EFFORT && axis->motor_effort > 0 && !cni_joint_is_servo(axis);
}

static CniMachineRef drive_ref(const CniMachine *m, int32_t joint, int32_t k, double value) {
  const CnJointAxis *axis = &m->model->joints[joint].def.axes[k];
  CniMachineRef ref = {CN_MACHINE_DRIVE, joint, CNI_JOINT_LOCKED + k, 0, 1, value, 0, 0};
  double target[3];
  cni_joint_target(m->model, axis, m->time, target);
  if (axis->drive == CN_DRIVE_POSITION) {
    ref.bound = target[0];
    ref.rate = target[1];
    ref.acceleration = target[2];
  } else {
    ref.rate = target[0];
    ref.acceleration = target[1];
  }
  return ref;
}

static void list_joint(CniMachine *m, int32_t i, CniDrives drives) {
  const CniJoint *joint = &m->model->joints[i];
  CniJointPlace place;
  if (!moves(m, joint->body_a) && !moves(m, joint->body_b)) return;
  cni_joint_at(joint, m->pose, &place);
  for (int32_t k = 0; !cni_joint_is_spring(joint) && k < place.locked_count; k++)
    m->refs[m->ref_count++] = (CniMachineRef){CN_MACHINE_LOCKED, i, k, 0, 1, 0, 0, 0};
  for (int32_t k = 0; drives == CNI_DRIVES_HOLD && k < place.axis_count; k++)
    if (keeps(&joint->def.axes[k]))
      m->refs[m->ref_count++] = drive_ref(m, i, k, place.axes[k].value);
}

static void list_limits(CniMachine *m, int32_t i) {
  const CniJoint *joint = &m->model->joints[i];
  if (!moves(m, joint->body_a) && !moves(m, joint->body_b)) return;
  for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++) {
    const CnJointAxis *axis = &joint->def.axes[k];
    if (cni_axis_is_soft(axis)) continue;
    CniMachineRef ref = {CN_MACHINE_LIMIT, i, CNI_JOINT_LOCKED + k, 1, 1, axis->lower, 0, 0};
    if (isfinite(axis->lower)) m->refs[m->ref_count++] = ref;
    ref.side = -1;
    ref.bound = axis->upper;
    if (isfinite(axis->upper)) m->refs[m->ref_count++] = ref;
  }
}

static void list_couplings(CniMachine *m, int32_t one_sided) {
  for (int32_t i = 0; i < m->model->coupling_count; i++)
    if ((m->model->couplings[i].def.one_sided != 0) == one_sided)
      m->refs[m->ref_count++] = (CniMachineRef){CN_MACHINE_COUPLING, i, 0, one_sided, 1, 0, 0, 0};
}

static void list_bodies(CniMachine *m) {
  for (int32_t i = 0; i < m->model->body_count; i++) {
    m->place[i] = -1;
    if (!cni_has_mass(&m->model->mass[i])) continue;
    m->place[i] = m->body_count;
    m->bodies[m->body_count++] = i;
  }
  m->columns = 6 * m->body_count;
}

static CnStatus reserve(CniMachine *m) {
  int64_t bodies = m->model->body_count;
  CNI_TRY(cni_arena_array(&m->arena, bodies, sizeof *m->bodies, &m->bodies));
  CNI_TRY(cni_arena_array(&m->arena, bodies, sizeof *m->place, &m->place));
  CNI_TRY(cni_arena_array(&m->arena, bodies, sizeof *m->pose, &m->pose));
  CNI_TRY(cni_arena_array(&m->arena, bodies, sizeof *m->trial, &m->trial));
  CNI_TRY(cni_arena_array(&m->arena, bodies, sizeof *m->twist, &m->twist));
  CNI_TRY(cni_arena_array(&m->arena, bodies, sizeof *m->old_pose, &m->old_pose));
  CNI_TRY(cni_arena_array(&m->arena, bodies, sizeof *m->old_twist, &m->old_twist));
  CNI_TRY(cni_arena_array(&m->arena, m->model->joint_count, sizeof *m->old_joints, &m->old_joints));
  int64_t rows = (CNI_JOINT_LOCKED + 3 * CN_JOINT_AXES) * (int64_t)m->model->joint_count +
                 m->model->coupling_count;
  return cni_arena_array(&m->arena, rows, sizeof *m->refs, &m->refs);
}

CnStatus cni_machine_begin(CnWorld *world, CniDrives drives, CniMachine *m) {
  *m = (CniMachine){.world = world, .model = &world->now.model, .time = world->now.time};
  cni_arena_init(&m->arena, &world->allocator);
  int32_t dynamic = 0;
  for (int32_t i = 0; i < m->model->body_count; i++) {
    char label[CNI_NAME_SIZE + 16];
    dynamic += cni_has_mass(&m->model->mass[i]);
    if (!cni_model_massless(m->model, i)) continue;
    cni_model_body_label(m->model, i, label);
    return cni_invalid("%s has no mass", label);
  }
  if (dynamic > CNI_MACHINE_BODIES)
    return cni_error(CN_UNSUPPORTED,
                     "machines of at most %d bodies with mass are looked at (got %d)",
                     CNI_MACHINE_BODIES, (int)dynamic);
  CNI_TRY(reserve(m));
  if (world->hooks.force) { // its memory is the step's
    CNI_TRY(cni_step_memory_reset(&world->memory));
    world->work = (CniStepWork){0};
  }
  size_t bodies = (size_t)m->model->body_count;
  if (bodies > 0) {
    memcpy(m->pose, m->model->pose, bodies * sizeof *m->pose);
    memcpy(m->twist, m->model->twist, bodies * sizeof *m->twist);
    memcpy(m->old_pose, m->model->pose, bodies * sizeof *m->pose);
    memcpy(m->old_twist, m->model->twist, bodies * sizeof *m->twist);
  }
  if (m->model->joint_count > 0)
    memcpy(m->old_joints, m->model->joints, (size_t)m->model->joint_count * sizeof *m->old_joints);
  list_bodies(m);
  for (int32_t i = 0; i < m->model->joint_count; i++) list_joint(m, i, drives);
  list_couplings(m, 0);
  m->held_count = m->ref_count;
  for (int32_t i = 0; i < m->model->joint_count; i++) list_limits(m, i);
  list_couplings(m, 1);
  return CN_OK;
}

void cni_machine_end(CniMachine *m) {
  cni_collision_destroy(m->collision);
  cni_arena_release(&m->arena);
}

void cni_machine_row_name(const CniMachine *m, const CniMachineRef *ref, char *text, size_t size) {
  static const char *const what[] = {"joint", "motor of joint", "coupling", "limit of joint",
                                     "contact"};
  const CniModel *model = m->model;
  if (ref->kind == CN_MACHINE_CONTACT) {
    char a[CNI_NAME_SIZE + 16], b[CNI_NAME_SIZE + 16];
    cni_model_body_label(model, m->touches[ref->joint].body_a, a);
    cni_model_body_label(model, m->touches[ref->joint].body_b, b);
    snprintf(text, size, "contact of %.60s and %.60s", a, b);
    return;
  }
  const char *name = ref->kind == CN_MACHINE_COUPLING ? model->couplings[ref->joint].name
                                                      : model->joints[ref->joint].name;
  if (name[0])
    snprintf(text, size, "%s '%.60s'", what[ref->kind], name);
  else
    snprintf(text, size, "%s %d", what[ref->kind], (int)ref->joint);
}

// ---- rows ----

static void add_side(CniMachineRowAt *at, int32_t body, CnVec3 linear, CnVec3 angular) {
  if (body < 0) return;
  at->bodies[at->side_count] = body;
  at->sides[at->side_count++] = (CnTwist){linear, angular};
}

// (linear, angular) of two points, on b, and the opposite on a.
static void add_pair(CniMachineRowAt *at, int32_t a, CnVec3 arm_a, int32_t b, CnVec3 arm_b,
                     CnVec3 linear, CnVec3 angular) {
  add_side(at, b, linear, cn_add(cn_cross(arm_b, linear), angular));
  add_side(at, a, cn_neg(linear), cn_neg(cn_add(cn_cross(arm_a, linear), angular)));
}

static void joint_row_at(const CniMachine *m, const CniMachineRef *ref, const CnPose *pose,
                         CniMachineRowAt *at) {
  const CniJoint *joint = &m->model->joints[ref->joint];
  CniJointPlace place;
  cni_joint_at(joint, pose, &place);
  const CniJointRow *row = cni_joint_row(&place, ref->row);
  at->value = ref->side * (row->value - ref->bound);
  add_pair(at, joint->body_a, place.arm_a, joint->body_b, place.arm_b,
           cn_scale(ref->side, row->linear), cn_scale(ref->side, row->angular));
}

static void coupling_row_at(const CniMachine *m, const CniMachineRef *ref, const CnPose *pose,
                            CniMachineRowAt *at) {
  CniCouplingPlace place;
  cni_coupling_at(m->model, &m->model->couplings[ref->joint], pose, &place);
  at->value = place.value;
  for (int32_t i = 0; i < place.body_count; i++)
    add_side(at, place.bodies[i], place.rows[i].velocity, place.rows[i].spin);
}

// The point of a pair that has the name of the touch, or else the nearest one.
typedef struct Match {
  const CniMachineContact *touch;
  CnVec3 point, normal;
  double gap, distance;
} Match;

static void match_points(void *context, const CniManifold *manifold) {
  Match *best = context;
  for (int32_t i = 0; i < manifold->count; i++) {
    const CniPoint *p = &manifold->points[i];
    double distance = cn_norm(cn_sub(p->point, best->touch->point));
    if (p->feature == best->touch->feature) distance = -1;
    if (!(distance < best->distance)) continue;
    best->distance = distance;
    best->point = p->point;
    best->normal = manifold->normal;
    best->gap = p->gap;
  }
}

static Match touch_at(const CniMachine *m, const CniMachineContact *touch, const CnPose *pose) {
  const CniModel *model = m->model;
  CniPlaced a = cni_model_placed(model, touch->shape_a, &pose[touch->body_a]);
  CniPlaced b = cni_model_placed(model, touch->shape_b, &pose[touch->body_b]);
  Match best = {touch, touch->point, touch->normal, touch->gap, INFINITY};
  double size = cn_min(cni_model_outradius(&model->shapes[touch->shape_a]),
                       cni_model_outradius(&model->shapes[touch->shape_b]));
  cni_collide_all(&a, &b, fabs(touch->gap) + size, match_points, &best);
  return best;
}

static void contact_row_at(const CniMachine *m, const CniMachineRef *ref, const CnPose *pose,
                           CniMachineRowAt *at) {
  const CniMachineContact *touch = &m->touches[ref->joint];
  Match now = touch_at(m, touch, pose);
  CnVec3 axis = now.normal;
  if (ref->row > 0) {
    CnVec3 t = cn_madd(touch->tangents[0], -cn_dot(now.normal, touch->tangents[0]), now.normal);
    t = cn_unit_or(t, touch->tangents[0]);
    axis = ref->row == 1 ? t : cn_cross(now.normal, t);
  }
  at->value = ref->row == 0 ? now.gap : 0;
  add_pair(at, touch->body_a, cn_sub(now.point, pose[touch->body_a].position), touch->body_b,
           cn_sub(now.point, pose[touch->body_b].position), axis, CN_VEC3_ZERO);
}

void cni_machine_row_at(const CniMachine *m, const CniMachineRef *ref, const CnPose *pose,
                        CniMachineRowAt *at) {
  at->side_count = 0;
  if (ref->kind == CN_MACHINE_CONTACT)
    contact_row_at(m, ref, pose, at);
  else if (ref->kind == CN_MACHINE_COUPLING)
    coupling_row_at(m, ref, pose, at);
  else
    joint_row_at(m, ref, pose, at);
}

double cni_machine_row(const CniMachine *m, const CniMachineRef *ref, double *row) {
  CniMachineRowAt at;
  cni_machine_row_at(m, ref, m->pose, &at);
  memset(row, 0, (size_t)m->columns * sizeof *row);
  for (int32_t i = 0; i < at.side_count; i++) {
    if (!moves(m, at.bodies[i])) continue;
    double *to = row + 6 * (size_t)m->place[at.bodies[i]];
    const double *from = (const double *)&at.sides[i];
    for (int32_t k = 0; k < 6; k++) to[k] += from[k];
  }
  return at.value;
}

double cni_machine_rate(const CniMachine *m, const CniMachineRef *ref) {
  CniMachineRowAt at;
  double sum = -ref->side * ref->rate;
  cni_machine_row_at(m, ref, m->pose, &at);
  for (int32_t i = 0; i < at.side_count; i++) {
    if (moves(m, at.bodies[i])) continue;
    CnTwist twist = m->twist[at.bodies[i]];
    sum += cn_dot(at.sides[i].velocity, twist.velocity) + cn_dot(at.sides[i].spin, twist.spin);
  }
  return sum;
}

double cni_machine_curvature(const CniMachine *m, const CniMachineRef *ref) {
  if (ref->kind == CN_MACHINE_COUPLING)
    return cni_coupling_curvature(m->model, &m->model->couplings[ref->joint], m->pose, m->twist);
  const CniJoint *joint = &m->model->joints[ref->joint];
  CniJointEnd a, b;
  cni_joint_ends(joint, m->pose, m->twist, &a, &b);
  return ref->side * (cni_joint_curvature(&joint->def, &a, &b, ref->row) - ref->acceleration);
}

// ---- contacts ----

// Is the gap that of things that touch, `share` of the smaller shape?
static int touches(const CniMachine *m, const CniMachineContact *touch, double share) {
  double size = cn_min(cni_model_outradius(&m->model->shapes[touch->shape_a]),
                       cni_model_outradius(&m->model->shapes[touch->shape_b]));
  return touch->gap <= share * size;
}

static CnStatus take_contact(CniMachine *m, const CniContact *c) {
  CniMachineContact *touch = &m->touches[m->touch_count];
  CniAssemblyInput input = {.model = m->model,
                            .pose = m->pose,
                            .modify = m->world->hooks.modify ? cni_world_modify : NULL,
                            .modify_context = m->world};
  CniMaterialPair law;
  CnVec3 surface;
  int32_t enabled;
  CNI_TRY(cni_contact_law(&input, c, &law, &surface, &enabled));
  if (!enabled) return CN_OK;
  *touch = (CniMachineContact){.shape_a = c->shape_a,
                               .shape_b = c->shape_b,
                               .body_a = c->body_a,
                               .body_b = c->body_b,
                               .feature = c->feature,
                               .point = c->point,
                               .normal = c->normal,
                               .gap = c->gap,
                               .friction = law.friction};
  cn_tangents(c->normal, &touch->tangents[0], &touch->tangents[1]);
  m->touch_count++;
  return CN_OK;
}

static CnStatus find_contacts(CniMachine *m, double reach, const CniContact **found,
                              int32_t *count) {
  CniCollisionInput input = {.model = m->model,
                             .pose = m->pose,
                             .twist = m->model->twist,
                             .margin = reach,
                             .filter = m->world->hooks.filter ? cni_world_filter : NULL,
                             .filter_context = m->world};
  *count = 0;
  if (m->model->body_count == 0) return CN_OK;
  if (!m->collision)
    CNI_TRY(cni_collision_create(m->world->now.settings.broad_phase, &m->world->allocator,
                                 &m->collision));
  return cni_collision_detect(m->collision, &input, found, count);
}

CnStatus cni_machine_contacts(CniMachine *m, CnMachineContacts contacts, double reach,
                              double touching) {
  const CniContact *found;
  CniMachineRef *old = m->refs;
  int32_t count, held = 0, pushing = 0, sticks = contacts == CN_CONTACTS_STICKING;
  m->touch_count = 0;
  for (int32_t i = 0; i < m->ref_count; i++) {
    if (old[i].kind == CN_MACHINE_CONTACT) continue;
    held += !old[i].pushes;
    pushing += old[i].pushes;
  }
  if (contacts == CN_CONTACTS_NONE) return CN_OK;
  CNI_TRY(find_contacts(m, reach, &found, &count));
  CNI_TRY(cni_arena_array(&m->arena, count, sizeof *m->touches, &m->touches));
  CNI_TRY(
      cni_arena_array(&m->arena, held + pushing + 3 * (int64_t)count, sizeof *m->refs, &m->refs));
  for (int32_t i = 0; i < count; i++) CNI_TRY(take_contact(m, &found[i]));
  int32_t n = 0;
  for (int32_t i = 0; i < m->ref_count; i++)
    if (old[i].kind != CN_MACHINE_CONTACT && !old[i].pushes) m->refs[n++] = old[i];
  for (int32_t i = 0; sticks && i < m->touch_count; i++)
    for (int32_t k = 1; touches(m, &m->touches[i], touching) && k < 3; k++)
      m->refs[n++] = (CniMachineRef){CN_MACHINE_CONTACT, i, k, 0, 1, 0, 0, 0};
  m->held_count = n;
  for (int32_t i = 0; i < m->ref_count; i++)
    if (old[i].kind != CN_MACHINE_CONTACT && old[i].pushes) m->refs[n++] = old[i];
  for (int32_t i = 0; i < m->touch_count; i++)
    m->refs[n++] = (CniMachineRef){CN_MACHINE_CONTACT, i, 0, 1, 1, 0, 0, 0};
  m->ref_count = n;
  return CN_OK;
}

void cni_machine_hold_pushing(CniMachine *m, double touching) {
  for (int32_t i = m->held_count; i < m->ref_count; i++) {
    CniMachineRowAt at;
    CniMachineRef ref = m->refs[i];
    cni_machine_row_at(m, &ref, m->pose, &at);
    if (ref.kind == CN_MACHINE_CONTACT ? !touches(m, &m->touches[ref.joint], touching)
                                       : !(at.value <= touching))
      continue;
    ref.pushes = 0;
    m->refs[i] = m->refs[m->held_count];
    m->refs[m->held_count++] = ref;
  }
}

// ---- masses and free motions ----

static void add_armatures(const CniMachine *m, const CniJoint *joint, int32_t index, double *mass) {
  for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++) {
    double armature = joint->def.axes[k].armature;
    if (!(armature > 0)) continue;
    CniMachineRef ref = {CN_MACHINE_DRIVE, index, CNI_JOINT_LOCKED + k, 0, 1, 0, 0, 0};
    CniMachineRowAt at;
    cni_machine_row_at(m, &ref, m->pose, &at);
    for (int32_t i = 0; i < at.side_count; i++)
      for (int32_t j = 0; j < at.side_count; j++) {
        if (!moves(m, at.bodies[i]) || !moves(m, at.bodies[j])) continue;
        const double *x = (const double *)&at.sides[i], *y = (const double *)&at.sides[j];
        size_t row = 6 * (size_t)m->place[at.bodies[i]],
               column = 6 * (size_t)m->place[at.bodies[j]];
        for (size_t r = 0; r < 6; r++)
          for (size_t c = 0; c < 6; c++)
            mass[(row + r) * (size_t)m->columns + column + c] += armature * x[r] * y[c];
      }
  }
}

void cni_machine_mass(const CniMachine *m, double *mass) {
  size_t n = (size_t)m->columns;
  memset(mass, 0, n * n * sizeof *mass);
  for (int32_t i = 0; i < m->body_count; i++) {
    int32_t body = m->bodies[i];
    CnSym3 j = cni_model_inertia(m->model, body, m->pose[body].rotation);
    double *at = mass + 6 * (size_t)i * (n + 1);
    for (size_t k = 0; k < 3; k++) at[k * (n + 1)] = m->model->mass[body].mass;
    at += 3 * (n + 1);
    at[0] = j.xx;
    at[n + 1] = j.yy;
    at[2 * (n + 1)] = j.zz;
    at[1] = at[n] = j.xy;
    at[2] = at[2 * n] = j.xz;
    at[n + 2] = at[2 * n + 1] = j.yz;
  }
  for (int32_t i = 0; i < m->model->joint_count; i++)
    add_armatures(m, &m->model->joints[i], i, mass);
}

// What a unit effort of a row does to the centres of its bodies: efforts of rows that depend on each other are shared by
// this, as in steps (integrator/least.h); 0: it turns them alone.
static double moves_of(const CniMachine *m, const double *row) {
  double sum = 0;
  for (int32_t i = 0; i < m->body_count; i++)
    for (size_t k = 0; k < 3; k++) {
      double by = row[6 * (size_t)i + k];
      sum += by * by / m->model->mass[m->bodies[i]].mass;
    }
  return sum;
}

CnStatus cni_machine_factor(CniMachine *m) {
  int64_t n = m->columns;
  CNI_TRY(cni_arena_array(&m->arena, n * n, sizeof *m->mass_factor, &m->mass_factor));
  CNI_TRY(cni_arena_array(&m->arena, n, sizeof *m->mass_first, &m->mass_first));
  CNI_TRY(cni_span_begin(&m->arena, m->held_count, m->columns, &m->span));
  CNI_TRY(cni_arena_array(&m->arena, m->held_count, sizeof *m->row_scale, &m->row_scale));
  cni_machine_mass(m, m->mass_factor);
  if (!cni_cholesky(m->columns, m->mass_factor, m->mass_first))
    return cni_invalid("a mass or inertia of the machine is not positive");
  for (int32_t i = 0; i < m->held_count; i++) {
    double *row = m->span.rows + (size_t)i * (size_t)n, sum = 0;
    cni_machine_row(m, &m->refs[i], row);
    double moves = moves_of(m, row);
    cni_cholesky_down(m->columns, m->mass_factor, m->mass_first, row);
    for (int64_t k = 0; k < n; k++) sum += row[k] * row[k];
    if (moves > 0) sum = moves;
    m->row_scale[i] = sum > 0 ? sqrt(sum) : 1;
    for (int64_t k = 0; k < n; k++) row[k] /= m->row_scale[i];
  }
  cni_span_factor(&m->span, CNI_MACHINE_LOST);
  return CN_OK;
}

void cni_machine_reduce(const CniMachine *m, const double *x, double *work, double *reduced) {
  memcpy(work, x, (size_t)m->columns * sizeof *work);
  cni_cholesky_down(m->columns, m->mass_factor, m->mass_first, work);
  cni_span_down(&m->span, work);
  memcpy(reduced, work + m->span.rank, (size_t)cni_machine_freedoms(m) * sizeof *reduced);
}

void cni_machine_expand(const CniMachine *m, const double *reduced, double *x) {
  memset(x, 0, (size_t)m->span.rank * sizeof *x);
  memcpy(x + m->span.rank, reduced, (size_t)cni_machine_freedoms(m) * sizeof *x);
  cni_span_up(&m->span, x);
  cni_cholesky_up(m->columns, m->mass_factor, m->mass_first, x);
}

void cni_machine_reduce_matrix(const CniMachine *m, double *a, double *work, double *reduced) {
  size_t n = (size_t)m->columns, rank = (size_t)m->span.rank, d = n - rank;
  for (size_t i = 0; i < n; i++) {
    cni_cholesky_down(m->columns, m->mass_factor, m->mass_first, a + i * n);
    cni_span_down(&m->span, a + i * n);
  }
  for (size_t j = rank; j < n; j++) {
    double *row = work + j * n;
    for (size_t i = 0; i < n; i++) row[i] = a[i * n + j];
    cni_cholesky_down(m->columns, m->mass_factor, m->mass_first, row);
    cni_span_down(&m->span, row);
    for (size_t i = 0; i < d; i++) reduced[i * d + j - rank] = row[rank + i];
  }
}

CnStatus cni_machine_efforts(CniMachine *m, const double *load, double *efforts) {
  CniArenaMark mark = cni_arena_mark(&m->arena);
  double *y;
  CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof *y, &y));
  for (int32_t i = 0; i < m->columns; i++) y[i] = -load[i];
  cni_cholesky_down(m->columns, m->mass_factor, m->mass_first, y);
  cni_span_down(&m->span, y);
  CNI_TRY(cni_span_weights(&m->span, &m->arena, y, efforts));
  for (int32_t i = 0; i < m->held_count; i++) efforts[i] /= m->row_scale[i];
  cni_arena_back(&m->arena, mark);
  return CN_OK;
}

// ---- moving ----

void cni_machine_move(const CniMachine *m, const CnPose *from, const double *motion, double share,
                      CnPose *to) {
  if (to != from) memcpy(to, from, (size_t)m->model->body_count * sizeof *to);
  for (int32_t i = 0; i < m->body_count; i++) {
    CnTwist twist;
    memcpy(&twist, motion + 6 * (size_t)i, sizeof twist);
    to[m->bodies[i]] = cni_advance_pose(from[m->bodies[i]], twist, share);
  }
}

double cni_machine_open(const CniMachine *m, const CnPose *pose, int32_t *worst) {
  double most = 0;
  *worst = -1;
  for (int32_t i = 0; i < m->held_count; i++) {
    CniMachineRowAt at;
    cni_machine_row_at(m, &m->refs[i], pose, &at);
    if (*worst >= 0 && !(fabs(at.value) > most)) continue;
    most = fabs(at.value);
    *worst = i;
  }
  return most;
}

double cni_machine_close(CniMachine *m, CnPose *pose, double *work, int32_t rounds) {
  double *c = work, *x = work + m->held_count, most = 0;
  for (int32_t round = 0; round <= rounds; round++) {
    most = 0;
    for (int32_t i = 0; i < m->held_count; i++) {
      CniMachineRowAt at;
      cni_machine_row_at(m, &m->refs[i], pose, &at);
      most = cn_max(most, fabs(at.value));
      c[i] = -at.value / m->row_scale[i];
    }
    if (round == rounds || most == 0) break;
    cni_span_solve(&m->span, c, x);
    cni_cholesky_up(m->columns, m->mass_factor, m->mass_first, x);
    cni_machine_move(m, pose, x, 1, pose);
  }
  return most;
}

#define ROUNDS 50
#define CLOSED 1e-13 // m, rad

CnStatus cni_machine_assemble(CniMachine *m, double *error, int32_t *worst) {
  CniArenaMark mark = cni_arena_mark(&m->arena);
  double last = INFINITY;
  for (int32_t round = 0; round < ROUNDS; round++) {
    double *work, open = cni_machine_open(m, m->pose, worst);
    *error = open;
    if (open <= CLOSED || (open < 1e-10 && !(open < 0.5 * last))) break;
    last = open;
    CNI_TRY(cni_machine_factor(m));
    CNI_TRY(cni_arena_array(&m->arena, m->columns + m->held_count, sizeof *work, &work));
    cni_machine_close(m, m->pose, work, 1);
    cni_arena_back(&m->arena, mark);
  }
  return CN_OK;
}

// ---- back to the world ----

static void set_state(CniMachine *m, const CnPose *pose, const CnTwist *twist) {
  size_t bodies = (size_t)m->model->body_count;
  if (bodies == 0) return;
  memcpy(m->model->pose, pose, bodies * sizeof *pose);
  memcpy(m->model->twist, twist, bodies * sizeof *twist);
}

void cni_machine_commit(CniMachine *m) {
  set_state(m, m->pose, m->twist);
  cni_turns_follow(m->model, 0, NULL);
}

void cni_machine_back(CniMachine *m) {
  set_state(m, m->old_pose, m->old_twist);
  if (m->model->joint_count > 0)
    memcpy(m->model->joints, m->old_joints, (size_t)m->model->joint_count * sizeof *m->old_joints);
}

// -J x''
static double armature_effort(const CniMachine *m, int32_t joint, int32_t k,
                              const double *acceleration) {
  double armature = m->model->joints[joint].def.axes[k].armature;
  CniMachineRef ref = {CN_MACHINE_DRIVE, joint, CNI_JOINT_LOCKED + k, 0, 1, 0, 0, 0};
  CniMachineRowAt at;
  if (!(armature > 0) || !acceleration) return 0;
  double sum = cni_machine_curvature(m, &ref);
  cni_machine_row_at(m, &ref, m->pose, &at);
  for (int32_t e = 0; e < at.side_count; e++)
    for (int32_t j = 0; moves(m, at.bodies[e]) && j < 6; j++)
      sum += ((const double *)&at.sides[e])[j] * acceleration[6 * m->place[at.bodies[e]] + j];
  return -armature * sum;
}

static void keep_row(CniMachine *m, const CniMachineRef *ref, double impulse) {
  if (ref->kind == CN_MACHINE_CONTACT) return;
  if (ref->kind == CN_MACHINE_COUPLING) {
    m->model->couplings[ref->joint].impulse = impulse;
    m->model->couplings[ref->joint].impulse_step = m->world->now.settings.time_step;
    return;
  }
  CniJointImpulse *to = &m->model->joints[ref->joint].impulse;
  CniJointPart part = ref->kind == CN_MACHINE_DRIVE ? CNI_PART_MOTOR
                      : ref->side > 0               ? CNI_PART_LOWER
                                                    : CNI_PART_UPPER;
  if (ref->kind == CN_MACHINE_LOCKED)
    to->locked[ref->row] += impulse;
  else
    to->axes[ref->row - CNI_JOINT_LOCKED][part] += impulse;
}

void cni_machine_keep(CniMachine *m, const double *efforts, const double *acceleration) {
  double h = m->world->now.settings.time_step;
  cni_machine_commit(m);
  for (int32_t i = 0; i < m->model->joint_count; i++) {
    CniJoint *joint = &m->model->joints[i];
    CniJointPlace place;
    CniJointImpulse *x = &joint->impulse;
    cni_joint_efforts(m->model, joint, m->time, m->pose, (const double *)m->twist, &place, x);
    for (int32_t k = 0; k < place.axis_count; k++)
      x->axes[k][CNI_PART_ARMATURE] = armature_effort(m, i, k, acceleration);
    for (int32_t k = 0; k < CNI_JOINT_LOCKED; k++) x->locked[k] *= h;
    for (int32_t k = 0; k < CN_JOINT_AXES; k++)
      for (int32_t p = 0; p < CNI_PART_COUNT; p++) x->axes[k][p] *= h;
  }
  for (int32_t i = 0; i < m->ref_count; i++) keep_row(m, &m->refs[i], h * efforts[i]);
  for (int32_t i = 0; i < m->model->joint_count; i++) {
    CniJoint *joint = &m->model->joints[i];
    CniJointPlace place;
    cni_joint_at(joint, m->pose, &place);
    joint->total = cni_joint_total(&place, &joint->impulse);
    joint->impulse_step = h;
  }
}
