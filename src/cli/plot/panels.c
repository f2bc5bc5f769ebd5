// SPDX-License-Identifier: Apache-2.0
// The layout of a plot: a panel for each unit, one above the other, over the same axis; round numbers on
// the axes, a legend in each panel. A curve of many points is drawn by its least and largest value
// in each column of pixels, so that no peak is lost.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

#define TEXT 12.0
#define LEFT 78.0
#define RIGHT 18.0
#define BOTTOM 44.0
#define TICKS 5

static const uint32_t colors[] = {0x1f6fb4, 0xd1495b, 0x2a9d4e, 0xe08e1b,
                                  0x7a4fb5, 0x178f9a, 0x8c5a3c, 0x5b6570};
#define INK 0x24292f
#define GRID_INK 0xe3e6ea

typedef struct Axis {
  double low, high;  // values
  double start, end; // pixels
  double step;       // between ticks
  int log;
} Axis;

static double place(const Axis *a, double value) {
  double v = a->log ? log10(value) : value;
  return a->start + (v - a->low) / (a->high - a->low) * (a->end - a->start);
}

// 1, 2 or 5 times a power of ten, at most `count` of them in the range.
static double nice_step(double range, int count) {
  double raw = range / count, power = pow(10, floor(log10(raw))), lead = raw / power;
  return (lead <= 1.0000001 ? 1 : lead <= 2.0000001 ? 2 : lead <= 5.0000001 ? 5 : 10) * power;
}

static void fit_axis(Axis *a, double low, double high, int margin) {
  if (!(low <= high)) low = 0, high = 1;
  if (a->log) low = floor(log10(low)), high = ceil(log10(high));
  double size = fmax(fabs(low), fabs(high));
  // what does not change by more than round-off is a straight line in the middle
  if (high - low <= 1e-12 * size || high == low) {
    double room = size > 0 ? 0.05 * size : 1;
    low -= room;
    high += room;
  } else if (margin && !a->log) {
    double room = 0.04 * (high - low);
    low -= low >= 0 && low < room ? low : room;
    high += room;
  }
  a->low = low;
  a->high = high;
  a->step = nice_step(high - low, TICKS);
  if (a->log && a->step < 1) a->step = 1;
}

static void tick_text(const Axis *a, double value, char text[32]) {
  if (fabs(value) < 1e-9 * a->step) value = 0;
  if (a->log)
    snprintf(text, 32, "1e%g", value);
  else
    snprintf(text, 32, "%.*g", (int)fmax(4, fmin(12, ceil(log10(fabs(value) / a->step + 1)) + 1)),
             value);
}

// ---- curves ----

typedef struct Trace {
  const CniCanvas *canvas;
  CniPoint *points;
  int64_t count, room;
  uint32_t color;
} Trace;

static void flush(Trace *t, int keep_last) {
  t->canvas->lines(t->canvas->context, t->points, t->count, t->color, 1.6);
  if (keep_last && t->count > 0) t->points[0] = t->points[t->count - 1];
  t->count = keep_last && t->count > 0;
}

static void add(Trace *t, double x, double y) {
  if (t->count == t->room) flush(t, 1);
  t->points[t->count++] = (CniPoint){x, y};
}

// Points of one column of pixels become its first, least, largest and last one.
static void draw_curve(const CniCanvas *canvas, const CniCurve *c, const Axis *x, const Axis *y,
                       uint32_t color) {
  CniPoint points[512];
  Trace t = {canvas, points, 0, 512, color};
  int64_t i = 0;
  while (i < c->count) {
    if (!isfinite(c->x[i]) || !isfinite(c->y[i]) || (y->log && !(c->y[i] > 0))) {
      i++;
      continue;
    }
    double at = place(x, c->x[i]), first = place(y, c->y[i]), low = first, high = first,
           last = first;
    double column = floor(at);
    for (i++; i < c->count && floor(place(x, c->x[i])) == column; i++) {
      if (!isfinite(c->y[i]) || (y->log && !(c->y[i] > 0))) continue;
      last = place(y, c->y[i]);
      low = fmin(low, last);
      high = fmax(high, last);
    }
    add(&t, at, first);
    if (low < fmin(first, last)) add(&t, at, low);
    if (high > fmax(first, last)) add(&t, at, high);
    if (last != first || low != high) add(&t, at, last);
  }
  if (t.count == 1) add(&t, points[0].x + 2, points[0].y); // a single point is seen too
  flush(&t, 0);
}

// ---- a panel ----

static void draw_grid(const CniCanvas *canvas, const Axis *x, const Axis *y, int with_x) {
  char text[32];
  for (double v = ceil(y->low / y->step - 1e-9) * y->step; v <= y->high + 1e-9 * y->step;
       v += y->step) {
    double p = y->start + (v - y->low) / (y->high - y->low) * (y->end - y->start);
    CniPoint line[] = {{x->start, p}, {x->end, p}};
    canvas->lines(canvas->context, line, 2, GRID_INK, 1);
    tick_text(y, v, text);
    canvas->text(canvas->context, x->start - 7, p + 4, CNI_RIGHT, TEXT, INK, text);
  }
  for (double v = ceil(x->low / x->step - 1e-9) * x->step; v <= x->high + 1e-9 * x->step;
       v += x->step) {
    double p = x->start + (v - x->low) / (x->high - x->low) * (x->end - x->start);
    CniPoint line[] = {{p, y->start}, {p, y->end}};
    canvas->lines(canvas->context, line, 2, GRID_INK, 1);
    tick_text(x, v, text);
    if (with_x) canvas->text(canvas->context, p, y->start + 17, CNI_MIDDLE, TEXT, INK, text);
  }
  CniPoint frame[] = {{x->start, y->end}, {x->start, y->start}, {x->end, y->start}};
  canvas->lines(canvas->context, frame, 3, INK, 1);
}

static int same_unit(const CniCurve *a, const CniCurve *b) { return strcmp(a->unit, b->unit) == 0; }

// Curves of the unit of the given one; names above the panel, in their colors.
static void draw_panel(const CniCanvas *canvas, const CniPlot *plot, int32_t first, Axis x, Axis y,
                       int with_x) {
  double low = INFINITY, high = -INFINITY, at = x.start;
  for (int32_t i = first; i < plot->curve_count; i++) {
    const CniCurve *c = &plot->curves[i];
    for (int64_t k = 0; same_unit(c, &plot->curves[first]) && k < c->count; k++) {
      if (!isfinite(c->y[k]) || (y.log && !(c->y[k] > 0))) continue;
      low = fmin(low, c->y[k]);
      high = fmax(high, c->y[k]);
    }
  }
  if (y.log && !(low <= high)) low = 1, high = 10;
  fit_axis(&y, low, high, 1);
  draw_grid(canvas, &x, &y, with_x);
  for (int32_t i = first; i < plot->curve_count; i++) {
    const CniCurve *c = &plot->curves[i];
    if (!same_unit(c, &plot->curves[first])) continue;
    uint32_t color = colors[(size_t)i % (sizeof colors / sizeof colors[0])];
    char label[256];
    draw_curve(canvas, c, &x, &y, color);
    snprintf(label, sizeof label, c->unit[0] ? "%s (%s)" : "%s%.0s", c->label, c->unit);
    canvas->box(canvas->context, at, y.end - 12, 14, 4, color);
    canvas->text(canvas->context, at + 19, y.end - 6, CNI_LEFT, TEXT, INK, label);
    at += 19 + TEXT * cni_text_width(label) + 18;
  }
}

void cni_plot_draw(const CniCanvas *canvas, const void *what) {
  const CniPlot *plot = what;
  int32_t panels = 0, panel = 0;
  double low = INFINITY, high = -INFINITY, top = plot->title[0] ? 34 : 10;
  for (int32_t i = 0; i < plot->curve_count; i++) {
    const CniCurve *c = &plot->curves[i];
    int is_first = 1;
    for (int32_t k = 0; k < i; k++) is_first &= !same_unit(c, &plot->curves[k]);
    panels += is_first;
    for (int64_t k = 0; k < c->count; k++)
      if (isfinite(c->x[k])) low = fmin(low, c->x[k]), high = fmax(high, c->x[k]);
  }
  canvas->box(canvas->context, 0, 0, canvas->width, canvas->height, 0xffffff);
  canvas->text(canvas->context, canvas->width / 2.0, 22, CNI_MIDDLE, 15, INK, plot->title);
  Axis x = {.start = LEFT, .end = canvas->width - RIGHT};
  fit_axis(&x, low, high, 0);
  double height = (canvas->height - top - BOTTOM) / fmax(panels, 1);
  for (int32_t i = 0; i < plot->curve_count; i++) {
    int is_first = 1;
    for (int32_t k = 0; k < i; k++) is_first &= !same_unit(&plot->curves[i], &plot->curves[k]);
    if (!is_first) continue;
    Axis y = {.start = top + height * (panel + 1) - (panel + 1 < panels ? 10 : 0),
              .end = top + height * panel + 26,
              .log = plot->log_scale};
    draw_panel(canvas, plot, i, x, y, panel + 1 == panels);
    panel++;
  }
  canvas->text(canvas->context, (x.start + x.end) / 2, canvas->height - 9, CNI_MIDDLE, TEXT, INK,
               plot->x_label);
}
