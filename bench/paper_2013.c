// SPDX-License-Identifier: Apache-2.0
// Runs, rows and plot of the benchmarks of Haddouni et al. 2013 (paper_2013.h).
//
// Work is what the paper counts: evaluations of f, M and G, by wrappers round the mechanism's
// functions, and linear systems solved. Curvatures are counted as evaluations of G.
#include "paper_2013.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies.h"

// ---- counting ----

typedef struct Counted {
  Mechanism m; // first: the mechanism's functions take its address
  CnEquations inner;
  double calls, speed;
} Counted;

static CnStatus counted_mass(void *context, double t, const double *q, double *mass) {
  Counted *c = context;
  c->calls++;
  return c->inner.mass(context, t, q, mass);
}

static CnStatus counted_force(void *context, double t, const double *q, const double *v,
                              double *f) {
  Counted *c = context;
  c->calls++;
  return c->inner.force(context, t, q, v, f);
}

static CnStatus counted_rows(void *context, double t, const double *q, const int32_t *rows,
                             int32_t count, double *jacobian, double *rate) {
  Counted *c = context;
  c->calls++;
  return c->inner.jacobian(context, t, q, rows, count, jacobian, rate);
}

static CnStatus counted_curvature(void *context, double t, const double *q, const double *v,
                                  const int32_t *rows, int32_t count, double *curvature) {
  Counted *c = context;
  c->calls++;
  return c->inner.curvature(context, t, q, v, rows, count, curvature);
}

static void counted_begin(Counted *c, PaperMake make) {
  make(&c->m);
  c->inner = c->m.equations;
  c->m.equations.mass = counted_mass;
  c->m.equations.force = counted_force;
  c->m.equations.jacobian = counted_rows;
  if (c->inner.curvature) c->m.equations.curvature = counted_curvature;
  c->calls = 0;
}

// |G| |v| at the end of the motion, for the measure of the velocity drift.
static double row_speed(Counted *c) {
  double jacobian[MECHANISM_SIZE * MECHANISM_SIZE] = {0}, rate[MECHANISM_SIZE] = {0}, g = 0, v = 0;
  int32_t rows[MECHANISM_SIZE], n = c->m.equations.bilateral_count;
  for (int32_t i = 0; i < n; i++) rows[i] = i;
  c->inner.jacobian(c, c->m.t, c->m.q, rows, n, jacobian, rate);
  for (int32_t i = 0; i < n * c->m.system.v_count; i++) g += jacobian[i] * jacobian[i];
  for (int32_t i = 0; i < c->m.system.v_count; i++) v += c->m.v[i] * c->m.v[i];
  return sqrt(g * v);
}

int paper_run(PaperRun *run, PaperMake make) {
  static Counted c; // its context is its address
  counted_begin(&c, make);
  CnIntegratorDef def = cn_integrator_def_default(run->integrator);
  def.projection = 0; // the drift of the methods themselves
  def.tolerance = run->tolerance;
  def.step = run->step;
  def.step_max = run->step_max;
  if (strcmp(run->integrator, "rkf45") == 0)
    def.drift_limit = run->drift_limit > 0 ? run->drift_limit : run->tolerance;
  double start = seconds_now();
  CnStatus status = mechanism_run(&c.m, &def, NULL, run->end, run->end, &run->report);
  run->seconds = seconds_now() - start;
  if (status != CN_OK) {
    fprintf(stderr, "cairn-bench: %s, tolerance %g: %s\n", run->integrator, run->tolerance,
            cn_error_message());
    return 0;
  }
  run->work = c.calls + (double)run->report.systems;
  run->speed = row_speed(&c);
  memcpy(run->q, c.m.q, sizeof run->q);
  return 1;
}

// ---- plot ----

#define PLOT_WIDTH 640
#define PLOT_HEIGHT 440
#define PLOT_LEFT 70
#define PLOT_BOTTOM 50
#define PLOT_TOP 40

typedef struct Axis {
  double low, high; // decades
} Axis;

static double plot_x(Axis axis, double value) {
  return PLOT_LEFT +
         (log10(value) - axis.low) / (axis.high - axis.low) * (PLOT_WIDTH - PLOT_LEFT - 20);
}

static double plot_y(Axis axis, double value) {
  return PLOT_HEIGHT - PLOT_BOTTOM -
         (log10(value) - axis.low) / (axis.high - axis.low) *
             (PLOT_HEIGHT - PLOT_BOTTOM - PLOT_TOP);
}

static Axis axis_of(const double *values, int32_t count) {
  Axis axis = {INFINITY, -INFINITY};
  for (int32_t i = 0; i < count; i++) {
    if (!(values[i] > 0)) continue;
    axis.low = fmin(axis.low, floor(log10(values[i])));
    axis.high = fmax(axis.high, ceil(log10(values[i])));
  }
  if (axis.high <= axis.low) axis.high = axis.low + 1;
  return axis;
}

static void plot_frame(FILE *f, Axis x, Axis y, const char *title) {
  fprintf(f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "font-family=\"sans-serif\" font-size=\"12\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
          "<text x=\"%d\" y=\"22\" font-size=\"15\">%s</text>\n",
          PLOT_WIDTH, PLOT_HEIGHT, PLOT_LEFT, title);
  for (double d = x.low; d <= x.high; d++)
    fprintf(f,
            "<path d=\"M%.1f %dV%d\" stage=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\">1e%.0f</text>\n",
            plot_x(x, pow(10, d)), PLOT_TOP, PLOT_HEIGHT - PLOT_BOTTOM, plot_x(x, pow(10, d)),
            PLOT_HEIGHT - PLOT_BOTTOM + 18, d);
  for (double d = y.low; d <= y.high; d += y.high - y.low > 8 ? 2 : 1)
    fprintf(f,
            "<path d=\"M%d %.1fH%d\" stage=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" "
            "text-anchor=\"end\">1e%.0f</text>\n",
            PLOT_LEFT, plot_y(y, pow(10, d)), PLOT_WIDTH - 20, PLOT_LEFT - 6,
            plot_y(y, pow(10, d)) + 4, d);
  fprintf(f,
          "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">work: evaluations of f, M, G and linear "
          "systems</text>\n<text transform=\"translate(16 %d) rotate(-90)\" "
          "text-anchor=\"middle\">largest |g|, m</text>\n",
          PLOT_WIDTH / 2, PLOT_HEIGHT - 12, PLOT_HEIGHT / 2);
}

static void plot_series(FILE *f, Axis x, Axis y, const double *work, const double *drift,
                        const char *colour, const char *name, int place) {
  fprintf(f, "<polyline fill=\"none\" stage=\"%s\" stage-width=\"2\" points=\"", colour);
  for (int32_t i = 0; i < PAPER_ROWS; i++)
    if (drift[i] > 0) fprintf(f, "%.1f,%.1f ", plot_x(x, work[i]), plot_y(y, drift[i]));
  fprintf(f, "\"/>\n");
  for (int32_t i = 0; i < PAPER_ROWS; i++)
    if (drift[i] > 0)
      fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", plot_x(x, work[i]),
              plot_y(y, drift[i]), colour);
  fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", PLOT_WIDTH - 110,
          PLOT_TOP + 18 + 18 * place, colour, name);
}

static int write_plot(const char *path, const char *title, double work[2][PAPER_ROWS],
                      double drift[2][PAPER_ROWS]) {
  FILE *f = fopen(path, "w");
  if (!f) {
    fprintf(stderr, "cairn-bench: %s: cannot be written\n", path);
    return 0;
  }
  Axis x = axis_of(work[0], 2 * PAPER_ROWS), y = axis_of(drift[0], 2 * PAPER_ROWS);
  plot_frame(f, x, y, title);
  plot_series(f, x, y, work[0], drift[0], "#1f6fb4", "hem5", 0);
  plot_series(f, x, y, work[1], drift[1], "#c0392b", "rkf45", 1);
  fprintf(f, "</svg>\n");
  return fclose(f) == 0;
}

// ---- rows ----

// Work that hem5 needs for a drift of this size: on the line between its points (both axes in
// decades), the cheapest way; NaN where it never drifts so little.
static double work_at(const double *work, const double *drift, int32_t count, double wanted) {
  double least = NAN;
  for (int32_t i = 0; i < count; i++)
    if (drift[i] <= wanted && !(least <= work[i])) least = work[i];
  for (int32_t i = 0; i + 1 < count; i++) {
    if (!(drift[i] > wanted && drift[i + 1] <= wanted && drift[i + 1] > 0)) continue;
    double part = log(drift[i] / wanted) / log(drift[i] / drift[i + 1]);
    double between = work[i] * pow(work[i + 1] / work[i], part);
    if (!(least <= between)) least = between;
  }
  return least;
}

// A few steps of hem5 of fixed length, longest first, for drifts larger than its tolerances leave.
#define LONG_STEPS 4
static int long_steps(PaperMake make, double first_step, double end, double *work, double *drift) {
  for (int32_t i = 0; i < LONG_STEPS; i++) {
    PaperRun run = {"hem5", 0,   first_step > 0 ? end / (i + 1) : end / (250 * (i + 1)),
                    0,      end, .work = 0};
    if (!paper_run(&run, make)) return 0;
    work[i] = run.work;
    drift[i] = run.report.position_drift;
  }
  return 1;
}

// hem5: velocity constraints to round-off, positions at or below the paper's; rkf45: both within
// the drift limit.
static int is_within(const PaperRun *run, int limited, double paper_drift) {
  const CnIntegratorReport *r = &run->report;
  if (limited) return r->position_drift <= run->tolerance && r->velocity_drift <= run->tolerance;
  return r->velocity_drift <= 1e-14 * fmax(1, run->speed) && r->position_drift <= paper_drift;
}

static void add_figures(Row *row, const PaperRun *run, double end, const double *truth) {
  const CnIntegratorReport *r = &run->report;
  row_text(row, "integrator", run->integrator);
  row_number(row, "tolerance", run->tolerance);
  row_number(row, "mean_h", end / (double)r->steps);
  row_number(row, "work", run->work);
  row_number(row, "steps", (double)r->steps);
  row_number(row, "rejected", (double)r->rejected);
  row_number(row, "position_drift", r->position_drift);
  row_number(row, "velocity_drift", r->velocity_drift);
  row_number(row, "velocity_scale", fmax(1, run->speed));
  double error = 0;
  for (int32_t i = 0; i < 3; i++) error = fmax(error, fabs(run->q[i] - truth[i]));
  row_number(row, "error", error);
  row_number(row, "times_real_time", end / run->seconds);
}

int paper_rows(Report *report, PaperMake make, double first_step, double step_max, double end,
               const double *truth, const PaperFigures paper[2][PAPER_ROWS], const char *title,
               const char *plot) {
  static const char *const names[2] = {"hem5", "rkf45"};
  double work[2][PAPER_ROWS], drift[2][PAPER_ROWS];
  double all_work[LONG_STEPS + PAPER_ROWS], all_drift[LONG_STEPS + PAPER_ROWS];
  if (!long_steps(make, first_step, end, all_work, all_drift)) return 0;
  for (int k = 0; k < 2; k++)
    for (int32_t i = 0; i < PAPER_ROWS; i++) {
      PaperRun run = {names[k], pow(10, -2 - i), first_step, step_max, end, .work = 0};
      Row *row = report_row_begin(report);
      if (!row || !paper_run(&run, make)) return 0;
      work[k][i] = run.work;
      drift[k][i] = run.report.position_drift;
      if (k == 0) all_work[LONG_STEPS + i] = run.work;
      if (k == 0) all_drift[LONG_STEPS + i] = run.report.position_drift;
      add_figures(row, &run, end, truth);
      if (paper) {
        row_number(row, "paper_mean_h", paper[k][i].mean_h);
        row_number(row, "paper_work", paper[k][i].work);
        row_number(row, "paper_position_drift", paper[k][i].position_drift);
        row_number(row, "paper_velocity_drift", paper[k][i].velocity_drift);
      }
      row_flag(row, "within", is_within(&run, k, paper ? paper[0][i].position_drift : INFINITY));
      if (k == 1) {
        double other = work_at(all_work, all_drift, LONG_STEPS + PAPER_ROWS, drift[1][i]);
        row_number(row, "hem5_work", other);
        row_flag(row, "hem5_needs_less", other < run.work);
      }
      report_row_end(report, row);
    }
  return !plot[0] || write_plot(plot, title, work, drift);
}
