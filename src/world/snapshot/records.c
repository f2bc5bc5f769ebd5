// SPDX-License-Identifier: Apache-2.0
// See records.h. The tables of definitions are joined with what the world itself keeps of a thing:
// ids, lists, state and impulses.
#include "world/snapshot/records.h"

#include <string.h>

#include "integrator/integrator.h"
#include "solver/solver.h"

#define ROW(sort, Struct, field, label)                                                            \
  { .name = label, .type = CNI_FIELD_##sort, .range = CNI_ANY, .offset = offsetof(Struct, field) }

static const CniField clock_fields[] = {ROW(REAL, CniClockRecord, time, "time"),
                                        ROW(LONG, CniClockRecord, step, "step"), CNI_FIELDS_END};
static const CniField slot_fields[] = {ROW(BITS, CniSlot, generation, "generation"),
                                       ROW(INTEGER, CniSlot, index, "index"), CNI_FIELDS_END};
static const CniField body_fields[] = {ROW(BITS, CniBodyRecord, slot, "slot"),
                                       ROW(BITS, CniBodyRecord, generation, "generation"),
                                       ROW(INTEGER, CniBodyRecord, first_shape, "first_shape"),
                                       ROW(INTEGER, CniBodyRecord, last_shape, "last_shape"),
                                       ROW(INTEGER, CniBodyRecord, shape_count, "shape_count"),
                                       ROW(INTEGER, CniBodyRecord, first_joint, "first_joint"),
                                       ROW(LONG, CniBodyRecord, def.user_data, "user_data"),
                                       ROW(NAME, CniBodyRecord, name, "name"),
                                       ROW(POSE, CniBodyRecord, pose, "centre"),
                                       ROW(TWIST, CniBodyRecord, twist, "motion"),
                                       ROW(TWIST, CniBodyRecord, load, "load"),
                                       CNI_FIELDS_END};
static const CniField shape_fields[] = {ROW(BITS, CniShapeRecord, slot, "slot"),
                                        ROW(BITS, CniShapeRecord, generation, "generation"),
                                        ROW(INTEGER, CniShapeRecord, body, "body"),
                                        ROW(INTEGER, CniShapeRecord, next, "next"),
                                        ROW(INTEGER, CniShapeRecord, previous, "previous"),
                                        ROW(INTEGER, CniShapeRecord, material, "material"),
                                        ROW(BITS, CniShapeRecord, def.geometry.slot, "geometry"),
                                        CNI_FIELDS_END};
static const CniField function_fields[] = {ROW(BITS, CniFunction, slot, "slot"),
                                           ROW(BITS, CniFunction, generation, "generation"),
                                           ROW(INTEGER, CniFunction, def.point_count, "points"),
                                           ROW(NAME, CniFunction, name, "name"), CNI_FIELDS_END};
static const CniField disabled_fields[] = {
    ROW(BITS, CniDisabled, a.slot, "a.slot"), ROW(BITS, CniDisabled, a.generation, "a.generation"),
    ROW(BITS, CniDisabled, b.slot, "b.slot"), ROW(BITS, CniDisabled, b.generation, "b.generation"),
    CNI_FIELDS_END};
static const CniField law_fields[] = {
    ROW(BITS, CniPairLaw, a.slot, "a.slot"),
    ROW(BITS, CniPairLaw, a.generation, "a.generation"),
    ROW(BITS, CniPairLaw, b.slot, "b.slot"),
    ROW(BITS, CniPairLaw, b.generation, "b.generation"),
    ROW(REAL, CniPairLaw, law.friction, "friction"),
    ROW(REAL, CniPairLaw, law.restitution, "restitution"),
    ROW(REAL, CniPairLaw, law.rolling_friction, "rolling_friction"),
    ROW(REAL, CniPairLaw, law.spinning_friction, "spinning_friction"),
    ROW(REAL, CniPairLaw, law.cohesion, "cohesion"),
    CNI_FIELDS_END,
};
static const CniField note_fields[] = {ROW(BITS, CniNote, sort, "sort"),
                                       ROW(BITS, CniNote, slot, "slot"),
                                       ROW(BITS, CniNote, generation, "generation"),
                                       ROW(LONG, CniNote, user_data, "user_data"),
                                       ROW(NAME, CniNote, name, "name"),
                                       CNI_FIELDS_END};
static const CniField motion_fields[] = {ROW(BITS, CniBodyMotion, body.slot, "slot"),
                                         ROW(BITS, CniBodyMotion, body.generation, "generation"),
                                         ROW(BITS, CniBodyMotion, def.x.slot, "x"),
                                         ROW(BITS, CniBodyMotion, def.y.slot, "y"),
                                         ROW(BITS, CniBodyMotion, def.z.slot, "z"),
                                         ROW(BITS, CniBodyMotion, def.turn.slot, "turn"),
                                         ROW(VEC3, CniBodyMotion, def.axis, "axis"),
                                         ROW(POSE, CniBodyMotion, start, "start"),
                                         CNI_FIELDS_END};
static const CniField coupling_fields[] = {ROW(BITS, CniCoupling, slot, "slot"),
                                           ROW(BITS, CniCoupling, generation, "generation"),
                                           ROW(INTEGER, CniCoupling, def.term_count, "terms"),
                                           ROW(REAL, CniCoupling, def.offset, "offset"),
                                           ROW(REAL, CniCoupling, def.square, "square"),
                                           ROW(REAL, CniCoupling, def.cube, "cube"),
                                           ROW(REAL, CniCoupling, def.fourth, "fourth"),
                                           ROW(BITS, CniCoupling, def.function.slot, "function"),
                                           ROW(INTEGER, CniCoupling, def.one_sided, "one_sided"),
                                           ROW(REAL, CniCoupling, impulse, "impulse"),
                                           ROW(REAL, CniCoupling, drift, "drift"),
                                           ROW(REAL, CniCoupling, impulse_step, "impulse_step"),
                                           ROW(NAME, CniCoupling, name, "name"),
                                           CNI_FIELDS_END};
static const CniField term_fields[] = {ROW(BITS, CnCouplingTerm, joint.slot, "slot"),
                                       ROW(BITS, CnCouplingTerm, joint.generation, "generation"),
                                       ROW(INTEGER, CnCouplingTerm, coordinate, "coordinate"),
                                       ROW(REAL, CnCouplingTerm, coefficient, "coefficient"),
                                       CNI_FIELDS_END};
static const CniField curve_fields[] = {ROW(BITS, CniCurve, slot, "slot"),
                                        ROW(BITS, CniCurve, generation, "generation"),
                                        ROW(INTEGER, CniCurve, def.point_count, "points"),
                                        ROW(NAME, CniCurve, name, "name"), CNI_FIELDS_END};
static const CniField material_fields[] = {ROW(BITS, CniMaterial, slot, "slot"),
                                           ROW(BITS, CniMaterial, generation, "generation"),
                                           ROW(NAME, CniMaterial, name, "name"), CNI_FIELDS_END};
static const CniField joint_fields[] = {ROW(BITS, CniJoint, slot, "slot"),
                                        ROW(BITS, CniJoint, generation, "generation"),
                                        ROW(INTEGER, CniJoint, body_a, "body_a"),
                                        ROW(INTEGER, CniJoint, body_b, "body_b"),
                                        ROW(INTEGER, CniJoint, next_a, "next_a"),
                                        ROW(INTEGER, CniJoint, next_b, "next_b"),
                                        ROW(BITS, CniJoint, def.body_a.slot, "a.slot"),
                                        ROW(BITS, CniJoint, def.body_a.generation, "a.generation"),
                                        ROW(BITS, CniJoint, def.body_b.slot, "b.slot"),
                                        ROW(BITS, CniJoint, def.body_b.generation, "b.generation"),
                                        ROW(TWIST, CniJoint, impulse.locked, "impulse"),
                                        ROW(VEC3, CniJoint, total.velocity, "linear"),
                                        ROW(VEC3, CniJoint, total.spin, "angular"),
                                        ROW(VEC3, CniJoint, carried, "carried"),
                                        ROW(REAL, CniJoint, impulse_step, "impulse_step"),
                                        ROW(NAME, CniJoint, name, "name"),
                                        CNI_FIELDS_END};
static const CniField force_fields[] = {ROW(BITS, CniForce, slot, "slot"),
                                        ROW(BITS, CniForce, generation, "generation"),
                                        ROW(BITS, CniForce, def.body_a.slot, "a.slot"),
                                        ROW(BITS, CniForce, def.body_a.generation, "a.generation"),
                                        ROW(BITS, CniForce, def.body_b.slot, "b.slot"),
                                        ROW(BITS, CniForce, def.body_b.generation, "b.generation"),
                                        ROW(NAME, CniForce, name, "name"),
                                        ROW(REAL, CniForce, near, "turned"),
                                        CNI_FIELDS_END};
// Of one coordinate.
typedef struct AxisImpulse {
  double part[CNI_PART_COUNT];
} AxisImpulse;
static const CniField geometry_fields[] = {
    ROW(BITS, CniGeometryRecord, slot, "slot"),
    ROW(BITS, CniGeometryRecord, generation, "generation"),
    ROW(INTEGER, CniGeometryRecord, vertex_count, "vertices"),
    ROW(INTEGER, CniGeometryRecord, face_count, "faces"),
    ROW(INTEGER, CniGeometryRecord, triangle_count, "triangles"),
    ROW(INTEGER, CniGeometryRecord, two_sided, "two_sided"),
    ROW(REAL, CniGeometryRecord, thickness, "thickness"),
    ROW(INTEGER, CniGeometryRecord, x_count, "x_count"),
    ROW(INTEGER, CniGeometryRecord, y_count, "y_count"),
    ROW(REAL, CniGeometryRecord, x_spacing, "x_spacing"),
    ROW(REAL, CniGeometryRecord, y_spacing, "y_spacing"),
    ROW(NAME, CniGeometryRecord, name, "name"),
    CNI_FIELDS_END};
static const CniField axis_impulse_fields[] = {
    ROW(REAL, AxisImpulse, part[CNI_PART_SPRING], "spring_impulse"),
    ROW(REAL, AxisImpulse, part[CNI_PART_LOWER], "lower_impulse"),
    ROW(REAL, AxisImpulse, part[CNI_PART_UPPER], "upper_impulse"),
    ROW(REAL, AxisImpulse, part[CNI_PART_MOTOR], "motor_impulse"),
    ROW(REAL, AxisImpulse, part[CNI_PART_FRICTION], "friction_impulse"),
    ROW(REAL, AxisImpulse, part[CNI_PART_ARMATURE], "armature_impulse"),
    CNI_FIELDS_END};
_Static_assert(CNI_PART_COUNT == 6, "each has a row");
static const CniField axis_drift_fields[] = {
    ROW(REAL, AxisImpulse, part[CNI_PART_LOWER], "lower_drift"),
    ROW(REAL, AxisImpulse, part[CNI_PART_UPPER], "upper_drift"),
    ROW(REAL, AxisImpulse, part[CNI_PART_MOTOR], "motor_drift"),
    ROW(REAL, AxisImpulse, part[CNI_PART_FRICTION], "friction_drift"),
    ROW(REAL, AxisImpulse, part[CNI_PART_ARMATURE], "armature_drift"),
    CNI_FIELDS_END};
static const CniField angle_fields[] = {
    {.name = "turned", .type = CNI_FIELD_REAL, .range = CNI_ANY}, CNI_FIELDS_END};
static const CniField cache_fields[] = {ROW(REAL, CniContactCache, time_step, "time_step"),
                                        ROW(INTEGER, CniContactCache, turning, "turning"),
                                        CNI_FIELDS_END};
static const CniField contact_fields[] = {ROW(INTEGER, CniContact, shape_a, "shape_a"),
                                          ROW(INTEGER, CniContact, shape_b, "shape_b"),
                                          ROW(INTEGER, CniContact, body_a, "generation_a"),
                                          ROW(INTEGER, CniContact, body_b, "generation_b"),
                                          ROW(BITS, CniContact, feature, "feature"),
                                          ROW(VEC3, CniContact, point, "point"),
                                          ROW(VEC3, CniContact, normal, "normal"),
                                          ROW(REAL, CniContact, gap, "gap"),
                                          CNI_FIELDS_END};
static const CniField linear_fields[] = {ROW(VEC3, CniContactRecord, linear, "linear"),
                                         CNI_FIELDS_END};
static const CniField angular_fields[] = {ROW(VEC3, CniContactRecord, angular, "angular"),
                                          CNI_FIELDS_END};
static const CniField watch_fields[] = {
    ROW(LONG, CniWatch, steps, "steps"),         ROW(LONG, CniWatch, blind, "blind"),
    ROW(REAL, CniWatch, energy, "energy"),       ROW(REAL, CniWatch, energy_least, "energy_least"),
    ROW(REAL, CniWatch, scheme, "scheme"),       ROW(REAL, CniWatch, kinetic, "kinetic"),
    ROW(REAL, CniWatch, fallen, "fallen"),       ROW(REAL, CniWatch, driven, "driven"),
    ROW(REAL, CniWatch, potential, "potential"), CNI_FIELDS_END};
static const CniField found_fields[] = {
    ROW(REAL, CniFinding, value, "value"),
    ROW(REAL, CniFinding, relative, "relative"),
    ROW(FLAG, CniFinding, turns, "turns"),
    ROW(LONG, CniFinding, worst, "worst"),
    ROW(LONG, CniFinding, first, "first"),
    ROW(LONG, CniFinding, count, "count"),
    ROW(BITS, CniFinding, whose.joint.slot, "joint.slot"),
    ROW(BITS, CniFinding, whose.joint.generation, "joint.generation"),
    ROW(BITS, CniFinding, whose.body.slot, "body.slot"),
    ROW(BITS, CniFinding, whose.body.generation, "body.generation"),
    ROW(BITS, CniFinding, whose.other.slot, "other.slot"),
    ROW(BITS, CniFinding, whose.other.generation, "other.generation"),
    ROW(BITS, CniFinding, whose.coupling.slot, "coupling.slot"),
    ROW(BITS, CniFinding, whose.coupling.generation, "coupling.generation"),
    ROW(BITS, CniFinding, whose.with.slot, "with.slot"),
    ROW(BITS, CniFinding, whose.with.generation, "with.generation"),
    ROW(BITS, CniFinding, whose.limit, "limit"),
    CNI_FIELDS_END};
static const char *const event_kinds[] = {"began", "ended", "entered", "left", "inside", NULL};
static const CniField event_fields[] = {
    CNI_FIELD(CHOICE, CnContactEvent, kind, ANY, "", "", .words = event_kinds),
    ROW(BITS, CnContactEvent, shape_a.slot, "a.slot"),
    ROW(BITS, CnContactEvent, shape_a.generation, "a.generation"),
    ROW(BITS, CnContactEvent, shape_b.slot, "b.slot"),
    ROW(BITS, CnContactEvent, shape_b.generation, "b.generation"),
    CNI_FIELDS_END,
};

static const CniRecord common[CNI_RECORD_SHAPE_KIND] = {
    [CNI_RECORD_SETTINGS] = {"settings",
                             NULL,
                             {{"", cni_world_fields, 0},
                              {"solver", cni_solver_fields, offsetof(CnWorldDef, solver)},
                              {"integrator", cni_integrator_fields,
                               offsetof(CnWorldDef, integration)}}},
    [CNI_RECORD_CLOCK] = {"clock", NULL, {{"", clock_fields, 0}}},
    [CNI_RECORD_SLOT] = {"slot", NULL, {{"", slot_fields, 0}}},
    [CNI_RECORD_BODY] =
        {"body", NULL, {{"", body_fields, 0}, {"", cni_body_fields, offsetof(CniBodyRecord, def)}}},
    [CNI_RECORD_SHAPE] = {"shape",
                          NULL,
                          {{"", shape_fields, 0},
                           {"", cni_shape_fields, offsetof(CniShapeRecord, def)}}},
    [CNI_RECORD_MATERIAL] = {"material",
                             NULL,
                             {{"", material_fields, 0},
                              {"", cni_material_fields, offsetof(CniMaterial, def)}}},
    [CNI_RECORD_JOINT] = {"joint",
                          NULL,
                          {{"", joint_fields, 0}, {"", cni_joint_fields, offsetof(CniJoint, def)}}},
    [CNI_RECORD_FORCE] = {"force",
                          NULL,
                          {{"", force_fields, 0}, {"", cni_force_fields, offsetof(CniForce, def)}}},
    [CNI_RECORD_CACHE] = {"contacts", NULL, {{"", cache_fields, 0}}},
    [CNI_RECORD_CONTACT] = {"contact",
                            NULL,
                            {{"", contact_fields, offsetof(CniContactRecord, contact)},
                             {"", linear_fields, 0}}},
    [CNI_RECORD_TURNING] = {"turning", NULL, {{"", angular_fields, 0}}},
    [CNI_RECORD_EVENT] = {"event", NULL, {{"", event_fields, 0}}},
    [CNI_RECORD_GEOMETRY] = {"geometry", NULL, {{"", geometry_fields, 0}}},
    [CNI_RECORD_CURVE] = {"curve",
                          NULL,
                          {{"", curve_fields, 0}, {"", cni_curve_fields, offsetof(CniCurve, def)}}},
    [CNI_RECORD_FUNCTION] = {"function",
                             NULL,
                             {{"", function_fields, 0},
                              {"", cni_function_fields, offsetof(CniFunction, def)}}},
    [CNI_RECORD_COUPLING] = {"coupling", NULL, {{"", coupling_fields, 0}}},
    [CNI_RECORD_TERM] = {"term", NULL, {{"", term_fields, 0}}},
    [CNI_RECORD_DISABLED] = {"disabled", NULL, {{"", disabled_fields, 0}}},
    [CNI_RECORD_LAW] = {"law", NULL, {{"", law_fields, 0}}},
    [CNI_RECORD_MOTION] = {"motion", NULL, {{"", motion_fields, 0}}},
    [CNI_RECORD_WATCH] = {"watch", NULL, {{"", watch_fields, 0}}},
};

// What a kind of joint reads of its definition, and what was set and done along its coordinates.
static CniRecord joint_kind_record(const CniJointKind *kind) {
  CniRecord record = {"joint", kind->name, {{"", kind->fields, offsetof(CniJoint, def)}}};
  const CniCoordinate *coordinate = kind->coordinates;
  for (size_t i = 0; coordinate && coordinate[i].name; i++) {
    record.parts[1 + 4 * i] = (CniPart){coordinate[i].name, cni_joint_axis_fields,
                                        offsetof(CniJoint, def.axes) + i * sizeof(CnJointAxis)};
    record.parts[2 + 4 * i] = (CniPart){coordinate[i].name, axis_impulse_fields,
                                        offsetof(CniJoint, impulse.axes) + i * sizeof(AxisImpulse)};
    record.parts[3 + 4 * i] = (CniPart){coordinate[i].name, axis_drift_fields,
                                        offsetof(CniJoint, drift) + i * sizeof(AxisImpulse)};
    if (kind->wraps)
      record.parts[4 + 4 * i] = (CniPart){coordinate[i].name, angle_fields,
                                          offsetof(CniJoint, near) + i * sizeof(double)};
  }
  return record;
}
_Static_assert(CNI_RECORD_PARTS > 4 * CN_JOINT_AXES, "four parts a coordinate");

void cni_records(CniRecord records[CNI_RECORD_COUNT]) {
  memcpy(records, common, sizeof common);
  records[CNI_RECORD_NOTE] = (CniRecord){"note", NULL, {{"", note_fields, 0}}};
  for (int32_t k = 0; k < CN_FINDING_COUNT; k++)
    records[CNI_RECORD_WATCH].parts[1 + k] =
        (CniPart){cni_finding_kinds[k].name, found_fields,
                  offsetof(CniWatch, found) + (size_t)k * sizeof(CniFinding)};
  for (int32_t k = 0; k < CN_SHAPE_KIND_COUNT; k++)
    records[CNI_RECORD_SHAPE_KIND + k] =
        (CniRecord){"shape",
                    cni_shape_kinds[k]->name,
                    {{"", cni_shape_kinds[k]->fields, offsetof(CniShapeRecord, def)}}};
  for (int32_t k = CNI_RECORD_JOINT_KIND; k < CNI_RECORD_COUNT; k++)
    records[k] = (CniRecord){"", " ", {{NULL, NULL, 0}}}; // room for kinds that nobody added
  for (int32_t k = 0; k < cni_joint_kind_count(); k++)
    records[CNI_RECORD_JOINT_KIND + k] = joint_kind_record(cni_joint_kind(k));
  for (int32_t k = 0; k < cni_force_kind_count(); k++)
    records[CNI_RECORD_FORCE_KIND + k] =
        (CniRecord){"force",
                    cni_force_kind(k)->name,
                    {{"", cni_force_kind(k)->fields, offsetof(CniForce, def)}}};
}

const char *const cni_layout_version_4 =
    "record settings\nvector gravity\nnumber time_step\nnumber stabilisation\n"
    "number contact_stabilisation\nnumber contact_slop\nnumber recovery_speed\n"
    "number restitution_threshold\nnumber contact_margin\nflag geometric_stiffness\n"
    "choice friction coulomb convex\nfixed32 integrator\nfixed32 solver.name\n"
    "number integrator.tolerance\nnumber integrator.step\nnumber integrator.step_max\n"
    "number integrator.step_min\nnumber integrator.drift_limit\n"
    "number integrator.event_tolerance\nnumber integrator.accumulation\n"
    "number integrator.theta\ninteger integrator.projection\nflag integrator.project_start\n"
    "integer integrator.max_events\ninteger integrator.max_steps\n"
    "choice integrator.impact simultaneous sequential\nchoice integrator.remedy nscd lcp\n"
    "number solver.tolerance\ninteger solver.max_iterations\nnumber solver.time_budget\n"
    "number solver.relaxation\nnumber solver.acceleration\n"
    "choice solver.local split projection exact\ninteger solver.check_interval\n"
    "integer solver.facets\n"
    "record clock\nnumber time\nlong step\n"
    "record slot\nbits generation\ninteger index\n"
    "record body\nchoice kind dynamic kinematic fixed\nbits slot\nbits generation\npose com\n"
    "tensor inertia\nnumber mass\ninteger first_shape\ninteger last_shape\n"
    "integer shape_count\ninteger first_joint\nlong user_data\nname name\npose centre\n"
    "twist motion\ntwist load\n"
    "record shape\nbits slot\nbits generation\ninteger body\ninteger next\ninteger previous\n"
    "integer material\nchoice kind sphere box plane\npose pose\nnumber radius\n"
    "vector half_size\nnumber density\nbits category\nbits mask\n"
    "record material\nbits slot\nbits generation\nnumber friction\nnumber restitution\n"
    "number rolling_friction\nnumber spinning_friction\nnumber cohesion\n"
    "vector surface_velocity\nchoice friction_rule geometric average min product max\n"
    "choice restitution_rule geometric average min product max\nfixed48 name\n"
    "record joint\nbits slot\nbits generation\nchoice kind ball distance\ninteger body_a\n"
    "integer body_b\ninteger next_a\ninteger next_b\nbits a.slot\nbits a.generation\n"
    "bits b.slot\nbits b.generation\npose frame_a\npose frame_b\nnumber distance\n"
    "number stiffness\nnumber damping\ntwist impulse\nvector linear\nnumber impulse_step\n"
    "fixed48 name\n"
    "record contacts\nnumber time_step\ninteger turning\n"
    "record contact\ninteger shape_a\ninteger shape_b\ninteger generation_a\n"
    "integer generation_b\nbits feature\nvector point\nvector normal\nnumber gap\n"
    "vector linear\n"
    "record turning\nvector angular\n"
    "record event\nchoice kind began ended\nbits a.slot\nbits a.generation\nbits b.slot\n"
    "bits b.generation\n";
