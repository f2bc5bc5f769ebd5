// SPDX-License-Identifier: Apache-2.0
// A careful reader of plain HDF5 files in memory. See hdf_file.h.
//
// A file begins with a superblock that leads to the object header of the root group. An object
// header is a list of messages, perhaps continued elsewhere. A group has either a symbol table (a
// B-tree over the names, whose leaves list object headers) or its links as messages. A dataset has
// its space, its type and its layout as messages.
//
// Every number is fetched through `fetch`, which checks that it lies in the buffer. Nothing loops
// for longer than the file is large: trees are descended by level, continuations are counted.
//
// Reference: HDF5 File Format Specification, version 3.0.
#include "io/tools/hdf_file.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

#define NOWHERE UINT64_MAX // what an address outside the file becomes
#define CONTINUATIONS 32   // blocks of messages of one object
#define LEVELS 16          // of a tree of names

enum {
  MESSAGE_SPACE = 1,
  MESSAGE_LINK_INFO = 2,
  MESSAGE_TYPE = 3,
  MESSAGE_LINK = 6,
  MESSAGE_EXTERNAL = 7,
  MESSAGE_LAYOUT = 8,
  MESSAGE_CONTINUATION = 16,
  MESSAGE_SYMBOL_TABLE = 17
};

// ---- numbers in the buffer ----

// Little-endian number of 1 to 8 bytes; `good` becomes 0 where it lies outside.
static uint64_t fetch(const CniHdfFile *f, uint64_t at, int32_t bytes, int32_t *good) {
  if (at > f->size || f->size - at < (uint64_t)bytes) {
    *good = 0;
    return 0;
  }
  uint64_t value = 0;
  for (int32_t i = bytes - 1; i >= 0; i--) value = value << 8 | f->data[at + (uint64_t)i];
  return value;
}

// An address as a place in the buffer, NOWHERE if it is undefined or outside.
static uint64_t fetch_address(const CniHdfFile *f, uint64_t at, int32_t *good) {
  uint64_t value = fetch(f, at, f->offset_size, good);
  if (!*good || value > f->size || f->base + value > f->size) return NOWHERE;
  return f->base + value;
}

static int has_signature(const CniHdfFile *f, uint64_t at, const char *signature) {
  return at <= f->size && f->size - at >= 4 && memcmp(f->data + at, signature, 4) == 0;
}

// ---- the superblock ----

static CnStatus damaged(const char *name) {
  return cni_bad_data("%s: begins like an HDF5 file but is damaged or cut short", name);
}

// Sizes of addresses and lengths, then base, end of file and root.
static int read_superblock(CniHdfFile *f, uint64_t at, uint64_t *end) {
  int32_t good = 1;
  uint64_t version = fetch(f, at + 8, 1, &good);
  int old = version < 2;
  f->offset_size = (int32_t)fetch(f, at + (old ? 13 : 9), 1, &good);
  f->length_size = (int32_t)fetch(f, at + (old ? 14 : 10), 1, &good);
  if (!good || version > 3) return 0;
  if ((f->offset_size != 4 && f->offset_size != 8) || (f->length_size != 4 && f->length_size != 8))
    return 0;
  uint64_t addresses = at + (version == 0 ? 24 : version == 1 ? 28 : 12);
  uint64_t step = (uint64_t)f->offset_size;
  f->base = fetch(f, addresses, f->offset_size, &good);
  if (!good || f->base > f->size) return 0;
  *end = fetch(f, addresses + 2 * step, f->offset_size, &good);
  f->root = fetch_address(f, addresses + (old ? 5 : 3) * step, &good);
  return good && f->root != NOWHERE;
}

CnStatus cni_hdf_file_open(const void *data, size_t size, const char *name, CniHdfFile *hdf) {
  static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  *hdf = (CniHdfFile){.data = data, .size = size, .name = name};
  for (uint64_t at = 0; at + sizeof signature <= size; at = at ? 2 * at : 512) {
    if (memcmp(hdf->data + at, signature, sizeof signature) != 0) continue;
    uint64_t end = 0;
    if (!read_superblock(hdf, at, &end)) return damaged(name);
    if (end > size - hdf->base)
      return cni_bad_data("%s: is cut short: %llu bytes of %llu", name, (unsigned long long)size,
                          (unsigned long long)end);
    return CN_OK;
  }
  return damaged(name);
}

// ---- messages of an object ----

typedef struct Message {
  int32_t type, shared;
  uint64_t at, size;
} Message;

// A walk over the messages: the present block and those that continue it.
typedef struct Walk {
  const CniHdfFile *f;
  int32_t is_new;    // version 2 of the header: short message heads
  int32_t head_size; // of a message
  uint64_t at, end;  // in the present block
  uint64_t next[CONTINUATIONS], next_end[CONTINUATIONS];
  int32_t next_count, next_used;
} Walk;

static int walk_begin(const CniHdfFile *f, uint64_t object, Walk *w) {
  int32_t good = 1;
  *w = (Walk){.f = f};
  uint64_t size;
  if (has_signature(f, object, "OHDR")) {
    uint64_t flags = fetch(f, object + 5, 1, &good);
    int32_t width = 1 << (flags & 3);
    w->is_new = 1;
    w->head_size = flags & 4 ? 6 : 4;
    w->at = object + 6 + (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0);
    size = fetch(f, w->at, width, &good);
    w->at += (uint64_t)width;
  } else {
    if (fetch(f, object, 1, &good) != 1) return 0;
    w->head_size = 8;
    size = fetch(f, object + 8, 4, &good);
    w->at = object + 16;
  }
  if (!good || w->at > f->size || size > f->size - w->at) return 0;
  w->end = w->at + size;
  return 1;
}

// Note a block that goes on elsewhere; new blocks begin with a signature and end with a checksum.
static void walk_continue(Walk *w, const Message *m) {
  int32_t good = 1;
  uint64_t at = fetch_address(w->f, m->at, &good);
  uint64_t size = fetch(w->f, m->at + (uint64_t)w->f->offset_size, w->f->length_size, &good);
  if (!good || at == NOWHERE || size > w->f->size - at || w->next_count == CONTINUATIONS) return;
  if (w->is_new) {
    if (!has_signature(w->f, at, "OCHK") || size < 8) return;
    at += 4;
    size -= 8;
  }
  w->next[w->next_count] = at;
  w->next_end[w->next_count++] = at + size;
}

// The next message; 0 at the end.
static int walk_next(Walk *w, Message *m) {
  for (;;) {
    while (w->end - w->at < (uint64_t)w->head_size) {
      if (w->next_used == w->next_count) return 0;
      w->at = w->next[w->next_used];
      w->end = w->next_end[w->next_used++];
    }
    int32_t good = 1;
    int32_t wide = w->is_new ? 1 : 2;
    m->type = (int32_t)fetch(w->f, w->at, wide, &good);
    m->size = fetch(w->f, w->at + (uint64_t)wide, 2, &good);
    m->shared = (fetch(w->f, w->at + (uint64_t)wide + 2, 1, &good) & 2) != 0;
    m->at = w->at + (uint64_t)w->head_size;
    if (!good || m->size > w->end - m->at) return 0;
    w->at = m->at + m->size;
    if (m->type != MESSAGE_CONTINUATION) return 1;
    walk_continue(w, m);
  }
}

static int find_message(const CniHdfFile *f, uint64_t object, int32_t type, Message *m) {
  Walk w;
  if (!walk_begin(f, object, &w)) return 0;
  while (walk_next(&w, m))
    if (m->type == type) return 1;
  return 0;
}

// ---- names in groups ----

typedef struct Name {
  const char *text;
  size_t length;
} Name;

// A name of the heap against the wanted one: <0, 0, >0 as strcmp; 2 if it has no end.
static int compare_name(const CniHdfFile *f, uint64_t heap_data, uint64_t offset, Name wanted) {
  if (heap_data > f->size || offset > f->size - heap_data) return 2;
  const uint8_t *text = f->data + heap_data + offset;
  uint64_t room = f->size - heap_data - offset;
  for (uint64_t i = 0; i < room; i++) {
    int c = i < wanted.length ? (uint8_t)wanted.text[i] : 0;
    if (text[i] != c) return text[i] < c ? -1 : 1;
    if (c == 0) return 0;
  }
  return 2;
}

// A leaf lists names and object headers.
static uint64_t find_in_leaf(const CniHdfFile *f, uint64_t leaf, uint64_t heap, Name wanted) {
  int32_t good = 1;
  if (!has_signature(f, leaf, "SNOD")) return NOWHERE;
  uint64_t count = fetch(f, leaf + 6, 2, &good), width = 2 * (uint64_t)f->offset_size + 24;
  for (uint64_t i = 0; good && i < count; i++) {
    uint64_t entry = leaf + 8 + i * width;
    uint64_t name = fetch(f, entry, f->offset_size, &good);
    uint64_t object = fetch_address(f, entry + (uint64_t)f->offset_size, &good);
    uint64_t cache = fetch(f, entry + 2 * (uint64_t)f->offset_size, 4, &good);
    if (!good || compare_name(f, heap, name, wanted) != 0) continue;
    return cache == 2 ? NOWHERE : object; // 2: a soft link
  }
  return NOWHERE;
}

// Down the tree: child i holds the names up to key i + 1.
static uint64_t find_in_table(const CniHdfFile *f, uint64_t tree, uint64_t heap, Name wanted) {
  int32_t good = 1;
  if (!has_signature(f, heap, "HEAP")) return NOWHERE;
  uint64_t names = fetch_address(f, heap + 8 + 2 * (uint64_t)f->length_size, &good);
  uint64_t last_level = LEVELS;
  while (good && has_signature(f, tree, "TREE")) {
    uint64_t level = fetch(f, tree + 5, 1, &good), count = fetch(f, tree + 6, 2, &good);
    uint64_t key = tree + 8 + 2 * (uint64_t)f->offset_size, child = NOWHERE;
    uint64_t step = (uint64_t)f->length_size + (uint64_t)f->offset_size;
    if (level >= last_level) return NOWHERE;
    last_level = level;
    for (uint64_t i = 0; good && i < count && child == NOWHERE; i++) {
      uint64_t above = fetch(f, key + (i + 1) * step, f->length_size, &good);
      int order = compare_name(f, names, above, wanted);
      if (order == 2) return NOWHERE;
      if (order < 0) continue;
      child = fetch_address(f, key + i * step + (uint64_t)f->length_size, &good);
      if (child == NOWHERE) return NOWHERE;
    }
    if (!good || child == NOWHERE) return NOWHERE;
    if (level == 0) return find_in_leaf(f, child, names, wanted);
    tree = child;
  }
  return NOWHERE;
}

// A hard link in a message: its object if the name is the wanted one.
static uint64_t match_link(const CniHdfFile *f, const Message *m, Name wanted) {
  int32_t good = 1;
  uint64_t flags = fetch(f, m->at + 1, 1, &good), at = m->at + 2;
  if (flags & 8) {
    if (fetch(f, at, 1, &good) != 0) return NOWHERE;
    at++;
  }
  if (flags & 4) at += 8;
  if (flags & 16) at++;
  int32_t width = 1 << (flags & 3);
  uint64_t length = fetch(f, at, width, &good);
  at += (uint64_t)width;
  if (!good || length != wanted.length || at > f->size || f->size - at < length) return NOWHERE;
  if (memcmp(f->data + at, wanted.text, wanted.length) != 0) return NOWHERE;
  return fetch_address(f, at + length, &good);
}

// The object of a name in a group, NOWHERE without one.
static uint64_t find_child(const CniHdfFile *f, uint64_t group, Name wanted) {
  Walk w;
  Message m;
  if (!walk_begin(f, group, &w)) return NOWHERE;
  while (walk_next(&w, &m)) {
    int32_t good = 1;
    uint64_t found = NOWHERE;
    if (m.type == MESSAGE_LINK) found = match_link(f, &m, wanted);
    if (m.type == MESSAGE_SYMBOL_TABLE) {
      uint64_t tree = fetch_address(f, m.at, &good);
      uint64_t heap = fetch_address(f, m.at + (uint64_t)f->offset_size, &good);
      if (good) found = find_in_table(f, tree, heap, wanted);
    }
    if (found != NOWHERE) return found;
  }
  return NOWHERE;
}

static uint64_t find_path(const CniHdfFile *f, const char *path) {
  uint64_t object = f->root;
  while (*path && object != NOWHERE) {
    const char *end = strchr(path, '/');
    size_t length = end ? (size_t)(end - path) : strlen(path);
    object = find_child(f, object, (Name){path, length});
    path += length + (end ? 1 : 0);
  }
  return object;
}

int cni_hdf_file_has(const CniHdfFile *f, const char *path) {
  return find_path(f, path) != NOWHERE;
}

// ---- datasets ----

typedef struct Dataset {
  uint64_t at, count;
  int32_t width, is_real, is_signed, is_big; // of an element; is_big: most significant byte first
} Dataset;

static CnStatus fail(const CniHdfFile *f, const char *path, const char *problem) {
  return cni_bad_data("%s: %s: %s", f->name, path, problem);
}

static CnStatus read_space(const CniHdfFile *f, const char *path, const Message *m, Dataset *d) {
  int32_t good = 1;
  uint64_t version = fetch(f, m->at, 1, &good), rank = fetch(f, m->at + 1, 1, &good);
  uint64_t kind = version == 2 ? fetch(f, m->at + 3, 1, &good) : 1;
  if (!good || version < 1 || version > 2 || m->shared) return fail(f, path, "is damaged");
  if (rank > 1 || kind == 2)
    return cni_bad_data("%s: %s: must be one-dimensional (got rank %d)", f->name, path, (int)rank);
  d->count = rank == 0 ? 1 : fetch(f, m->at + (version == 1 ? 8 : 4), f->length_size, &good);
  return good ? CN_OK : fail(f, path, "is damaged");
}

// Whole bytes, two's complement; or one of the IEEE formats.
static CnStatus read_type(const CniHdfFile *f, const char *path, const Message *m, Dataset *d) {
  int32_t good = 1, known = 0;
  uint64_t class = fetch(f, m->at, 1, &good) & 15, bits = fetch(f, m->at + 1, 3, &good);
  uint64_t width = fetch(f, m->at + 4, 4, &good), place = fetch(f, m->at + 8, 4, &good);
  d->is_big = bits & 1;
  d->is_real = class == 1;
  d->is_signed = (bits & 8) != 0;
  int whole = place == width * 8 << 16; // offset 0, precision: all bits
  if (class == 0) known = width == 1 || width == 2 || width == 4 || width == 8;
  if (class == 1 && !(bits & 64)) { // 64: the order of bytes of a VAX
    // place and size of the exponent, place and size of the mantissa
    uint64_t parts = fetch(f, m->at + 12, 4, &good), bias = fetch(f, m->at + 16, 4, &good);
    known = (width == 8 && parts == 0x34000b34 && bias == 1023) ||
            (width == 4 && parts == 0x17000817 && bias == 127);
  }
  if (!good || !whole || !known || m->shared)
    return fail(f, path, "must hold integers or IEEE reals of at most 64 bits");
  d->width = (int32_t)width;
  return CN_OK;
}

static CnStatus read_layout(const CniHdfFile *f, const char *path, const Message *m, Dataset *d) {
  int32_t good = 1;
  uint64_t version = fetch(f, m->at, 1, &good), class = fetch(f, m->at + 1, 1, &good);
  uint64_t needed = d->count * (uint64_t)d->width;
  if (d->count > f->size)
    return cni_bad_data("%s: %s: %llu elements announced in a file of %llu bytes", f->name, path,
                        (unsigned long long)d->count, (unsigned long long)f->size);
  if (!good || version < 3 || version > 4 || class > 2)
    return fail(f, path, "has a storage that is not supported");
  if (class == 2)
    return fail(f, path, "is stored in chunks; rewrite the file with h5repack -l CONTI");
  uint64_t size;
  if (class == 0) {
    size = fetch(f, m->at + 2, 2, &good);
    d->at = m->at + 4;
  } else {
    d->at = fetch_address(f, m->at + 2, &good);
    size = fetch(f, m->at + 2 + (uint64_t)f->offset_size, f->length_size, &good);
  }
  if (d->count == 0) return CN_OK;
  if (!good || d->at == NOWHERE || size < needed || needed > f->size - d->at)
    return fail(f, path, "has no numbers or is cut short");
  return CN_OK;
}

static CnStatus open_dataset(const CniHdfFile *f, const char *path, CniHdfType type, Dataset *d) {
  Message space, kind, layout, external;
  *d = (Dataset){0};
  uint64_t object = find_path(f, path);
  if (object == NOWHERE) return fail(f, path, "is missing");
  if (!find_message(f, object, MESSAGE_SPACE, &space) ||
      !find_message(f, object, MESSAGE_TYPE, &kind) ||
      !find_message(f, object, MESSAGE_LAYOUT, &layout))
    return fail(f, path, "must be a dataset");
  if (find_message(f, object, MESSAGE_EXTERNAL, &external))
    return fail(f, path, "is stored in another file");
  CNI_TRY(read_space(f, path, &space, d));
  CNI_TRY(read_type(f, path, &kind, d));
  if (d->is_real != (type == CNI_HDF_REAL))
    return fail(f, path, type == CNI_HDF_REAL ? "must hold reals" : "must hold integers");
  return read_layout(f, path, &layout, d);
}

CnStatus cni_hdf_file_count(const CniHdfFile *f, const char *path, CniHdfType type,
                            int64_t *count) {
  Dataset d;
  *count = 0;
  CNI_TRY(open_dataset(f, path, type, &d));
  *count = (int64_t)d.count;
  return CN_OK;
}

static CnStatus open_counted(const CniHdfFile *f, const char *path, CniHdfType type, int64_t count,
                             Dataset *d) {
  CNI_TRY(open_dataset(f, path, type, d));
  if (d->count == (uint64_t)count) return CN_OK;
  return cni_bad_data("%s: %s: must have %lld elements (got %llu)", f->name, path, (long long)count,
                      (unsigned long long)d->count);
}

// Element i as a number of its width, bytes in order.
static uint64_t element(const CniHdfFile *f, const Dataset *d, int64_t i) {
  const uint8_t *bytes = f->data + d->at + (uint64_t)i * (uint64_t)d->width;
  uint64_t value = 0;
  for (int32_t k = 0; k < d->width; k++)
    value = value << 8 | bytes[d->is_big ? k : d->width - 1 - k];
  return value;
}

CnStatus cni_hdf_file_integers(const CniHdfFile *f, const char *path, int64_t count,
                               int32_t *values) {
  Dataset d;
  CNI_TRY(open_counted(f, path, CNI_HDF_INTEGER, count, &d));
  for (int64_t i = 0; i < count; i++) {
    uint64_t raw = element(f, &d, i);
    // extend the sign; an unsigned number of 64 bits with its first bit set is too large anyway
    uint64_t sign = (uint64_t)1 << (8 * d.width - 1);
    int negative = d.is_signed && (raw & sign);
    uint64_t size = negative ? (sign - (raw & (sign - 1))) : raw;
    if (size > (uint64_t)INT32_MAX)
      return cni_bad_data("%s: %s[%lld]: does not fit 32 bits (got %s%llu)", f->name, path,
                          (long long)i, negative ? "-" : "", (unsigned long long)size);
    values[i] = negative ? -(int32_t)size : (int32_t)size;
  }
  return CN_OK;
}

CnStatus cni_hdf_file_reals(const CniHdfFile *f, const char *path, int64_t count, double *values) {
  Dataset d;
  CNI_TRY(open_counted(f, path, CNI_HDF_REAL, count, &d));
  for (int64_t i = 0; i < count; i++) {
    uint64_t raw = element(f, &d, i);
    if (d.width == 8) {
      memcpy(&values[i], &raw, sizeof raw);
    } else {
      uint32_t narrow = (uint32_t)raw;
      float value;
      memcpy(&value, &narrow, sizeof value);
      values[i] = (double)value;
    }
    if (!isfinite(values[i]))
      return cni_bad_data("%s: %s[%lld]: must be finite (got %g)", f->name, path, (long long)i,
                          values[i]);
  }
  return CN_OK;
}
