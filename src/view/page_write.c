// SPDX-License-Identifier: Apache-2.0
// A page from a source: template, text, plots, then the frames, in one pass over the file. The run
// is read twice, a frame at a time: once for the boxes in which the bodies move, once to pack them.
//
// Everything but the frames is written first; what is left of max_bytes tells how many frames fit.
// If not all do, every n-th is kept, and the last. Velocities follow where all frames take less than half of the
// room. Two runs share the room evenly.
#include "view/view_private.h"

#define DEFAULT_BYTES 100000000
#define CHUNK_BYTES 1500000 // of packed frames in one block: what a browser decodes in one go
#define BODY_BYTES 182      // base64 of the 12 numbers of a body, and of the 10 of its inertia
#define RESERVE_BYTES 2000  // the block "packing" and the markup of the other late blocks
#define BLOCK_BYTES 64      // markup of a block
#define TEMPLATE_BYTES ((int64_t)(cni_page_head_size + cni_page_tail_size))

typedef struct Plan {
  const CniPageSource *source;
  CniPageMemory memory; // of what follows
  int32_t body_count, moving_count;
  CniPackBox *boxes; // body_count each
  CnPose *poses;
  CnQuat *rotations; // of fixed bodies, from the first frame
  CnRunBody *bodies;
  double *times; // one a kept frame
  CnTwist *twists;
  CniPageFrames kept;
  int64_t frames_per_chunk, chunk_count;
  int32_t has_twists;
  CniPageContacts contacts;
  double position_error, rotation_error;
} Plan;

static CnStatus plan_init(Plan *plan, const CniPageSource *source) {
  *plan = (Plan){.source = source};
  int32_t n = plan->body_count = source->info.body_count;
  CNI_TRY(cni_page_array(&plan->memory, n, sizeof *plan->boxes, &plan->boxes));
  CNI_TRY(cni_page_array(&plan->memory, n, sizeof *plan->poses, &plan->poses));
  CNI_TRY(cni_page_array(&plan->memory, n, sizeof *plan->rotations, &plan->rotations));
  CNI_TRY(cni_page_array(&plan->memory, n, sizeof *plan->bodies, &plan->bodies));
  CNI_TRY(cni_page_array(&plan->memory, n, sizeof *plan->twists, &plan->twists));
  for (int32_t i = 0; i < n; i++) {
    CNI_TRY(source->body(source->context, i, &plan->bodies[i]));
    plan->boxes[i] = cni_pack_box_empty();
    plan->rotations[i] = (CnQuat){1, 0, 0, 0};
    plan->moving_count += plan->bodies[i].kind != CN_BODY_FIXED;
  }
  return CN_OK;
}

// ---- how many frames ----

int64_t cni_page_frame_index(const CniPageSource *source, const CniPageFrames *kept, int64_t i) {
  if (kept->count == 1) return 0;
  return i < kept->count - 1 ? i * kept->stride : source->info.frame_count - 1;
}

// Base64 bytes of one frame with its share of the markup.
static int64_t frame_bytes(const Plan *plan) {
  int64_t packed = (int64_t)plan->moving_count * CNI_PACK_WORDS * 2;
  return packed * 4 / 3 + 4 + 11 + BLOCK_BYTES * packed / CHUNK_BYTES + 1;
}

// The smallest stride with which the frames fit into the bytes left for this run.
static CnStatus choose_frames(Plan *plan, const char *path, int64_t max_bytes, int64_t used_bytes) {
  int64_t count = plan->source->info.frame_count;
  int64_t other = used_bytes + (int64_t)plan->body_count * BODY_BYTES + RESERVE_BYTES;
  int64_t each = frame_bytes(plan);
  int64_t fit = max_bytes > other ? (max_bytes - other) / each : 0;
  if (fit < 1)
    return cni_page_error(
        CN_INVALID_ARGUMENT,
        "%s: a page of %lld bytes cannot hold one frame of %d bodies (%lld needed)", path,
        (long long)(max_bytes + TEMPLATE_BYTES), (int)plan->body_count,
        (long long)(other + each + TEMPLATE_BYTES));
  if (count <= fit) {
    plan->kept = (CniPageFrames){count, 1};
  } else if (fit == 1) {
    plan->kept = (CniPageFrames){1, count};
  } else {
    int64_t stride = (count - 1 + fit - 2) / (fit - 1);
    plan->kept = (CniPageFrames){(count - 1 + stride - 1) / stride + 1, stride};
  }
  int64_t packed = (int64_t)plan->moving_count * CNI_PACK_WORDS * 2;
  plan->frames_per_chunk = packed < CHUNK_BYTES ? CHUNK_BYTES / (packed + 1) : 1;
  plan->chunk_count = (plan->kept.count + plan->frames_per_chunk - 1) / plan->frames_per_chunk;
  plan->has_twists = !plan->source->is_scene && plan->kept.stride == 1 && 2 * count <= fit;
  return CN_OK;
}

// ---- frames ----

static double norm2_of(CnQuat q) { return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z; }

static CnStatus read_frame(Plan *plan, int64_t kept, double *time) {
  int64_t index = cni_page_frame_index(plan->source, &plan->kept, kept);
  CNI_TRY(plan->source->frame(plan->source->context, index, time, plan->poses,
                              plan->has_twists ? plan->twists : NULL));
  for (int32_t i = 0; i < plan->body_count; i++) {
    CnPose *pose = &plan->poses[i];
    CnVec3 p = pose->position;
    double norm2 = norm2_of(pose->rotation);
    if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z) || !isfinite(norm2) || norm2 == 0)
      return cni_page_error(CN_INVALID_DATA, "frame %lld: the pose of body %d (%s) is not finite",
                            (long long)index, (int)i, plan->bodies[i].name);
    double scale = 1 / sqrt(norm2);
    CnQuat q = pose->rotation;
    pose->rotation = (CnQuat){scale * q.w, scale * q.x, scale * q.y, scale * q.z};
  }
  return CN_OK;
}

// First pass: the boxes of the moving bodies; the others stay where the first frame has them.
static CnStatus measure_frames(Plan *plan) {
  CNI_TRY(cni_page_array(&plan->memory, plan->kept.count, sizeof *plan->times, &plan->times));
  for (int64_t f = 0; f < plan->kept.count; f++) {
    CNI_TRY(read_frame(plan, f, &plan->times[f]));
    for (int32_t i = 0; i < plan->body_count; i++) {
      if (plan->bodies[i].kind == CN_BODY_FIXED && f > 0) continue;
      cni_pack_box_add(&plan->boxes[i], plan->poses[i].position);
      if (f == 0) plan->rotations[i] = plan->poses[i].rotation;
    }
  }
  for (int32_t i = 0; i < plan->body_count; i++) cni_pack_box_close(&plan->boxes[i]);
  return CN_OK;
}

// Distance of two unit quaternions as an angle; they are close, so the chord is the arc.
static double angle_between(CnQuat a, CnQuat b) {
  double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 ? -1 : 1;
  CnQuat d = {a.w - sign * b.w, a.x - sign * b.x, a.y - sign * b.y, a.z - sign * b.z};
  return 2 * sqrt(norm2_of(d));
}

static void write_frame(CniPageFile *file, Plan *plan) {
  for (int32_t i = 0; i < plan->body_count; i++) {
    if (plan->bodies[i].kind == CN_BODY_FIXED) continue;
    CnPose pose = plan->poses[i];
    uint16_t words[CNI_PACK_WORDS];
    cni_pack_position(&plan->boxes[i], pose.position, words);
    cni_pack_rotation(pose.rotation, words + 3);
    for (int32_t k = 0; k < CNI_PACK_WORDS; k++) cni_page_file_uint16(file, words[k]);

    CnVec3 p = pose.position, got = cni_unpack_position(&plan->boxes[i], words);
    CnVec3 off = {got.x - p.x, got.y - p.y, got.z - p.z};
    double far = sqrt(off.x * off.x + off.y * off.y + off.z * off.z);
    plan->position_error = fmax(plan->position_error, far);
    double turn = angle_between(cni_unpack_rotation(words + 3), pose.rotation);
    plan->rotation_error = fmax(plan->rotation_error, turn);
  }
}

static void write_twists(CniPageFile *file, Plan *plan) {
  for (int32_t i = 0; i < plan->body_count; i++) {
    if (plan->bodies[i].kind == CN_BODY_FIXED) continue;
    CnVec3 v = plan->twists[i].velocity, w = plan->twists[i].spin;
    const double numbers[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    for (int32_t k = 0; k < 6; k++) cni_page_file_uint16(file, cni_pack_half(numbers[k]));
  }
}

// Second pass: pack, and measure what packing costs.
static CnStatus write_frames(CniPageFile *file, Plan *plan, const char *what,
                             void (*write)(CniPageFile *file, Plan *plan)) {
  for (int64_t chunk = 0; chunk < plan->chunk_count; chunk++) {
    char name[40];
    snprintf(name, sizeof name, "%s-%lld", what, (long long)chunk);
    cni_page_file_begin(file, name);
    int64_t first = chunk * plan->frames_per_chunk;
    int64_t past = first + plan->frames_per_chunk;
    for (int64_t f = first; f < past && f < plan->kept.count; f++) {
      double time;
      CNI_TRY(read_frame(plan, f, &time));
      write(file, plan);
    }
    cni_page_file_end(file);
  }
  return CN_OK;
}

// ---- the other blocks ----

static void write_bodies(CniPageFile *file, const Plan *plan) {
  cni_page_file_begin(file, "bodies");
  for (int32_t i = 0; i < plan->body_count; i++) {
    const CniPackBox *box = &plan->boxes[i];
    CnQuat q = plan->rotations[i];
    int32_t kind = (int32_t)plan->bodies[i].kind;
    const double row[12] = {kind == CN_BODY_FIXED ? kind : kind + 4,
                            plan->bodies[i].mass,
                            box->low[0],
                            box->low[1],
                            box->low[2],
                            box->step[0],
                            box->step[1],
                            box->step[2],
                            q.w,
                            q.x,
                            q.y,
                            q.z};
    for (int32_t k = 0; k < 12; k++) cni_page_file_float64(file, row[k]);
  }
  cni_page_file_end(file);
}

static void write_times(CniPageFile *file, const Plan *plan) {
  cni_page_file_begin(file, "times");
  for (int64_t f = 0; f < plan->kept.count; f++) cni_page_file_float64(file, plan->times[f]);
  cni_page_file_end(file);
}

// Where the mass of bodies is; in the middle where nobody knows.
static CnStatus write_inertias(CniPageFile *file, Plan *plan) {
  const CniPageSource *source = plan->source;
  CnVec3 *moments;
  int32_t n = plan->body_count;
  CNI_TRY(cni_page_array(&plan->memory, n, sizeof *moments, &moments));
  for (int32_t i = 0; i < n; i++) plan->poses[i] = (CnPose){{0, 0, 0}, {1, 0, 0, 0}};
  if (n > 0 && source->inertias) CNI_TRY(source->inertias(source->context, plan->poses, moments));
  cni_page_file_begin(file, "inertia");
  for (int32_t i = 0; i < n; i++) {
    CnVec3 p = plan->poses[i].position, m = moments[i];
    CnQuat q = plan->poses[i].rotation;
    const double row[10] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z, m.x, m.y, m.z};
    for (int32_t k = 0; k < 10; k++) cni_page_file_float32(file, (float)row[k]);
  }
  cni_page_file_end(file);
  return CN_OK;
}

// What only is known after the last frame.
static void write_packing(CniPageFile *file, const Plan *plan) {
  const struct {
    const char *name;
    double value;
  } rows[] = {
      {"frames", (double)plan->kept.count},
      {"stride", (double)plan->kept.stride},
      {"framesPerChunk", (double)plan->frames_per_chunk},
      {"chunks", (double)plan->chunk_count},
      {"twists", plan->has_twists},
      {"movingBodies", plan->moving_count},
      {"positionError", plan->position_error},
      {"rotationError", plan->rotation_error},
      {"contactChunks", (double)plan->contacts.chunk_count},
      {"contactFramesPerChunk", (double)plan->contacts.frames_per_chunk},
      {"contactsKept", (double)plan->contacts.kept},
      {"contactsDropped", (double)plan->contacts.dropped},
  };
  cni_page_file_json(file, "packing");
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    cni_page_file_text(file, k ? "," : "{");
    cni_page_file_string(file, rows[k].name);
    cni_page_file_text(file, ":");
    cni_page_file_number(file, rows[k].value);
  }
  cni_page_file_text(file, ",\"eventKinds\":");
  cni_page_write_event_kinds(file);
  cni_page_file_text(file, "}");
  cni_page_file_json_end(file);
}

static CnStatus write_run(CniPageFile *file, Plan *plan, const char *path, int64_t max_bytes) {
  const CniPageSource *source = plan->source;
  int64_t start = file->byte_count;
  int64_t steps_per_point = cni_page_steps_per_point(source, max_bytes / 4);
  CNI_TRY(cni_page_write_meta(file, source, steps_per_point));
  CNI_TRY(cni_page_write_series(file, source, steps_per_point));
  CNI_TRY(cni_page_write_reactions(file, source));
  CNI_TRY(cni_page_write_shapes(file, source));
  CNI_TRY(cni_page_write_joints(file, source));
  CNI_TRY(cni_page_write_events(file, source));
  CNI_TRY(cni_page_plan_contacts(source, max_bytes / 4, &plan->contacts));
  int64_t used = file->byte_count - start + plan->contacts.byte_count;
  CNI_TRY(choose_frames(plan, path, max_bytes, used));
  CNI_TRY(measure_frames(plan));
  CNI_TRY(write_frames(file, plan, "frames", write_frame));
  if (plan->has_twists) CNI_TRY(write_frames(file, plan, "twists", write_twists));
  CNI_TRY(cni_page_write_contacts(file, source, &plan->kept, &plan->contacts));
  write_bodies(file, plan);
  CNI_TRY(write_inertias(file, plan));
  write_times(file, plan);
  write_packing(file, plan);
  return CN_OK;
}

static CnStatus write_all(CniPageFile *file, const CniPageSource *const *sources, int32_t count,
                          const CniPageDef *def) {
  static const char *const prefixes[] = {"", "b-"};
  int64_t max_bytes = def->max_bytes > 0 ? def->max_bytes : DEFAULT_BYTES;
  cni_page_file_bytes(file, cni_page_head, cni_page_head_size);
  for (int32_t i = 0; i < count; i++) {
    Plan plan;
    file->prefix = prefixes[i];
    CnStatus status = plan_init(&plan, sources[i]);
    if (status == CN_OK)
      status = write_run(file, &plan, def->output, (max_bytes - TEMPLATE_BYTES) / count);
    cni_page_memory_release(&plan.memory);
    CNI_TRY(status);
  }
  cni_page_file_bytes(file, cni_page_tail, cni_page_tail_size);
  return CN_OK;
}

CnStatus cni_page_write(const CniPageSource *const *sources, int32_t count, const CniPageDef *def) {
  if (!def || !def->output)
    return cni_page_error(CN_INVALID_ARGUMENT, "the page has no path to be written to");
  if (def->max_bytes < 0)
    return cni_page_error(CN_INVALID_ARGUMENT, "%s: max_bytes must not be negative (got %lld)",
                          def->output, (long long)def->max_bytes);
  if (count < 1 || count > 2)
    return cni_page_error(CN_INVALID_ARGUMENT, "%s: a page shows one run or two (got %d)",
                          def->output, (int)count);
  if (cni_page_head_size == 0)
    return cni_page_error(
        CN_UNSUPPORTED,
        "%s: this Cairn was built without its page: install node and npm, run `npm ci` "
        "in web/ (scripts/setup does both), and build again",
        def->output);
  for (int32_t i = 0; i < count; i++)
    if (sources[i]->info.frame_count < 1)
      return cni_page_error(CN_INVALID_DATA, "%s: the run has no frames to show", def->output);

  CniPageFile file;
  CNI_TRY(cni_page_file_open(def->output, &file));
  CnStatus status = write_all(&file, sources, count, def);
  CnStatus closed = cni_page_file_close(&file, status == CN_OK);
  return status == CN_OK ? closed : status;
}
