// SPDX-License-Identifier: Apache-2.0
// Geometries: what of a shape is more than a few numbers. The model owns them, shapes share them,
// and one that is used stays.
#include <stdio.h>

#include "model/model_private.h"

CnStatus cni_geometry_keep(CniModel *model, const CniGeometry *given) {
  const CnAllocator *a = &model->allocator;
  if (model->geometry_count == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d geometries", INT32_MAX);
  CNI_TRY(CNI_RESERVE(a, model->geometries, model->geometry_capacity, model->geometry_count,
                      model->geometry_count + 1));
  CniGeometry *g = cni_allocate(a, sizeof *g);
  if (!g) return cni_error_memory(sizeof *g);
  *g = *given;
  model->geometries[model->geometry_count++] = g;
  return CN_OK;
}

void cni_geometry_release(const CniModel *model, const CniGeometry *geometry) {
  cni_hull_destroy(&model->allocator, geometry->hull);
  cni_mesh_destroy(&model->allocator, geometry->mesh);
}

void cni_geometries_release(CniModel *model) {
  const CnAllocator *a = &model->allocator;
  for (int32_t i = 0; i < model->geometry_count; i++) {
    cni_geometry_release(model, model->geometries[i]);
    cni_release(a, model->geometries[i], sizeof *model->geometries[i]);
  }
  cni_release(a, model->geometries, (size_t)model->geometry_capacity * sizeof *model->geometries);
  cni_ids_release(&model->geometry_ids, a);
}

// What messages call it.
static void begin_geometry(CniGeometry *g, const char *name, char what[CNI_NAME_SIZE + 16]) {
  *g = (CniGeometry){.use_count = 0};
  cni_name_copy(g->name, name);
  snprintf(what, CNI_NAME_SIZE + 16, g->name[0] ? "geometry '%s'" : "geometry", g->name);
}

static CnStatus add_geometry(CniModel *model, const CniGeometry *g, CnGeometryId *id) {
  CnStatus status = cni_ids_reserve(&model->geometry_ids, &model->allocator);
  if (status == CN_OK) status = cni_geometry_keep(model, g);
  if (status != CN_OK) {
    cni_geometry_release(model, g);
    return status;
  }
  int32_t i = model->geometry_count - 1;
  CniGeometry *kept = model->geometries[i];
  cni_ids_take(&model->geometry_ids, i, &kept->slot, &kept->generation);
  *id = (CnGeometryId){kept->slot, kept->generation};
  return CN_OK;
}

CnStatus cni_model_add_points(CniModel *model, const char *name, const CnVec3 *points,
                              int32_t count, CnGeometryId *id) {
  char what[CNI_NAME_SIZE + 16];
  CniGeometry g;
  *id = (CnGeometryId){0, 0};
  begin_geometry(&g, name, what);
  CNI_TRY(cni_hull_create(&model->allocator, what, points, count, &g.hull));
  return add_geometry(model, &g, id);
}

CnStatus cni_model_add_mesh(CniModel *model, const CnMeshDef *def, CnGeometryId *id) {
  char what[CNI_NAME_SIZE + 16];
  CniGeometry g;
  *id = (CnGeometryId){0, 0};
  CNI_TRY(cni_def_check("mesh", def, sizeof *def, CNI_TAG_MESH));
  begin_geometry(&g, def->name, what);
  CNI_TRY(cni_mesh_create(&model->allocator, model->tasks, what, def, &g.mesh));
  return add_geometry(model, &g, id);
}

CnStatus cni_model_add_heights(CniModel *model, const CnHeightsDef *def, CnGeometryId *id) {
  char what[CNI_NAME_SIZE + 16];
  CniGeometry g;
  *id = (CnGeometryId){0, 0};
  CNI_TRY(cni_def_check("height field", def, sizeof *def, CNI_TAG_HEIGHTS));
  begin_geometry(&g, def->name, what);
  CNI_TRY(cni_heights_create(&model->allocator, what, def, &g.mesh));
  return add_geometry(model, &g, id);
}

CnStatus cni_model_remove_geometry(CniModel *model, CnGeometryId id) {
  int32_t i;
  CNI_TRY(cni_model_find_geometry(model, id, &i));
  CniGeometry *g = model->geometries[i];
  if (g->use_count > 0)
    return cni_invalid("geometry %u '%s' is used by %d shapes", (unsigned)g->slot, g->name,
                       (int)g->use_count);
  cni_geometry_release(model, g);
  cni_release(&model->allocator, g, sizeof *g);
  cni_ids_free(&model->geometry_ids, id.slot);
  int32_t last = --model->geometry_count;
  if (i == last) return CN_OK;
  model->geometries[i] = model->geometries[last];
  cni_ids_move(&model->geometry_ids, model->geometries[i]->slot, i);
  return CN_OK;
}

CnStatus cni_model_geometry_of(const CniModel *model, const CnShapeDef *def,
                               CniGeometry **geometry) {
  *geometry = NULL;
  int given = def->geometry.slot != 0 || def->geometry.generation != 0;
  const char *kind = cni_shape_kinds[def->kind]->name;
  if (cni_shape_needs_geometry(def->kind) != given)
    return cni_invalid(given ? "shape: a %s has no geometry" : "shape: a %s needs a geometry",
                       kind);
  int32_t i;
  if (!given) return CN_OK;
  CNI_TRY(cni_model_find_geometry(model, def->geometry, &i));
  if (i >= model->geometry_count) // ids of a snapshot are not checked yet
    return cni_bad_data("shape: the id of its geometry leads nowhere");
  *geometry = model->geometries[i];
  if (cni_shape_is_surface(def->kind) != ((*geometry)->mesh != NULL))
    return cni_invalid("shape: a %s cannot have geometry %u, which is a %s", kind,
                       (unsigned)def->geometry.slot, (*geometry)->mesh ? "mesh" : "hull");
  return CN_OK;
}
