// SPDX-License-Identifier: Apache-2.0
// Machines of hinges and ball joints: a step as a whole, beside the step problem. Bodies in the order of the
// tree, inertias of what hangs at each joint; where joints close loops, all of them in one system. What is
// not of that kind is left to the others.
#ifndef CNI_ASSEMBLY_TREE_H
#define CNI_ASSEMBLY_TREE_H

#include "model/model.h"
#include "problem/problem.h"

typedef struct CniTree CniTree;

typedef struct CniTreeInput {
  const CniModel *model;
  CnVec3 gravity;
  double time, time_step, stabilisation;
  int64_t step;                // number of the step to be made
  int32_t geometric_stiffness; // as in CniAssemblyInput
  int32_t drift_first;         // where that is stable
} CniTreeInput;

// What the step comes to; the arrays are the tree's, by body, of cni_tree_last alone.
typedef struct CniTreeStep {
  int32_t taken;        // 0: this machine, or this step of it, is none of the tree's
  const CnPose *pose;   // where the impulses act
  const CnTwist *twist; // before them,
  const CnTwist *moved; // after them,
  const CnTwist *end;   // and at the end
  CnCertificate certificate;
  int32_t worst;               // the joint that is farthest open at the beginning, -1: none is
  double way, turn, open_size; // m, rad, and its size
} CniTreeStep;

CnStatus cni_tree_step(CniTree **tree, const CnAllocator *allocator, const CniTreeInput *input,
                       CniTreeStep *step);
// Joints and states of the model take it over.
void cni_tree_commit(const CniTree *tree, const CniTreeInput *input, CniModel *model);
// The arrays of the last step that was taken.
CniTreeStep cni_tree_last(const CniTree *tree);
// Groups of the step problem as that step had them: loads are gone, and forces held bodies against turning.
void cni_tree_groups(const CniTree *tree, CnProblem *problem);
void cni_tree_destroy(CniTree *tree); // null is allowed

#endif
