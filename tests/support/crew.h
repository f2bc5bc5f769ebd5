// SPDX-License-Identifier: Apache-2.0
// Ranks as threads: the same function on each, which may not use the checks of check.h (they leave by longjmp).
#ifndef TESTS_CREW_H
#define TESTS_CREW_H

#include <cairn/ranks.h>

// Runs task on `count` ranks at once and waits for all; fails the test where a CREW_CHECK did not hold.
void crew_run(int32_t count, void (*task)(CnRanks *ranks, void *context), void *context);

// A condition that must hold, in any of the threads: the first that does not is told at the end.
#define CREW_CHECK(condition) crew_check((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
void crew_check(int condition, const char *text, const char *file, int line);

#endif
