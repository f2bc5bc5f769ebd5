// SPDX-License-Identifier: Apache-2.0
// cairn-mpi: `cairn run` by all processes of an MPI job, which it starts itself with -n (launch.c). Rank 0 speaks
// and writes the files, the others are silent; what they fail of it tells in one line.
#include <cairn-mpi.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "mpi/launch.h"

#define LINE_SECONDS 5 // that rank 0 has for its line before the job is ended

static void be_silent(void) {
  // what cannot be opened is closed: silent, too
  if (!freopen("/dev/null", "w", stdout)) fclose(stdout);
  if (!freopen("/dev/null", "w", stderr)) fclose(stderr);
}

// Nobody waits for who has failed.
static void end_job(CnRanks *ranks, int rank, int status) {
  cn_ranks_fail(ranks, cn_error_message());
  fflush(NULL);
  cni_voice_end(status);
  if (rank != 0) sleep(LINE_SECONDS);
  MPI_Abort(MPI_COMM_WORLD, status);
}

int main(int argc, char **argv) {
  int level, rank;
  if (argc > 1 && !strcmp(argv[1], "-n")) return cni_launch(argc, argv);
  cni_voice_come();
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
    fputs("cairn-mpi: MPI does not start\n", stderr);
    return CNI_EXIT_FAILED;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0)
    be_silent();
  else
    cni_voice_speak();
  int known = argc < 2 || argv[1][0] == '-' || !strcmp(argv[1], "run") || !strcmp(argv[1], "help");
  int status = CNI_EXIT_USAGE;
  CnRanks *ranks = NULL;
  if (!known)
    fprintf(stderr, "cairn-mpi: %s runs in one process: `cairn %s`\n", argv[1], argv[1]);
  else if (cn_ranks_create_mpi(MPI_COMM_WORLD, NULL, &ranks) != CN_OK)
    fprintf(stderr, "cairn-mpi: %s\n", cn_error_message());
  else
    status = cni_program(argc, argv, ranks);
  if (ranks && status == CNI_EXIT_FAILED) end_job(ranks, rank, status);
  cn_ranks_destroy(ranks);
  cni_voice_end(status);
  MPI_Finalize();
  return status;
}
