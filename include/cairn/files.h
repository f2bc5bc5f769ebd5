// SPDX-License-Identifier: Apache-2.0
/// Problem files: friction and complementarity problems read and written. Part of libcairn-io.
///
/// Read: FCLib (HDF5; local, global, rolling), the text files of Siconos (LCP, MLCP, friction in
/// the plane and in space, local, global, rolling; dense, block and sparse matrices) and Cairn's
/// own JSON (docs/problem-file.md). What a file is follows from its content, not from its name.
#ifndef CAIRN_FILES_H
#define CAIRN_FILES_H

#include <cairn/base.h>
#include <cairn/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a problem file holds. All strings are static.
typedef struct CnProblemFileInfo {
  const char *kind;    ///< "lcp", "mlcp", "fc2d", "fc3d", "gfc2d", "gfc3d", "rfc3d", "grfc3d",
                       ///< "cairn"
  const char *format;  ///< "text", "fclib" or "json"
  const char *storage; ///< of the first matrix: "dense", "blocks", "sparse", "triplet", "columns",
                       ///< "rows"; "" where there is none
  int32_t contacts;    ///< friction blocks; complementarity pairs of an LCP or MLCP
  int32_t equalities;  ///< bilateral rows
  int32_t unknowns;    ///< impulses: length of g
  int32_t velocities;  ///< length of v: degrees of freedom of a global problem, else 0
  int32_t entries;     ///< stored in the first matrix, W or M
  double mu_least, mu_most; ///< friction coefficients, 0 without any
} CnProblemFileInfo;

/// Read a problem. A null allocator means the default one. A file that is truncated, contradicts
/// itself or announces more than it holds is CN_INVALID_DATA with one sentence that names file,
/// place, trouble and value; memory stays below 64 times the size of the file plus 1 MB. `info` may
/// be null.
CN_API CnStatus cn_problem_read(const char *path, const CnAllocator *allocator, CnProblem **problem,
                                CnProblemFileInfo *info);

/// The same from memory; `name` stands for the file in messages.
CN_API CnStatus cn_problem_read_memory(const void *data, size_t size, const char *name,
                                       const CnAllocator *allocator, CnProblem **problem,
                                       CnProblemFileInfo *info);

/// Formats that can be written.
typedef enum CnProblemFormat {
  CN_PROBLEM_FCLIB = 0, ///< HDF5; friction problems: explicit form as local, step and global form
                        ///< as global problem. Contacts come first, then bilateral rows; unilateral
                        ///< blocks become contacts with mu = 0. Law and numbers are the same, the
                        ///< order of blocks may not be. Intervals, spinning, cohesion and
                        ///< compliance are CN_UNSUPPORTED.
  CN_PROBLEM_JSON       ///< every problem, exactly
} CnProblemFormat;

/// Write a problem. The file appears under its name when it is complete; an existing one is
/// replaced.
CN_API CnStatus cn_problem_write(CnProblem *problem, CnProblemFormat format, const char *path);

/// Write the impulses and velocities of an answer as JSON: "z" for an LCP or MLCP, otherwise "r"
/// and, where there are velocities, "v". Multipliers of bilateral rows that follow the contacts are
/// "l".
CN_API CnStatus cn_answer_write(const CnAnswer *answer, const CnProblem *problem, const char *path);

/// Read such an answer (or what `cairn solve --json --impulses` prints: other members are ignored)
/// for a problem; the answer is fitted to it. Velocities that the file does not hold are computed
/// from the impulses.
CN_API CnStatus cn_answer_read(const char *path, const CnProblem *problem, CnAnswer *answer);

/// The same from memory; `name` stands for the file in messages.
CN_API CnStatus cn_answer_read_memory(const void *data, size_t size, const char *name,
                                      const CnProblem *problem, CnAnswer *answer);

#ifdef __cplusplus
}
#endif
#endif
