// SPDX-License-Identifier: Apache-2.0
// Vectors and matrices of CNI_LANES bodies or joints at once: the functions of core/vec.h, a lane the same
// operations in the same order.
#ifndef CNI_TREE_WIDE_H
#define CNI_TREE_WIDE_H

#include "assembly/tree/tree_private.h"
#include "core/simd/simd.h"

// Checked builds watch every read: inlined, a sanitizer's compiler takes minutes over these files.
#ifdef CNI_CHECKED
#define INLINE static __attribute__((unused))
#else
#define INLINE static inline __attribute__((always_inline))
#endif

typedef CniWide Real;
typedef struct Vec {
  Real x, y, z;
} Vec;
typedef struct Mat {
  Vec x, y, z; // columns
} Mat;
typedef struct Sym {
  Real xx, yy, zz, xy, xz, yz;
} Sym;
typedef struct Quat {
  Real w, x, y, z;
} Quat;

#define ADD cni_wide_add
#define SUB cni_wide_sub
#define MUL cni_wide_mul
#define DIV cni_wide_div
#define SET cni_wide_set
#define MAX cni_wide_max
#define MIN cni_wide_min
#define PICK cni_wide_select

// ---- to and from memory: lanes k to k + CNI_LANES of eight, or wherever `at` says ----

INLINE Real real(const double *line, int32_t k) { return cni_wide_load(line + k); }
INLINE void put(double *line, int32_t k, Real x) { cni_wide_store(line + k, x); }
INLINE CniMask flag(const double *line, int32_t k) {
  return cni_wide_less(SET(0), cni_wide_load(line + k));
}

INLINE Vec vec(const CniTreeVec *v, int32_t k) {
  return (Vec){real(v->x, k), real(v->y, k), real(v->z, k)};
}
INLINE void vec_put(CniTreeVec *v, int32_t k, Vec a) {
  put(v->x, k, a.x);
  put(v->y, k, a.y);
  put(v->z, k, a.z);
}
INLINE Vec vec_from(const CniTreeVec *v, const int32_t *at) {
  return (Vec){cni_wide_gather(v->x, at), cni_wide_gather(v->y, at), cni_wide_gather(v->z, at)};
}
INLINE Mat mat(const CniTreeMat *m, int32_t k) {
  return (Mat){vec(&m->x, k), vec(&m->y, k), vec(&m->z, k)};
}
INLINE void mat_put(CniTreeMat *m, int32_t k, Mat a) {
  vec_put(&m->x, k, a.x);
  vec_put(&m->y, k, a.y);
  vec_put(&m->z, k, a.z);
}
INLINE Sym sym(const CniTreeSym *s, int32_t k) {
  return (Sym){real(s->xx, k), real(s->yy, k), real(s->zz, k),
               real(s->xy, k), real(s->xz, k), real(s->yz, k)};
}
INLINE Sym sym_from(const CniTreeSym *s, const int32_t *at) {
  return (Sym){cni_wide_gather(s->xx, at), cni_wide_gather(s->yy, at), cni_wide_gather(s->zz, at),
               cni_wide_gather(s->xy, at), cni_wide_gather(s->xz, at), cni_wide_gather(s->yz, at)};
}
INLINE void sym_put(CniTreeSym *s, int32_t k, Sym a) {
  put(s->xx, k, a.xx);
  put(s->yy, k, a.yy);
  put(s->zz, k, a.zz);
  put(s->xy, k, a.xy);
  put(s->xz, k, a.xz);
  put(s->yz, k, a.yz);
}
INLINE Quat quat(const CniTreeQuat *q, int32_t k) {
  return (Quat){real(q->w, k), real(q->x, k), real(q->y, k), real(q->z, k)};
}
INLINE void quat_put(CniTreeQuat *q, int32_t k, Quat a) {
  put(q->w, k, a.w);
  put(q->x, k, a.x);
  put(q->y, k, a.y);
  put(q->z, k, a.z);
}

// ---- arithmetic ----

INLINE Vec vec_pick(CniMask m, Vec a, Vec b) {
  return (Vec){PICK(m, a.x, b.x), PICK(m, a.y, b.y), PICK(m, a.z, b.z)};
}
INLINE Mat mat_pick(CniMask m, Mat a, Mat b) {
  return (Mat){vec_pick(m, a.x, b.x), vec_pick(m, a.y, b.y), vec_pick(m, a.z, b.z)};
}
INLINE Vec vec_set(CnVec3 a) { return (Vec){SET(a.x), SET(a.y), SET(a.z)}; }
INLINE Vec none(void) { return (Vec){SET(0), SET(0), SET(0)}; }
INLINE Vec add(Vec a, Vec b) { return (Vec){ADD(a.x, b.x), ADD(a.y, b.y), ADD(a.z, b.z)}; }
INLINE Vec sub(Vec a, Vec b) { return (Vec){SUB(a.x, b.x), SUB(a.y, b.y), SUB(a.z, b.z)}; }
INLINE Vec neg(Vec a) { return (Vec){cni_wide_neg(a.x), cni_wide_neg(a.y), cni_wide_neg(a.z)}; }
INLINE Vec scale(Real s, Vec a) { return (Vec){MUL(s, a.x), MUL(s, a.y), MUL(s, a.z)}; }
INLINE Vec madd(Vec a, Real s, Vec b) { return add(a, scale(s, b)); }
INLINE Real dot(Vec a, Vec b) { return ADD(ADD(MUL(a.x, b.x), MUL(a.y, b.y)), MUL(a.z, b.z)); }
INLINE Vec cross(Vec a, Vec b) {
  return (Vec){SUB(MUL(a.y, b.z), MUL(a.z, b.y)), SUB(MUL(a.z, b.x), MUL(a.x, b.z)),
               SUB(MUL(a.x, b.y), MUL(a.y, b.x))};
}
INLINE Real norm2(Vec a) { return dot(a, a); }
INLINE Real norm(Vec a) { return cni_wide_sqrt(dot(a, a)); }
INLINE Real largest(Vec a) {
  return MAX(cni_wide_abs(a.x), MAX(cni_wide_abs(a.y), cni_wide_abs(a.z)));
}
INLINE Vec mmul(Mat m, Vec a) { return madd(madd(scale(a.x, m.x), a.y, m.y), a.z, m.z); }
INLINE Vec mtmul(Mat m, Vec a) { return (Vec){dot(m.x, a), dot(m.y, a), dot(m.z, a)}; }
INLINE Vec smul(Sym s, Vec a) {
  return (Vec){dot((Vec){s.xx, s.xy, s.xz}, a), dot((Vec){s.xy, s.yy, s.yz}, a),
               dot((Vec){s.xz, s.yz, s.zz}, a)};
}
INLINE Sym sym_scale(Real f, Sym s) {
  return (Sym){MUL(f, s.xx), MUL(f, s.yy), MUL(f, s.zz), MUL(f, s.xy), MUL(f, s.xz), MUL(f, s.yz)};
}
INLINE Sym sym_add(Sym a, Sym b) {
  return (Sym){ADD(a.xx, b.xx), ADD(a.yy, b.yy), ADD(a.zz, b.zz),
               ADD(a.xy, b.xy), ADD(a.xz, b.xz), ADD(a.yz, b.yz)};
}
INLINE Sym sym_pick(CniMask m, Sym a, Sym b) {
  return (Sym){PICK(m, a.xx, b.xx), PICK(m, a.yy, b.yy), PICK(m, a.zz, b.zz),
               PICK(m, a.xy, b.xy), PICK(m, a.xz, b.xz), PICK(m, a.yz, b.yz)};
}
// R diag(d) R^T
INLINE Real turned_entry(Vec d, Vec a, Vec b) {
  return ADD(ADD(MUL(MUL(d.x, a.x), b.x), MUL(MUL(d.y, a.y), b.y)), MUL(MUL(d.z, a.z), b.z));
}
INLINE Sym srotate(Mat r, Vec d) {
  Vec x = {r.x.x, r.y.x, r.z.x}, y = {r.x.y, r.y.y, r.z.y}, z = {r.x.z, r.y.z, r.z.z};
  return (Sym){turned_entry(d, x, x), turned_entry(d, y, y), turned_entry(d, z, z),
               turned_entry(d, x, y), turned_entry(d, x, z), turned_entry(d, y, z)};
}
INLINE Real sdet(Sym s) {
  Real a = MUL(s.xx, SUB(MUL(s.yy, s.zz), MUL(s.yz, s.yz)));
  Real b = MUL(s.xy, SUB(MUL(s.xy, s.zz), MUL(s.yz, s.xz)));
  return ADD(SUB(a, b), MUL(s.xz, SUB(MUL(s.xy, s.yz), MUL(s.yy, s.xz))));
}
INLINE Sym sinverse(Sym s) {
  Real f = DIV(SET(1), sdet(s));
  return sym_scale(
      f, (Sym){SUB(MUL(s.yy, s.zz), MUL(s.yz, s.yz)), SUB(MUL(s.xx, s.zz), MUL(s.xz, s.xz)),
               SUB(MUL(s.xx, s.yy), MUL(s.xy, s.xy)), SUB(MUL(s.xz, s.yz), MUL(s.xy, s.zz)),
               SUB(MUL(s.xy, s.yz), MUL(s.xz, s.yy)), SUB(MUL(s.xy, s.xz), MUL(s.xx, s.yz))});
}
INLINE Quat qmul(Quat a, Quat b) {
  return (Quat){SUB(SUB(SUB(MUL(a.w, b.w), MUL(a.x, b.x)), MUL(a.y, b.y)), MUL(a.z, b.z)),
                SUB(ADD(ADD(MUL(a.w, b.x), MUL(a.x, b.w)), MUL(a.y, b.z)), MUL(a.z, b.y)),
                ADD(ADD(SUB(MUL(a.w, b.y), MUL(a.x, b.z)), MUL(a.y, b.w)), MUL(a.z, b.x)),
                ADD(SUB(ADD(MUL(a.w, b.z), MUL(a.x, b.y)), MUL(a.y, b.x)), MUL(a.z, b.w))};
}
INLINE Real qnorm2(Quat a) {
  return ADD(ADD(ADD(MUL(a.w, a.w), MUL(a.x, a.x)), MUL(a.y, a.y)), MUL(a.z, a.z));
}
INLINE Quat qunit(Quat a) {
  Real s = DIV(SET(1), cni_wide_sqrt(qnorm2(a)));
  return (Quat){MUL(s, a.w), MUL(s, a.x), MUL(s, a.y), MUL(s, a.z)};
}
INLINE Mat qmat(Quat q) {
  Real xx = MUL(q.x, q.x), yy = MUL(q.y, q.y), zz = MUL(q.z, q.z), one = SET(1), two = SET(2);
  Real xy = MUL(q.x, q.y), xz = MUL(q.x, q.z), yz = MUL(q.y, q.z);
  Real wx = MUL(q.w, q.x), wy = MUL(q.w, q.y), wz = MUL(q.w, q.z);
  return (Mat){{SUB(one, MUL(two, ADD(yy, zz))), MUL(two, ADD(xy, wz)), MUL(two, SUB(xz, wy))},
               {MUL(two, SUB(xy, wz)), SUB(one, MUL(two, ADD(xx, zz))), MUL(two, ADD(yz, wx))},
               {MUL(two, ADD(xz, wy)), MUL(two, SUB(yz, wx)), SUB(one, MUL(two, ADD(xx, yy)))}};
}

// Axes of bodies are found anew wherever they are wanted: that is less than to keep them in memory.
INLINE Mat axes(const CniTreeQuat *q, int32_t k) { return qmat(quat(q, k)); }
INLINE Mat axes_from(const CniTreeQuat *q, const int32_t *at) {
  return qmat((Quat){cni_wide_gather(q->w, at), cni_wide_gather(q->x, at),
                     cni_wide_gather(q->y, at), cni_wide_gather(q->z, at)});
}

// ---- what is wanted soon ----
//
// Thousands of bodies do not fit a cache, and an eight is some dozens of lines here and there, which no
// processor guesses: they are asked for while the eight before is at work.

#define FETCH_FROM 512 // eights: fewer are in the cache

INLINE void fetch(const void *at, size_t bytes) { cni_tree_fetch(at, bytes); }
// Numbers from `first` to before `end`.
#define FETCH(first, end) fetch(&(first), (size_t)((const char *)&(end) - (const char *)&(first)))

INLINE int is_large(const CniTree *t, int32_t e) {
  return t->link_eights > FETCH_FROM && e >= 0 && e < t->node_eights;
}
INLINE void fetch_factors(const CniTree *t, int32_t e) {
  int32_t first = CNI_TREE_LANES * e, count = t->node_count - first;
  if (count > CNI_TREE_LANES) count = CNI_TREE_LANES;
  fetch(&t->factors[first], (size_t)count * sizeof *t->factors);
}

// What goes from the leaves to the root.
INLINE void fetch_gathered(const CniTree *t, int32_t e) {
  if (!is_large(t, e)) return;
  FETCH(t->links[e].factor_arm, t->links[e].line_x);
  FETCH(t->links[e].asked, t->links[e].answer);
  fetch_factors(t, e);
}

// ---- lanes together ----

INLINE void sum_to(double *line, int32_t k, Real x) { put(line, k, ADD(real(line, k), x)); }
INLINE void most_to(double *line, int32_t k, Real x) { put(line, k, MAX(real(line, k), x)); }
// Largest of eight lanes, and their sum, in one order at any width.
INLINE double lanes_most(const double *lane) {
  double most = lane[0];
  for (int32_t i = 1; i < CNI_TREE_LANES; i++) most = cn_max(most, lane[i]);
  return most;
}
INLINE double lanes_sum(const double *p) {
  return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
}

// ---- what joints give to their bodies ----
//
// Joints of nodes are the first that give anything to their bodies; children come later in the same lanes or
// behind. What closes loops comes after all nodes, one joint after the other. That order is the same at any width.

INLINE double *eight_of(double *first, int32_t e) {
  return first + (size_t)e * (size_t)CNI_TREE_BODY_NUMBERS;
}

INLINE void real_give(double *line, const CniTreeLinks *l, int32_t e, int32_t k, int is_node,
                      Real own, Real other) {
  _Alignas(64) double a[CNI_LANES], b[CNI_LANES];
  const int32_t *own_at = l->own + k, *other_at = l->other + k;
  cni_wide_store(b, other);
  if (is_node) {
    put(eight_of(line, e), k, ADD(SET(0), own));
    for (int32_t i = 0; i < CNI_LANES; i++) line[other_at[i]] += b[i];
    return;
  }
  cni_wide_store(a, own);
  for (int32_t i = 0; i < CNI_LANES; i++) {
    line[own_at[i]] += a[i];
    line[other_at[i]] += b[i];
  }
}

// To what is there, from the last joint to the first: children come before.
INLINE void real_give_back(double *line, const CniTreeLinks *l, int32_t e, int32_t k, int is_node,
                           Real own, Real other) {
  _Alignas(64) double a[CNI_LANES], b[CNI_LANES];
  const int32_t *own_at = l->own + k, *other_at = l->other + k;
  double *eight = eight_of(line, e);
  cni_wide_store(b, other);
  if (is_node) {
    for (int32_t i = CNI_LANES; i-- > 0;) line[other_at[i]] += b[i];
    put(eight, k, ADD(real(eight, k), own));
    return;
  }
  cni_wide_store(a, own);
  for (int32_t i = CNI_LANES; i-- > 0;) {
    line[other_at[i]] += b[i];
    line[own_at[i]] += a[i];
  }
}

INLINE void vec_give(CniTreeVec *v, const CniTreeLinks *l, int32_t e, int32_t k, int is_node,
                     Vec own, Vec other) {
  real_give(v->x, l, e, k, is_node, own.x, other.x);
  real_give(v->y, l, e, k, is_node, own.y, other.y);
  real_give(v->z, l, e, k, is_node, own.z, other.z);
}
INLINE void vec_give_back(CniTreeVec *v, const CniTreeLinks *l, int32_t e, int32_t k, int is_node,
                          Vec own, Vec other) {
  real_give_back(v->x, l, e, k, is_node, own.x, other.x);
  real_give_back(v->y, l, e, k, is_node, own.y, other.y);
  real_give_back(v->z, l, e, k, is_node, own.z, other.z);
}

#endif
