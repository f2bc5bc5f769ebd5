// SPDX-License-Identifier: Apache-2.0
// Progress of long work, on standard error: a bar that is drawn over itself on a terminal, plain
// lines (one a second at most) elsewhere. Rate and time left come from the steps of the last
// moments, so that a pile that slows down is seen to.
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

#define BAR_INTERVAL 0.1 // s between two drawings
#define LINE_INTERVAL 1.0
#define SMOOTHING 2.0 // s over which the rate forgets

// Whether the cursor stands behind a bar: messages must not be written over it.
static int bar_open;

void cni_progress_clear(void) {
  if (bar_open) fputs("\r\033[K", stderr);
  bar_open = 0;
}

CniProgressStyle cni_progress_style(int quiet) {
  if (quiet) return CNI_PROGRESS_NONE;
  return isatty(STDERR_FILENO) ? CNI_PROGRESS_BAR : CNI_PROGRESS_LINES;
}

// ---- pieces ----

static void duration_text(double seconds, char *text, size_t capacity) {
  if (!(seconds >= 0 && seconds < 1e8)) {
    snprintf(text, capacity, "?");
    return;
  }
  long s = (long)ceil(seconds);
  if (s >= 3600)
    snprintf(text, capacity, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    snprintf(text, capacity, "%ld:%02ld", s / 60, s % 60);
}

static void update_rate(CniProgress *p, int64_t step, double now) {
  double dt = now - p->shown, steps = (double)(step - p->shown_step);
  if (!(dt > 0)) return;
  double weight = p->rate > 0 ? 1 - 1 / (1 + dt / SMOOTHING) : 1;
  p->rate += weight * (steps / dt - p->rate);
}

static int percent_of(const CniProgress *p, int64_t step) {
  if (p->last <= p->first) return 100;
  return (int)(100 * (double)(step - p->first) / (double)(p->last - p->first));
}

static double time_left(const CniProgress *p, int64_t step) {
  return p->rate > 0 ? (double)(p->last - step) / p->rate : -1;
}

static int terminal_width(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

// How far, how fast: in steps and simulated time, or in units of their own.
static void rate_text(const CniProgress *p, int64_t step, double time, const char *comma,
                      char text[96]) {
  if (p->unit)
    snprintf(text, 96, "%lld of %lld %s%s %.4g/s", (long long)step, (long long)p->last, p->unit,
             comma, p->rate);
  else
    snprintf(text, 96, "%.3f s%s %.4g steps/s", time, comma, p->rate);
}

// ---- the two forms ----

#define BAR_MAX 40

static void draw_bar(const CniProgress *p, int64_t step, double time, const char *note) {
  char left[32], rate[96], right[256], bar[BAR_MAX + 1];
  rate_text(p, step, time, " ", rate);
  duration_text(time_left(p, step), left, sizeof left);
  bar_open = 1;
  int percent = percent_of(p, step), columns = terminal_width() - 1;
  int length = snprintf(right, sizeof right, "%3d %%  %s  left %s%s%s", percent, rate, left,
                        note[0] ? "  " : "", note);
  int width = columns - (int)strlen(p->title) - length - 5;
  if (width > BAR_MAX) width = BAR_MAX;
  if (width < 5) {
    fprintf(stderr, "\r%.*s\033[K", columns, right);
    return;
  }
  int full = percent * width / 100;
  memset(bar, '#', (size_t)full);
  memset(bar + full, '-', (size_t)(width - full));
  bar[width] = 0;
  fprintf(stderr, "\r%s [%s] %s\033[K", p->title, bar, right);
}

static void write_line(const CniProgress *p, int64_t step, double time, const char *note) {
  char left[32], rate[96], steps[64] = "";
  duration_text(time_left(p, step), left, sizeof left);
  rate_text(p, step, time, ",", rate);
  if (!p->unit)
    snprintf(steps, sizeof steps, "step %lld of %lld, ", (long long)step, (long long)p->last);
  fprintf(stderr, "%s: %d %%, %s%s, left %s%s%s\n", p->title, percent_of(p, step), steps, rate,
          left, note[0] ? ", " : "", note);
}

// ---- calls ----

void cni_progress_begin(CniProgress *p, CniProgressStyle style, const char *title, int64_t first,
                        int64_t last) {
  double now = cni_clock();
  *p = (CniProgress){.style = style,
                     .title = title,
                     .first = first,
                     .last = last,
                     .started = now,
                     .shown = now,
                     .shown_step = first};
}

int cni_progress_due(const CniProgress *p) {
  if (p->style == CNI_PROGRESS_NONE) return 0;
  return cni_clock() - p->shown >= (p->style == CNI_PROGRESS_BAR ? BAR_INTERVAL : LINE_INTERVAL);
}

void cni_progress_show(CniProgress *p, int64_t step, double time, const char *note) {
  double now = cni_clock();
  update_rate(p, step, now);
  p->shown = now;
  p->shown_step = step;
  p->lines++;
  if (p->style == CNI_PROGRESS_BAR) draw_bar(p, step, time, note);
  if (p->style == CNI_PROGRESS_LINES) write_line(p, step, time, note);
  fflush(stderr);
}

void cni_progress_end(CniProgress *p, int64_t step, double time, const char *note) {
  // lines are at most one a second, the last one included
  if (p->style == CNI_PROGRESS_LINES && !cni_progress_due(p)) return;
  if (p->style == CNI_PROGRESS_NONE) return;
  double seconds = cni_clock() - p->started;
  cni_progress_show(p, step, time, note);
  // at the end the mean over the whole is the rate of interest
  if (p->style == CNI_PROGRESS_BAR) {
    if (seconds > 0) p->rate = (double)(step - p->first) / seconds;
    draw_bar(p, step, time, note);
    fputc('\n', stderr);
    bar_open = 0;
  }
}
