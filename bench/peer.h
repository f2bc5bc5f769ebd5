// SPDX-License-Identifier: Apache-2.0
// Running another engine on the same bodies, as its own program.
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench.h"
#include "bodies.h"

typedef enum PeerOutcome { PEER_DONE, PEER_NOT_INSTALLED, PEER_FAILED } PeerOutcome;

// Run DIRECTORY/peers/NAME with what `write` writes as its stdin, for at most `limit` seconds (0:
// no limit). What it printed is in *answer, to be closed by the caller.
PeerOutcome peer_exchange(const char *directory, const char *name, unsigned limit,
                          int (*write)(const void *list, FILE *file), const void *list,
                          FILE **answer);

// Hand the bodies to DIRECTORY/peers/NAME on its stdin and keep the line it prints.
PeerOutcome peer_run(const char *directory, const char *name, const Bodies *bodies, char *line,
                     size_t capacity);

// The same as a row of the report: the peer's figures, or its name and `status` "not installed" or
// "failed". `ms_per_step` is not a number then. 0: no memory.
int peer_row(Report *report, const char *directory, const char *name, const Bodies *bodies,
             double *ms_per_step);

#endif
