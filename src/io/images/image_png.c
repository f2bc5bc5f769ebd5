// SPDX-License-Identifier: Apache-2.0
// PNG through libpng: grey images of 1 to 16 bits, as they are. Nothing is done about gamma or colour:
// a sample is a height, not a brightness. Colour is refused.
#include <png.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/images/image.h"

typedef struct Source {
  const char *data, *name;
  size_t size, at;
  int wide; // two bytes a sample
  unsigned char *row;
  char problem[160];
} Source;

static void take(png_structp png, png_bytep to, size_t count) {
  Source *s = png_get_io_ptr(png);
  if (count > s->size - s->at) png_error(png, "ends too early");
  memcpy(to, s->data + s->at, count);
  s->at += count;
}

static void fail(png_structp png, png_const_charp problem) {
  Source *s = png_get_error_ptr(png);
  strncpy(s->problem, problem, sizeof s->problem - 1);
  png_longjmp(png, 1);
}

static void be_silent(png_structp png, png_const_charp problem) {
  (void)png;
  (void)problem;
}

// The header; samples come as 8 or 16 bits.
static CnStatus read_header(png_structp png, png_infop info, Source *s, CniImage *image) {
  png_uint_32 width, height;
  int bits, colour, interlaced;
  png_read_info(png, info);
  png_get_IHDR(png, info, &width, &height, &bits, &colour, &interlaced, NULL, NULL);
  if (colour != PNG_COLOR_TYPE_GRAY)
    return cni_bad_data("%s: must be grey, without colour and transparency", s->name);
  if (interlaced != PNG_INTERLACE_NONE)
    return cni_bad_data("%s: an interlaced PNG is not read", s->name);
  if (width > INT32_MAX || height > INT32_MAX)
    return cni_bad_data("%s: an image has at most %d samples", s->name, CNI_IMAGE_SAMPLES);
  image->width = (int32_t)width;
  image->height = (int32_t)height;
  image->most = (1 << bits) - 1;
  s->wide = bits == 16;
  png_set_packing(png); // bits become bytes, with their own numbers
  png_read_update_info(png, info);
  return CN_OK;
}

static CnStatus read_rows(png_structp png, png_infop info, Source *s, const CnAllocator *allocator,
                          CniImage *image) {
  CNI_TRY(read_header(png, info, s, image));
  CNI_TRY(cni_image_room(allocator, s->name, image));
  s->row = cni_allocate(allocator, 2 * (size_t)image->width);
  if (!s->row) return cni_error_memory(2 * (size_t)image->width);
  for (int32_t j = 0; j < image->height; j++) {
    uint16_t *to = image->samples + (size_t)j * (size_t)image->width;
    png_read_row(png, s->row, NULL);
    for (int32_t i = 0; i < image->width; i++)
      to[i] = (uint16_t)(s->wide ? s->row[2 * i] << 8 | s->row[2 * i + 1] : s->row[i]);
  }
  return CN_OK;
}

CnStatus cni_image_png(const char *data, size_t size, const char *name,
                       const CnAllocator *allocator, CniImage *image) {
  Source source = {.data = data, .name = name, .size = size};
  volatile CnStatus status = CN_OK;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, fail, be_silent);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info) {
    png_destroy_read_struct(png ? &png : NULL, NULL, NULL);
    return cni_error_memory(sizeof(void *));
  }
  if (setjmp(png_jmpbuf(png)) == 0) {
    png_set_read_fn(png, &source, take);
    status = read_rows(png, info, &source, allocator, image);
  } else {
    status = cni_bad_data("%s: %s", name, source.problem);
  }
  cni_release(allocator, source.row, 2 * (size_t)image->width);
  png_destroy_read_struct(&png, &info, NULL);
  return status;
}
