// Contacts to friction blocks, and the way back from the answer to impulses.
//
// Three passes. Plan (one thread, because sets are shared and the user's hook may be called): the
// law of each contact, hence its set, dimension and storage. Fill (parallel): frame, lever arms and
//
//     b_n = phi/h                              phi > 0: the gap may close, no more
//         = max(kappa phi, phi - slop)/h       the same where the two shapes bore a load
//         = max(kappa phi/h, -v_recover)       phi < 0: an overlap goes away, without popping
//     b_n = min(e u_n_old, the above)          an impact: e > 0, u_n_old < -v_threshold and
//                                              phi + h u_n_free <= 0 (it closes within the step)
//     b_t = surface velocity of b minus a's    conveyor belts
//
// kappa and slop. A solver that stops early removes of a slow mode (the sway of a tall stack) only
// the share s of its error per step, and the warm start carries the impulse on. With position
// feedback kappa the mode obeys p += -s (v + p + kappa x/h), v += p, x += h v, which grows unless
// s (2 + kappa)(1 + 2 kappa) > kappa. So kappa is small, on both sides of zero: under a load a
// gap below the slop closes by kappa of itself per step. A contact that was free closes at once, or
// a ball would be braked before it could bounce; and in the convex model, where a sliding contact
// floats at h mu |u_t| by itself, the slop would only add to that.
//
// In an impact e u_n_old < 0 is always below phi/h > 0: the gap is not used, or the ball would lose
// the part of its speed that closes the gap. Warm start (parallel): the impulses of the last step,
// found by key, as world vectors resolved in this step's frame and projected on the cone.
//
// Cohesion holds what touches: it acts while the gap is at most COHESION_RANGE of the contact's
// radius, whatever happened before. A held contact has a gap of the solver's error, far below that;
// a bond that was overcome is gone once the gap is larger.
//
// Storage. A ball about its centre of mass touches along a line through the centre: the lever arm
// is parallel to the normal, and with an isotropic inertia the block is diagonal (`sphere`). All
// else is `pair` with the frame of cn_tangents.
#include "assembly/parts.h"

#include "core/error.h"

#include <math.h>

#define CONTACTS_PER_TASK 512
#define COHESION_RANGE 1e-4 // of the contact's radius
#define SLOP 1e-3           // of the smaller inradius
#define LAW_CACHE 64        // power of two

// A centre this close to the centre of mass (of the radius) counts as there: the rest of the lever
// arm is below the rounding of the contact point.
#define CENTRED 1e-12

// What the plan pass leaves for the fill pass.
typedef struct Plan {
  CnVec3 surface; // m/s, of b's surface relative to a's
  double restitution;
} Plan;

// The law between two materials and its sets (-1: not yet in the problem).
typedef struct CachedLaw {
  int32_t material_a, material_b;
  int32_t set, cohesive_set;
  CniPairLaw law;
} CachedLaw;

typedef struct Planner {
  const CniAssemblyInput *input;
  CnProblem *problem;
  CniSetTable *sets;
  CachedLaw cache[LAW_CACHE]; // direct-mapped: a miss only costs the combination again
  Plan *plans;
  int32_t pair_count, sphere_count, row_count; // with the contacts planned so far
} Planner;

typedef struct Arms {
  CnVec3 a, b;
} Arms;

static Arms contact_arms(const CniAssemblyInput *in, const CniContact *c) {
  return (Arms){cn_sub(c->point, in->pose[c->body_a].position),
                cn_sub(c->point, in->pose[c->body_b].position)};
}

// The contact's radius: distance of the point from the nearer centre that has mass.
static double contact_length(const CnProblem *p, const CniContact *c, Arms arms) {
  double a = cni_group_has_mass(&p->groups[c->body_a]) ? cn_norm(arms.a) : INFINITY;
  double b = cni_group_has_mass(&p->groups[c->body_b]) ? cn_norm(arms.b) : INFINITY;
  double length = cn_min(a, b);
  return length > 0 && isfinite(length) ? length : 1;
}

// ---- plan: laws and storages ----

static CachedLaw *material_law(Planner *pl, int32_t a, int32_t b) {
  uint32_t slot = ((uint32_t)a * 31u + (uint32_t)b) & (LAW_CACHE - 1);
  CachedLaw *cached = &pl->cache[slot];
  if (cached->material_a != a || cached->material_b != b) {
    const CniMaterial *materials = pl->input->model->materials;
    *cached = (CachedLaw){a, b, -1, -1, cni_material_combine(&materials[a].def, &materials[b].def)};
  }
  return cached;
}

// The set of a law; without friction and cohesion nothing but the normal row is left.
static CnStatus law_set(Planner *pl, const CniPairLaw *law, double cohesion, int32_t *set) {
  CnBlockKind kind = law->spinning_friction > 0          ? CN_BLOCK_SPINNING
                     : law->rolling_friction > 0         ? CN_BLOCK_ROLLING
                     : law->friction > 0 || cohesion > 0 ? CN_BLOCK_FRICTION
                                                         : CN_BLOCK_UNILATERAL;
  CnSet made = cn_set_default(kind);
  made.mu = law->friction;
  made.mu_roll = law->rolling_friction;
  made.mu_spin = law->spinning_friction;
  made.cohesion = cohesion;
  return cni_set_table_find(pl->sets, &made, set);
}

// Surface velocity of a shape's material in world axes.
static CnVec3 surface_velocity(const CniAssemblyInput *in, int32_t shape, int32_t body) {
  const CniModel *model = in->model;
  CnVec3 s = model->materials[model->shapes[shape].material].def.surface_velocity;
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
      return cni_error(CN_INVALID_ARGUMENT, "modify hook: %s must be >= 0 and finite (got %g)",
                       names[i], numbers[i]);
  if (t->restitution > 1)
    return cni_error(CN_INVALID_ARGUMENT, "modify hook: restitution must be at most 1 (got %g)",
                     t->restitution);
  if (!cn_vec3_finite(t->surface_velocity))
    return cni_error(CN_INVALID_ARGUMENT, "modify hook: surface_velocity must be finite");
  return CN_OK;
}

// Let the user change a contact's law.
static CnStatus tune(const CniAssemblyInput *in, const CniContact *c, CniPairLaw *law, Plan *plan,
                     int32_t *enabled) {
  const CniModel *m = in->model;
  const CniBody *a = &m->bodies[c->body_a], *b = &m->bodies[c->body_b];
  const CniShape *sa = &m->shapes[c->shape_a], *sb = &m->shapes[c->shape_b];
  CnContactTuning tuning = {.body_a = {a->slot, a->generation},
                            .body_b = {b->slot, b->generation},
                            .shape_a = {sa->slot, sa->generation},
                            .shape_b = {sb->slot, sb->generation},
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
  *law = (CniPairLaw){tuning.friction, tuning.restitution, tuning.rolling_friction,
                      tuning.spinning_friction, tuning.cohesion};
  plan->surface = tuning.surface_velocity;
  return CN_OK;
}

// Does the group meet its contact like a ball about its centre of mass, or not turn at all?
static int ball_like(const CnProblem *p, const CniModel *model, int32_t body, int32_t shape) {
  const CniGroup *group = &p->groups[body];
  if (group->mass_kind == CNI_MASS_NONE)
    return group->free.spin.x == 0 && group->free.spin.y == 0 && group->free.spin.z == 0;
  const CniShape *s = &model->shapes[shape];
  return group->mass_kind == CNI_MASS_ISOTROPIC && s->kind == CN_SHAPE_SPHERE &&
         (!s->poses || cn_norm(s->poses->pose.position) <= CENTRED * s->radius);
}

static CnStatus plan_contact(Planner *pl, int32_t i, int32_t *block_of) {
  const CniAssemblyInput *in = pl->input;
  CnProblem *p = pl->problem;
  const CniContact *c = &in->contacts[i];
  *block_of = -1;
  if (!cni_group_has_mass(&p->groups[c->body_a]) && !cni_group_has_mass(&p->groups[c->body_b]))
    return CN_OK;

  CachedLaw *cached = material_law(pl, in->model->shapes[c->shape_a].material,
                                   in->model->shapes[c->shape_b].material);
  CniPairLaw law = cached->law;
  Plan *plan = &pl->plans[i];
  plan->surface = cn_sub(surface_velocity(in, c->shape_b, c->body_b),
                         surface_velocity(in, c->shape_a, c->body_a));
  if (in->modify) {
    int32_t enabled;
    CNI_TRY(tune(in, c, &law, plan, &enabled));
    if (!enabled) return CN_OK;
  }
  plan->restitution = law.restitution;

  double cohesion = 0;
  if (law.cohesion > 0 && c->gap <= COHESION_RANGE * contact_length(p, c, contact_arms(in, c)))
    cohesion = in->time_step * law.cohesion;
  int32_t set = -1;
  int32_t *known = in->modify ? &set : cohesion > 0 ? &cached->cohesive_set : &cached->set;
  if (*known < 0) CNI_TRY(law_set(pl, &law, cohesion, known));

  int sphere = ball_like(p, in->model, c->body_a, c->shape_a) &&
               ball_like(p, in->model, c->body_b, c->shape_b);
  int32_t index = sphere ? pl->sphere_count++ : pl->pair_count++;
  int32_t dim = cni_block_dim(p->sets[*known].kind);
  *block_of =
      cni_append_block(p, sphere ? CNI_SPHERE : CNI_PAIR, index, pl->row_count, *known, dim);
  pl->row_count += dim;
  return CN_OK;
}

// ---- fill: geometry and right-hand side ----

typedef struct ContactLoop {
  const CniAssemblyInput *input;
  const CnProblem *problem; // its arrays are written, each place by one index
  const Plan *plans;
  const int32_t *block_of;
  double *g; // warm start only
} ContactLoop;

// Normal part of the relative velocity at the contact.
static double normal_speed(const CniContact *c, Arms arms, const CnTwist *a, const CnTwist *b) {
  CnVec3 va = cn_add(a->velocity, cn_cross(a->spin, arms.a));
  CnVec3 vb = cn_add(b->velocity, cn_cross(b->spin, arms.b));
  return cn_dot(c->normal, cn_sub(vb, va));
}

static double normal_b(const CniAssemblyInput *in, const CnProblem *p, const CniContact *c,
                       Arms arms, double restitution) {
  double h = in->time_step;
  double b_n =
      c->gap > 0 ? c->gap / h : cn_max(in->contact_stabilisation * c->gap / h, -in->recovery_speed);
  if (!(restitution > 0)) return b_n;

  const CniGroup *a = &p->groups[c->body_a], *b = &p->groups[c->body_b];
  double u_old = normal_speed(c, arms, &a->old, &b->old);
  if (!(u_old < -in->restitution_threshold)) return b_n;
  double u_free = normal_speed(c, arms, &a->free, &b->free);
  return c->gap + h * u_free <= 0 ? cn_min(restitution * u_old, b_n) : b_n;
}

static void fill_geometry(const CnProblem *p, const CniBlock *block, const CniContact *c, Arms arms,
                          CnVec3 t1) {
  double length = contact_length(p, c, arms);
  if (block->storage == CNI_SPHERE) {
    int turns_a = cni_group_has_mass(&p->groups[c->body_a]);
    int turns_b = cni_group_has_mass(&p->groups[c->body_b]);
    p->spheres[block->index] =
        (CniSphereBlock){.normal = c->normal,
                         .radius_a = turns_a ? cn_dot(arms.a, c->normal) : 0,
                         .radius_b = turns_b ? -cn_dot(arms.b, c->normal) : 0,
                         .length = length,
                         .group_a = c->body_a,
                         .group_b = c->body_b};
  } else {
    p->pairs[block->index] = (CniPairBlock){.normal = c->normal,
                                            .tangent = t1,
                                            .arm_a = arms.a,
                                            .arm_b = arms.b,
                                            .length = length,
                                            .group_a = c->body_a,
                                            .group_b = c->body_b};
  }
}

static void fill_contacts(void *context, int32_t begin, int32_t end) {
  const ContactLoop *loop = context;
  const CnProblem *p = loop->problem;
  for (int32_t i = begin; i < end; i++) {
    if (loop->block_of[i] < 0) continue;
    const CniBlock *block = &p->blocks[loop->block_of[i]];
    const CniContact *c = &loop->input->contacts[i];
    Arms arms = contact_arms(loop->input, c);
    CnVec3 t1, t2;
    cn_tangents(c->normal, &t1, &t2);
    fill_geometry(p, block, c, arms, t1);

    double *b = &p->b[block->row];
    for (int32_t r = 1; r < block->dim; r++) b[r] = 0;
    b[0] = normal_b(loop->input, p, c, arms, loop->plans[i].restitution);
    if (block->dim >= 3) {
      b[1] = cn_dot(t1, loop->plans[i].surface);
      b[2] = cn_dot(t2, loop->plans[i].surface);
    }
  }
}

CnStatus cni_assemble_contacts(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                               int32_t *block_of) {
  int32_t count = input->contact_count;
  if (count == 0) return CN_OK;
  Planner planner = {.input = input,
                     .problem = problem,
                     .sets = sets,
                     .pair_count = problem->pair_count,
                     .sphere_count = problem->sphere_count,
                     .row_count = problem->row_count};
  for (int i = 0; i < LAW_CACHE; i++) planner.cache[i].material_a = -1;
  planner.plans = cni_arena_take(input->arena, (size_t)count * sizeof(Plan));
  if (!planner.plans) return cni_error_memory((size_t)count * sizeof(Plan));

  for (int32_t i = 0; i < count; i++) CNI_TRY(plan_contact(&planner, i, &block_of[i]));
  CniProblemRoom room = {.pairs = planner.pair_count - problem->pair_count,
                         .spheres = planner.sphere_count - problem->sphere_count,
                         .rows = planner.row_count - problem->row_count};
  CNI_TRY(cni_problem_reserve(problem, &room));
  problem->pair_count = planner.pair_count;
  problem->sphere_count = planner.sphere_count;
  problem->row_count = planner.row_count;

  ContactLoop loop = {input, problem, planner.plans, block_of, NULL};
  cni_parallel_for(input->tasks, count, CONTACTS_PER_TASK, fill_contacts, &loop);
  return CN_OK;
}

// ---- impulses: from the last step, and to the next ----

typedef struct Frame {
  CnVec3 n, t1, t2;
  double length;
} Frame;

static Frame block_frame(const CnProblem *p, const CniBlock *block) {
  Frame f;
  if (block->storage == CNI_SPHERE) {
    const CniSphereBlock *s = &p->spheres[block->index];
    f.n = s->normal;
    f.length = s->length;
    cn_tangents(f.n, &f.t1, &f.t2);
  } else {
    const CniPairBlock *s = &p->pairs[block->index];
    f.n = s->normal;
    f.length = s->length;
    f.t1 = s->tangent;
    f.t2 = cn_cross(f.n, f.t1);
  }
  return f;
}

// First old impulse whose key is not below the given one.
static int32_t lower_bound(const CniAssemblyInput *in, const CniContactKey *key) {
  int32_t lo = 0, hi = in->old_impulse_count;
  while (lo < hi) {
    int32_t middle = lo + (hi - lo) / 2;
    if (cni_contact_key_compare(&in->old_impulses[middle].key, key) < 0)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

static void resolve(const CnProblem *p, const CniBlock *block, const CniContactImpulse *old,
                    double scale, double *g) {
  Frame f = block_frame(p, block);
  double all[CNI_MAX_DIM] = {cn_dot(f.n, old->linear),
                             cn_dot(f.t1, old->linear),
                             cn_dot(f.t2, old->linear),
                             cn_dot(f.t1, old->angular) / f.length,
                             cn_dot(f.t2, old->angular) / f.length,
                             cn_dot(f.n, old->angular) / f.length};
  for (int32_t r = 0; r < block->dim; r++) g[r] = scale * all[r];
  cni_project(p, block, g);
}

// The gap below which a contact closes gently.
static double contact_slop(const CniAssemblyInput *in, const CniContact *c) {
  if (in->contact_slop > 0) return in->contact_slop;
  const CniShape *shapes = in->model->shapes;
  return SLOP * cn_min(shapes[c->shape_a].inradius, shapes[c->shape_b].inradius);
}

static int same_pair(const CniContactKey *a, const CniContactKey *b) {
  return a->shape_a == b->shape_a && a->shape_b == b->shape_b;
}

// Did the two shapes press on each other in the last step? Old impulses of a pair stand together,
// and `near` is where this contact's own would be.
static int pair_loaded(const CniAssemblyInput *in, const CniContactKey *key, int32_t near) {
  const CniContactImpulse *old = in->old_impulses;
  int32_t first = near;
  while (first > 0 && same_pair(&old[first - 1].key, key)) first--;
  for (int32_t i = first; i < in->old_impulse_count && same_pair(&old[i].key, key); i++)
    if (cn_norm2(old[i].linear) > 0) return 1;
  return 0;
}

// A point of a loaded contact that stands a little open closes gently. (In an impact b_n < 0.)
static void soften(const CniAssemblyInput *in, const CniContact *c, double *b_n) {
  if (!(c->gap > 0 && *b_n > 0)) return;
  double gentle = cn_max(in->contact_stabilisation * c->gap, c->gap - contact_slop(in, c));
  *b_n = gentle / in->time_step;
}

// Contacts and old impulses are both sorted by key: a merge, started by one search.
static void warm_start(void *context, int32_t begin, int32_t end) {
  const ContactLoop *loop = context;
  const CniAssemblyInput *in = loop->input;
  const CnProblem *p = loop->problem;
  double scale = in->time_step / in->old_time_step;
  int32_t j = lower_bound(in, &in->contacts[begin].key);
  for (int32_t i = begin; i < end; i++) {
    const CniContactKey *key = &in->contacts[i].key;
    while (j < in->old_impulse_count && cni_contact_key_compare(&in->old_impulses[j].key, key) < 0)
      j++;
    if (loop->block_of[i] < 0) continue;
    const CniBlock *block = &p->blocks[loop->block_of[i]];
    if (j < in->old_impulse_count && cni_contact_key_compare(&in->old_impulses[j].key, key) == 0)
      resolve(p, block, &in->old_impulses[j], scale, &loop->g[block->row]);
    if (p->friction == CN_FRICTION_COULOMB && pair_loaded(in, key, j))
      soften(in, &in->contacts[i], &p->b[block->row]);
  }
}

void cni_warm_start_contacts(const CniAssemblyInput *input, const CnProblem *problem,
                             const int32_t *block_of, double *g) {
  if (input->old_impulse_count == 0 || !(input->old_time_step > 0)) return;
  ContactLoop loop = {input, problem, NULL, block_of, g};
  cni_parallel_for(input->tasks, input->contact_count, CONTACTS_PER_TASK, warm_start, &loop);
}

CniContactImpulse cni_contact_impulse(const CnProblem *problem, const CnAnswer *answer,
                                      const CniContact *contact, int32_t block) {
  CniContactImpulse impulse = {.key = contact->key};
  if (block < 0) return impulse;
  const CniBlock *at = &problem->blocks[block];
  const double *g = &answer->g[at->row];
  Frame f = block_frame(problem, at);
  impulse.linear = cn_scale(g[0], f.n);
  if (at->dim >= 3) impulse.linear = cn_madd(cn_madd(impulse.linear, g[1], f.t1), g[2], f.t2);
  if (at->dim >= 5) impulse.angular = cn_scale(f.length, cn_madd(cn_scale(g[3], f.t1), g[4], f.t2));
  if (at->dim >= 6) impulse.angular = cn_madd(impulse.angular, f.length * g[5], f.n);
  return impulse;
}
