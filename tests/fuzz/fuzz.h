// SPDX-License-Identifier: Apache-2.0
// Entry point of a fuzz target, called by libFuzzer or by replay.c.
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
