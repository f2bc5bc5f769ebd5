// SPDX-License-Identifier: Apache-2.0
// Answers as JSON: z of an LCP or MLCP; r, v and l of friction problems.
//
// r are the impulses of all rows. Where bilateral rows follow the contacts, as in files with
// equality constraints, they are kept apart as l. A file may always give all of them as r.
#include "io/io.h"
#include "io/tools/json_scan.h"

#include "core/floats.h"
#include "problem/problem.h"

#include <string.h>

// Rows before the bilateral blocks at the end: an answer's r, with l behind it. All rows if there
// are other blocks after a bilateral one.
static int32_t contact_rows(const CnProblem *p) {
  int32_t rows = p->row_count, i = p->block_count;
  while (i > 0 && p->blocks[i - 1].kind == CN_BLOCK_BILATERAL) rows = p->blocks[--i].row;
  while (i > 0)
    if (p->blocks[--i].kind == CN_BLOCK_BILATERAL) return p->row_count;
  return rows;
}

// ---- writing ----

static void write_list(CniOutput *out, const char *key, const double *values, int32_t count) {
  cni_output_text(out, "%s", key);
  cni_output_reals(out, values, count);
}

static CnStatus write_answer(const CnAnswer *answer, const CnProblem *p, const char *path) {
  CniOutput out;
  CNI_TRY(cni_output_open(&out, path, &p->allocator));
  int32_t contacts = contact_rows(p), rest = answer->row_count - contacts;
  if (cni_problem_is_lcp(p)) {
    write_list(&out, "{\"z\": ", answer->g, answer->row_count);
  } else {
    write_list(&out, "{\"r\": ", answer->g, contacts);
    if (rest > 0) write_list(&out, ",\n\"l\": ", answer->g + contacts, rest);
    if (answer->velocity_count > 0)
      write_list(&out, ",\n\"v\": ", answer->v, answer->velocity_count);
  }
  cni_output_text(&out, "}\n");
  return cni_output_close(&out);
}

CnStatus cn_answer_write(const CnAnswer *answer, const CnProblem *problem, const char *path) {
  CNI_FLOATS;
  if (!answer || !problem || !path)
    return cni_invalid("cn_answer_write: %s is null", !answer    ? "answer"
                                                      : !problem ? "problem"
                                                                 : "path");
  if (answer->row_count != problem->row_count ||
      answer->velocity_count != cni_problem_velocity_count(problem))
    return cni_invalid("the answer does not belong to this problem");
  return write_answer(answer, problem, path);
}

// ---- reading ----

typedef struct Lists {
  CniNumbers r, l, v, z;
  int32_t has_v;
} Lists;

static CnStatus read_lists(CniJson *json, const CnAllocator *allocator, Lists *lists) {
  int32_t state = 0;
  char key[CNI_JSON_KEY];
  while (cni_json_member(json, "answer", &state, key)) {
    CniNumbers *list = strcmp(key, "r") == 0   ? &lists->r
                       : strcmp(key, "l") == 0 ? &lists->l
                       : strcmp(key, "v") == 0 ? &lists->v
                       : strcmp(key, "z") == 0 ? &lists->z
                                               : NULL;
    if (!list || cni_json_begins(json, 'n')) {
      CNI_TRY(cni_json_skip(json, key));
      continue;
    }
    if (list->count > 0) return cni_json_fail(json, key, "is there twice");
    if (list == &lists->v) lists->has_v = 1;
    CNI_TRY(cni_json_numbers(json, key, allocator, list));
  }
  return json->status;
}

static CnStatus wrong_count(const char *name, const char *key, int32_t expected, int32_t got) {
  return cni_bad_data("%s: %s: must have %d numbers (got %d)", name, key, (int)expected, (int)got);
}

static CnStatus take_impulses(const Lists *lists, const char *name, const CnProblem *p,
                              CnAnswer *answer) {
  int32_t contacts = contact_rows(p), rows = p->row_count;
  const CniNumbers *first = &lists->r;
  const char *key = "r";
  if (cni_problem_is_lcp(p) && lists->r.count == 0) {
    first = &lists->z;
    key = "z";
  }
  int32_t expected = lists->l.count > 0 ? contacts : rows;
  if (first->count != expected) return wrong_count(name, key, expected, first->count);
  if (lists->l.count > 0 && lists->l.count != rows - contacts)
    return wrong_count(name, "l", rows - contacts, lists->l.count);
  if (first->count > 0) memcpy(answer->g, first->value, (size_t)first->count * sizeof *answer->g);
  if (lists->l.count > 0)
    memcpy(answer->g + contacts, lists->l.value, (size_t)lists->l.count * sizeof *answer->g);
  return CN_OK;
}

static CnStatus take_answer(const Lists *lists, const char *name, const CnProblem *p,
                            CnAnswer *answer) {
  CNI_TRY(cn_answer_fit(answer, p));
  CNI_TRY(take_impulses(lists, name, p, answer));
  int32_t velocities = answer->velocity_count;
  if (!lists->has_v || velocities == 0) return cn_answer_complete(answer, p);
  if (lists->v.count != velocities) return wrong_count(name, "v", velocities, lists->v.count);
  if (p->form == CN_FORM_GLOBAL) CNI_TRY(cni_global_prepare(p));
  memcpy(answer->v, lists->v.value, (size_t)velocities * sizeof *answer->v);
  cni_problem_velocity(p, answer->v, answer->g, answer->u);
  return CN_OK;
}

CnStatus cn_answer_read_memory(const void *data, size_t size, const char *name,
                               const CnProblem *problem, CnAnswer *answer) {
  CNI_FLOATS;
  if (!answer || !problem || !name || (!data && size > 0))
    return cni_invalid("cn_answer_read: %s is null", !answer    ? "answer"
                                                     : !problem ? "problem"
                                                     : !name    ? "name"
                                                                : "data");
  if (size == 0) return cni_bad_data("%s: the file is empty", name);
  const char *text = data;
  CniJson json = {.text = {text, text + size, text, name}};
  Lists lists = {0};
  CnAllocator allocator = problem->allocator;
  CnStatus status = read_lists(&json, &allocator, &lists);
  if (status == CN_OK) status = take_answer(&lists, name, problem, answer);
  CniNumbers *all[] = {&lists.r, &lists.l, &lists.v, &lists.z};
  for (int32_t i = 0; i < 4; i++) CNI_RELEASE(&allocator, all[i]->value, all[i]->capacity);
  return status;
}

CnStatus cn_answer_read(const char *path, const CnProblem *problem, CnAnswer *answer) {
  CNI_FLOATS;
  if (!path || !problem)
    return cni_invalid("cn_answer_read: %s is null", path ? "problem" : "path");
  CniFileBuffer buffer;
  CNI_TRY(cni_file_read(path, &problem->allocator, &buffer));
  CnStatus status = cn_answer_read_memory(buffer.data, buffer.size, path, problem, answer);
  cni_release(&problem->allocator, buffer.data, buffer.capacity);
  return status;
}
