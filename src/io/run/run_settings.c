// SPDX-License-Identifier: Apache-2.0
// The settings that a run was made with, as its file has them.
#include <cairn/run_look.h>
#include <stdio.h>
#include <string.h>

#include "core/floats.h"
#include "io/run/run_private.h"
#include "world/world.h"

// A setting as the writer puts it (run_describe.c); a word that this version does not know is left.
static CnStatus read_setting(CnRun *run, const CniField *field, const char *name, void *at) {
  const char *group = "/settings";
  int32_t doubles = cni_field_doubles(field), integer = 0;
  if (doubles > 0) return cni_input_numbers(run, group, name, CNI_DOUBLE, doubles, at);
  int is_text = field->type == CNI_FIELD_WORD ||
                (field->type == CNI_FIELD_CHOICE && !(field->where & CNI_NUMBER_IN_RUN));
  CniTexts text = {0};
  CnStatus status = is_text ? cni_input_texts(run, group, name, 1, &text)
                            : cni_input_numbers(run, group, name, CNI_INT32, 1, &integer);
  if (status == CN_OK && is_text) integer = cni_field_word_index(field, text.bytes);
  const char *word = is_text ? cni_field_word(field, integer) : NULL;
  if (status == CN_OK && field->type == CNI_FIELD_WORD && word)
    memcpy(at, &word, sizeof word);
  else if (status == CN_OK && field->type != CNI_FIELD_WORD && integer >= 0)
    memcpy(at, &integer, sizeof integer);
  cni_release(&run->allocator, text.bytes, text.byte_count);
  return status;
}

CnStatus cn_run_settings(CnRun *run, CnWorldDef *def) {
  CNI_FLOATS;
  if (!run || !def) return cni_invalid("cn_run_settings: the %s is null", run ? "def" : "run");
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = CN_OK;
  for (int32_t p = 0; p < CNI_SETTINGS_PARTS; p++)
    for (const CniField *f = cni_settings_parts[p].fields; f->name && status == CN_OK; f++) {
      char name[64];
      snprintf(name, sizeof name, "%s%s", cni_settings_parts[p].run_prefix, cni_field_file_name(f));
      if (f->where & CNI_NOT_IN_RUN ||
          H5Aexists_by_name(run->file, "/settings", name, H5P_DEFAULT) <= 0)
        continue;
      status =
          read_setting(run, f, name, cni_field_at(f, (char *)def + cni_settings_parts[p].base));
    }
  cni_quiet_end(quiet);
  def->integrator = run->info.integrator;
  def->solver.name = run->info.solver;
  return status;
}
