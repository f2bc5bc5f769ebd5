// Exports of a run: the functions behind the rows of the table, and what they share.
#ifndef CNI_IO_EXPORT_H
#define CNI_IO_EXPORT_H

#include "io/io.h"

CnStatus cni_export_csv(CnRun *run, const char *run_path, const char *output);
CnStatus cni_export_xdmf(CnRun *run, const char *run_path, const char *output);

// `output`, or without one the run's path with another ending: run.h5 becomes run + ending.
CnStatus cni_export_path(const char *run_path, const char *output, const char *ending, char *path,
                         size_t size);

#endif
