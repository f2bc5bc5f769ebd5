// SPDX-License-Identifier: Apache-2.0
// MJCF: actuators as motors of coordinates and as constant loads.
//
// An actuator gives  f = (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l'  with its control u and its length l; what it
// moves gets gear f. Of a hinge or slide l = gear q, of a fixed tendon l = gear times its sum of coordinates; of a
// site and a free body l = 0. All kinds share their defaults: each sets some of the numbers of the same struct.
//
// Controls are those of the keyframe, or zero; they do not change, so that f is affine in q and q'.
#include <math.h>
#include <string.h>

#include "io/robots/mjcf/mjcf.h"

#define PI 3.14159265358979323846
#define MOST_LOOKS 1000000 // at actuators, for tendons

typedef struct Actuator {
  double gain[3], bias[3];
  int32_t gain_type, bias_type, dynamics;
} Actuator;

static const char *const dynamics[] = {"none",   "integrator", "filter", "filterexact",
                                       "muscle", "user",       NULL};
static const char *const gains[] = {"fixed", "affine", "muscle", "user", NULL};
static const char *const biases[] = {"none", "affine", "muscle", "user", NULL};
enum { INTEGRATOR = 1, MUSCLE_DYNAMICS = 4, AFFINE = 1, MUSCLE = 2 };

// ---- kinds ----

static CnStatus set_general(const CniXmlView *view, Actuator *a) {
  double numbers[10];
  int32_t n;
  CNI_TRY(cni_xml_choice(view, "dyntype", dynamics, &a->dynamics));
  CNI_TRY(cni_xml_choice(view, "gaintype", gains, &a->gain_type));
  CNI_TRY(cni_xml_choice(view, "biastype", biases, &a->bias_type));
  CNI_TRY(cni_xml_numbers(view, "gainprm", 1, 10, numbers, &n));
  for (int32_t i = 0; i < n && i < 3; i++) a->gain[i] = numbers[i];
  CNI_TRY(cni_xml_numbers(view, "biasprm", 1, 10, numbers, &n));
  for (int32_t i = 0; i < n && i < 3; i++) a->bias[i] = numbers[i];
  return CN_OK;
}

static CnStatus set_motor(const CniXmlView *view, Actuator *a) {
  (void)view;
  *a = (Actuator){.gain = {1}};
  return CN_OK;
}

static CnStatus set_position(const CniXmlView *view, Actuator *a) {
  double kp = a->gain[0], kv = -a->bias[2], ratio = 0, time = 0;
  int32_t n;
  CNI_TRY(cni_xml_number(view, "kp", &kp));
  CNI_TRY(cni_xml_number(view, "kv", &kv));
  CNI_TRY(cni_xml_numbers(view, "dampratio", 1, 1, &ratio, &n));
  if (n > 0) kv = -ratio; // the format knows a ratio by its sign (read_ratio)
  CNI_TRY(cni_xml_numbers(view, "timeconst", 1, 1, &time, &n));
  *a = (Actuator){.gain = {kp}, .bias = {0, -kp, -kv}, .bias_type = AFFINE};
  if (n > 0 && time > 0) a->dynamics = INTEGRATOR + 2;
  return CN_OK;
}

static CnStatus set_integrated(const CniXmlView *view, Actuator *a) {
  CNI_TRY(set_position(view, a));
  a->dynamics = INTEGRATOR;
  return CN_OK;
}

static CnStatus set_velocity(const CniXmlView *view, Actuator *a) {
  double kv = a->gain[0];
  CNI_TRY(cni_xml_number(view, "kv", &kv));
  *a = (Actuator){.gain = {kv}, .bias = {0, 0, -kv}, .bias_type = AFFINE};
  return CN_OK;
}

static CnStatus set_damper(const CniXmlView *view, Actuator *a) {
  double kv = 0;
  CNI_TRY(cni_xml_number(view, "kv", &kv));
  *a = (Actuator){.gain = {0, 0, -kv}, .gain_type = AFFINE};
  return CN_OK;
}

// Pressure follows the control; without one only the bias acts.
static CnStatus set_cylinder(const CniXmlView *view, Actuator *a) {
  static const char *const known[] = {"timeconst", NULL};
  double area = a->gain[0], diameter = 0;
  int32_t n;
  cni_xml_known(view, known);
  CNI_TRY(cni_xml_numbers(view, "bias", 3, 3, a->bias, NULL));
  CNI_TRY(cni_xml_number(view, "area", &area));
  CNI_TRY(cni_xml_numbers(view, "diameter", 1, 1, &diameter, &n));
  if (n > 0) area = PI / 4 * diameter * diameter;
  Actuator made = {.gain = {area}, .bias_type = AFFINE, .dynamics = INTEGRATOR + 1};
  memcpy(made.bias, a->bias, sizeof made.bias);
  *a = made;
  return CN_OK;
}

static const struct {
  const char *name;
  CnStatus (*set)(const CniXmlView *view, Actuator *a); // null: not understood
} kinds[] = {{"general", set_general},
             {"motor", set_motor},
             {"position", set_position},
             {"velocity", set_velocity},
             {"intvelocity", set_integrated},
             {"damper", set_damper},
             {"cylinder", set_cylinder},
             {"muscle", NULL},
             {"adhesion", NULL},
             {"plugin", NULL}};
#define KIND_COUNT (int32_t)(sizeof kinds / sizeof *kinds)

static int32_t find_kind(const CniXmlNode *node) {
  int32_t i = 0;
  while (i < KIND_COUNT && strcmp(kinds[i].name, node->name) != 0) i++;
  return i;
}

// The numbers of an actuator: the defaults of its classes, the farthest first, then its own.
static CnStatus read_law(const CniXmlView *view, Actuator *a) {
  *a = (Actuator){.gain = {1}};
  for (int32_t i = view->fallback_count; i >= 0; i--) {
    CniXmlView one = cni_xml_view(i > 0 ? view->fallbacks[i - 1] : view->node);
    int32_t kind = find_kind(one.node);
    if (kind < KIND_COUNT && kinds[kind].set) CNI_TRY(kinds[kind].set(&one, a));
  }
  return CN_OK;
}

// ---- control and force ----

static CnStatus read_range(CniMjcf *m, const CniXmlView *view, const char *name, const char *flag,
                           double range[2]) {
  double given[2];
  int32_t limited = 2, n;
  range[0] = -INFINITY, range[1] = INFINITY;
  CNI_TRY(cni_xml_numbers(view, name, 2, 2, given, &n));
  CNI_TRY(cni_mjcf_flag(view, flag, &limited));
  if (n == 0 || limited == 0 || (limited == 2 && !m->auto_limits)) return CN_OK;
  if (given[0] > given[1])
    return cni_xml_fail(view->node, "\"%s\" must be a range (got %g to %g)", name, given[0],
                        given[1]);
  range[0] = given[0], range[1] = given[1];
  return CN_OK;
}

// Controls as wide as the limits of the joint, times a factor.
static CnStatus inherit_range(const CniXmlView *view, const CniRobotJoint *j, double range[2]) {
  double by = 0;
  int32_t n;
  CNI_TRY(cni_xml_numbers(view, "inheritrange", 1, 1, &by, &n));
  if (n == 0 || !(by > 0) || !j || !j->limited || cni_xml_text(view, "ctrlrange")) return CN_OK;
  double middle = 0.5 * (j->lower + j->upper), half = 0.5 * by * (j->upper - j->lower);
  range[0] = middle - half, range[1] = middle + half;
  return CN_OK;
}

// A servo k (u - l) whose damper is above zero has a ratio of the critical damping there, for what its joints move
// as drawn.
static CnStatus read_ratio(CniMjcf *m, const CniXmlView *view, const CniRobotJoint *joint,
                           double gear, Actuator *a) {
  double mass = 0, ratio = a->bias[2];
  if (a->bias_type != AFFINE || a->gain_type > 0 || a->gain[0] != -a->bias[1] || !(ratio > 0))
    return CN_OK;
  if (joint && joint->coordinate && gear != 0) {
    CNI_TRY(cni_mjcf_inertia(m, joint, &mass));
    mass /= gear * gear;
  } else if (cni_xml_text(view, "tendon")) {
    CNI_TRY(cni_mjcf_tendon_mass(m, view, gear, &mass));
  }
  if (!(mass > 0))
    cni_robot_note(m->robot,
                   "beware: line %d: \"dampratio\" is of joints and fixed tendons: not used",
                   (int)view->node->line);
  a->bias[2] = -2 * ratio * sqrt(fmax(0, a->gain[0]) * mass);
  return CN_OK;
}

// f = push - stiffness l - damping l' within its range, as a motor of gear 1.
static CnStatus read_force(CniMjcf *m, const CniXmlView *view, int32_t index,
                           const CniRobotJoint *joint, double gear, CniRobotMotor *f) {
  Actuator a;
  double control[2], range[2], u = index < m->control_count ? m->control[index] : 0;
  int line = (int)view->node->line;
  CNI_TRY(read_law(view, &a));
  CNI_TRY(read_ratio(m, view, joint, gear, &a));
  CNI_TRY(read_range(m, view, "ctrlrange", "ctrllimited", control));
  CNI_TRY(inherit_range(view, joint, control));
  CNI_TRY(read_range(m, view, "forcerange", "forcelimited", range));
  u = fmin(fmax(u, control[0]), control[1]);
  if (u != 0 && a.dynamics == INTEGRATOR) {
    cni_robot_note(m->robot, "beware: line %d: the control %g is not summed up over time", line, u);
    u = 0;
  } else if (u != 0 && a.dynamics > INTEGRATOR) {
    cni_robot_note(m->robot, "beware: line %d: the control %g acts at once, without its filter",
                   line, u);
  }
  if (a.gain_type > AFFINE || a.bias_type > AFFINE || a.dynamics >= MUSCLE_DYNAMICS)
    a = (Actuator){0}, cni_robot_note(m->robot, "beware: line %d: a muscle is left out", line);
  double c[3] = {a.gain[0] * u, 0, 0};
  for (int32_t i = 0; i < 3; i++) {
    if (i > 0 && a.gain_type == AFFINE) c[i] = a.gain[i] * u;
    if (a.bias_type == AFFINE) c[i] += a.bias[i];
  }
  *f = (CniRobotMotor){
      .push = c[0], .stiffness = -c[1], .damping = -c[2], .lower = range[0], .upper = range[1]};
  return CN_OK;
}

// ---- what it moves ----

static void left_out(CniMjcf *m, const CniXmlView *view, const char *why) {
  cni_robot_note(m->robot, "beware: line %d: the actuator is left out: %s", (int)view->node->line,
                 why);
}

CnStatus cni_mjcf_drive(CniMjcf *m, const CniXmlView *view, CniRobotJoint *j, CniRobotMotor f,
                        double gear) {
  f.push *= gear;
  f.stiffness *= gear * gear;
  f.damping *= gear * gear;
  double lower = gear > 0 ? gear * f.lower : gear * f.upper;
  double upper = gear > 0 ? gear * f.upper : gear * f.lower;
  f.lower = gear == 0 ? -INFINITY : lower;
  f.upper = gear == 0 ? INFINITY : upper;
  if (j->bounded) {
    f.lower = fmax(f.lower, j->most[0]), f.upper = fmin(f.upper, j->most[1]);
    if (j->motor.there)
      cni_robot_note(m->robot,
                     "beware: line %d: \"actuatorfrcrange\" of %.60s holds for each of its "
                     "actuators, not for all together",
                     (int)view->node->line, j->name);
  }
  if (!cni_robot_drive(j, f))
    left_out(m, view,
             f.stiffness < 0 || f.damping < 0 ? "it pushes away from its target"
                                              : "two with a force range on one joint");
  return CN_OK;
}

static double steady(const CniRobotMotor *f) { return fmin(fmax(f->push, f->lower), f->upper); }

// At a site: force and torque in its axes, against the world.
static CnStatus push_site(CniMjcf *m, const CniXmlView *view, const CniMjcfSite *site,
                          const CniRobotMotor *f, const double gear[6]) {
  double by = steady(f);
  CnQuat turn = site->pose.rotation;
  const char *name = cni_xml_text(view, "name");
  if (cni_xml_text(view, "refsite")) {
    left_out(m, view, "it has a \"refsite\"");
    return CN_OK;
  }
  return cni_robot_load(m->robot, name ? name : site->name, site->body, site->pose.position,
                        cn_rotate(turn, cn_vec3(by * gear[0], by * gear[1], by * gear[2])),
                        cn_rotate(turn, cn_vec3(by * gear[3], by * gear[4], by * gear[5])), 1);
}

// On a free body: force along the axes of the world, torque about those of the body.
static CnStatus push_free(CniMjcf *m, const CniXmlView *view, int32_t body, const CniRobotMotor *f,
                          const double gear[6]) {
  double by = steady(f);
  const char *name = cni_xml_text(view, "name");
  CnVec3 force = cn_vec3(by * gear[0], by * gear[1], by * gear[2]);
  CnVec3 torque = cn_vec3(by * gear[3], by * gear[4], by * gear[5]);
  int parent = cni_xml_text(view, "jointinparent") != NULL;
  if (f->stiffness != 0 || f->damping != 0) {
    left_out(m, view, "a free body has motors without feedback only");
    return CN_OK;
  }
  CNI_TRY(cni_robot_load(m->robot, name, body, CN_VEC3_ZERO, force, CN_VEC3_ZERO, 0));
  return cni_robot_load(m->robot, name, body, CN_VEC3_ZERO, CN_VEC3_ZERO, torque, !parent);
}

static CnStatus read_actuator(CniMjcf *m, const CniXmlView *view, int32_t index) {
  static const char *const known[] = {"name", "group", "user", "lengthrange", NULL};
  CniRobotJoint *joint = NULL;
  CniMjcfSite *site;
  CniRobotMotor f;
  int32_t free_body = -1;
  double gear[6] = {1, 0, 0, 0, 0, 0};
  cni_xml_known(view, known);
  CNI_TRY(cni_xml_numbers(view, "gear", 1, 6, gear, NULL));
  CNI_TRY(cni_mjcf_joint_or_free(m, view, "joint", &joint, &free_body));
  if (!joint && free_body < 0)
    CNI_TRY(cni_mjcf_joint_or_free(m, view, "jointinparent", &joint, &free_body));
  CNI_TRY(cni_mjcf_site(m, view, "site", &site));
  CNI_TRY(read_force(m, view, index, joint, gear[0], &f));
  if (m->off & CNI_MJCF_ACTUATION) return CN_OK;
  if (free_body >= 0) return push_free(m, view, free_body, &f, gear);
  if (joint && joint->coordinate) return cni_mjcf_drive(m, view, joint, f, gear[0]);
  if (site) return push_site(m, view, site, &f, gear);
  if (cni_xml_text(view, "tendon")) return cni_mjcf_pull(m, view, f, gear[0]);
  left_out(m, view, joint ? "it turns a ball" : "joints, tendons and sites are moved only");
  return CN_OK;
}

// The names under which defaults of actuators stand.
static void name_kinds(const char *names[KIND_COUNT + 1]) {
  for (int32_t i = 0; i < KIND_COUNT; i++) names[i] = kinds[i].name;
  names[KIND_COUNT] = NULL;
}

CnStatus cni_mjcf_has_servo(CniMjcf *m, const char *tendon, int *servo) {
  const char *names[KIND_COUNT + 1];
  name_kinds(names);
  *servo = 0;
  for (CniXmlNode *section = NULL; (section = cni_xml_child(m->root, "actuator", section));)
    for (CniXmlNode *n = NULL; (n = cni_xml_next(section, n));) {
      CniXmlView view = cni_xml_view(n);
      const char *text = cni_xml_text(&view, "tendon");
      int32_t kind = find_kind(n);
      Actuator a;
      if (kind == KIND_COUNT || !kinds[kind].set || !text || strcmp(text, tendon) != 0) continue;
      if (++m->looks > MOST_LOOKS)
        return cni_xml_fail(n, "more than %d looks at actuators", MOST_LOOKS);
      CNI_TRY(cni_mjcf_view_as(m, n, NULL, names, &view));
      CNI_TRY(read_law(&view, &a));
      *servo |= a.bias_type == AFFINE || a.gain_type == AFFINE;
    }
  return CN_OK;
}

CnStatus cni_mjcf_actuators(CniMjcf *m, CniXmlNode *root) {
  const char *names[KIND_COUNT + 1];
  int32_t index = 0;
  name_kinds(names);
  for (CniXmlNode *section = NULL; (section = cni_xml_child(root, "actuator", section));)
    for (CniXmlNode *n = NULL; (n = cni_xml_next(section, n)); index++) {
      CniXmlView view;
      int32_t kind = find_kind(n);
      if (kind == KIND_COUNT || !kinds[kind].set) continue; // told as not used
      CNI_TRY(cni_mjcf_view_as(m, n, NULL, names, &view));
      CNI_TRY(read_actuator(m, &view, index));
    }
  return CN_OK;
}
