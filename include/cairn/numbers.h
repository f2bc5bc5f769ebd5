// SPDX-License-Identifier: Apache-2.0
/// Elementary functions and random numbers that give the same bits on every machine: for scenes that a program makes,
/// hooks, and kinds of your own, so that a run is the same everywhere. The functions of the C library differ in
/// their last bits.
#ifndef CAIRN_NUMBERS_H
#define CAIRN_NUMBERS_H

#include <cairn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Sine of an angle (rad).
CN_API double cn_sin(double x);
/// Cosine of an angle (rad).
CN_API double cn_cos(double x);
/// Tangent of an angle (rad).
CN_API double cn_tan(double x);
/// Arc sine, rad.
CN_API double cn_asin(double x);
/// Arc cosine, rad.
CN_API double cn_acos(double x);
/// Angle of the point (x, y), rad.
CN_API double cn_atan2(double y, double x);
/// e to the power x.
CN_API double cn_exp(double x);
/// Cube root.
CN_API double cn_cbrt(double x);
/// x to the power y.
CN_API double cn_pow(double x, double y);

/// A random number in [0, 1): the generator of scenes. *state is any number to begin with, the seed, and is
/// advanced.
CN_API double cn_random(uint64_t *state);

#ifdef __cplusplus
}
#endif
#endif
