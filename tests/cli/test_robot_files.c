// SPDX-License-Identifier: Apache-2.0
// What of a robot description changes how it moves is told by every command that takes it: collision meshes
// that are not there, second roots. Files by file:// inside the folder are read. Angles beyond a turn are
// asked about only where they look like degrees.
#include "cli_case.h"

#define LINK(name, shape)                                                                          \
  "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "     \
  "ixz='0' iyz='0'/></inertial>" shape "</link>\n"
#define MESH(kind, file) "<" kind "><geometry><mesh filename='" file "'/></geometry></" kind ">"

static void wanting(void **state) {
  CliCase *c = *state;
  static const char *const lines[] = {"run r.urdf --steps 1", "check r.urdf",
                                      "report r.urdf -o r.html", "convert r.urdf -o r.json"};
  scratch_write(&c->scratch, "r.urdf",
                "<robot name='r'>" LINK("a", MESH("collision", "none.stl"))
                    LINK("b", MESH("visual", "unseen.stl")) "</robot>");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    cairn_status(c, lines[i], 0);
    check_contains(c->command.err,
                   "cairn: r.urdf: line 1: the mesh none.stl is not there: left out");
    check_contains(c->command.err, "cairn: r.urdf: b hangs on no other link: a second root");
    CHECK(strstr(c->command.err, "unseen") == NULL); // it meets nothing anyway
  }
  cairn_status(c, "info r.urdf", 0);
  check_contains(c->command.out, "the mesh unseen.stl is not there");
}

static void by_address(void **state) {
  CliCase *c = *state;
  char text[4096];
  scratch_write(&c->scratch, "t.obj",
                "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  snprintf(text, sizeof text,
           "<robot name='r'>" LINK("a", MESH("collision", "file://%s")) "</robot>",
           scratch_file(&c->scratch, "t.obj"));
  scratch_write(&c->scratch, "r.urdf", text);
  json_t *info = parse(c, "check r.urdf --json", 0);
  CHECK(c->command.err[0] == 0);
  json_decref(info);
  scratch_write(&c->scratch, "r.urdf",
                "<robot name='r'>" LINK("a", MESH("collision", "file:///etc/t.obj")) "</robot>");
  check_refused(c, "check r.urdf", 1, "files outside the robot's folder are not read");
}

static void degrees(void **state) {
  CliCase *c = *state;
  static const struct {
    const char *upper;
    int asked;
  } cases[] = {{"90", 1},  {"6.2832", 0}, {"12.5664", 0}, {"3", 0},
               {"1e9", 0}, {"10", 0},     {"170", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "<robot name='r'>" LINK("a", "")
                 LINK("b", "") "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                               "<limit lower='-1' upper='%s'/></joint></robot>",
             cases[i].upper);
    scratch_write(&c->scratch, "r.urdf", text);
    json_t *report = parse(c, "check r.urdf --json", 0);
    CHECK((number(report, "far_limit_count") > 0) == cases[i].asked);
    json_decref(report);
  }
}

// A start beyond half a turn keeps its turns, whether limits ask for them or not.
static void start_turns(void **state) {
  CliCase *c = *state;
  const char *text = "<robot name='r'>" LINK("a", "")
      LINK("b", "") "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                    "<limit lower='%s' upper='%s'/></joint></robot>";
  char robot[2048];
  snprintf(robot, sizeof robot, text, "6", "8");
  scratch_write(&c->scratch, "r.urdf", robot);
  cairn_status(c, "run r.urdf --steps 10 --set j=7", 0);
  CHECK(c->command.err[0] == 0);
  check_contains(c->command.out, "trusted: 10 steps");
  snprintf(robot, sizeof robot, text, "-6.2", "6.2");
  scratch_write(&c->scratch, "r.urdf", robot);
  cairn_status(c, "run r.urdf --steps 10 --set j=4", 0);
  CHECK(c->command.err[0] == 0);
  check_contains(c->command.out, "trusted: 10 steps");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(wanting, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(by_address, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(degrees, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(start_turns, cli_set_up, cli_tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
