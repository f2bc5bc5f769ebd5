// SPDX-License-Identifier: Apache-2.0
// Tables of comma-separated values from the inside.
#ifndef CNI_IO_CSV_PRIVATE_H
#define CNI_IO_CSV_PRIVATE_H

#include "io/run/run_private.h"

// Text as one field.
void cni_csv_field(CniOutput *out, const char *text);
// Each with a comma before it.
void cni_csv_numbers(CniOutput *out, const double *values, size_t count);

// ---- csv_forces.c ----

CnStatus cni_csv_contacts(CnRun *run, CniOutput *out);
CnStatus cni_csv_reactions(CnRun *run, CniOutput *out);

#endif
