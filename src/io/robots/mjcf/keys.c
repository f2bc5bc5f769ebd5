// SPDX-License-Identifier: Apache-2.0
// MJCF: keyframes, each a start: coordinates, their rates, controls.
//
// A free body has seven coordinates (place, quaternion) and six rates: velocity of its origin in the axes of the
// world, spin in its own. A ball has a quaternion, and its spin in the axes of its body.
#include <string.h>

#include "io/robots/mjcf/mjcf.h"

typedef enum Sort { FREE, BALL, SINGLE } Sort;
static const int32_t coordinates[] = {7, 4, 1}, rates[] = {6, 3, 1};

static Sort sort_of(const CniMjcf *m, const CniMjcfPlace *place) {
  if (place->joint < 0) return FREE;
  return m->robot->joints[place->joint].kind == CN_JOINT_BALL ? BALL : SINGLE;
}

static CnStatus unit(CniXmlNode *key, const double *q, CnQuat *turn) {
  CnQuat given = {q[0], q[1], q[2], q[3]};
  if (!(cn_qnorm2(given) > 1e-24)) return cni_xml_fail(key, "a quaternion in \"qpos\" is zero");
  *turn = cn_qunit(given);
  return CN_OK;
}

static CnStatus use_coordinates(CniMjcf *m, CniXmlNode *key, const double *q) {
  for (int32_t i = 0; i < m->place_count; i++) {
    const CniMjcfPlace *place = &m->places[i];
    Sort sort = sort_of(m, place);
    if (sort == FREE) {
      CniRobotBody *b = &m->robot->bodies[place->body];
      b->start.position = cn_vec3(q[0], q[1], q[2]);
      CNI_TRY(unit(key, q + 3, &b->start.rotation));
      b->starts = 1; // equalities and springs keep what is drawn
    } else if (sort == BALL) {
      CNI_TRY(unit(key, q, &m->robot->joints[place->joint].turn));
    } else {
      m->robot->joints[place->joint].start = q[0];
    }
    q += coordinates[sort];
  }
  return CN_OK;
}

static void use_rates(CniMjcf *m, const double *v) {
  for (int32_t i = 0; i < m->place_count; i++) {
    const CniMjcfPlace *place = &m->places[i];
    Sort sort = sort_of(m, place);
    if (sort == FREE) {
      CniRobotBody *b = &m->robot->bodies[place->body];
      b->velocity = cn_vec3(v[0], v[1], v[2]);
      b->spin = cn_vec3(v[3], v[4], v[5]);
    } else {
      memcpy(m->robot->joints[place->joint].rate, v, (size_t)rates[sort] * sizeof *v);
    }
    v += rates[sort];
  }
}

static CnStatus use_key(CniMjcf *m, CniXmlNode *key) {
  CniXmlView view = cni_xml_view(key);
  CniRobot *robot = m->robot;
  static const char *const known[] = {"name", "time", NULL};
  int32_t q_count = 0, v_count = 0, given;
  double *q, *v, *control;
  cni_xml_known(&view, known);
  for (int32_t i = 0; i < m->place_count; i++) {
    q_count += coordinates[sort_of(m, &m->places[i])];
    v_count += rates[sort_of(m, &m->places[i])];
  }
  CNI_TRY(cni_arena_array(&robot->arena, q_count, sizeof *q, &q));
  CNI_TRY(cni_xml_numbers(&view, "qpos", q_count, q_count, q, &given));
  if (given > 0) CNI_TRY(use_coordinates(m, key, q));
  CNI_TRY(cni_arena_array(&robot->arena, v_count, sizeof *v, &v));
  CNI_TRY(cni_xml_numbers(&view, "qvel", v_count, v_count, v, &given));
  if (given > 0) use_rates(m, v);
  const char *text = cni_xml_text(&view, "ctrl");
  size_t most = text ? strlen(text) / 2 + 1 : 0;
  CNI_TRY(cni_arena_array(&robot->arena, (int64_t)most, sizeof *control, &control));
  CNI_TRY(cni_xml_numbers(&view, "ctrl", 0, (int32_t)most, control, &m->control_count));
  m->control = control;
  return CN_OK;
}

CnStatus cni_mjcf_keys(CniMjcf *m, CniXmlNode *root) {
  double asked = 0;
  int32_t count = 0;
  cni_robot_asked(m->robot, "keyframe", &asked);
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "keyframe", n));)
    for (CniXmlNode *key = NULL; (key = cni_xml_child(n, "key", key));) {
      CniXmlView view = cni_xml_view(key);
      const char *name = cni_xml_text(&view, "name");
      // of a keyframe that does not start it nothing is missed
      static const char *const known[] = {"qpos", "qvel", "ctrl",  "act",
                                          "time", "mpos", "mquat", NULL};
      count++;
      if (asked == count)
        CNI_TRY(use_key(m, key));
      else
        cni_xml_known(&view, known);
      if (asked == 0)
        cni_robot_note(m->robot, "keyframe %d (%.60s) may start it: --set keyframe=%d", (int)count,
                       name ? name : "no name", (int)count);
    }
  if (asked < 0 || asked > count || asked != (int32_t)asked)
    return cni_bad_data("%s: there is no keyframe %g (%d in the file)", m->robot->def->path, asked,
                        (int)count);
  return CN_OK;
}
