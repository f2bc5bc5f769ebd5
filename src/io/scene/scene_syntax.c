// SPDX-License-Identifier: Apache-2.0
// Where in a JSON text reading stopped, as a JSON pointer: the text up to there is walked once and
// the open lists and objects are kept, each with its present key or index.
#include <stdio.h>
#include <string.h>

#include "io/scene/scene_private.h"

typedef struct Level {
  int is_object;
  size_t index;         // of the present element
  size_t start, length; // of the present key, in the text
  int before_colon;     // the next string is a key
} Level;

// The byte after a string that begins at `i`.
static size_t skip_string(const char *text, size_t end, size_t i) {
  for (i++; i < end && text[i] != '"'; i++)
    if (text[i] == '\\') i++;
  return i < end ? i + 1 : end;
}

static void open_level(Level *levels, int32_t *depth, char c) {
  if (*depth < CNI_SCENE_PATH) levels[*depth] = (Level){c == '{', 0, 0, 0, 1};
  ++*depth;
}

static void write_levels(const char *text, const Level *levels, int32_t depth, char *pointer,
                         size_t size) {
  pointer[0] = 0;
  for (int32_t i = 0; i < depth; i++) {
    const Level *level = &levels[i];
    char index[24];
    snprintf(index, sizeof index, "%zu", level->index);
    if (level->is_object && level->length == 0) break;
    cni_line_add(pointer, size, "/", 1);
    if (level->is_object)
      cni_line_add(pointer, size, text + level->start, level->length > 40 ? 40 : level->length);
    else
      cni_line_add(pointer, size, index, strlen(index));
  }
  if (!pointer[0]) cni_line_add(pointer, size, "/", 1);
}

void cni_scene_syntax_pointer(const char *text, size_t position, char *pointer, size_t size) {
  Level levels[CNI_SCENE_PATH];
  int32_t depth = 0;
  for (size_t i = 0; i < position;) {
    char c = text[i];
    int32_t kept = depth < CNI_SCENE_PATH ? depth : CNI_SCENE_PATH;
    Level *top = kept > 0 && kept == depth ? &levels[kept - 1] : NULL;
    if (c == '"') {
      size_t end = skip_string(text, position, i);
      if (top && top->is_object && top->before_colon && end > i + 1) {
        top->start = i + 1;
        top->length = end - i - 2;
      }
      i = end;
      continue;
    }
    if (c == '{' || c == '[') open_level(levels, &depth, c);
    if ((c == '}' || c == ']') && depth > 0) depth--;
    if (c == ':' && top) top->before_colon = 0;
    if (c == ',' && top) {
      top->index++;
      top->before_colon = 1;
      top->length = 0;
    }
    i++;
  }
  if (depth > CNI_SCENE_PATH) depth = CNI_SCENE_PATH;
  write_levels(text, levels, depth, pointer, size);
}
