// SPDX-License-Identifier: Apache-2.0
/// A kind of force of your own, with a name: unlike a force of the kind CN_FORCE_USER it is kept in
/// snapshots and can stand in scenes. Part of <cairn/own.h>.
#ifndef CAIRN_OWN_FORCE_H
#define CAIRN_OWN_FORCE_H

#include <cairn/force.h>

#ifdef __cplusplus
extern "C" {
#endif

/// No kind at all; numbers of kinds that were added begin with CN_FORCE_KIND_COUNT.
#define CN_FORCE_KIND_NONE ((CnForceKind)0x7fffffff)

/// A kind of force.
typedef struct CnOwnForce {
  uint32_t size;       ///< sizeof(CnOwnForce)
  int32_t single;      ///< 1: it acts on body b alone
  const char *name;    ///< small letters, digits, _ and -; at most 31 bytes; copied
  const char *summary; ///< one line; copied
  /// Numbers of CnForceDef that the kind reads, by their names: "stiffness", "strength", "force", ... The
  /// others must be left alone.
  const char *reads[12];
  /// The force, as CnForceFunction says, with the numbers of the definition.
  CnStatus (*evaluate)(void *context, const CnForceDef *def, const CnForceSight *sight,
                       CnForceEffect *effect);
  void *context; ///< given to the function; has to live as long as the program
} CnOwnForce;

/// Put a kind into the table; *kind is its number for cn_force_def_default, and scenes know its name. The
/// struct is copied. A name that is taken is CN_INVALID_ARGUMENT; there is room for 16. Kinds stay until the
/// program ends: register before worlds are made. A snapshot names the kind, and is refused where it is not
/// there; the number may be another one. May be called from any thread.
CN_API CnStatus cn_force_register(const CnOwnForce *force, CnForceKind *kind);

/// The kind of that name, the library's or a program's own; CN_FORCE_KIND_NONE: there is none.
CN_API CnForceKind cn_force_kind_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
