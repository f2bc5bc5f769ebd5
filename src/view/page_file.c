// SPDX-License-Identifier: Apache-2.0
// The file of a page while it is written: base64 and escaped text on the way to the disk.
#include "view/view_private.h"

#include <stdio.h>
#include <string.h>

CnStatus cni_page_file_open(const char *path, CniPageFile *file) {
  *file = (CniPageFile){.prefix = ""};
  return cn_output_create(path, &file->output);
}

CnStatus cni_page_file_close(CniPageFile *file, int32_t keep) {
  if (keep) return cn_output_close(file->output);
  cn_output_discard(file->output);
  return CN_OK;
}

void cni_page_file_bytes(CniPageFile *file, const void *bytes, size_t size) {
  cn_output_write(file->output, bytes, size);
  file->byte_count += (int64_t)size;
}

void cni_page_file_text(CniPageFile *file, const char *text) {
  cni_page_file_bytes(file, text, strlen(text));
}

// ---- JSON ----

// Length of the UTF-8 sequence at s; 0 where it is none (stray, cut, overlong, surrogate, too
// large).
static size_t sequence_length(const unsigned char *s) {
  if (s[0] < 0x80) return 1;
  size_t length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                  : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                  : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                 : 0;
  for (size_t k = 1; k < length; k++)
    if ((s[k] & 0xc0) != 0x80) return 0;
  if (length == 3 && s[0] == 0xe0 && s[1] < 0xa0) return 0;
  if (length == 3 && s[0] == 0xed && s[1] > 0x9f) return 0;
  if (length == 4 && s[0] == 0xf0 && s[1] < 0x90) return 0;
  if (length == 4 && s[0] == 0xf4 && s[1] > 0x8f) return 0;
  return length;
}

static int32_t needs_escape(unsigned char c) {
  return c < 0x20 || c == 0x7f || strchr("\"\\<>&'", c) != NULL;
}

void cni_page_file_string(CniPageFile *file, const char *text) {
  const unsigned char *s = (const unsigned char *)(text ? text : "");
  cni_page_file_text(file, "\"");
  while (*s) {
    size_t length = sequence_length(s);
    if (length == 0) {
      cni_page_file_text(file, "\\ufffd");
      s++;
    } else if (needs_escape(*s)) {
      char escaped[8];
      snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*s);
      cni_page_file_text(file, escaped);
      s++;
    } else {
      cni_page_file_bytes(file, s, length);
      s += length;
    }
  }
  cni_page_file_text(file, "\"");
}

void cni_page_file_number(CniPageFile *file, double value) {
  char digits[40] = "null";
  if (isfinite(value)) snprintf(digits, sizeof digits, "%.17g", value);
  // the host program's locale may write another decimal mark
  for (char *c = digits; isfinite(value) && *c; c++)
    if (!strchr("0123456789+-eE.", *c)) *c = '.';
  cni_page_file_text(file, digits);
}

void cni_page_file_json(CniPageFile *file, const char *name) {
  cni_page_file_text(file, "<script type=\"application/json\" data-cairn=\"");
  cni_page_file_text(file, file->prefix);
  cni_page_file_text(file, name);
  cni_page_file_text(file, "\">");
}

void cni_page_file_json_end(CniPageFile *file) { cni_page_file_text(file, "</script>\n"); }

// ---- base64 ----

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void write_group(CniPageFile *file, const uint8_t bytes[3], int32_t count) {
  uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
  char group[4] = {alphabet[bits >> 18], alphabet[bits >> 12 & 63], alphabet[bits >> 6 & 63],
                   alphabet[bits & 63]};
  if (count < 3) group[3] = '=';
  if (count < 2) group[2] = '=';
  cni_page_file_bytes(file, group, 4);
}

void cni_page_file_begin(CniPageFile *file, const char *name) {
  cni_page_file_text(file, "<script type=\"text/plain\" data-cairn=\"");
  cni_page_file_text(file, file->prefix);
  cni_page_file_text(file, name);
  cni_page_file_text(file, "\">");
  file->carry_count = 0;
}

void cni_page_file_base64(CniPageFile *file, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    file->carry[file->carry_count++] = bytes[i];
    if (file->carry_count < 3) continue;
    write_group(file, file->carry, 3);
    file->carry_count = 0;
  }
}

void cni_page_file_end(CniPageFile *file) {
  for (int32_t k = file->carry_count; k < 3; k++) file->carry[k] = 0;
  if (file->carry_count > 0) write_group(file, file->carry, file->carry_count);
  file->carry_count = 0;
  cni_page_file_text(file, "</script>\n");
}

static void write_little_endian(CniPageFile *file, uint64_t bits, size_t size) {
  uint8_t bytes[8];
  for (size_t k = 0; k < size; k++) bytes[k] = (uint8_t)(bits >> 8 * k);
  cni_page_file_base64(file, bytes, size);
}

void cni_page_file_float64(CniPageFile *file, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  write_little_endian(file, bits, 8);
}

void cni_page_file_float32(CniPageFile *file, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  write_little_endian(file, bits, 4);
}

void cni_page_file_uint16(CniPageFile *file, uint16_t value) {
  write_little_endian(file, value, 2);
}

void cni_page_file_uint32(CniPageFile *file, uint32_t value) {
  write_little_endian(file, value, 4);
}
