// SPDX-License-Identifier: Apache-2.0
// Worlds in which many things touch, for tests of bits: built through the public interface alone.
#ifndef TESTS_PILES_H
#define TESTS_PILES_H

#include <cairn/cairn.h>

// A world, filled; NULL on failure (cn_error_message tells).
typedef struct Pile {
  const char *name;
  CnWorld *(*build)(int32_t worker_count);
  int steps; // that tests make
} Pile;

// Heaps of spheres and boxes for several ranks: with chains, with a ball of mass that touches everything near it,
// thrown apart, in a drum of mass that turns, with a chain that swings through them, and so many that four ranks have columns of their own.
extern const Pile heaps[];
extern const int heap_count;

extern const Pile piles[];
extern const int pile_count;

#endif
