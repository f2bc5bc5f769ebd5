// SPDX-License-Identifier: Apache-2.0
// The shapes that one of several ranks looks at: those of its own bodies, half-spaces, and what may come near
// these bodies. All stages of a detection go through a model that has no other shapes, in the order of the whole,
// so that what they need is a part of what one process needs, and contacts come in the same order.
//
// The choice is kept like the list of candidates, by a box: the own shapes, grown by their margins and reaches,
// are in it, and of all that is left out nothing reaches into it. Two shapes whose grown balls do not meet have no
// contact. The box is made a little wider than needed, so that it lasts as long as a list. A choice that would
// leave little out is none, and neither is one of a state that is not finite: then every rank finds the same body.
//
// Cost: a look at each shape a step; while nothing is chosen anew, no memory.
#include "collision/collision_private.h"

#include "core/error.h"

#define SHAPES_A_TASK 4096
#define SKIN 0.1  // of the inradius, as of the bounds of candidates, and so are the next two
#define AHEAD 4.0 // steps
#define RUN 0.2   // of the inradius
#define WORTH 8   // one in so many must be left out

typedef struct Ball {
  CnVec3 centre;
  double radius, skin; // with margin and reach; negative: wherever it is
  int own;
} Ball;

// Of one task.
typedef struct Part {
  CniBounds box;
  int32_t count, bad;
} Part;

typedef struct Loop {
  const CniDetection *w;
  CniSome *some;
  Part *parts;
  int32_t *to; // null: they are counted
  CniShape *copies;
} Loop;

static Ball ball_of(const CniDetection *w, int32_t shape) {
  CniProxy p = cni_proxy_of(w, shape);
  if ((p.flags & CNI_ENDLESS) || isinf(p.outradius)) return (Ball){p.centre, -1, 0, 0};
  const CniCollisionInput *in = w->in;
  double size = cni_model_inradius(&in->model->shapes[shape]);
  double ahead = cn_min(AHEAD * p.reach, RUN * size);
  return (Ball){.centre = p.centre,
                .radius = p.outradius + p.reach + 0.5 * p.base,
                .skin = SKIN * size + 2 * ahead,
                .own = p.body >= in->first_body && p.body < in->last_body};
}

static CniBounds bounds_of(const Ball *b, double skin) {
  double r = b->radius + skin;
  return (CniBounds){cn_sub(b->centre, cn_vec3(r, r, r)), cn_add(b->centre, cn_vec3(r, r, r))};
}

static int lies_in(const CniBounds *a, const CniBounds *b) {
  return (a->lo.x >= b->lo.x) & (a->hi.x <= b->hi.x) & (a->lo.y >= b->lo.y) & (a->hi.y <= b->hi.y) &
         (a->lo.z >= b->lo.z) & (a->hi.z <= b->hi.z);
}

// ---- does the choice hold? ----

static void look(void *context, int32_t begin, int32_t end) {
  const Loop *loop = context;
  const CniSome *some = loop->some;
  Part *part = &loop->parts[begin / SHAPES_A_TASK];
  int32_t next = cni_lower_bound(some->shapes, some->count, begin);
  part->bad = 0;
  for (int32_t i = begin; i < end && !part->bad; i++) {
    int chosen = next < some->count && some->shapes[next] == i;
    next += chosen;
    Ball ball = ball_of(loop->w, i);
    if (ball.radius < 0) continue;
    CniBounds b = bounds_of(&ball, 0);
    part->bad = !cn_vec3_finite(b.lo) || !cn_vec3_finite(b.hi);
    if (ball.own)
      part->bad |= !lies_in(&b, &some->box);
    else if (!chosen)
      part->bad |= cni_bounds_meet(&b, &some->box);
  }
}

static int32_t any_bad(const Loop *loop, int32_t tasks) {
  int32_t bad = 0;
  for (int32_t t = 0; t < tasks; t++) bad |= loop->parts[t].bad;
  return bad;
}

// ---- another choice ----

static void enclose(void *context, int32_t begin, int32_t end) {
  const Loop *loop = context;
  Part *part = &loop->parts[begin / SHAPES_A_TASK];
  *part = (Part){.box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}};
  for (int32_t i = begin; i < end; i++) {
    Ball ball = ball_of(loop->w, i);
    if (ball.radius < 0) continue;
    CniBounds b = bounds_of(&ball, ball.skin);
    part->bad |= !cn_vec3_finite(b.lo) || !cn_vec3_finite(b.hi);
    if (!ball.own) continue;
    CniBounds *box = &part->box;
    box->lo =
        cn_vec3(cn_min(box->lo.x, b.lo.x), cn_min(box->lo.y, b.lo.y), cn_min(box->lo.z, b.lo.z));
    box->hi =
        cn_vec3(cn_max(box->hi.x, b.hi.x), cn_max(box->hi.y, b.hi.y), cn_max(box->hi.z, b.hi.z));
  }
}

static void pick(void *context, int32_t begin, int32_t end) {
  const Loop *loop = context;
  Part *part = &loop->parts[begin / SHAPES_A_TASK];
  int32_t *to = loop->to ? loop->to + part->count : NULL, count = 0;
  for (int32_t i = begin; i < end; i++) {
    Ball ball = ball_of(loop->w, i);
    CniBounds b = bounds_of(&ball, ball.skin);
    if (!ball.own && ball.radius >= 0 && !cni_bounds_meet(&b, &loop->some->box)) continue;
    if (to) to[count] = i;
    count++;
  }
  if (!to) part->count = count;
}

static CnStatus choose(CniCollision *c, Loop *loop, int32_t tasks) {
  CniSome *some = &c->of_some;
  const CniCollisionInput *in = loop->w->in;
  int32_t shapes = loop->w->count, count = 0;
  some->count = 0;
  cni_parallel_for(in->tasks, shapes, SHAPES_A_TASK, enclose, loop);
  if (any_bad(loop, tasks)) return CN_OK;
  some->box = loop->parts[0].box;
  for (int32_t t = 1; t < tasks; t++) {
    const CniBounds *b = &loop->parts[t].box;
    CniBounds *box = &some->box;
    box->lo =
        cn_vec3(cn_min(box->lo.x, b->lo.x), cn_min(box->lo.y, b->lo.y), cn_min(box->lo.z, b->lo.z));
    box->hi =
        cn_vec3(cn_max(box->hi.x, b->hi.x), cn_max(box->hi.y, b->hi.y), cn_max(box->hi.z, b->hi.z));
  }
  cni_parallel_for(in->tasks, shapes, SHAPES_A_TASK, pick, loop);
  for (int32_t t = 0; t < tasks; t++) {
    int32_t n = loop->parts[t].count;
    loop->parts[t].count = count;
    count += n;
  }
  if (count == 0 || shapes - count < shapes / WORTH) return CN_OK;
  CNI_TRY(CNI_RESERVE(&c->allocator, some->shapes, some->capacity, 0, count));
  loop->to = some->shapes;
  cni_parallel_for(in->tasks, shapes, SHAPES_A_TASK, pick, loop);
  some->count = count;
  some->of = shapes;
  some->first_body = in->first_body;
  some->last_body = in->last_body;
  some->edits = in->model->edits;
  some->number++;
  return CN_OK;
}

// ---- its model ----

static void copy_shapes(void *context, int32_t begin, int32_t end) {
  const Loop *loop = context;
  for (int32_t i = begin; i < end; i++) {
    int32_t shape = loop->some->shapes[i];
    CniShape *copy = &loop->copies[i];
    *copy = loop->w->in->model->shapes[shape];
    // nobody follows the list of a body here, but one shape alone is its own neighbour
    copy->previous = copy->previous == shape ? i : -1;
  }
}

CnStatus cni_some_choose(CniCollision *c, const CniDetection *w, CniModel **chosen) {
  const CniCollisionInput *in = w->in;
  CniSome *some = &c->of_some;
  *chosen = NULL;
  if (!in->some || w->count == 0) {
    some->count = 0;
    return CN_OK;
  }
  CniDetection own = *w;
  own.gravity = cn_norm(in->gravity);
  Loop loop = {.w = &own, .some = some};
  int32_t tasks = (w->count - 1) / SHAPES_A_TASK + 1;
  CniArenaMark mark = cni_arena_mark(w->arena);
  CNI_TRY(CNI_TAKE(w->arena, tasks, loop.parts));
  int holds = some->count > 0 && some->of == w->count && some->first_body == in->first_body &&
              some->last_body == in->last_body && some->edits == in->model->edits;
  if (holds) {
    cni_parallel_for(in->tasks, w->count, SHAPES_A_TASK, look, &loop);
    holds = !any_bad(&loop, tasks);
  }
  if (!holds) CNI_TRY(choose(c, &loop, tasks));
  cni_arena_back(w->arena, mark);
  if (some->count == 0) return CN_OK;
  CniModel *model;
  CNI_TRY(CNI_TAKE(w->arena, 1, model));
  CNI_TRY(CNI_TAKE(w->arena, some->count, loop.copies));
  cni_parallel_for(in->tasks, some->count, SHAPES_A_TASK, copy_shapes, &loop);
  *model = *in->model;
  model->shapes = loop.copies;
  model->shape_count = some->count;
  // a list of candidates is good for one choice alone
  model->edits = ~some->number;
  *chosen = model;
  return CN_OK;
}

void cni_some_name(const CniCollision *c, CniContact *contacts, int32_t count) {
  const int32_t *shapes = c->of_some.shapes;
  for (int32_t i = 0; i < count; i++) {
    contacts[i].shape_a = shapes[contacts[i].shape_a];
    contacts[i].shape_b = shapes[contacts[i].shape_b];
  }
}
