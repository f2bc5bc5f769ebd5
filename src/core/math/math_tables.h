// SPDX-License-Identifier: Apache-2.0
// Constants of the elementary functions. Written by math_tables.py: change that instead.
#ifndef CNI_CORE_MATH_TABLES_H
#define CNI_CORE_MATH_TABLES_H

#include <stdint.h>

// pi and pi/2 as a double and what it lacks.
#define PI_HI 0x1.921fb54442d18p+1
#define PI_LO 0x1.1a62633145c07p-53
#define HALF_PI_HI 0x1.921fb54442d18p+0
#define HALF_PI_LO 0x1.1a62633145c07p-54

// pi/2 in pieces: three of 33 bits, whose product with an integer below 2^20 is exact, and the
// rest.
#define HALF_PI_1 0x1.921fb54400000p+0
#define HALF_PI_2 0x1.0b4611a600000p-34
#define HALF_PI_3 0x1.3198a2e000000p-69
#define HALF_PI_4 0x1.b839a252049c1p-104
#define TWO_OVER_PI 0x1.45f306dc9c883p-1

// ln 2: a multiple of 2^-42, whose product with an exponent is exact, and the rest.
#define LN2_HI 0x1.62e42fefa3800p-1
#define LN2_LO 0x1.ef35793c76730p-45
#define ONE_OVER_LN2 0x1.71547652b82fep+0

// The binary digits of 2/pi, 32 a word, after two words of zeros.
static const uint32_t two_over_pi_digits[41] = {
    0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
    0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu,
    0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u,
    0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu,
    0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u,
    0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u};

// atan(j/16) as a double and what it lacks.
static const double atan_table[17][2] = {
    {0, 0},
    {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

// For m in [i/64, (i+1)/64), i = 45 .. 90: c near 1/m with 8 bits (exactly 1 beside m = 1) and
// -log c as a multiple of 2^-42 and the rest.
#define LOG_TABLE_FIRST 45
static const double log_table[46][3] = {
    {180.0 / 128, -0x1.5d1bdbf581000p-2, 0x1.8d6bdc9c7c238p-44},
    {176.0 / 128, -0x1.4618bc21c6000p-2, 0x1.3d82f484c84ccp-46},
    {172.0 / 128, -0x1.2e8e2bae12000p-2, 0x1.67b1e99b72bd8p-45},
    {169.0 / 128, -0x1.1c898c169a000p-2, 0x1.81410e5c62affp-44},
    {165.0 / 128, -0x1.0402594b4d000p-2, -0x1.036b89ef42d7fp-48},
    {162.0 / 128, -0x1.e27076e2b0000p-3, 0x1.a342c2af0003cp-44},
    {159.0 / 128, -0x1.bc286742d8000p-3, -0x1.9ac53f39d121cp-44},
    {156.0 / 128, -0x1.9525a9cf46000p-3, 0x1.297137d9f158fp-44},
    {153.0 / 128, -0x1.6d60fe719e000p-3, 0x1.bc6e557134767p-44},
    {150.0 / 128, -0x1.44d2b6ccb8000p-3, 0x1.70cc16135783cp-46},
    {148.0 / 128, -0x1.29552f8200000p-3, 0x1.5b967f4471dfcp-44},
    {145.0 / 128, -0x1.fec9131dc0000p-4, 0x1.54555d1ae6607p-44},
    {142.0 / 128, -0x1.a926d3a4ac000p-4, -0x1.563650bd22a9cp-44},
    {140.0 / 128, -0x1.6f0d28ae58000p-4, 0x1.4b4641b664613p-44},
    {138.0 / 128, -0x1.341d7961bc000p-4, -0x1.1d09299837610p-44},
    {135.0 / 128, -0x1.b42dd71198000p-5, 0x1.c827ae5d6704cp-46},
    {133.0 / 128, -0x1.39e87b9fe8000p-5, -0x1.eafd480ad9015p-44},
    {131.0 / 128, -0x1.7b91b07d60000p-6, 0x1.3b955b602ace4p-44},
    {128.0 / 128, 0, 0},
    {128.0 / 128, 0, 0},
    {125.0 / 128, 0x1.8492528c90000p-6, -0x1.aa0ba325a0c34p-45},
    {123.0 / 128, 0x1.466aed42e0000p-5, -0x1.c167375bdfd28p-45},
    {121.0 / 128, 0x1.ccb73cddd8000p-5, 0x1.965c36e09f5fep-44},
    {120.0 / 128, 0x1.08598b59e4000p-4, -0x1.7e5dd7009902cp-46},
    {118.0 / 128, 0x1.4d3115d208000p-4, -0x1.53a2582f4e1efp-48},
    {116.0 / 128, 0x1.9335e5d594000p-4, 0x1.3115c3abd47dap-45},
    {115.0 / 128, 0x1.b6ac88dad4000p-4, 0x1.b1bdff50225c7p-44},
    {113.0 / 128, 0x1.fe89139dbc000p-4, 0x1.56594d82f7a82p-44},
    {111.0 / 128, 0x1.23d712a49c000p-3, 0x1.00d238fd3df5cp-46},
    {110.0 / 128, 0x1.365fcb015a000p-3, -0x1.fd3a0afb9691bp-44},
    {109.0 / 128, 0x1.4913d8333c000p-3, -0x1.53e43558124c4p-44},
    {107.0 / 128, 0x1.6f0128b756000p-3, 0x1.577390d31ef0fp-44},
    {106.0 / 128, 0x1.823c16551a000p-3, 0x1.e0ddb9a631e83p-46},
    {104.0 / 128, 0x1.a93ed3c8ae000p-3, -0x1.8724350562169p-45},
    {103.0 / 128, 0x1.bd087383be000p-3, -0x1.d4bc4595412b6p-45},
    {102.0 / 128, 0x1.d1037f2656000p-3, -0x1.84a7e75b6f6e4p-47},
    {101.0 / 128, 0x1.e530effe72000p-3, -0x1.fdbdbb13f7c18p-44},
    {99.0 / 128, 0x1.07138604d6000p-2, -0x1.e76324e912b17p-44},
    {98.0 / 128, 0x1.1178e8227e000p-2, 0x1.1ef78ce2d07f2p-44},
    {97.0 / 128, 0x1.1bf99635a7000p-2, -0x1.1ac89575c2125p-44},
    {96.0 / 128, 0x1.269621134e000p-2, -0x1.1b61f10522625p-44},
    {95.0 / 128, 0x1.314f1e1d36000p-2, -0x1.8e27ad3213cb8p-45},
    {94.0 / 128, 0x1.3c25277333000p-2, 0x1.83b54b606bd5cp-46},
    {93.0 / 128, 0x1.4718dc271c000p-2, 0x1.06c18fb4c14c5p-44},
    {92.0 / 128, 0x1.522ae0738a000p-2, 0x1.ebe708164c759p-45},
    {91.0 / 128, 0x1.5d5bddf596000p-2, -0x1.a0b2a08a465dcp-47},
};

#endif
