// SPDX-License-Identifier: Apache-2.0
// Place, the first stage of detection: every shape where its body is now, and how far it may come
// in this step.
//
// A shape becomes a proxy: position, bounds, and the reach of collision.c, which with the base
// margin is how much its bounds grow. A sphere alone on its body has a short way, as turning does
// not move it. Half-spaces are listed apart: they have no bounds, and the cull tests everything
// against them. A state that is not finite is found here and its body named, before anything is
// computed from it.
//
// Shapes are placed in parallel, each into its own place: the result does not depend on the number
// of workers.
#include "collision/collision_private.h"

#include "core/error.h"

#define SHAPES_A_TASK 256
#define LARGE 1e300
#define BASE_SHARE 0.05 // of the inradius
#define BASE_STEPS 2.0

// How far points at most r from the centre of mass may come in this step.
static double reach_of(const CniDetection *w, int32_t body, double r) {
  const CniCollisionInput *in = w->in;
  const CniModel *m = in->model;
  if (m->bodies[body].kind == CN_BODY_FIXED) return 0;
  double h = in->time_step;
  double speed = cn_norm(in->twist[body].velocity), spin = 0;
  if (r > 0) spin = cn_norm(in->twist[body].spin);
  const CniBodyMass *mass = &m->mass[body];
  if (cni_has_mass(mass)) {
    CnTwist load = cni_model_load(m, body);
    double pull = w->gravity;
    if (m->load) pull += cn_norm(load.velocity) * cni_inv_mass(mass);
    speed += h * pull;
    if (r > 0) {
      CnVec3 inertia = cni_model_principal(m, body);
      double least = cn_min(inertia.x, cn_min(inertia.y, inertia.z));
      spin += h * cn_norm(load.spin) * (1 / least);
    }
  }
  // no point gets farther by turning than to the opposite side
  return h * speed + cn_min(h * spin, 2) * r;
}

// What nothing foresees: what overlaps push apart, at most as fast as a body falls from its own size.
static double base_of(const CniDetection *w, double inradius) {
  const CniCollisionInput *in = w->in;
  double share = BASE_SHARE * inradius, way = in->time_step * sqrt(w->gravity * inradius);
  if (in->margin > 0) return in->margin;
  return way > 0 ? cn_min(share, BASE_STEPS * way) : share;
}

// Meets nothing in the broad phase.
static const CniBounds no_bounds = {{1, 1, 1}, {-1, -1, -1}};

static CniBounds grown(CniBounds b, double by) {
  return (CniBounds){{b.lo.x - by, b.lo.y - by, b.lo.z - by},
                     {b.hi.x + by, b.hi.y + by, b.hi.z + by}};
}

// What place leaves for one shape. Half-spaces have no bounds.
static CniProxy make_proxy(const CniDetection *w, int32_t i, CnVec3 centre) {
  const CniCollisionInput *in = w->in;
  const CniShape *s = &in->model->shapes[i];
  int unbounded = cni_shape_unbounded(s->kind);
  double outradius = cni_model_outradius(s);
  const CniShapePoses *poses = cni_shape_poses(s);
  double arm = unbounded || !poses ? 0 : cn_norm(poses->pose.position);
  if (s->kind != CN_SHAPE_SPHERE && !unbounded) arm += outradius;
  CniProxy p = {.centre = centre,
                .outradius = outradius,
                .base = base_of(w, cni_model_inradius(s)),
                .reach = reach_of(w, s->body, arm),
                .body = s->body,
                .slot = s->slot,
                .plane = -1};
  if (!cni_has_mass(&in->model->mass[s->body])) p.flags |= CNI_PRESCRIBED;
  if (unbounded) p.flags |= CNI_ENDLESS;
  if (s->kind == CN_SHAPE_SPHERE) p.flags |= CNI_IS_SPHERE;
  if (poses) p.flags |= CNI_OFFSET;
  if (s->next < 0 && s->previous == i) p.flags |= CNI_LONE;
  if (cni_shape_category(s) != CNI_USUAL_CATEGORY || cni_shape_mask(s) != CNI_USUAL_MASK ||
      cni_shape_trigger(s) || in->model->disabled_count > 0)
    p.flags |= CNI_CHOOSY;
  if (cni_shape_category(s) == 0 || cni_shape_mask(s) == 0) p.flags |= CNI_GHOST;
  if (in->model->bodies[s->body].first_joint >= 0) p.flags |= CNI_JOINTED;
  if (in->model->bodies[s->body].continuous) p.flags |= CNI_CONTINUOUS;
  if (cni_shape_is_surface(s->kind))
    p.flags |= CNI_IS_MESH;
  else if (!unbounded &&
           (in->model->bodies[s->body].kind == CN_BODY_FIXED || !(p.flags & CNI_LONE)))
    p.flags |= CNI_PIECE;
  return p;
}

// The same for a sphere at the origin of its body with the usual category and mask, which is most
// shapes of a pile.
static CniProxy make_ball(const CniDetection *w, int32_t i) {
  const CniCollisionInput *in = w->in;
  const CniModel *m = in->model;
  const CniShape *s = &m->shapes[i];
  const CniBody *body = &m->bodies[s->body];
  CniProxy p = {.centre = in->pose[s->body].position,
                .outradius = s->radius,
                .base = base_of(w, s->radius),
                .body = s->body,
                .slot = s->slot,
                .flags = CNI_IS_SPHERE,
                .plane = -1};
  double speed = cn_norm(in->twist[s->body].velocity);
  if (cni_has_mass(&m->mass[s->body]))
    speed += in->time_step * w->gravity;
  else
    p.flags |= CNI_PRESCRIBED;
  if (body->kind != CN_BODY_FIXED) p.reach = in->time_step * speed;
  if (s->next < 0 && s->previous == i) p.flags |= CNI_LONE;
  if (body->first_joint >= 0) p.flags |= CNI_JOINTED;
  if (body->continuous) p.flags |= CNI_CONTINUOUS;
  if (m->disabled_count > 0) p.flags |= CNI_CHOOSY;
  return p;
}

CniProxy cni_proxy_of(const CniDetection *w, int32_t i) {
  const CniShape *s = &w->in->model->shapes[i];
  if (s->kind == CN_SHAPE_SPHERE && !s->extra && !w->in->model->load) return make_ball(w, i);
  return make_proxy(w, i, cni_placed(w, i).pose.position);
}

CniBounds cni_grown_bounds(const CniDetection *w, int32_t shape, double skin) {
  const CniProxy *p = &w->proxies[shape];
  if (p->flags & (CNI_ENDLESS | CNI_GHOST)) return no_bounds;
  CniPlaced placed = cni_placed(w, shape);
  return grown(cni_shape_bounds(&placed), p->reach + 0.5 * p->base + skin);
}

// Is a shape where the list of candidates expects it? Nothing is there where a half-space was, and
// no ball where something else was, or the reverse.
static int box_lies_in(const CniBounds *a, const CniWide *wide, const CniWideSides *sides,
                       CnVec3 origin) {
  if (!sides) return 0;
  CnVec3 way = {0.5 * (a->lo.x + a->hi.x) - origin.x - (double)wide->centre[0],
                0.5 * (a->lo.y + a->hi.y) - origin.y - (double)wide->centre[1],
                0.5 * (a->lo.z + a->hi.z) - origin.z - (double)wide->centre[2]};
  return (fabs(way.x) + 0.5 * (a->hi.x - a->lo.x) <= (double)wide->half) &
         (fabs(way.y) + 0.5 * (a->hi.y - a->lo.y) <= (double)sides->y) &
         (fabs(way.z) + 0.5 * (a->hi.z - a->lo.z) <= (double)sides->z);
}

static int ball_lies_in(CnVec3 centre, double radius, const CniWide *wide,
                        const CniWideSides *sides, CnVec3 origin) {
  CnVec3 way = {centre.x - origin.x - (double)wide->centre[0],
                centre.y - origin.y - (double)wide->centre[1],
                centre.z - origin.z - (double)wide->centre[2]};
  double left = (double)wide->half - radius;
  return (left >= 0) & (!sides || sides->y < 0) & (cn_norm2(way) <= left * left);
}

typedef struct PlaceLoop {
  const CniDetection *w;
  const CniWide *wide;       // null: there is no list
  const CniWideSides *sides; // null: of balls only
  CnVec3 origin;
  uint8_t *found; // per task: FOUND_ bits
} PlaceLoop;

#define FOUND_OUTSIDE 1u  // a shape has left its wide bounds
#define FOUND_INFINITE 2u // a shape is where no number is
#define FOUND_PLANES 4u   // half-spaces
#define FOUND_OTHERS 8u   // shapes that are neither balls nor half-spaces
#define FOUND_FAST 16u    // shapes of continuous bodies

static void place_shapes(void *context, int32_t begin, int32_t end) {
  const PlaceLoop *loop = context;
  const CniDetection *w = loop->w;
  int outside = 0, infinite = 0;
  unsigned kinds = 0;
  for (int32_t i = begin; i < end; i++) {
    const CniShape *shape = &w->in->model->shapes[i];
    CniProxy *p = &w->proxies[i];
    if (shape->kind == CN_SHAPE_SPHERE) {
      *p = cni_proxy_of(w, i);
      CnVec3 centre = p->centre;
      // large numbers, whose bounds may overflow, are looked at again
      double sum = fabs(centre.x) + fabs(centre.y) + fabs(centre.z) + p->reach + p->outradius;
      infinite |= !(sum < LARGE);
      if (p->flags & CNI_GHOST) continue; // wherever it is
      if (p->flags & CNI_CONTINUOUS) kinds |= FOUND_FAST;
      double radius = p->outradius + p->reach + 0.5 * p->base;
      if (loop->wide && !outside)
        outside = !ball_lies_in(centre, radius, &loop->wide[i],
                                loop->sides ? &loop->sides[i] : NULL, loop->origin);
      continue;
    }
    CniPlaced placed = cni_placed(w, i);
    *p = make_proxy(w, i, placed.pose.position);
    // a sum is finite only if all of its parts are
    double sum = p->centre.x + p->centre.y + p->centre.z + p->reach;
    if (p->flags & CNI_ENDLESS) {
      infinite |= !isfinite(sum);
      kinds |= FOUND_PLANES;
      continue;
    }
    if (p->flags & CNI_GHOST) {
      infinite |= !isfinite(sum);
      continue;
    }
    kinds |= FOUND_OTHERS;
    if (p->flags & CNI_CONTINUOUS) kinds |= FOUND_FAST;
    CniBounds b = cni_shape_bounds(&placed);
    sum += (b.lo.x + b.lo.y + b.lo.z) + (b.hi.x + b.hi.y + b.hi.z);
    infinite |= !isfinite(sum);
    if (!loop->wide || outside) continue;
    b = grown(b, p->reach + 0.5 * p->base);
    outside = !box_lies_in(&b, &loop->wide[i], loop->sides ? &loop->sides[i] : NULL, loop->origin);
  }
  if (outside) kinds |= FOUND_OUTSIDE;
  if (infinite) kinds |= FOUND_INFINITE;
  loop->found[begin / SHAPES_A_TASK] = (uint8_t)kinds;
}

// Name the body that has left the real numbers, if it is so: a sum may also have overflowed.
static CnStatus check_finite(const CniDetection *w) {
  for (int32_t i = 0; i < w->count; i++) {
    const CniProxy *p = &w->proxies[i];
    CniBounds b = cni_grown_bounds(w, i, 0);
    if (cn_vec3_finite(b.lo) && cn_vec3_finite(b.hi) && cn_vec3_finite(p->centre) &&
        isfinite(p->reach))
      continue;
    char label[CNI_NAME_SIZE + 16];
    cni_model_body_label(w->in->model, p->body, label);
    return cni_error(CN_NOT_FINITE, "%s: position or velocity is not finite", label);
  }
  return CN_OK;
}

// Half-spaces among the shapes of tasks that found some.
static int32_t count_planes(const CniDetection *w, const uint8_t *found) {
  int32_t count = 0;
  for (int32_t i = 0; i < w->count; i++) {
    if (found[i / SHAPES_A_TASK] & FOUND_PLANES)
      count += (w->proxies[i].flags & CNI_ENDLESS) != 0;
    else
      i += SHAPES_A_TASK - 1; // they begin at a multiple of it
  }
  return count;
}

// Set the half-spaces apart.
static CnStatus list_planes(CniDetection *w, CniArena *arena, const uint8_t *found) {
  const CniModel *m = w->in->model;
  w->plane_count = count_planes(w, found);
  CNI_TRY(CNI_TAKE(arena, w->plane_count, w->planes));
  int32_t n = 0;
  for (int32_t i = 0; i < w->count && n < w->plane_count; i++) {
    CniProxy *p = &w->proxies[i];
    if (!(p->flags & CNI_ENDLESS)) continue;
    CnVec3 spin = w->in->twist[p->body].spin;
    CniPlaced placed = cni_placed(w, i);
    CnVec3 up = cni_plane_up(&placed);
    p->plane = n;
    w->planes[n++] = (CniPlane){.up = up,
                                .height = cn_dot(up, p->centre),
                                .far = fabs(p->centre.x) + fabs(p->centre.y) + fabs(p->centre.z),
                                .base = p->base,
                                .reach = p->reach,
                                .shape = i,
                                .rotates = m->bodies[p->body].kind != CN_BODY_FIXED &&
                                           (spin.x != 0 || spin.y != 0 || spin.z != 0)};
  }
  return CN_OK;
}

// Shapes that are neither balls nor half-spaces are asked for as often as they have neighbours.
static void keep_placed(void *context, int32_t begin, int32_t end) {
  const CniDetection *w = context;
  for (int32_t i = begin; i < end; i++)
    if (!(w->proxies[i].flags & (CNI_IS_SPHERE | CNI_ENDLESS))) w->placed[i] = cni_placed(w, i);
}

CnStatus cni_detection_place(CniCollision *c, CniDetection *w, int32_t *inside) {
  size_t n = (size_t)w->count, tasks = n / SHAPES_A_TASK + 1;
  w->gravity = cn_norm(w->in->gravity);
  uint8_t *flags;
  CNI_TRY(CNI_TAKE(w->arena, n, w->proxies));
  CNI_TRY(CNI_TAKE(w->arena, tasks, flags));
  memset(flags, 0, tasks);
  const CniCollisionInput *in = w->in;
  int usable = c->wide_count == w->count && c->some == in->some;
  if (in->some)
    usable &= c->first_body == in->first_body && c->last_body == in->last_body &&
              c->edits == in->model->edits;
  PlaceLoop loop = {w, usable ? c->wide : NULL, c->sides, c->origin, flags};
  cni_parallel_for(w->in->tasks, w->count, SHAPES_A_TASK, place_shapes, &loop);

  unsigned found = 0;
  for (size_t t = 0; t < tasks; t++) found |= loop.found[t];
  if (found & FOUND_INFINITE) CNI_TRY(check_finite(w));
  *inside = usable && !(found & FOUND_OUTSIDE);
  w->has_others = (found & FOUND_OTHERS) != 0;
  w->has_continuous = (found & FOUND_FAST) && w->in->rows;
  size_t bytes = n * sizeof *w->placed;
  if (w->has_others &&
      (w->headroom == 0 ||
       cni_arena_fits(w->arena, w->start, w->arena->total - w->start.total + bytes))) {
    CNI_TRY(CNI_TAKE(w->arena, n, w->placed));
    cni_parallel_for(w->in->tasks, w->count, SHAPES_A_TASK, keep_placed, w);
  }
  return found & FOUND_PLANES ? list_planes(w, w->arena, loop.found) : CN_OK;
}
