// SPDX-License-Identifier: Apache-2.0
// Exports of a run: the functions behind the rows of the table.
#ifndef CNI_IO_EXPORT_H
#define CNI_IO_EXPORT_H

#include "io/io.h"

CnStatus cni_export_csv(CnRun *run, const char *run_path, const char *output);
CnStatus cni_export_xdmf(CnRun *run, const char *run_path, const char *output);

#endif
