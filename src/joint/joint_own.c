// SPDX-License-Identifier: Apache-2.0
// Kinds of joints of the program (<cairn/own_joint.h>) as rows of the table.
#include <cairn/own_joint.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/memory.h"
#include "joint/joint_private.h"

#define CALL "cn_joint_register"

typedef struct Own {
  CniJointKind row; // first: the rows of a sort begin with their names
  CnOwnJoint given;
  CniCoordinate coordinates[CN_JOINT_AXES + 1];
  CniField fields[7];
  char name[CNI_OWN_NAME], summary[128];
  char coordinate_names[CN_JOINT_AXES][CNI_OWN_NAME];
} Own;

// What a kind of the program may read of a definition.
static const CniField readable[] = {CNI_JOINT_DISTANCE, CNI_JOINT_STIFFNESS, CNI_JOINT_DAMPING,
                                    CNI_JOINT_LEAD,     CNI_JOINT_RADIUS,    CNI_FIELDS_END};

static CniJointRow taken(const CnJointRow *row) {
  return (CniJointRow){.linear = row->linear,
                       .angular = row->angular,
                       .value = row->value,
                       .turns = row->turns != 0};
}

static void place(const CniJointSight *sight, CniJointPlace *p) {
  const Own *own = (const Own *)(const void *)cni_joint_kind(sight->def->kind);
  CnJointSight shown = {sight->at_a, sight->at_b, sight->def};
  CnJointRows rows;
  CniOwnCall call;
  memset(&rows, 0, sizeof rows);
  cni_own_enter(&call, NULL); // the joint may not be in a world yet
  own->given.place(own->given.context, &shown, &rows);
  cni_own_leave(&call);
  for (int32_t i = 0; i < own->given.locked_count; i++)
    p->locked[p->locked_count++] = taken(&rows.locked[i]);
  for (int32_t i = 0; i < own->given.coordinate_count; i++)
    p->axes[p->axis_count++] = taken(&rows.axes[i]);
  if (rows.at_b)
    p->arm_a = cn_add(sight->arm_a, cn_sub(sight->at_b.position, sight->at_a.position));
}

// ---- is a row the derivative of what it says? ----

#define NUDGE 1e-5
#define WITHIN 1e-6

// Motions one at a time: along x, y, z and about them, of b and then of a. A frame on the ground does not move.
#define WAYS 12
static CniJointSight moved(const CniJointSight *at, int32_t way, double by) {
  CniJointSight sight = *at;
  CnVec3 axis = {way % 3 == 0, way % 3 == 1, way % 3 == 2};
  CnPose *pose = way < 6 ? &sight.at_b : &sight.at_a;
  if (way % 6 < 3)
    pose->position = cn_madd(pose->position, by, axis);
  else
    pose->rotation = cn_qunit(cn_qmul(
        (CnQuat){1, 0.5 * by * axis.x, 0.5 * by * axis.y, 0.5 * by * axis.z}, pose->rotation));
  return sight;
}

// c' as the row tells it. Where rows act at b's origin, that point of a moves when a turns about its own.
static double told_rate(const CniJointSight *at, const CniJointPlace *p, const CniJointRow *row,
                        int32_t way) {
  CnVec3 axis = {way % 3 == 0, way % 3 == 1, way % 3 == 2};
  double sign = way < 6 ? 1 : -1;
  if (way % 6 < 3) return sign * cn_dot(row->linear, axis);
  CnVec3 reach = way < 6 ? CN_VEC3_ZERO : cn_sub(p->arm_a, at->arm_a);
  return sign * (cn_dot(row->linear, cn_cross(axis, reach)) + cn_dot(row->angular, axis));
}

static int on_ground(const CnJointDef *def, int32_t way) {
  CnBodyId body = way < 6 ? def->body_b : def->body_a;
  return body.slot == 0 && body.generation == 0;
}

// A wrong derivative would give forces that are no reactions: it is refused where a joint is made.
static CnStatus fit(const CniJointSight *at, CnJointDef *def) {
  const CniJointKind *kind = cni_joint_kind(def->kind);
  CniJointSight sight = *at;
  CniJointPlace here, ahead, behind;
  sight.def = def;
  cni_joint_see(&sight, &here);
  for (int32_t way = 0; way < WAYS; way++) {
    if (on_ground(def, way)) continue;
    CniJointSight forth = moved(&sight, way, NUDGE), back = moved(&sight, way, -NUDGE);
    cni_joint_see(&forth, &ahead);
    cni_joint_see(&back, &behind);
    for (int32_t i = 0; i < here.locked_count + here.axis_count; i++) {
      int32_t r = i < here.locked_count ? i : CNI_JOINT_LOCKED + i - here.locked_count;
      const CniJointRow *row = cni_joint_row(&here, r);
      double rate = (cni_joint_row(&ahead, r)->value - cni_joint_row(&behind, r)->value);
      rate /= 2 * NUDGE;
      double told = told_rate(&sight, &here, row, way), scale = 1 + fabs(told) + fabs(rate);
      if (row->turns && fabs(rate) * NUDGE > 1) continue; // an angle has jumped by a whole turn
      if (!(fabs(rate - told) <= WITHIN * scale))
        return cni_invalid("joint: row %d of %s is not the derivative of its value: %g by "
                           "differences, %g as told (%s %c of %c)",
                           (int)i, kind->name, rate, told, way % 6 < 3 ? "along" : "about",
                           "xyz"[way % 3], way < 6 ? 'b' : 'a');
    }
  }
  return CN_OK;
}

// ---- the table ----

static CnStatus take_coordinates(Own *own) {
  for (int32_t i = 0; i < own->given.coordinate_count; i++) {
    const CnOwnCoordinate *given = &own->given.coordinates[i];
    if (!given->name || !given->name[0] || strlen(given->name) >= CNI_OWN_NAME)
      return cni_invalid(CALL ": coordinate %d of %s has no name of at most %d bytes", (int)i,
                         own->name, CNI_OWN_NAME - 1);
    int metres = given->unit && strcmp(given->unit, "m") == 0;
    if (!metres && !(given->unit && strcmp(given->unit, "rad") == 0))
      return cni_invalid(CALL ": the unit of %s must be m or rad (got %.16s)", given->name,
                         given->unit ? given->unit : "none");
    snprintf(own->coordinate_names[i], CNI_OWN_NAME, "%s", given->name);
    own->coordinates[i] = (CniCoordinate){own->coordinate_names[i], metres ? "m" : "rad"};
  }
  return CN_OK;
}

static CnStatus take_fields(Own *own) {
  int32_t count = 0;
  for (int32_t i = 0; i < 6 && own->given.reads[i]; i++) {
    const CniField *field = cni_field_find(readable, own->given.reads[i]);
    if (!field)
      return cni_invalid(CALL ": %s cannot read '%.32s' of a definition: distance, stiffness, "
                              "damping, lead and radius can be read",
                         own->name, own->given.reads[i]);
    own->fields[count++] = *field;
  }
  own->fields[count] = (CniField)CNI_FIELDS_END;
  return CN_OK;
}

static const char *builtin_name(int32_t index) {
  return index < CN_JOINT_KIND_COUNT ? cni_joint_kinds[index]->name : NULL;
}

static CnStatus check(const CnOwnJoint *joint) {
  if (!joint) return cni_invalid(CALL ": the kind is null");
  if (joint->size != sizeof *joint)
    return cni_invalid(CALL ": the size is %u, expected %zu", (unsigned)joint->size, sizeof *joint);
  CNI_TRY(cni_own_name_check(CALL, joint->name, builtin_name));
  if (!joint->place) return cni_invalid(CALL ": %s has no function place", joint->name);
  if (joint->locked_count < 0 || joint->locked_count > CNI_JOINT_LOCKED ||
      joint->coordinate_count < 0 || joint->coordinate_count > CN_JOINT_AXES ||
      joint->locked_count + joint->coordinate_count == 0)
    return cni_invalid(CALL ": %s has %d locked directions and %d coordinates; 0 to 6 of each, and "
                            "one at least",
                       joint->name, (int)joint->locked_count, (int)joint->coordinate_count);
  return CN_OK;
}

static CnStatus fill(const CnOwnJoint *joint, Own *own) {
  own->given = *joint;
  snprintf(own->name, sizeof own->name, "%s", joint->name);
  snprintf(own->summary, sizeof own->summary, "%s", joint->summary ? joint->summary : "");
  own->given.name = own->name;
  own->given.summary = own->summary;
  CNI_TRY(take_coordinates(own));
  CNI_TRY(take_fields(own));
  own->row = (CniJointKind){.name = own->name,
                            .summary = own->summary,
                            .locked_count = joint->locked_count,
                            .coordinates = joint->coordinate_count ? own->coordinates : NULL,
                            .fields = own->fields,
                            .fit = fit,
                            .place = place};
  return cn_own_add(CNI_OWN_JOINT, own);
}

CnStatus cn_joint_register(const CnOwnJoint *joint, CnJointKind *kind) {
  CNI_FLOATS;
  CnAllocator allocator = cn_allocator_default();
  Own *own;
  CNI_TRY(check(joint));
  if (!kind) return cni_invalid(CALL ": kind is null");
  *kind = CN_JOINT_KIND_NONE;
  CNI_TRY(cni_new(&allocator, sizeof *own, &own));
  CnStatus status = fill(joint, own);
  if (status == CN_OK)
    *kind = cn_joint_kind_find(own->name);
  else
    cni_release(&allocator, own, sizeof *own);
  return status;
}

CnJointKind cn_joint_kind_find(const char *name) {
  for (int32_t i = 0; name && i < cni_joint_kind_count(); i++)
    if (strcmp(cni_joint_kind(i)->name, name) == 0) return (CnJointKind)i;
  return CN_JOINT_KIND_NONE;
}
