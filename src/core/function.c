// SPDX-License-Identifier: Apache-2.0
// Functions of time: a table of kinds, each with its value and two derivatives in closed form.
//
// A smooth step is the polynomial 10 s^3 - 15 s^4 + 6 s^5, whose first and second derivative vanish
// at both ends, so that a machine driven by it starts and stops without a jerk. A spline has the
// slope zero at its first and last point; the second derivatives at the points solve a tridiagonal
// system.
#include "core/function.h"

#include <math.h>

#include "core/error.h"
#include "core/math.h"
#include "core/vec.h"

// ---- the kinds ----

static void constant(const CnFunctionDef *def, const double *bends, double t, double result[3]) {
  (void)bends;
  (void)t;
  result[0] = def->value;
  result[1] = result[2] = 0;
}

static void ramp(const CnFunctionDef *def, const double *bends, double t, double result[3]) {
  (void)bends;
  double over = cn_max(0, cn_min(t, def->end) - def->start);
  result[0] = def->value + def->rate * over;
  result[1] = t >= def->start && t < def->end ? def->rate : 0;
  result[2] = 0;
}

static double ramp_kink(const CnFunctionDef *def, double t) {
  return t < def->start ? def->start : t < def->end ? def->end : INFINITY;
}

static void sine(const CnFunctionDef *def, const double *bends, double t, double result[3]) {
  (void)bends;
  double w = 2 * CNI_PI * def->frequency, angle = w * (t - def->start) + def->phase;
  double s = def->amplitude * cni_sin(angle), c = def->amplitude * cni_cos(angle);
  result[0] = def->value + s;
  result[1] = w * c;
  result[2] = -w * w * s;
}

static void smooth_step(const CnFunctionDef *def, const double *bends, double t, double result[3]) {
  (void)bends;
  double length = def->end - def->start, rise = def->final - def->value;
  double s = cn_max(0, cn_min(1, (t - def->start) / length)), r = 1 - s;
  result[0] = def->value + rise * (s * s * s * (10 - s * (15 - 6 * s)));
  result[1] = rise / length * (30 * s * s * r * r);
  result[2] = rise / (length * length) * (60 * s * r * (1 - 2 * s));
}

// The interval of a time between the first and the last point.
static int32_t interval_of(const CnFunctionDef *def, double t) {
  int32_t low = 0, high = def->point_count - 1;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (def->times[middle] <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// The same time of the first period.
static double folded(const CnFunctionDef *def, double t) {
  if (!(def->period > 0)) return t;
  return t - def->period * floor((t - def->times[0]) / def->period);
}

// Before the first point and from the last one on nothing moves: returns 1.
static int outside(const CnFunctionDef *def, double t, double result[3]) {
  int32_t last = def->point_count - 1;
  if (t >= def->times[0] && t < def->times[last]) return 0;
  result[0] = def->values[t < def->times[0] ? 0 : last];
  result[1] = result[2] = 0;
  return 1;
}

static void table(const CnFunctionDef *def, const double *bends, double t, double result[3]) {
  (void)bends;
  t = folded(def, t);
  if (outside(def, t, result)) return;
  int32_t i = interval_of(def, t);
  double slope = (def->values[i + 1] - def->values[i]) / (def->times[i + 1] - def->times[i]);
  result[0] = def->values[i] + slope * (t - def->times[i]);
  result[1] = slope;
  result[2] = 0;
}

static double table_kink(const CnFunctionDef *def, double t) {
  double begin = t - folded(def, t);
  for (int32_t i = 0; i < def->point_count; i++)
    if (def->times[i] + begin > t) return def->times[i] + begin;
  return def->period > 0 ? def->times[0] + begin + def->period : INFINITY;
}

static void spline(const CnFunctionDef *def, const double *bends, double t, double result[3]) {
  t = folded(def, t);
  if (outside(def, t, result)) return;
  int32_t i = interval_of(def, t);
  double h = def->times[i + 1] - def->times[i], x = t - def->times[i];
  double slope = (def->values[i + 1] - def->values[i]) / h - h * (2 * bends[i] + bends[i + 1]) / 6;
  double jerk = (bends[i + 1] - bends[i]) / h;
  result[0] = def->values[i] + x * (slope + x * (bends[i] / 2 + x * jerk / 6));
  result[1] = slope + x * (bends[i] + x * jerk / 2);
  result[2] = bends[i] + x * jerk;
}

void cni_function_bends(const CnFunctionDef *def, double *work, double *bends) {
  const double *t = def->times, *y = def->values;
  int32_t last = def->point_count - 1;
  double before = 0; // slope on the left: zero at the ends
  for (int32_t i = 0; i <= last; i++) {
    double left = i > 0 ? t[i] - t[i - 1] : 0, right = i < last ? t[i + 1] - t[i] : 0;
    double slope = i < last ? (y[i + 1] - y[i]) / right : 0;
    double pivot = 2 * (left + right) - (i > 0 ? left * work[i - 1] : 0);
    work[i] = right / pivot;
    bends[i] = (6 * (slope - before) - (i > 0 ? left * bends[i - 1] : 0)) / pivot;
    before = slope;
  }
  for (int32_t i = last; i-- > 0;) bends[i] -= work[i] * bends[i + 1];
}

// ---- the table ----

#define FIELD(field, limits, standard, unit_, text)                                                \
  CNI_FIELD(REAL, CnFunctionDef, field, limits, unit_, text, .fallback = {standard})
#define VALUE FIELD(value, ANY, 0, "", "before it starts; in the middle of a sine")
#define START                                                                                      \
  FIELD(start, ANY, 0, "s",                                                                        \
        "when it starts; of a sine, which has no beginning, when it is at its phase")
#define END FIELD(end, BOUND, INFINITY, "s", "when it ends")

static const CniField constant_fields[] = {VALUE, CNI_FIELDS_END};
static const CniField ramp_fields[] = {VALUE, FIELD(rate, ANY, 0, "1/s", "of a ramp"), START, END,
                                       CNI_FIELDS_END};
static const CniField sine_fields[] = {VALUE,
                                       FIELD(amplitude, ANY, 0, "", "of a sine"),
                                       FIELD(frequency, ANY, 0, "Hz", "of a sine"),
                                       FIELD(phase, ANY, 0, "rad", "of a sine, at its start"),
                                       START,
                                       CNI_FIELDS_END};
static const CniField step_fields[] = {VALUE, FIELD(final, ANY, 0, "", "of a smooth step"), START,
                                       END, CNI_FIELDS_END};
#define PERIOD FIELD(period, NOT_NEGATIVE, 0, "s", "after which points begin again; 0: never")
static const CniField point_fields[] = {PERIOD, CNI_FIELDS_END};

const CniFunctionKind cni_function_kinds[CN_FUNCTION_KIND_COUNT] = {
    [CN_FUNCTION_CONSTANT] = {"constant", "a number", constant_fields, 0, constant, NULL},
    [CN_FUNCTION_RAMP] = {"ramp", "a constant rate from start to end", ramp_fields, 0, ramp,
                          ramp_kink},
    [CN_FUNCTION_SINE] = {"sine", "an oscillation", sine_fields, 0, sine, NULL},
    [CN_FUNCTION_SMOOTH_STEP] = {"smooth_step", "from one value to another without a jerk",
                                 step_fields, 0, smooth_step, NULL},
    [CN_FUNCTION_TABLE] = {"table", "straight lines between points", point_fields, 1, table,
                           table_kink},
    [CN_FUNCTION_SPLINE] = {"spline", "a cubic spline through points", point_fields, 2, spline,
                            NULL},
};

const char *cn_function_kind_name(CnFunctionKind kind) {
  return (uint32_t)kind < CN_FUNCTION_KIND_COUNT ? cni_function_kinds[kind].name : NULL;
}

static const char *kind_name(int32_t index) { return cn_function_kind_name((CnFunctionKind)index); }

const CniField cni_function_fields[] = {
    CNI_FIELD(CHOICE, CnFunctionDef, kind, ANY, "", "what it is", .table = kind_name),
    VALUE,
    FIELD(final, ANY, 0, "", "of a smooth step"),
    FIELD(rate, ANY, 0, "1/s", "of a ramp"),
    FIELD(amplitude, ANY, 0, "", "of a sine"),
    FIELD(frequency, ANY, 0, "Hz", "of a sine"),
    FIELD(phase, ANY, 0, "rad", "of a sine, at its start"),
    START,
    END,
    PERIOD,
    CNI_FIELDS_END};

CnFunctionDef cn_function_def_default(CnFunctionKind kind) {
  CnFunctionDef def = {.size = sizeof def, .tag = CNI_TAG_FUNCTION};
  cni_fields_default(cni_function_fields, &def);
  def.kind = kind;
  return def;
}

CnStatus cni_function_check(const CnFunctionDef *given) {
  CnFunctionDef def = *given;
  CNI_TRY(cni_fields_check(cni_function_fields, "function", &def));
  const CniFunctionKind *kind = &cni_function_kinds[def.kind];
  if (cni_field_find(kind->fields, "end") && !(def.end > def.start))
    return cni_invalid("function: end %g is not after start %g", def.end, def.start);
  if (def.kind == CN_FUNCTION_SMOOTH_STEP && !(def.end < INFINITY))
    return cni_invalid("function: a smooth_step needs an end (got %g)", def.end);
  if (kind->least_points == 0 ? def.point_count != 0 : def.point_count < kind->least_points)
    return cni_invalid("function: a %s has %s%d points (got %d)", kind->name,
                       kind->least_points ? "at least " : "", (int)kind->least_points,
                       (int)def.point_count);
  if (def.point_count > 0 && (!def.times || !def.values))
    return cni_invalid("function: its times or values are null");
  if (def.period > 0 && def.point_count > 0 &&
      !(def.times[def.point_count - 1] - def.times[0] <= def.period))
    return cni_invalid("function: its points are more than a period of %g s", def.period);
  for (int32_t i = 0; i < def.point_count; i++) {
    if (!isfinite(def.times[i]) || !isfinite(def.values[i]))
      return cni_invalid("function: point %d is not finite (got %g, %g)", (int)i, def.times[i],
                         def.values[i]);
    if (i > 0 && !(def.times[i] > def.times[i - 1]))
      return cni_invalid("function: times must ascend (got %g after %g)", def.times[i],
                         def.times[i - 1]);
  }
  return CN_OK;
}
