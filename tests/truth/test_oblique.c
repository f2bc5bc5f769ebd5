// SPDX-License-Identifier: Apache-2.0
// Oblique impacts with friction, by closed forms, wherever in a step they fall: a ball on the floor and
// two balls, sliding all through the impact or sticking in it; a ball and a cube that turns.
#include "check.h"
#include "toys.h"
#include "core/math.h"
#include "core/rng.h"
#include "core/vec.h"
#include "worlds.h"

#define R 0.05
#define M 0.3

static CnWorld *empty(double h) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  return world_make(&def);
}

// A solid ball with velocity (vx, vz), vz < 0, and spin wy hits the floor: the point of contact slides
// at s = vx - R wy; the tangential impulse is that which stops it, 2/7 m s, or mu (1 + e) m |vz|.
static void on_the_floor(double h, double mu, double e, double share) {
  const double vx = 2, vz = -3, wy = -10;
  CnWorld *world = empty(h);
  CnMaterialId rough = world_material(world, mu, e);
  world_floor(world, rough);
  CnVec3 start = {0, 0, R + (2 + share) * h * -vz};
  CnBodyId ball = world_ball(world, R, M, start, cn_vec3(vx, 0, vz), rough);
  CnTwist twist = {{vx, 0, vz}, {0, wy, 0}};
  CHECK_OK(cn_body_set_twist(world, ball, &twist));
  for (int i = 0; i < 4; i++) world_step(world);
  double s = vx - R * wy, p = cn_min(2.0 / 7 * s, mu * (1 + e) * -vz); // over m
  CnTwist now = world_twist(world, ball);
  CHECK_REL(now.velocity.z, -e * vz, 1e-9);
  CHECK_REL(now.velocity.x, vx - p, 1e-6);
  CHECK_REL(now.spin.y, wy + p / (0.4 * R), 1e-6);
  cn_world_destroy(world);
}

static void floor_bounce(void **state) {
  (void)state;
  const double steps[] = {0.01, 0.005, 0.002, 0.001};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 5; k++) {
      on_the_floor(steps[i], 0.1, 0.7, 0.1 + 0.2 * k); // slides
      on_the_floor(steps[i], 0.9, 0.7, 0.1 + 0.2 * k); // sticks
    }
}

static CniRng rng;

static CnVec3 any(double size) { return toy_any(&rng, size); }

static void near3(CnVec3 a, CnVec3 b, double tolerance) {
  CHECK_NEAR(a.x, b.x, tolerance);
  CHECK_NEAR(a.y, b.y, tolerance);
  CHECK_NEAR(a.z, b.z, tolerance);
}

// A body with equal principal inertias, as balls and cubes have.
typedef struct Round {
  double mass, j;
  CnVec3 x, v, w;
} Round;

// The impulse p on b at a point, normal n from a to b, and -p on a: restitution e along n; without
// friction, or sticking, or for two balls sliding, which do not couple normal and tangent. j and m of
// a fixed body are infinite.
static void hit(Round *a, Round *b, CnVec3 point, CnVec3 n, double mu, double e) {
  CnVec3 ra = cn_sub(point, a->x), rb = cn_sub(point, b->x);
  CnVec3 u = cn_sub(cn_add(b->v, cn_cross(b->w, rb)), cn_add(a->v, cn_cross(a->w, ra)));
  double u_n = cn_dot(n, u), t = 1 / a->mass + 1 / b->mass;
  CnVec3 p;
  CnMat3 k = {{t, 0, 0}, {0, t, 0}, {0, 0, t}}; // p -> change of u
  CnVec3 *columns = &k.x, units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; i++)
    columns[i] =
        cn_add(columns[i], cn_add(cn_scale(1 / a->j, cn_cross(cn_cross(ra, units[i]), ra)),
                                  cn_scale(1 / b->j, cn_cross(cn_cross(rb, units[i]), rb))));
  if (mu == 0) {
    p = cn_scale(-(1 + e) * u_n / cn_dot(n, cn_mmul(k, n)), n);
  } else {
    CnVec3 want = cn_sub(cn_scale(-e * u_n, n), u), yz = cn_cross(k.y, k.z);
    double det = cn_dot(k.x, yz);
    p = cn_vec3(cn_dot(want, yz) / det, cn_dot(k.x, cn_cross(want, k.z)) / det,
                cn_dot(k.x, cn_cross(k.y, want)) / det);
    CnVec3 p_t = cn_madd(p, -cn_dot(n, p), n);
    double most = mu * cn_dot(n, p);
    if (cn_norm(p_t) > most) p = cn_madd(cn_scale(cn_dot(n, p), n), most / cn_norm(p_t), p_t);
  }
  a->v = cn_madd(a->v, -1 / a->mass, p);
  b->v = cn_madd(b->v, 1 / b->mass, p);
  a->w = cn_madd(a->w, -1 / a->j, cn_cross(ra, p));
  b->w = cn_madd(b->w, 1 / b->j, cn_cross(rb, p));
}

static CnBodyId set(CnWorld *world, CnBodyId id, const Round *r, CnVec3 less) {
  CnTwist twist = {cn_sub(r->v, less), r->w};
  CHECK_OK(cn_body_set_twist(world, id, &twist));
  return id;
}

static void check_now(CnWorld *world, CnBodyId id, const Round *r, CnVec3 less) {
  CnTwist now = world_twist(world, id);
  near3(world_pose(world, id).position, r->x, 1e-9);
  near3(cn_add(now.velocity, less), r->v, 1e-8);
  near3(now.spin, r->w, 1e-6);
}

static void fly(Round *r, CnVec3 gravity, double t) {
  r->x = cn_madd(cn_madd(r->x, t, r->v), 0.5 * t * t, gravity);
  r->v = cn_madd(r->v, t, gravity);
}

// Two balls of any size meet in any way at any time within a step: sliding, sticking or without
// friction, flying freely or falling. The v of the scheme is that of half a step before.
static void two_balls(void **state) {
  (void)state;
  rng = (CniRng){11};
  for (int k = 0; k < 120; k++) {
    double h = k % 2 ? 0.005 : 0.001, mu = 0.5 * (k % 3), e = 0.4 + 0.3 * (k / 3 % 3);
    double sizes[2] = {cni_rng_range(&rng, 0.03, 0.06), cni_rng_range(&rng, 0.03, 0.06)};
    CnWorldDef def = world_def_exact(h);
    def.gravity = k % 4 < 2 ? CN_VEC3_ZERO : cn_vec3(0, 0, -9.81);
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, mu, e);
    Round of[2];
    CnVec3 n = cn_unit_or(any(1), cn_vec3(1, 0, 0)), less = cn_scale(h / 2, def.gravity);
    for (int i = 0; i < 2; i++) {
      double m = cni_rng_range(&rng, 0.1, 0.5);
      of[i] = (Round){m, 0.4 * m * sizes[i] * sizes[i], any(0.1), any(0.8), any(20)};
    }
    of[1].x = cn_madd(of[0].x, sizes[0] + sizes[1], n); // as they touch
    of[0].v = cn_madd(of[0].v, 3, n);
    // from there back to the beginning, and forward to the end
    double before = (4 + cni_rng_unit(&rng)) * h;
    CnBodyId id[2];
    for (int i = 0; i < 2; i++) {
      Round start = of[i];
      fly(&start, def.gravity, -before);
      id[i] = world_ball(world, sizes[i], start.mass, start.x, start.v, material);
      set(world, id[i], &start, less);
    }
    for (int i = 0; i < 8; i++) world_step(world);
    hit(&of[0], &of[1], cn_madd(of[0].x, sizes[0], n), n, mu, e);
    for (int i = 0; i < 2; i++) {
      fly(&of[i], def.gravity, 8 * h - before);
      check_now(world, id[i], &of[i], less);
    }
    cn_world_destroy(world);
  }
}

// A small ball meets a cube, which flies and turns or stands still, at a face, an edge or a corner:
// without friction, or sticking. The place is given in the cube's axes as they touch.
static void ball_and_cube(void **state) {
  (void)state;
  const double half = 0.1, r = 0.02;
  rng = (CniRng){5};
  for (int k = 0; k < 90; k++) {
    double h = k % 2 ? 0.004 : 0.001, mu = k % 4 < 2 ? 0 : 20, e = 0.5 + 0.5 * (k % 3 == 0);
    int still = k % 5 == 0;
    CnWorld *world = empty(h);
    CnMaterialId material = world_material(world, mu, e);
    CnQuat turn = cn_qunit((CnQuat){1, cni_rng_unit(&rng), cni_rng_unit(&rng), 0.3});
    CnVec3 place = {half, 0.04, -0.03}, n = {1, 0, 0};
    if (k % 3 > 0) place.y = half, n.y = 0.7;
    if (k % 3 > 1) place.z = half, n.z = 1.2;
    n = cn_rotate(turn, cn_unit_or(n, n));
    Round cube = {2, 2 * 4 * half * half / 6, any(0.1), any(0.5), any(8)};
    Round ball = {0.3, 0.4 * 0.3 * r * r, CN_VEC3_ZERO, any(1), any(20)};
    if (still) cube = (Round){INFINITY, INFINITY, cube.x, CN_VEC3_ZERO, CN_VEC3_ZERO};
    CnVec3 point = cn_add(cube.x, cn_rotate(turn, place));
    ball.x = cn_madd(point, r, n);
    ball.v = cn_madd(ball.v, -4, n);
    double before = (3 + cni_rng_unit(&rng)) * h;
    Round a = cube, b = ball;
    fly(&a, CN_VEC3_ZERO, -before);
    fly(&b, CN_VEC3_ZERO, -before);
    CnPose pose = {a.x, cn_qunit(cn_qmul(cni_quat_exp(cn_scale(-before, cube.w)), turn))};
    CnVec3 sizes = {half, half, half};
    CnBodyId box = still ? world_fixed_box(world, sizes, pose, material)
                         : world_box(world, sizes, a.mass, pose, a.v, material);
    CnBodyId id = world_ball(world, r, b.mass, b.x, b.v, material);
    if (!still) set(world, box, &a, CN_VEC3_ZERO);
    set(world, id, &b, CN_VEC3_ZERO);
    for (int i = 0; i < 6; i++) world_step(world);
    hit(&cube, &ball, point, n, mu, e);
    fly(&cube, CN_VEC3_ZERO, 6 * h - before);
    fly(&ball, CN_VEC3_ZERO, 6 * h - before);
    check_now(world, id, &ball, CN_VEC3_ZERO);
    if (!still) check_now(world, box, &cube, CN_VEC3_ZERO);
    cn_world_destroy(world);
  }
}

// A ball rolls over the floor and hits another one at rest there, off centre: the floor does not change
// where and how they meet.
static void on_a_table(void **state) {
  (void)state;
  for (int k = 0; k < 20; k++) {
    double h = k % 2 ? 0.002 : 0.0005, off = 0.01 * (k / 4);
    CnWorldDef def = world_def_exact(h);
    CnWorld *world = world_make(&def);
    CnMaterialId cloth = world_material(world, 0, 0), ivory = world_material(world, 0, 0.9);
    world_floor(world, cloth);
    double along = sqrt(4 * R * R - off * off), v = 2, before = (5 + 0.05 * k) * h;
    CnVec3 n = {along / (2 * R), off / (2 * R), 0};
    CnBodyId one =
        world_ball(world, R, M, cn_vec3(-along - v * before, -off, R), cn_vec3(v, 0, 0), ivory);
    CnBodyId two = world_ball(world, R, M, cn_vec3(0, 0, R), CN_VEC3_ZERO, ivory);
    for (int i = 0; i < 10; i++) world_step(world);
    double p = 0.5 * 1.9 * v * n.x; // over m
    near3(world_twist(world, two).velocity, cn_scale(p, n), 1e-9);
    near3(world_twist(world, one).velocity, cn_madd(cn_vec3(v, 0, 0), -p, n), 1e-9);
    near3(world_pose(world, two).position, cn_madd(cn_vec3(0, 0, R), (10 * h - before) * p, n),
          1e-9);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(floor_bounce), cmocka_unit_test(two_balls),
                                     cmocka_unit_test(ball_and_cube), cmocka_unit_test(on_a_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
