// SPDX-License-Identifier: Apache-2.0
/// Cairn: what every other header needs. Status and messages, memory, log, worker threads, and the
/// small vectors in which the interface speaks. SI units and right-handed axes throughout.
#ifndef CAIRN_BASE_H
#define CAIRN_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(CN_SHARED) && defined(_WIN32)
#define CN_API __declspec(dllexport)
#elif defined(__GNUC__)
#define CN_API __attribute__((visibility("default")))
#else
#define CN_API
#endif

/// Version of the headers. What a program was built with; cn_version tells what it runs with.
#define CN_VERSION_MAJOR 0
#define CN_VERSION_MINOR 2
#define CN_VERSION_PATCH 0
#define CN_VERSION "0.2.0"

/// Version of the library: "major.minor.patch". The string is static.
CN_API const char *cn_version(void);

/// What a fallible call answers. Numerical outcomes (a solver that did not reach its tolerance) are
/// fields of reports, never a status.
typedef enum CnStatus {
  CN_OK = 0,
  CN_INVALID_ARGUMENT, ///< a value outside its range, a null pointer, a definition without its tag
  CN_INVALID_HANDLE,   ///< an id that names nothing, or something destroyed
  CN_INVALID_DATA,     ///< a snapshot or file that is damaged or of another version
  CN_UNSUPPORTED,      ///< legal, but the chosen solver or integrator cannot do it
  CN_BUSY,             ///< the world is inside a step
  CN_NO_MEMORY,        ///< the allocator returned null; nothing was changed
  CN_NOT_FINITE,       ///< a state left the real numbers; the world stands before that step
  CN_FILE,             ///< a file that cannot be opened, read or written; the message has the cause
  CN_STOPPED,          ///< an integrator cannot go on; the message tells where and why
  CN_REMOTE            ///< another rank failed or is gone (<cairn/ranks.h>); the message is its
} CnStatus;

/// Name of a status, for example "CN_NO_MEMORY". The string is static.
CN_API const char *cn_status_name(CnStatus status);

/// One sentence about the last failure in this thread, with the offending name and value. Valid
/// until the next failure in the same thread; "" before the first.
CN_API const char *cn_error_message(void);

/// Sets this thread's message, at most 511 bytes of it (null: none), and returns `status`: for
/// callbacks that fail (a CnSystem's functions), so that their sentence arrives at the caller.
CN_API CnStatus cn_error_set(CnStatus status, const char *message);

/// Where memory comes from. `allocate` returns memory aligned to `alignment` (a power of two) or
/// null; `release` gets back the same pointer and size. Calls may come from several threads at once
/// only if worlds are used from several threads: a world allocates from the thread that calls it.
typedef struct CnAllocator {
  void *(*allocate)(void *context, size_t size, size_t alignment);
  void (*release)(void *context, void *memory, size_t size);
  void *context;
} CnAllocator;

/// The C library's allocator.
CN_API CnAllocator cn_allocator_default(void);

/// Importance of a log line.
typedef enum CnLogLevel { CN_LOG_DEBUG = 0, CN_LOG_INFO, CN_LOG_WARNING } CnLogLevel;

/// Where text goes. A null `write` drops it. The library never prints.
typedef struct CnLog {
  void (*write)(void *context, CnLogLevel level, const char *message);
  void *context;
} CnLog;

/// Threads of the host program. `run` must call task(task_context, index) once for every index in
/// [0, count), on any threads in any order, and return when all calls have returned.
typedef struct CnTaskHost {
  void (*run)(void *context, int32_t count, void (*task)(void *task_context, int32_t index),
              void *task_context);
  void *context;
} CnTaskHost;

/// A pool of worker threads. Results never depend on the number of workers.
typedef struct CnTasks CnTasks;

/// Create a pool of `worker_count` workers, the calling thread among them (1 starts no thread).
/// With a host whose `run` is not null no thread is started at all: the host runs the work. At most
/// 1024 workers; a null allocator means the default one.
CN_API CnStatus cn_tasks_create(int32_t worker_count, const CnTaskHost *host,
                                const CnAllocator *allocator, CnTasks **tasks);

/// Stop and release a pool. Null is allowed.
CN_API void cn_tasks_destroy(CnTasks *tasks);

/// A vector, a point or a velocity in space.
typedef struct CnVec3 {
  double x, y, z;
} CnVec3;

/// A rotation as a unit quaternion, scalar first: turns body axes into world axes.
typedef struct CnQuat {
  double w, x, y, z;
} CnQuat;

/// A symmetric 3x3 matrix.
typedef struct CnSym3 {
  double xx, yy, zz, xy, xz, yz;
} CnSym3;

/// Position of an origin and orientation of axes.
typedef struct CnPose {
  CnVec3 position; ///< m
  CnQuat rotation; ///< unit quaternion
} CnPose;

/// Velocity of a point and angular velocity, both in world axes.
typedef struct CnTwist {
  CnVec3 velocity; ///< m/s
  CnVec3 spin;     ///< rad/s
} CnTwist;

/// A sparse matrix by rows: row i has entries start[i] .. start[i+1]-1, columns ascending.
typedef struct CnSparse {
  int32_t row_count, column_count;
  int32_t *start; ///< row_count + 1
  int32_t *column;
  double *value;
} CnSparse;

#ifdef __cplusplus
}
#endif
#endif
