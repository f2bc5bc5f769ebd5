// SPDX-License-Identifier: Apache-2.0
// cairn-mpi -n N run ...: N processes by mpirun, and one voice.
//
// mpirun and its like say much when a process dies, each in its own way, and where one dies before all have begun they
// may wait for ever. So every process of this machine comes to a socket of the launcher first, and tells there when
// it ends: who leaves without has died. Rank 0, which speaks for all, gets the launcher's own standard output and error
// through it, and what mpirun says goes into a pipe: it is shown only where no rank 0 came: of a job that did not
// begin as one line, of one that ended well (its rank 0 ran on another machine) as it is.
//
// The first signal to stop goes to rank 0 alone, which ends the run after the step at work, with complete files;
// the second one ends the job.
#include "mpi/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

#define VOICE "CAIRN_MPI_VOICE" // where the socket is
#define RANKS_MAX 4096
#define KEPT_BYTES 16384 // of what mpirun says
#define LOOK_MS 50
#define PATIENCE                                                                                   \
  3.5 // s that mpirun has for its end after a process is gone, and again after a signal

#ifndef CAIRN_MPIRUN
#define CAIRN_MPIRUN "mpirun"
#endif

static struct sockaddr_un address_of(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  return address;
}

// What a process tells: that it is there (its number), that it is rank 0 and wants to speak, that it ends (its status).
typedef struct Word {
  int what, value;
} Word;
enum { IS_THERE, SPEAKS, ENDS };

// ---- of a process ----

static int voice = -1;

static int tell(int what, int value) {
  Word word = {what, value};
  return write(voice, &word, sizeof word) == (ssize_t)sizeof word;
}

// Two descriptors and a byte.
typedef union Rights {
  struct cmsghdr head;
  char room[CMSG_SPACE(2 * sizeof(int))];
} Rights;

static int take_descriptors(int from, int descriptors[2]) {
  char byte;
  Rights rights;
  struct iovec bytes = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
  if (recvmsg(from, &message, 0) != 1) return 0;
  const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (!head || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(2 * sizeof(int)))
    return 0;
  memcpy(descriptors, CMSG_DATA(head), 2 * sizeof(int));
  return 1;
}

void cni_voice_come(void) {
  const char *path = getenv(VOICE);
  if (!path) return;
  struct sockaddr_un address = address_of(path);
  voice = socket(AF_UNIX, SOCK_STREAM, 0);
  if (voice < 0) return;
  fcntl(voice, F_SETFD, FD_CLOEXEC);
  signal(SIGPIPE, SIG_IGN);
  // on another machine there is none: mpirun passes on what is said
  if (connect(voice, (struct sockaddr *)&address, sizeof address) == 0 &&
      tell(IS_THERE, (int)getpid()))
    return;
  close(voice);
  voice = -1;
}

void cni_voice_speak(void) {
  int descriptors[2];
  if (voice < 0 || !tell(SPEAKS, 0) || !take_descriptors(voice, descriptors)) return;
  dup2(descriptors[0], STDOUT_FILENO);
  dup2(descriptors[1], STDERR_FILENO);
  close(descriptors[0]);
  close(descriptors[1]);
}

void cni_voice_end(int status) {
  fflush(NULL);
  if (voice < 0 || !tell(ENDS, status)) return;
  // MPI may have something to say about the end
  int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

// ---- the launcher ----

typedef struct Process {
  int end, number; // its end of the socket, -1: it has left
} Process;

typedef struct Job {
  char folder[64], path[96]; // of the socket
  int listener, said;        // said: the pipe that mpirun speaks into
  pid_t mpirun;
  int ended; // status of mpirun
  Process *processes;
  int count;           // that have come
  int speaker, status; // rank 0 among them, and its status: -1 until they are told
  int died;            // somebody has left without a word
  int stopped;         // before rank 0 could be told to stop, mpirun was
  char kept[KEPT_BYTES];
  size_t kept_count;
} Job;

static volatile sig_atomic_t signals;

static void count_signal(int number) {
  (void)number;
  signals = signals + 1;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int listen_to_rank_0(Job *job) {
  const char *root = getenv("TMPDIR");
  if (!root || strlen(root) > 32) root = "/tmp";
  snprintf(job->folder, sizeof job->folder, "%s/cairn-mpi-XXXXXX", root);
  if (!mkdtemp(job->folder)) return -1;
  snprintf(job->path, sizeof job->path, "%s/voice", job->folder);
  struct sockaddr_un address = address_of(job->path);
  job->listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (job->listener < 0 || bind(job->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(job->listener, RANKS_MAX) != 0)
    return -1;
  fcntl(job->listener, F_SETFD, FD_CLOEXEC);
  return setenv(VOICE, job->path, 1);
}

static void give_descriptors(int to) {
  char byte = 0;
  int descriptors[2] = {STDOUT_FILENO, STDERR_FILENO};
  Rights rights;
  struct iovec bytes = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
  memset(&rights, 0, sizeof rights);
  rights.head.cmsg_level = SOL_SOCKET;
  rights.head.cmsg_type = SCM_RIGHTS;
  rights.head.cmsg_len = CMSG_LEN(2 * sizeof(int));
  memcpy(CMSG_DATA(&rights.head), descriptors, sizeof descriptors);
  // who has gone in the meantime is noticed by what it does not say
  if (sendmsg(to, &message, 0) != 1) return;
}

// mpirun with its words in a pipe and nothing to read, in a group of its own: signals of a terminal are ours.
static int start(Job *job, char **words) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  job->said = ends[0];
  job->mpirun = fork();
  if (job->mpirun == 0) {
    int nothing = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    // OpenMPI would read from the memory of others: of one that has died it says so in a line of its own
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    execvp(words[0], words);
    fprintf(stderr, "cairn-mpi: %s: %s\n", words[0], strerror(errno));
    _exit(127);
  }
  close(ends[1]);
  if (job->mpirun < 0) return -1;
  setpgid(job->mpirun, job->mpirun); // whoever of both comes first: signals go to the group
  return 0;
}

// What mpirun says is read to the end, so that it never waits, and its beginning is kept.
static int hear(Job *job) {
  char text[4096];
  ssize_t count = read(job->said, text, sizeof text);
  if (count <= 0) return 0;
  size_t room = KEPT_BYTES - job->kept_count, n = (size_t)count < room ? (size_t)count : room;
  memcpy(job->kept + job->kept_count, text, n);
  job->kept_count += n;
  return 1;
}

static void welcome(Job *job) {
  int end = accept(job->listener, NULL, NULL);
  if (end >= 0 && job->count < RANKS_MAX)
    job->processes[job->count++] = (Process){end, -1};
  else if (end >= 0)
    close(end);
}

static void hear_process(Job *job, int i) {
  Process *p = &job->processes[i];
  Word word = {-1, 0};
  ssize_t count = read(p->end, &word, sizeof word);
  if (count == (ssize_t)sizeof word && word.what == IS_THERE) p->number = word.value;
  if (count == (ssize_t)sizeof word && word.what == SPEAKS) {
    job->speaker = i;
    give_descriptors(p->end);
  }
  if (count == (ssize_t)sizeof word && word.what != ENDS) return;
  if (count == (ssize_t)sizeof word && job->speaker == i) job->status = word.value;
  if (count != (ssize_t)sizeof word) job->died = 1;
  close(p->end);
  p->end = -1;
}

static void pass_signal(Job *job, int *passed) {
  int count = signals;
  const Process *p = job->speaker >= 0 ? &job->processes[job->speaker] : NULL;
  if (count == *passed) return;
  if (*passed == 0 && p && p->end >= 0 && p->number > 0) {
    kill((pid_t)p->number, SIGTERM);
  } else {
    kill(-job->mpirun, SIGTERM);
    job->stopped = 1;
  }
  *passed = count;
}

// mpirun has not ended by itself: it is asked to, and then it and all processes are ended.
static void end_job(const Job *job, int by_force) {
  kill(-job->mpirun, by_force ? SIGKILL : SIGTERM);
  for (int i = 0; by_force && i < job->count; i++)
    if (job->processes[i].end >= 0 && job->processes[i].number > 0)
      kill((pid_t)job->processes[i].number, SIGKILL);
}

// What has been said by now, with a wait for it.
static void listen_once(Job *job, struct pollfd *ends, int *heard) {
  ends[0] = (struct pollfd){*heard ? job->said : -1, POLLIN, 0};
  ends[1] = (struct pollfd){job->listener, POLLIN, 0};
  int count = job->count;
  for (int i = 0; i < count; i++) ends[2 + i] = (struct pollfd){job->processes[i].end, POLLIN, 0};
  if (poll(ends, (nfds_t)(2 + count), LOOK_MS) <= 0) return;
  if (ends[0].revents) *heard = hear(job);
  for (int i = 0; i < count; i++)
    if (ends[2 + i].revents) hear_process(job, i);
  if (ends[1].revents) welcome(job);
}

// Until mpirun has ended. Once somebody has died, rank 0 has ended or it was told to stop it has some seconds for it.
static void attend(Job *job, struct pollfd *ends) {
  int passed = 0, asked = 0, heard = 1;
  double gone = 0;
  while (waitpid(job->mpirun, &job->ended, WNOHANG) == 0) {
    pass_signal(job, &passed);
    listen_once(job, ends, &heard);
    if (!job->died && !job->stopped && job->status < 0) continue;
    if (gone == 0) gone = seconds();
    if (seconds() - gone > (asked + 1) * PATIENCE) end_job(job, asked++);
  }
  fcntl(job->said, F_SETFL, O_NONBLOCK);
  while (heard && hear(job)) continue;
  for (int i = 0; i < job->count; i++)
    while (job->processes[i].end >= 0) hear_process(job, i);
}

// All that mpirun has said, as one line: rules of dashes and ends of lines are blanks.
static void tell_words(Job *job) {
  fputs("cairn-mpi: the run did not begin:", stderr);
  for (size_t i = 0, gap = 1; i < job->kept_count; i++) {
    char c = job->kept[i];
    int blank = (unsigned char)c <= ' ' || (c == '-' && i > 0 && job->kept[i - 1] == '-') ||
                (c == '-' && i + 1 < job->kept_count && job->kept[i + 1] == '-');
    if (!blank && gap) fputc(' ', stderr);
    if (!blank) fputc(c, stderr);
    gap = (size_t)blank;
  }
  fputc('\n', stderr);
}

static int finish(Job *job) {
  if (job->listener >= 0) close(job->listener);
  if (job->path[0]) unlink(job->path);
  if (job->folder[0]) rmdir(job->folder);
  if (job->status == CNI_EXIT_FAILED || (job->status >= 0 && !job->died)) return job->status;
  if (job->died)
    fputs("cairn-mpi: a process of the run has died; the last checkpoint, if there is one, is "
          "whole\n",
          stderr);
  else if (WIFEXITED(job->ended) && WEXITSTATUS(job->ended) == 0)
    return fwrite(job->kept, 1, job->kept_count, stdout) == job->kept_count ? CNI_EXIT_DONE
                                                                            : CNI_EXIT_FAILED;
  else
    tell_words(job);
  return CNI_EXIT_FAILED;
}

int cni_launch(int argc, char **argv) {
  static Process processes[RANKS_MAX];
  static struct pollfd ends[RANKS_MAX + 2];
  static Job job;
  char *end = NULL, self[4096];
  long count = argc > 2 ? strtol(argv[2], &end, 10) : 0;
  if (argc < 4 || *end || count < 1 || count > RANKS_MAX) {
    fprintf(stderr,
            "cairn-mpi: -n takes 1 to %d processes, and then the command: `cairn-mpi -n 4 run "
            "SCENE`\n",
            RANKS_MAX);
    return CNI_EXIT_USAGE;
  }
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = 0;
  const char *mpirun = getenv("CAIRN_MPIRUN");
  char **words = calloc((size_t)argc + 2, sizeof *words);
  if (!words) return CNI_EXIT_FAILED;
  words[0] = (char *)(uintptr_t)(mpirun ? mpirun : CAIRN_MPIRUN);
  words[1] = argv[1];
  words[2] = argv[2];
  words[3] = length > 0 ? self : argv[0];
  for (int i = 3; i < argc; i++) words[i + 1] = argv[i];
  job.processes = processes;
  job.listener = job.said = job.speaker = job.status = -1;
  struct sigaction action = {.sa_handler = count_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  if (listen_to_rank_0(&job) == 0 && start(&job, words) == 0)
    attend(&job, ends);
  else
    fprintf(stderr, "cairn-mpi: %s\n", strerror(errno));
  free(words);
  return finish(&job);
}
