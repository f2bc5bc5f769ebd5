// SPDX-License-Identifier: Apache-2.0
/// Kinds of your own: a solver, a joint, a force as functions of the program, in the library's tables by a
/// name. docs/howto/own-kinds.md has an example of each.
#ifndef CAIRN_OWN_H
#define CAIRN_OWN_H

#include <cairn/own_force.h>
#include <cairn/own_joint.h>
#include <cairn/own_solver.h>

#endif
