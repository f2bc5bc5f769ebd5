// SPDX-License-Identifier: Apache-2.0
// Records of a snapshot, whose fields have names.
//
// A snapshot says once, in a short text, which fields its records have and in which order:
//
//     record settings
//     vector gravity
//     choice friction coulomb convex
//     word solver.name
//     record joint distance
//     number distance
//
// A line is a type, a name, and the words of a choice; `record joint distance` is what joints of
// that kind have beside the fields of `record joint`. Then come the records, without names. A
// reader maps names to its own fields: what the text lacks keeps its default, what is unknown is
// refused by name. Numbers of kinds are numbers of words in the text, not those of any enum.
#ifndef CNI_WORLD_LAYOUT_H
#define CNI_WORLD_LAYOUT_H

#include "core/fields.h"
#include "core/stream.h"

// Fields of one struct inside a record; with a prefix their names are PREFIX.NAME.
typedef struct CniPart {
  const char *prefix;
  const CniField *fields;
  size_t base;
} CniPart;

#define CNI_RECORD_PARTS 32
typedef struct CniRecord {
  const char *sort, *kind;         // kind null: what all kinds have
  CniPart parts[CNI_RECORD_PARTS]; // those without fields are none
} CniRecord;

// ---- writing: the layout of some records, and a record ----

void cni_layout_write(CniStream *s, const CniRecord *records, int32_t count);
void cni_record_write(CniStream *s, const CniRecord *record, void *from);

// ---- reading ----

typedef struct CniWire {
  const CniField *field;
  size_t offset; // in the record
  size_t fixed;  // bytes of a text of fixed length; 0: its length comes first
  int32_t first_word, word_count;
} CniWire;

typedef struct CniWireWord {
  const char *text; // not ended
  int32_t length;
  int32_t number; // of ours; -1: unknown
} CniWireWord;

// Which wires a record has.
typedef struct CniWireSpan {
  int32_t first, count;
  int32_t seen;
  size_t least; // bytes of a record, at least
} CniWireSpan;

typedef struct CniLayout {
  const CniRecord *records;
  CniWireSpan *spans; // one a record
  CniWire *wires;
  CniWireWord *words;
  int32_t record_count, wire_count, word_count;
  int32_t span_capacity, wire_capacity, word_capacity;
} CniLayout;

// Read a layout's text, which has to live as long. Release it in any case.
CnStatus cni_layout_parse(CniLayout *layout, const CniRecord *records, int32_t record_count,
                          const char *text, size_t size, const CnAllocator *allocator);
void cni_layout_release(CniLayout *layout, const CnAllocator *allocator);

// Fewest bytes that a record takes.
size_t cni_record_least(const CniLayout *layout, int32_t record);
// Read a record: fields that the layout lacks stay as they are.
CnStatus cni_record_read(CniStream *s, const CniLayout *layout, int32_t record, void *into);

#endif
