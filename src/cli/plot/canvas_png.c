// SPDX-License-Identifier: Apache-2.0
// A picture as PNG: lines with smooth edges on a field of pixels, letters as strokes, and the packing.
//
// A pixel is covered by a stroke in proportion to how far its middle is inside the edge: w/2 + 1/2 - d, cut to
// 0 .. 1, d the distance from the line. Packing: each row less the one above it, which leaves runs of
// zeros, then deflate with its fixed code and repetitions of the last byte only (RFC 1950, 1951).
#include <cairn/tools.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

typedef struct Field {
  int width, height;
  unsigned char *pixels; // three a pixel
  uint32_t color;        // of the text being written
  double stroke;
} Field;

// ---- drawing ----

static void mix(Field *f, int x, int y, uint32_t color, double share) {
  unsigned char *p = f->pixels + 3 * ((size_t)y * (size_t)f->width + (size_t)x);
  for (int k = 0; k < 3; k++) {
    double to = (double)((color >> (16 - 8 * k)) & 255);
    p[k] = (unsigned char)(p[k] + share * (to - p[k]) + 0.5);
  }
}

static int clamp(double value, int most) {
  return value < 0 ? 0 : value > most ? most : (int)value;
}

static double distance(CniPoint p, CniPoint a, CniPoint b) {
  double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  double t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

static void put_line(Field *f, CniPoint a, CniPoint b, uint32_t color, double width) {
  double reach = width / 2 + 1;
  int x0 = clamp(fmin(a.x, b.x) - reach, f->width - 1),
      x1 = clamp(fmax(a.x, b.x) + reach, f->width - 1);
  int y0 = clamp(fmin(a.y, b.y) - reach, f->height - 1);
  int y1 = clamp(fmax(a.y, b.y) + reach, f->height - 1);
  for (int y = y0; y <= y1; y++)
    for (int x = x0; x <= x1; x++) {
      double share = width / 2 + 0.5 - distance((CniPoint){x + 0.5, y + 0.5}, a, b);
      if (share > 0) mix(f, x, y, color, share > 1 ? 1 : share);
    }
}

static void put_lines(void *context, const CniPoint *points, int64_t count, uint32_t color,
                      double width) {
  for (int64_t i = 1; i < count; i++) put_line(context, points[i - 1], points[i], color, width);
}

static void put_box(void *context, double x, double y, double width, double height,
                    uint32_t color) {
  Field *f = context;
  int x1 = clamp(x + width, f->width), y1 = clamp(y + height, f->height);
  for (int j = clamp(y, f->height); j < y1; j++)
    for (int i = clamp(x, f->width); i < x1; i++) mix(f, i, j, color, 1);
}

static void put_stroke(void *context, CniPoint a, CniPoint b) {
  Field *f = context;
  put_line(f, a, b, f->color, f->stroke);
}

static void put_text(void *context, double x, double y, CniAnchor anchor, double size,
                     uint32_t color, const char *text) {
  Field *f = context;
  double width = size * cni_text_width(text);
  f->color = color;
  f->stroke = size / 11;
  x -= anchor == CNI_LEFT ? 0 : anchor == CNI_MIDDLE ? width / 2 : width;
  cni_text_strokes(text, x, y, size, put_stroke, f);
}

// ---- packing ----

typedef struct Bits {
  unsigned char *bytes;
  size_t used, room;
  uint32_t hold;
  int held, failed;
} Bits;

static void put_byte(Bits *b, unsigned value) {
  if (b->used == b->room && !b->failed) {
    size_t room = 2 * b->room + 4096;
    unsigned char *fresh = realloc(b->bytes, room);
    b->failed = !fresh;
    if (fresh) b->bytes = fresh, b->room = room;
  }
  if (!b->failed) b->bytes[b->used++] = (unsigned char)value;
}

// Lowest bit first.
static void put_bits(Bits *b, uint32_t value, int count) {
  b->hold |= value << b->held;
  b->held += count;
  for (; b->held >= 8; b->held -= 8, b->hold >>= 8) put_byte(b, b->hold & 255);
}

// Codes go highest bit first.
static void put_code(Bits *b, uint32_t code, int count) {
  uint32_t turned = 0;
  for (int i = 0; i < count; i++) turned |= ((code >> i) & 1) << (count - 1 - i);
  put_bits(b, turned, count);
}

static void put_symbol(Bits *b, int symbol) {
  if (symbol < 144)
    put_code(b, 0x30 + (uint32_t)symbol, 8);
  else if (symbol < 256)
    put_code(b, 0x190 + (uint32_t)(symbol - 144), 9);
  else if (symbol < 280)
    put_code(b, (uint32_t)(symbol - 256), 7);
  else
    put_code(b, 0xc0 + (uint32_t)(symbol - 280), 8);
}

// The last byte again, 3 .. 258 times: lengths have a symbol and bits behind it.
static void put_repeat(Bits *b, int length) {
  if (length == 258) {
    put_symbol(b, 285);
  } else if (length < 11) {
    put_symbol(b, 254 + length);
  } else {
    int bits = 1;
    while ((length - 3) >> (bits + 3)) bits++;
    int step = ((length - 3) >> bits) - 4;
    put_symbol(b, 261 + 4 * bits + step);
    put_bits(b, (uint32_t)((length - 3) & ((1 << bits) - 1)), bits);
  }
  put_code(b, 0, 5); // distance 1
}

static void deflate(Bits *b, const unsigned char *data, size_t size) {
  uint32_t low = 1, high = 0;
  put_byte(b, 0x78);
  put_byte(b, 0x01);
  put_bits(b, 3, 3); // the last block, of the fixed code
  for (size_t i = 0; i < size;) {
    size_t same = 0;
    while (i > 0 && i + same < size && same < 258 && data[i + same] == data[i - 1]) same++;
    if (same >= 3) {
      put_repeat(b, (int)same);
      i += same;
    } else {
      put_symbol(b, data[i++]);
    }
  }
  put_symbol(b, 256);
  if (b->held > 0) put_bits(b, 0, 8 - b->held);
  for (size_t i = 0; i < size; i++) {
    low = (low + data[i]) % 65521;
    high = (high + low) % 65521;
  }
  for (int k = 3; k >= 0; k--) put_byte(b, ((high << 16 | low) >> (8 * k)) & 255);
}

static void put_long(Bits *b, uint32_t value) {
  for (int k = 3; k >= 0; k--) put_byte(b, (value >> (8 * k)) & 255);
}

static uint32_t crc_of(const unsigned char *bytes, size_t size) {
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

static void put_chunk(Bits *b, const char *name, const unsigned char *data, size_t size) {
  put_long(b, (uint32_t)size);
  size_t start = b->used;
  for (int k = 0; k < 4; k++) put_byte(b, (unsigned char)name[k]);
  for (size_t i = 0; i < size; i++) put_byte(b, data[i]);
  put_long(b, b->failed ? 0 : crc_of(b->bytes + start, size + 4));
}

unsigned char *cni_png_pack(const unsigned char *pixels, int width, int height, size_t *size) {
  size_t row = 3 * (size_t)width, total = (row + 1) * (size_t)height;
  unsigned char *rows = malloc(total);
  Bits packed = {0}, png = {0};
  if (!rows) return NULL;
  for (size_t y = 0; y < (size_t)height; y++) {
    rows[y * (row + 1)] = 2; // less the row above
    for (size_t i = 0; i < row; i++)
      rows[y * (row + 1) + 1 + i] =
          (unsigned char)(pixels[y * row + i] - (y ? pixels[(y - 1) * row + i] : 0));
  }
  deflate(&packed, rows, total);
  free(rows);
  static const unsigned char magic[] = {137, 80, 78, 71, 13, 10, 26, 10};
  for (size_t i = 0; i < sizeof magic; i++) put_byte(&png, magic[i]);
  unsigned char head[13] = {0};
  for (int k = 0; k < 4; k++) {
    head[k] = (unsigned char)((unsigned)width >> (24 - 8 * k));
    head[4 + k] = (unsigned char)((unsigned)height >> (24 - 8 * k));
  }
  head[8] = 8; // bits, and red, green, blue
  head[9] = 2;
  put_chunk(&png, "IHDR", head, sizeof head);
  put_chunk(&png, "tEXt", (const unsigned char *)"Software\0cairn", 14); // cn_output_vacant
  put_chunk(&png, "IDAT", packed.bytes, packed.used);
  put_chunk(&png, "IEND", NULL, 0);
  free(packed.bytes);
  *size = png.used;
  if (!packed.failed && !png.failed) return png.bytes;
  free(png.bytes);
  return NULL;
}

CnStatus cni_picture_png(const char *path, int width, int height, CniDraw draw, const void *what) {
  Field f = {.width = width, .height = height};
  f.pixels = malloc(3 * (size_t)width * (size_t)height);
  if (!f.pixels) return cn_error_set(CN_NO_MEMORY, "out of memory");
  memset(f.pixels, 255, 3 * (size_t)width * (size_t)height);
  CniCanvas canvas = {width, height, &f, put_lines, put_box, put_text};
  draw(&canvas, what);
  size_t size = 0;
  unsigned char *png = cni_png_pack(f.pixels, width, height, &size);
  free(f.pixels);
  if (!png) return cn_error_set(CN_NO_MEMORY, "out of memory");
  CnOutput *out;
  CnStatus status = cn_output_create(path, &out);
  if (status == CN_OK) {
    cn_output_write(out, png, size);
    status = cn_output_close(out);
  }
  free(png);
  return status;
}
