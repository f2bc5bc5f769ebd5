// SPDX-License-Identifier: Apache-2.0
// One step's problem from the model and its contacts.
//
// Order of writing: groups (bodies, then the ground), blocks of forces and of joints in dense order,
// blocks of contacts in their order, then the warm start. Every part is a function of the input alone; loops
// over bodies and contacts write to their own places, so the number of workers cannot be seen in
// the result.
//
// Cost: linear in bodies, joints and contacts, each visited a fixed number of times. Memory: the
// problem's own arrays and the step's arena; after warm-up neither grows.
#include "assembly/assembly_private.h"

#include "core/hash.h"

#define FEW_SETS 4 // are looked through one by one
#define FIRST_SLOTS 64

// ---- sets by value ----

static void set_table_init(CniSetTable *table, CnProblem *problem, CniArena *arena) {
  *table = (CniSetTable){problem, arena, NULL, 0, -1};
}

static uint64_t hash_set(const CnSet *s) {
  double numbers[] = {s->mu, s->mu_roll,       s->mu_spin,       s->cohesion,     s->lo,
                      s->hi, s->compliance[0], s->compliance[1], s->compliance[2]};
  uint64_t hash = cni_hash_u64(CNI_HASH_START, (uint64_t)s->kind);
  return cni_hash_doubles(hash, numbers, sizeof numbers / sizeof numbers[0]);
}

static int same_set(const CnSet *a, const CnSet *b) {
  return a->kind == b->kind && a->mu == b->mu && a->mu_roll == b->mu_roll &&
         a->mu_spin == b->mu_spin && a->cohesion == b->cohesion && a->lo == b->lo &&
         a->hi == b->hi && a->compliance[0] == b->compliance[0] &&
         a->compliance[1] == b->compliance[1] && a->compliance[2] == b->compliance[2];
}

// The slot of an equal set, or the free one where it belongs.
static int32_t find_slot(const CniSetTable *table, const CnSet *set) {
  uint32_t mask = (uint32_t)table->capacity - 1;
  uint32_t slot = (uint32_t)hash_set(set) & mask;
  while (table->slots[slot] >= 0 && !same_set(&table->problem->sets[table->slots[slot]], set))
    slot = (slot + 1) & mask;
  return (int32_t)slot;
}

// The first slots, or twice as many: at most half of them are ever taken.
static CnStatus grow_slots(CniSetTable *table) {
  int32_t capacity = table->capacity > 0 ? 2 * table->capacity : FIRST_SLOTS;
  size_t bytes = (size_t)capacity * sizeof(int32_t);
  int32_t *slots = cni_arena_take(table->arena, bytes);
  if (!slots) return cni_error_memory(bytes);
  table->slots = slots;
  table->capacity = capacity;
  for (int32_t i = 0; i < capacity; i++) slots[i] = -1;
  for (int32_t i = 0; i < table->problem->set_count; i++)
    slots[find_slot(table, &table->problem->sets[i])] = i;
  return CN_OK;
}

static CnStatus add_set(CniSetTable *table, const CnSet *set, int32_t *index) {
  CnProblem *p = table->problem;
  CNI_TRY(cni_problem_reserve(p, &(CniProblemRoom){.sets = 1}));
  p->sets[p->set_count] = *set;
  *index = table->last = p->set_count++;
  return CN_OK;
}

CnStatus cni_set_table_find(CniSetTable *table, const CnSet *set, int32_t *index) {
  if (table->last >= 0 && same_set(&table->problem->sets[table->last], set)) {
    *index = table->last;
    return CN_OK;
  }
  const CnProblem *p = table->problem;
  if (p->set_count < FEW_SETS) {
    for (int32_t i = 0; i < p->set_count; i++) {
      if (!same_set(&p->sets[i], set)) continue;
      *index = table->last = i;
      return CN_OK;
    }
    return add_set(table, set, index);
  }
  if (2 * (p->set_count + 1) > table->capacity) CNI_TRY(grow_slots(table));
  int32_t slot = find_slot(table, set);
  if (table->slots[slot] < 0) {
    CNI_TRY(add_set(table, set, index));
    table->slots[slot] = *index;
  }
  *index = table->last = table->slots[slot];
  return CN_OK;
}

// ---- the whole ----

static CnStatus assemble_into(const CniAssemblyInput *input, CnProblem *problem, CnAnswer *answer,
                              int32_t *joint_blocks, int32_t *block_of) {
  int32_t joints = input->model->joint_count, contacts = input->contact_count;
  problem->b_per_block =
      joints == 0 && input->model->force_count == 0; // unless a belt moves (plan.c)
  CniProblemRoom room = {.blocks = contacts};
  cni_joints_room(input, &room);
  cni_forces_room(input, &room);
  cni_couplings_room(input, &room);
  size_t warm_bytes = (size_t)room.rows * sizeof(double);
  double *warm = cni_arena_take(input->arena, warm_bytes);
  if (!warm) return cni_error_memory(warm_bytes);
  cni_groups_room(input, &room);
  CNI_TRY(cni_problem_reserve(problem, &room));
  if (input->bodies) {
    CNI_TRY(CNI_RESERVE(&problem->allocator, problem->of.numbers, problem->of.capacity, 0,
                        room.groups));
    cni_subset_list(input->bodies, problem->of.numbers);
  }
  cni_see_joints(input);
  cni_assemble_groups(input, problem);

  CniSetTable sets;
  set_table_init(&sets, problem, input->arena);
  CNI_TRY(cni_assemble_forces(input, problem, &sets, warm));
  CNI_TRY(cni_assemble_couplings(input, problem, &sets, warm));
  CNI_TRY(cni_assemble_joints(input, problem, &sets, joint_blocks, warm));
  int32_t joint_rows = problem->row_count;
  CniContactPlan plan;
  CNI_TRY(cni_plan_contacts(input, problem, &sets, block_of, &plan));

  CNI_TRY(cni_answer_fit(answer, problem));
  for (int32_t i = 0; i < joint_rows; i++) answer->g[i] = warm[i];
  cni_fill_contacts(input, problem, &plan, block_of, answer->g);
  return cni_list_bounces(input, problem, &plan, block_of);
}

CnStatus cni_assemble(const CniAssemblyInput *input, CnProblem *problem, CnAnswer *answer,
                      int32_t *joint_blocks, int32_t *block_of) {
  cn_problem_clear(problem);
  CnStatus status = assemble_into(input, problem, answer, joint_blocks, block_of);
  if (status != CN_OK) cn_problem_clear(problem);
  return status;
}
