// Times of the broad phases and of the whole detection of contacts, as CSV.
#ifndef BENCH_BROAD_H
#define BENCH_BROAD_H

#include <stdio.h>

void bench_broad(FILE *out);

#endif
