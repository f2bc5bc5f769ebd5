// SPDX-License-Identifier: Apache-2.0
// Two meshes cannot touch: one of them is to come as its convex parts. Where two come near each other
// the detection says so and ends, rather than let one fall through the other.
#include "collision/collision_private.h"

#include "core/error.h"

static void count_one(void *context, int32_t triangle) {
  (void)triangle;
  ++*(int32_t *)context;
}

int cni_meshes_near(const CniPlaced *a, const CniPlaced *b, double margin) {
  CniPlaced seen = *a;
  int32_t count = 0;
  seen.pose = cn_pose_mul(cn_pose_inverse(b->pose), a->pose);
  CniBounds box = cni_shape_bounds(&seen);
  CnVec3 by = {margin, margin, margin};
  cni_mesh_query(b->mesh, cn_sub(box.lo, by), cn_add(box.hi, by), count_one, &count);
  return count > 0;
}

CnStatus cni_refuse_meshes(const CniDetection *w) {
  const CniModel *m = w->in->model;
  for (int32_t k = 0; k < w->key_count; k++) {
    CniPair pair = cni_key_pair(w, k);
    const CniProxy *p = &w->proxies[pair.a], *q = &w->proxies[pair.b];
    if (!(p->flags & q->flags & CNI_IS_MESH)) continue;
    CniPlaced a = cni_placed(w, pair.a), b = cni_placed(w, pair.b);
    char of_a[CNI_NAME_SIZE + 16], of_b[CNI_NAME_SIZE + 16];
    if (!cni_meshes_near(&a, &b, cni_pair_margin(w, p, q))) continue;
    cni_model_body_label(m, p->body, of_a);
    cni_model_body_label(m, q->body, of_b);
    return cni_error(CN_UNSUPPORTED,
                     "the meshes of %s and %s come near each other, and two meshes cannot touch: "
                     "give one of them its convex parts",
                     of_a, of_b);
  }
  return CN_OK;
}
