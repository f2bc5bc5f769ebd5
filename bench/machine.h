// SPDX-License-Identifier: Apache-2.0
// What the figures were taken on.
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stddef.h>
#include <stdint.h>

void machine_cpu(char *name, size_t capacity);
int32_t machine_cores(void);
const char *machine_compiler(void);

#endif
