// SPDX-License-Identifier: Apache-2.0
// A stored problem solved by one call: reads any problem file (FCLib, the text files of Siconos,
// Cairn's JSON) and prints the impulses and what they are worth. Without a file it takes a linear
// complementarity problem from memory: w = M z + q, 0 <= w _|_ z >= 0.
#include <cairn/cairn.h>
#include <cairn/files.h>

#include <stdio.h>
#include <string.h>

// n, then M: dense, 2 x 2, column by column, then q
static const char small[] = "2\n"
                            "0\n2 2\n2 2\n2 1 1 2\n"
                            "-5 -6\n";

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

int main(int argc, char **argv) {
  CnProblem *problem;
  CnProblemFileInfo info;
  CnStatus status =
      argc > 1 ? cn_problem_read(argv[1], NULL, &problem, &info)
               : cn_problem_read_memory(small, strlen(small), "small", NULL, &problem, &info);
  if (failed(status)) return 1;
  printf("%s: %d contacts, %d unknowns\n", info.kind, info.contacts, info.unknowns);

  CnAllocator allocator = cn_allocator_default();
  CnAnswer answer = cn_answer_empty(&allocator);
  CnSolveReport report;
  if (failed(cn_answer_fit(&answer, problem))) return 1;
  if (failed(cn_solve(problem, "auto", 1e-6, &answer, &report))) return 1;

  for (int32_t i = 0; i < answer.row_count; i++) printf("  %.9g\n", answer.g[i]);
  printf("%s by %s: error %.1e after %d iterations\n", report.converged ? "solved" : "not solved",
         report.method, report.certificate.error_siconos, report.iterations);
  cn_answer_release(&answer);
  cn_problem_destroy(problem);
  return !report.converged;
}
