// SPDX-License-Identifier: Apache-2.0
// `cairn sweep`: rows by closed form and by the hash of `cairn run`, in the order of cases; the same
// file after kills, by parts and by any number of processes; runs that fail.
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli_case.h"

static const char grid[] = "sweep slope --set mu=.1:.3:.1 --set tan=.2,.4 --time 1 --sensor speed";

static char *table(CliCase *c, const char *name) {
  return file_bytes(scratch_file(&c->scratch, name), NULL);
}

// The k-th line (the header is 0), to be freed.
static char *nth_line(const char *text, int k) {
  for (; k > 0; k--) {
    text = strchr(text, '\n');
    if (!text) fail_msg("the table has not so many lines");
    text++;
  }
  return strndup(text, strcspn(text, "\n"));
}

// The next field of a line; null behind the last.
static char *cut(char **line) {
  char *start = *line, *end = start ? strchr(start, ',') : NULL;
  if (end) *end++ = 0;
  *line = end;
  return start;
}

// The value of a named column in a row of a table without quotes, in a buffer that the next call
// overwrites.
static const char *field(const char *text, int row, const char *name) {
  static char value[128];
  char *head = nth_line(text, 0), *line = nth_line(text, row), *h = head, *l = line;
  char *key, *found = NULL;
  while ((key = cut(&h))) {
    char *own = cut(&l);
    if (own && strcmp(key, name) == 0) found = own;
  }
  if (!found) fail_msg("no column %s in %s", name, text);
  snprintf(value, sizeof value, "%s", found ? found : "");
  free(head);
  free(line);
  return value;
}

static void no_step(void **state) {
  CliCase *c = *state;
  cairn_status(c, "sweep slope --set mu=.1,.2 --time 0 -o none.csv", 0);
  char *text = table(c, "none.csv");
  for (int i = 0; i < 2; i++) CHECK(strcmp(field(text, i + 1, "verdict"), "not judged") == 0);
  free(text);
}

static void closed_form(void **state) {
  CliCase *c = *state;
  char line[256];
  snprintf(line, sizeof line, "%s -j 2 -o t.csv", grid);
  cairn_status(c, line, 0);
  check_contains(c->command.out, "6 of 6 runs in t.csv; 0 not trusted, 0 failed");
  char *text = table(c, "t.csv");
  CHECK(line_count(text) == 7);
  for (int i = 0; i < 6; i++) {
    double mu = 0.1 * (i / 2 + 1), tangent = i % 2 ? 0.4 : 0.2;
    CHECK(atoi(field(text, i + 1, "case")) == i + 1);
    CHECK_NEAR(atof(field(text, i + 1, "mu")), mu, 1e-15);
    CHECK_NEAR(atof(field(text, i + 1, "tan")), tangent, 1e-15);
    double speed = 9.81 * fmax(0, tangent - mu) / sqrt(1 + tangent * tangent);
    CHECK_NEAR(atof(field(text, i + 1, "speed.last")), speed, 1e-6);
    CHECK_NEAR(atof(field(text, i + 1, "speed.max")), speed, 1e-6);
    // v = a k h at the end of step k = 1 .. 100
    CHECK_NEAR(atof(field(text, i + 1, "speed.mean")), speed * 0.505, 1e-6);
    CHECK_NEAR(atof(field(text, i + 1, "speed.min")), speed * 0.01, 1e-6);
    CHECK(atof(field(text, i + 1, "certificate_max")) < 1e-6);
    CHECK(strcmp(field(text, i + 1, "verdict"), "trusted") == 0);
    CHECK(strcmp(field(text, i + 1, "status"), "ok") == 0);
    CHECK(atoi(field(text, i + 1, "steps")) == 100);
  }
  CHECK(strcmp(field(text, 5, "mu"), "0.3") == 0);
  // the hash is that of the same run alone
  json_t *alone = parse(c, "run slope --set mu=.2 --set tan=.4 --time 1 --json", 0);
  const char *hash = json_string_value(json_object_get(alone, "state_hash"));
  CHECK(strcmp(field(text, 4, "hash"), hash) == 0);
  json_decref(alone);
  free(text);
}

static void same_for_all_ways(void **state) {
  CliCase *c = *state;
  char line[256];
  snprintf(line, sizeof line, "%s -j 1 -o one.csv", grid);
  cairn_status(c, line, 0);
  char *one = table(c, "one.csv");
  snprintf(line, sizeof line, "%s -j 5 -q", grid); // to standard output
  cairn_status(c, line, 0);
  CHECK(strcmp(c->command.out, one) == 0);
  // by parts, put together; a case alone
  for (int k = 1; k <= 3; k++) {
    snprintf(line, sizeof line, "%s --part %d/3 -q -o part-%d.csv", grid, k, k);
    cairn_status(c, line, 0);
    char *part = table(c, k == 1 ? "part-1.csv" : k == 2 ? "part-2.csv" : "part-3.csv");
    CHECK(line_count(part) == 3);
    free(part);
  }
  snprintf(line, sizeof line, "%s part-1.csv part-2.csv part-3.csv -o all.csv", grid);
  cairn_status(c, line, 0);
  char *all = table(c, "all.csv");
  CHECK(strcmp(all, one) == 0);
  snprintf(line, sizeof line, "%s --case 4 -q", grid);
  cairn_status(c, line, 0);
  char *own = nth_line(one, 4), *alone = nth_line(c->command.out, 1);
  CHECK(strcmp(own, alone) == 0 && line_count(c->command.out) == 2);
  free(own);
  free(alone);
  // the same cases from a file: the setup is the same, and so are the rows
  scratch_write(&c->scratch, "cases.csv",
                "mu, tan\n.1,.2\n.1,.4\n\n.2,.2\n.2,.4\n0.3,0.2\r\n.3,.4");
  cairn_status(c, "sweep slope --cases cases.csv --time 1 --sensor speed -q", 0);
  CHECK(strcmp(c->command.out, one) == 0);
  free(one);
  free(all);
}

// A scene whose mass is not always one.
static const char weight[] =
    "{\"parameters\": {\"m\": 1, \"n\": 3}, \"settings\": {\"time\": 0.2, \"time_step\": 0.01},"
    " \"bodies\": [{\"name\": \"b\", \"mass\": \"=m\", \"inertia\": [1, 1, 1]}],"
    " \"sensors\": [{\"name\": \"v\", \"kind\": \"velocity\", \"body\": \"b\", \"axis\": \"z\"}]}";

static void failed_runs(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "weight.json", weight);
  const char *line = "sweep weight.json --set m=1,-1,2 -o t.csv";
  cairn_status(c, line, 1);
  check_contains(c->command.err, "case 2 (m=-1): ");
  check_contains(c->command.err, "1 of 3 runs failed");
  char *text = table(c, "t.csv");
  CHECK(line_count(text) == 4);
  CHECK_NEAR(atof(field(text, 1, "v.last")), -0.2 * 9.81, 1e-12);
  CHECK(strcmp(field(text, 2, "status"), "failed") == 0);
  CHECK(strcmp(field(text, 2, "hash"), "") == 0);
  check_contains(text, "/bodies/0/mass");
  CHECK(strcmp(field(text, 3, "status"), "ok") == 0);
  // nothing is made again, and it is still told
  cairn_status(c, line, 1);
  char *again = table(c, "t.csv");
  CHECK(strcmp(text, again) == 0 && !strstr(c->command.err, "case 2"));
  free(again);
  cairn_status(c, "sweep weight.json --set m=1,-1,2 -o t.csv --retry --json", 1);
  json_t *told = parse_output(c);
  CHECK(number(told, "failed") == 1 && number(told, "made") == 3);
  check_contains(c->command.err, "case 2 (m=-1): ");
  again = table(c, "t.csv");
  CHECK(strcmp(text, again) == 0);
  json_decref(told);
  cairn_status(c, "sweep weight.json --set m=1,-1,2 -q", 1); // the table and nothing else
  CHECK(strcmp(c->command.out, text) == 0);
  free(again);
  free(text);
}

// A robot whose mesh is not there, with a joint of this name and one called v.
static void write_robot(CliCase *c, const char *file, const char *joint) {
  static const char part[] =
      "<link name='%s'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
      "iyz='0'/></inertial></link><joint name='%s' type='continuous'><parent link='a'/>"
      "<child link='%s'/></joint>";
  char text[2048];
  int used = snprintf(text, sizeof text,
                      "<robot name='r'><link name='a'><collision><geometry>"
                      "<mesh filename='nowhere.stl'/></geometry></collision></link>");
  used += snprintf(text + used, sizeof text - (size_t)used, part, "b", joint, "b");
  used += snprintf(text + used, sizeof text - (size_t)used, part, "c", "v", "c");
  snprintf(text + used, sizeof text - (size_t)used, "</robot>");
  scratch_write(&c->scratch, file, text);
}

// A warning is not a failure: it is told once, rows are as without it, and errors are errors.
static void warned(void **state) {
  CliCase *c = *state;
  write_robot(c, "robot.urdf", "j");
  cairn_status(c, "sweep robot.urdf --set j=1,2 --steps 3 --sensor j -o t.csv", 0);
  check_contains(c->command.out, "2 of 2 runs in t.csv");
  check_contains(c->command.err, "nowhere.stl");
  CHECK(line_count(c->command.err) == 1);
  char *text = table(c, "t.csv");
  CHECK(line_count(text) == 3 && !strstr(text, "nowhere.stl"));
  CHECK(strcmp(field(text, 2, "status"), "ok") == 0 && atoi(field(text, 2, "steps")) == 3);
  for (int k = 1; k <= 2; k++) CHECK_NEAR(atof(field(text, k, "j.last")), k, 1e-9);
  free(text);
  // the scene opens and warns, then the run fails
  cairn_status(c, "sweep robot.urdf --steps 3 --solver nothing -q", 1);
  check_contains(c->command.out, "nothing");
  CHECK(!strstr(c->command.out, "nowhere.stl"));
}

// As spreadsheets write it: a mark of UTF-8 first, names and numbers in quotes.
static void of_a_spreadsheet(void **state) {
  CliCase *c = *state;
  write_robot(c, "robot.urdf", "a,\"b");
  scratch_write(&c->scratch, "cases.csv",
                "\xef\xbb\xbf\"v\" ,\"a,\"\"b\"\r\n\"2\",3 \r\n 1 , \"0.5\"\r\n");
  cairn_status(c, "sweep robot.urdf --cases cases.csv --steps 1 -q", 0);
  check_contains(c->command.out, "case,setup,v,\"a,\"\"b\",status,");
  check_contains(c->command.out, ",2,3,ok,");
  check_contains(c->command.out, ",1,0.5,ok,");
}

static const char many[] = "sweep weight.json --set m=1:3:1 --set n=1:8:1 --steps 1500 -j 2 -q";

static int64_t size_of(CliCase *c, const char *name) {
  struct stat info;
  return stat(scratch_file(&c->scratch, name), &info) == 0 ? (int64_t)info.st_size : 0;
}

// Ended by a signal as soon as the table has grown to so many bytes, then made to the end.
static void end_and_repeat(CliCase *c, int number, int64_t bytes, const char *whole) {
  char line[256];
  Command started = {0};
  snprintf(line, sizeof line, "%s -o t.csv", many);
  command_start(&started, CAIRN_COMMAND, &c->scratch, line);
  for (int i = 0; i < 20000 && size_of(c, "t.csv") < bytes; i++) {
    if (waitpid(started.pid, NULL, WNOHANG | WNOWAIT) > 0) break;
    sleep_seconds(0.0005);
  }
  kill(started.pid, number);
  command_wait(&started);
  char *text = table(c, "t.csv");
  if (number != SIGKILL && strcmp(text, whole) != 0) CHECK(started.status == 130);
  command_release(&started);
  // whole rows but for the last, each one of the table
  for (const char *row = text; *row;) {
    size_t length = strcspn(row, "\n");
    char *own = strndup(row, length);
    if (row[length]) check_contains(whole, own);
    free(own);
    row += length + (row[length] == '\n');
  }
  free(text);
  // the lock goes with the last child, which notices at its next step
  for (int i = 0; i < 100 && cairn(c, line) != 0; i++) sleep_seconds(0.01);
  text = table(c, "t.csv");
  CHECK(strcmp(text, whole) == 0);
  free(text);
  remove(scratch_file(&c->scratch, "t.csv"));
}

static void killed(void **state) {
  CliCase *c = *state;
  char line[256];
  scratch_write(&c->scratch, "weight.json", weight);
  snprintf(line, sizeof line, "%s -o whole.csv", many);
  cairn_status(c, line, 0);
  char *whole = table(c, "whole.csv");
  CHECK(line_count(whole) == 25);
  int64_t size = (int64_t)strlen(whole);
  for (int64_t part = 0; part < 3; part++) end_and_repeat(c, SIGKILL, part * size / 3 + 1, whole);
  static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  for (int i = 0; i < 4; i++) end_and_repeat(c, signals[i], size / 2, whole);
  // a row that was cut off
  char *short_one = strndup(whole, (size_t)(size - 20));
  scratch_write(&c->scratch, "t.csv", short_one);
  snprintf(line, sizeof line, "%s -o t.csv", many);
  cairn_status(c, line, 0);
  char *text = table(c, "t.csv");
  CHECK(strcmp(text, whole) == 0);
  // a head that was cut off
  short_one[5] = 0;
  scratch_write(&c->scratch, "t.csv", short_one);
  cairn_status(c, line, 0);
  free(short_one);
  free(text);
  free(whole);
}

// Two sweeps do not write one table at a time.
static void one_at_a_time(void **state) {
  CliCase *c = *state;
  Command first = {0};
  command_start(&first, CAIRN_COMMAND, &c->scratch,
                "sweep slope --set mu=.1,.2 --time 10000 -j 1 -q -o t.csv");
  for (int i = 0; i < 20000 && size_of(c, "t.csv") == 0; i++) sleep_seconds(0.0005);
  check_refused(c, "sweep slope --set mu=.1,.2 --time 10000 -q -o t.csv", 1,
                "another sweep writes");
  kill(first.pid, SIGKILL);
  command_wait(&first);
  command_release(&first);
}

static void refused(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "bad.csv", "mu,tan\n1,x\n");
  scratch_write(&c->scratch, "short.csv", "mu,tan\n1\n");
  scratch_write(&c->scratch, "none.csv", "mu\n");
  scratch_write(&c->scratch, "notes.txt", "my notes");
  scratch_write(&c->scratch, "open.csv", "\"mu,tan\n1,2\n");
  scratch_write(&c->scratch, "open2.csv", "mu,tan\n\"1\"2,2\n");
  write_robot(c, "status.urdf", "status");
  write_robot(c, "max.urdf", "v.max");
  FILE *file = fopen(scratch_file(&c->scratch, "zero.csv"), "w");
  fwrite("mu\n1\n\0\n2\n", 1, 9, file);
  fclose(file);
  static const struct {
    const char *line;
    int status;
    const char *message;
  } cases[] = {{"sweep", 2, "SCENE"},
               {"sweep slope --set mu", 2, "KEY=VALUES"},
               {"sweep slope --set mu=1:2", 2, "FIRST:LAST:STEP"},
               {"sweep slope --set mu=1:2:0", 2, "never gets to its end"},
               {"sweep slope --set mu=1:2:-1", 2, "never gets to its end"},
               {"sweep slope --set mu=1:2:1e-9", 2, "more than"},
               {"sweep slope --set mu=a", 2, "must be numbers"},
               {"sweep slope --set mu=1,,2", 2, "must be numbers"},
               {"sweep slope --set mu=1 --set mu=2", 2, "mu is given twice"},
               {"sweep slope --set nothing=1", 1, "no such parameter"},
               {"sweep max.urdf --set nothing=1", 1, "no joint is called nothing"},
               {"sweep slope --sensor nothing", 1, "no sensor nothing"},
               {"sweep nowhere.json", 1, "nowhere.json"},
               {"sweep slope --part 3/2", 2, "K/N"},
               {"sweep slope --part 1/2x", 2, "K/N"},
               {"sweep slope --case 2", 2, "1 .. 1"},
               {"sweep slope --cases bad.csv", 1, "line 2: tan must be a number (got x)"},
               {"sweep slope --cases short.csv", 1, "line 2: must have 2 values"},
               {"sweep slope --cases open.csv", 1, "line 1: quotes do not match"},
               {"sweep slope --cases open2.csv", 1, "line 2: must have 2 values"},
               {"sweep status.urdf --set status=1,2", 1, "a column status of its own"},
               {"sweep max.urdf --set v.max=1", 1, "a column v.max of its own"},
               {"sweep slope --sensor speed --sensor speed", 2, "--sensor speed is given twice"},
               {"sweep slope --cases none.csv", 1, "no cases"},
               {"sweep slope --cases zero.csv", 1, "zero.csv: is not a text"},
               {"sweep slope --cases nowhere.csv", 1, "nowhere.csv"},
               {"sweep slope --json", 2, "--output"},
               {"sweep slope -o notes.txt", 1, "is not a table of this sweep"},
               {"sweep slope -o nowhere/t.csv", 1, "nowhere/t.csv"},
               {"sweep slope -j 0", 2, "--jobs"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    check_refused(c, cases[i].line, cases[i].status, cases[i].message);
  // rows of other options are not mixed in, and nothing of the table is lost
  cairn_status(c, "sweep slope --set mu=1,2 --steps 5 -q -o t.csv", 0);
  char *before = table(c, "t.csv");
  check_refused(c, "sweep slope --set mu=1,2 --steps 6 -q -o t.csv", 1,
                "line 2 is not of this sweep");
  check_refused(c, "sweep slope --set mu=1,3 --steps 5 -q -o t.csv", 1,
                "line 3 is not of this sweep");
  char *after = table(c, "t.csv");
  CHECK(strcmp(before, after) == 0);
  cairn_status(c, "sweep slope --set mu=1,2 --steps 6 -q -o t.csv --force", 0);
  free(before);
  free(after);
}

static void shown(void **state) {
  CliCase *c = *state;
  int status = 0;
  char line[256];
  snprintf(line, sizeof line, "%s -o t.csv", grid);
  char *seen = command_on_terminal(CAIRN_COMMAND, &c->scratch, line, 100, &status);
  CHECK(status == 0);
  check_contains(seen, "slope [");
  check_contains(seen, "100 %  6 of 6 runs");
  free(seen);
}

int main(void) {
  const struct CMUnitTest tests[] = {CLI_TEST(closed_form),
                                     CLI_TEST(no_step),
                                     CLI_TEST(same_for_all_ways),
                                     CLI_TEST(failed_runs),
                                     CLI_TEST(killed),
                                     CLI_TEST(warned),
                                     CLI_TEST(of_a_spreadsheet),
                                     CLI_TEST(refused),
                                     CLI_TEST(one_at_a_time),
                                     CLI_TEST(shown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
