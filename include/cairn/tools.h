// SPDX-License-Identifier: Apache-2.0
/// Small things that programs with files need: what a file is, a file that appears whole or not at all, the name
/// that was meant. Part of libcairn-io.
#ifndef CAIRN_TOOLS_H
#define CAIRN_TOOLS_H

#include <cairn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What is in a file, told from its content.
typedef enum CnFileKind {
  CN_FILE_KIND_NONE = 0, ///< there is none of that name
  CN_FILE_KIND_RUN,
  CN_FILE_KIND_CHECKPOINT,
  CN_FILE_KIND_PROBLEM,
  CN_FILE_KIND_OTHER ///< a scene, if anything
} CnFileKind;

/// What the file is.
CN_API CnFileKind cn_file_kind(const char *path);

/// A file being written that appears under its name when it is complete.
typedef struct CnOutput CnOutput;

/// Begin a file: it is written to PATH.partial, and what is at PATH stays until it is closed. One writer at a time:
/// CN_FILE where another one is at work. On failure *output is NULL.
CN_API CnStatus cn_output_create(const char *path, CnOutput **output);

/// Write bytes. A failure is kept for cn_output_close.
CN_API void cn_output_write(CnOutput *output, const void *bytes, size_t size);

/// Bring the file to the disk and to its name. After any failure what was there before is as it was. The output
/// is gone whatever the outcome. Null is allowed.
CN_API CnStatus cn_output_close(CnOutput *output);

/// Give up: nothing has happened. Null is allowed.
CN_API void cn_output_discard(CnOutput *output);

/// CN_OK unless writing to `output` would take away the file at `input`: both lead to one file, whatever links and
/// spellings they have, or what `output` is called on the way (PATH.partial, PATH.new) does; then
/// CN_INVALID_ARGUMENT. Names of which there is no file are fine. The library's own writers ask for the scene
/// and the run that they are given (cn_scene_check_output, cn_run_check_output).
CN_API CnStatus cn_output_check(const char *output, const char *input);

/// CN_OK where a file, or the tables and frames of a folder, may be written to `path` without taking away anything but
/// what Cairn makes from a run or scene and can make again: there is nothing, or a page, picture, film or export,
/// which are told by their content. Else CN_FILE, for a caller that is to ask first. Writers of the library do not ask.
CN_API CnStatus cn_output_vacant(const char *path);

/// The name of a list that is nearest to a wrong one, by letters changed, added, left out or swapped; null: none is
/// near enough. `list` gives null past the end; names must live until the call returns.
CN_API const char *cn_nearest_name(const char *wanted,
                                   const char *(*list)(void *context, int32_t index),
                                   void *context);

/// For a program's main, first of all: HDF5 shall not tidy up at exit, where after reading a damaged file it
/// complains on standard error about what it left behind itself. Files are closed by their owners.
CN_API void cn_io_leave_quietly(void);

#ifdef __cplusplus
}
#endif
#endif
