// SPDX-License-Identifier: Apache-2.0
// Trees of XML elements by expat, and numbers and words of their attributes.
#include "io/robots/xml.h"

#include <expat.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "io/tools/decimal.h"

typedef struct Parse {
  CniArena *arena;
  XML_Parser parser;
  const char *file;
  CniXmlNode *root, *open;
  int32_t count;
  char *words; // of the open element, while it has no elements in it; null: words are passed over
  size_t word_count, most;
  CnStatus status; // what stopped it
} Parse;

const char *cni_xml_keep(CniArena *arena, const char *text, size_t size) {
  char *copy = cni_arena_take(arena, size + 1);
  if (!copy) return NULL;
  memcpy(copy, text, size);
  copy[size] = 0;
  return copy;
}

static void stop(Parse *p, CnStatus status) {
  if (p->status == CN_OK) p->status = status;
  XML_StopParser(p->parser, XML_FALSE);
}

static int line_of(const Parse *p) { return (int)XML_GetCurrentLineNumber(p->parser); }

static CnStatus keep_attributes(Parse *p, CniXmlNode *node, const XML_Char **given) {
  int32_t count = 0;
  while (given[2 * count]) count++;
  CNI_TRY(cni_arena_array(p->arena, count, sizeof *node->attributes, &node->attributes));
  node->attribute_count = count;
  for (int32_t i = 0; i < count; i++) {
    CniXmlAttribute *a = &node->attributes[i];
    a->name = cni_xml_keep(p->arena, given[2 * i], strlen(given[2 * i]));
    a->value = cni_xml_keep(p->arena, given[2 * i + 1], strlen(given[2 * i + 1]));
    if (!a->name || !a->value) return cni_error_memory(strlen(given[2 * i + 1]));
  }
  return CN_OK;
}

// Formats that write values as words between tags: the words become an attribute "text".
static int has_words(const char *root) { return strcmp(root, "sdf") == 0; }

static void on_words(void *context, const XML_Char *words, int length) {
  Parse *p = context;
  if (p->status != CN_OK || p->word_count + (size_t)length > p->most) return;
  memcpy(p->words + p->word_count, words, (size_t)length);
  p->word_count += (size_t)length;
}

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static CnStatus keep_words(Parse *p, CniXmlNode *node) {
  const char *words = p->words;
  size_t n = p->word_count;
  int32_t count = node->attribute_count;
  p->word_count = 0;
  while (n > 0 && is_space(*words)) words++, n--;
  while (n > 0 && is_space(words[n - 1])) n--;
  if (n == 0 || node->first) return CN_OK;
  CniXmlAttribute *more, text = {"text", cni_xml_keep(p->arena, words, n), 0};
  if (!text.value) return cni_error_memory(n);
  CNI_TRY(cni_arena_array(p->arena, count + 1, sizeof *more, &more));
  if (count > 0) memcpy(more, node->attributes, (size_t)count * sizeof *more);
  more[count] = text;
  node->attributes = more;
  node->attribute_count = count + 1;
  return CN_OK;
}

static CnStatus add_node(Parse *p, const XML_Char *name, const XML_Char **given) {
  CniXmlNode *node, *above = p->open;
  if (above && above->depth >= CNI_XML_DEPTH)
    return cni_bad_data("%s: line %d: elements are nested more than %d deep", p->file, line_of(p),
                        CNI_XML_DEPTH);
  if (++p->count > CNI_XML_ELEMENTS)
    return cni_bad_data("%s: line %d: more than %d elements", p->file, line_of(p),
                        CNI_XML_ELEMENTS);
  CNI_TRY(cni_arena_array(p->arena, 1, sizeof *node, &node));
  node->name = cni_xml_keep(p->arena, name, strlen(name));
  if (!node->name) return cni_error_memory(strlen(name));
  node->file = p->file;
  node->line = line_of(p);
  node->depth = above ? above->depth + 1 : 0;
  node->parent = above;
  CNI_TRY(keep_attributes(p, node, given));
  if (!above)
    p->root = node;
  else if (above->last)
    above->last->next = node;
  else
    above->first = node;
  if (above) above->last = node;
  p->open = node;
  p->word_count = 0;
  if (above || !has_words(node->name)) return CN_OK;
  p->words = cni_arena_take(p->arena, p->most + 1);
  if (!p->words) return cni_error_memory(p->most);
  XML_SetCharacterDataHandler(p->parser, on_words);
  return CN_OK;
}

static void on_start(void *context, const XML_Char *name, const XML_Char **given) {
  Parse *p = context;
  if (p->status != CN_OK) return;
  CnStatus status = add_node(p, name, given);
  if (status != CN_OK) stop(p, status);
}

static void on_end(void *context, const XML_Char *name) {
  Parse *p = context;
  (void)name;
  CnStatus status = p->words && p->open ? keep_words(p, p->open) : CN_OK;
  if (status != CN_OK) stop(p, status);
  if (p->open) p->open = p->open->parent;
}

static void on_entity(void *context, const XML_Char *name, int parameter, const XML_Char *value,
                      int length, const XML_Char *base, const XML_Char *system,
                      const XML_Char *public, const XML_Char *notation) {
  Parse *p = context;
  (void)parameter, (void)value, (void)length, (void)base, (void)system, (void)public;
  (void)notation;
  stop(p, cni_bad_data("%s: line %d: entities are not allowed (got \"%.40s\")", p->file, line_of(p),
                       name));
}

// Two hyphens in a comment are against the rules of XML and in many files: there they become blanks.
static CnStatus mend_comments(CniArena *arena, const char **text, size_t size) {
  const char *at = *text, *end = *text + size;
  char *copy = NULL;
  while (at && end - at >= 4) {
    at = memchr(at, '<', (size_t)(end - at));
    if (!at || end - at < 4) break;
    if (memcmp(at, "<!--", 4) != 0) {
      const char *data = "<![CDATA[";
      int skip = (size_t)(end - at) >= strlen(data) && memcmp(at, data, strlen(data)) == 0;
      at++;
      while (skip && end - at >= 3 && memcmp(at, "]]>", 3) != 0) at++;
      continue;
    }
    for (at += 4; end - at >= 3 && memcmp(at, "-->", 3) != 0; at++) {
      if (at[0] != '-' || at[1] != '-') continue;
      if (!copy && !(copy = cni_arena_take(arena, size + 1))) return cni_error_memory(size);
      if (copy && *text != copy) memcpy(copy, *text, size);
      copy[at - *text] = ' ';
      at = copy + (at - *text);
      end = copy + size;
      *text = copy;
    }
  }
  return CN_OK;
}

CnStatus cni_xml_parse(CniArena *arena, const char *text, size_t size, const char *file,
                       CniXmlNode **root) {
  if (size > CNI_XML_SIZE)
    return cni_bad_data("%s: has %zu bytes, more than %zu", file, size, CNI_XML_SIZE);
  CNI_TRY(mend_comments(arena, &text, size));
  // of UTF-16 and Latin-1 words grow
  Parse p = {.arena = arena, .file = file, .most = 2 * size, .parser = XML_ParserCreate(NULL)};
  if (!p.parser) return cni_error_memory(1);
  XML_SetUserData(p.parser, &p);
  XML_SetElementHandler(p.parser, on_start, on_end);
  XML_SetEntityDeclHandler(p.parser, on_entity);
  int good = XML_Parse(p.parser, text, (int)size, 1) == XML_STATUS_OK;
  if (!good && p.status == CN_OK)
    p.status = cni_bad_data("%s: line %d: %s", file, line_of(&p),
                            XML_ErrorString(XML_GetErrorCode(p.parser)));
  XML_ParserFree(p.parser);
  CNI_TRY(p.status);
  *root = p.root;
  return CN_OK;
}

CniXmlNode *cni_xml_child(CniXmlNode *parent, const char *name, const CniXmlNode *after) {
  for (CniXmlNode *n = cni_xml_next(parent, after); n; n = n->next)
    if (strcmp(n->name, name) == 0) {
      n->used = 1;
      return n;
    }
  return NULL;
}

// ---- attributes ----

CnStatus cni_xml_fail(const CniXmlNode *node, const char *format, ...) {
  char problem[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(problem, sizeof problem, format, arguments);
  va_end(arguments);
  for (char *c = problem; *c; c++)
    if ((unsigned char)*c < 32) *c = '?';
  return cni_bad_data("%s: line %d: <%.40s>: %s", node->file, (int)node->line, node->name, problem);
}

static const char *find(CniXmlNode *node, const char *name) {
  for (int32_t i = 0; i < node->attribute_count; i++)
    if (strcmp(node->attributes[i].name, name) == 0) {
      node->attributes[i].used = 1;
      return node->attributes[i].value;
    }
  return NULL;
}

const char *cni_xml_text(const CniXmlView *view, const char *name) {
  const char *text = find(view->node, name);
  for (int32_t i = 0; i < view->fallback_count; i++) {
    const char *other = find(view->fallbacks[i], name);
    if (!text) text = other;
  }
  return text;
}

CnStatus cni_xml_required(const CniXmlView *view, const char *name, const char **text) {
  *text = cni_xml_text(view, name);
  return *text ? CN_OK : cni_xml_fail(view->node, "needs \"%s\"", name);
}

CnStatus cni_xml_numbers(const CniXmlView *view, const char *name, int32_t least, int32_t most,
                         double *values, int32_t *count) {
  const char *text = cni_xml_text(view, name), *at = text;
  int32_t n = 0;
  if (count) *count = 0;
  if (!text) return CN_OK;
  for (;; n++) {
    while (is_space(*at)) at++;
    if (!*at) break;
    size_t length = 0;
    while (at[length] && !is_space(at[length])) length++;
    double value = 0;
    if (cni_decimal_parse(at, length, &value) != CNI_DECIMAL_OK || !(fabs(value) <= 1e100))
      return cni_xml_fail(
          view->node, "\"%s\" must be finite numbers%s (got \"%.60s\")", name,
          strstr(text, "${") ? ": xacro is not run here, expand the file first" : "", text);
    if (n < most) values[n] = value;
    at += length;
  }
  if (n < least || n > most) {
    if (least == most)
      return cni_xml_fail(view->node, "\"%s\" must have %d number%s (got \"%.60s\")", name,
                          (int)least, least == 1 ? "" : "s", text);
    return cni_xml_fail(view->node, "\"%s\" must have %d to %d numbers (got \"%.60s\")", name,
                        (int)least, (int)most, text);
  }
  if (count) *count = n;
  return CN_OK;
}

CnStatus cni_xml_number(const CniXmlView *view, const char *name, double *value) {
  return cni_xml_numbers(view, name, 1, 1, value, NULL);
}

CnStatus cni_xml_vec3(const CniXmlView *view, const char *name, CnVec3 *value) {
  return cni_xml_numbers(view, name, 3, 3, &value->x, NULL);
}

CnStatus cni_xml_choice(const CniXmlView *view, const char *name, const char *const *words,
                        int32_t *choice) {
  const char *text = cni_xml_text(view, name);
  if (!text) return CN_OK;
  char known[200] = "";
  size_t n = 0;
  for (int32_t i = 0; words[i]; i++) {
    if (strcmp(words[i], text) == 0) {
      *choice = i;
      return CN_OK;
    }
    if (n < sizeof known)
      n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", words[i]);
  }
  return cni_xml_fail(view->node, "\"%s\" must be one of %s (got \"%.60s\")", name, known, text);
}

void cni_xml_known(const CniXmlView *view, const char *const *names) {
  for (; *names; names++) cni_xml_text(view, *names);
}
