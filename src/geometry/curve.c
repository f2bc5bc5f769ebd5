// SPDX-License-Identifier: Apache-2.0
// Curves in a plane: made from points, and looked at from a point or from another curve.
//
// A path is lines and arcs, without corners: a point in a groove would have to jump there. A spline
// is two cubics in the length of the chords, with second derivatives that are continuous; where it is open its
// first and its last two pieces are one cubic (not a knot), so that a curve that is smooth is met to
// the fourth order up to its ends.
//
// The foot of a perpendicular is a place where the slope of the distance passes from below zero to above.
// The search starts at the place known and goes from piece to piece downhill, then finds the root
// between its brackets by Newton's method: no jump to another branch of a spiral, or at a crossing.
#include "geometry/curve.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/math.h"
#include "core/memory.h"
#include "core/vec.h"

#define CORNER 1e-4 // rad: what two pieces may differ where they meet
#define SAMPLES 8   // of a piece, where nothing is known

static const char *const kinds[] = {"path", "spline", NULL};

const char *cn_curve_kind_name(CnCurveKind kind) {
  return (uint32_t)kind < CN_CURVE_KIND_COUNT ? kinds[kind] : NULL;
}

const CniField cni_curve_fields[] = {
    CNI_FIELD(CHOICE, CnCurveDef, kind, ANY, "", "what is between the points", .words = kinds),
    CNI_FIELD(FLAG, CnCurveDef, closed, ANY, "", "it goes on from the last point to the first"),
    CNI_FIELDS_END};

CnCurveDef cn_curve_def_default(CnCurveKind kind) {
  CnCurveDef def = {.size = sizeof def, .tag = CNI_TAG_CURVE};
  cni_fields_default(cni_curve_fields, &def);
  def.kind = kind;
  return def;
}

CnStatus cni_curve_check(const CnCurveDef *given) {
  CnCurveDef def = *given;
  CNI_TRY(cni_fields_check(cni_curve_fields, "curve", &def));
  int32_t least = def.closed && def.kind == CN_CURVE_SPLINE ? 3 : 2;
  if (def.point_count < least)
    return cni_invalid("curve: a %s%s has at least %d points (got %d)", def.closed ? "closed " : "",
                       kinds[def.kind], (int)least, (int)def.point_count);
  if (!def.x || !def.y) return cni_invalid("curve: its points are null");
  if (def.bulges && def.kind != CN_CURVE_PATH)
    return cni_invalid("curve: a %s has no bulges", kinds[def.kind]);
  for (int32_t i = 0; i < def.point_count; i++) {
    double bulge = def.bulges ? def.bulges[i] : 0;
    if (!isfinite(def.x[i]) || !isfinite(def.y[i]) || !isfinite(bulge))
      return cni_invalid("curve: point %d is not finite (got %g, %g, bulge %g)", (int)i, def.x[i],
                         def.y[i], bulge);
    int32_t next = i + 1 < def.point_count ? i + 1 : 0;
    double dx = def.x[next] - def.x[i], dy = def.y[next] - def.y[i], d2 = dx * dx + dy * dy;
    if ((next > 0 || def.closed) && !(d2 > 1e-200 && d2 < 1e200))
      return cni_invalid("curve: points %d and %d are %g m apart", (int)i, (int)next, sqrt(d2));
  }
  return CN_OK;
}

// ---- a piece ----

static CniCurveAt on_arc(const CniCurvePiece *piece, double u) {
  double angle = piece->y[1] + piece->y[2] * u, r = piece->x[1], turn = piece->y[2];
  double c = r * cni_cos(angle), s = r * cni_sin(angle);
  return (CniCurveAt){{piece->x[0] + c, piece->y[0] + s},
                      {-turn * s, turn * c},
                      {-turn * turn * c, -turn * turn * s}};
}

static CniCurveAt on_cubic(const CniCurvePiece *piece, double u) {
  CniCurveAt at;
  for (int32_t k = 0; k < 2; k++) {
    const double *c = k ? piece->y : piece->x;
    at.p[k] = c[0] + u * (c[1] + u * (c[2] + u * c[3]));
    at.d[k] = c[1] + u * (2 * c[2] + 3 * u * c[3]);
    at.dd[k] = 2 * c[2] + 6 * u * c[3];
  }
  return at;
}

static double speed(const CniCurveAt *at) {
  return sqrt(at->d[0] * at->d[0] + at->d[1] * at->d[1]);
}

// How far beyond an end of an open curve u is, in u; 0: it is not.
static double beyond(const CniCurve *curve, int32_t piece, double u) {
  if (curve->def.closed) return 0;
  if (u < 0 && piece == 0) return u;
  return u > 1 && piece == curve->piece_count - 1 ? u - 1 : 0;
}

CniCurveAt cni_curve_piece_at(const CniCurve *curve, int32_t piece, double u) {
  const CniCurvePiece *own = &curve->pieces[piece];
  double over = beyond(curve, piece, u);
  CniCurveAt at = own->arc ? on_arc(own, u - over) : on_cubic(own, u - over);
  if (over == 0) return at;
  for (int32_t k = 0; k < 2; k++) {
    at.p[k] += over * at.d[k];
    at.dd[k] = 0;
  }
  return at;
}

// Length of a cubic from 0 to u, by Gauss's rule of 8 points.
static double cubic_length(const CniCurvePiece *piece, double u) {
  static const double node[4] = {0.18343464249564980494, 0.52553240991632898582,
                                 0.79666647741362673959, 0.96028985649753623168};
  static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                                   0.22238103445337447054, 0.10122853629037625915};
  double sum = 0;
  for (int32_t i = 0; i < 4; i++) {
    CniCurveAt low = on_cubic(piece, 0.5 * u * (1 - node[i]));
    CniCurveAt high = on_cubic(piece, 0.5 * u * (1 + node[i]));
    sum += weight[i] * (speed(&low) + speed(&high));
  }
  return 0.5 * u * sum;
}

static double arc_length(const CniCurve *curve, int32_t piece, double u) {
  const CniCurvePiece *own = &curve->pieces[piece];
  double over = beyond(curve, piece, u), inside = u - over;
  double s = own->start + (own->arc ? own->length * inside : cubic_length(own, inside));
  if (over == 0) return s;
  CniCurveAt at = cni_curve_piece_at(curve, piece, inside);
  return s + over * speed(&at);
}

static CnCurvePoint point_at(const CniCurve *curve, int32_t piece, double u) {
  CniCurveAt at = cni_curve_piece_at(curve, piece, u);
  double size = speed(&at);
  return (CnCurvePoint){at.p[0],
                        at.p[1],
                        at.d[0] / size,
                        at.d[1] / size,
                        (at.d[0] * at.dd[1] - at.d[1] * at.dd[0]) / (size * size * size),
                        curve->length};
}

// ---- making ----

static void put_line(CniCurvePiece *piece, const double a[2], const double b[2]) {
  *piece = (CniCurvePiece){.x = {a[0], b[0] - a[0]}, .y = {a[1], b[1] - a[1]}};
}

// From a to b to the left by 4 atan(bulge) in all.
static void put_arc(CniCurvePiece *piece, const double a[2], const double b[2], double bulge) {
  double dx = b[0] - a[0], dy = b[1] - a[1], out = (1 - bulge * bulge) / (4 * bulge);
  double x = 0.5 * (a[0] + b[0]) - out * dy, y = 0.5 * (a[1] + b[1]) + out * dx;
  double rx = a[0] - x, ry = a[1] - y;
  *piece = (CniCurvePiece){.arc = 1,
                           .x = {x, sqrt(rx * rx + ry * ry)},
                           .y = {y, cni_atan2(ry, rx), 4 * cni_atan2(bulge, 1)}};
}

static void make_path(CniCurve *curve) {
  const CnCurveDef *def = &curve->def;
  for (int32_t i = 0; i < curve->piece_count; i++) {
    int32_t next = i + 1 < def->point_count ? i + 1 : 0;
    double a[2] = {def->x[i], def->y[i]}, b[2] = {def->x[next], def->y[next]};
    if (def->bulges && def->bulges[i] != 0)
      put_arc(&curve->pieces[i], a, b, def->bulges[i]);
    else
      put_line(&curve->pieces[i], a, b);
  }
}

// Chord i, from point i to the next.
static double chord(const CnCurveDef *def, int32_t i) {
  int32_t next = i + 1 < def->point_count ? i + 1 : 0;
  double dx = def->x[next] - def->x[i], dy = def->y[next] - def->y[i];
  return sqrt(dx * dx + dy * dy);
}

// Work of a spline: chords, right-hand side, and what elimination keeps; n of each.
typedef struct Spline {
  int32_t n, closed;
  const double *y;
  double *h, *m, *upper, *last; // m: second derivatives, the result
} Spline;

static double slope(const Spline *s, int32_t i) {
  return (s->y[i + 1 < s->n ? i + 1 : 0] - s->y[i]) / s->h[i];
}

// Row i: left m[i-1] + both m[i] + right m[i+1] = 6 (slope - slope before). Closed: the unknown n - 1
// stays in a column of its own to the end.
static void bend_closed(const Spline *s) {
  int32_t n = s->n, end = n - 1;
  const double *h = s->h;
  for (int32_t i = 0; i < end; i++) {
    double left = h[i > 0 ? i - 1 : end], right = h[i], f = i > 0 ? left : 0;
    double pivot = 2 * (left + right) - (i > 0 ? f * s->upper[i - 1] : 0);
    double column = i == 0 ? left : -f * s->last[i - 1];
    if (i == end - 1) column += right;
    double rhs = 6 * (slope(s, i) - slope(s, i > 0 ? i - 1 : end));
    s->upper[i] = i < end - 1 ? right / pivot : 0;
    s->last[i] = column / pivot;
    s->m[i] = (rhs - (i > 0 ? f * s->m[i - 1] : 0)) / pivot;
  }
  // all in terms of the last: m[i] = m[i] - last[i] m[end]
  for (int32_t i = end - 1; i-- > 0;) {
    s->m[i] -= s->upper[i] * s->m[i + 1];
    s->last[i] -= s->upper[i] * s->last[i + 1];
  }
  double rhs = 6 * (slope(s, end) - slope(s, end - 1));
  double pivot = 2 * (h[end - 1] + h[end]) - h[end - 1] * s->last[end - 1] - h[end] * s->last[0];
  s->m[end] = (rhs - h[end - 1] * s->m[end - 1] - h[end] * s->m[0]) / pivot;
  for (int32_t i = 0; i < end; i++) s->m[i] -= s->last[i] * s->m[end];
}

static void bend_open(const Spline *s) {
  int32_t n = s->n;
  const double *h = s->h;
  for (int32_t i = 0; i < n; i++) s->m[i] = 0;
  if (n == 2) return;
  if (n == 3) {
    s->m[0] = s->m[1] = s->m[2] = 2 * (slope(s, 1) - slope(s, 0)) / (h[0] + h[1]);
    return;
  }
  for (int32_t i = 1; i < n - 1; i++) {
    double a = h[i - 1], b = h[i], left = i > 1 ? a : 0, right = i < n - 2 ? b : 0;
    double both = 2 * (a + b);
    // the ends follow from their neighbours
    if (i == 1) {
      both = (a + b) * (a + 2 * b) / b;
      right = (b * b - a * a) / b;
    } else if (i == n - 2) {
      both = (a + b) * (b + 2 * a) / a;
      left = (a * a - b * b) / a;
    }
    double pivot = both - (i > 1 ? left * s->upper[i - 1] : 0);
    s->upper[i] = right / pivot;
    s->m[i] = (6 * (slope(s, i) - slope(s, i - 1)) - (i > 1 ? left * s->m[i - 1] : 0)) / pivot;
  }
  for (int32_t i = n - 2; i-- > 1;) s->m[i] -= s->upper[i] * s->m[i + 1];
  s->m[0] = s->m[1] + h[0] / h[1] * (s->m[1] - s->m[2]);
  s->m[n - 1] = s->m[n - 2] + h[n - 2] / h[n - 3] * (s->m[n - 2] - s->m[n - 3]);
}

static CnStatus make_spline(const CnAllocator *allocator, CniCurve *curve) {
  const CnCurveDef *def = &curve->def;
  size_t n = (size_t)def->point_count, bytes = 4 * n * sizeof(double);
  double *work = cni_allocate(allocator, bytes);
  if (!work) return cni_error_memory(bytes);
  for (int32_t i = 0; i < def->point_count; i++) work[i] = chord(def, i);
  for (int32_t k = 0; k < 2; k++) {
    Spline s = {(int32_t)n, def->closed,  k ? def->y : def->x, work,
                work + n,   work + 2 * n, work + 3 * n};
    if (def->closed)
      bend_closed(&s);
    else
      bend_open(&s);
    for (int32_t i = 0; i < curve->piece_count; i++) {
      CniCurvePiece *piece = &curve->pieces[i];
      double *c = k ? piece->y : piece->x, h = s.h[i], a = s.m[i];
      double b = s.m[i + 1 < s.n ? i + 1 : 0];
      c[0] = s.y[i];
      c[1] = h * (slope(&s, i) - h * (2 * a + b) / 6);
      c[2] = h * h * a / 2;
      c[3] = h * h * (b - a) / 6;
    }
  }
  cni_release(allocator, work, bytes);
  return CN_OK;
}

// Lengths, and no corner where pieces meet.
static CnStatus measure(CniCurve *curve) {
  for (int32_t i = 0; i < curve->piece_count; i++) {
    CniCurvePiece *piece = &curve->pieces[i];
    piece->start = curve->length;
    piece->length = piece->arc ? piece->x[1] * fabs(piece->y[2]) : cubic_length(piece, 1);
    curve->length += piece->length;
    CniCurveAt begin = cni_curve_piece_at(curve, i, 0), end = cni_curve_piece_at(curve, i, 1);
    if (!isfinite(curve->length) || !(speed(&begin) > 0) || !(speed(&end) > 0))
      return cni_invalid("curve: it has no direction at point %d", (int)i);
  }
  for (int32_t i = curve->def.closed ? 0 : 1; i < curve->piece_count; i++) {
    int32_t before = i > 0 ? i - 1 : curve->piece_count - 1;
    CniCurveAt a = cni_curve_piece_at(curve, before, 1), b = cni_curve_piece_at(curve, i, 0);
    double across = a.d[0] * b.d[1] - a.d[1] * b.d[0], along = a.d[0] * b.d[0] + a.d[1] * b.d[1];
    double angle = cni_atan2(across, along);
    if (fabs(angle) > CORNER)
      return cni_invalid("curve: a corner of %.4g degrees at point %d: round it by an arc",
                         angle * (180 / CNI_PI), (int)i);
  }
  return CN_OK;
}

static size_t point_bytes(const CniCurve *curve) {
  return 3 * (size_t)curve->def.point_count * sizeof(double);
}

void cni_curve_forget(const CnAllocator *allocator, CniCurve *curve) {
  cni_release(allocator, curve->points, point_bytes(curve));
  cni_release(allocator, curve->pieces, (size_t)curve->piece_count * sizeof *curve->pieces);
}

CnStatus cni_curve_make(const CnAllocator *allocator, const CnCurveDef *given, CniCurve *curve) {
  CNI_TRY(cni_curve_check(given));
  *curve = (CniCurve){.def = *given};
  size_t n = (size_t)given->point_count;
  curve->piece_count = given->point_count - (given->closed ? 0 : 1);
  size_t piece_bytes = (size_t)curve->piece_count * sizeof *curve->pieces;
  curve->points = cni_allocate(allocator, point_bytes(curve));
  curve->pieces = curve->points ? cni_allocate(allocator, piece_bytes) : NULL;
  if (!curve->pieces) {
    cni_release(allocator, curve->points, point_bytes(curve));
    return cni_error_memory(point_bytes(curve) + piece_bytes);
  }
  memcpy(curve->points, given->x, n * sizeof(double));
  memcpy(curve->points + n, given->y, n * sizeof(double));
  for (size_t i = 0; i < n; i++) curve->points[2 * n + i] = given->bulges ? given->bulges[i] : 0;
  curve->def.x = curve->points;
  curve->def.y = curve->points + n;
  curve->def.bulges = given->kind == CN_CURVE_PATH ? curve->points + 2 * n : NULL;
  curve->def.name = NULL;
  memset(curve->pieces, 0, piece_bytes);
  CnStatus status = CN_OK;
  if (given->kind == CN_CURVE_PATH)
    make_path(curve);
  else
    status = make_spline(allocator, curve);
  if (status == CN_OK) status = measure(curve);
  if (status != CN_OK) cni_curve_forget(allocator, curve);
  return status;
}

// ---- searching ----

// Slope of what is to be least along a curve, and its rate.
typedef struct Slope {
  double value, rate;
} Slope;
typedef struct Search {
  const CniCurve *curve;
  Slope (*slope)(const struct Search *search, int32_t piece, double u);
  double p[2];           // a foot's point
  const CniCurve *other; // a touch: the first curve
  const CniCurvePlane *plane;
  double side, near;
} Search;

// Between u = low, where it falls, and high, where it rises.
static double root(const Search *search, int32_t piece, double low, double high, double u) {
  for (int32_t k = 0; k < 80; k++) {
    Slope s = search->slope(search, piece, u);
    if (s.value == 0) return u;
    if (s.value > 0)
      high = u;
    else
      low = u;
    double next = s.rate > 0 ? u - s.value / s.rate : low - 1;
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    if (fabs(next - u) <= 1e-15 * cn_max(1, fabs(u))) return next;
    u = next;
  }
  return u;
}

// Out over an end (u = end, 0 or 1) along the straight line.
static double root_beyond(const Search *search, int32_t piece, double end) {
  double sign = end > 0 ? 1 : -1, reach = 1;
  for (int32_t k = 0; k < 60; k++, reach *= 2) {
    double far = end + sign * reach;
    if (sign * search->slope(search, piece, far).value < 0) continue;
    return end > 0 ? root(search, piece, end, far, end) : root(search, piece, far, end, end);
  }
  return end;
}

// Newton's method from a good guess, within the piece; not a number: it was none.
static double near_by(const Search *search, int32_t piece, double u) {
  for (int32_t k = 0; k < 8; k++) {
    Slope s = search->slope(search, piece, u);
    double next = u - s.value / s.rate;
    if (!(s.rate > 0) || !(next >= 0 && next <= 1) || (k == 0 && fabs(next - u) > 0.25)) break;
    if (fabs(next - u) <= 1e-15) return next;
    u = next;
  }
  return NAN;
}

// Downhill in steps, over piece after piece, to where it rises again.
static double walk(const Search *search, int32_t *piece, double u) {
  const CniCurve *curve = search->curve;
  double found = near_by(search, *piece, u);
  if (isfinite(found)) return found;
  int32_t count = curve->piece_count, go = search->slope(search, *piece, u).value > 0 ? -1 : 1;
  double end = go > 0 ? 1 : 0;
  for (int32_t k = 0; k <= 2 * count * (SAMPLES + 1); k++) {
    int over = u == end;
    if (over && !curve->def.closed && *piece == (go > 0 ? count - 1 : 0))
      return root_beyond(search, *piece, end);
    if (over) *piece = (*piece + go + count) % count;
    double next = over ? 1 - end : cn_clamp(u + (double)go / SAMPLES, 0, 1);
    int rises = go * search->slope(search, *piece, next).value >= 0;
    if (rises && over) return next; // a corner that is hardly one
    if (rises) return go > 0 ? root(search, *piece, u, next, u) : root(search, *piece, next, u, u);
    u = next;
  }
  return u;
}

// Piece and u of an arc length, about.
static int32_t piece_of(const CniCurve *curve, double s, double *u) {
  if (curve->def.closed) s -= curve->length * floor(s / curve->length);
  int32_t low = 0, high = curve->piece_count;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (curve->pieces[middle].start <= s)
      low = middle;
    else
      high = middle;
  }
  *u = cn_clamp((s - curve->pieces[low].start) / curve->pieces[low].length, 0, 1);
  return low;
}

static double unrolled(const CniCurve *curve, double s, double near) {
  if (!curve->def.closed) return s;
  if (!isfinite(near)) near = 0; // the short way
  return s + curve->length * floor((near - s) / curve->length + 0.5);
}

CnCurvePoint cni_curve_at(const CniCurve *curve, double s) {
  double u, length = curve->length;
  int32_t piece = piece_of(curve, s, &u);
  if (curve->def.closed) s -= length * floor(s / length);
  for (int32_t k = 0; k < 20; k++) {
    CniCurveAt at = cni_curve_piece_at(curve, piece, u);
    double step = (s - arc_length(curve, piece, u)) / speed(&at);
    u += step;
    if (!(fabs(step) > 1e-15)) break;
  }
  return point_at(curve, piece, u);
}

static Slope foot_slope(const Search *search, int32_t piece, double u) {
  CniCurveAt at = cni_curve_piece_at(search->curve, piece, u);
  double x = at.p[0] - search->p[0], y = at.p[1] - search->p[1];
  return (Slope){x * at.d[0] + y * at.d[1],
                 at.d[0] * at.d[0] + at.d[1] * at.d[1] + x * at.dd[0] + y * at.dd[1]};
}

static int32_t nearest_sample(const CniCurve *curve, double x, double y, double *u) {
  double best = INFINITY;
  int32_t piece = 0;
  *u = 0;
  for (int32_t i = 0; i < curve->piece_count; i++)
    for (int32_t k = 0; k <= SAMPLES; k++) {
      CniCurveAt at = cni_curve_piece_at(curve, i, (double)k / SAMPLES);
      double d2 = (at.p[0] - x) * (at.p[0] - x) + (at.p[1] - y) * (at.p[1] - y);
      if (!(d2 < best)) continue;
      best = d2;
      piece = i;
      *u = (double)k / SAMPLES;
    }
  return piece;
}

CniCurveFoot cni_curve_foot(const CniCurve *curve, double x, double y, double near) {
  Search search = {.curve = curve, .slope = foot_slope, .p = {x, y}};
  double u;
  int32_t piece = isfinite(near) ? piece_of(curve, near, &u) : nearest_sample(curve, x, y, &u);
  u = walk(&search, &piece, u);
  CniCurveFoot foot = {.at = point_at(curve, piece, u)};
  foot.s = unrolled(curve, arc_length(curve, piece, u), near);
  foot.distance = foot.at.tangent_x * (y - foot.at.y) - foot.at.tangent_y * (x - foot.at.x);
  return foot;
}

// ---- two curves ----

static void carry(const CniCurvePlane *plane, const double v[2], double to[2]) {
  for (int32_t k = 0; k < 2; k++) to[k] = plane->x[k] * v[0] + plane->y[k] * v[1];
}

static CniCurveFoot foot_of(const CniCurve *a, const CniCurvePlane *plane, const double p[2],
                            double near) {
  double at[2];
  carry(plane, p, at);
  return cni_curve_foot(a, plane->o[0] + at[0], plane->o[1] + at[1], near);
}

// Of side * distance along the second curve; the foot moves along the first.
static Slope touch_slope(const Search *search, int32_t piece, double u) {
  CniCurveAt at = cni_curve_piece_at(search->curve, piece, u);
  CniCurveFoot foot = foot_of(search->other, search->plane, at.p, search->near);
  double t[2], b[2], tx = foot.at.tangent_x, ty = foot.at.tangent_y, k = foot.at.curvature;
  carry(search->plane, at.d, t);
  carry(search->plane, at.dd, b);
  double along = tx * t[0] + ty * t[1], room = cn_max(1 - k * foot.distance, 1e-6);
  return (Slope){search->side * (tx * t[1] - ty * t[0]),
                 search->side * (tx * b[1] - ty * b[0] - k / room * along * along)};
}

// The point of b that is lowest on that side among some, where nothing is known.
static int32_t lowest_sample(const CniCurve *a, const CniCurve *b, const CniCurvePlane *plane,
                             double side, double *u) {
  double best = INFINITY;
  int32_t piece = 0;
  *u = 0;
  for (int32_t i = 0; i < b->piece_count; i++)
    for (int32_t k = 0; k < SAMPLES; k++) {
      CniCurveAt at = cni_curve_piece_at(b, i, (double)k / SAMPLES);
      CniCurveFoot foot = foot_of(a, plane, at.p, NAN);
      if (!(side * foot.distance < best)) continue;
      best = side * foot.distance;
      piece = i;
      *u = (double)k / SAMPLES;
    }
  return piece;
}

CniCurveTouch cni_curve_touch(const CniCurve *a, const CniCurve *b, const CniCurvePlane *plane,
                              double side, double near_a, double near_b) {
  double u;
  int known = isfinite(near_b) && isfinite(near_a);
  int32_t piece = known ? piece_of(b, near_b, &u) : lowest_sample(a, b, plane, side, &u);
  Search search = {
      .curve = b, .slope = touch_slope, .other = a, .plane = plane, .side = side, .near = near_a};
  u = walk(&search, &piece, u);
  CniCurveTouch touch = {.at = point_at(b, piece, u)};
  touch.a = foot_of(a, plane, (double[2]){touch.at.x, touch.at.y}, near_a);
  touch.s = unrolled(b, arc_length(b, piece, u), near_b);
  return touch;
}

double cni_curve_side(const CniCurve *a, const CniCurve *b, const CniCurvePlane *plane) {
  double least = 0, most = 0;
  for (int32_t i = 0; i < b->piece_count; i++)
    for (int32_t k = 0; k <= SAMPLES; k++) {
      CniCurveAt at = cni_curve_piece_at(b, i, (double)k / SAMPLES);
      double distance = foot_of(a, plane, at.p, NAN).distance;
      least = cn_min(least, distance);
      most = cn_max(most, distance);
    }
  if (-least < 1e-3 * most) return 1;
  return most < -1e-3 * least ? -1 : 0;
}
