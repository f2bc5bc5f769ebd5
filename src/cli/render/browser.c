// SPDX-License-Identifier: Apache-2.0
// Chromium without a window, told what to do over two pipes (--remote-debugging-pipe): messages of
// JSON with a zero behind each, ours on its file 3, its on file 4. Nothing listens on the network. Of
// the answers only a few words are needed, and the values asked for are texts without escapes.
#include <cairn/base.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/render/render.h"

#define PATIENCE 120.0 // s, for an answer; software rendering of large scenes is slow

struct CniBrowser {
  pid_t pid;
  int in, out; // its file 3 and 4, from our side
  int64_t last_id;
  char *buffer; // what has come, a message after the other
  size_t used, room, taken;
  char session[80];
};

__attribute__((format(printf, 1, 2))) static CnStatus fail(const char *format, ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return cn_error_set(CN_FILE, text);
}

int cni_find_program(const char *name, char *path, size_t size) {
  const char *folders = getenv("PATH");
  while (folders && *folders) {
    size_t length = strcspn(folders, ":");
    snprintf(path, size, "%.*s/%s", (int)length, folders, name);
    if (length > 0 && access(path, X_OK) == 0) return 1;
    folders += length + (folders[length] == ':');
  }
  return 0;
}

// ---- messages ----

static CnStatus send_text(CniBrowser *b, const char *text) {
  size_t left = strlen(text) + 1; // with its zero
  while (left > 0) {
    ssize_t n = write(b->in, text, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail("the browser has ended");
    text += n;
    left -= (size_t)n;
  }
  return CN_OK;
}

// The next message, without its zero; valid until the next call.
static CnStatus receive(CniBrowser *b, double deadline, char **message) {
  memmove(b->buffer, b->buffer + b->taken, b->used - b->taken);
  b->used -= b->taken;
  b->taken = 0;
  size_t seen = 0;
  for (;;) {
    char *end = memchr(b->buffer + seen, 0, b->used - seen);
    if (end) {
      *message = b->buffer;
      b->taken = (size_t)(end - b->buffer) + 1;
      return CN_OK;
    }
    seen = b->used;
    if (b->room - b->used < 65536) {
      char *fresh = realloc(b->buffer, 2 * b->room + 65536);
      if (!fresh) return cn_error_set(CN_NO_MEMORY, "out of memory");
      b->buffer = fresh;
      b->room = 2 * b->room + 65536;
    }
    double left = deadline - cni_clock();
    struct pollfd wait = {b->out, POLLIN, 0};
    int ready = left > 0 ? poll(&wait, 1, (int)(1000 * left) + 1) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail("the browser does not answer");
    ssize_t n = read(b->out, b->buffer + b->used, b->room - b->used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail("the browser has ended");
    b->used += (size_t)n;
  }
}

// A member that is a text without escapes: where it begins, and its length; null: there is none.
static char *text_of(char *message, const char *key, size_t *size) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":\"", key);
  char *at = strstr(message, quoted);
  if (!at) return NULL;
  at += strlen(quoted);
  *size = strcspn(at, "\"");
  return at;
}

// Send a command and wait for its answer; events in between are passed over.
static CnStatus call(CniBrowser *b, const char *method, const char *parameters, char **answer) {
  char mine[32], session[120] = "";
  int64_t id = ++b->last_id;
  size_t size = strlen(parameters) + 400;
  char *text = malloc(size);
  if (!text) return cn_error_set(CN_NO_MEMORY, "out of memory");
  if (b->session[0]) snprintf(session, sizeof session, ",\"sessionId\":\"%s\"", b->session);
  snprintf(text, size, "{\"id\":%lld,\"method\":\"%s\"%s,\"params\":%s}", (long long)id, method,
           session, parameters);
  CnStatus status = send_text(b, text);
  free(text);
  double deadline = cni_clock() + PATIENCE;
  snprintf(mine, sizeof mine, "{\"id\":%lld,", (long long)id);
  while (status == CN_OK) {
    status = receive(b, deadline, answer);
    if (status != CN_OK || strncmp(*answer, mine, strlen(mine)) != 0) continue;
    size_t length;
    if (!strstr(*answer, "\"error\":{") || strstr(*answer, "\"result\":{")) return CN_OK;
    char *why = text_of(*answer, "message", &length);
    return fail("the browser: %s: %.*s", method, why ? (int)(length < 200 ? length : 200) : 0,
                why ? why : "");
  }
  return status;
}

CnStatus cni_browser_ask(CniBrowser *b, const char *expression, const char **text, size_t *size) {
  size_t length = strlen(expression), at = 0;
  char *quoted = malloc(2 * length + 120), *answer = NULL;
  if (!quoted) return cn_error_set(CN_NO_MEMORY, "out of memory");
  at += (size_t)sprintf(quoted, "{\"awaitPromise\":true,\"returnByValue\":true,\"expression\":\"");
  for (size_t i = 0; i < length; i++) {
    if (expression[i] == '"' || expression[i] == '\\') quoted[at++] = '\\';
    quoted[at++] = expression[i] == '\n' ? ' ' : expression[i];
  }
  memcpy(quoted + at, "\"}", 3);
  CnStatus status = call(b, "Runtime.evaluate", quoted, &answer);
  free(quoted);
  if (status != CN_OK) return status;
  size_t n;
  if (strstr(answer, "\"exceptionDetails\":")) {
    char *why = text_of(answer, "description", &n);
    if (why) n = strcspn(why, "\\\"") < n ? strcspn(why, "\\\"") : n; // its first line
    return fail("the page: %.*s", why ? (int)(n < 300 ? n : 300) : 5, why ? why : "error");
  }
  char *value = text_of(answer, "value", size);
  if (!value) return fail("the page gave no text");
  *text = value;
  return CN_OK;
}

// ---- starting and ending ----

static void become_browser(const char *program, const char *folder, const int to[2],
                           const int from[2]) {
  char profile[1200];
  snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", folder);
  const char *words[] = {program,
                         "--headless",
                         "--remote-debugging-pipe",
                         "--no-first-run",
                         "--no-default-browser-check",
                         "--disable-background-networking",
                         "--disable-component-update",
                         "--disable-sync",
                         "--disable-extensions",
                         "--disable-quic",
                         "--hide-scrollbars",
                         "--mute-audio",
                         "--force-device-scale-factor=1",
                         "--use-angle=swiftshader",
                         "--enable-unsafe-swiftshader",
                         "--allow-file-access-from-files",
                         profile,
                         "about:blank",
                         geteuid() == 0 ? "--no-sandbox" : NULL, // it refuses root with one
                         NULL};
  // our ends may lie where its files 3 and 4 are to be
  int in = fcntl(to[0], F_DUPFD, 10), out = fcntl(from[1], F_DUPFD, 10);
  int nothing = open("/dev/null", O_RDWR);
  if (in < 0 || out < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 ||
      dup2(nothing, 2) < 0 || dup2(in, 3) < 0 || dup2(out, 4) < 0)
    _exit(127);
  for (int fd = 5; fd < 64; fd++) close(fd);
  setpgid(0, 0); // a Ctrl-C is for us
  execv(program, (char *const *)(uintptr_t)words);
  _exit(127);
}

static CnStatus start(CniBrowser *b, const char *folder) {
  static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "chrome"};
  char program[1024];
  size_t i = 0, count = sizeof names / sizeof names[0];
  int to[2], from[2];
  while (i < count && !cni_find_program(names[i], program, sizeof program)) i++;
  if (i == count)
    return fail("Chromium is not installed (Debian: apt install chromium); `cairn report` makes a "
                "page for any "
                "browser");
  if (pipe(to) != 0) return fail("cannot start %s: %s", program, strerror(errno));
  if (pipe(from) != 0) {
    close(to[0]);
    close(to[1]);
    return fail("cannot start %s: %s", program, strerror(errno));
  }
  b->pid = fork();
  if (b->pid == 0) become_browser(program, folder, to, from);
  close(to[0]);
  close(from[1]);
  b->in = to[1];
  b->out = from[0];
  fcntl(b->in, F_SETFD, FD_CLOEXEC);
  fcntl(b->out, F_SETFD, FD_CLOEXEC);
  return b->pid > 0 ? CN_OK : fail("cannot start %s: %s", program, strerror(errno));
}

static CnStatus open_page(CniBrowser *b, const char *page) {
  char parameters[4200], *answer;
  size_t size;
  CNI_TRY(call(b, "Target.createTarget", "{\"url\":\"about:blank\"}", &answer));
  char *target = text_of(answer, "targetId", &size);
  if (!target) return fail("the browser opened no page");
  snprintf(parameters, sizeof parameters, "{\"flatten\":true,\"targetId\":\"%.*s\"}",
           (int)(size < 100 ? size : 100), target);
  CNI_TRY(call(b, "Target.attachToTarget", parameters, &answer));
  char *session = text_of(answer, "sessionId", &size);
  if (!session || size >= sizeof b->session) return fail("the browser opened no page");
  memcpy(b->session, session, size);
  // the answer comes when the document is the one that scripts run in
  snprintf(parameters, sizeof parameters, "{\"url\":\"file://%s\"}", page);
  return call(b, "Page.navigate", parameters, &answer);
}

CnStatus cni_browser_open(const char *folder, const char *page, CniBrowser **browser) {
  CniBrowser *b = calloc(1, sizeof *b);
  *browser = NULL;
  if (!b) return cn_error_set(CN_NO_MEMORY, "out of memory");
  b->in = b->out = -1;
  signal(SIGPIPE, SIG_IGN);
  b->room = 65536;
  b->buffer = malloc(b->room);
  CnStatus status = b->buffer ? start(b, folder) : cn_error_set(CN_NO_MEMORY, "out of memory");
  if (status == CN_OK) status = open_page(b, page);
  if (status == CN_OK)
    *browser = b;
  else
    cni_browser_close(b);
  return status;
}

void cni_browser_close(CniBrowser *b) {
  if (!b) return;
  char *answer, kept[512];
  snprintf(kept, sizeof kept, "%s", cn_error_message());
  b->session[0] = 0;
  if (b->pid > 0) {
    if (b->in >= 0) send_text(b, "{\"id\":1000000000,\"method\":\"Browser.close\"}");
    double deadline = cni_clock() + 5;
    while (b->out >= 0 && receive(b, deadline, &answer) == CN_OK) continue;
    kill(-b->pid, SIGKILL); // it and what it started, if it is still there
    kill(b->pid, SIGKILL);
    while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR) continue;
  }
  if (b->in >= 0) close(b->in);
  if (b->out >= 0) close(b->out);
  free(b->buffer);
  free(b);
  if (kept[0]) cn_error_set(CN_FILE, kept);
}

// ---- base64 ----

static int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

unsigned char *cni_data_url(const char *text, size_t size, size_t *bytes) {
  const char *comma = memchr(text, ',', size);
  if (!comma || strncmp(text, "data:", 5) != 0) return NULL;
  unsigned char *data = malloc(size);
  uint32_t hold = 0;
  int held = 0;
  *bytes = 0;
  for (const char *c = comma + 1; data && c < text + size && digit_of(*c) >= 0; c++) {
    hold = hold << 6 | (uint32_t)digit_of(*c);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    data[(*bytes)++] = (unsigned char)(hold >> held);
  }
  return data;
}
