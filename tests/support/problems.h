// SPDX-License-Identifier: Apache-2.0
// Problem files in tests: where the collection is, and problems compared.
#ifndef TESTS_PROBLEMS_H
#define TESTS_PROBLEMS_H

#include <cairn/files.h>

#include "problem/problem.h"

// The folder with problem files: the whole collection where CAIRN_PROBLEM_DIR, else ../shared/data
// beside the source tree, has it; else the two dozen of tests/data.
const char *problem_folder(void);
int problem_folder_has(const char *name);
int problem_folder_is_whole(void);

// Fails the test unless two problems are the same, number by number (sets are compared block by
// block).
void check_same_problem(const CnProblem *a, const CnProblem *b);

// Read from a string, which must succeed.
CnProblem *read_text(const char *text, CnProblemFileInfo *info);
// Read from a string, which must be refused with CN_INVALID_DATA and just this message ("file" is
// the name).
void check_text_refused(const char *text, const char *message);

#endif
