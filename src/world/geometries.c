// SPDX-License-Identifier: Apache-2.0
// The public functions of geometries, which shapes share, and of curves, which joints share.
#include "world/doors.h"

// ---- geometries ----

CNI_CREATE(cn_geometry_create_mesh, CnMeshDef, CnGeometryId, cni_model_add_mesh)
CNI_CREATE(cn_geometry_create_heights, CnHeightsDef, CnGeometryId, cni_model_add_heights)
CNI_DESTROY(cn_geometry_destroy, CnGeometryId, cni_model_remove_geometry)

CnStatus cn_geometry_create_points(CnWorld *world, const char *name, const CnVec3 *points,
                                   int32_t count, CnGeometryId *geometry) {
  CNI_FLOATS;
  if (!geometry) return cni_null_argument("cn_geometry_create_points", "the result pointer");
  *geometry = (CnGeometryId){0, 0};
  CNI_TRY(cni_world_open(world, "cn_geometry_create_points"));
  if (!points) return cni_null_argument("cn_geometry_create_points", "the points");
  return cni_model_add_points(&world->now.model, name, points, count, geometry);
}

CnStatus cn_geometry_info(const CnWorld *world, CnGeometryId geometry, CnGeometryInfo *info) {
  CNI_FLOATS;
  int32_t i;
  if (!info) return cni_null_argument("cn_geometry_info", "the result pointer");
  *info = (CnGeometryInfo){.name = ""};
  if (!world) return cni_null_argument("cn_geometry_info", "the world");
  CNI_TRY(cni_model_find_geometry(&world->now.model, geometry, &i));
  const CniGeometry *g = world->now.model.geometries[i];
  info->name = g->name;
  info->use_count = g->use_count;
  info->is_mesh = g->mesh != NULL;
  info->closed = g->mesh ? g->mesh->closed : 1;
  info->vertex_count = g->mesh ? g->mesh->vertex_count : g->hull->vertex_count;
  info->edge_count = g->mesh ? g->mesh->edge_count : g->hull->corner_count / 2;
  info->face_count = g->mesh ? g->mesh->triangle_count : g->hull->face_count;
  info->volume = g->mesh ? g->mesh->volume : g->hull->volume;
  info->centre = g->mesh ? g->mesh->centre : g->hull->centre;
  return CN_OK;
}

void cni_world_form(const CnWorld *world, CnGeometryId geometry, CniPlaced *placed) {
  int32_t i;
  placed->hull = NULL;
  placed->mesh = NULL;
  if (geometry.slot == 0) return;
  if (cni_model_find_geometry(&world->now.model, geometry, &i) != CN_OK) return;
  placed->hull = world->now.model.geometries[i]->hull;
  placed->mesh = world->now.model.geometries[i]->mesh;
}

// ---- curves ----

CNI_CREATE(cn_curve_create, CnCurveDef, CnCurveId, cni_model_add_curve)
CNI_DESTROY(cn_curve_destroy, CnCurveId, cni_model_remove_curve)
CNI_NEXT(cn_world_next_curve, CnCurveId, curve_ids)

CnStatus cn_curve_def(const CnWorld *world, CnCurveId curve, CnCurveDef *def) {
  CNI_FLOATS;
  int32_t i;
  CNI_ASK(world, cni_model_find_curve, curve, def, &i);
  *def = world->now.model.curves[i]->def;
  def->name = world->now.model.curves[i]->name;
  return CN_OK;
}

CnStatus cn_curve_point(const CnWorld *world, CnCurveId curve, double s, CnCurvePoint *point) {
  CNI_FLOATS;
  int32_t i;
  CNI_ASK(world, cni_model_find_curve, curve, point, &i);
  if (!isfinite(s)) return cni_invalid("cn_curve_point: the place must be finite (got %g)", s);
  *point = cni_curve_at(world->now.model.curves[i], s);
  return CN_OK;
}
