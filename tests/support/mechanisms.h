// SPDX-License-Identifier: Apache-2.0
// Mechanisms with known answers as systems of equations: for tests and for benchmarks. Data and
// truth: the pendulum, the four-bar and the rocking block of Haddouni et al. 2013, Andrews'
// squeezer (Hairer and Wanner VII.7), Housner's block, balls, the woodpecker toy of Glocker and
// Studer.
#ifndef TESTS_MECHANISMS_H
#define TESTS_MECHANISMS_H

#include <cairn/system.h>

#define MECHANISM_SIZE 8

typedef struct Mechanism {
  CnSystem system; // its context is this mechanism: do not move it
  CnEquations equations;
  CnContactLaw laws[4];
  double t, q[MECHANISM_SIZE], v[MECHANISM_SIZE]; // the start, later what `done` left
  double data[8];
  int32_t done_count;
} Mechanism;

// Pendulum of length 1 and mass 1 in the plane, q = (x, y), released at an angle from the downward
// vertical with a spin; g 9.81.
void mechanism_pendulum(Mechanism *m, double angle, double spin);
// Four-bar linkage of the 2013 paper driven by 6 N m, q = (phi1, phi2, phi3).
void mechanism_four_bar(Mechanism *m);
// Andrews' squeezing mechanism, q = (beta, Theta, gamma, Phi, delta, Omega, eps).
void mechanism_squeezer(Mechanism *m);
double mechanism_squeezer_energy(const Mechanism *m); // T + spring - torque beta
// Rocking block of the 2013 paper, q = (x, z, theta), on one frictionless corner held for good.
void mechanism_rocking_corner(Mechanism *m);
// Housner's block: half width .2, half height 1, both corners may touch, friction mu, e = 0; at
// rest at angle theta0.
void mechanism_housner(Mechanism *m, double theta0, double mu);
// A ball on a line over the floor at z = 0 from height z0.
void mechanism_ball(Mechanism *m, double z0, double restitution);
// Three balls of mass 1 on a line, touching, the first with speed 1.
void mechanism_cradle(Mechanism *m, double restitution);
// The woodpecker toy, q = (y, phiM, phiS).
void mechanism_woodpecker(Mechanism *m);
// Fig. 7b of the 2013 paper: a point on z = 0 (x > 0) joined to z = x^2 (x < 0), q = (x, z).
void mechanism_bowl(Mechanism *m, double x, double speed);
// Fig. 7a: a sphere of radius .1 on a table that ends at x = 0, q = (x, z) of its centre.
void mechanism_edge(Mechanism *m, double x, double speed);
// A block on the line x under gravity along z on a floor with friction mu, pulled by a spring of
// stiffness k from a point that moves at speed w: q = (x, z).
void mechanism_slider(Mechanism *m, double mu, double stiffness, double speed);
// A weight on a nonlinear spring and a damper without constraints, q = (x, y).
void mechanism_oscillator(Mechanism *m);

// Integrate with the named integrator's definition to a time; the state is in m. The report may be
// null. A null solver is allowed where the integrator needs none.
CnStatus mechanism_run(Mechanism *m, const CnIntegratorDef *def, CnSolver *solver, double t_end,
                       double h, CnIntegratorReport *report);

#endif
