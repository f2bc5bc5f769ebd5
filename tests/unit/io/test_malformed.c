// SPDX-License-Identifier: Apache-2.0
// Malformed scenes: each gives exactly one line with file, JSON pointer, problem and value, and
// leaves nothing behind. The cases are tests/scenes/malformed.txt, shared with the test of the
// schema.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>

#include "alloc.h"
#include "model/model.h"
#include "source_dir.h"

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("%s cannot be opened", path);
  CHECK(fseek(file, 0, SEEK_END) == 0);
  long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  CHECK(text && fread(text, 1, (size_t)size, file) == (size_t)size);
  text[size] = 0;
  fclose(file);
  return text;
}

// `line` equals `expected`, in which one … stands for anything.
static int matches(const char *line, const char *expected) {
  const char *any = strstr(expected, "\u2026");
  if (!any) return strcmp(line, expected) == 0;
  size_t head = (size_t)(any - expected), tail = strlen(any + 3), length = strlen(line);
  return length >= head + tail && strncmp(line, expected, head) == 0 &&
         strcmp(line + length - tail, any + 3) == 0;
}

static void refuse(const char *title, const char *text, size_t size, const char *expected) {
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CnScene *scene = (CnScene *)&alloc;
  CnStatus status = cn_scene_parse(text, size, "s.json", NULL, 0, &hook, &scene);
  const char *line = cn_error_message();
  if (status == CN_OK) fail_msg("%s: accepted", title);
  CHECK(status == CN_INVALID_DATA && scene == NULL);
  int framed = strncmp(line, "s.json: /", 9) == 0 && strstr(line, " (got ") &&
               line[strlen(line) - 1] == ')' && !strchr(line, '\n');
  if (!framed || !matches(line + 8, expected)) fail_msg("%s: %s", title, line);
  test_alloc_check_clean(&alloc);
}

// The part of *text before a mark, which begins a line; *text goes behind the mark's line start.
static char *cut(char **text, const char *mark) {
  char *part = *text, *end = strstr(part, mark);
  if (!end) return NULL;
  *end = 0;
  *text = end + strlen(mark);
  return part;
}

static void table(void **state) {
  (void)state;
  char *all = read_file(CAIRN_SOURCE_DIR "/tests/scenes/malformed.txt"), *rest = all;
  int32_t count = 0;
  CHECK(cut(&rest, "\n=== ") != NULL);
  while (rest) {
    char *next = strstr(rest, "\n\n=== ");
    if (next) *next = 0;
    char *title = cut(&rest, "\n"), *text = rest;
    // an empty text leaves nothing before the mark but the line break already cut
    text = rest[0] == '-' ? "" : cut(&rest, "\n--- ");
    char *verdict = cut(&rest, "\n");
    CHECK(title && text && verdict);
    size_t length = strlen(rest);
    if (length > 0 && rest[length - 1] == '\n') rest[length - 1] = 0;
    refuse(title, text, strlen(text), rest);
    count++;
    rest = next ? next + 6 : NULL;
  }
  CHECK(count >= 60);
  free(all);
}

// ---- what does not fit on a line of a table ----

static void deep(void **state) {
  (void)state;
  enum { DEPTH = 100000 };
  char *text = malloc(DEPTH + 64);
  CHECK(text != NULL);
  int head = snprintf(text, 64, "{\"bodies\": ");
  memset(text + head, '[', DEPTH);
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CnScene *scene;
  CHECK_STATUS(cn_scene_parse(text, (size_t)head + DEPTH, "s.json", NULL, 0, &hook, &scene),
               CN_INVALID_DATA);
  CHECK(strncmp(cn_error_message(), "s.json: /bodies/0/0/0", 20) == 0);
  CHECK(strstr(cn_error_message(), "maximum parsing depth reached (got '[')") != NULL);
  test_alloc_check_clean(&alloc);
  free(text);
}

// One more generator inside another than is allowed.
static void nested(void **state) {
  (void)state;
  static char text[4096];
  for (int32_t depth = 16; depth <= 17; depth++) {
    size_t used = (size_t)snprintf(text, sizeof text, "{\"bodies\": [");
    for (int32_t i = 0; i < depth; i++)
      used += (size_t)snprintf(text + used, sizeof text - used, "{\"repeat\": 1, \"items\": [");
    used += (size_t)snprintf(text + used, sizeof text - used, "{\"kind\": \"fixed\"}");
    for (int32_t i = 0; i < depth; i++)
      used += (size_t)snprintf(text + used, sizeof text - used, "]}");
    used += (size_t)snprintf(text + used, sizeof text - used, "]}");
    CnScene *scene;
    CnStatus status = cn_scene_parse(text, used, "s.json", NULL, 0, NULL, &scene);
    CHECK(status == (depth == 16 ? CN_OK : CN_INVALID_DATA));
    if (status != CN_OK)
      CHECK(
          strstr(cn_error_message(), "generators are nested deeper than 16 (got {repeat, items})"));
    cn_scene_destroy(scene);
  }
}

// Control characters, bytes that are no UTF-8, zeros: still one line.
static void bytes(void **state) {
  (void)state;
  static const char control[] = "{\"title\": \"a\x01\"}", zero[] = "{\"title\": \"a\0b\"}",
                    latin[] = "{\"title\": \"\xe4\"}", escaped[] = "{\"title\": \"a\\u0000b\"}",
                    broken[] = "{\"bodies\": [{\"na\\nme\": \"x\"}]}";
  refuse("control", control, sizeof control - 1,
         "/title: line 1, column 12: control character 0x1 (got '\"a')");
  refuse("zero", zero, sizeof zero - 1,
         "/title: line 1, column 12: control character 0x0 (got '\"a')");
  refuse("latin", latin, sizeof latin - 1,
         "/title: line 1, column 11: unable to decode byte 0xe4 (got '\"')");
  refuse("escaped zero", escaped, sizeof escaped - 1,
         "/title: line 1, column 20: \\u0000 is not allowed (got "
         "'\"a\\u0000b\"')");
  refuse("line break in a key", broken, sizeof broken - 1,
         "/bodies/0/na?me: unknown key, did you mean \"name\"? (got \"x\")");
}

// Long names of files, keys and values are cut; the line keeps its end.
static void lengths(void **state) {
  (void)state;
  static char label[2000], text[6000];
  memset(label, 'f', sizeof label - 1);
  size_t used = (size_t)snprintf(text, sizeof text, "{\"settings\": {\"");
  for (int32_t i = 0; i < 1000; i++, used += 2) memcpy(text + used, "\u00e4", 2);
  used += (size_t)snprintf(text + used, sizeof text - used, "\": \"");
  for (int32_t i = 0; i < 1000; i++, used += 2) memcpy(text + used, "\u00f6", 2);
  used += (size_t)snprintf(text + used, sizeof text - used, "\"}}");
  CnScene *scene;
  CHECK_STATUS(cn_scene_parse(text, used, label, NULL, 0, NULL, &scene), CN_INVALID_DATA);
  const char *line = cn_error_message();
  CHECK(strstr(line, "fff...: /settings/\u00e4\u00e4") &&
        strstr(line, ": unknown key (got \"\u00f6"));
  CHECK(strcmp(line + strlen(line) - 5, "...\")") == 0);
}

// What comes from outside: settings and file names.
static void outside(void **state) {
  (void)state;
  static const char text[] =
      "{\"parameters\": {\"spheres\": {\"default\": 3, \"max\": 9}, \"k\": 1}}";
  static const struct {
    CnSetting setting;
    const char *line;
  } cases[] = {
      {{"sphere", 4},
       "s: /parameters/sphere: the scene has no such parameter, did you mean \"spheres\"? (got 4)"},
      {{"spheres", 10}, "s: /parameters/spheres: must be at most 9 (got 10)"},
      {{"k", NAN}, "s: /parameters/k: must be finite (got nan)"},
      {{"k", INFINITY}, "s: /parameters/k: must be finite (got inf)"},
  };
  CnScene *scene;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_STATUS(cn_scene_parse(text, sizeof text - 1, "s", &cases[i].setting, 1, NULL, &scene),
                 CN_INVALID_DATA);
    if (strcmp(cn_error_message(), cases[i].line) != 0) fail_msg("%s", cn_error_message());
  }
  CHECK_STATUS(cn_scene_parse("{}", 2, "s", &cases[0].setting, 1, NULL, &scene), CN_INVALID_DATA);
  CHECK_STATUS(cn_scene_open("granullar", NULL, 0, NULL, &scene), CN_INVALID_DATA);
  CHECK(strcmp(cn_error_message(), "granullar: neither a built-in scene nor a file, did you mean "
                                   "\"granular\"?") == 0);
  CHECK_STATUS(cn_scene_open("/no/such/file.json", NULL, 0, NULL, &scene), CN_INVALID_DATA);
  CHECK(strcmp(cn_error_message(), "/no/such/file.json: No such file or directory") == 0);
  CHECK_STATUS(cn_scene_open(CAIRN_SOURCE_DIR, NULL, 0, NULL, &scene), CN_INVALID_DATA);
  CHECK_STATUS(cn_scene_open(NULL, NULL, 0, NULL, &scene), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_scene_parse("{}", 2, "s", NULL, 1, NULL, &scene), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_scene_parse("{}", 2, "s", &(CnSetting){NULL, 1}, 1, NULL, &scene),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_scene_parse("{}", 2, "s", NULL, 0, NULL, NULL), CN_INVALID_ARGUMENT);
}

// A thousand parameters, each defined by the next: no recursion, no quadratic time.
static void long_circle(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  char *text = malloc(64 * COUNT);
  CHECK(text != NULL);
  for (int32_t closed = 0; closed < 2; closed++) {
    size_t used = (size_t)snprintf(text, 64, "{\"parameters\": {");
    for (int32_t i = 0; i < COUNT - 1; i++)
      used += (size_t)snprintf(text + used, 64, "\"p%d\": \"=p%d+1\", ", (int)i, (int)i + 1);
    used += (size_t)snprintf(text + used, 64, "\"p%d\": \"=%s\"}}", COUNT - 1, closed ? "p0" : "0");
    CnScene *scene;
    CnStatus status = cn_scene_parse(text, used, "s", NULL, 0, NULL, &scene);
    CHECK(status == (closed ? CN_INVALID_DATA : CN_OK));
    if (closed) {
      CHECK(strstr(cn_error_message(), "s: /parameters/p999: parameters need each other in a "
                                       "circle: p0 -> p1 -> ") != NULL);
    } else {
      CnSceneParameter first;
      CHECK_OK(cn_scene_parameter(scene, 0, &first));
      CHECK(first.value == COUNT - 1);
    }
    cn_scene_destroy(scene);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(table),      cmocka_unit_test(deep),
                                     cmocka_unit_test(nested),     cmocka_unit_test(bytes),
                                     cmocka_unit_test(lengths),    cmocka_unit_test(outside),
                                     cmocka_unit_test(long_circle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
