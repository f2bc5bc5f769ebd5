// SPDX-License-Identifier: Apache-2.0
/// The verdict on a run: can a person trust what the world has done since its first step? Every step is
/// watched, at next to no cost; docs/theory/verdict.md has the thresholds and their reasons.
#ifndef CAIRN_VERDICT_H
#define CAIRN_VERDICT_H

#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What is watched. `value` and `relative` of a finding are the worst ones.
typedef enum CnFindingKind {
  CN_FINDING_JOINTS = 0, ///< how far a joint is open or a coupling off: m over its size, or rad
  CN_FINDING_OVERLAPS,   ///< how deep shapes are in each other: m over the smaller one's inradius
  CN_FINDING_RESIDUAL,   ///< by how much contacts and joints miss their laws: m/s over the speed
                         ///< of the fastest body, or g h
  CN_FINDING_ENERGY,     ///< energy that nothing has brought: J over the most that was in motion
  CN_FINDING_SCHEME,     ///< energy that the time step itself took: likewise; needs the balance
  CN_FINDING_TURNING,    ///< how far a body on joints, or one that is no ball, turns in a step: rad
  CN_FINDING_NOT_CONVERGED, ///< a solver that missed its tolerance: steps, and their share
  CN_FINDING_CUT,           ///< a solve that its time budget ended: likewise
  CN_FINDING_INFEASIBLE,    ///< joints or contacts that contradict each other: likewise
  CN_FINDING_STEP,     ///< how far gravity moves a body without joints in a step: m over its size
  CN_FINDING_DISTANCE, ///< how coarse the numbers of a far place are: m over the body's size
  CN_FINDING_COUNT
} CnFindingKind;

/// Name of a kind, for example "joints"; null past the last one.
CN_API const char *cn_finding_name(int32_t kind);

typedef struct CnFinding {
  int32_t is_reason;           ///< 1: this is why the run is not to be trusted
  double value;                ///< the worst, in the unit of its kind
  double relative;             ///< the same compared with the scene
  double threshold;            ///< of `relative`: above it a step is a bad one
  double allowed_share;        ///< of bad steps; more of them are a reason
  int64_t step_count;          ///< bad steps
  int64_t first_step;          ///< the first bad one; 0: none
  int64_t worst_step;          ///< where `value` was found; 0: nowhere
  CnJointId joint;             ///< whose it is, where it is a joint's
  CnBodyId body, other;        ///< where it is two bodies'; none: the ground
  CnCouplingId coupling, with; ///< where it is a coupling's; contradictions: and another's
  char text[192];              ///< for a person, no more than a clause; "" unless it is a reason
} CnFinding;

typedef struct CnVerdict {
  int32_t trusted;                         ///< 1: steps were made, and nothing speaks against them
  int32_t reason_count;                    ///< 0 if it is trusted, or no step was made
  CnFindingKind reasons[CN_FINDING_COUNT]; ///< the gravest first
  int64_t step_count;                      ///< steps that were watched
  double time_step;                        ///< s: the one to try instead; 0: another would not help
  int32_t exact;                           ///< 1: a more exact solve would help
  int32_t energy_watched; ///< 0: springs, drives or loads act and there is no balance
  CnFinding findings[CN_FINDING_COUNT];
  char
      line[640]; ///< "trusted: ...", "not judged: ..." or "do not trust this run: ...": all reasons
} CnVerdict;

/// The verdict on all steps made so far, those before a snapshot included, and on the present positions.
/// A world that has made no step is not trusted: there is nothing to judge but its positions. Takes the
/// time of a collision detection.
CN_API CnStatus cn_world_verdict(CnWorld *world, CnVerdict *verdict);

#ifdef __cplusplus
}
#endif
#endif
