// SPDX-License-Identifier: Apache-2.0
// A face of one box (the reference) and what of the other box lies over it.
//
// The other box turns one face (the incident one, whose normal opposes the reference's most)
// towards the reference. It is a parallelogram when seen along the reference's normal, over which
// the gap is a linear function of the place; cut to the reference's rectangle it is the area of
// contact, a polygon of at most eight corners. Cutting goes side by side (Sutherland and Hodgman).
// The corners of the polygon are corners of the incident face, crossings of its edges with the
// rectangle's, or corners of the rectangle: these are their names.
//
// A corner outside the rectangle by less than a small band counts as inside and is moved to the
// border afterwards; see CNI_BOX_BAND.
#include "geometry/pairs/box_private.h"

// Room for eight and, should round-off bend a nearly straight side, some more.
#define ROOM 16

typedef struct Vertex {
  double x, y, gap;
  uint32_t name;  // within this file: below 8 a corner of the incident box, below 16 one of the
                  // reference's, from 16 on 16 + 12 (incident edge) + (reference edge)
  uint32_t leave; // what the polygon's edge to the next vertex is: an incident edge, or 12 + a side
} Vertex;

// Both boxes from the reference's frame: the face looks along axis k, the sides are on u and v.
typedef struct View {
  int k, u, v;
  double sign;
  const double *h_reference, *h_incident;
  double r[3][3], t[3];    // incident axes (columns) and centre
  double slope_u, slope_v; // of the gap over the incident face
} View;

static View look(const CniBoxes *x, CniBoxFace face) {
  View w;
  w.k = face.axis;
  w.u = (w.k + 1) % 3;
  w.v = (w.k + 2) % 3;
  w.sign = face.sign;
  w.h_reference = face.side ? x->hb : x->ha;
  w.h_incident = face.side ? x->ha : x->hb;
  for (int i = 0; i < 3; i++) {
    w.t[i] = face.side ? -x->tb[i] : x->t[i];
    for (int j = 0; j < 3; j++) w.r[i][j] = face.side ? x->r[j][i] : x->r[i][j];
  }
  return w;
}

// Fill the incident face's four corners in order round it, and the slopes of the gap.
static void incident_face(View *w, Vertex polygon[4]) {
  // the axis that opposes the reference's normal most, and which end of it
  int j = 0;
  for (int i = 1; i < 3; i++)
    if (fabs(w->r[w->k][i]) > fabs(w->r[w->k][j])) j = i;
  double end = w->sign * w->r[w->k][j] > 0 ? -1 : 1;
  int p = (j + 1) % 3, q = (j + 2) % 3;
  // along the incident plane the normal's components balance; at least 1/sqrt 3 of it is upright
  double upright = w->sign * w->r[w->k][j];
  w->slope_u = -w->r[w->u][j] / upright;
  w->slope_v = -w->r[w->v][j] / upright;

  static const double round_p[4] = {1, -1, -1, 1}, round_q[4] = {1, 1, -1, -1};
  const double *h = w->h_incident;
  for (int i = 0; i < 4; i++) {
    double c[3];
    for (int m = 0; m < 3; m++)
      c[m] = w->t[m] + (end * h[j] * w->r[m][j] +
                        (round_p[i] * h[p] * w->r[m][p] + round_q[i] * h[q] * w->r[m][q]));
    uint32_t corner =
        (end > 0 ? 1u << j : 0) | (round_p[i] > 0 ? 1u << p : 0) | (round_q[i] > 0 ? 1u << q : 0);
    // the way to the next corner goes along p, then q, then p, then q
    polygon[i] = (Vertex){c[w->u], c[w->v], w->sign * c[w->k] - w->h_reference[w->k], corner,
                          cni_box_edge(i % 2 ? q : p, corner)};
  }
}

// Corner of the reference where two sides meet (0: +u, 1: +v, 2: -u, 3: -v), as a mask; a side
// alone leaves the other bit 0.
static uint32_t reference_corner(const View *w, uint32_t side_a, uint32_t side_b) {
  uint32_t corner = w->sign > 0 ? 1u << w->k : 0;
  if (side_a == 0 || side_b == 0) corner |= 1u << w->u;
  if (side_a == 1 || side_b == 1) corner |= 1u << w->v;
  return corner;
}

static uint32_t crossing_name(const View *w, uint32_t leave, uint32_t side) {
  if (leave >= 12) return 8 + reference_corner(w, leave - 12, side);
  int along = side % 2 ? w->u : w->v;
  return 16 + 12 * leave + cni_box_edge(along, reference_corner(w, side, side));
}

// How far a vertex is outside a side.
static double outside(const View *w, const Vertex *p, uint32_t side) {
  double c = side % 2 ? p->y : p->x;
  return (side < 2 ? c : -c) - w->h_reference[side % 2 ? w->v : w->u];
}

static Vertex cross_side(const View *w, const Vertex *p, const Vertex *q, double out_p,
                         double out_q, uint32_t side) {
  double f = out_p / (out_p - out_q);
  return (Vertex){p->x + f * (q->x - p->x), p->y + f * (q->y - p->y),
                  p->gap + f * (q->gap - p->gap), crossing_name(w, p->leave, side), p->leave};
}

// Cut away what lies outside one side; returns -1 if nothing does and `to` was not filled. A
// crossing is made only where an edge really comes from within: an edge that leaves from inside the
// band is outside all along.
static int cut(const View *w, uint32_t side, double band, const Vertex *from, int count,
               Vertex *to) {
  double out[ROOM], farthest = -INFINITY;
  for (int i = 0; i < count; i++) {
    out[i] = outside(w, &from[i], side);
    farthest = cn_max(farthest, out[i]);
  }
  if (farthest <= band) return -1;

  int n = 0;
  for (int i = 0; i < count && n < ROOM - 2; i++) {
    int next = i + 1 < count ? i + 1 : 0;
    const Vertex *p = &from[i], *q = &from[next];
    int p_in = out[i] <= band, q_in = out[next] <= band;
    if (p_in) to[n++] = *p;
    if (p_in && !q_in) {
      if (out[i] <= 0) to[n++] = cross_side(w, p, q, out[i], out[next], side);
      to[n - 1].leave = 12 + side;
    } else if (!p_in && q_in && out[next] <= 0) {
      to[n++] = cross_side(w, p, q, out[i], out[next], side);
    }
  }
  return n;
}

// Move what the band let through back to the border, staying on the incident plane.
static void clamp_to_face(const View *w, Vertex *p) {
  double x = cn_clamp(p->x, -w->h_reference[w->u], w->h_reference[w->u]);
  double y = cn_clamp(p->y, -w->h_reference[w->v], w->h_reference[w->v]);
  p->gap += w->slope_u * (x - p->x) + w->slope_v * (y - p->y);
  p->x = x;
  p->y = y;
}

static uint32_t feature_of(const Vertex *p, int side) {
  if (p->name < 16) {
    int of_b = (p->name < 8) != side;
    return of_b ? cni_box_name_b(p->name & 7) : cni_box_name_a(p->name & 7);
  }
  uint32_t incident = (p->name - 16) / 12, reference = (p->name - 16) % 12;
  return side ? cni_box_name_edges(incident, reference) : cni_box_name_edges(reference, incident);
}

static void add_vertex(const CniBoxes *x, const View *w, int side, const Vertex *p,
                       CniManifold *manifold) {
  if (!(p->gap <= x->margin)) return;
  uint32_t feature = feature_of(p, side);
  // round-off can name one place twice; the eight lowest are kept should there be more
  int32_t at = manifold->count;
  for (int32_t i = 0; i < manifold->count; i++)
    if (manifold->points[i].feature == feature) at = i;
  if (at == CNI_MAX_POINTS) {
    for (int32_t i = at = 0; i < CNI_MAX_POINTS; i++)
      if (manifold->points[i].gap > manifold->points[at].gap) at = i;
  }
  if (at < manifold->count && !(p->gap < manifold->points[at].gap)) return;
  if (at == manifold->count) manifold->count++;

  double c[3];
  c[w->u] = p->x;
  c[w->v] = p->y;
  c[w->k] = w->sign * (w->h_reference[w->k] + 0.5 * p->gap);
  CnVec3 local = {c[0], c[1], c[2]};
  CnVec3 point = side ? cn_add(x->centre_b, cn_mmul(x->axes_b, local))
                      : cn_add(x->centre_a, cn_mmul(x->axes_a, local));
  manifold->points[at] = (CniPoint){point, p->gap, feature};
}

double cni_box_face(const CniBoxes *x, CniBoxFace face, int certain, CniManifold *manifold) {
  View w = look(x, face);
  Vertex polygon[2][ROOM];
  incident_face(&w, polygon[0]);
  Vertex lowest = polygon[0][0];
  for (int i = 1; i < 4; i++)
    if (polygon[0][i].gap < lowest.gap) lowest = polygon[0][i];

  int count = 4;
  double band = CNI_BOX_BAND * x->scale;
  Vertex *last = polygon[0], *spare = polygon[1];
  for (uint32_t side = 0; side < 4; side++) {
    int left = cut(&w, side, band, last, count, spare);
    if (left < 0) continue;
    Vertex *swap = last;
    last = spare;
    spare = swap;
    count = left;
  }
  if (count == 0) {
    if (!certain) return INFINITY;
    double gap = lowest.gap;
    clamp_to_face(&w, &lowest);
    lowest.gap = gap;
    last[count++] = lowest;
  } else {
    for (int i = 0; i < count; i++) clamp_to_face(&w, &last[i]);
  }

  const CnMat3 *axes = face.side ? &x->axes_b : &x->axes_a;
  const CnVec3 normals[3] = {axes->x, axes->y, axes->z};
  manifold->normal = cn_scale(face.side ? -w.sign : w.sign, normals[w.k]);
  double least = INFINITY;
  for (int i = 0; i < count; i++) {
    least = cn_min(least, last[i].gap);
    add_vertex(x, &w, face.side, &last[i], manifold);
  }
  return least;
}
