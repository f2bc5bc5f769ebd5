// SPDX-License-Identifier: Apache-2.0
/// Functions of time: targets of drives and motions of kinematic bodies. Part of <cairn/world.h>.
#ifndef CAIRN_FUNCTION_H
#define CAIRN_FUNCTION_H

#include <cairn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnFunctionId {
  uint32_t slot, generation;
} CnFunctionId;

typedef enum CnFunctionKind {
  CN_FUNCTION_CONSTANT = 0, ///< value
  CN_FUNCTION_RAMP,         ///< value until `start`, then at `rate`, from `end` on constant
  CN_FUNCTION_SINE,         ///< value + amplitude sin(2 pi frequency (t - start) + phase)
  CN_FUNCTION_SMOOTH_STEP,  ///< value until `start`, final from `end` on, twice smooth between
  CN_FUNCTION_TABLE,        ///< straight lines between points, constant before and after
  CN_FUNCTION_SPLINE,       ///< a cubic spline through points, at rest at both ends and beyond
  CN_FUNCTION_KIND_COUNT
} CnFunctionKind;

/// Name of a kind, as in scenes: "smooth_step"; null past the end.
CN_API const char *cn_function_kind_name(CnFunctionKind kind);

/// One struct for all functions: the kind selects which fields are read. Numbers are 0 by default,
/// `end` is infinite. A value is what the use asks for: m, rad, m/s, N ...
typedef struct CnFunctionDef {
  uint32_t size, tag; ///< set by cn_function_def_default
  CnFunctionKind kind;
  int32_t point_count; ///< of a table, at least 1, or a spline, at least 2
  double value;        ///< at the start, or in the middle of a sine
  double final;        ///< of a smooth step
  double rate;         ///< of a ramp, 1/s
  double amplitude;    ///< of a sine
  double frequency;    ///< Hz, of a sine
  double phase;        ///< rad, of a sine
  double start, end;   ///< s
  double period;       ///< s, >= 0: of tables and splines, after which they begin again; 0: never
  const double *times; ///< s, ascending; copied
  const double *values;
  const char *name; ///< copied; may be NULL
} CnFunctionDef;

/// A definition of the kind with every number 0 and no end.
CN_API CnFunctionDef cn_function_def_default(CnFunctionKind kind);

#ifdef __cplusplus
}
#endif
#endif
