// SPDX-License-Identifier: Apache-2.0
// Grey images: which format, and room for the samples. PGM is read here, PNG in image_png.c.
//
// A PGM begins with P5 (bytes, two a sample with the higher one first where there are more than 255
// greys) or P2 (numbers as text), then width, height and the number of white, with blanks between and
// comments from # to the end of the line; one blank ends the header.
#include "io/images/image.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"

static size_t bytes_of(const CniImage *image) {
  return (size_t)image->width * (size_t)image->height * sizeof *image->samples;
}

CnStatus cni_image_room(const CnAllocator *allocator, const char *name, CniImage *image) {
  if ((int64_t)image->width * image->height > CNI_IMAGE_SAMPLES)
    return cni_bad_data("%s: an image has at most %d samples (got %d by %d)", name,
                        CNI_IMAGE_SAMPLES, (int)image->width, (int)image->height);
  return cni_new(allocator, bytes_of(image), &image->samples);
}

void cni_image_release(const CnAllocator *allocator, CniImage *image) {
  cni_release(allocator, image->samples, bytes_of(image));
  *image = (CniImage){0};
}

// ---- PGM ----

typedef struct Cursor {
  const char *data, *name;
  size_t size, at;
} Cursor;

static int is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static CnStatus take_number(Cursor *c, const char *what, int32_t least, int32_t most,
                            int32_t *number) {
  while (c->at < c->size && (is_blank(c->data[c->at]) || c->data[c->at] == '#'))
    if (c->data[c->at++] == '#')
      while (c->at < c->size && c->data[c->at] != '\n') c->at++;
  size_t start = c->at;
  int64_t value = 0;
  for (; c->at < c->size && c->data[c->at] >= '0' && c->data[c->at] <= '9'; c->at++)
    if (value <= most) value = 10 * value + (c->data[c->at] - '0');
  if (c->at == start)
    return cni_bad_data("%s: byte %zu: expected a number: %s", c->name, start + 1, what);
  if (value < least || value > most)
    return cni_bad_data("%s: byte %zu: %s must be %d to %d (got %lld)", c->name, start + 1, what,
                        (int)least, (int)most, (long long)value);
  *number = (int32_t)value;
  return CN_OK;
}

// Samples as bytes.
static CnStatus take_bytes(Cursor *c, CniImage *image) {
  size_t count = (size_t)image->width * (size_t)image->height, wide = image->most > 255 ? 2 : 1;
  const unsigned char *from = (const unsigned char *)c->data + c->at;
  for (size_t i = 0; i < count; i++) {
    unsigned value = wide == 2 ? (unsigned)from[2 * i] << 8 | from[2 * i + 1] : from[i];
    if (value > (unsigned)image->most)
      return cni_bad_data("%s: byte %zu: a sample must be at most %d (got %u)", c->name,
                          c->at + wide * i + 1, (int)image->most, value);
    image->samples[i] = (uint16_t)value;
  }
  return CN_OK;
}

static CnStatus take_words(Cursor *c, CniImage *image) {
  size_t count = (size_t)image->width * (size_t)image->height;
  for (size_t i = 0; i < count; i++) {
    int32_t value;
    CNI_TRY(take_number(c, "a sample", 0, image->most, &value));
    image->samples[i] = (uint16_t)value;
  }
  return CN_OK;
}

CnStatus cni_image_pgm(const char *data, size_t size, const char *name,
                       const CnAllocator *allocator, CniImage *image) {
  Cursor c = {data, name, size, 2};
  int text = data[1] == '2';
  CNI_TRY(take_number(&c, "the width", 1, INT32_MAX, &image->width));
  CNI_TRY(take_number(&c, "the height", 1, INT32_MAX, &image->height));
  CNI_TRY(take_number(&c, "the number of white", 1, 65535, &image->most));
  if (c.at == size || !is_blank(data[c.at]))
    return cni_bad_data("%s: byte %zu: expected a blank after the header", name, c.at + 1);
  c.at++;
  // what is not there is not made room for: a sample as text takes two bytes but for the last
  int64_t samples = (int64_t)image->width * image->height, left = (int64_t)(size - c.at);
  int64_t most = text ? (left + 1) / 2 : image->most > 255 ? left / 2 : left;
  if (samples > most)
    return cni_bad_data("%s: ends too early: %d by %d samples, room for %lld", name,
                        (int)image->width, (int)image->height, (long long)most);
  CNI_TRY(cni_image_room(allocator, name, image));
  return text ? take_words(&c, image) : take_bytes(&c, image);
}

// ---- any ----

CnStatus cni_image_read(const char *data, size_t size, const char *name,
                        const CnAllocator *allocator, CniImage *image) {
  static const char png[8] = {'\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n'};
  *image = (CniImage){0};
  CnStatus status;
  if (size > 2 && data[0] == 'P' && (data[1] == '5' || data[1] == '2'))
    status = cni_image_pgm(data, size, name, allocator, image);
  else if (size > sizeof png && memcmp(data, png, sizeof png) == 0)
    status = cni_image_png(data, size, name, allocator, image);
  else
    status = cni_bad_data("%s: neither a PGM (P5, P2) nor a PNG", name);
  if (status == CN_OK) return CN_OK;
  if (image->samples) cni_image_release(allocator, image);
  *image = (CniImage){0};
  return status;
}
