// SPDX-License-Identifier: Apache-2.0
// A page from a scene of which nothing was simulated: a world is filled, and seen as a run of one
// frame.
#include <cairn/state.h>

#include "view/page_scene.h"

static CnStatus scene_parameter(void *context, int32_t index, CnRunParameter *parameter) {
  const CniSceneView *view = context;
  CnSceneParameter found;
  CNI_TRY(cn_scene_parameter(view->scene, index, &found));
  *parameter = (CnRunParameter){.name = found.name, .value = found.value};
  return CN_OK;
}

static CnStatus scene_body(void *context, int32_t index, CnRunBody *body) {
  const CniSceneView *view = context;
  CnBodyInfo info;
  CNI_TRY(cn_body_info(view->world, view->bodies[index], &info));
  *body = (CnRunBody){.name = info.name, .kind = info.kind, .mass = info.mass};
  return CN_OK;
}

static CnStatus scene_color(void *context, int32_t index, double color[4]) {
  const CniSceneView *view = context;
  return cn_scene_body_color(view->scene, index, color);
}

static CnStatus scene_shape(void *context, int32_t index, CnRunShape *shape) {
  const CniSceneView *view = context;
  shape->body = view->shapes[index].body;
  return cn_shape_def(view->world, view->shapes[index].id, &shape->def);
}

// They are asked for one after the other.
static CnStatus scene_joint(void *context, int32_t index, CnRunJoint *joint) {
  CniSceneView *view = context;
  CnJointDef def;
  if (index == 0) view->joint = (CnJointId){0, 0};
  view->joint = cn_world_next_joint(view->world, view->joint);
  CNI_TRY(cn_joint_def(view->world, view->joint, &def));
  *joint = (CnRunJoint){
      def.name,    def.kind,   cni_view_number(view, def.body_a), cni_view_number(view, def.body_b),
      def.frame_a, def.frame_b};
  return CN_OK;
}

static CnStatus scene_triangles(void *context, int32_t shape, int32_t quarter,
                                CnTriangles *triangles) {
  const CniSceneView *view = context;
  return cn_shape_triangles(view->world, view->shapes[shape].id, quarter, triangles);
}

static CnStatus scene_frame(void *context, int64_t index, double *time, CnPose *poses,
                            CnTwist *twists) {
  const CniSceneView *view = context;
  (void)index;
  *time = 0;
  for (int32_t i = 0; i < view->body_count; i++) {
    if (poses) CNI_TRY(cn_body_pose(view->world, view->bodies[i], &poses[i]));
    if (twists) CNI_TRY(cn_body_twist(view->world, view->bodies[i], &twists[i]));
  }
  return CN_OK;
}

// The world's bodies and shapes in the order in which a run would list them.
static CnStatus list_world(CniSceneView *view) {
  CNI_TRY(cni_page_array(&view->memory, view->body_count, sizeof *view->bodies, &view->bodies));
  CNI_TRY(cni_page_array(&view->memory, view->shape_count, sizeof *view->shapes, &view->shapes));
  int32_t body_count = 0, shape_count = 0;
  CnBodyId body = cn_world_next_body(view->world, (CnBodyId){0, 0});
  for (; body.generation != 0; body = cn_world_next_body(view->world, body)) {
    CnBodyInfo info;
    CNI_TRY(cn_body_info(view->world, body, &info));
    for (int32_t k = 0; k < info.shape_count; k++)
      view->shapes[shape_count++] =
          (CniSceneShapeId){cn_body_shape(view->world, body, k), body_count};
    view->bodies[body_count++] = body;
  }
  return CN_OK;
}

static CnStatus page_of_world(CniSceneView *view, const CnWorldDef *world, const CniPageDef *def) {
  CnWorldInfo counts;
  cn_world_info(view->world, &counts);
  view->body_count = counts.body_count;
  view->shape_count = counts.shape_count;
  CnStatus status = list_world(view);
  if (status == CN_OK) status = cni_view_springs(view);
  if (status == CN_OK) {
    CnSceneInfo scene;
    cn_scene_info(view->scene, &scene);
    CniPageSource source = {.context = view,
                            .description = scene.description ? scene.description : "",
                            .is_scene = 1,
                            .world = view->world,
                            .parameter = scene_parameter,
                            .body = scene_body,
                            .color = scene_color,
                            .shape = scene_shape,
                            .triangles = scene_triangles,
                            .joint = scene_joint,
                            .springs = view->springs,
                            .spring_count = view->spring_count,
                            .frame = scene_frame,
                            .inertias = cni_view_inertias,
                            .materials = cni_view_materials,
                            .material_name = cni_view_material_name,
                            .drives = cni_view_drives};
    source.info = (CnRunInfo){.cairn_version = cn_version(),
                              .scene_name = scene.name,
                              .scene_title = scene.title,
                              .scene_text = scene.text,
                              .integrator = world->integrator,
                              .solver = world->solver.name,
                              .friction = world->friction,
                              .gravity = world->gravity,
                              .time_step = world->time_step,
                              .iterations = world->solver.max_iterations,
                              .tolerance = world->solver.tolerance,
                              .seed = scene.seed,
                              .worker_count = world->worker_count,
                              .body_count = counts.body_count,
                              .shape_count = counts.shape_count,
                              .joint_count = counts.joint_count,
                              .parameter_count = scene.parameter_count,
                              .frame_count = 1,
                              .complete = 1};
    const CniPageSource *one = &source;
    status = cni_page_write(&one, 1, def);
  }
  cni_page_memory_release(&view->memory);
  return status;
}

CnStatus cni_page_from_scene(CnScene *scene, const CniPageDef *def) {
  if (!scene) return cni_page_error(CN_INVALID_ARGUMENT, "cni_page_from_scene: the scene is null");
  if (def->output) CNI_TRY(cn_scene_check_output(scene, def->output));
  CnWorldDef world = cn_world_def_default();
  cn_scene_world_def(scene, &world);
  CniSceneView view = {.scene = scene};
  CNI_TRY(cn_world_create(&world, &view.world));
  CnStatus status = cn_scene_fill(scene, view.world);
  if (status == CN_OK) status = page_of_world(&view, &world, def);
  cn_world_destroy(view.world);
  return status;
}
