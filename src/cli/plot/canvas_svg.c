// SPDX-License-Identifier: Apache-2.0
// A picture as SVG: lines, boxes and text as they are drawn.
#include <cairn/tools.h>
#include <stdarg.h>
#include <string.h>

#include "cli/plot/plot.h"

__attribute__((format(printf, 2, 3))) static void say(CnOutput *out, const char *format, ...) {
  char piece[512];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(piece, sizeof piece, format, list);
  va_end(list);
  if (n > 0) cn_output_write(out, piece, (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
}

static void put_lines(void *context, const CniPoint *points, int64_t count, uint32_t color,
                      double width) {
  if (count < 1) return;
  say(context, "<polyline fill=\"none\" stroke=\"#%06x\" stroke-width=\"%g\" points=\"",
      (unsigned)color, width);
  for (int64_t i = 0; i < count; i++)
    say(context, "%s%.2f,%.2f", i ? " " : "", points[i].x, points[i].y);
  say(context, "\"/>\n");
}

static void put_box(void *context, double x, double y, double width, double height,
                    uint32_t color) {
  say(context, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\"/>\n", x,
      y, width, height, (unsigned)color);
}

static void put_text(void *context, double x, double y, CniAnchor anchor, double size,
                     uint32_t color, const char *text) {
  static const char *const anchors[] = {"start", "middle", "end"};
  say(context, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" font-size=\"%g\" fill=\"#%06x\">", x,
      y, anchors[anchor], size, (unsigned)color);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '<' || c == '>' || c == '&' || c == '"')
      say(context, "&#%d;", c);
    else if (c >= 32)
      say(context, "%c", c);
  }
  say(context, "</text>\n");
}

CnStatus cni_picture_svg(const char *path, int width, int height, CniDraw draw, const void *what) {
  CnOutput *out;
  CNI_TRY(cn_output_create(path, &out));
  say(out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
      "font-family=\"sans-serif\" stroke-linejoin=\"round\">\n<!-- cairn -->\n",
      width, height, width, height);
  CniCanvas canvas = {width, height, out, put_lines, put_box, put_text};
  draw(&canvas, what);
  say(out, "</svg>\n");
  return cn_output_close(out);
}
