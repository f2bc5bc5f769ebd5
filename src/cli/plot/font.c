// SPDX-License-Identifier: Apache-2.0
// Letters as strokes, for pictures that are made of pixels. A letter lies on a grid: x from 0 to its
// width, y from 0 (below the line) over 2 (the line) and 6 (small letters) to 8 (capitals). Its strokes are pairs of
// digits, x and y, from point to point; a space lifts the pen.
#include <string.h>

#include "cli/plot/plot.h"

#define GRID 8.0 // units of the grid in the size of a text

static const char *const letters[] = {
    ['!'] = "0804 0302",
    ['"'] = "0807 2827",
    ['#'] = "1218 3238 0444 0646",
    ['$'] = "473818070615354443321203 2901",
    ['%'] = "0248 0708181707 3233434232",
    ['&'] = "42163728170403123244",
    ['\''] = "0807",
    ['('] = "18070312",
    [')'] = "08171302",
    ['*'] = "0743 0347 2723",
    ['+'] = "0545 2723",
    [','] = "0301",
    ['-'] = "0535",
    ['.'] = "0302",
    ['/'] = "0148",
    ['0'] = "180703123243473818",
    ['1'] = "062822 0242",
    ['2'] = "07183847460242",
    ['3'] = "071838474635 15354443321203",
    ['4'] = "32380444",
    ['5'] = "480805354443321203",
    ['6'] = "473818070312324344351504",
    ['7'] = "084812",
    ['8'] = "153546473818070615 1504031232434435",
    ['9'] = "031232434738180706153546",
    [':'] = "0605 0302",
    [';'] = "0605 0301",
    ['<'] = "370533",
    ['='] = "0646 0444",
    ['>'] = "073503",
    ['?'] = "07183847462524 2322",
    ['@'] = "3424253634334447381807031232",
    ['A'] = "022842 1434",
    ['B'] = "02083847463505 3544433202",
    ['C'] = "4738180703123243",
    ['D'] = "02082846442202",
    ['E'] = "48080242 0535",
    ['F'] = "480802 0535",
    ['G'] = "47381807031232434525",
    ['H'] = "0802 4842 0545",
    ['I'] = "0828 1812 0222",
    ['J'] = "3833221203",
    ['K'] = "0802 4805 1642",
    ['L'] = "080242",
    ['M'] = "0208254842",
    ['N'] = "02084248",
    ['O'] = "180703123243473818",
    ['P'] = "02083847463505",
    ['Q'] = "180703123243473818 2341",
    ['R'] = "02083847463505 2542",
    ['S'] = "473818070615354443321203",
    ['T'] = "0848 2822",
    ['U'] = "080312324348",
    ['V'] = "082248",
    ['W'] = "0812263248",
    ['X'] = "0842 0248",
    ['Y'] = "082548 2522",
    ['Z'] = "08480242",
    ['['] = "18080111",
    ['\\'] = "0841",
    [']'] = "08181101",
    ['^'] = "061826",
    ['_'] = "0141",
    ['`'] = "0817",
    ['a'] = "3526160503122233 3632",
    ['b'] = "0802 0516263533221203",
    ['c'] = "3526160503122233",
    ['d'] = "3832 3526160503122233",
    ['e'] = "04343526160503122233",
    ['f'] = "281712 0626",
    ['g'] = "3526160503122233 36312010",
    ['h'] = "0802 0516263532",
    ['i'] = "0807 0602",
    ['j'] = "1817 161100",
    ['k'] = "0802 360432",
    ['l'] = "080312",
    ['m'] = "0602 05162522 25364542",
    ['n'] = "0602 0516263532",
    ['o'] = "160503122233352616",
    ['p'] = "0600 0516263533221203",
    ['q'] = "3630 3526160503122233",
    ['r'] = "0602 051626",
    ['s'] = "35261605142433221203",
    ['t'] = "18131222 0626",
    ['u'] = "0603122233 3632",
    ['v'] = "062246",
    ['w'] = "0612253246",
    ['x'] = "0632 0236",
    ['y'] = "0622 4600",
    ['z'] = "06360232",
    ['{'] = "28181605141121",
    ['|'] = "0901",
    ['}'] = "08181625141101",
    ['~'] = "04153445",
};
#define LETTERS (sizeof letters / sizeof letters[0])

static const char *letter_of(unsigned char c) {
  const char *strokes = c < LETTERS ? letters[c] : NULL;
  return strokes ? strokes : c == ' ' ? "" : "0208484202"; // a box for what there is no letter for
}

// Width on the grid with the gap behind it.
static double advance_of(unsigned char c) {
  double most = 0;
  int known = 0;
  if (c == ' ') return 3;
  for (const char *s = letter_of(c); s[0] && s[1];) {
    if (*s == ' ') {
      s++;
      continue;
    }
    if (*s - '0' > most) most = *s - '0';
    known = 1;
    s += 2;
  }
  return known ? most + 2 : 3;
}

// The rest of a letter that takes several bytes.
static int is_inside(unsigned char c) { return (c & 0xc0) == 0x80; }

double cni_text_width(const char *text) {
  double width = 0;
  for (; *text; text++)
    if (!is_inside((unsigned char)*text)) width += advance_of((unsigned char)*text);
  return width / GRID;
}

void cni_text_strokes(const char *text, double x, double y, double size, CniStroke stroke,
                      void *context) {
  double unit = size / GRID;
  for (; *text; text++) {
    CniPoint last = {0, 0};
    int down = 0;
    if (is_inside((unsigned char)*text)) continue;
    for (const char *s = letter_of((unsigned char)*text); s[0];) {
      if (*s == ' ') {
        down = 0;
        s++;
        continue;
      }
      if (!s[1] || s[1] == ' ') break;
      CniPoint p = {x + unit * (s[0] - '0'), y - unit * (s[1] - '0' - 2)};
      if (down) stroke(context, last, p);
      last = p;
      down = 1;
      s += 2;
    }
    x += unit * advance_of((unsigned char)*text);
  }
}
