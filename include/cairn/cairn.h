// SPDX-License-Identifier: Apache-2.0
/// Cairn, the whole library in one include.
#ifndef CAIRN_CAIRN_H
#define CAIRN_CAIRN_H

#include <cairn/base.h>
#include <cairn/batch.h>
#include <cairn/blocks.h>
#include <cairn/change.h>
#include <cairn/look.h>
#include <cairn/mechanism.h>
#include <cairn/numbers.h>
#include <cairn/own.h>
#include <cairn/problem.h>
#include <cairn/query.h>
#include <cairn/ranks.h>
#include <cairn/settings.h>
#include <cairn/solver.h>
#include <cairn/state.h>
#include <cairn/system.h>
#include <cairn/verdict.h>
#include <cairn/world.h>

#endif
