// SPDX-License-Identifier: Apache-2.0
// What the two files of the direct solution of joints share: structure and numbers.
//
// Nodes are the blocks, then the hubs. Numbers of elimination are places. Column k of the factor is
// one panel by rows of dim[k] numbers: its own dim[k] rows, then those of the places in its
// pattern, ascending. Islands are consecutive places.
#ifndef CNI_SPARSE_DIRECT_PRIVATE_H
#define CNI_SPARSE_DIRECT_PRIVATE_H

#include "sparse/direct.h"

#define CNI_DIRECT_DIM 6

// What two sides add to a panel: coefficients of one times responses of the other. -1: the hub.
typedef struct CniDirectLink {
  int32_t side_row, side_column;
  int32_t row; // of the panel
} CniDirectLink;

// K of a hub, K K^T = M^-1: a number for the velocity, a lower triangle for the spin.
typedef struct CniDirectHub {
  double move, turn[6]; // xx, yx, yy, zx, zy, zz
  int32_t body, reserved;
} CniDirectHub;

// How the solutions of an island are found.
typedef enum CniDirectCare {
  CNI_DIRECT_PLAIN = 0, // by the factor
  CNI_DIRECT_REFINED,   // and refined once: some pivots are small
  CNI_DIRECT_SHIFTED    // by conjugate gradients: some rows depend on others
} CniDirectCare;

struct CniDirect {
  CnAllocator allocator;
  CniArena arena;      // everything but `pattern`
  int32_t valid;       // 1: there is a structure
  int32_t too_large;   // 1: but its factor would be
  CniDirectSystem now; // of the last factorisation

  // the structure it was made for
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  uint8_t *thin; // per body, with hubs: its inverse inertia is singular
  int32_t body_count, block_count, side_count, row_count, twist_count;

  // nodes and their order
  CniDirectHub *hubs;
  int32_t hub_count, node_count;
  int32_t *hub_of;            // per body: hub, -1: none
  int32_t *order;             // per place: node
  int32_t *place;             // per node
  int32_t *side_block;        // per side
  int32_t island_count;       //
  int32_t *island_start;      // places
  int32_t *block_start;       // per island: in block_list
  int32_t *block_list;        // blocks of islands, each ascending
  int32_t *dim, *at;          // per place: rows, and the first of them in vectors by places
  int32_t *start;             // per place: its pattern
  int32_t *pattern, *row;     // places below, and their rows of the panel
  int32_t pattern_capacity;   //
  int64_t *panel;             // per place: in value
  int32_t *link_start;        // per place
  CniDirectLink *links;       //
  int64_t number_count, size; // of value; rows of all nodes

  // the numbers
  double *value;
  double *inverse;           // of pivots, by places
  double *diagonal, *weight; // of S and D, by places
  uint8_t *lost;             // rows that depend on others, by places
  uint8_t *care;             // per island: CniDirectCare
  double *y;                 // solutions by places, and vectors of conjugate gradients
  double *residual, *step, *image, *sum;
  CnTwist *response; // M^-1 e^T
  CnTwist *moved;    // per body: velocities that a solution gives
};

// M^-1 e^T x and S x need no factor: y = S x by places, of one island.
void cni_direct_product(CniDirect *d, int32_t island, const double *x, double *y);

#endif
