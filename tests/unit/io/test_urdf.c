// SPDX-License-Identifier: Apache-2.0
// URDF files as people have them: comments with hyphens, UTF-16, inertias of few digits; and what is not taken.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>

#include "io/robots/robot.h"

static CnStatus translate(const char *text, size_t size, CnScene **scene) {
  CniRobotDef def = {"r.urdf", "", CN_POSE_ONE, NULL, 0, NULL};
  CnAllocator allocator = cn_allocator_default();
  char *made = NULL;
  size_t length = 0;
  CnStatus status = cni_robot_text(&def, text, size, &allocator, &made, &length);
  if (status != CN_OK) return status;
  status = cn_scene_parse(made, length, "r.urdf", NULL, 0, NULL, scene);
  allocator.release(allocator.context, made, length + 1);
  return status;
}

static const char *notes_of(CnScene *scene) {
  static CnSceneInfo info;
  cn_scene_info(scene, &info);
  return info.description;
}

#define LINK(mass, inertia)                                                                        \
  "<link name='a'><inertial>" mass "<inertia " inertia                                             \
  " ixy='0' ixz='0' iyz='0'/></inertial></link>"
#define ROUND "ixx='1' iyy='1' izz='1'"

#define LINK_B(type, inside)                                                                       \
  "<link name='b'/><joint name='j' type='" type "'><parent link='a'/><child link='b'/>" inside     \
  "</joint>"

static void taken(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"<robot><!-- ---- a -- b --->" LINK("<mass value='1'/>", ROUND) "<!----></robot>", ""},
      {"<robot>" LINK("<mass value='1'/>", "ixx='.010' iyy='.020' izz='.0301'") "</robot>",
       "a (line 1): the inertia 0.01, 0.02, 0.0301 is of no solid: taken as 0.01, 0.02, 0.03"},
      {"<robot>" LINK("<mass value='1'/>", "ixx='1' iyy='0' izz='5'") "</robot>",
       "beware: a (line 1): the inertia 0, 1, 5 is of no solid: taken as 0.005, 1, 1.005"},
      {"<robot><link name='a'><collision><geometry><cylinder radius='0' length='1'/></geometry></"
       "collision></link></robot>",
       "beware: line 1: a cylinder of no size is left out"},
      {"<robot><link name='a'><collision><geometry><mesh filename='../nosuch/a.stl'/></geometry>"
       "</collision></link></robot>",
       "beware: line 1: the mesh ../nosuch/a.stl is not there: left out"},
      {"<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='a'/>"
       "<child link='b'/></joint><transmission name='t'><joint name='j'/></transmission></robot>",
       "line 1: a transmission to j, which is no joint that moves"},
      {"<robot><link name='a'/>" LINK_B("revolute", "<limit effort='1' velocity='1'/>") "</robot>",
       "j (line 1) has neither \"lower\" nor \"upper\": it is unlimited"},
      {"<robot>" LINK("<mass value='0'/>", ROUND) "</robot>",
       "beware: a (line 1) has inertia but no mass"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CnScene *scene;
    CHECK_OK(translate(cases[i][0], strlen(cases[i][0]), &scene));
    CHECK_TEXT(notes_of(scene), cases[i][1]);
    cn_scene_destroy(scene);
  }
}

// The same file in UTF-16 of both orders.
static void wide(void **state) {
  (void)state;
  const char *text = "<robot name='r'>" LINK("<mass value='1'/>", ROUND) "</robot>";
  size_t length = strlen(text);
  char *bytes = calloc(2 * length + 2, 1);
  for (int32_t order = 0; order < 2; order++) {
    CnScene *scene;
    memcpy(bytes, order ? "\xFE\xFF" : "\xFF\xFE", 2);
    for (size_t i = 0; i < length; i++) {
      bytes[2 + 2 * i + (size_t)order] = text[i];
      bytes[3 + 2 * i - (size_t)order] = 0;
    }
    CHECK(cni_robot_is(bytes, 2 * length + 2));
    CHECK_OK(translate(bytes, 2 * length + 2, &scene));
    cn_scene_destroy(scene);
  }
  free(bytes);
}

static void refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"<robot>" LINK("<mass>2</mass>", ROUND) "</robot>",
                                          "r.urdf: line 1: <mass>: needs \"value\""},
                                         {"<robot>" LINK("<mass value='${m}'/>", ROUND) "</robot>",
                                          "r.urdf: line 1: <mass>: \"value\" must be finite "
                                          "numbers: xacro is not run here, expand the file "
                                          "first (got \"${m}\")"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CnScene *scene;
    CHECK_STATUS(translate(cases[i][0], strlen(cases[i][0]), &scene), CN_INVALID_DATA);
    assert_string_equal(cn_error_message(), cases[i][1]);
  }
}

// A setting of another format is told, and one that is a joint's name is that joint's.
static void of_others(void **state) {
  (void)state;
  static const CnSetting settings[] = {{"floating", 1}, {"keyframe", 0}};
  const char *text = "<robot name='r'>" LINK("<mass value='1'/>", ROUND) "</robot>";
  CniRobotDef def = {"r.urdf", "", CN_POSE_ONE, settings, 2, NULL};
  CnAllocator allocator = cn_allocator_default();
  char *made = NULL;
  size_t length = 0;
  CHECK_OK(cni_robot_text(&def, text, strlen(text), &allocator, &made, &length));
  CHECK(strstr(made, "beware: keyframe is for MJCF and does nothing to URDF"));
  CHECK(!strstr(made, "beware: floating"));
  allocator.release(allocator.context, made, length + 1);
}

// Three joints, each of which follows the one before: by a factor and an offset of the last one.
static CnStatus translate_circle(const char *last, CnScene **scene) {
  char text[4000];
  size_t n = (size_t)snprintf(text, sizeof text, "<robot>" LINK("<mass value='1'/>", ROUND));
  for (int i = 1; i <= 3; i++)
    n += (size_t)snprintf(
        text + n, sizeof text - n,
        "<link name='l%d'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial></link><joint name='j%d' type='continuous'><parent link='a'/>"
        "<child link='l%d'/><origin xyz='0 %d 0'/><axis xyz='0 1 0'/><mimic joint='j%d' "
        "%s/></joint>",
        i, i, i, i, i == 1 ? 3 : i - 1,
        i == 1   ? last
        : i == 2 ? "multiplier='-2' offset='.5'"
                 : "");
  snprintf(text + n, sizeof text - n, "</robot>");
  return translate(text, strlen(text), scene);
}

// j2 = .5 - 2 j1, j3 = j2: with j1 = m j3 + o it says nothing new where m = -.5, o = .25.
static void circles(void **state) {
  (void)state;
  CnScene *scene = NULL;
  CnWorld *world = NULL;
  CnMechanism m;
  CHECK_OK(translate_circle("multiplier='-.5' offset='.25'", &scene));
  CHECK(strstr(notes_of(scene), "circle") == NULL);
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  CHECK_OK(cn_world_mechanism(world, &m, NULL, 0));
  CHECK(m.freedoms == 1 && m.dependent_count == 1 && m.turn_error < 1e-12);
  for (int i = 0; i < 10; i++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(world, &report));
    CHECK(report.solve.infeasible_count == 0);
  }
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  CHECK_OK(translate_circle("multiplier='1' offset='.25'", &scene));
  CHECK_TEXT(notes_of(scene), "beware: j3 follows itself in a circle: it stands still at 0");
  cn_scene_destroy(scene);
  CHECK(translate_circle("multiplier='-.5' offset='.75'", &scene) == CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(),
             "r.urdf: j3 follows itself in a circle that does not close: by coupling j3 it is ");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(taken), cmocka_unit_test(circles),
                                     cmocka_unit_test(wide), cmocka_unit_test(refused),
                                     cmocka_unit_test(of_others)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
