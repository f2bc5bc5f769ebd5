// SPDX-License-Identifier: Apache-2.0
// The processes of a sweep: so many at a time, each with a pipe by which its row comes back.
//
// A process and not a thread a run: a run that crashes or takes all memory is one failed row. The
// first SIGINT or SIGTERM ends the runs at work, which leave no rows; the next call makes them.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sweep/sweep.h"

#define ANSWER_MAX (1 << 20)

typedef struct Slot {
  pid_t pid; // 0: free
  int pipe;
  int64_t number;
  char *text;
  size_t size, capacity;
} Slot;

typedef struct Pool {
  const CniSweep *sweep;
  CniTable *table;
  CniCounts *counts;
  Slot *slots;
  struct pollfd *polls;
  int jobs;
} Pool;

static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int number) {
  (void)number;
  stop_asked = 1;
}

static void on_signal(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

// ---- one process ----

// Of the terminal, to all of its processes: the parent ends its children itself.
static const int of_terminal[] = {SIGINT, SIGQUIT, SIGHUP};
#define OF_TERMINAL ((int)(sizeof of_terminal / sizeof of_terminal[0]))

static void catch_signals(void) {
  struct sigaction before;
  on_signal(SIGTERM, ask_to_stop);
  on_signal(SIGINT, ask_to_stop);
  for (int i = 0; i < OF_TERMINAL; i++) // what the caller ignores (nohup) stays so
    if (sigaction(of_terminal[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      on_signal(of_terminal[i], ask_to_stop);
}

static void be_child(const Pool *pool, int64_t number, int pipe, pid_t parent) {
  for (int i = 0; i < OF_TERMINAL; i++) on_signal(of_terminal[i], SIG_IGN);
  on_signal(SIGTERM, SIG_DFL);
  if (pool->table->file >= 0) close(pool->table->file); // or it would keep the lock
  _exit(cni_sweep_case(pool->sweep, number, pipe, parent));
}

static int start(Pool *pool, Slot *slot, int64_t number) {
  int ends[2];
  pid_t parent = getpid();
  if (pipe(ends) != 0) return cni_fail(pool->sweep->args, "pipe: %s", strerror(errno));
  cni_progress_clear();
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    be_child(pool, number, ends[1], parent);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return cni_fail(pool->sweep->args, "fork: %s", strerror(errno));
  }
  slot->pid = pid;
  slot->pipe = ends[0];
  slot->number = number;
  slot->size = 0;
  return CNI_EXIT_DONE;
}

// What has come; 0 at the end of the pipe.
static int receive(Slot *slot) {
  if (slot->size + 1024 > slot->capacity) {
    size_t capacity = slot->capacity ? 2 * slot->capacity : 4096;
    char *text = capacity <= ANSWER_MAX ? realloc(slot->text, capacity) : NULL;
    if (!text) return 0;
    slot->text = text;
    slot->capacity = capacity;
  }
  ssize_t count = read(slot->pipe, slot->text + slot->size, slot->capacity - slot->size - 1);
  if (count < 0) return errno == EINTR;
  slot->size += (size_t)count;
  slot->text[slot->size] = 0;
  return count > 0;
}

// The last line of what came. Before it may stand warnings, which decide nothing: a run that ended
// well leaves its row last, one that failed the reason.
static const char *last_line(const Slot *slot) {
  size_t at = slot->size;
  if (at > 0) at--; // the line's own end
  while (at > 0 && slot->text[at - 1] != '\n') at--;
  return slot->size > 0 ? slot->text + at : "";
}

// Why a run failed: the sentence that it left, or the signal.
static const char *reason(const Slot *slot, int status, char *text, size_t size) {
  const char *said = last_line(slot);
  if (strncmp(said, "cairn: ", 7) == 0) said += 7;
  if (WIFSIGNALED(status))
    snprintf(text, size, "ended by signal %d", WTERMSIG(status));
  else if (said[0])
    snprintf(text, size, "%.*s", (int)strcspn(said, "\n"), said);
  else
    snprintf(text, size, "exit status %d", WEXITSTATUS(status));
  return text;
}

static int finish(Pool *pool, Slot *slot) {
  const CniSweep *sweep = pool->sweep;
  int status = 0, answer;
  char why[1024], values[256];
  close(slot->pipe);
  while (waitpid(slot->pid, &status, 0) < 0 && errno == EINTR) continue;
  slot->pid = 0;
  if (stop_asked && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) return CNI_EXIT_DONE;
  int good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && slot->size > 0 &&
             slot->text[slot->size - 1] == '\n';
  if (good) {
    answer = cni_table_add(pool->table, slot->number, last_line(slot));
  } else {
    reason(slot, status, why, sizeof why);
    answer = cni_table_add_failed(pool->table, slot->number, why);
    if (!cni_args_has(sweep->args, "quiet"))
      cni_tell("%s: case %lld (%s): %s", sweep->label, (long long)slot->number,
               cni_cases_text(&sweep->cases, slot->number, values, sizeof values), why);
  }
  pool->counts->made++;
  return answer;
}

// ---- all of them ----

static int running(const Pool *pool) {
  int count = 0;
  for (int i = 0; i < pool->jobs; i++) count += pool->slots[i].pid != 0;
  return count;
}

static void end_all(const Pool *pool) {
  for (int i = 0; i < pool->jobs; i++)
    if (pool->slots[i].pid) kill(pool->slots[i].pid, SIGKILL);
}

// Wait for a moment, take what has come, end who has ended.
static int attend(Pool *pool) {
  int status = CNI_EXIT_DONE;
  for (int i = 0; i < pool->jobs; i++)
    pool->polls[i] = (struct pollfd){pool->slots[i].pid ? pool->slots[i].pipe : -1, POLLIN, 0};
  if (poll(pool->polls, (nfds_t)pool->jobs, 100) <= 0) return status;
  for (int i = 0; i < pool->jobs; i++) {
    if (pool->polls[i].revents == 0 || receive(&pool->slots[i])) continue;
    int answer = finish(pool, &pool->slots[i]);
    if (status == CNI_EXIT_DONE) status = answer;
  }
  return status;
}

static int run_all(Pool *pool, const char *chosen) {
  int64_t next = 1, count = pool->sweep->cases.count;
  int status = CNI_EXIT_DONE;
  CniProgress progress;
  CniCounts *counts = pool->counts;
  int64_t before = counts->made;
  cni_progress_begin(&progress, cni_progress_style(cni_args_has(pool->sweep->args, "quiet")),
                     pool->sweep->label, before, counts->runs);
  progress.unit = "runs";
  for (;;) {
    for (int i = 0; i < pool->jobs && status == CNI_EXIT_DONE && !stop_asked; i++) {
      if (pool->slots[i].pid) continue;
      while (next <= count && (!chosen[next - 1] || pool->table->rows[next - 1])) next++;
      if (next <= count) status = start(pool, &pool->slots[i], next++);
    }
    if (!running(pool)) break;
    if (stop_asked || status != CNI_EXIT_DONE) end_all(pool);
    int answer = attend(pool);
    if (status == CNI_EXIT_DONE) status = answer;
    if (cni_progress_due(&progress)) cni_progress_show(&progress, counts->made, 0, "");
  }
  cni_progress_end(&progress, counts->made, 0, "");
  return status;
}

int cni_sweep_all(const CniSweep *sweep, CniTable *table, const char *chosen, int jobs,
                  CniCounts *counts) {
  Pool pool = {.sweep = sweep, .table = table, .counts = counts, .jobs = jobs};
  stop_asked = 0;
  *counts = (CniCounts){0};
  for (int64_t i = 0; i < sweep->cases.count; i++) {
    counts->runs += chosen[i];
    counts->made += chosen[i] && table->rows[i];
  }
  pool.slots = calloc((size_t)jobs, sizeof *pool.slots);
  pool.polls = calloc((size_t)jobs, sizeof *pool.polls);
  catch_signals();
  int status =
      pool.slots && pool.polls ? run_all(&pool, chosen) : cni_fail(sweep->args, "out of memory");
  for (int i = 0; pool.slots && i < jobs; i++) free(pool.slots[i].text);
  free(pool.slots);
  free(pool.polls);
  counts->interrupted = stop_asked && counts->made < counts->runs;
  for (int64_t i = 1; i <= sweep->cases.count; i++) {
    if (!chosen[i - 1] || !table->rows[i - 1]) continue;
    counts->failed += cni_table_failed(table, i);
    counts->distrusted += !cni_table_failed(table, i) && !cni_table_trusted(table, i);
  }
  return status;
}
