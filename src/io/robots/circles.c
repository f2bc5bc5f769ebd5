// SPDX-License-Identifier: Apache-2.0
// Joints that follow each other in a circle: a = m b + c, b = n a + d.
//
// Each coupling of two coordinates, p x + q y = r, brings those that hang together with x and with y into one set,
// in which every coordinate is a number times that of the set's root, and another one: x = f root + o. Where both
// are in one set already the coupling closes a circle, (p f + q g) root = r - p o - q k, and
//
//     it says nothing new                   as a row that depends on others: least-norm forces, nothing to tell
//     root can have one value only          the joints of the circle stand still: told
//     no value does                         the description contradicts itself: refused
//
// Sets are joined the smaller one to the larger one, so that ways to the root are short. Couplings of other forms (of
// several coordinates, polynomials) are left to the solver, which tells what contradicts in the first step.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/robots/model.h"

#define AGREE                                                                                      \
  1e-9 // of what is added up: numbers of a file that differ by less are meant to be the same

typedef struct Place {
  int32_t up, size;      // up: -1: a root, of so many
  double factor, offset; // value = factor times that of `up`, plus offset
} Place;

typedef struct Circles {
  CniRobot *robot;
  CniNameTable names;
  Place *places;
  int32_t count, capacity;
} Circles;

typedef struct Term {
  const char *joint;
  double coefficient, factor, offset; // of the root
  int32_t root;
} Term;

// The coordinate of a term and where it hangs.
static CnStatus find(Circles *c, const json_t *item, Term *term) {
  const char *coordinate = json_string_value(json_object_get(item, "coordinate"));
  char key[2 * CNI_NAME_SIZE];
  term->joint = json_string_value(json_object_get(item, "joint"));
  term->coefficient = json_number_value(json_object_get(item, "coefficient"));
  snprintf(key, sizeof key, "%s\n%s", term->joint ? term->joint : "", coordinate ? coordinate : "");
  int32_t i = cni_name_find(&c->names, key);
  if (i < 0) {
    const char *kept = cni_xml_keep(&c->robot->arena, key, strlen(key));
    if (!kept) return cni_error_memory(sizeof key);
    i = c->count;
    CNI_TRY(cni_name_add(&c->names, c->robot->allocator, kept, i));
    Place place = {.up = -1, .size = 1};
    CNI_TRY(CNI_PUSH(c->robot->allocator, c->places, c->capacity, c->count, place));
  }
  term->factor = 1;
  term->offset = 0;
  for (; c->places[i].up >= 0; i = c->places[i].up) {
    term->offset += term->factor * c->places[i].offset;
    term->factor *= c->places[i].factor;
  }
  term->root = i;
  return CN_OK;
}

static CnStatus close_circle(CniRobot *robot, const char *name, const Term *x, const Term *y,
                             double sum) {
  double a = x->coefficient * x->factor, b = y->coefficient * y->factor;
  double o = x->coefficient * x->offset, k = y->coefficient * y->offset, left = sum - o - k;
  if (fabs(a + b) > AGREE * (fabs(a) + fabs(b))) {
    cni_robot_note(robot, "beware: %.60s follows itself in a circle: it stands still at %.6g",
                   x->joint, x->factor * left / (a + b) + x->offset);
    return CN_OK;
  }
  if (fabs(left) <= AGREE * (fabs(sum) + fabs(o) + fabs(k))) return CN_OK;
  return cni_bad_data("%s: %.60s follows itself in a circle that does not close: by coupling %.60s "
                      "it is %.6g from where it is",
                      robot->def->path, x->joint, name ? name : "", left / x->coefficient);
}

static CnStatus add_coupling(Circles *c, const json_t *coupling) {
  const json_t *terms = json_object_get(coupling, "terms");
  double sum = json_number_value(json_object_get(coupling, "offset"));
  static const char *const others[] = {"square", "cube", "fourth", "function", "one_sided"};
  Term x, y;
  if (json_array_size(terms) != 2 || !json_object_get(coupling, "offset")) return CN_OK;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (json_object_get(coupling, others[i])) return CN_OK;
  CNI_TRY(find(c, json_array_get(terms, 0), &x));
  CNI_TRY(find(c, json_array_get(terms, 1), &y));
  if (x.coefficient == 0 || y.coefficient == 0) return CN_OK;
  if (x.root == y.root)
    return close_circle(c->robot, json_string_value(json_object_get(coupling, "name")), &x, &y,
                        sum);
  if (c->places[x.root].size > c->places[y.root].size) {
    Term other = x;
    x = y;
    y = other;
  }
  double a = x.coefficient * x.factor;
  double factor = -y.coefficient * y.factor / a;
  double offset = (sum - x.coefficient * x.offset - y.coefficient * y.offset) / a;
  if (!isfinite(factor) || !isfinite(offset)) return CN_OK;
  c->places[y.root].size += c->places[x.root].size;
  c->places[x.root] = (Place){.up = y.root, .factor = factor, .offset = offset};
  return CN_OK;
}

CnStatus cni_robot_look_at_circles(CniRobot *robot) {
  Circles c = {.robot = robot};
  CnStatus status = CN_OK;
  for (size_t i = 0; i < json_array_size(robot->couplings) && status == CN_OK; i++)
    status = add_coupling(&c, json_array_get(robot->couplings, i));
  cni_name_release(&c.names, robot->allocator);
  CNI_RELEASE(robot->allocator, c.places, c.capacity);
  return status;
}
