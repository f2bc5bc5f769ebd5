// SPDX-License-Identifier: Apache-2.0
// cairn run --dump-problems DIR: the problem of every Nth step as a file, for other solvers.
//
// The files are FCLib global problems, DIR/step-000120.hdf5 for step 120. A problem that FCLib has
// no words for (compliance, spinning, cohesion, bounded joints, the convex friction model) is
// written as Cairn's JSON instead, DIR/step-000120.json.
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <cairn/files.h>

#include "cli/job.h"

#define PREFIX "step-"

// Files of an earlier run would be taken for this one's.
static int check_folder(const CniJob *job, DIR *folder) {
  const struct dirent *entry;
  if (cni_args_has(job->args, "force") || job->resume) return CNI_EXIT_DONE;
  while ((entry = readdir(folder)))
    if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
      return cni_fail(job->args, "%s: holds problems already, %s (--force replaces them)",
                      job->dump, entry->d_name);
  return CNI_EXIT_DONE;
}

int cni_job_dump_open(CniJob *job) {
  if (!job->dump) return CNI_EXIT_DONE;
  if (mkdir(job->dump, 0777) != 0 && errno != EEXIST)
    return cni_fail(job->args, "%s: cannot be made: %s", job->dump, strerror(errno));
  DIR *folder = opendir(job->dump);
  if (!folder) return cni_fail(job->args, "%s: cannot be opened: %s", job->dump, strerror(errno));
  int status = check_folder(job, folder);
  closedir(folder);
  return status;
}

static CnStatus write_problem(const CniJob *job, CnProblem *problem, const char *base) {
  char path[4096];
  CnStatus status = CN_UNSUPPORTED;
  if (job->def.friction == CN_FRICTION_COULOMB) {
    snprintf(path, sizeof path, "%s.hdf5", base);
    status = cn_problem_write(problem, CN_PROBLEM_FCLIB, path);
  }
  if (status != CN_UNSUPPORTED) return status;
  snprintf(path, sizeof path, "%s.json", base);
  return cn_problem_write(problem, CN_PROBLEM_JSON, path);
}

int cni_job_dump_step(CniJob *job, const CnStepReport *report) {
  char base[4000];
  CnProblem *problem;
  if (!job->dump || report->step % job->dump_every != 0) return CNI_EXIT_DONE;
  int length =
      snprintf(base, sizeof base, "%s/" PREFIX "%06lld", job->dump, (long long)report->step);
  if (length < 0 || (size_t)length >= sizeof base)
    return cni_fail(job->args, "%s: the name is too long", job->dump);
  if (cn_world_problem(job->world, &problem, NULL) != CN_OK ||
      write_problem(job, problem, base) != CN_OK)
    return cni_fail(job->args, "%s", cn_error_message());
  job->dump_count++;
  return CNI_EXIT_DONE;
}
