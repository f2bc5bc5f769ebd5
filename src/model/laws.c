// SPDX-License-Identifier: Apache-2.0
// Laws of single pairs of materials, in place of what the rules make of two: a list in ascending order of
// slots, so that a pair is found by halving. The default material, which has no id, is slot 0.
#include "core/error.h"
#include "core/memory.h"
#include "core/sort.h"
#include "model/model_private.h"

static uint64_t key(const CniPairLaw *law) { return (uint64_t)law->a.slot << 32 | law->b.slot; }

static CniPairLaw in_order(CnMaterialId a, CnMaterialId b) {
  return a.slot < b.slot ? (CniPairLaw){.a = a, .b = b} : (CniPairLaw){.a = b, .b = a};
}

// The first law that is not before this one.
static int32_t find(const CniModel *model, const CniPairLaw *law) {
  int32_t low = 0, high = model->law_count;
  CNI_BISECT(low, high, middle, key(&model->laws[middle]) < key(law))
  return low;
}

static int is_at(const CniModel *model, int32_t i, const CniPairLaw *law) {
  return i < model->law_count && key(&model->laws[i]) == key(law);
}

static CnStatus check_id(const CniModel *model, CnMaterialId id) {
  int32_t i;
  return id.slot == 0 ? CN_OK : cni_model_find_material(model, id, &i);
}

static void take_out(CniModel *model, int32_t i) {
  size_t after = (size_t)(--model->law_count - i) * sizeof *model->laws;
  memmove(&model->laws[i], &model->laws[i + 1], after);
}

CnStatus cni_model_set_law(CniModel *model, CnMaterialId a, CnMaterialId b,
                           const CniMaterialPair *law) {
  CNI_TRY(check_id(model, a));
  CNI_TRY(check_id(model, b));
  CniPairLaw pair = in_order(a, b);
  int32_t i = find(model, &pair), count = model->law_count;
  if (!law) {
    if (is_at(model, i, &pair)) take_out(model, i);
    return CN_OK;
  }
  pair.law = *law;
  if (!is_at(model, i, &pair)) {
    CNI_TRY(CNI_RESERVE(&model->allocator, model->laws, model->law_capacity, count, count + 1));
    memmove(&model->laws[i + 1], &model->laws[i], (size_t)(count - i) * sizeof pair);
    model->law_count++;
  }
  model->laws[i] = pair;
  return CN_OK;
}

void cni_laws_drop(CniModel *model, CnMaterialId material) {
  for (int32_t i = model->law_count - 1; i >= 0; i--)
    if (model->laws[i].a.slot == material.slot || model->laws[i].b.slot == material.slot)
      take_out(model, i);
}

CniMaterialPair cni_model_law(const CniModel *model, int32_t a, int32_t b) {
  const CniMaterial *of_a = &model->materials[a], *of_b = &model->materials[b];
  if (model->law_count > 0) {
    CniPairLaw pair = in_order((CnMaterialId){of_a->slot, 0}, (CnMaterialId){of_b->slot, 0});
    int32_t i = find(model, &pair);
    if (is_at(model, i, &pair)) return model->laws[i].law;
  }
  return cni_material_combine(&of_a->def, &of_b->def);
}
