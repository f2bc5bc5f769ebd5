// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all: written to PATH.partial, brought to the disk, and
// renamed. What was at PATH before stays until then. Not for files that others read while they
// grow.
#ifndef CNI_IO_OUTPUT_H
#define CNI_IO_OUTPUT_H

#include <stdio.h>

#include <cairn/base.h>

typedef struct CniOutput {
  const char *path; // borrowed
  char *partial;
  size_t partial_size;
  FILE *file;
  int error; // errno of the first failure, after which nothing is written
  CnAllocator allocator;
} CniOutput;

CnStatus cni_output_open(CniOutput *output, const char *path, const CnAllocator *allocator);
// Failures are kept for cni_output_close.
void cni_output_bytes(CniOutput *output, const void *bytes, size_t size);
void cni_output_text(CniOutput *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// A number that reads back as the same bits, with a point whatever the locale; nothing for NaN.
void cni_output_number(CniOutput *output, double value);
// Rename into place; after any failure the old file is as it was and PATH.partial is gone.
CnStatus cni_output_close(CniOutput *output);
// Give up.
void cni_output_discard(CniOutput *output);

#endif
