// SPDX-License-Identifier: Apache-2.0
// What the files of the drift on joints share: what takes part in it (drift_links.c), and how it moves
// (drift_joints.c).
#ifndef CNI_DRIFT_PRIVATE_H
#define CNI_DRIFT_PRIVATE_H

#include "assembly/assembly_private.h"
#include "sparse/sparse.h"

#define CNI_DRIFT_LINES 1e-13 // residual that is let be, of lever arms and radii of gyration

// Directions of a row.
typedef struct CniDriftLine {
  CnVec3 linear, angular;
} CniDriftLine;

// The two bodies of a joint and where its forces meet them.
typedef struct CniDriftPair {
  int32_t a, b;        // among the bodies below, -1: without mass
  CnVec3 arms[2];      // at the beginning: they turn with the bodies
  CnVec3 rest[2];      // what the mean arms have besides
  CnVec3 mean_arms[2]; // of both ends
} CniDriftPair;

// A joint: its locked directions, then the coordinates that may be held. Or a coupling: one row, of
// which every joint has a line.
typedef struct CniDriftLink {
  int32_t joint, coupling; // one of them is -1
  int32_t pair, pair_count;
  int32_t row, dim, locked;
  int32_t line;     // the first of its lines: one a row, of a coupling one a pair
  int32_t point;    // its first three rows lock a point: they have directions that stay
  int32_t turns;    // and the rest is what lock_turn and free of its kind give
  int32_t rotor;    // its rows are those of armatures (drift_holds.c): no other has them
  int32_t apart;    // it holds two points apart: its force is along the line between them
  double length;    // m, from one to the other at the beginning; 0: no straight line
  double tolerance; // m
} CniDriftLink;

typedef struct CniDriftBody {
  int32_t body;
  int32_t owner; // the link that moves it
  double mass;
  CnVec3 inertia;
  double size;     // m: a length that it has wherever its joints are,
  double distance; // and how far from the origin it is
  double across;   // largest s^2 of its joints
  double pace;     // s: that for which its island moves (drift/pace.c),
  CnVec3 along;    // m: and what its centre of mass goes besides
  double turn;     // s: k
  CnVec3 spin;     // W0
  CnVec3 middle;   // Wm
  CnTwist impulse; // of the joints, at the centre of mass
  CnMat3 arms;     // sum of r f^T, world axes
} CniDriftBody;

// The bodies of an island together, while it is closed.
typedef struct CniDriftWhole {
  double mass;
  CnVec3 centre;
  CnVec3 turn;    // angular momentum that it has more than before
  CnSym3 inertia; // about the centre
  CnVec3 rate;    // rad/s: by so much it has to turn faster
} CniDriftWhole;

// Where a body was before a step of closing.
typedef struct CniDriftKept {
  CnPose pose;
  CnTwist end;
} CniDriftKept;

typedef struct CniDriftRoom {
  CniDirectBody *bodies;
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  CnTwist *e;
} CniDriftRoom;

typedef struct CniDrift {
  const CniDriftInput *in;
  CniDriftLink *links;
  CniDriftPair *pairs;
  CniDriftLine *lines, *means; // at the beginning, and the means of both ends
  CniDriftBody *bodies;
  CniDriftKept *kept; // by body, where joints are closed
  CniHold *holds;     // by row: of coordinates and couplings
  double *target;     // by row, as all that follow: its value at the end of the step
  double *open;       // what of an error is to go away after the drift
  double *left;       // what it is more than its target
  double *residual;   // the same where it is held
  double *impulse;
  double *change; // of Newton's method; before it, how far it is from its target at the beginning
  double *loose;  // 1 where it is not held
  double *soft;   // compliance where it is,
  double *compliance; // and of the two in the factor
  CniDirectSystem system;
  CniDriftRoom room;    // its arrays, to write to
  double *first, *last; // by island: error at the beginning and now
  int32_t link_count, pair_count, line_count, row_count, entry_count, body_count;
  int32_t hold_count; // rows that are held or watched
  int32_t open_count;
  int32_t closing;           // lines and arms are those of the end alone
  int32_t beginning;         // those of the beginning alone
  int32_t halfway;           // those of drift/halfway.c
  struct CniDriftHalf *half; // by body; null: there are none
  uint8_t *along;            // by island: it went along its tree (drift/along.c)
  int32_t
      rank_known; // rows that depend on others there are left out, and not asked whether they agree
  CniDriftWhole *whole; // null: nothing is closed
} CniDrift;

CnStatus cni_drift_list(CniDrift *drift); // what takes part
// How long the drift of each body is, by islands that are known (drift/pace.c); motors are aimed by it.
void cni_drift_paces(CniDrift *drift, int32_t islands);
// Means of arms and, if the lines follow (1: but those of hinges, 2: all), of these with the poses reached, and what is left of the
// errors; returns the largest in units of what may be left.
double cni_drift_look(const CniDrift *drift, const CniDriftLink *link, int follow);

double cni_drift_look_at_all(const CniDrift *drift, const int32_t *list_of, int32_t begin,
                             int32_t end, int follow);

// The mean of an arm at both ends where it only turns with its body, which has mass.
CnVec3 cni_drift_mean_arm(const CniDrift *drift, const CniDriftPair *pair, int32_t side);
// Impulses of a link to its bodies.
void cni_drift_push(const CniDrift *drift, const CniDriftLink *link);
// Rows of armatures of a joint, what they take up, and where they are: half a step times the rate.
int32_t cni_drift_rotor_count(const CniModel *model, const CniJoint *joint);
int32_t cni_drift_rotors(const CniDrift *drift, const CniJoint *joint, const CniJointPlace *place,
                         CniHold *holds);
double cni_drift_rotor_way(const CniDrift *drift, const CniDriftLink *link,
                           const CniJointPlace *place, int32_t r);
// Each body once that belongs to links [begin, end) of a list.
typedef void CniDriftDo(const CniDrift *drift, CniDriftBody *body);
void cni_drift_each_body(const CniDrift *drift, const int32_t *list_of, int32_t begin, int32_t end,
                         CniDriftDo *act);
void cni_drift_forget(const CniDrift *drift, CniDriftBody *body); // what pushed it
void cni_drift_factor(CniDrift *drift);                           // where the bodies are now

// Bodies halfway, where all joints are hinges and balls (drift/halfway.c); the rows of a side there.
CnStatus cni_drift_find_halfway(CniDrift *drift);
void cni_drift_half_side(const CniDrift *drift, const CniDriftLink *link, int32_t side, CnTwist *e);

// Sides and coefficients written so far, one after the other.
typedef struct CniDriftCount {
  int32_t sides, entries;
} CniDriftCount;
// e may be null: the structure alone.
void cni_drift_sides(const CniDrift *drift, const CniDriftLink *link, CniDirectBlock *block,
                     CniDirectSide *sides, CnTwist *e, CniDriftCount *count);

// Errors that were there at the beginning go away: of an island, or joint after joint without a factor.
void cni_drift_close(CniDrift *drift, int32_t island);
void cni_drift_close_alone(CniDrift *drift);

// How far rows are from where they are to be: rad, or m over the size of their joints.
double cni_drift_bent(const CniDrift *drift);

// Row r of a link is a coordinate's or a coupling's; null if not.
static inline CniHold *cni_drift_hold(const CniDrift *d, const CniDriftLink *link, int32_t r) {
  return r < link->locked ? NULL : &d->holds[link->row + r];
}

#endif
