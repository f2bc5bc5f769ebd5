// SPDX-License-Identifier: Apache-2.0
// Functions of time with two derivatives (<cairn/function.h>).
#ifndef CNI_CORE_FUNCTION_H
#define CNI_CORE_FUNCTION_H

#include <cairn/function.h>

#include "core/fields.h"

#define CNI_TAG_FUNCTION 0x636e7566u

typedef struct CniFunctionKind {
  const char *name, *summary;
  const CniField *fields;
  int32_t least_points; // 0: it has none
  // Value, first and second derivative. `bends`: of a spline, its second derivatives at the points.
  void (*at)(const CnFunctionDef *def, const double *bends, double t, double result[3]);
  // The next time after t at which the slope jumps, infinite if it does not any more. Null: never.
  double (*kink)(const CnFunctionDef *def, double t);
} CniFunctionKind;

extern const CniFunctionKind cni_function_kinds[CN_FUNCTION_KIND_COUNT];
extern const CniField cni_function_fields[]; // of CnFunctionDef, of all kinds

CnStatus cni_function_check(const CnFunctionDef *def);
// Second derivatives of a spline at its points; `work` has as many numbers.
void cni_function_bends(const CnFunctionDef *def, double *work, double *bends);

#endif
