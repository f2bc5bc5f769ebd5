// SPDX-License-Identifier: Apache-2.0
// The matrices of a machine, for the interface (<cairn/mechanism.h>).
//
// Freedoms are chosen one after another from the coordinates of joints and then of bodies: one that
// is free to move once those before it are held. With the chosen rows R and the free motions Z the
// basis is Z (R Z)^-1: one freedom moves at rate 1, the others stand still.
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "world/mechanism/machine.h"

#define TAG 0x6863616du

struct CnMachine {
  CnAllocator allocator;
  CniMachine m;
  CnMachineInfo info;
  CnBodyId *bodies;
  CnMachineRow *rows;
  CnMachineFreedom *freedoms;
  double *matrices[CN_MACHINE_MATRIX_COUNT];
};

CnMachineDef cn_machine_def_default(void) {
  return (CnMachineDef){.size = sizeof(CnMachineDef), .tag = TAG, .contacts = CN_CONTACTS_NONE};
}

static void sizes_of(const CnMachine *x, CnMachineMatrix which, int32_t *rows, int32_t *columns) {
  int32_t n = x->m.columns, m = x->info.row_count, d = x->info.freedom_count;
  const int32_t sizes[CN_MACHINE_MATRIX_COUNT][2] = {
      [CN_MACHINE_MASS] = {n, n},         [CN_MACHINE_JACOBIAN] = {m, n},
      [CN_MACHINE_LOADS] = {n, 1},        [CN_MACHINE_BASIS] = {n, d},
      [CN_MACHINE_REDUCED_MASS] = {d, d}, [CN_MACHINE_REDUCED_LOADS] = {d, 1},
      [CN_MACHINE_STIFFNESS] = {n, n},    [CN_MACHINE_DAMPING] = {n, n}};
  *rows = sizes[which][0];
  *columns = sizes[which][1];
}

// ---- rows ----

static CnMachineRow row_of(const CniMachine *m, const CniMachineRef *ref, double error) {
  CnMachineRow row = {.kind = ref->kind, .index = ref->row, .error = error};
  if (ref->kind == CN_MACHINE_CONTACT) {
    row.shape_a = cni_shape_id(m->model, m->touches[ref->joint].shape_a);
    row.shape_b = cni_shape_id(m->model, m->touches[ref->joint].shape_b);
  } else if (ref->kind == CN_MACHINE_COUPLING) {
    const CniCoupling *c = &m->model->couplings[ref->joint];
    row.coupling = (CnCouplingId){c->slot, c->generation};
  } else {
    row.joint = cni_joint_id(m->model, ref->joint);
    if (ref->row >= CNI_JOINT_LOCKED) row.index -= CNI_JOINT_LOCKED;
  }
  return row;
}

static CnStatus take_rows(CnMachine *x) {
  CniMachine *m = &x->m;
  CNI_TRY(cni_arena_array(&m->arena, m->held_count, sizeof *x->rows, &x->rows));
  for (int32_t i = 0; i < m->held_count; i++) {
    double *row = x->matrices[CN_MACHINE_JACOBIAN] + (size_t)i * (size_t)m->columns;
    x->rows[i] = row_of(m, &m->refs[i], cni_machine_row(m, &m->refs[i], row));
  }
  CNI_TRY(cni_arena_array(&m->arena, m->body_count, sizeof *x->bodies, &x->bodies));
  for (int32_t i = 0; i < m->body_count; i++) x->bodies[i] = cni_body_id(m->model, m->bodies[i]);
  return CN_OK;
}

// ---- freedoms ----

typedef struct Choice {
  CnMachine *x;
  double *row, *work, *reduced; // of a candidate
  double *chosen, *across;      // reduced rows, and an orthonormal basis of them
  int32_t count;
} Choice;

static double dot(int32_t n, const double *a, const double *b) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// Take the coordinate whose row is in c->row if at least `share` of it is free.
static void try_row(Choice *c, CnMachineFreedom freedom, double share) {
  CniMachine *m = &c->x->m;
  int32_t d = cni_machine_freedoms(m);
  if (c->count == d) return;
  for (int32_t i = 0; i < c->count; i++)
    if (memcmp(&c->x->freedoms[i], &freedom, sizeof freedom) == 0) return;
  cni_machine_reduce(m, c->row, c->work, c->reduced);
  double whole = 0, *last = c->across + (size_t)c->count * (size_t)d;
  memcpy(c->work, c->row, (size_t)m->columns * sizeof *c->work);
  cni_cholesky_down(m->columns, m->mass_factor, m->mass_first, c->work);
  whole = dot(m->columns, c->work, c->work);
  memcpy(last, c->reduced, (size_t)d * sizeof *last);
  for (int32_t twice = 0; twice < 2; twice++)
    for (int32_t i = 0; i < c->count; i++) {
      const double *other = c->across + (size_t)i * (size_t)d;
      double s = dot(d, other, last);
      for (int32_t k = 0; k < d; k++) last[k] -= s * other[k];
    }
  double left = dot(d, last, last);
  if (!(left > share * share * whole) || !(left > 0)) return;
  for (int32_t k = 0; k < d; k++) last[k] /= sqrt(left);
  memcpy(c->chosen + (size_t)c->count * (size_t)d, c->reduced, (size_t)d * sizeof *last);
  c->x->freedoms[c->count++] = freedom;
}

static void try_all(Choice *c, double share) {
  CniMachine *m = &c->x->m;
  CnJointId joint = {0, 0};
  CnBodyId body = {0, 0};
  int32_t i;
  for (;;) {
    joint = cn_world_next_joint(m->world, joint);
    if (joint.slot == 0 || cni_model_find_joint(m->model, joint, &i) != CN_OK) break;
    for (int32_t k = 0; k < cni_joint_coordinate_count(m->model->joints[i].def.kind); k++) {
      CniMachineRef ref = {CN_MACHINE_DRIVE, i, CNI_JOINT_LOCKED + k, 0, 1, 0, 0, 0};
      cni_machine_row(m, &ref, c->row);
      try_row(c, (CnMachineFreedom){.joint = joint, .coordinate = k}, share);
    }
  }
  for (;;) {
    body = cn_world_next_body(m->world, body);
    if (body.slot == 0 || cni_model_find_body(m->model, body, &i) != CN_OK) break;
    for (int32_t k = 0; m->place[i] >= 0 && k < 6; k++) {
      memset(c->row, 0, (size_t)m->columns * sizeof *c->row);
      c->row[6 * m->place[i] + k] = 1;
      try_row(c, (CnMachineFreedom){.body = body, .coordinate = k}, share);
    }
  }
}

static CnStatus choose(CnMachine *x) {
  CniMachine *m = &x->m;
  CniArena *arena = &m->arena;
  int64_t d = cni_machine_freedoms(m), n = m->columns;
  Choice c = {.x = x};
  CNI_TRY(cni_arena_array(arena, d, sizeof *x->freedoms, &x->freedoms));
  CNI_TRY(cni_arena_array(arena, n, sizeof *c.row, &c.row));
  CNI_TRY(cni_arena_array(arena, n, sizeof *c.work, &c.work));
  CNI_TRY(cni_arena_array(arena, n, sizeof *c.reduced, &c.reduced));
  CNI_TRY(cni_arena_array(arena, (d + 1) * d, sizeof *c.chosen, &c.chosen));
  CNI_TRY(cni_arena_array(arena, (d + 1) * d, sizeof *c.across, &c.across));
  try_all(&c, 1e-5); // one that hardly moves only where there is no other
  try_all(&c, 1e-9);
  CniSpan span;
  CNI_TRY(cni_span_begin(arena, (int32_t)d, (int32_t)d, &span));
  if (d > 0) memcpy(span.rows, c.chosen, (size_t)(d * d) * sizeof *span.rows);
  cni_span_factor(&span, 0);
  double *basis = x->matrices[CN_MACHINE_BASIS];
  for (int32_t j = 0; j < d; j++) {
    memset(c.row, 0, (size_t)n * sizeof *c.row);
    c.row[j] = 1;
    cni_span_solve(&span, c.row, c.reduced);
    cni_machine_expand(m, c.reduced, c.work);
    for (int64_t i = 0; i < n; i++) basis[i * d + j] = c.work[i];
  }
  return CN_OK;
}

static void reduce(CnMachine *x, double *work) {
  int32_t n = x->m.columns, d = x->info.freedom_count;
  const double *z = x->matrices[CN_MACHINE_BASIS], *mass = x->matrices[CN_MACHINE_MASS];
  for (int32_t j = 0; j < d; j++) {
    double load = 0;
    for (int32_t i = 0; i < n; i++) {
      work[i] = 0;
      for (int32_t k = 0; k < n; k++) work[i] += mass[i * n + k] * z[k * d + j];
      load += z[i * d + j] * x->matrices[CN_MACHINE_LOADS][i];
    }
    for (int32_t i = 0; i < d; i++) {
      double sum = 0;
      for (int32_t k = 0; k < n; k++) sum += z[k * d + i] * work[k];
      x->matrices[CN_MACHINE_REDUCED_MASS][i * d + j] = sum;
    }
    x->matrices[CN_MACHINE_REDUCED_LOADS][j] = load;
  }
}

// ---- the interface ----

static CnStatus build(CnWorld *world, const CnMachineDef *def, CnMachine *x) {
  CniMachine *m = &x->m;
  double *efforts, *work;
  CNI_TRY(cni_machine_begin(world, def->hold_drives ? CNI_DRIVES_HOLD : CNI_DRIVES_FREE, m));
  CNI_TRY(cni_machine_contacts(m, def->contacts, 0, CNI_MACHINE_TOUCHING));
  if (def->contacts != CN_CONTACTS_NONE) cni_machine_hold_pushing(m, CNI_MACHINE_TOUCHING);
  CNI_TRY(cni_machine_factor(m));
  x->info = (CnMachineInfo){m->body_count, m->held_count, m->held_count - m->span.rank,
                            cni_machine_freedoms(m)};
  for (int32_t i = 0; i < CN_MACHINE_MATRIX_COUNT; i++) {
    int32_t rows, columns;
    sizes_of(x, (CnMachineMatrix)i, &rows, &columns);
    CNI_TRY(cni_arena_array(&m->arena, (int64_t)rows * columns, sizeof(double), &x->matrices[i]));
  }
  CNI_TRY(cni_arena_array(&m->arena, m->ref_count, sizeof *efforts, &efforts));
  CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof *work, &work));
  CNI_TRY(take_rows(x));
  cni_machine_mass(m, x->matrices[CN_MACHINE_MASS]);
  CNI_TRY(cni_machine_load(m, x->matrices[CN_MACHINE_LOADS], NULL));
  CNI_TRY(cni_machine_efforts(m, x->matrices[CN_MACHINE_LOADS], efforts));
  CNI_TRY(cni_machine_stiffness(m, efforts, x->matrices[CN_MACHINE_STIFFNESS],
                                x->matrices[CN_MACHINE_DAMPING]));
  CNI_TRY(choose(x));
  reduce(x, work);
  return CN_OK;
}

CnStatus cn_machine_create(CnWorld *world, const CnMachineDef *given, CnMachine **machine) {
  CNI_FLOATS;
  if (!machine) return cni_null_argument("cn_machine_create", "the result pointer");
  *machine = NULL;
  CNI_TRY(cni_world_open(world, "cn_machine_create"));
  CnMachineDef def = given ? *given : cn_machine_def_default();
  CNI_TRY(cni_def_check("machine", &def, sizeof def, TAG));
  CnMachine *x;
  CNI_TRY(cni_new(&world->allocator, sizeof *x, &x));
  x->allocator = world->allocator;
  CnStatus status = build(world, &def, x);
  if (status == CN_OK)
    *machine = x;
  else
    cn_machine_destroy(x);
  return status;
}

void cn_machine_destroy(CnMachine *machine) {
  if (!machine) return;
  CnAllocator allocator = machine->allocator;
  cni_machine_end(&machine->m);
  cni_release(&allocator, machine, sizeof *machine);
}

CnStatus cn_machine_info(const CnMachine *machine, CnMachineInfo *info) {
  CNI_FLOATS;
  if (!info) return cni_null_argument("cn_machine_info", "the result pointer");
  *info = (CnMachineInfo){0};
  if (!machine) return cni_null_argument("cn_machine_info", "the machine");
  *info = machine->info;
  return CN_OK;
}

static CnStatus check(const CnMachine *machine, const char *call, int32_t index,
                      const int32_t *count, const void *result) {
  if (!result) return cni_null_argument(call, "the result pointer");
  if (!machine) return cni_null_argument(call, "the machine");
  if (index >= 0 && index < *count) return CN_OK;
  return cni_invalid("%s: there are %d (got index %d)", call, (int)*count, (int)index);
}

CnStatus cn_machine_body(const CnMachine *machine, int32_t index, CnBodyId *body) {
  CNI_FLOATS;
  if (body) *body = (CnBodyId){0, 0};
  CNI_TRY(
      check(machine, "cn_machine_body", index, machine ? &machine->info.body_count : NULL, body));
  *body = machine->bodies[index];
  return CN_OK;
}

CnStatus cn_machine_row(const CnMachine *machine, int32_t index, CnMachineRow *row) {
  CNI_FLOATS;
  if (row) *row = (CnMachineRow){0};
  CNI_TRY(check(machine, "cn_machine_row", index, machine ? &machine->info.row_count : NULL, row));
  *row = machine->rows[index];
  return CN_OK;
}

CnStatus cn_machine_freedom(const CnMachine *machine, int32_t index, CnMachineFreedom *freedom) {
  CNI_FLOATS;
  if (freedom) *freedom = (CnMachineFreedom){0};
  CNI_TRY(check(machine, "cn_machine_freedom", index, machine ? &machine->info.freedom_count : NULL,
                freedom));
  *freedom = machine->freedoms[index];
  return CN_OK;
}

CnStatus cn_machine_matrix(const CnMachine *machine, CnMachineMatrix which, double *values,
                           int64_t capacity, int32_t *rows, int32_t *columns) {
  CNI_FLOATS;
  int32_t r, c, count = CN_MACHINE_MATRIX_COUNT;
  CNI_TRY(check(machine, "cn_machine_matrix", (int32_t)which, &count, machine));
  sizes_of(machine, which, &r, &c);
  if (rows) *rows = r;
  if (columns) *columns = c;
  int64_t size = (int64_t)r * c;
  if (!values || size == 0) return CN_OK;
  if (capacity < size)
    return cni_invalid("cn_machine_matrix: the matrix has %lld numbers (capacity %lld)",
                       (long long)size, (long long)capacity);
  memcpy(values, machine->matrices[which], (size_t)size * sizeof *values);
  return CN_OK;
}
