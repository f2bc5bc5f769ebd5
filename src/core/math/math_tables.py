#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Constants of the elementary functions, from integer arithmetic alone.

A real number is an integer in units of 2^-BITS. Run `python3 math_tables.py > math_tables.h` and
format the result; the header is kept in the repository so that no build needs Python.
"""

from fractions import Fraction
from math import isqrt

BITS = 1600
ONE = 1 << BITS


def arctan_ratio(p, q):
    """atan(p/q) for 0 <= p <= q: halve the argument by atan x = 2 atan(x/(1+sqrt(1+x^2))), then series."""
    x = ONE * p // q
    doublings = 0
    while x > ONE >> 6:
        root = isqrt(ONE * ONE + x * x)
        x = (x << BITS) // (ONE + root)
        doublings += 1
    square = x * x >> BITS
    total, term, n = 0, x, 1
    while term:
        total += term // n if n % 4 == 1 else -(term // n)
        term = term * square >> BITS
        n += 2
    return total << doublings




def log_ratio(p, q):
    """log(p/q) = 2 atanh((p-q)/(p+q))."""
    x = ONE * (p - q) // (p + q)
    square = x * x >> BITS
    total, term, n = 0, x, 1
    while term not in (0, -1):
        total += term // n
        term = term * square >> BITS
        n += 2
    return 2 * total


def rounded(value, bits):
    """The nearest multiple of an ulp that leaves `bits` significant bits."""
    drop = abs(value).bit_length() - bits
    if drop <= 0:
        return value
    return (value + (1 << (drop - 1)) >> drop) << drop


def on_grid(value, bits):
    """The nearest multiple of 2^-bits."""
    drop = BITS - bits
    return (value + (1 << (drop - 1)) >> drop) << drop


def text(value):
    """Exact hexadecimal C constant of a value with at most 53 significant bits."""
    if value == 0:
        return "0"
    number = float(Fraction(value, ONE))
    assert Fraction(number) == Fraction(value, ONE)
    return number.hex()


def split(value, widths):
    parts = []
    for width in widths:
        part = rounded(value, width)
        parts.append(part)
        value -= part
    return parts


def define(name, value, comment=""):
    print(f"#define {name} {text(value)}" + (f" // {comment}" if comment else ""))


def main():
    pi = 4 * arctan_ratio(1, 1)
    ln2 = log_ratio(2, 1)
    half_pi = pi // 2
    two_over_pi = 2 * ONE * ONE // pi

    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Constants of the elementary functions. Written by math_tables.py: change that instead.")
    print("#ifndef CNI_CORE_MATH_TABLES_H")
    print("#define CNI_CORE_MATH_TABLES_H")
    print("\n#include <stdint.h>\n")

    print("// pi and pi/2 as a double and what it lacks.")
    for name, value in (("PI", pi), ("HALF_PI", half_pi)):
        hi, lo = split(value, (53, 53))
        define(f"{name}_HI", hi)
        define(f"{name}_LO", lo)
    print("\n// pi/2 in pieces: three of 33 bits, whose product with an integer below 2^20 is exact, and the rest.")
    for i, part in enumerate(split(half_pi, (33, 33, 33, 53))):
        define(f"HALF_PI_{i + 1}", part)
    define("TWO_OVER_PI", rounded(two_over_pi, 53))

    print("\n// ln 2: a multiple of 2^-42, whose product with an exponent is exact, and the rest.")
    hi = on_grid(ln2, 42)
    define("LN2_HI", hi)
    define("LN2_LO", rounded(ln2 - hi, 53))
    define("ONE_OVER_LN2", rounded(ONE * ONE // ln2, 53))

    print("\n// The binary digits of 2/pi, 32 a word, after two words of zeros.")
    words = 41
    digits = two_over_pi >> (BITS - 32 * (words - 2))
    print(f"static const uint32_t two_over_pi_digits[{words}] = {{")
    print(",\n".join(f"0x{digits >> 32 * (words - 1 - i) & 0xffffffff:08x}u" for i in range(words)))
    print("};")

    print("\n// atan(j/16) as a double and what it lacks.")
    print("static const double atan_table[17][2] = {")
    for j in range(17):
        hi, lo = split(arctan_ratio(j, 16), (53, 53))
        print(f"{{{text(hi)}, {text(lo)}}},")
    print("};")

    first, last = 45, 90
    print("\n// For m in [i/64, (i+1)/64), i = 45 .. 90: c near 1/m with 8 bits (exactly 1 beside m = 1) and")
    print("// -log c as a multiple of 2^-42 and the rest.")
    print(f"#define LOG_TABLE_FIRST {first}")
    print(f"static const double log_table[{last - first + 1}][3] = {{")
    for i in range(first, last + 1):
        c = 128 if i in (63, 64) else round(128 * 128 / (2 * i + 1))
        value = log_ratio(128, c)
        hi = on_grid(value, 42)
        print(f"{{{c}.0 / 128, {text(hi)}, {text(rounded(value - hi, 53))}}},")
    print("};\n\n#endif")


main()
