// SPDX-License-Identifier: Apache-2.0
// Things of a world are created, changed, destroyed, asked for and walked over in the same way: a row of
// these each.
#ifndef CNI_WORLD_DOORS_H
#define CNI_WORLD_DOORS_H

#include <string.h>

#include "core/floats.h"
#include "world/world.h"

#define CNI_CREATE(function, Def, Id, add)                                                         \
  CnStatus function(CnWorld *world, const Def *def, Id *result) {                                  \
    CNI_FLOATS;                                                                                    \
    if (!result) return cni_null_argument(#function, "the result pointer");                        \
    *result = (Id){0, 0};                                                                          \
    CNI_TRY(cni_world_open(world, #function));                                                     \
    if (!def) return cni_null_argument(#function, "the definition");                               \
    return add(&world->now.model, def, result);                                                    \
  }
#define CNI_SET(function, Def, Id, open, set)                                                      \
  CnStatus function(CnWorld *world, Id id, const Def *def) {                                       \
    CNI_FLOATS;                                                                                    \
    CNI_TRY(open(world, #function));                                                               \
    if (!def) return cni_null_argument(#function, "the definition");                               \
    return set(&world->now.model, id, def);                                                        \
  }
#define CNI_DESTROY(function, Id, remove)                                                          \
  CnStatus function(CnWorld *world, Id id) {                                                       \
    CNI_FLOATS;                                                                                    \
    CNI_TRY(cni_world_open(world, #function));                                                     \
    return remove(&world->now.model, id);                                                          \
  }
#define CNI_DEF(function, Def, Id, find, list)                                                     \
  CnStatus function(const CnWorld *world, Id id, Def *def) {                                       \
    CNI_FLOATS;                                                                                    \
    int32_t i;                                                                                     \
    CNI_ASK(world, find, id, def, &i);                                                             \
    *def = world->now.model.list[i].def;                                                           \
    def->name = world->now.model.list[i].name;                                                     \
    return CN_OK;                                                                                  \
  }
#define CNI_NEXT(function, Id, ids)                                                                \
  Id function(const CnWorld *world, Id previous) {                                                 \
    Id next = {0, 0};                                                                              \
    if (world) next.slot = cni_ids_next(&world->now.model.ids, previous.slot, &next.generation);   \
    return next;                                                                                   \
  }
// In a question about a thing: its place *i, with the result cleared before anything can fail.
#define CNI_ASK(world, find, id, result, i)                                                        \
  do {                                                                                             \
    if (!(result)) return cni_null_argument(__func__, "the result pointer");                       \
    memset(result, 0, sizeof *(result));                                                           \
    if (!(world)) return cni_null_argument(__func__, "the world");                                 \
    CNI_TRY(find(&(world)->now.model, id, i));                                                     \
  } while (0)

#endif
