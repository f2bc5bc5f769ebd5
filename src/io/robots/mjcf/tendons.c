// SPDX-License-Identifier: Apache-2.0
// MJCF: tendons, what they hold and what pulls at them.
//
// A fixed tendon is a sum of coordinates, L = sum c q. Its limits are couplings that hold one way, its equality a
// coupling. A spring or a servo on it acts on one coordinate where there is only one, or where equalities of
// joints lead the others: then L = c q + e.
// Of several joints that nothing couples it gets a spool where the setting "tendons" asks for it: a body of almost no mass, on a slide across gravity, whose
// way is the tendon's length by a coupling; what acts on the tendon acts on the slide.
// A spatial tendon is a straight line between two sites, beside lines between sites that do not move against each
// other: a spring, a rope of its greatest length, a rod.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/robots/mjcf/mjcf.h"

#define MOST_LOOKS 1000000 // at equalities of joints, for all tendons
#define LIGHT 1e-7         // a spool's mass over that of what the tendon moves, seen there

typedef struct Sum {
  CniRobotJoint *joints[CN_COUPLING_TERMS];
  double coefficients[CN_COUPLING_TERMS];
  int32_t count;
  double drawn; // its length with all coordinates at their ref
} Sum;

typedef struct Line {
  CniMjcfSite *from, *to; // null: it has no part that changes
  double still;           // m, length of the parts that do not
  double drawn;           // m, of the whole
} Line;

typedef struct Tendon {
  double stiffness, damping, friction, armature, range[2], rest[2];
  int32_t limited, range_count, rest_count;
} Tendon;

static void left_out(CniMjcf *m, const CniXmlView *view, const char *what) {
  cni_robot_note(m->robot, "beware: line %d: %s", (int)view->node->line, what);
}

// ---- lengths ----

static CnStatus read_sum(CniMjcf *m, CniXmlNode *node, Sum *sum) {
  *sum = (Sum){0};
  for (CniXmlNode *n = NULL; (n = cni_xml_child(node, "joint", n));) {
    CniXmlView v = cni_xml_view(n);
    CniRobotJoint *j;
    double coefficient = 1;
    CNI_TRY(cni_mjcf_joint(m, &v, "joint", &j));
    CNI_TRY(cni_xml_number(&v, "coef", &coefficient));
    int single = j && (j->kind == CN_JOINT_REVOLUTE || j->kind == CN_JOINT_PRISMATIC);
    if (!single || sum->count == CN_COUPLING_TERMS)
      return cni_xml_fail(n, "needs a hinge or slide, and there are at most %d", CN_COUPLING_TERMS);
    sum->joints[sum->count] = j;
    sum->coefficients[sum->count++] = coefficient;
    sum->drawn += coefficient * j->ref;
  }
  return CN_OK;
}

// q of `follower` = ratio q of `leader` + offset, by an equality of joints; 0: there is none.
static CnStatus led_by(CniMjcf *m, const CniRobotJoint *follower, const CniRobotJoint *leader,
                       double *ratio, double *offset, int *found) {
  *found = 0;
  if (m->off & CNI_MJCF_EQUALITY) return CN_OK;
  for (CniXmlNode *section = NULL; (section = cni_xml_child(m->root, "equality", section));)
    for (CniXmlNode *n = NULL; !*found && (n = cni_xml_next(section, n));) {
      CniXmlView v = cni_xml_view(n);
      CniRobotJoint *a, *b;
      double c[5] = {0, 1, 0, 0, 0};
      int32_t active = 1;
      if (strcmp(n->name, "joint") != 0) continue;
      if (++m->looks > MOST_LOOKS)
        return cni_xml_fail(n, "more than %d pairs of tendons and equalities", MOST_LOOKS);
      CNI_TRY(cni_mjcf_flag(&v, "active", &active));
      CNI_TRY(cni_mjcf_joint(m, &v, "joint1", &a));
      CNI_TRY(cni_mjcf_joint(m, &v, "joint2", &b));
      CNI_TRY(cni_xml_numbers(&v, "polycoef", 1, 5, c, NULL));
      int ahead = a == follower && b == leader, back = a == leader && b == follower;
      if (!active || !(ahead || back) || c[2] != 0 || c[3] != 0 || c[4] != 0 || c[1] == 0) continue;
      *found = 1;
      *ratio = ahead ? c[1] : 1 / c[1];
      *offset = ahead ? a->ref + c[0] - c[1] * b->ref : b->ref - (a->ref + c[0]) / c[1];
    }
  return CN_OK;
}

// L = c q + e of the first joint that leads all others; *c is 0 where there is none.
static CnStatus reduce(CniMjcf *m, const Sum *sum, CniRobotJoint **joint, double *c, double *e) {
  *c = 0;
  for (int32_t i = 0; i < sum->count && *c == 0; i++) {
    double factor = sum->coefficients[i], shift = 0;
    int all = 1;
    for (int32_t k = 0; k < sum->count && all; k++) {
      double ratio, offset;
      if (k == i) continue;
      CNI_TRY(led_by(m, sum->joints[k], sum->joints[i], &ratio, &offset, &all));
      if (!all) break;
      factor += sum->coefficients[k] * ratio;
      shift += sum->coefficients[k] * offset;
    }
    if (!all) continue;
    *joint = sum->joints[i];
    *c = factor;
    *e = shift;
  }
  return CN_OK;
}

static int32_t group_of(const CniRobot *robot, const CniMjcfSite *site) {
  return site->body == CNI_ROBOT_WORLD ? CNI_ROBOT_WORLD : robot->bodies[site->body].group;
}

// 0: more than one part changes, or it goes round something.
static CnStatus read_line(CniMjcf *m, CniXmlNode *node, Line *line, int *good) {
  CniMjcfSite *last = NULL, *site;
  *line = (Line){0};
  *good = 1;
  for (CniXmlNode *n = NULL; (n = cni_xml_next(node, n)); last = site) {
    CniXmlView v = cni_xml_view(n);
    n->used = 1;
    if (strcmp(n->name, "site") != 0) {
      *good = 0;
      return CN_OK;
    }
    CNI_TRY(cni_mjcf_site(m, &v, "site", &site));
    if (!site) return cni_xml_fail(n, "needs \"site\"");
    if (!last) continue;
    CnVec3 a = cn_pose_point(cni_mjcf_drawn(m->robot, last->body), last->pose.position);
    CnVec3 b = cn_pose_point(cni_mjcf_drawn(m->robot, site->body), site->pose.position);
    double length = cn_norm(cn_sub(b, a));
    line->drawn += length;
    if (group_of(m->robot, last) == group_of(m->robot, site)) {
      line->still += length;
    } else if (line->from) {
      *good = 0;
    } else {
      line->from = last;
      line->to = site;
    }
  }
  return CN_OK;
}

static CnStatus link_line(CniMjcf *m, const Line *line, json_t *list, const char *kind,
                          const char *name, json_t **item) {
  CnPose fa = {line->from->pose.position, CN_QUAT_ONE}, fb = {line->to->pose.position, CN_QUAT_ONE};
  return cni_robot_link(m->robot, list, kind, name, line->from->body, fa, line->to->body, fb, item);
}

// ---- spools ----

static CniRobotJoint *spool_of(const CniMjcf *m, const CniXmlNode *node) {
  for (int32_t i = 0; i < m->spool_count; i++)
    if (m->spools[i].tendon == node) return &m->robot->joints[m->spools[i].joint];
  return NULL;
}

// The joint on which a fixed tendon acts: L = c q + e; null: there is none.
static CnStatus find_joint(CniMjcf *m, CniXmlNode *node, const Sum *sum, CniRobotJoint **joint,
                           double *c, double *e) {
  *c = 1, *e = 0;
  if ((*joint = spool_of(m, node))) return CN_OK;
  return reduce(m, sum, joint, c, e);
}

static CnStatus add_spool(CniMjcf *m, CniXmlNode *node, const Sum *sum) {
  CniRobot *robot = m->robot;
  CniXmlView view = cni_xml_view(node);
  CnVec3 down = m->gravity, across = {-down.y, down.x, 0};
  double least = INFINITY;
  int32_t body, index;
  if (!(cn_norm(across) > 1e-9 * cn_norm(down))) across = cn_vec3(1, 0, 0);
  const char *name = cni_xml_text(&view, "name");
  if (name && cni_name_find(&robot->joint_names, name) >= 0) name = NULL;
  CniRobotJoint joint = {.node = node,
                         .kind = CN_JOINT_PRISMATIC,
                         .axis = across,
                         .turn = CN_QUAT_ONE,
                         .source = name};
  for (int32_t i = 0; i < sum->count; i++) {
    double value = sum->joints[i]->start, mass, c = sum->coefficients[i];
    cni_robot_asked(robot, sum->joints[i]->source, &value);
    joint.start += c * value;
    joint.rate[0] += c * sum->joints[i]->rate[0];
    CNI_TRY(cni_mjcf_inertia(m, sum->joints[i], &mass));
    if (c != 0) least = fmin(least, mass / (c * c));
  }
  if (!(least < INFINITY)) return CN_OK;
  // joints move as the list grows
  CniMjcfSpool spool = {.tendon = node};
  char own[400];
  int n = snprintf(own, sizeof own, "%.300s_spool", name ? name : "tendon");
  const char *called = cni_xml_keep(&robot->arena, own, (size_t)n);
  if (!called) return cni_error_memory(sizeof own);
  if (cni_name_find(&robot->body_names, called) >= 0) called = NULL;
  CNI_TRY(cni_robot_add_body(robot, called, node, CNI_ROBOT_WORLD, CN_POSE_ONE, &body));
  robot->bodies[body].mass = LIGHT * least;
  robot->bodies[body].inertia =
      cn_sdiag(0.01 * LIGHT * least, 0.01 * LIGHT * least, 0.01 * LIGHT * least);
  CNI_TRY(cni_robot_add_joint(robot, &joint, &index));
  spool.joint = index;
  return CNI_PUSH(robot->allocator, m->spools, m->spool_capacity, m->spool_count, spool);
}

// Before settling: of tendons that a spring or a servo acts on.
CnStatus cni_mjcf_spools(CniMjcf *m, CniXmlNode *root) {
  static const char *const names[] = {"tendon", NULL};
  double asked = 0;
  cni_robot_asked(m->robot, "tendons", &asked);
  if (asked == 0) return CN_OK;
  for (CniXmlNode *section = NULL; (section = cni_xml_child(root, "tendon", section));)
    for (CniXmlNode *n = NULL; (n = cni_xml_child(section, "fixed", n));) {
      CniXmlView view;
      Sum sum;
      CniRobotJoint *joint = NULL;
      double c, e = 0, acts[4] = {0};
      static const char *const kinds[] = {"stiffness", "damping", "frictionloss", "armature"};
      CNI_TRY(cni_mjcf_view_as(m, n, NULL, names, &view));
      CNI_TRY(read_sum(m, n, &sum));
      for (int32_t i = 0; i < 4; i++) CNI_TRY(cni_xml_number(&view, kinds[i], &acts[i]));
      const char *name = cni_xml_text(&view, "name");
      int servo = 0;
      if (name) CNI_TRY(cni_mjcf_has_servo(m, name, &servo));
      if (!servo && acts[0] == 0 && acts[1] == 0 && acts[2] == 0 && acts[3] == 0) continue;
      if (sum.count < 2 || sum.count >= CN_COUPLING_TERMS) continue;
      CNI_TRY(reduce(m, &sum, &joint, &c, &e));
      if (c == 0) CNI_TRY(add_spool(m, n, &sum));
    }
  return CN_OK;
}

// After settling: its way is the tendon's length.
static CnStatus couple_spool(CniMjcf *m, const CniXmlView *view, const Sum *sum) {
  CniRobot *robot = m->robot;
  const CniRobotJoint *joint = spool_of(m, view->node);
  const char *name;
  if (!joint) return CN_OK;
  CNI_TRY(cni_mjcf_name(m, view, 3, &name));
  json_t *terms = json_array();
  json_t *item = json_pack("{s:s, s:o, s:f}", "name", name, "terms", terms, "offset", 0.0);
  cni_robot_push(robot, robot->couplings, item);
  if (!item) return cni_error_memory(1);
  cni_robot_push(robot, terms, cni_robot_term(joint, -1));
  for (int32_t i = 0; i < sum->count; i++)
    cni_robot_push(robot, terms, cni_robot_term(sum->joints[i], sum->coefficients[i]));
  return CN_OK;
}

// ---- springs and limits ----

static CnStatus read_tendon(CniMjcf *m, const CniXmlView *view, Tendon *t) {
  static const char *const known[] = {"name", "group", "rgba", "width", "material", "user", NULL};
  int32_t limited = 2;
  cni_xml_known(view, known);
  CNI_TRY(cni_xml_number(view, "stiffness", &t->stiffness));
  CNI_TRY(cni_xml_number(view, "damping", &t->damping));
  CNI_TRY(cni_xml_number(view, "frictionloss", &t->friction));
  CNI_TRY(cni_xml_number(view, "armature", &t->armature));
  CNI_TRY(cni_xml_numbers(view, "range", 2, 2, t->range, &t->range_count));
  CNI_TRY(cni_xml_numbers(view, "springlength", 1, 2, t->rest, &t->rest_count));
  CNI_TRY(cni_mjcf_flag(view, "limited", &limited));
  t->limited = limited == 2 ? t->range_count > 0 && m->auto_limits : limited;
  if (m->off & CNI_MJCF_LIMIT) t->limited = 0;
  if (m->off & CNI_MJCF_PASSIVE) t->stiffness = t->damping = 0;
  if (m->off & CNI_MJCF_FRICTION) t->friction = 0;
  if (t->stiffness > 0 && t->rest_count == 2 && t->rest[0] != t->rest[1])
    left_out(m, view, "the spring of a tendon has one length, the first");
  return CN_OK;
}

static double rest_of(const Tendon *t, double drawn) {
  return t->rest_count > 0 && t->rest[0] >= 0 ? t->rest[0] : drawn;
}

// A sum of coordinates that comes not below a bound, with the sign 1, or not above it, with -1.
static CnStatus limit_sum(CniMjcf *m, const CniXmlView *view, const Sum *sum, double bound,
                          double sign) {
  CniRobot *robot = m->robot;
  const char *name;
  CNI_TRY(cni_mjcf_name(m, view, 3, &name));
  json_t *item = json_pack("{s:s, s:[], s:f, s:b}", "name", name, "terms", "offset", sign * bound,
                           "one_sided", 1);
  cni_robot_push(robot, robot->couplings, item);
  if (!item) return cni_error_memory(1);
  for (int32_t i = 0; i < sum->count; i++)
    cni_robot_push(robot, json_object_get(item, "terms"),
                   cni_robot_term(sum->joints[i], sign * sum->coefficients[i]));
  return CN_OK;
}

static CnStatus read_fixed(CniMjcf *m, const CniXmlView *view, const Tendon *t) {
  Sum sum;
  CniRobotJoint *joint = NULL;
  double c = 0, e = 0;
  CNI_TRY(read_sum(m, view->node, &sum));
  CNI_TRY(couple_spool(m, view, &sum));
  CNI_TRY(find_joint(m, view->node, &sum, &joint, &c, &e));
  if ((t->friction > 0 || t->armature > 0) && c == 0)
    left_out(m, view,
             "friction and armature of a fixed tendon of several joints are left out (--set "
             "tendons=1 makes a body for it)");
  if (c != 0) {
    joint->friction += t->friction * fabs(c);
    joint->armature += t->armature * c * c;
  }
  if (t->stiffness > 0 || t->damping > 0) {
    double k = t->stiffness * c * c;
    CniRobotMotor spring = {.push = t->stiffness * c * (rest_of(t, sum.drawn) - e)};
    if (c == 0)
      left_out(m, view,
               "the spring of a fixed tendon of several joints is left out (--set tendons=1 makes "
               "a body for it)");
    else
      cni_robot_spring(joint, spring.push, k, t->damping * c * c);
  }
  if (!t->limited) return CN_OK;
  CNI_TRY(limit_sum(m, view, &sum, t->range[0], 1));
  return limit_sum(m, view, &sum, t->range[1], -1);
}

static CnStatus read_spatial(CniMjcf *m, const CniXmlView *view, const Tendon *t) {
  Line line;
  int good, acts = t->stiffness > 0 || t->damping > 0 || t->limited;
  const char *name;
  json_t *item;
  CNI_TRY(read_line(m, view->node, &line, &good));
  if (t->friction > 0 || t->armature > 0)
    left_out(m, view, "friction and armature of a spatial tendon are left out");
  if (!good && acts)
    left_out(m, view, "a tendon of more than two sites that move against each other is left out");
  if (!good || !line.from) return CN_OK;
  if (t->stiffness > 0 || t->damping > 0) {
    CNI_TRY(cni_mjcf_name(m, view, 3, &name));
    CNI_TRY(link_line(m, &line, m->robot->forces, "spring", name, &item));
    if (item) {
      cni_robot_put(m->robot, item, "stiffness", json_real(t->stiffness));
      cni_robot_put(m->robot, item, "damping", json_real(t->damping));
      double rest = rest_of(t, line.drawn) - line.still;
      if (!(rest > 0) && t->stiffness > 0)
        left_out(m, view, "a tendon's spring of no length gets one of a micrometre");
      cni_robot_put(m->robot, item, "rest_length", json_real(fmax(rest, 1e-6)));
    }
  }
  if (!t->limited) return CN_OK;
  if (t->range[0] > 0) left_out(m, view, "the least length of a tendon is left out");
  if (!(t->range[1] > line.still)) return CN_OK;
  CNI_TRY(cni_mjcf_name(m, view, 1, &name));
  CNI_TRY(link_line(m, &line, m->robot->links, "rope", name, &item));
  if (item) cni_robot_put(m->robot, item, "distance", json_real(t->range[1] - line.still));
  return CN_OK;
}

CnStatus cni_mjcf_tendons(CniMjcf *m, CniXmlNode *root) {
  static const struct {
    const char *name;
    CnStatus (*read)(CniMjcf *m, const CniXmlView *view, const Tendon *t);
  } rows[] = {{"fixed", read_fixed}, {"spatial", read_spatial}};
  static const char *const names[] = {"tendon", NULL}; // of defaults
  for (CniXmlNode *section = NULL; (section = cni_xml_child(root, "tendon", section));)
    for (CniXmlNode *n = NULL; (n = cni_xml_next(section, n));)
      for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, n->name) != 0) continue;
        CniXmlView view;
        Tendon t = {0};
        CNI_TRY(cni_mjcf_view_as(m, n, NULL, names, &view));
        CNI_TRY(read_tendon(m, &view, &t));
        CNI_TRY(rows[i].read(m, &view, &t));
      }
  return CN_OK;
}

// ---- what refers to tendons ----

// The element of a tendon by the attribute that names it; absent: null.
static CnStatus find_tendon(CniMjcf *m, const CniXmlView *view, const char *attribute,
                            CniXmlNode **node) {
  const char *text = cni_xml_text(view, attribute);
  *node = NULL;
  if (!text) return CN_OK;
  for (CniXmlNode *section = NULL; (section = cni_xml_child(m->root, "tendon", section));)
    for (CniXmlNode *n = NULL; (n = cni_xml_next(section, n));) {
      CniXmlView v = cni_xml_view(n);
      const char *name = cni_xml_text(&v, "name");
      if (name && strcmp(name, text) == 0) *node = n;
    }
  return *node ? CN_OK : cni_xml_fail(view->node, "no tendon is called %.60s", text);
}

static int is_fixed(const CniXmlNode *node) { return strcmp(node->name, "fixed") == 0; }

// A servo between two sites is a spring.
static CnStatus pull_line(CniMjcf *m, const CniXmlView *view, CniXmlNode *node, CniRobotMotor f) {
  Line line;
  int good;
  const char *name;
  json_t *item;
  CNI_TRY(read_line(m, node, &line, &good));
  if (f.push == 0 && f.stiffness == 0 && f.damping == 0) return CN_OK;
  double rest = f.stiffness > 0 ? f.push / f.stiffness - line.still : 1;
  int plain = f.stiffness >= 0 && f.damping >= 0 && (f.stiffness > 0 || f.push == 0) && rest > 0;
  if (!good || !line.from || !plain || isfinite(f.lower) || isfinite(f.upper)) {
    left_out(m, view, "the actuator of a spatial tendon is left out: no spring does the same");
    return CN_OK;
  }
  CNI_TRY(cni_mjcf_name(m, view, 3, &name));
  CNI_TRY(link_line(m, &line, m->robot->forces, "spring", name, &item));
  if (!item) return CN_OK;
  cni_robot_put(m->robot, item, "stiffness", json_real(f.stiffness));
  cni_robot_put(m->robot, item, "damping", json_real(f.damping));
  cni_robot_put(m->robot, item, "rest_length", json_real(rest));
  return CN_OK;
}

CnStatus cni_mjcf_tendon_mass(CniMjcf *m, const CniXmlView *view, double gear, double *mass) {
  CniXmlNode *node;
  Sum sum;
  *mass = 0;
  CNI_TRY(find_tendon(m, view, "tendon", &node));
  if (!is_fixed(node)) return CN_OK;
  CNI_TRY(read_sum(m, node, &sum));
  for (int32_t i = 0; i < sum.count; i++) {
    double one, by = gear * sum.coefficients[i];
    CNI_TRY(cni_mjcf_inertia(m, sum.joints[i], &one));
    if (fabs(by) > 1e-9) *mass += one / (by * by);
  }
  return CN_OK;
}

CnStatus cni_mjcf_pull(CniMjcf *m, const CniXmlView *view, CniRobotMotor f, double gear) {
  CniXmlNode *node;
  CniRobotJoint *joint = NULL;
  Sum sum;
  double c = 0, e = 0;
  CNI_TRY(find_tendon(m, view, "tendon", &node));
  if (!is_fixed(node)) {
    CniRobotMotor whole = {
        gear * f.push, gear * gear * f.stiffness, gear * gear * f.damping, f.lower, f.upper, 0, 1};
    return pull_line(m, view, node, whole);
  }
  CNI_TRY(read_sum(m, node, &sum));
  if (f.stiffness == 0 && f.damping == 0) {
    for (int32_t i = 0; i < sum.count; i++)
      CNI_TRY(cni_mjcf_drive(m, view, sum.joints[i], f, gear * sum.coefficients[i]));
    return CN_OK;
  }
  CNI_TRY(find_joint(m, node, &sum, &joint, &c, &e));
  if (c == 0) {
    left_out(m, view,
             "the servo of a fixed tendon of several joints is left out (--set tendons=1 makes a "
             "body for it)");
    return CN_OK;
  }
  f.push -= f.stiffness * gear * e;
  return cni_mjcf_drive(m, view, joint, f, gear * c);
}

// Sums keep a linear relation as drawn; a line keeps its length.
CnStatus cni_mjcf_tendon_equality(CniMjcf *m, const CniXmlView *view) {
  CniXmlNode *first, *second;
  double c[5] = {0, 1, 0, 0, 0};
  const char *name;
  Sum a, b = {0};
  CNI_TRY(find_tendon(m, view, "tendon1", &first));
  CNI_TRY(find_tendon(m, view, "tendon2", &second));
  CNI_TRY(cni_xml_numbers(view, "polycoef", 1, 5, c, NULL));
  if (!first) return cni_xml_fail(view->node, "needs \"tendon1\"");
  int linear = !second || (c[2] == 0 && c[3] == 0 && c[4] == 0);
  if (!is_fixed(first) && !second) {
    Line line;
    int good;
    json_t *item;
    CNI_TRY(read_line(m, first, &line, &good));
    double length = line.drawn + c[0] - line.still;
    if (good && line.from && length > 0) {
      CNI_TRY(cni_mjcf_name(m, view, 1, &name));
      CNI_TRY(link_line(m, &line, m->robot->links, "distance", name, &item));
      if (item) cni_robot_put(m->robot, item, "distance", json_real(length));
      return CN_OK;
    }
  }
  if (is_fixed(first)) CNI_TRY(read_sum(m, first, &a));
  if (second && is_fixed(second)) CNI_TRY(read_sum(m, second, &b));
  if (!is_fixed(first) || (second && !is_fixed(second)) || !linear ||
      a.count + b.count > CN_COUPLING_TERMS || a.count == 0) {
    left_out(m, view, "an equality of tendons other than linear ones of fixed tendons is left out");
    return CN_OK;
  }
  CNI_TRY(cni_mjcf_name(m, view, 3, &name));
  double offset = c[0] + a.drawn - (second ? c[1] * b.drawn : 0);
  json_t *item = json_pack("{s:s, s:[], s:f}", "name", name, "terms", "offset", offset);
  cni_robot_push(m->robot, m->robot->couplings, item);
  if (!item) return cni_error_memory(1);
  json_t *terms = json_object_get(item, "terms");
  for (int32_t i = 0; i < a.count; i++)
    cni_robot_push(m->robot, terms, cni_robot_term(a.joints[i], a.coefficients[i]));
  for (int32_t i = 0; i < b.count; i++)
    cni_robot_push(m->robot, terms, cni_robot_term(b.joints[i], -c[1] * b.coefficients[i]));
  return CN_OK;
}
