// SPDX-License-Identifier: Apache-2.0
// Private to exports: the shapes of a run in its description for ParaView (export_xdmf.c).
#ifndef CNI_IO_XDMF_SHAPES_H
#define CNI_IO_XDMF_SHAPES_H

#include "io/run/run_private.h"

// Text with what XML does not like replaced.
void cni_xdmf_escaped(CniOutput *out, const char *text);
// The second series of grids into the page, and its numbers beside the file `xdmf`.
CnStatus cni_xdmf_shapes(CnRun *run, const char *xdmf, CniOutput *page);

#endif
