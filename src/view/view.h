// SPDX-License-Identifier: Apache-2.0
// The page: one self-contained HTML file with playback and plots, made from a run or from the first
// frame of a scene. The template is built from web/ and compiled in.
#ifndef CNI_VIEW_H
#define CNI_VIEW_H

#include <cairn/run.h>
#include <cairn/scene.h>

typedef struct CniPageDef {
  const char *output; // path of the HTML file
  int64_t max_bytes;  // frames are thinned so that the page stays below; 0: 100 MB
} CniPageDef;

CnStatus cni_page_from_run(CnRun *run, const CniPageDef *def);
// One run, or two side by side. Labels are what the runs are called; null: nothing.
CnStatus cni_page_from_runs(CnRun *const *runs, const char *const *labels, int32_t count,
                            const CniPageDef *def);
CnStatus cni_page_from_scene(CnScene *scene, const CniPageDef *def);

#endif
