// SPDX-License-Identifier: Apache-2.0
// XML files as trees of elements that remember their lines and which of their attributes were read,
// so that what nobody understood can be listed at the end.
//
// Bounds: size of the file, depth, number of elements; entities are refused, so that nothing can be
// fetched or blown up through them.
#ifndef CNI_IO_ROBOTS_XML_H
#define CNI_IO_ROBOTS_XML_H

#include <cairn/base.h>

#include "core/memory.h"
#include "core/vec.h"

#define CNI_XML_SIZE ((size_t)1 << 26) // bytes
#define CNI_XML_DEPTH 500
#define CNI_XML_ELEMENTS 500000

typedef struct CniXmlAttribute {
  const char *name, *value;
  int32_t used;
} CniXmlAttribute;

typedef struct CniXmlNode {
  const char *name;
  const char *file; // as given
  int32_t line;
  int32_t used; // it was understood; what is below and is not, is listed
  int32_t depth;
  struct CniXmlNode *parent, *first, *last, *next;
  CniXmlAttribute *attributes;
  int32_t attribute_count;
} CniXmlNode;

// Read a text; nodes live in the arena. `file` must stay. Failures: "FILE: line N: PROBLEM".
CnStatus cni_xml_parse(CniArena *arena, const char *text, size_t size, const char *file,
                       CniXmlNode **root);
// A copy in the arena; null: no memory.
const char *cni_xml_keep(CniArena *arena, const char *text, size_t size);

// The next child of that name, marked as understood; `after` null: the first one.
CniXmlNode *cni_xml_child(CniXmlNode *parent, const char *name, const CniXmlNode *after);
// The same for any name, not marked.
static inline CniXmlNode *cni_xml_next(const CniXmlNode *parent, const CniXmlNode *after) {
  return after ? after->next : parent->first;
}

// ---- attributes ----

// An element with the elements that speak where it is silent, nearest first (defaults of its class).
#define CNI_XML_FALLBACKS 24
typedef struct CniXmlView {
  CniXmlNode *node, *fallbacks[CNI_XML_FALLBACKS];
  int32_t fallback_count;
} CniXmlView;

static inline CniXmlView cni_xml_view(CniXmlNode *node) { return (CniXmlView){.node = node}; }

// "FILE: line N: <ELEMENT>: PROBLEM", CN_INVALID_DATA.
CnStatus cni_xml_fail(const CniXmlNode *node, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

// The value of an attribute, null without one.
const char *cni_xml_text(const CniXmlView *view, const char *name);
// It must be there.
CnStatus cni_xml_required(const CniXmlView *view, const char *name, const char **text);
// Finite numbers between `least` and `most` of them; *count (may be null) says how many, 0: absent,
// and then the values stay.
CnStatus cni_xml_numbers(const CniXmlView *view, const char *name, int32_t least, int32_t most,
                         double *values, int32_t *count);
CnStatus cni_xml_number(const CniXmlView *view, const char *name, double *value);
CnStatus cni_xml_vec3(const CniXmlView *view, const char *name, CnVec3 *value);
// One of a list of words (null ends it); its number.
CnStatus cni_xml_choice(const CniXmlView *view, const char *name, const char *const *words,
                        int32_t *choice);
// Mark attributes as understood whose meaning is nothing here (null ends the list).
void cni_xml_known(const CniXmlView *view, const char *const *names);

#endif
