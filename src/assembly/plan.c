// SPDX-License-Identifier: Apache-2.0
// The first pass over the contacts: by which law each is treated, and where it goes.
//
// Cohesion holds what touches: it acts while the gap is at most COHESION_RANGE of the contact's
// radius, whatever happened before. A held contact has a gap of the solver's error, far below that;
// a bond that was overcome is gone once the gap is larger.
//
// Storage. A ball about its centre of mass touches along a line through the centre: the lever arm
// is parallel to the normal, and with an isotropic inertia the block is diagonal (`sphere`). All
// else is `pair` with the frame of cn_tangents.
#include "assembly/assembly_private.h"

#include <math.h>

#define COHESION_RANGE 1e-4 // of the contact's radius
#define FIRST_LAWS 4        // half of the first slots
#define SHAPES_PER_TASK 1024

// A centre this close to the centre of mass (of the radius) counts as there: the rest of the lever
// arm is below the rounding of the contact point.
#define CENTRED 1e-12

// ---- laws by materials ----

static CnStatus law_table_make(CniLawTable *table, CniArena *arena, int32_t capacity) {
  *table = (CniLawTable){.capacity = capacity, .slot_capacity = 2 * capacity};
  CNI_TRY(CNI_TAKE(arena, capacity, table->laws));
  CNI_TRY(CNI_TAKE(arena, 2 * capacity, table->slots));
  for (int32_t i = 0; i < table->slot_capacity; i++) table->slots[i] = -1;
  return CN_OK;
}

// The slot of a pair's law, or the free one where it belongs.
static int32_t law_slot(const CniLawTable *table, int32_t a, int32_t b) {
  uint32_t mask = (uint32_t)table->slot_capacity - 1;
  uint32_t slot = ((uint32_t)a * 0x9e3779b1u ^ (uint32_t)b * 0x85ebca6bu) >> 7 & mask;
  for (; table->slots[slot] >= 0; slot = (slot + 1) & mask) {
    const CniMaterialSets *law = &table->laws[table->slots[slot]];
    if (law->material_a == a && law->material_b == b) break;
  }
  return (int32_t)slot;
}

// Twice the room.
static CnStatus grow_laws(CniLawTable *table, CniArena *arena) {
  CniLawTable larger;
  CNI_TRY(law_table_make(&larger, arena, 2 * table->capacity));
  for (int32_t i = 0; i < table->count; i++) {
    larger.laws[i] = table->laws[i];
    larger.slots[law_slot(&larger, larger.laws[i].material_a, larger.laws[i].material_b)] = i;
  }
  larger.count = table->count;
  *table = larger;
  return CN_OK;
}

static int moves(const CnMaterialDef *def) { return cn_norm2(def->surface_velocity) > 0; }

static CnStatus law_table_find(CniLawTable *table, const CniAssemblyInput *input, int32_t a,
                               int32_t b, int32_t *law) {
  int32_t slot = law_slot(table, a, b);
  if (table->slots[slot] < 0) {
    if (table->count == table->capacity) {
      CNI_TRY(grow_laws(table, input->arena));
      slot = law_slot(table, a, b);
    }
    const CnMaterialDef *def_a = &input->model->materials[a].def;
    const CnMaterialDef *def_b = &input->model->materials[b].def;
    table->laws[table->count] = (CniMaterialSets){.material_a = a,
                                                  .material_b = b,
                                                  .set = -1,
                                                  .cohesive_set = -1,
                                                  .moving = moves(def_a) || moves(def_b),
                                                  .law = cni_model_law(input->model, a, b)};
    table->slots[slot] = table->count++;
  }
  *law = table->slots[slot];
  return CN_OK;
}

// ---- shapes ----

// Bits that the infos of shapes have in common, bits that any of them has, and the least inradius.
typedef struct Common {
  uint32_t all, any;
  double inradius;
} Common;

typedef struct InfoLoop {
  const CniAssemblyInput *input;
  const CnProblem *problem;
  const int32_t *shapes; // that are looked at; null: all
  uint32_t *info;
  CniShapeCentre *centres;
  Common *common; // one a task
} InfoLoop;

// Does the shape meet its contacts like a ball about the body's centre of mass, or not turn at all?
static int ball_like(const CniGroup *group, const CniShape *s) {
  CniMassKind kind = cni_group_kind(group);
  if (kind == CNI_MASS_NONE) return group->w.x == 0 && group->w.y == 0 && group->w.z == 0;
  const CniShapePoses *poses = cni_shape_poses(s);
  return kind == CNI_MASS_ISOTROPIC && s->kind == CN_SHAPE_SPHERE &&
         (!poses || cn_norm(poses->pose.position) <= CENTRED * s->radius);
}

static void fill_info(void *context, int32_t begin, int32_t end) {
  const InfoLoop *loop = context;
  Common common = {~0u, 0, INFINITY};
  for (int32_t i = begin; i < end; i++) {
    const CniShape *s = &loop->input->model->shapes[loop->shapes ? loop->shapes[i] : i];
    const CniGroup *group = &loop->problem->groups[cni_body_group(loop->input, s->body)];
    uint32_t info = (uint32_t)s->material << CNI_INFO_SHIFT;
    if (cni_group_has_mass(group)) info |= CNI_INFO_MASS;
    if (ball_like(group, s)) info |= CNI_INFO_BALL;
    if (!(info & CNI_INFO_MASS)) {
      if (cn_norm2(group->w) > 0) info |= CNI_INFO_TURNS;
      if (loop->input->model->bodies[s->body].kind == CN_BODY_KINEMATIC) info |= CNI_INFO_MOVED;
    }
    loop->info[i] = info;
    loop->centres[i] = (CniShapeCentre){loop->input->pose[s->body].position, cni_model_inradius(s)};
    common = (Common){common.all & info, common.any | info,
                      cn_min(common.inradius, loop->centres[i].inradius)};
  }
  loop->common[begin / SHAPES_PER_TASK] = common;
}

// What all shapes have in common, and what is known of each.
static CnStatus look_at_shapes(const CniAssemblyInput *input, const CnProblem *problem,
                               CniContactPlan *plan, Common *common) {
  int32_t count = input->shapes ? input->shapes->count : input->model->shape_count;
  int32_t tasks = count / SHAPES_PER_TASK + 1, *shapes = NULL;
  if (input->shapes) {
    CNI_TRY(CNI_TAKE(input->arena, count, shapes));
    cni_subset_list(input->shapes, shapes);
  }
  size_t infos = (size_t)count * sizeof(uint32_t), centres = (size_t)count * sizeof(CniShapeCentre);
  InfoLoop loop = {input,
                   problem,
                   shapes,
                   cni_arena_take(input->arena, infos),
                   cni_arena_take(input->arena, centres),
                   cni_arena_take(input->arena, (size_t)tasks * sizeof(Common))};
  if (!loop.info || !loop.centres || !loop.common) return cni_error_memory(infos + centres);
  for (int32_t t = 0; t < tasks; t++) loop.common[t] = (Common){~0u, 0, INFINITY};
  cni_parallel_for(input->tasks, count, SHAPES_PER_TASK, fill_info, &loop);
  *common = (Common){~0u, 0, INFINITY};
  for (int32_t t = 0; t < tasks; t++)
    *common = (Common){common->all & loop.common[t].all, common->any | loop.common[t].any,
                       cn_min(common->inradius, loop.common[t].inradius)};
  plan->turning = (common->any & CNI_INFO_TURNS) != 0;
  plan->shape_info = loop.info;
  plan->centres = loop.centres;
  return CN_OK;
}

// ---- one contact ----

typedef struct Planner {
  const CniAssemblyInput *input;
  CnProblem *problem;
  CniSetTable *sets;
  CniContactPlan *plan;
  int32_t pair_count, sphere_count, row_count; // with the contacts planned so far
  uint32_t last_a, last_b;    // materials of a contact before, without cohesion and hook, if
  int32_t last_law, last_set; // the set is not -1
} Planner;

// The set of a law; without friction and cohesion nothing but the normal row is left.
static CnStatus law_set(Planner *pl, const CniMaterialPair *law, double cohesion, double compliance,
                        int32_t *set) {
  CnBlockKind kind = law->spinning_friction > 0          ? CN_BLOCK_SPINNING
                     : law->rolling_friction > 0         ? CN_BLOCK_ROLLING
                     : law->friction > 0 || cohesion > 0 ? CN_BLOCK_FRICTION
                                                         : CN_BLOCK_UNILATERAL;
  CnSet made = cn_set_default(kind);
  made.mu = law->friction;
  made.mu_roll = law->rolling_friction;
  made.mu_spin = law->spinning_friction;
  made.cohesion = cohesion;
  made.compliance[0] = compliance;
  return cni_set_table_find(pl->sets, &made, set);
}

CnVec3 cni_surface_velocity(const CniAssemblyInput *in, int32_t shape, int32_t body) {
  const CniModel *model = in->model;
  CnVec3 s = cni_material_surface(model, model->shapes[shape].material, in->time + in->time_step);
  if (!(cn_norm2(s) > 0)) return CN_VEC3_ZERO;
  CnVec3 principal = cn_unrotate(cni_body_com(&model->bodies[body]).rotation, s);
  return cn_rotate(in->pose[body].rotation, principal);
}

static CnStatus check_tuning(const CnContactTuning *t) {
  double numbers[] = {t->friction, t->restitution, t->rolling_friction, t->spinning_friction,
                      t->cohesion};
  const char *names[] = {"friction", "restitution", "rolling_friction", "spinning_friction",
                         "cohesion"};
  for (int i = 0; i < 5; i++)
    if (!(numbers[i] >= 0) || !isfinite(numbers[i]))
      return cni_invalid("modify hook: %s must be >= 0 and finite (got %g)", names[i], numbers[i]);
  if (t->restitution > 1)
    return cni_invalid("modify hook: restitution must be at most 1 (got %g)", t->restitution);
  if (!cn_vec3_finite(t->surface_velocity))
    return cni_invalid("modify hook: surface_velocity must be finite");
  return CN_OK;
}

// Let the user change a contact's law.
static CnStatus tune(const CniAssemblyInput *in, const CniContact *c, CniMaterialPair *law,
                     CniTunedMaterial *plan, int32_t *enabled) {
  const CniModel *m = in->model;
  CnContactTuning tuning = {.body_a = cni_body_id(m, c->body_a),
                            .body_b = cni_body_id(m, c->body_b),
                            .shape_a = cni_shape_id(m, c->shape_a),
                            .shape_b = cni_shape_id(m, c->shape_b),
                            .point = c->point,
                            .normal = c->normal,
                            .gap = c->gap,
                            .friction = law->friction,
                            .restitution = law->restitution,
                            .rolling_friction = law->rolling_friction,
                            .spinning_friction = law->spinning_friction,
                            .cohesion = law->cohesion,
                            .surface_velocity = plan->surface,
                            .enabled = 1};
  in->modify(in->modify_context, &tuning);
  *enabled = tuning.enabled;
  if (!tuning.enabled) return CN_OK;
  CNI_TRY(check_tuning(&tuning));
  *law = (CniMaterialPair){tuning.friction, tuning.restitution, tuning.rolling_friction,
                           tuning.spinning_friction, tuning.cohesion};
  plan->surface = tuning.surface_velocity;
  return CN_OK;
}

CnStatus cni_contact_law(const CniAssemblyInput *in, const CniContact *c, CniMaterialPair *law,
                         CnVec3 *surface, int32_t *enabled) {
  const CniModel *m = in->model;
  CniTunedMaterial plan = {.surface = cn_sub(cni_surface_velocity(in, c->shape_b, c->body_b),
                                             cni_surface_velocity(in, c->shape_a, c->body_a))};
  *law = cni_model_law(m, m->shapes[c->shape_a].material, m->shapes[c->shape_b].material);
  *enabled = 1;
  if (in->modify) CNI_TRY(tune(in, c, law, &plan, enabled));
  *surface = plan.surface;
  return CN_OK;
}

static int same_law(const CniMaterialPair *a, const CniMaterialPair *b) {
  return a->friction == b->friction && a->restitution == b->restitution &&
         a->rolling_friction == b->rolling_friction &&
         a->spinning_friction == b->spinning_friction && a->cohesion == b->cohesion;
}

// The set of a contact: the one of its materials, or of what the user made of them.
static CnStatus contact_set(Planner *pl, int32_t i, uint32_t info_a, uint32_t info_b, int32_t *set,
                            int32_t *enabled) {
  const CniAssemblyInput *in = pl->input;
  const CniContact *c = &in->contacts[i];
  int32_t index;
  CNI_TRY(law_table_find(&pl->plan->laws, in, (int32_t)(info_a >> CNI_INFO_SHIFT),
                         (int32_t)(info_b >> CNI_INFO_SHIFT), &index));
  CniMaterialSets *known = &pl->plan->laws.laws[index];
  CniMaterialPair law = known->law;
  if (in->modify) {
    CniTunedMaterial *tuned = &pl->plan->tuned[i];
    tuned->surface = cn_sub(cni_surface_velocity(in, c->shape_b, c->body_b),
                            cni_surface_velocity(in, c->shape_a, c->body_a));
    CNI_TRY(tune(in, c, &law, tuned, enabled));
    if (!*enabled) return CN_OK;
    tuned->restitution = law.restitution;
  } else {
    pl->plan->law_of[i] = index;
  }

  double cohesion = 0;
  if (law.cohesion > 0 &&
      c->gap <= COHESION_RANGE * cni_contact_length(cni_contact_arms(in, c), info_a, info_b))
    cohesion = in->time_step * law.cohesion;
  double squeeze = 0;
  if (pl->plan->squeezed && pl->plan->squeezed[i])
    squeeze = cni_squeeze_compliance(pl->problem, c, pl->plan->squeezed[i] == CNI_PINCHED);
  if (squeeze > 0 || !same_law(&law, &known->law)) return law_set(pl, &law, cohesion, squeeze, set);
  int32_t *kept = cohesion > 0 ? &known->cohesive_set : &known->set;
  if (*kept < 0) CNI_TRY(law_set(pl, &law, cohesion, 0, kept));
  *set = *kept;
  if (law.cohesion > 0 || in->modify) return CN_OK;
  pl->last_a = info_a >> CNI_INFO_SHIFT;
  pl->last_b = info_b >> CNI_INFO_SHIFT;
  pl->last_law = index;
  pl->last_set = *kept;
  return CN_OK;
}

static CnStatus plan_contact(Planner *pl, int32_t i, int32_t *block_of) {
  CnProblem *p = pl->problem;
  const CniContact *c = &pl->input->contacts[i];
  uint32_t info_a = pl->plan->shape_info[cni_shape_place(pl->input, c->shape_a)];
  uint32_t info_b = pl->plan->shape_info[cni_shape_place(pl->input, c->shape_b)];
  *block_of = -1;
  if (!((info_a | info_b) & CNI_INFO_MASS)) return CN_OK;
  int32_t set = pl->last_set, enabled = 1;
  int known =
      set >= 0 && info_a >> CNI_INFO_SHIFT == pl->last_a && info_b >> CNI_INFO_SHIFT == pl->last_b;
  if (pl->plan->squeezed) known &= !pl->plan->squeezed[i];
  if (known)
    pl->plan->law_of[i] = pl->last_law;
  else
    CNI_TRY(contact_set(pl, i, info_a, info_b, &set, &enabled));
  if (!enabled) return CN_OK;

  int sphere = (info_a & info_b & CNI_INFO_BALL) != 0;
  int32_t index = sphere ? pl->sphere_count++ : pl->pair_count++;
  int32_t dim = cni_block_dim(p->sets[set].kind);
  *block_of = cni_append_block(p, sphere ? CNI_SPHERE : CNI_PAIR, index, pl->row_count, set, dim);
  pl->row_count += dim;
  return CN_OK;
}

// ---- all of them ----

// A pile of spheres of one material: every contact has the same law and a sphere block. Nobody has
// to look at the contacts for that.
static CnStatus plan_alike(Planner *pl, Common common) {
  const CniAssemblyInput *in = pl->input;
  CniContactPlan *plan = pl->plan;
  uint32_t material = common.any >> CNI_INFO_SHIFT;
  if (!in->movable || in->modify || plan->squeezed || !(common.all & CNI_INFO_BALL)) return CN_OK;
  if (common.all >> CNI_INFO_SHIFT != material) return CN_OK;
  int32_t index, set;
  CNI_TRY(law_table_find(&plan->laws, in, (int32_t)material, (int32_t)material, &index));
  if (plan->laws.laws[index].law.cohesion > 0) return CN_OK;
  CNI_TRY(law_set(pl, &plan->laws.laws[index].law, 0, 0, &set));
  plan->laws.laws[index].set = set;

  CnProblem *p = pl->problem;
  CnBlockKind kind = p->sets[set].kind;
  int32_t dim = cni_block_dim(kind), count = in->contact_count;
  if (count > (INT32_MAX - pl->row_count) / dim) return CN_OK;
  plan->uniform = 1;
  plan->first_block = p->block_count;
  plan->first = cni_block_make(CNI_SPHERE, pl->sphere_count, pl->row_count, set, kind, dim);
  p->block_count += count;
  pl->sphere_count += count;
  pl->row_count += dim * count;
  return CN_OK;
}

static CnStatus plan_each(Planner *pl, int32_t *block_of) {
  const CniAssemblyInput *in = pl->input;
  size_t contacts = (size_t)in->contact_count;
  size_t bytes = contacts * (in->modify ? sizeof *pl->plan->tuned : sizeof *pl->plan->law_of);
  void *memory = cni_arena_take(in->arena, bytes);
  if (!memory) return cni_error_memory(bytes);
  if (in->modify)
    pl->plan->tuned = memory;
  else
    pl->plan->law_of = memory;
  for (int32_t i = 0; i < in->contact_count; i++) CNI_TRY(plan_contact(pl, i, &block_of[i]));
  return CN_OK;
}

// Has any contact a right-hand side along its tangents?
static int any_moving(const CniAssemblyInput *input, const CniContactPlan *plan,
                      const int32_t *block_of) {
  if (plan->turning) return 1;
  for (int32_t i = 0; !plan->tuned && i < plan->laws.count; i++)
    if (plan->laws.laws[i].moving) return 1;
  for (int32_t i = 0; plan->tuned && i < input->contact_count; i++) {
    CnVec3 s = plan->tuned[i].surface;
    if (block_of[i] >= 0 && (s.x != 0 || s.y != 0 || s.z != 0)) return 1;
  }
  return 0;
}

CnStatus cni_plan_contacts(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                           int32_t *block_of, CniContactPlan *plan) {
  *plan = (CniContactPlan){0};
  if (input->contact_count == 0) return CN_OK;
  Common common = {0, 0, 0};
  CNI_TRY(look_at_shapes(input, problem, plan, &common));
  double gravity = cn_norm(input->gravity);
  plan->least_recovery = input->recovery_speed >= 0 ? input->recovery_speed
                         : gravity > 0              ? sqrt(gravity * common.inradius)
                                                    : INFINITY;
  if (input->least_inradius) *input->least_inradius = common.inradius;
  int driven = input->model->joint_count > 0 || common.any & CNI_INFO_MOVED;
  CNI_TRY(cni_find_squeezed(input, problem, common.inradius, driven, plan));
  CNI_TRY(law_table_make(&plan->laws, input->arena, FIRST_LAWS));
  Planner planner = {.input = input,
                     .problem = problem,
                     .sets = sets,
                     .plan = plan,
                     .last_set = -1,
                     .pair_count = problem->pair_count,
                     .sphere_count = problem->sphere_count,
                     .row_count = problem->row_count};
  CNI_TRY(plan_alike(&planner, common));
  if (!plan->uniform) CNI_TRY(plan_each(&planner, block_of));
  if (any_moving(input, plan, block_of)) problem->b_per_block = 0;
  CniProblemRoom room = {.pairs = planner.pair_count - problem->pair_count,
                         .spheres = planner.sphere_count - problem->sphere_count,
                         .rows = planner.row_count - problem->row_count};
  CNI_TRY(cni_problem_reserve(problem, &room));
  problem->pair_count = planner.pair_count;
  problem->sphere_count = planner.sphere_count;
  problem->row_count = planner.row_count;
  return CN_OK;
}
