// SPDX-License-Identifier: Apache-2.0
// Modes: small motions of a machine about an equilibrium.
//
// With the free motions y (machine.h; kinetic energy |y'|^2/2) they obey
//
//     y'' + C y' + K y = 0,   y = Re x exp(lambda t)
//
// K has the stiffness of springs and the geometric stiffness of everything that carries a force. Bodies
// that spin steadily with w0 about an axis of symmetry keep constant coefficients: with the turn r from
// the steady motion their spin is w0 + r' - w0 x r, so that C and K of y' and y get parts of the
// inertia and of the gyroscopic torques. Without damping and spin K is symmetric and its eigenvalues
// are the squares of the angular frequencies; else lambda are the eigenvalues of [0 1; -K -C].
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/math.h"
#include "world/mechanism/machine.h"

#define TAG 0x65646f6du
#define STILL 1e-9 // m/s: what is slower does not move

CnModesDef cn_modes_def_default(void) {
  return (CnModesDef){.size = sizeof(CnModesDef), .tag = TAG, .tolerance = 1e-6};
}

typedef struct Modes {
  CniMachine m;
  CnModesDef def;
  int32_t d;
  double *load, *sizes, *efforts, *k, *c; // k, c: reduced
  double scale, none;                     // of forces; of squares of frequencies: 0
  int32_t spins;
  // results
  CnMode *modes;
  double *shapes; // reduced, real and imaginary parts, 2 d a mode; symmetric: d rows
  int32_t count, symmetric;
} Modes;

// ---- the place ----

// A free body may spin about an axis of symmetry.
static CnStatus check_twists(Modes *s) {
  const CniMachine *m = &s->m;
  for (int32_t i = 0; i < m->model->body_count; i++) {
    CnTwist twist = m->twist[i];
    char label[CNI_NAME_SIZE + 16];
    CnVec3 t1, t2, w = twist.spin;
    double speed = cn_norm(w);
    if (cn_norm(twist.velocity) <= STILL && speed <= STILL) continue;
    int steady = m->place[i] >= 0 && cn_norm(twist.velocity) <= STILL * cn_max(1, speed);
    if (steady) {
      CnSym3 j = cni_model_inertia(m->model, i, m->pose[i].rotation);
      CnVec3 l = cn_smul(j, w);
      cn_tangents(cn_scale(1 / speed, w), &t1, &t2);
      double size = j.xx + j.yy + j.zz, a = cn_dot(t1, cn_smul(j, t1));
      steady = cn_norm(cn_cross(w, l)) <= 1e-9 * size * speed * speed &&
               fabs(cn_dot(t1, cn_smul(j, t2))) <= 1e-9 * size &&
               fabs(a - cn_dot(t2, cn_smul(j, t2))) <= 1e-9 * size;
    }
    s->spins = 1;
    cni_model_body_label(m->model, i, label);
    if (!steady)
      return cni_invalid(
          "modes are those of a machine at rest: %s moves, and not only about an axis "
          "of symmetry",
          label);
  }
  return CN_OK;
}

static void release(CniMachine *m, int32_t i) {
  CniMachineRef ref = m->refs[i];
  m->refs[i] = m->refs[--m->held_count];
  m->refs[m->held_count] = ref;
}

// Of what touches only what carries a force holds: efforts of all rows.
static CnStatus hold(Modes *s) {
  CniMachine *m = &s->m;
  int32_t first = m->held_count;
  cni_machine_hold_pushing(m, CNI_MACHINE_TOUCHING);
  CNI_TRY(cni_arena_array(&m->arena, m->ref_count, sizeof(double), &s->efforts));
  CNI_TRY(cni_machine_load(m, s->load, s->sizes));
  for (;;) {
    CNI_TRY(cni_machine_factor(m));
    memset(s->efforts, 0, (size_t)m->ref_count * sizeof *s->efforts);
    CNI_TRY(cni_machine_efforts(m, s->load, s->efforts));
    int32_t worst = -1;
    double least = INFINITY, most = 0;
    for (int32_t i = 0; i < m->held_count; i++)
      most = cn_max(most, fabs(s->efforts[i]) * m->row_scale[i]);
    for (int32_t i = first; i < m->held_count; i++) {
      double size = s->efforts[i] * m->row_scale[i];
      if (!(size < least)) continue;
      least = size;
      worst = i;
    }
    if (worst < 0 || least > 1e-9 * most) break;
    int32_t touch = m->refs[worst].kind == CN_MACHINE_CONTACT ? m->refs[worst].joint : -1;
    release(m, worst);
    for (int32_t i = first; i-- > 0;) // what does not press does not stick
      if (touch >= 0 && m->refs[i].kind == CN_MACHINE_CONTACT && m->refs[i].joint == touch) {
        CniMachineRef ref = m->refs[i];
        m->refs[i] = m->refs[--first];
        m->refs[first] = ref;
        release(m, first);
      }
  }
  return CN_OK;
}

static CnStatus check_forces(Modes *s) {
  CniMachine *m = &s->m;
  double *work, *rest;
  CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof *work, &work));
  CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof *rest, &rest));
  cni_machine_reduce(m, s->load, work, rest);
  cni_cholesky_down(m->columns, m->mass_factor, m->mass_first, s->sizes);
  s->scale = sqrt(cni_span_dot(m->columns, s->sizes, s->sizes));
  double size = sqrt(cni_span_dot(s->d, rest, rest));
  if (!(size > s->def.tolerance * s->scale)) return CN_OK;
  return cni_invalid("the machine is not in equilibrium: forces of %.3g of those that act are left "
                     "(find its rest position first)",
                     size / s->scale);
}

// ---- matrices ----

// to -= from W with W: turn r of each body -> w0 x r.
static void subtract_spun(const CniMachine *m, const double *from, double *to) {
  size_t n = (size_t)m->columns;
  for (int32_t b = 0; b < m->body_count; b++) {
    CnVec3 w = m->twist[m->bodies[b]].spin;
    if (!(cn_norm2(w) > 0)) continue;
    size_t at = 6 * (size_t)b + 3;
    for (size_t i = 0; i < n; i++) {
      const double *row = from + i * n + at;
      CnVec3 x = cn_cross(cn_vec3(row[0], row[1], row[2]), w); // row . (w x r) = (row x w) . r
      to[i * n + at] -= x.x;
      to[i * n + at + 1] -= x.y;
      to[i * n + at + 2] -= x.z;
    }
  }
}

static CnStatus find_matrices(Modes *s) {
  CniMachine *m = &s->m;
  int64_t n = m->columns, d = s->d;
  double *k, *c, *mass, mean = 0;
  CNI_TRY(cni_arena_array(&m->arena, d * d, sizeof *k, &s->k));
  CNI_TRY(cni_arena_array(&m->arena, d * d, sizeof *c, &s->c));
  CniArenaMark mark = cni_arena_mark(&m->arena);
  CNI_TRY(cni_arena_array(&m->arena, n * n, sizeof *k, &k));
  CNI_TRY(cni_arena_array(&m->arena, n * n, sizeof *c, &c));
  CNI_TRY(cni_arena_array(&m->arena, n * n, sizeof *mass, &mass));
  CNI_TRY(cni_machine_stiffness(m, s->efforts, k, c));
  cni_machine_mass(m, mass);
  for (int64_t i = 0; i < n; i += 6) mean += mass[i * n + i];
  if (s->spins) {
    subtract_spun(m, c, k);
    subtract_spun(m, mass, c);
  }
  cni_machine_reduce_matrix(m, k, mass, s->k);
  cni_machine_reduce_matrix(m, c, mass, s->c);
  cni_arena_back(&m->arena, mark);
  double most = 0, skew = 0, damping = 0, size = 0;
  for (int64_t i = 0; i < d; i++)
    for (int64_t j = 0; j < d; j++) {
      most = cn_max(most, fabs(s->k[i * d + j]));
      skew = cn_max(skew, fabs(s->k[i * d + j] - s->k[j * d + i]));
      damping = cn_max(damping, fabs(s->c[i * d + j]));
    }
  for (int32_t i = 0; i < m->body_count; i++)
    for (int32_t j = 0; j < i; j++)
      size = cn_max(
          size, cn_norm(cn_sub(m->pose[m->bodies[i]].position, m->pose[m->bodies[j]].position)));
  for (int32_t i = 0; i < m->model->joint_count; i++) {
    CniJointPlace place;
    cni_joint_at(&m->model->joints[i], m->pose, &place);
    size = cn_max(size, cn_max(cn_norm(place.arm_a), cn_norm(place.arm_b)));
  }
  s->none = 1e-13 * most;
  if (size > 0 && mean > 0) s->none += 1e-9 * s->scale / (sqrt(mean) * size);
  s->symmetric = damping <= 1e-12 * sqrt(most) && skew <= 1e-8 * most;
  return CN_OK;
}

// ---- eigenvalues ----

static CnMode mode_of(double real, double imaginary) {
  double size = sqrt(real * real + imaginary * imaginary);
  return (CnMode){.frequency = fabs(imaginary) / (2 * CNI_PI),
                  .natural = size / (2 * CNI_PI),
                  .damping = real != 0 ? -real / size : 0,
                  .real = real,
                  .imaginary = fabs(imaginary)};
}

static CnStatus solve_symmetric(Modes *s) {
  CniArena *arena = &s->m.arena;
  int64_t d = s->d;
  double *values;
  CNI_TRY(cni_arena_array(arena, d, sizeof *values, &values));
  CNI_TRY(cni_arena_array(arena, d, sizeof *s->modes, &s->modes));
  CNI_TRY(cni_arena_array(arena, d * d, sizeof *s->shapes, &s->shapes));
  for (int64_t i = 0; i < d; i++)
    for (int64_t j = 0; j < i; j++)
      s->k[i * d + j] = s->k[j * d + i] = 0.5 * (s->k[i * d + j] + s->k[j * d + i]);
  cni_eigen_symmetric(s->d, s->k, values, s->shapes);
  for (int32_t i = 0; i < s->d; i++) {
    double x = fabs(values[i]) <= s->none ? 0 : values[i];
    s->modes[i] = x < 0 ? mode_of(sqrt(-x), 0) : mode_of(0, sqrt(x));
  }
  s->count = s->d;
  return CN_OK;
}

// (lambda^2 + lambda C + K) x = 0 by inverse iteration on the real form of it.
static CnStatus find_shape(Modes *s, int32_t index, double *x) {
  CniArena *arena = &s->m.arena;
  CniArenaMark mark = cni_arena_mark(arena);
  int32_t d = s->d, n = 2 * d, stride = cni_dense_stride(n), *pivot;
  double *a, re = s->modes[index].real, im = s->modes[index].imaginary, most = 0;
  CNI_TRY(cni_arena_array(arena, (int64_t)n * stride, sizeof *a, &a));
  CNI_TRY(cni_arena_array(arena, n, sizeof *pivot, &pivot));
  for (int32_t i = 0; i < d; i++)
    for (int32_t j = 0; j < d; j++) {
      double c = s->c[i * d + j];
      double real = re * c + s->k[i * d + j] + (i == j ? re * re - im * im : 0);
      double imaginary = im * c + (i == j ? 2 * re * im : 0);
      a[i * stride + j] = a[(d + i) * stride + d + j] = real;
      a[(d + i) * stride + j] = imaginary;
      a[i * stride + d + j] = -imaginary;
      most = cn_max(most, cn_max(fabs(real), fabs(imaginary)));
    }
  for (int32_t i = 0; i < n; i++) {
    a[i * stride + i] += 1e-13 * most;
    x[i] = 1 + cni_sin((double)((index + 1) * (i + 1))); // no symmetry of the machine
  }
  if (cni_dense_factor(cni_dense_kernels(), n, a, stride, pivot, 0))
    for (int32_t round = 0; round < 4; round++) {
      cni_dense_solve(n, a, stride, pivot, x);
      double size = sqrt(cni_span_dot(n, x, x));
      for (int32_t i = 0; size > 0 && i < n; i++) x[i] /= size;
    }
  cni_arena_back(arena, mark);
  return CN_OK;
}

static CnStatus solve_general(Modes *s, int shapes) {
  CniArena *arena = &s->m.arena;
  int64_t d = s->d, n = 2 * d;
  double *a, *real, *imaginary;
  CNI_TRY(cni_arena_array(arena, n, sizeof *s->modes, &s->modes));
  CNI_TRY(cni_arena_array(arena, shapes ? n * n : 0, sizeof *s->shapes, &s->shapes));
  CNI_TRY(cni_arena_array(arena, n * n, sizeof *a, &a));
  CNI_TRY(cni_arena_array(arena, n, sizeof *real, &real));
  CNI_TRY(cni_arena_array(arena, n, sizeof *imaginary, &imaginary));
  for (int64_t i = 0; i < d; i++) {
    a[i * n + d + i] = 1;
    for (int64_t j = 0; j < d; j++) {
      a[(d + i) * n + j] = -s->k[i * d + j];
      a[(d + i) * n + d + j] = -s->c[i * d + j];
    }
  }
  if (!cni_eigen_general((int32_t)n, a, real, imaginary))
    return cni_error(CN_STOPPED, "the eigenvalues of %d modes were not found", (int)d);
  int32_t zeros = 0;
  double none = 10 * sqrt(s->none);
  for (int64_t i = 0; i < n; i++)
    zeros += sqrt(real[i] * real[i] + imaginary[i] * imaginary[i]) <= none;
  for (int32_t i = 0; i < (zeros + 1) / 2; i++) s->modes[s->count++] = mode_of(0, 0);
  for (int64_t i = 0; i < n; i++)
    if (imaginary[i] >= 0 && sqrt(real[i] * real[i] + imaginary[i] * imaginary[i]) > none)
      s->modes[s->count++] = mode_of(real[i], imaginary[i]);
  for (int32_t i = 1; i < s->count; i++) // ascending, equal ones as they came
    for (int32_t j = i; j > 0 && s->modes[j - 1].natural > s->modes[j].natural; j--) {
      CnMode mode = s->modes[j];
      s->modes[j] = s->modes[j - 1];
      s->modes[j - 1] = mode;
    }
  for (int32_t i = 0; shapes && i < s->count; i++)
    CNI_TRY(find_shape(s, i, s->shapes + (size_t)i * (size_t)n));
  return CN_OK;
}

// ---- results ----

// Real and imaginary motion, turned so that the largest number is 1.
static void normalise(int32_t n, double *x, double *y) {
  double most = 0, c = 1, sn = 0;
  for (int32_t i = 0; i < n; i++) {
    double size = x[i] * x[i] + y[i] * y[i];
    if (!(size > most * (1 + 1e-9))) continue;
    most = size;
    c = x[i] / size;
    sn = y[i] / size;
  }
  for (int32_t i = 0; i < n; i++) {
    double re = c * x[i] + sn * y[i], im = c * y[i] - sn * x[i];
    x[i] = re;
    y[i] = im;
  }
}

static CnStatus tell_shapes(Modes *s, CnModeShape *shapes, int32_t count) {
  CniMachine *m = &s->m;
  int32_t n = m->columns, d = s->d, bodies = m->model->body_count;
  double *x, *y;
  CNI_TRY(cni_arena_array(&m->arena, n, sizeof *x, &x));
  CNI_TRY(cni_arena_array(&m->arena, n, sizeof *y, &y));
  for (int32_t i = 0; i < count; i++) {
    const double *from = s->shapes + (size_t)i * (size_t)(s->symmetric ? d : 2 * d);
    memset(y, 0, (size_t)n * sizeof *y);
    cni_machine_expand(m, from, x);
    if (!s->symmetric) cni_machine_expand(m, from + d, y);
    normalise(n, x, y);
    CnBodyId id = {0, 0};
    for (int32_t b = 0; b < bodies; b++) {
      int32_t body;
      CnModeShape *to = &shapes[(size_t)i * (size_t)bodies + (size_t)b];
      *to = (CnModeShape){0};
      id = cn_world_next_body(m->world, id);
      CNI_TRY(cni_model_find_body(m->model, id, &body));
      if (m->place[body] < 0) continue;
      memcpy(&to->real, x + 6 * (size_t)m->place[body], sizeof to->real);
      memcpy(&to->imaginary, y + 6 * (size_t)m->place[body], sizeof to->imaginary);
    }
  }
  return CN_OK;
}

static CnStatus find_modes(Modes *s, CnMode *modes, CnModeShape *shapes, int32_t capacity,
                           int32_t *count) {
  CniMachine *m = &s->m;
  CNI_TRY(check_twists(s));
  CNI_TRY(cni_machine_contacts(m, s->def.contacts, 0, CNI_MACHINE_TOUCHING));
  CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof(double), &s->load));
  CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof(double), &s->sizes));
  CNI_TRY(hold(s));
  s->d = cni_machine_freedoms(m);
  CNI_TRY(check_forces(s));
  CNI_TRY(find_matrices(s));
  CNI_TRY(s->symmetric ? solve_symmetric(s) : solve_general(s, shapes != NULL));
  int32_t given = s->count < capacity ? s->count : capacity;
  if (shapes) CNI_TRY(tell_shapes(s, shapes, given));
  if (modes && given > 0) memcpy(modes, s->modes, (size_t)given * sizeof *modes);
  *count = s->count;
  return CN_OK;
}

CnStatus cn_world_modes(CnWorld *world, const CnModesDef *given, CnMode *modes, CnModeShape *shapes,
                        int32_t capacity, int32_t *count) {
  CNI_FLOATS;
  if (!count) return cni_null_argument("cn_world_modes", "the result pointer");
  *count = 0;
  CNI_TRY(cni_world_open(world, "cn_world_modes"));
  Modes s = {.def = given ? *given : cn_modes_def_default()};
  CNI_TRY(cni_def_check("modes", &s.def, sizeof s.def, TAG));
  if (!(s.def.tolerance > 0))
    return cni_invalid("cn_world_modes: tolerance must be positive (got %g)", s.def.tolerance);
  CnStatus status = cni_machine_begin(world, CNI_DRIVES_HOLD, &s.m);
  if (status == CN_OK) status = find_modes(&s, modes, shapes, capacity, count);
  cni_machine_end(&s.m);
  return status;
}
