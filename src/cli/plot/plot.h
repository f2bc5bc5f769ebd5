// SPDX-License-Identifier: Apache-2.0
// Plots of runs: quantities by name, panels that share the time, and pictures as SVG or PNG.
#ifndef CNI_CLI_PLOT_H
#define CNI_CLI_PLOT_H

#include <cairn/run_look.h>

#include "cli/cli.h"

// ---- quantities: quantities.c ----

// A curve: a quantity of a run over another one.
typedef struct CniCurve {
  char label[200]; // of the legend
  char unit[32];
  double *x, *y;
  int64_t count;
} CniCurve;

// A quantity of a run by its name; `with_run` puts the run's name before that of the quantity. 0: told.
int cni_quantity_read(const CniArgs *args, CnRun *run, const char *run_path, const char *name,
                      const char *over, int with_run, CniCurve *curve);
void cni_quantity_release(CniCurve *curve);
// All names, as the result of the command.
void cni_quantity_list(const CniArgs *args, CnRun *run);

// ---- the picture: canvas_svg.c, canvas_png.c ----

typedef struct CniPoint {
  double x, y; // pixels, y downwards
} CniPoint;

typedef enum CniAnchor { CNI_LEFT, CNI_MIDDLE, CNI_RIGHT } CniAnchor;

typedef struct CniCanvas {
  int width, height;
  void *context;
  void (*lines)(void *context, const CniPoint *points, int64_t count, uint32_t color, double width);
  void (*box)(void *context, double x, double y, double width, double height, uint32_t color);
  void (*text)(void *context, double x, double y, CniAnchor anchor, double size, uint32_t color,
               const char *text);
} CniCanvas;

// Draw on a canvas and write the picture: SVG or PNG by the ending of the path.
typedef void (*CniDraw)(const CniCanvas *canvas, const void *what);
CnStatus cni_picture_svg(const char *path, int width, int height, CniDraw draw, const void *what);
CnStatus cni_picture_png(const char *path, int width, int height, CniDraw draw, const void *what);

// A picture of `height` rows of 3 * width bytes as PNG: packed bytes, to be freed; null: no memory.
unsigned char *cni_png_pack(const unsigned char *pixels, int width, int height, size_t *size);

// ---- letters as strokes: font.c ----

// Width of a text in units of its size, and its strokes at a place: `stroke` gets two points at a time.
double cni_text_width(const char *text);
typedef void (*CniStroke)(void *context, CniPoint a, CniPoint b);
void cni_text_strokes(const char *text, double x, double y, double size, CniStroke stroke,
                      void *context);

// ---- panels: panels.c ----

typedef struct CniPlot {
  const char *title, *x_label;
  CniCurve *curves;
  int32_t curve_count;
  int log_scale;
} CniPlot;
void cni_plot_draw(const CniCanvas *canvas, const void *plot);

#endif
