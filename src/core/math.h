// SPDX-License-Identifier: Apache-2.0
// Elementary functions with the same bits on every machine and compiler. The platform's differ in
// the last place from library to library; these use only + - * / sqrt, which IEEE 754 fixes.
// Accuracy: within 1 ulp (pow 2), see math_*.c; rounding to nearest is assumed. Special values
// follow C17 annex F.
#ifndef CNI_CORE_MATH_H
#define CNI_CORE_MATH_H

double cni_sin(double x);
double cni_cos(double x);
double cni_tan(double x);
double cni_asin(double x);
double cni_acos(double x);
double cni_atan2(double y, double x);
double cni_exp(double x);
double cni_log_e(double x); // natural logarithm
double cni_cbrt(double x);
double cni_pow(double x, double y);

#define CNI_PI 3.14159265358979323846

#endif
