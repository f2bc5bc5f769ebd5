// SPDX-License-Identifier: Apache-2.0
// Plots of a page. A run of a million steps has more values than a plot has pixels: each group of
// steps then gives two points, its least and its largest value in the order in which they occur, so
// that no peak is lost.
#include "view/view_private.h"

#define MAX_POINTS 8192 // of one series
#define MIN_POINTS 64   // however little room there is
#define POINT_BYTES 11  // base64 of a float64, rounded up
#define READ_STEPS 65536

int64_t cni_page_steps_per_point(const CniPageSource *source, int64_t max_bytes) {
  int64_t series = 1 + (int64_t)source->info.scalar_count + source->info.sensor_count;
  int64_t points = max_bytes / (series * POINT_BYTES);
  if (points > MAX_POINTS) points = MAX_POINTS;
  if (points < MIN_POINTS) points = MIN_POINTS;
  int64_t steps = source->info.step_count;
  return steps <= points ? 1 : (2 * steps + points - 1) / points;
}

// Two points of a group of values; values that are not numbers do not count.
static void write_extremes(CniPageFile *file, const double *values, int64_t count) {
  int64_t least = -1, largest = -1;
  for (int64_t i = 0; i < count; i++) {
    if (isnan(values[i])) continue;
    if (least < 0 || values[i] < values[least]) least = i;
    if (largest < 0 || values[i] > values[largest]) largest = i;
  }
  double low = least < 0 ? NAN : values[least], high = largest < 0 ? NAN : values[largest];
  cni_page_file_float64(file, least <= largest ? low : high);
  cni_page_file_float64(file, least <= largest ? high : low);
}

typedef struct Reader {
  const CniPageSource *source;
  double *values;
  int64_t block;  // steps read at a time, a multiple of `bucket`
  int64_t bucket; // steps per point
} Reader;

static CnStatus write_values(CniPageFile *file, const Reader *reader, const char *name,
                             int32_t is_time) {
  int64_t steps = reader->source->info.step_count;
  for (int64_t first = 0; first < steps; first += reader->block) {
    int64_t count = steps - first < reader->block ? steps - first : reader->block;
    CNI_TRY(reader->source->values(reader->source->context, name, first, count, reader->values));
    for (int64_t i = 0; i < count; i += reader->bucket) {
      int64_t size = count - i < reader->bucket ? count - i : reader->bucket;
      const double *group = reader->values + i;
      if (reader->bucket == 1) {
        cni_page_file_float64(file, group[0]);
      } else if (is_time) {
        cni_page_file_float64(file, group[0]);
        cni_page_file_float64(file, group[size - 1]);
      } else {
        write_extremes(file, group, size);
      }
    }
  }
  return CN_OK;
}

static CnStatus write_named(CniPageFile *file, const Reader *reader, int32_t index) {
  const CniPageSource *source = reader->source;
  CnRunSeries series;
  CNI_TRY(source->series(source->context, index, &series));
  char block[40];
  snprintf(block, sizeof block, "series-%d", (int)index);
  cni_page_file_begin(file, block);
  CNI_TRY(write_values(file, reader, series.name, 0));
  cni_page_file_end(file);
  return CN_OK;
}

CnStatus cni_page_write_series(CniPageFile *file, const CniPageSource *source,
                               int64_t steps_per_point) {
  if (source->info.step_count == 0) return CN_OK;
  int64_t groups = steps_per_point < READ_STEPS ? READ_STEPS / steps_per_point : 1;
  Reader reader = {.source = source, .bucket = steps_per_point, .block = groups * steps_per_point};
  if (reader.block > source->info.step_count && steps_per_point == 1)
    reader.block = source->info.step_count;
  CniPageMemory memory = {NULL};
  CNI_TRY(cni_page_array(&memory, reader.block, sizeof *reader.values, &reader.values));

  cni_page_file_begin(file, "series-time");
  CnStatus status = write_values(file, &reader, "time", 1);
  cni_page_file_end(file);
  int32_t count = source->info.scalar_count + source->info.sensor_count;
  for (int32_t i = 0; i < count && status == CN_OK; i++) status = write_named(file, &reader, i);
  cni_page_memory_release(&memory);
  return status;
}
