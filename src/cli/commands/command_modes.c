// SPDX-License-Identifier: Apache-2.0
// cairn modes: the frequencies with which a scene vibrates about its rest position.
#include <math.h>
#include <stdlib.h>

#include <cairn/mechanism.h>

#include "cli/machine.h"

#define LISTED 40 // modes shown to people

typedef struct Found {
  CnMode *modes;
  CnModeShape *shapes;
  int32_t count, body_count;
} Found;

static double square(CnVec3 a) { return a.x * a.x + a.y * a.y + a.z * a.z; }

// The body with most of the kinetic energy, for people.
static CnBodyId leading(const CnWorld *world, const Found *found, int32_t mode) {
  CnBodyId body = {0, 0}, best = {0, 0};
  double most = -1;
  for (int32_t b = 0; b < found->body_count; b++) {
    const CnModeShape *s = &found->shapes[(size_t)mode * (size_t)found->body_count + (size_t)b];
    CnBodyInfo info = {0};
    body = cn_world_next_body(world, body);
    (void)cn_body_info(world, body, &info);
    double j = fmax(info.inertia.x, fmax(info.inertia.y, info.inertia.z));
    double energy = info.mass * (square(s->real.velocity) + square(s->imaginary.velocity)) +
                    j * (square(s->real.spin) + square(s->imaginary.spin));
    if (!(energy > most * (1 + 1e-6))) continue;
    most = energy;
    best = body;
  }
  return best;
}

static void show_shape(CniShow *show, const CnWorld *world, const Found *found, int32_t mode) {
  CnBodyId body = {0, 0};
  if (!show->json) return;
  cni_show_list(show, "shape", NULL);
  for (int32_t b = 0; b < found->body_count; b++) {
    const CnModeShape *s = &found->shapes[(size_t)mode * (size_t)found->body_count + (size_t)b];
    const double *real = &s->real.velocity.x, *imaginary = &s->imaginary.velocity.x;
    char name[CNI_MACHINE_NAME];
    body = cn_world_next_body(world, body);
    cni_show_row(show);
    cni_show_text(show, "body", NULL, cni_machine_body_name(world, body, name));
    cni_show_numbers(show, "move", real, 3);
    cni_show_numbers(show, "turn", &s->real.spin.x, 3);
    cni_show_numbers(show, "move_imaginary", imaginary, 3);
    cni_show_numbers(show, "turn_imaginary", &s->imaginary.spin.x, 3);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}

static void show(const CniJob *job, const Found *found, const CnModesDef *def) {
  CniShow sheet;
  cni_show_begin(&sheet, stdout, job->json);
  cni_show_text(&sheet, "scene", "scene", job->label);
  cni_show_text(&sheet, "contacts", NULL, cni_machine_contacts_name(def->contacts));
  cni_show_count(&sheet, "mode_count", "modes", found->count);
  cni_show_list(&sheet, "modes",
                found->count ? "mode, frequency, undamped, damping ratio, what moves most" : NULL);
  for (int32_t i = 0; i < found->count && (job->json || i < LISTED); i++) {
    const CnMode *m = &found->modes[i];
    char name[CNI_MACHINE_NAME], number[16];
    snprintf(number, sizeof number, "%d", (int)i + 1);
    cni_show_row(&sheet);
    cni_show_text(&sheet, NULL, "mode", number);
    cni_show_number(&sheet, "frequency", "frequency", m->frequency, "Hz");
    cni_show_number(&sheet, "natural_frequency", "natural", m->natural, "Hz");
    cni_show_number(&sheet, "damping_ratio", "damping", m->damping, "");
    cni_show_number(&sheet, "real", NULL, m->real, "1/s");
    cni_show_number(&sheet, "imaginary", NULL, m->imaginary, "1/s");
    cni_show_text(&sheet, "leading", "body",
                  cni_machine_body_name(job->world, leading(job->world, found, i), name));
    show_shape(&sheet, job->world, found, i);
    cni_show_row_end(&sheet);
  }
  cni_show_list_end(&sheet);
  cni_show_end(&sheet);
  if (!job->json && found->count > LISTED) printf("  and %d more\n", found->count - LISTED);
}

static CnStatus find(CnWorld *world, const CnModesDef *def, Found *found) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  CnStatus status = cn_world_modes(world, def, NULL, NULL, 0, &found->count);
  if (status != CN_OK) return status;
  size_t count = (size_t)found->count, bodies = (size_t)info.body_count;
  found->body_count = info.body_count;
  found->modes = calloc(count + 1, sizeof *found->modes);
  found->shapes = calloc(count * bodies + 1, sizeof *found->shapes);
  if (!found->modes || !found->shapes) return cn_error_set(CN_NO_MEMORY, "out of memory");
  return cn_world_modes(world, def, found->modes, found->shapes, found->count, &found->count);
}

static int run(const CniArgs *args) {
  CniJob job = {0};
  CnModesDef def = cn_modes_def_default();
  Found found = {0};
  if (!cni_args_number(args, "tolerance", CNI_NUMBER_POSITIVE, &def.tolerance) ||
      !cni_machine_contacts_option(args, &def.contacts))
    return CNI_EXIT_USAGE;
  int status = cni_job_options(&job, args);
  if (status == CNI_EXIT_DONE) status = cni_job_open(&job);
  if (status == CNI_EXIT_DONE && cni_args_has(args, "at-equilibrium")) {
    CnEquilibriumDef rest = cn_equilibrium_def_default();
    rest.contacts = def.contacts;
    if (cn_world_equilibrium(job.world, &rest, NULL) != CN_OK)
      status = cni_fail(args, "%s: %s", job.label, cn_error_message());
  }
  if (status == CNI_EXIT_DONE && find(job.world, &def, &found) != CN_OK)
    status = cni_fail(args, "%s: %s", job.label, cn_error_message());
  if (status == CNI_EXIT_DONE) show(&job, &found, &def);
  free(found.modes);
  free(found.shapes);
  cni_job_release(&job);
  return status;
}

static const CniOption options[] = {
    CNI_OPTION_SET,
    {"at-equilibrium", 0, NULL, "find the rest position first, as `cairn equilibrium` does"},
    CNI_MACHINE_OPTION_CONTACTS,
    {"tolerance", 0, "X", "forces that may be left in the position given (default 1e-6)"},
    CNI_OPTION_JSON,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn modes scene.json --at-equilibrium", "frequencies about the rest position"},
    {"cairn modes scene.json --json", "the scene is at rest as it stands; with mode shapes"},
    {NULL, NULL}};
const CniCommand cni_command_modes = {
    .name = "modes",
    .summary = "frequencies, damping and shapes of small vibrations",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .description =
        "Small motions about an equilibrium: frequency (Hz), frequency without damping, damping "
        "ratio and, with --json, the motion of every body, scaled so that the largest number is 1. "
        "Joints, motors that keep a position, limits and contacts that carry a force hold; their "
        "forces give stiffness too, as in a pendulum. A frequency of 0 is a free motion, a "
        "negative "
        "damping ratio one that grows.\n\n"
        "Contacts slide without friction, or with --contacts sticking roll without slip. Bodies "
        "that spin about an axis of symmetry take part with their gyroscopic torques; a scene that "
        "moves otherwise is refused.",
    .options = options,
    .examples = examples,
    .run = run};
