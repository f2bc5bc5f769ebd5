// SPDX-License-Identifier: Apache-2.0
// Grey images as grids of numbers: PGM (binary and text) and PNG, of up to 16 bits.
#ifndef CNI_IO_IMAGE_H
#define CNI_IO_IMAGE_H

#include <cairn/base.h>

#define CNI_IMAGE_SAMPLES (1 << 26) // at most

typedef struct CniImage {
  int32_t width, height;
  int32_t most;      // the number of white
  uint16_t *samples; // rows from the top, from left to right; at most `most` each
} CniImage;

// Which format it is, the bytes tell. Sentences begin with the name; on failure it is empty.
CnStatus cni_image_read(const char *data, size_t size, const char *name,
                        const CnAllocator *allocator, CniImage *image);
void cni_image_release(const CnAllocator *allocator, CniImage *image);

// ---- private to images ----

// Room for the samples, once the sizes are known.
CnStatus cni_image_room(const CnAllocator *allocator, const char *name, CniImage *image);
CnStatus cni_image_pgm(const char *data, size_t size, const char *name,
                       const CnAllocator *allocator, CniImage *image);
CnStatus cni_image_png(const char *data, size_t size, const char *name,
                       const CnAllocator *allocator, CniImage *image);

#endif
