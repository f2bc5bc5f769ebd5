// SPDX-License-Identifier: Apache-2.0
// Kinds of forces of the program (<cairn/own_force.h>) as rows of the table: what force_user.c does, under
// a name and with numbers of the definition.
#include <cairn/own_force.h>

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/memory.h"
#include "force/force.h"

#define CALL "cn_force_register"
#define READS ((int32_t)(sizeof((CnOwnForce *)0)->reads / sizeof((CnOwnForce *)0)->reads[0]))

typedef struct Own {
  CniForceKind row; // first: the rows of a sort begin with their names
  CnOwnForce given;
  CniField fields[sizeof((CnOwnForce *)0)->reads / sizeof((CnOwnForce *)0)->reads[0] + 1];
  char name[CNI_OWN_NAME], summary[128];
} Own;

static void place(const CniForceSight *sight, CniForcePlace *p) {
  const Own *own = (const Own *)(const void *)cni_force_kind(sight->def->kind);
  CnForceSight shown = cni_force_shown(sight);
  CnForceEffect effect;
  CniOwnCall call;
  memset(&effect, 0, sizeof effect);
  cni_own_enter(&call, sight->def);
  p->status = own->given.evaluate(own->given.context, sight->def, &shown, &effect);
  cni_own_leave(&call);
  if (p->status == CN_OK) cni_force_take_effect(sight, &effect, p);
}

// A field that some kind of the library reads; functions of time and names are not for others.
static const CniField *find_field(const char *name) {
  for (int32_t k = 0; k < CN_FORCE_KIND_COUNT; k++) {
    const CniField *field = cni_field_find(cni_force_kinds[k]->fields, name);
    if (field && (cni_field_doubles(field) > 0 || field->type == CNI_FIELD_FLAG)) return field;
  }
  return NULL;
}

static CnStatus fill(const CnOwnForce *force, Own *own) {
  own->given = *force;
  snprintf(own->name, sizeof own->name, "%s", force->name);
  snprintf(own->summary, sizeof own->summary, "%s", force->summary ? force->summary : "");
  own->given.name = own->name;
  own->given.summary = own->summary;
  for (int32_t i = 0; i < READS && force->reads[i]; i++) {
    const CniField *field = find_field(force->reads[i]);
    if (!field)
      return cni_invalid(CALL ": %s cannot read '%.32s': a definition has no such number",
                         own->name, force->reads[i]);
    own->fields[i] = *field;
  }
  own->row = (CniForceKind){.name = own->name,
                            .summary = own->summary,
                            .row_count = 6,
                            .single = force->single != 0,
                            .fields = own->fields,
                            .place = place};
  return cn_own_add(CNI_OWN_FORCE, own);
}

static const char *builtin_name(int32_t index) {
  return index < CN_FORCE_KIND_COUNT ? cni_force_kinds[index]->name : NULL;
}

static CnStatus check(const CnOwnForce *force) {
  if (!force) return cni_invalid(CALL ": the kind is null");
  if (force->size != sizeof *force)
    return cni_invalid(CALL ": the size is %u, expected %zu", (unsigned)force->size, sizeof *force);
  CNI_TRY(cni_own_name_check(CALL, force->name, builtin_name));
  return force->evaluate ? CN_OK : cni_invalid(CALL ": %s has no function evaluate", force->name);
}

CnStatus cn_force_register(const CnOwnForce *force, CnForceKind *kind) {
  CNI_FLOATS;
  CnAllocator allocator = cn_allocator_default();
  Own *own;
  CNI_TRY(check(force));
  if (!kind) return cni_invalid(CALL ": kind is null");
  *kind = CN_FORCE_KIND_NONE;
  CNI_TRY(cni_new(&allocator, sizeof *own, &own));
  CnStatus status = fill(force, own);
  if (status == CN_OK)
    *kind = cn_force_kind_find(own->name);
  else
    cni_release(&allocator, own, sizeof *own);
  return status;
}

CnForceKind cn_force_kind_find(const char *name) {
  for (int32_t i = 0; name && i < cni_force_kind_count(); i++)
    if (strcmp(cni_force_kind(i)->name, name) == 0) return (CnForceKind)i;
  return CN_FORCE_KIND_NONE;
}
