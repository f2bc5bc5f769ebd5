// SPDX-License-Identifier: Apache-2.0
// Contacts of a world as equations of motion (equations.h).
//
// Which features may meet until the end of a call is what collision finds for bodies that move
// farther than they should. With R = h (|v| + h (|g| + |f|/m)), r the farthest point that turns and
// s a tenth of the least inradius of the body's shapes, a body is given
//
//     way A = 2 R + s,   turn W = 2 h |w| + min(2, A/r) + 0.1
//
// and collision is asked with twists that reach as far. While no body has gone or turned farther
// than that (`covered`), no pair outside the list can have met: joints and impacts may drive a body
// faster than R knows, then the integrator asks anew from the last state that was covered.
//
// Cohesion c is a force that pulls the two surfaces together while they touch: then the rest of the
// force, N + c, follows the law of a contact without it, friction included.
//
// Gaps are geometry's (cni_gap): of points that the narrow phase names, or of features, all that may
// touch within the reach. Features have borders, and overlaps that are too deep belong to others: two
// bodies with such a pair between them go no farther than a tenth of the inradius before it is looked
// at again. A pair without a smooth gap is refused with one line when it comes within the margin of a
// step.
#include "world/equations/equations.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"

#define MOST_CONTACTS 20000
#define COHESION_RANGE 1e-4 // of the contact's radius, as in the step problem

// ---- geometry ----

static CniPlaced placed_at(const CniModel *model, CnPose at, int32_t shape) {
  at.rotation = cn_qunit(at.rotation); // of a stage: off the sphere by its error
  return cni_model_placed(model, shape, &at);
}

CnVec3 cni_touch_surface(const CnPose *pose, const CniWorldTouch *touch) {
  return cn_rotate(cn_qunit(pose[touch->belt].rotation), touch->surface);
}

#define TOO_STEEP 0.1 // sine of the angle between the normal and the direction of a tangent

// Tangents of a normal go with it: those that a normal has by itself jump where it passes a plane of the axes,
// and with them what slip there is along them.
static void put_tangents(CnVec3 aside, CnVec3 axis[3]) {
  CnVec3 flat = cn_madd(aside, -cn_dot(axis[0], aside), axis[0]);
  double size = cn_norm(flat);
  if (!(size > TOO_STEEP)) {
    cn_tangents(axis[0], &axis[1], &axis[2]);
    return;
  }
  axis[1] = cn_scale(1 / size, flat);
  axis[2] = cn_cross(axis[0], axis[1]);
}

static CniTouchFrame frame_of(const CniPlaced *a, const CniPlaced *b, CnVec3 at_a, CnVec3 at_b,
                              const CniWorldTouch *touch) {
  CniGap g = cni_gap(a, b, touch->feature);
  CniTouchFrame f = {.bend = g.bend,
                     .axis = {g.normal},
                     .gap = g.gap,
                     .fixed_a = cn_sub(g.centre_a, at_a),
                     .fixed_b = cn_sub(g.centre_b, at_b),
                     .radius_a = g.radius_a,
                     .radius_b = g.radius_b,
                     .domain = g.domain};
  f.arm_a = cn_madd(f.fixed_a, f.radius_a, g.normal);
  f.arm_b = cn_madd(f.fixed_b, -f.radius_b, g.normal);
  put_tangents(touch->aside, f.axis);
  return f;
}

CniTouchFrame cni_touch_between(const CniModel *model, CnPose pose_a, CnPose pose_b,
                                const CniWorldTouch *touch) {
  CniPlaced a = placed_at(model, pose_a, touch->shape_a);
  CniPlaced b = placed_at(model, pose_b, touch->shape_b);
  return frame_of(&a, &b, pose_a.position, pose_b.position, touch);
}

// Of what has one place with everything, beyond a flush seam: with the piece that goes on there.
static CniTouchFrame frame_between(const CniModel *model, CnPose pose_a, CnPose pose_b,
                                   const CniWorldTouch *touch) {
  CniTouchFrame f = cni_touch_between(model, pose_a, pose_b, touch);
  if (touch->cover_count == 0) return f;
  CniPlaced a = placed_at(model, pose_a, touch->shape_a), cover;
  CniPlaced b = placed_at(model, pose_b, touch->shape_b);
  int32_t side =
      cni_gap_one_place(&a, &b) ? cni_touch_cover(model, pose_a, pose_b, touch, &f, &cover) : 0;
  if (side == 0) return f;
  return frame_of(side == 1 ? &cover : &a, side == 2 ? &cover : &b, pose_a.position,
                  pose_b.position, touch);
}

CniTouchFrame cni_touch_frame(const CniModel *model, const CnPose *pose,
                              const CniWorldTouch *touch) {
  return frame_between(model, pose[touch->body_a], pose[touch->body_b], touch);
}

void cni_touches_domains(void *context, double t, const double *q, double *domain) {
  const CnWorld *world = context;
  const struct CniWorldEquations *eq = world->work.equations;
  cni_equations_here(world, t, &q, NULL);
  for (int32_t i = 0; i < eq->touch_count; i++)
    domain[i] = cni_touch_domain(&world->now.model, (const CnPose *)q, &eq->touches[i]);
  for (int32_t i = 0; i < eq->limit_count; i++) domain[eq->touch_count + i] = INFINITY;
}

double cni_touch_pull(const CniModel *model, const CnPose *pose, const CniWorldTouch *touch,
                      CniTouchFrame *frame) {
  if (!(touch->cohesion > 0)) return 0;
  *frame = cni_touch_frame(model, pose, touch);
  if (!(frame->gap <= touch->range)) return 0;
  // what a neighbour covers pulls nobody: the neighbour does
  return touch->cover_count > 0 && cni_touch_domain(model, pose, touch) < 0 ? 0 : touch->cohesion;
}

static CnTwist twist_of(const double *v, int32_t body) { return ((const CnTwist *)v)[body]; }

static CnVec3 point_velocity(CnTwist twist, CnVec3 arm) {
  return cn_add(twist.velocity, cn_cross(twist.spin, arm));
}

// w x (w x arm): acceleration of a point of a body whose velocities stand still.
static CnVec3 turning(CnTwist twist, CnVec3 arm) {
  return cn_cross(twist.spin, cn_cross(twist.spin, arm));
}

// Rows: normal, tangents, the same as axes of rolling, normal as the axis of spinning.
double *cni_touch_write(const CniModel *model, const CnPose *pose, const CnTwist *known,
                        const CniWorldTouch *touch, int32_t row, double *at, double *rate) {
  CniTouchFrame f = cni_touch_frame(model, pose, touch);
  CnVec3 axis = f.axis[row < 3 ? row : (row - 2) % 3], none = CN_VEC3_ZERO;
  return cni_put_pair(model, known, touch->body_a, f.arm_a, touch->body_b, f.arm_b,
                      row < 3 ? axis : none, row < 3 ? none : axis, at, rate);
}

double cni_touch_slide(const CniModel *model, const CnPose *pose, const CniWorldTouch *touch,
                       int32_t row) {
  if ((row != 1 && row != 2) || !(cn_norm2(touch->surface) > 0)) return 0;
  return cn_dot(cni_touch_frame(model, pose, touch).axis[row], cni_touch_surface(pose, touch));
}

// Which axis a row has, with those of the middle place laid into the plane of contact here, so that
// they do not turn about the normal.
static CnVec3 axis_of(const CniTouchFrame *f, const CniTouchFrame *middle, int32_t row) {
  int32_t k = row < 3 ? row : (row - 2) % 3;
  if (k == 0) return f->axis[0];
  CnVec3 axis = middle->axis[k];
  axis = cn_madd(axis, -cn_dot(f->axis[0], axis), f->axis[0]);
  return cn_scale(1 / cn_norm(axis), axis);
}

// Velocity of a row after the time t, the velocities held. Both are seen from a, as bodies that move
// together go far in a time that a slow change between them asks for.
static double rate_after(const CniModel *model, const CnPose *pose, const CnTwist *v,
                         const CniWorldTouch *touch, const CniTouchFrame *middle, int32_t row,
                         double t) {
  CnTwist a = v[touch->body_a], b = v[touch->body_b];
  b.velocity = cn_sub(b.velocity, a.velocity);
  a.velocity = CN_VEC3_ZERO;
  CnPose at_a = cni_advance_pose(pose[touch->body_a], a, t);
  CnPose at_b = cni_advance_pose(pose[touch->body_b], b, t);
  CniTouchFrame f = frame_between(model, at_a, at_b, touch);
  CnVec3 axis = axis_of(&f, middle, row);
  if (row > 2) return cn_dot(axis, cn_sub(b.spin, a.spin));
  CnVec3 u = cn_sub(point_velocity(b, f.arm_b), point_velocity(a, f.arm_a));
  CnQuat belt = touch->belt == touch->body_a ? at_a.rotation : at_b.rotation;
  if (row > 0) u = cn_add(u, cn_rotate(belt, touch->surface));
  return cn_dot(axis, u);
}

#define LITTLE 2e-3  // of a turn or of the size: differences of order 4 are right to 1e-11
#define STILL 1e-100 // rad/s: the square of what is slower is nothing

static double curvature_by_differences(const CniModel *model, const CnPose *pose, const CnTwist *v,
                                       const CniWorldTouch *touch, const CniTouchFrame *middle,
                                       int32_t row) {
  CnTwist a = v[touch->body_a], b = v[touch->body_b];
  double size = cni_touch_size(model, touch);
  double fast = cn_norm(a.spin) + cn_norm(b.spin) + cn_norm(cn_sub(b.velocity, a.velocity)) / size;
  if (!(fast > STILL)) return 0;
  double e = LITTLE / fast, sum = 0;
  static const double weights[2] = {8, -1};
  for (int32_t k = 1; k <= 2; k++)
    for (int32_t side = -1; side <= 1; side += 2)
      sum += side * weights[k - 1] * rate_after(model, pose, v, touch, middle, row, side * k * e);
  return sum / (12 * e);
}

// Tangents are those of a contact that sticks.
double cni_touch_curvature(const CniModel *model, const CnPose *pose, const double *v,
                           const CniWorldTouch *touch, int32_t row) {
  CniTouchFrame f = cni_touch_frame(model, pose, touch);
  CnTwist a = twist_of(v, touch->body_a), b = twist_of(v, touch->body_b);
  if (f.bend == CNI_GAP_OTHER || cn_norm2(touch->surface) > 0 ||
      (f.bend == CNI_GAP_FACE ? cn_norm2(a.spin) > 0 : row > 2))
    return curvature_by_differences(model, pose, (const CnTwist *)v, touch, &f, row);
  if (row > 2) return 0;
  double sum = cn_dot(f.axis[row], cn_sub(turning(b, f.fixed_b), turning(a, f.fixed_a)));
  if (f.bend != CNI_GAP_POINTS) return sum;
  CnVec3 u = cn_sub(point_velocity(b, f.fixed_b), point_velocity(a, f.fixed_a));
  double along = cn_dot(f.axis[0], u), distance = f.gap + (f.radius_a + f.radius_b);
  if (row == 0) return sum + (cn_norm2(u) - along * along) / distance;
  CnVec3 drift = cn_scale(1 / distance, cn_madd(u, -along, f.axis[0])); // of the normal
  CnVec3 spin = cn_madd(cn_scale(f.radius_a, a.spin), f.radius_b, b.spin);
  return sum - cn_dot(f.axis[row], cn_cross(spin, drift));
}

// ---- reach ----

// The farthest point that turns and the least inradius of the bounded shapes of a body; returns
// whether it has any.
static int measure(const CniModel *model, int32_t body, double *arm, double *least) {
  *arm = 0;
  *least = INFINITY;
  for (int32_t i = model->bodies[body].first_shape; i >= 0; i = model->shapes[i].next) {
    const CniShape *s = &model->shapes[i];
    if (cni_shape_unbounded(s->kind)) continue;
    double r = cn_norm(cni_shape_pose(s).position);
    if (s->kind != CN_SHAPE_SPHERE) r += cni_model_outradius(s);
    *arm = cn_max(*arm, r);
    *least = cn_min(*least, cni_model_inradius(s));
  }
  return *least < INFINITY;
}

// Length of the chord that a turn moves a point at distance one.
static double chord(CnQuat a, CnQuat b) {
  CnQuat d = {a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z};
  CnQuat s = {a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z};
  // a quaternion turns by half the angle, and -b is the same rotation; 2 sin(x) <= 2 * 2 sin(x/2)
  return cn_min(2, 2 * sqrt(cn_min(cn_qnorm2(d), cn_qnorm2(s))));
}

// What a body that follows a motion will do within h.
static void look_ahead(const CnWorld *world, int32_t body, double t, double h, CniReach *reach) {
  const CniModel *model = &world->now.model;
  const int32_t looks = 16;
  for (int32_t i = 0; i < model->motion_count; i++) {
    CnPose pose;
    CnTwist twist, change;
    if (cni_motion_at(model, i, t, &pose, &twist, &change) != body) continue;
    reach->likely_way = h * (cn_norm(twist.velocity) + h * cn_norm(change.velocity));
    reach->likely_turn = h * (cn_norm(twist.spin) + h * cn_norm(change.spin));
    for (int32_t k = 1; k <= looks; k++) {
      cni_motion_at(model, i, t + h * k / looks, &pose, &twist, &change);
      CnVec3 way = cn_sub(pose.position, reach->start.position);
      reach->likely_way = cn_max(reach->likely_way, cn_norm(way));
      reach->likely_turn = cn_max(reach->likely_turn, chord(pose.rotation, reach->start.rotation));
    }
  }
}

// What a body may do, and the twist that reaches as far within h. What was met since the start of
// the step stays in the list.
static CniReach find_reach(const CnWorld *world, int32_t body, double t, const CnPose *pose,
                           const CnTwist *twist, double h, CnTwist *wide) {
  const CniModel *model = &world->now.model;
  CniReach reach = {.start = pose[body], .way = INFINITY, .turn = 2};
  double least;
  *wide = twist[body];
  if (!cni_is_moved(world, body)) return reach; // it does what its twist says
  *wide = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  int any = measure(model, body, &reach.arm, &least);
  if (cni_is_free(model, body)) {
    if (!any) return reach;
    double pull = cn_norm(world->now.settings.gravity) +
                  cn_norm(cni_model_load(model, body).velocity) * cni_inv_mass(&model->mass[body]);
    reach.likely_way = h * (cn_norm(twist[body].velocity) + h * pull);
    reach.likely_turn = cn_min(2, h * cn_norm(twist[body].spin));
  } else {
    look_ahead(world, body, t, h, &reach);
    reach.likely_turn = cn_min(2, reach.likely_turn);
  }
  reach.way = 2 * reach.likely_way + (any ? 0.1 * least : 0) +
              cn_norm(cn_sub(pose[body].position, model->pose[body].position));
  if (reach.arm > 0 || !any)
    reach.turn =
        cn_min(2, 2 * reach.likely_turn + (any ? cn_min(2, reach.way / reach.arm) + 0.1 : 0) +
                      chord(pose[body].rotation, model->pose[body].rotation));
  wide->velocity.x = reach.way / h;
  wide->spin.x = reach.turn / h;
  return reach;
}

static CnPose seen_from(CnPose a, CnPose b) {
  CnQuat back = cn_qconj(cn_qunit(a.rotation));
  return (CnPose){cn_rotate(back, cn_sub(b.position, a.position)), cn_qmul(back, b.rotation)};
}

int32_t cni_touches_cover(void *context, double t, const double *q) {
  const CnWorld *world = context;
  const struct CniWorldEquations *eq = world->work.equations;
  const CniReach *reach = eq->reach;
  cni_equations_here(world, t, &q, NULL);
  const CnPose *pose = (const CnPose *)q;
  for (int32_t i = 0; i < world->now.model.body_count; i++) {
    if (!(cn_norm(cn_sub(pose[i].position, reach[i].start.position)) <= reach[i].way)) return 0;
    if (reach[i].turn < 2 &&
        !(chord(cn_qunit(pose[i].rotation), reach[i].start.rotation) <= reach[i].turn))
      return 0;
  }
  for (int32_t i = 0; i < eq->near_count; i++) {
    const CniNear *near = &eq->nears[i];
    CnPose seen = seen_from(pose[near->body_a], pose[near->body_b]);
    double way = cn_norm(cn_sub(seen.position, near->seen.position));
    if (!(way + near->arm * chord(cn_qunit(seen.rotation), cn_qunit(near->seen.rotation)) <=
          near->way))
      return 0;
  }
  return 1;
}

// ---- which there are ----

void cni_touch_name(void *context, int32_t contact, char *text, size_t capacity) {
  const CnWorld *world = context;
  const struct CniWorldEquations *eq = world->work.equations;
  const CniWorldTouch *touch = &eq->touches[contact];
  char a[CNI_NAME_SIZE + 16], b[CNI_NAME_SIZE + 16];
  cni_model_body_label(&world->now.model, touch->body_a, a);
  cni_model_body_label(&world->now.model, touch->body_b, b);
  snprintf(text, capacity, "%.40s on %.40s", b, a);
}

int32_t cni_touch_like(const struct CniWorldEquations *eq, const CniWorldTouch *touch) {
  for (int32_t i = 0; i < eq->touch_count; i++) {
    const CniWorldTouch *own = &eq->touches[i];
    if (own->shape_a == touch->shape_a && own->shape_b == touch->shape_b &&
        own->feature >> 28 == touch->feature >> 28)
      return i;
  }
  return -1;
}

// `when`: "step 3: ", or nothing.
static CnStatus refuse_pair(const CnWorld *world, int32_t shape_a, int32_t shape_b,
                            const char *when, const char *what) {
  const CniModel *model = &world->now.model;
  const CniShape *of_a = &model->shapes[shape_a], *of_b = &model->shapes[shape_b];
  char a[CNI_NAME_SIZE + 16], b[CNI_NAME_SIZE + 16];
  cni_model_body_label(model, of_a->body, a);
  cni_model_body_label(model, of_b->body, b);
  return cni_error(CN_UNSUPPORTED, "%s: %s%s (%s) and %s (%s): %s", world->now.settings.integrator,
                   when, a, cni_shape_kinds[of_a->kind]->name, b, cni_shape_kinds[of_b->kind]->name,
                   what);
}

static CnStatus refuse(const CnWorld *world, const CniContact *c, const char *what) {
  char when[40];
  snprintf(when, sizeof when, "step %lld: ", (long long)world->now.step + 1);
  return refuse_pair(world, c->shape_a, c->shape_b, when, what);
}

#define NO_GAP "meshes are followed by impulse only"

CnStatus cni_equations_meet(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  const CnPose *pose = model->pose;
  for (int32_t i = 0; i < model->shape_count; i++)
    for (int32_t j = 0; j < i; j++) {
      const CniShape *a = &model->shapes[i], *b = &model->shapes[j];
      if (a->body == b->body || !(cni_is_free(model, a->body) || cni_is_free(model, b->body)) ||
          (a->kind == CN_SHAPE_SPHERE && b->kind == CN_SHAPE_SPHERE) || !cni_masks_agree(a, b))
        continue;
      CniPlaced at_a = placed_at(model, pose[a->body], i),
                at_b = placed_at(model, pose[b->body], j);
      if (cni_gap_source(&at_a, &at_b) == CNI_GAP_NONE) return refuse_pair(world, i, j, "", NO_GAP);
    }
  return CN_OK;
}

// The law of a contact, as far as it can be followed.
static CnStatus contact_law(CnWorld *world, const CniContact *c, const CnPose *pose,
                            CnContactLaw *law, CnVec3 *surface, double *cohesion,
                            int32_t *enabled) {
  CniAssemblyInput input = {.model = &world->now.model,
                            .pose = pose,
                            .modify = world->hooks.modify ? cni_world_modify : NULL,
                            .modify_context = world};
  CniMaterialPair pair;
  const int32_t shapes[2] = {c->shape_a, c->shape_b};
  for (int32_t i = 0; i < 2; i++) {
    const CniMaterial *m = &input.model->materials[input.model->shapes[shapes[i]].material];
    if (m->def.surface_function.slot != 0)
      return refuse(world, c,
                    "a surface that follows a function of time is followed by impulse only");
  }
  CNI_TRY(cni_contact_law(&input, c, &pair, surface, enabled));
  if (!*enabled) return CN_OK;
  *law = (CnContactLaw){pair.restitution, pair.friction, pair.rolling_friction,
                        pair.spinning_friction};
  *cohesion = pair.cohesion;
  return CN_OK;
}

// Two shapes without a smooth gap: an error within the usual margin of a step; before, their bodies
// may go as far as is likely only, so that it is looked at again.
static CnStatus hold(const CnWorld *world, const CniContact *c, CniReach *reach) {
  const CniModel *model = &world->now.model;
  CniReach *ends[2] = {&reach[c->body_a], &reach[c->body_b]};
  double margin = world->now.settings.contact_margin, likely = 0;
  if (!(margin > 0))
    margin = 0.05 * cn_min(cni_model_inradius(&model->shapes[c->shape_a]),
                           cni_model_inradius(&model->shapes[c->shape_b]));
  for (int32_t i = 0; i < 2; i++)
    likely += ends[i]->likely_way + ends[i]->likely_turn * ends[i]->arm;
  if (c->gap <= margin + likely) return refuse(world, c, NO_GAP);
  for (int32_t i = 0; i < 2; i++) {
    double part = 0.25 * margin;
    ends[i]->way = cn_min(ends[i]->way, ends[i]->likely_way + part);
    if (ends[i]->arm > 0)
      ends[i]->turn = cn_min(ends[i]->turn, ends[i]->likely_turn + part / ends[i]->arm);
  }
  return CN_OK;
}

// b moves against a half-space a; of others the one that comes first in memory is a.
static CniWorldTouch touch_of(const CniModel *model, const CniContact *c, int32_t index) {
  int end_a = cni_shape_unbounded(model->shapes[c->shape_a].kind);
  int end_b = cni_shape_unbounded(model->shapes[c->shape_b].kind);
  int turned = end_a != end_b ? end_b : c->shape_a > c->shape_b;
  int32_t a = turned ? c->shape_b : c->shape_a, b = turned ? c->shape_a : c->shape_b;
  return (CniWorldTouch){.shape_a = a,
                         .shape_b = b,
                         .body_a = model->shapes[a].body,
                         .body_b = model->shapes[b].body,
                         .feature = c->feature,
                         .contact = index};
}

// Distance of the point from the nearer centre that has mass.
static double contact_radius(const CniModel *model, const CnPose *pose,
                             const CniWorldTouch *touch) {
  CniTouchFrame f = cni_touch_frame(model, pose, touch);
  double a = cni_is_free(model, touch->body_a) ? cn_norm(f.arm_a) : INFINITY;
  double b = cni_is_free(model, touch->body_b) ? cn_norm(f.arm_b) : INFINITY;
  return cn_min(a, b);
}

static int is_belt(const CniModel *model, int32_t shape) {
  return cn_norm2(model->materials[model->shapes[shape].material].def.surface_velocity) > 0;
}

// One more touch; *touch names bodies, shapes and feature.
static CnStatus add_touch(CnWorld *world, struct CniWorldEquations *eq, const CnPose *pose,
                          CniWorldTouch touch) {
  const CniModel *model = &world->now.model;
  const CniContact *c = &world->work.contacts[touch.contact];
  CnEquations *e = &eq->equations;
  CnVec3 surface;
  int32_t enabled;
  if (e->contact_count == MOST_CONTACTS)
    return cni_error(CN_UNSUPPORTED, "%s: step %lld: more than %d contacts are near",
                     world->now.settings.integrator, (long long)world->now.step + 1, MOST_CONTACTS);
  CnContactLaw *law = &eq->laws[e->contact_count];
  CNI_TRY(contact_law(world, c, pose, law, &surface, &touch.cohesion, &enabled));
  if (!enabled) return CN_OK;
  touch.aside = cni_touch_frame(model, pose, &touch).axis[1];
  touch.range = COHESION_RANGE * contact_radius(model, pose, &touch);
  if (touch.shape_a != c->shape_a) surface = cn_neg(surface);
  touch.belt = is_belt(model, touch.shape_b) ? touch.body_b : touch.body_a;
  touch.surface = cn_unrotate(cn_qunit(pose[touch.belt].rotation), surface);
  eq->touches[e->contact_count++] = touch;
  int32_t dim = law->spinning > 0 ? 6 : law->rolling > 0 ? 5 : law->friction > 0 ? 3 : 1;
  if (e->contact_dim < dim) e->contact_dim = dim;
  if (cni_touch_frame(model, pose, &touch).domain < INFINITY) e->domains = cni_touches_domains;
  return CN_OK;
}

#define MOST_FEATURES 1000 // of a pair
#define OVERLAP 1e-6       // of the inradius, without a feature

// How far the surfaces of a pair may come nearer within h.
static double reach_of(const CnWorld *world, const CniReach *reach, const CniWorldTouch *touch,
                       double h) {
  const CniModel *model = &world->now.model;
  const int32_t bodies[2] = {touch->body_a, touch->body_b};
  double sum = 0;
  for (int32_t i = 0; i < 2; i++) {
    const CniReach *own = &reach[bodies[i]];
    CnTwist twist = model->twist[bodies[i]];
    double far = cn_norm(cn_sub(own->start.position, reach[bodies[1 - i]].start.position)) +
                 reach[bodies[1 - i]].arm;
    sum += cni_is_free(model, bodies[i]) ? own->way + own->turn * own->arm
           : cni_is_moved(world, bodies[i])
               ? own->way + own->turn * far
               : h * (cn_norm(twist.velocity) + cn_norm(twist.spin) * far);
  }
  return sum;
}

// Features of bounded shapes are left behind where these overlap too deeply.
static void stay_near(const CniModel *model, struct CniWorldEquations *eq, const CnPose *pose,
                      const CniWorldTouch *touch) {
  double least, part = 0.1 * cni_touch_size(model, touch);
  if (cni_shape_unbounded(model->shapes[touch->shape_a].kind)) return;
  CniNear *near = &eq->nears[eq->near_count++];
  *near = (CniNear){touch->body_a, touch->body_b,
                    seen_from(pose[touch->body_a], pose[touch->body_b]), part, 0};
  measure(model, touch->body_b, &near->arm, &least);
}

// Is no part of b below any of a along n? Of edges that are parallel but for round-off the nearest places
// tell overlaps of up to 5e-5 of the size that are none.
static int separates(const CniPlaced *a, const CniPlaced *b, CnVec3 n, double allowed) {
  CnVec3 x = a->pose.position;
  return cni_shape_beyond(a, x, n) + cni_shape_beyond(b, x, cn_neg(n)) <= allowed;
}

// The features of the pair that has the contacts from `begin` to `end`; eq null: their number.
static CnStatus add_features(CnWorld *world, struct CniWorldEquations *eq, const CnPose *pose,
                             const CniReach *reach, double h, int32_t begin, int32_t end,
                             int32_t *count) {
  const CniModel *model = &world->now.model;
  CniWorldTouch touch = touch_of(model, &world->work.contacts[begin], begin);
  CniPlaced a = placed_at(model, pose[touch.body_a], touch.shape_a);
  CniPlaced b = placed_at(model, pose[touch.body_b], touch.shape_b);
  uint32_t names[MOST_FEATURES];
  double least = INFINITY;
  CnVec3 normal = CN_VEC3_ZERO; // where it is least
  *count = cni_gap_features(&a, &b, reach_of(world, reach, &touch, h), world->now.settings.gravity,
                            names, MOST_FEATURES);
  if (*count > MOST_FEATURES)
    return refuse(world, &world->work.contacts[begin], "too many corners and edges are near");
  for (int32_t i = 0; eq && i < *count; i++) {
    touch.feature = names[i];
    CniTouchFrame f = cni_touch_frame(model, pose, &touch);
    CnVec3 point = cn_add(pose[touch.body_b].position, f.arm_b);
    touch.contact = cni_nearest_contact(world->work.contacts, begin, end, point);
    CNI_TRY(add_touch(world, eq, pose, touch));
    if (!(f.domain >= 0 && f.gap < least)) continue;
    least = f.gap;
    normal = f.axis[0];
  }
  // the apex of a cone at a rim is none of them
  double allowed = OVERLAP * cni_touch_size(model, &touch);
  if (eq && least > 0 && !cni_shape_unbounded(a.kind) && cni_places(&a, &b).gap < -allowed &&
      !(least < INFINITY && separates(&a, &b, normal, allowed)))
    return refuse(world, &world->work.contacts[begin],
                  "they overlap where no corner, edge or rim can be followed");
  return CN_OK;
}

// All touches; counted first (`fill` 0), with the reach as it was found.
static CnStatus list_touches(CnWorld *world, struct CniWorldEquations *eq, const CnPose *pose,
                             const CniReach *reach, double h, int fill, int32_t *count) {
  const CniModel *model = &world->now.model;
  const CniContact *all = world->work.contacts;
  *count = 0;
  for (int32_t i = 0, end; i < world->work.contact_count; i = end) {
    const CniContact *c = &all[i];
    CniWorldTouch touch = touch_of(model, c, i);
    int32_t more = 1;
    end = i + 1;
    CniPlaced a = placed_at(model, pose[touch.body_a], touch.shape_a);
    CniPlaced b = placed_at(model, pose[touch.body_b], touch.shape_b);
    CniGapSource source = cni_gap_source(&a, &b);
    // a ball has one point with everything, whatever that is called
    int one = source == CNI_GAP_BY_POINTS && cni_gap_one_place(&a, &b);
    if (one) touch.feature = 0;
    while ((source == CNI_GAP_BY_FEATURES || one) && end < world->work.contact_count &&
           all[end].shape_a == c->shape_a && all[end].shape_b == c->shape_b)
      end++;
    if (source == CNI_GAP_BY_FEATURES)
      CNI_TRY(add_features(world, fill ? eq : NULL, pose, reach, h, i, end, &more));
    else if (source == CNI_GAP_BY_POINTS && fill)
      CNI_TRY(add_touch(world, eq, pose, touch));
    else if (source == CNI_GAP_NONE && fill)
      CNI_TRY(hold(world, c, eq->reach));
    if (source == CNI_GAP_BY_FEATURES && fill && more > 0) stay_near(model, eq, pose, &touch);
    *count += more;
  }
  eq->equations.laws = eq->laws;
  return CN_OK;
}

CnStatus cni_touches_find(CnWorld *world, struct CniWorldEquations *eq, double t,
                          const CnPose *pose, const CnTwist *twist, double h) {
  int32_t bodies = world->now.model.body_count;
  CnTwist *wide = NULL;
  CNI_TRY(cni_equations_take(world, bodies, sizeof *wide, &wide));
  CNI_TRY(cni_equations_take(world, bodies, sizeof *eq->reach, &eq->reach));
  for (int32_t i = 0; i < bodies; i++)
    eq->reach[i] = find_reach(world, i, t, pose, twist, h, &wide[i]);
  CNI_TRY(cni_world_detect(world, pose, wide, CN_VEC3_ZERO, h));
  CniReach *found = NULL; // before pairs make it smaller
  int32_t most;
  CNI_TRY(cni_equations_take(world, bodies, sizeof *found, &found));
  if (bodies) memcpy(found, eq->reach, (size_t)bodies * sizeof *found);
  eq->equations.contact_count = 0;
  eq->equations.contact_dim = 1;
  eq->equations.domains = NULL;
  CNI_TRY(list_touches(world, eq, pose, found, h, 0, &most));
  CNI_TRY(cni_equations_take(world, world->work.contact_count, sizeof *eq->nears, &eq->nears));
  eq->near_count = 0;
  CNI_TRY(cni_equations_take(world, most, sizeof *eq->touches, &eq->touches));
  CNI_TRY(cni_equations_take(world, most + eq->limit_count, sizeof *eq->laws, &eq->laws));
  CNI_TRY(list_touches(world, eq, pose, found, h, 1, &most));
  CNI_TRY(cni_covers_find(world, eq, pose));
  return cni_tell_contacts(world, pose, twist);
}
