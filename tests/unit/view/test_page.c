// SPDX-License-Identifier: Apache-2.0
// Pages read back: what a reader of the file finds is what the source said, within the stated
// errors; text cannot break out; pages keep to their size; failures name the path and leave nothing
// behind.
#include "check.h"
#include "page_source.h"

#include "core/vec.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- a page in memory ----

typedef struct Page {
  char folder[64], path[96];
  char *text;
  size_t size;
} Page;

static void page_begin(Page *page) {
  if (cni_page_head_size == 0) skip(); // built without node: nothing to look at
  strcpy(page->folder, "/tmp/cairn-page-XXXXXX");
  CHECK(mkdtemp(page->folder) != NULL);
  snprintf(page->path, sizeof page->path, "%s/page.html", page->folder);
  page->text = NULL;
  page->size = 0;
}

static void page_end(Page *page) {
  free(page->text);
  remove(page->path);
  // fails if a temporary file was left
  CHECK(rmdir(page->folder) == 0);
}

static void page_make(Page *page, FormulaRun *run, int64_t max_bytes) {
  CniPageSource source = formula_source(run);
  CniPageDef def = {.output = page->path, .max_bytes = max_bytes};
  CHECK_OK(cni_page_write(&(const CniPageSource *){&source}, 1, &def));
  FILE *file = fopen(page->path, "rb");
  CHECK(file != NULL);
  struct stat info;
  CHECK(stat(page->path, &info) == 0);
  page->size = (size_t)info.st_size;
  page->text = malloc(page->size + 1);
  CHECK(page->text != NULL && fread(page->text, 1, page->size, file) == page->size);
  page->text[page->size] = 0;
  fclose(file);
}

static int32_t digit_of(char c) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = strchr(alphabet, c);
  return c && at ? (int32_t)(at - alphabet) : -1;
}

// The bytes of a base64 block; the caller frees them.
static uint8_t *page_block(const Page *page, const char *name, size_t *size) {
  char mark[64];
  snprintf(mark, sizeof mark, "data-cairn=\"%s\">", name);
  const char *at = strstr(page->text + cni_page_head_size, mark);
  CHECK(at != NULL);
  at += strlen(mark);
  size_t length = strcspn(at, "<");
  CHECK(length % 4 == 0);
  uint8_t *bytes = malloc(length + 1);
  CHECK(bytes != NULL);
  *size = 0;
  for (size_t i = 0; i < length; i += 4) {
    int32_t d[4];
    for (size_t k = 0; k < 4; k++) d[k] = digit_of(at[i + k]);
    CHECK(d[0] >= 0 && d[1] >= 0);
    bytes[(*size)++] = (uint8_t)(d[0] << 2 | d[1] >> 4);
    if (d[2] >= 0) bytes[(*size)++] = (uint8_t)(d[1] << 4 | d[2] >> 2);
    if (d[3] >= 0) bytes[(*size)++] = (uint8_t)(d[2] << 6 | d[3]);
  }
  return bytes;
}

// A number of the JSON block "packing".
static double packing(const Page *page, const char *name) {
  const char *at = strstr(page->text + cni_page_head_size, "data-cairn=\"packing\"");
  CHECK(at != NULL);
  char key[64];
  snprintf(key, sizeof key, "\"%s\":", name);
  at = strstr(at, key);
  CHECK(at != NULL);
  return strtod(at + strlen(key), NULL);
}

static int32_t occurrences(const char *text, const char *what) {
  int32_t count = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) count++;
  return count;
}

// ---- tests ----

// Every position of every frame, decoded from the file alone.
static void poses(void **state) {
  (void)state;
  Page page;
  page_begin(&page);
  FormulaRun run = formula_run(7, 40, 10);
  page_make(&page, &run, 0);
  size_t size;
  uint8_t *table = page_block(&page, "bodies", &size);
  CHECK(size == 7 * 96);
  uint8_t *frames = page_block(&page, "frames-0", &size);
  CHECK(size == 40 * 6 * CNI_PACK_WORDS * 2);
  double error = packing(&page, "positionError"), worst = 0;
  CHECK(error > 0 && error < 2e-5);
  CHECK_NEAR(packing(&page, "frames"), 40, 0);
  for (int64_t f = 0; f < 40; f++)
    for (int32_t b = 1; b < 7; b++) {
      double row[12];
      memcpy(row, table + 96 * b, sizeof row);
      uint16_t words[CNI_PACK_WORDS];
      memcpy(words, frames + (f * 6 + b - 1) * (int64_t)sizeof words, sizeof words);
      CnVec3 p = {row[2] + words[0] * row[5], row[3] + words[1] * row[6],
                  row[4] + words[2] * row[7]};
      CnPose pose = formula_pose(&run, f, b);
      worst = cn_max(worst, cn_norm(cn_sub(p, pose.position)));
      CHECK_NEAR(row[0], CN_BODY_DYNAMIC + 4, 0);
      CHECK_NEAR(row[1], b, 0);
    }
  CHECK_NEAR(worst, error, 1e-18);
  free(table);
  free(frames);
  page_end(&page);
}

// A page with less room keeps fewer frames, the first and the last among them, and is below its
// size.
static void thinning(void **state) {
  (void)state;
  Page page;
  page_begin(&page);
  FormulaRun run = formula_run(1001, 500, 10);
  int64_t max_bytes = (int64_t)(cni_page_head_size + cni_page_tail_size) + 1500000;
  page_make(&page, &run, max_bytes);
  CHECK((int64_t)page.size <= max_bytes);
  CHECK((int64_t)page.size > max_bytes - 400000);
  int64_t kept = (int64_t)packing(&page, "frames"), stride = (int64_t)packing(&page, "stride");
  CHECK(kept < 500 && kept > 10 && stride > 1);
  size_t size;
  uint8_t *bytes = page_block(&page, "times", &size);
  CHECK(size == (size_t)kept * 8);
  double *times = malloc(size);
  CHECK(times != NULL);
  memcpy(times, bytes, size);
  for (int64_t i = 0; i + 1 < kept; i++) CHECK_NEAR(times[i], 0.02 * (double)(i * stride), 1e-12);
  CHECK_NEAR(times[kept - 1], 0.02 * 499, 1e-12);
  free(times);
  free(bytes);
  page_end(&page);
}

// Long series keep their peaks.
static void series(void **state) {
  (void)state;
  Page page;
  page_begin(&page);
  FormulaRun run = formula_run(2, 2, 100001);
  page_make(&page, &run, 0);
  size_t size, time_size;
  uint8_t *bytes = page_block(&page, "series-3", &size);
  uint8_t *time_bytes = page_block(&page, "series-time", &time_size);
  CHECK(size == time_size && size / 8 <= 8192 + 2 && size / 8 > 4000);
  double largest = 0, least = INFINITY, before = 0;
  for (size_t i = 0; i < size / 8; i++) {
    double value, time;
    memcpy(&value, bytes + 8 * i, 8);
    memcpy(&time, time_bytes + 8 * i, 8);
    largest = cn_max(largest, value);
    least = cn_min(least, value);
    CHECK(time >= before);
    before = time;
  }
  CHECK_NEAR(largest, 1000, 0);
  CHECK_NEAR(least, 2, 1e-3);
  CHECK_NEAR(before, 100.001, 1e-9);
  free(bytes);
  free(time_bytes);
  page_end(&page);
}

// A title that tries everything stays text: as many script elements as ever, nothing unescaped.
static void hostile_text(void **state) {
  (void)state;
  Page plain, hostile;
  page_begin(&plain);
  page_begin(&hostile);
  FormulaRun run = formula_run(3, 2, 5);
  page_make(&plain, &run, 0);
  run.title = "</script><script>alert(1)</script><!-- ' \" \\ \n & \x80\xff \xed\xa0\x80 \xc3\xa9";
  page_make(&hostile, &run, 0);
  CHECK(occurrences(hostile.text, "</script") == occurrences(plain.text, "</script"));
  CHECK(occurrences(hostile.text, "<!--") == occurrences(plain.text, "<!--"));
  CHECK(strstr(hostile.text, "alert(1)") != NULL);
  CHECK(strstr(hostile.text, "\\u003c/script\\u003e\\u003cscript\\u003ealert(1)") != NULL);
  CHECK(strstr(hostile.text, "\\u0026 \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \xc3\xa9\"") != NULL);
  page_end(&plain);
  page_end(&hostile);
}

// What cannot be done says why, and leaves neither page nor pieces of it.
static void failures(void **state) {
  (void)state;
  Page page;
  page_begin(&page);
  FormulaRun run = formula_run(1001, 50, 10);
  CniPageSource source = formula_source(&run);
  CniPageDef def = {.output = "/nowhere/at/all/page.html"};
  CHECK_STATUS(cni_page_write(&(const CniPageSource *){&source}, 1, &def), CN_FILE);
  CHECK(strstr(cn_error_message(), "/nowhere/at/all/page.html: cannot be written: ") != NULL);

  def = (CniPageDef){.output = page.path, .max_bytes = 1000};
  CHECK_STATUS(cni_page_write(&(const CniPageSource *){&source}, 1, &def), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "1000 bytes cannot hold one frame of 1001 bodies") != NULL);
  CHECK(access(page.path, F_OK) != 0);

  def.max_bytes = -1;
  CHECK_STATUS(cni_page_write(&(const CniPageSource *){&source}, 1, &def), CN_INVALID_ARGUMENT);
  def.max_bytes = 0;
  run.broken_frame = 20;
  CHECK_STATUS(cni_page_write(&(const CniPageSource *){&source}, 1, &def), CN_INVALID_DATA);
  CHECK(strstr(cn_error_message(), "frame 20 is damaged") != NULL);
  CHECK(access(page.path, F_OK) != 0);
  source.info.frame_count = 0;
  CHECK_STATUS(cni_page_write(&(const CniPageSource *){&source}, 1, &def), CN_INVALID_DATA);
  page_end(&page);
}

// A page that could not be renewed is still the old one; a full disk is told by name.
static void old_page_stays(void **state) {
  (void)state;
  Page page;
  page_begin(&page);
  FormulaRun run = formula_run(5, 5, 5);
  page_make(&page, &run, 0);
  size_t size = page.size;
  run.broken_frame = 4;
  CniPageSource source = formula_source(&run);
  CniPageDef def = {.output = page.path};
  CHECK_STATUS(cni_page_write(&(const CniPageSource *){&source}, 1, &def), CN_INVALID_DATA);
  struct stat info;
  CHECK(stat(page.path, &info) == 0 && (size_t)info.st_size == size);
  page_end(&page);

  if (access("/dev/full", W_OK) != 0) return;
  CniOutput output = {.path = "page.html", .allocator = cn_allocator_default()};
  output.file = fopen("/dev/full", "wb");
  CHECK(output.file != NULL);
  cni_output_bytes(&output, cni_page_tail, cni_page_tail_size);
  output.partial = output.allocator.allocate(NULL, 64, 64);
  CHECK(output.partial != NULL);
  strcpy(output.partial, "/nowhere/page.partial");
  output.partial_size = 64;
  CHECK_STATUS(cni_output_close(&output), CN_FILE);
  CHECK(strstr(cn_error_message(), "page.html: cannot be written: No space left") != NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(poses),        cmocka_unit_test(thinning), cmocka_unit_test(series),
      cmocka_unit_test(hostile_text), cmocka_unit_test(failures), cmocka_unit_test(old_page_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
