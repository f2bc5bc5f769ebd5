// SPDX-License-Identifier: Apache-2.0
// See layout.h. Nothing in a text from outside is believed: tokens have a largest length, a name or
// a record that comes twice is refused, and memory is taken for what was found, not for what was
// announced.
#include "world/snapshot/layout.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

#define TOKEN_SIZE 64

// ---- values ----

static void stream_text(CniStream *s, const char *text) {
  char copy[TOKEN_SIZE];
  uint32_t length = (uint32_t)strnlen(text, sizeof copy - 1);
  memcpy(copy, text, length);
  cni_stream_u32(s, &length);
  cni_stream_bytes(s, copy, length);
}

static void stream_doubles(CniStream *s, double *x, int32_t count) {
  for (int32_t i = 0; i < count; i++) cni_stream_double(s, &x[i]);
}

// A value that is no text.
static void stream_number(CniStream *s, const CniField *field, void *at) {
  if (cni_field_doubles(field) > 0)
    stream_doubles(s, at, cni_field_doubles(field));
  else if (field->type == CNI_FIELD_LONG)
    cni_stream_u64(s, at);
  else
    cni_stream_u32(s, at);
}

static int is_text(const CniField *field) {
  return field->type == CNI_FIELD_WORD || field->type == CNI_FIELD_NAME;
}

static int left_out(const CniField *field) { return (field->where & CNI_NOT_IN_SNAPSHOT) != 0; }

void cni_record_write(CniStream *s, const CniRecord *record, void *from) {
  for (const CniPart *part = record->parts; part < record->parts + CNI_RECORD_PARTS; part++) {
    for (const CniField *f = part->fields; f && f->name; f++) {
      void *at = cni_field_at(f, (char *)from + part->base);
      const char *word;
      if (left_out(f)) continue;
      memcpy(&word, at, f->type == CNI_FIELD_WORD ? sizeof word : 0);
      if (is_text(f))
        stream_text(s, f->type == CNI_FIELD_WORD ? word : at);
      else
        stream_number(s, f, at);
    }
  }
}

// ---- the text ----

static void put(CniStream *s, const char *text) {
  char copy[TOKEN_SIZE];
  size_t length = strnlen(text, sizeof copy - 1);
  memcpy(copy, text, length);
  cni_stream_bytes(s, copy, length);
}

static void put_field(CniStream *s, const char *prefix, const CniField *field) {
  put(s, cni_field_type_name(field->type));
  put(s, " ");
  put(s, prefix);
  if (prefix[0]) put(s, ".");
  put(s, field->name);
  for (int32_t i = 0; field->type == CNI_FIELD_CHOICE && cni_field_word(field, i); i++) {
    put(s, " ");
    put(s, cni_field_word(field, i));
  }
  put(s, "\n");
}

static void put_text(CniStream *s, const CniRecord *records, int32_t count) {
  for (const CniRecord *r = records; r < records + count; r++) {
    put(s, "record ");
    put(s, r->sort);
    if (r->kind) put(s, " ");
    if (r->kind) put(s, r->kind);
    put(s, "\n");
    for (const CniPart *part = r->parts; part < r->parts + CNI_RECORD_PARTS; part++)
      for (const CniField *f = part->fields; f && f->name; f++)
        if (!left_out(f)) put_field(s, part->prefix, f);
  }
}

void cni_layout_write(CniStream *s, const CniRecord *records, int32_t count) {
  CniStream counter = {0};
  put_text(&counter, records, count);
  uint32_t size = (uint32_t)counter.at;
  cni_stream_u32(s, &size);
  put_text(s, records, count);
}

// ---- reading the text ----

typedef struct Cursor {
  const char *at, *end;
  CniLayout *layout;
  const CnAllocator *allocator;
  int32_t record; // the one that fields belong to; -1: to be passed over
} Cursor;

static CnStatus unreadable(const char *why, const char *what) {
  return cni_bad_data("snapshot: its layout %s '%s'", why, what);
}

// The next token of the line; empty at its end. 0: no token can be that long.
static int next(Cursor *c, char token[TOKEN_SIZE]) {
  size_t n = 0;
  while (c->at<c->end && * c->at> ' ' && *c->at < 127) {
    if (n == TOKEN_SIZE - 1) return 0;
    token[n++] = *c->at++;
  }
  token[n] = 0;
  if (c->at < c->end && *c->at == ' ' && n > 0) c->at++;
  return c->at >= c->end || (*c->at > ' ' && *c->at < 127) || *c->at == '\n';
}

static CnStatus token_of(Cursor *c, char token[TOKEN_SIZE]) {
  return next(c, token) ? CN_OK : unreadable("cannot be read behind", token[0] ? token : "\\n");
}

// Fields of a name in the parts of a record.
static const CniField *find_in(const CniRecord *record, const char *name, size_t *base) {
  for (const CniPart *part = record->parts; part < record->parts + CNI_RECORD_PARTS; part++) {
    size_t length = part->fields ? strlen(part->prefix) : 0;
    if (!part->fields || strncmp(name, part->prefix, length) != 0) continue;
    if (length > 0 && name[length++] != '.') continue;
    const CniField *field = cni_field_find(part->fields, name + length);
    *base = part->base;
    if (field && !left_out(field)) return field;
  }
  return NULL;
}

// In the record itself, or in what one of its kinds has: an older layout may list it with all.
static const CniField *find_field(const CniLayout *layout, int32_t record, const char *name,
                                  size_t *base) {
  const CniRecord *own = &layout->records[record];
  const CniField *field = find_in(own, name, base);
  for (int32_t i = 0; i < layout->record_count && !field && !own->kind; i++)
    if (strcmp(layout->records[i].sort, own->sort) == 0)
      field = find_in(&layout->records[i], name, base);
  return field;
}

static CnStatus read_words(Cursor *c, CniWire *wire) {
  CniLayout *l = c->layout;
  char token[TOKEN_SIZE];
  wire->first_word = l->word_count;
  for (;;) {
    const char *text = c->at;
    CNI_TRY(token_of(c, token));
    if (!token[0]) break;
    CNI_TRY(
        CNI_RESERVE(c->allocator, l->words, l->word_capacity, l->word_count, l->word_count + 1));
    int32_t number =
        wire->field->type == CNI_FIELD_CHOICE ? cni_field_word_index(wire->field, token) : -1;
    l->words[l->word_count++] = (CniWireWord){text, (int32_t)strlen(token), number};
  }
  wire->word_count = l->word_count - wire->first_word;
  return CN_OK;
}

static size_t least_bytes(const CniWire *wire) {
  if (is_text(wire->field)) return wire->fixed ? wire->fixed : sizeof(uint32_t);
  return cni_field_size(wire->field);
}

static CnStatus read_field(Cursor *c, const char *type) {
  CniLayout *l = c->layout;
  char name[TOKEN_SIZE];
  CNI_TRY(token_of(c, name));
  CniWireSpan *span = &l->spans[c->record];
  size_t base = 0;
  CniWire wire = {.field = find_field(l, c->record, name, &base)};
  if (!wire.field) {
    const CniRecord *r = &l->records[c->record];
    return cni_bad_data("snapshot: %s%s%s has a field '%s', which is unknown here", r->sort,
                        r->kind ? " " : "", r->kind ? r->kind : "", name);
  }
  wire.offset = base + wire.field->offset;
  if (is_text(wire.field) && strncmp(type, "fixed", 5) == 0)
    wire.fixed = (size_t)strtoul(type + 5, NULL, 10);
  int known = wire.fixed > 0 && wire.fixed <= TOKEN_SIZE;
  if (!known && strcmp(type, cni_field_type_name(wire.field->type)) != 0)
    return cni_bad_data("snapshot: field '%s' is a %s, here a %s", name, type,
                        cni_field_type_name(wire.field->type));
  for (int32_t i = 0; i < span->count; i++)
    if (l->wires[span->first + i].offset == wire.offset) return unreadable("has twice", name);
  CNI_TRY(read_words(c, &wire));
  CNI_TRY(CNI_RESERVE(c->allocator, l->wires, l->wire_capacity, l->wire_count, l->wire_count + 1));
  l->wires[l->wire_count++] = wire;
  span->count++;
  span->least += least_bytes(&wire);
  return CN_OK;
}

// "record SORT" or "record SORT KIND". A kind that is unknown is passed over: it does no harm as
// long as nothing is of that kind.
static CnStatus read_record(Cursor *c) {
  CniLayout *l = c->layout;
  char sort[TOKEN_SIZE], kind[TOKEN_SIZE];
  CNI_TRY(token_of(c, sort));
  CNI_TRY(token_of(c, kind));
  int sort_known = 0;
  c->record = -1;
  for (int32_t i = 0; i < l->record_count; i++) {
    const CniRecord *r = &l->records[i];
    if (strcmp(r->sort, sort) != 0) continue;
    sort_known = 1;
    if (strcmp(r->kind ? r->kind : "", kind) == 0) c->record = i;
  }
  if (!sort_known || (c->record < 0 && !kind[0]))
    return cni_bad_data("snapshot: it has records '%s', which are unknown here", sort);
  if (c->record < 0) return CN_OK;
  if (l->spans[c->record].seen) return unreadable("has twice", sort);
  l->spans[c->record] = (CniWireSpan){.first = l->wire_count, .seen = 1};
  return CN_OK;
}

static CnStatus read_line(Cursor *c) {
  char type[TOKEN_SIZE];
  CNI_TRY(token_of(c, type));
  if (strcmp(type, "record") == 0)
    CNI_TRY(read_record(c));
  else if (c->record >= 0)
    CNI_TRY(read_field(c, type));
  char rest[TOKEN_SIZE] = "-";
  while (rest[0]) CNI_TRY(token_of(c, rest));
  if (c->at == c->end || *c->at != '\n')
    return unreadable("has a line without an end behind", type);
  c->at++;
  return CN_OK;
}

CnStatus cni_layout_parse(CniLayout *layout, const CniRecord *records, int32_t record_count,
                          const char *text, size_t size, const CnAllocator *allocator) {
  *layout = (CniLayout){.records = records, .record_count = record_count};
  CNI_TRY(CNI_RESERVE(allocator, layout->spans, layout->span_capacity, 0, record_count));
  memset(layout->spans, 0, (size_t)record_count * sizeof *layout->spans);
  Cursor c = {.at = text, .end = text + size, .layout = layout, .allocator = allocator};
  c.record = -2;
  while (c.at < c.end) {
    CNI_TRY(read_line(&c));
    if (c.record == -2) return unreadable("does not begin with", "record");
  }
  return CN_OK;
}

void cni_layout_release(CniLayout *layout, const CnAllocator *allocator) {
  cni_release(allocator, layout->spans, (size_t)layout->span_capacity * sizeof *layout->spans);
  cni_release(allocator, layout->wires, (size_t)layout->wire_capacity * sizeof *layout->wires);
  cni_release(allocator, layout->words, (size_t)layout->word_capacity * sizeof *layout->words);
  *layout = (CniLayout){0};
}

// ---- reading records ----

size_t cni_record_least(const CniLayout *layout, int32_t record) {
  size_t least = layout->spans[record].least;
  return least > 0 ? least : 1;
}

static CnStatus ended(void) {
  return cni_bad_data("snapshot: it ends too soon, or a count is wrong");
}

static CnStatus read_text(CniStream *s, const CniWire *wire, void *at) {
  char text[TOKEN_SIZE + 1] = "";
  uint32_t length = (uint32_t)wire->fixed;
  if (!wire->fixed) cni_stream_u32(s, &length);
  if (length > TOKEN_SIZE - (wire->fixed ? 0 : 1)) return ended();
  cni_stream_bytes(s, text, length);
  if (s->failed) return ended();
  size_t size = strlen(text);
  if (wire->fixed ? size == wire->fixed : size != length)
    return cni_bad_data("snapshot: %s does not end", wire->field->name);
  if (wire->field->type == CNI_FIELD_NAME) {
    if (size >= CNI_NAME_SIZE) return ended();
    memset(at, 0, CNI_NAME_SIZE);
    memcpy(at, text, size);
    return CN_OK;
  }
  const char *word = cni_field_word(wire->field, cni_field_word_index(wire->field, text));
  memcpy(at, &word, sizeof word);
  if (word) return CN_OK;
  return cni_bad_data("snapshot: %s '%s' is unknown here", wire->field->name, text);
}

static CnStatus read_choice(CniStream *s, const CniLayout *l, const CniWire *wire, void *at) {
  uint32_t index = 0;
  cni_stream_u32(s, &index);
  if (s->failed) return ended();
  if (index >= (uint32_t)wire->word_count)
    return cni_bad_data("snapshot: %s has no choice of number %u", wire->field->name,
                        (unsigned)index);
  const CniWireWord *word = &l->words[wire->first_word + (int32_t)index];
  if (word->number < 0)
    return cni_bad_data("snapshot: %s '%.*s' is unknown here", wire->field->name, (int)word->length,
                        word->text);
  memcpy(at, &word->number, sizeof word->number);
  return CN_OK;
}

CnStatus cni_record_read(CniStream *s, const CniLayout *layout, int32_t record, void *into) {
  const CniWireSpan *span = &layout->spans[record];
  for (int32_t i = 0; i < span->count; i++) {
    const CniWire *wire = &layout->wires[span->first + i];
    void *at = (char *)into + wire->offset;
    if (is_text(wire->field))
      CNI_TRY(read_text(s, wire, at));
    else if (wire->field->type == CNI_FIELD_CHOICE)
      CNI_TRY(read_choice(s, layout, wire, at));
    else
      stream_number(s, wire->field, at);
  }
  return s->failed ? ended() : CN_OK;
}
