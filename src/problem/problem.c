// SPDX-License-Identifier: Apache-2.0
// The step problem as a container: groups, sets and blocks go in, checked, in the order that
// solvers will visit them; the answer that belongs to it.
//
// Whatever comes through the public functions is checked here once, with a message that names the
// offending value, so that the kernels further in need no checks. A call that fails leaves the
// problem as it was: first everything is checked, then room is made for everything, then written.
#include "problem/problem.h"

#include "core/assert.h"
#include "core/fields.h"
#include "core/floats.h"
#include "core/sort.h"
#include "core/vec.h"
#include "sparse/sparse.h"

#include <string.h>

#define TAG_SET 0x636e7365u
#define TAG_PROBLEM 0x636e7072u
#define TAG_GROUP 0x636e6772u
#define TAG_PAIR 0x636e7061u
#define TAG_SPHERE 0x636e7370u

// How far a normal or tangent may be from unit length and from a right angle.
#define UNIT_TOLERANCE 1e-9

// Room for rounding in the signs of the principal minors of an inverse inertia, relative to its
// trace. A rotated semidefinite matrix has minors of a few units in the last place below zero.
#define SEMIDEFINITE_TOLERANCE 1e-12

// ---- names and defaults ----

const char *const cni_block_kind_words[CN_BLOCK_KIND_COUNT + 1] = {
    "bilateral", "unilateral", "interval", "friction-2d", "friction", "rolling", "spinning", NULL};

const char *cn_block_kind_name(CnBlockKind kind) {
  return (uint32_t)kind < CN_BLOCK_KIND_COUNT ? cni_block_kind_words[kind] : "unknown";
}

const char *cn_friction_model_name(CnFrictionModel model) {
  return model == CN_FRICTION_COULOMB  ? "coulomb"
         : model == CN_FRICTION_CONVEX ? "convex"
                                       : "unknown";
}

CnSet cn_set_default(CnBlockKind kind) {
  return (CnSet){.size = sizeof(CnSet), .tag = TAG_SET, .kind = kind};
}

CnProblemDef cn_problem_def_default(void) {
  return (CnProblemDef){.size = sizeof(CnProblemDef),
                        .tag = TAG_PROBLEM,
                        .form = CN_FORM_STEP,
                        .friction = CN_FRICTION_COULOMB,
                        .allocator = cn_allocator_default()};
}

CnGroupDef cn_group_def_default(void) {
  return (CnGroupDef){.size = sizeof(CnGroupDef), .tag = TAG_GROUP};
}

CnPairDef cn_pair_def_default(void) {
  return (CnPairDef){.size = sizeof(CnPairDef),
                     .tag = TAG_PAIR,
                     .group_a = -1,
                     .group_b = -1,
                     .normal = {0, 0, 1},
                     .tangent = {1, 0, 0},
                     .length = 1};
}

CnSphereDef cn_sphere_def_default(void) {
  return (CnSphereDef){.size = sizeof(CnSphereDef),
                       .tag = TAG_SPHERE,
                       .group_a = -1,
                       .group_b = -1,
                       .normal = {0, 0, 1},
                       .length = 1};
}

static const char *form_name(CnProblemForm form) {
  return form == CN_FORM_STEP ? "step" : form == CN_FORM_EXPLICIT ? "explicit" : "global";
}

// ---- create and destroy ----

CnStatus cn_problem_create(const CnProblemDef *def, CnProblem **problem) {
  CNI_FLOATS;
  if (!problem) return cni_invalid("cn_problem_create: problem is null");
  *problem = NULL;
  CNI_TRY(cni_def_check("problem", def, sizeof *def, TAG_PROBLEM));
  if (def->form != CN_FORM_STEP && def->form != CN_FORM_EXPLICIT && def->form != CN_FORM_GLOBAL)
    return cni_invalid("problem form %d is unknown", (int)def->form);
  if (def->friction != CN_FRICTION_COULOMB && def->friction != CN_FRICTION_CONVEX)
    return cni_invalid("friction model %d is unknown", (int)def->friction);
  if (!def->allocator.allocate || !def->allocator.release)
    return cni_invalid("cn_problem_create: the allocator has a null function");
  CnProblem *p;
  CNI_TRY(cni_new(&def->allocator, sizeof *p, &p));
  p->allocator = def->allocator;
  p->form = def->form;
  p->friction = def->friction;
  *problem = p;
  return CN_OK;
}

void cn_problem_destroy(CnProblem *p) {
  if (!p) return;
  CNI_RELEASE(&p->allocator, p->groups, p->group_capacity);
  CNI_RELEASE(&p->allocator, p->inertias, p->inertia_capacity);
  CNI_RELEASE(&p->allocator, p->olds, p->old_capacity);
  CNI_RELEASE(&p->allocator, p->lengths, p->length_capacity);
  CNI_RELEASE(&p->allocator, p->sets, p->set_capacity);
  CNI_RELEASE(&p->allocator, p->blocks, p->block_capacity);
  CNI_RELEASE(&p->allocator, p->pairs, p->pair_capacity);
  CNI_RELEASE(&p->allocator, p->spheres, p->sphere_capacity);
  CNI_RELEASE(&p->allocator, p->row_blocks, p->row_block_capacity);
  CNI_RELEASE(&p->allocator, p->row_entries, p->row_entry_capacity);
  CNI_RELEASE(&p->allocator, p->b, p->row_capacity);
  CNI_RELEASE(&p->allocator, p->of.numbers, p->of.capacity);
  CNI_RELEASE(&p->allocator, p->w.start, p->w_row_capacity);
  CNI_RELEASE(&p->allocator, p->w.column, p->w_column_capacity);
  CNI_RELEASE(&p->allocator, p->w.value, p->w_entry_capacity);
  cni_global_release(p);
  CnAllocator allocator = p->allocator;
  cni_release(&allocator, p, sizeof *p);
}

void cn_problem_clear(CnProblem *p) {
  if (!p) return;
  p->group_count = p->set_count = p->block_count = 0;
  p->pair_count = p->sphere_count = p->row_block_count = p->row_entry_count = 0;
  p->row_count = p->part = 0;
  p->full_inertias = p->own_olds = p->own_lengths = p->b_per_block = 0;
  p->change = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  p->speed = 0;
  p->w.row_count = p->w.column_count = 0;
  cni_global_release(p);
}

// ---- room ----

static CnStatus reserve_array(CnProblem *p, void **data, int32_t *capacity, int32_t count,
                              int32_t more, int32_t limit, size_t element_size, const char *what) {
  if (more < 0 || more > limit - count)
    return cni_invalid("a problem holds at most %d %s (asked for %d more)", limit, what, more);
  return cni_array_reserve(&p->allocator, data, capacity, count, count + more, element_size);
}

// One number a row, or a block. Blocks may be there before their b.
static CnStatus reserve_b(CnProblem *p, const CniProblemRoom *room) {
  int32_t limit = INT32_MAX / 4, kept = p->b_per_block ? p->block_count : p->row_count;
  if (room->rows < 0 || room->rows > limit - p->row_count)
    return cni_invalid("a problem holds at most %d rows (asked for %d more)", limit, room->rows);
  int32_t needed = kept + (p->b_per_block ? room->blocks : room->rows);
  if (kept > p->row_capacity) kept = p->row_capacity;
  return CNI_RESERVE(&p->allocator, p->b, p->row_capacity, kept, needed);
}

// From the last block to the first: its rows are never before its place.
CnStatus cni_problem_widen_b(CnProblem *p) {
  if (!p->b_per_block) return CN_OK;
  CNI_TRY(CNI_RESERVE(&p->allocator, p->b, p->row_capacity, p->block_count, p->row_count));
  for (int32_t i = p->block_count - 1; i >= 0; i--) {
    const CniBlock *block = &p->blocks[i];
    p->b[block->row] = p->b[i];
    for (int32_t d = 1; d < block->dim; d++) p->b[block->row + d] = 0;
  }
  p->b_per_block = 0;
  return CN_OK;
}

CnStatus cni_problem_reserve(CnProblem *p, const CniProblemRoom *room) {
#define RESERVE(array, name, more, limit, what)                                                    \
  if ((more) < 0 || (more) > (limit)-p->name##_count ||                                            \
      (more) > p->name##_capacity - p->name##_count)                                               \
  CNI_TRY(reserve_array(p, (void **)&p->array, &p->name##_capacity, p->name##_count, more, limit,  \
                        sizeof *p->array, what))
  // one more than there are: lanes without a contact have it in a solver to which they are lent
  int32_t spare = room->groups > 0 && room->groups < INT32_MAX;
  RESERVE(groups, group, room->groups + spare, INT32_MAX / 16, "groups");
  RESERVE(sets, set, room->sets, CNI_SET_LIMIT, "sets");
  RESERVE(blocks, block, room->blocks, INT32_MAX / 16, "blocks");
  RESERVE(pairs, pair, room->pairs, INT32_MAX / 16, "pair blocks");
  RESERVE(spheres, sphere, room->spheres, INT32_MAX / 16, "sphere blocks");
  RESERVE(row_blocks, row_block, room->row_blocks, INT32_MAX / 16, "blocks of rows");
  RESERVE(row_entries, row_entry, room->row_entries, INT32_MAX / 16, "row entries");
#undef RESERVE
  CNI_TRY(reserve_b(p, room));
  int32_t groups = p->group_count + room->groups;
  if (room->inertias)
    CNI_TRY(CNI_RESERVE(&p->allocator, p->inertias, p->inertia_capacity, 0, groups));
  if (room->olds) CNI_TRY(CNI_RESERVE(&p->allocator, p->olds, p->old_capacity, 0, groups));
  p->full_inertias |= room->inertias;
  p->own_olds |= room->olds;
  return CN_OK;
}

int32_t cni_problem_velocity_count(const CnProblem *p) {
  if (p->form == CN_FORM_GLOBAL) return p->global ? p->global->m.row_count : 0;
  return 6 * p->group_count;
}

int32_t cni_problem_group_from(const CnProblem *p, int32_t number) {
  return cni_lower_bound(p->of.numbers, p->group_count, number);
}

CnStatus cni_problem_check(const CnProblem *p) {
  if (p->form == CN_FORM_EXPLICIT && p->row_count != p->w.row_count)
    return cni_invalid("the blocks cover %d of the %d rows of W", p->row_count, p->w.row_count);
  int32_t rows = p->global ? p->global->e.row_count : 0;
  if (p->form == CN_FORM_GLOBAL && p->row_count != rows)
    return cni_invalid("the blocks cover %d of the %d rows of E", p->row_count, rows);
  return CN_OK;
}

// ---- groups ----

static int twist_finite(const CnTwist *t) {
  return cn_vec3_finite(t->velocity) && cn_vec3_finite(t->spin);
}

static CnStatus check_inertia(const CnSym3 *j) {
  if (!isfinite(j->xx) || !isfinite(j->yy) || !isfinite(j->zz) || !isfinite(j->xy) ||
      !isfinite(j->xz) || !isfinite(j->yz))
    return cni_invalid("group: inv_inertia is not finite");
  double trace = j->xx + j->yy + j->zz;
  double floor2 = -SEMIDEFINITE_TOLERANCE * trace * trace;
  if (j->xx < 0 || j->yy < 0 || j->zz < 0 || j->xx * j->yy - j->xy * j->xy < floor2 ||
      j->xx * j->zz - j->xz * j->xz < floor2 || j->yy * j->zz - j->yz * j->yz < floor2 ||
      cn_sdet(*j) < floor2 * trace)
    return cni_invalid("group: inv_inertia is not positive semidefinite "
                       "(diagonal %g %g %g, off-diagonal xy %g xz %g yz %g)",
                       j->xx, j->yy, j->zz, j->xy, j->xz, j->yz);
  return CN_OK;
}

CnStatus cn_problem_add_group(CnProblem *p, const CnGroupDef *def, int32_t *group) {
  CNI_FLOATS;
  if (group) *group = -1;
  if (!p || !def) return cni_invalid("cn_problem_add_group: %s is null", p ? "def" : "problem");
  CNI_TRY(cni_def_check("group", def, sizeof *def, TAG_GROUP));
  if (p->form != CN_FORM_STEP)
    return cni_invalid("a problem of the %s form has no groups", form_name(p->form));
  if (!(def->inv_mass >= 0) || !isfinite(def->inv_mass))
    return cni_invalid("group: inv_mass must be finite and >= 0 (got %g)", def->inv_mass);
  CNI_TRY(check_inertia(&def->inv_inertia));
  double trace = def->inv_inertia.xx + def->inv_inertia.yy + def->inv_inertia.zz;
  if (def->inv_mass == 0 && trace > 0)
    return cni_invalid(
        "group: with inv_mass 0 the velocity is prescribed, inv_inertia must be 0 too "
        "(its trace is %g)",
        trace);
  if (!twist_finite(&def->free)) return cni_invalid("group: the free velocity is not finite");
  if (!twist_finite(&def->old)) return cni_invalid("group: the old velocity is not finite");

  CniProblemRoom room = {.groups = 1};
  CNI_TRY(cni_problem_reserve(p, &room));
  p->groups[p->group_count] = (CniGroup){def->free.velocity, def->inv_mass, def->free.spin, 0};
  CNI_TRY(cni_group_set_inertia(p, p->group_count, &def->inv_inertia));
  CNI_TRY(cni_group_set_old(p, p->group_count, &def->old));
  if (group) *group = p->group_count;
  p->group_count++;
  return CN_OK;
}

// ---- sets ----

static CnStatus check_nonnegative(double x, const char *field) {
  if (x >= 0 && isfinite(x)) return CN_OK;
  return cni_invalid("set: %s must be finite and >= 0 (got %g)", field, x);
}

// Only the fields that the kind uses.
static CnStatus check_set(const CnSet *set) {
  CNI_TRY(cni_def_check("set", set, sizeof *set, TAG_SET));
  if ((uint32_t)set->kind >= CN_BLOCK_KIND_COUNT)
    return cni_invalid("set: block kind %d is unknown", (int)set->kind);
  CNI_TRY(check_nonnegative(set->compliance[0], "compliance[0]"));
  if (set->kind == CN_BLOCK_INTERVAL && !(set->lo <= set->hi))
    return cni_invalid("set: lo must be at most hi (got %g and %g)", set->lo, set->hi);
  if (set->kind == CN_BLOCK_INTERVAL && (set->lo == INFINITY || set->hi == -INFINITY))
    return cni_invalid("set: the interval from %g to %g holds no number", set->lo, set->hi);
  if (set->kind >= CN_BLOCK_FRICTION_2D) {
    CNI_TRY(check_nonnegative(set->mu, "mu"));
    CNI_TRY(check_nonnegative(set->cohesion, "cohesion"));
    CNI_TRY(check_nonnegative(set->compliance[1], "compliance[1]"));
  }
  if (set->kind >= CN_BLOCK_ROLLING) {
    CNI_TRY(check_nonnegative(set->mu_roll, "mu_roll"));
    CNI_TRY(check_nonnegative(set->compliance[2], "compliance[2]"));
  }
  if (set->kind == CN_BLOCK_SPINNING) CNI_TRY(check_nonnegative(set->mu_spin, "mu_spin"));
  return CN_OK;
}

CnStatus cn_problem_add_set(CnProblem *p, const CnSet *set, int32_t *index) {
  CNI_FLOATS;
  if (index) *index = -1;
  if (!p || !set) return cni_invalid("cn_problem_add_set: %s is null", p ? "set" : "problem");
  CNI_TRY(check_set(set));
  CniProblemRoom room = {.sets = 1};
  CNI_TRY(cni_problem_reserve(p, &room));
  p->sets[p->set_count] = *set;
  if (index) *index = p->set_count;
  p->set_count++;
  return CN_OK;
}

// ---- blocks ----

// What all storages check alike: the set exists and the dimension fits its kind.
static CnStatus check_block(const CnProblem *p, CnProblemForm form, int32_t set, int32_t dim) {
  if (!p) return cni_invalid("block: problem is null");
  if (p->form != form)
    return cni_invalid("this block does not belong in a problem of the %s form",
                       form_name(p->form));
  if (set < 0 || set >= p->set_count)
    return cni_invalid("block: set %d does not exist (there are %d)", set, p->set_count);
  CnBlockKind kind = p->sets[set].kind;
  int32_t fixed = cni_block_dim(kind);
  if (fixed ? dim != fixed : dim < 1 || dim > CNI_MAX_DIM)
    return cni_invalid("block: a %s block cannot have dimension %d", cn_block_kind_name(kind), dim);
  return CN_OK;
}

static CnStatus check_b(const double *b, int32_t dim) {
  if (!b) return cni_invalid("block: b is null");
  for (int32_t i = 0; i < dim; i++)
    if (!isfinite(b[i])) return cni_invalid("block: b[%d] is not finite", i);
  return CN_OK;
}

static CnStatus check_group_index(const CnProblem *p, int32_t group) {
  if (group >= 0 && group < p->group_count) return CN_OK;
  return cni_invalid("block: group %d does not exist (there are %d)", group, p->group_count);
}

static CnStatus check_two_groups(const CnProblem *p, int32_t a, int32_t b) {
  CNI_TRY(check_group_index(p, a));
  CNI_TRY(check_group_index(p, b));
  if (a == b) return cni_invalid("block: group %d cannot meet itself", a);
  return CN_OK;
}

static CnStatus check_unit(CnVec3 a, const char *field) {
  double n = cn_norm(a);
  if (fabs(n - 1) <= UNIT_TOLERANCE) return CN_OK;
  return cni_invalid("block: %s must have length 1 (got %.12g)", field, n);
}

static CnStatus check_length(double length) {
  if (length > 0 && isfinite(length)) return CN_OK;
  return cni_invalid("block: length must be positive (got %g)", length);
}

// Append the block itself; room has been made. b is null in the explicit form: q is there already.
static void append_block(CnProblem *p, CniStorage storage, int32_t index, int32_t set, int32_t dim,
                         const double *b, int32_t *block) {
  CNI_ASSERT(p->block_count < p->block_capacity && set < p->set_count);
  CniBlock *added = &p->blocks[p->block_count];
  *added = cni_block_make(storage, index, p->row_count, set, p->sets[set].kind, dim);
  if (b) memcpy(p->b + p->row_count, b, (size_t)dim * sizeof *b);
  if (block) *block = p->block_count;
  p->block_count++;
  p->row_count += dim;
}

CnStatus cn_problem_add_rows(CnProblem *p, int32_t set, int32_t dim, const CnRowEntry *entries,
                             int32_t entry_count, const double *b, int32_t *block) {
  CNI_FLOATS;
  if (block) *block = -1;
  CNI_TRY(check_block(p, CN_FORM_STEP, set, dim));
  CNI_TRY(check_b(b, dim));
  if (entry_count < 0 || (entry_count > 0 && !entries))
    return cni_invalid("rows: entries is null or entry_count negative (%d)", entry_count);
  for (int32_t i = 0; i < entry_count; i++) {
    CNI_TRY(check_group_index(p, entries[i].group));
    if (entries[i].row < 0 || entries[i].row >= dim)
      return cni_invalid("rows: entry %d has row %d of a block of dimension %d", i, entries[i].row,
                         dim);
    if (!twist_finite(&entries[i].coefficient))
      return cni_invalid("rows: entry %d is not finite", i);
  }
  CNI_TRY(cni_problem_widen_b(p));
  CniProblemRoom room = {.blocks = 1, .row_blocks = 1, .row_entries = entry_count, .rows = dim};
  CNI_TRY(cni_problem_reserve(p, &room));
  p->row_blocks[p->row_block_count] = (CniRowsBlock){p->row_entry_count, entry_count};
  for (int32_t i = 0; i < entry_count; i++) p->row_entries[p->row_entry_count + i] = entries[i];
  append_block(p, CNI_ROWS, p->row_block_count, set, dim, b, block);
  p->row_block_count++;
  p->row_entry_count += entry_count;
  return CN_OK;
}

CnStatus cn_problem_add_pair(CnProblem *p, int32_t set, int32_t dim, const CnPairDef *def,
                             const double *b, int32_t *block) {
  CNI_FLOATS;
  if (block) *block = -1;
  CNI_TRY(check_block(p, CN_FORM_STEP, set, dim));
  CNI_TRY(check_b(b, dim));
  CNI_TRY(cni_def_check("pair", def, sizeof *def, TAG_PAIR));
  CNI_TRY(check_two_groups(p, def->group_a, def->group_b));
  CNI_TRY(check_unit(def->normal, "normal"));
  CNI_TRY(check_unit(def->tangent, "tangent"));
  double cosine = cn_dot(def->normal, def->tangent);
  if (!(fabs(cosine) <= UNIT_TOLERANCE))
    return cni_invalid("pair: normal and tangent must be orthogonal (their product is %g)", cosine);
  if (!cn_vec3_finite(def->arm_a) || !cn_vec3_finite(def->arm_b))
    return cni_invalid("pair: arm_%c is not finite", cn_vec3_finite(def->arm_a) ? 'b' : 'a');
  CNI_TRY(check_length(def->length));

  CNI_TRY(cni_problem_widen_b(p));
  CniProblemRoom room = {.blocks = 1, .pairs = 1, .rows = dim};
  CNI_TRY(cni_problem_reserve(p, &room));
  p->pairs[p->pair_count] = (CniPairBlock){def->normal, def->tangent, def->arm_a,  def->arm_b,
                                           def->length, def->group_a, def->group_b};
  append_block(p, CNI_PAIR, p->pair_count, set, dim, b, block);
  p->pair_count++;
  return CN_OK;
}

static CnStatus check_radius(double radius, const char *field) {
  if (radius >= 0 && isfinite(radius)) return CN_OK;
  return cni_invalid("sphere: %s must be finite and >= 0 (got %g)", field, radius);
}

CnStatus cn_problem_add_sphere(CnProblem *p, int32_t set, int32_t dim, const CnSphereDef *def,
                               const double *b, int32_t *block) {
  CNI_FLOATS;
  if (block) *block = -1;
  CNI_TRY(check_block(p, CN_FORM_STEP, set, dim));
  CNI_TRY(check_b(b, dim));
  CNI_TRY(cni_def_check("sphere", def, sizeof *def, TAG_SPHERE));
  CNI_TRY(check_two_groups(p, def->group_a, def->group_b));
  for (int32_t i = 0; i < 2; i++) {
    int32_t group = i == 0 ? def->group_a : def->group_b;
    if (cni_group_kind(&p->groups[group]) == CNI_MASS_FULL)
      return cni_invalid("sphere: the inertia of group %d is not isotropic, use a pair block",
                         group);
  }
  CNI_TRY(check_unit(def->normal, "normal"));
  CNI_TRY(check_radius(def->radius_a, "radius_a"));
  CNI_TRY(check_radius(def->radius_b, "radius_b"));
  CNI_TRY(check_length(def->length));

  CNI_TRY(cni_problem_widen_b(p));
  CniProblemRoom room = {.blocks = 1, .spheres = 1, .rows = dim};
  CNI_TRY(cni_problem_reserve(p, &room));
  p->spheres[p->sphere_count] =
      (CniSphereBlock){def->normal, def->radius_a, def->radius_b, def->group_a, def->group_b};
  CNI_TRY(cni_sphere_set_length(p, p->sphere_count, def->length));
  append_block(p, CNI_SPHERE, p->sphere_count, set, dim, b, block);
  p->sphere_count++;
  return CN_OK;
}

// ---- explicit form ----

// Make room for W and q; on failure the matrix in the problem is still whole.
static CnStatus reserve_explicit(CnProblem *p, int32_t row_count, int32_t entry_count) {
  const CnAllocator *a = &p->allocator;
  CNI_TRY(CNI_RESERVE(a, p->w.start, p->w_row_capacity, 0, row_count + 1));
  CNI_TRY(CNI_RESERVE(a, p->w.column, p->w_column_capacity, 0, entry_count));
  CNI_TRY(CNI_RESERVE(a, p->w.value, p->w_entry_capacity, 0, entry_count));
  return CNI_RESERVE(a, p->b, p->row_capacity, 0, row_count);
}

CnStatus cn_problem_set_explicit(CnProblem *p, const CnSparse *w, const double *q) {
  CNI_FLOATS;
  if (!p) return cni_invalid("cn_problem_set_explicit: problem is null");
  if (p->form != CN_FORM_EXPLICIT)
    return cni_invalid("W belongs in a problem of the explicit form");
  if (p->block_count > 0 || p->w.row_count > 0)
    return cni_invalid("W is there already (%d rows): clear the problem first", p->w.row_count);
  CNI_TRY(cni_sparse_check(w, "W"));
  if (w->row_count != w->column_count || w->row_count > INT32_MAX / 4)
    return cni_invalid("W must be square (got %d x %d)", w->row_count, w->column_count);
  if (!q && w->row_count > 0) return cni_invalid("q is null");
  for (int32_t i = 0; i < w->row_count; i++)
    if (!isfinite(q[i])) return cni_invalid("q[%d] is not finite", i);

  int32_t entry_count = w->start[w->row_count];
  CNI_TRY(reserve_explicit(p, w->row_count, entry_count));
  p->w.row_count = p->w.column_count = w->row_count;
  memcpy(p->w.start, w->start, ((size_t)w->row_count + 1) * sizeof *w->start);
  if (entry_count > 0) {
    memcpy(p->w.column, w->column, (size_t)entry_count * sizeof *w->column);
    memcpy(p->w.value, w->value, (size_t)entry_count * sizeof *w->value);
  }
  if (w->row_count > 0) memcpy(p->b, q, (size_t)w->row_count * sizeof *q);
  return CN_OK;
}

CnStatus cn_problem_add_explicit(CnProblem *p, int32_t set, int32_t dim, int32_t *block) {
  CNI_FLOATS;
  if (block) *block = -1;
  int is_global = p && p->form == CN_FORM_GLOBAL;
  CNI_TRY(check_block(p, is_global ? CN_FORM_GLOBAL : CN_FORM_EXPLICIT, set, dim));
  int32_t rows = is_global ? p->global ? p->global->e.row_count : 0 : p->w.row_count;
  if (dim > rows - p->row_count)
    return cni_invalid("block: dimension %d at row %d goes beyond the %d rows of %s", dim,
                       p->row_count, rows, is_global ? "E" : "W");
  // q has its room already, so that only the block is new
  CniProblemRoom room = {.blocks = 1};
  CNI_TRY(cni_problem_reserve(p, &room));
  append_block(p, is_global ? CNI_GLOBAL : CNI_EXPLICIT, 0, set, dim, NULL, block);
  return CN_OK;
}

// ---- sizes ----

void cn_problem_info(const CnProblem *p, CnProblemInfo *info) {
  if (!info) return;
  memset(info, 0, sizeof *info);
  if (!p) return;
  info->form = p->form;
  info->friction = p->friction;
  info->group_count = p->group_count;
  info->block_count = p->block_count;
  info->row_count = p->row_count;
  info->velocity_count = cni_problem_velocity_count(p);
  for (int32_t i = 0; i < p->block_count; i++) info->kind_count[p->blocks[i].kind]++;
}
