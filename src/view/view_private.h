// SPDX-License-Identifier: Apache-2.0
// Inside the room view: where a page's contents come from, the packing of poses, and the file being
// written.
//
// A page is the template (head and tail, built from web/) with data blocks between: script elements
// that no browser runs, each base64 or JSON, named by data-cairn. All numbers are little-endian. The blocks of
// a second run have names that begin with "b-".
//
//   bodies    12 float64 a body: kind + 4 (if it has frames), mass, low corner of its own box (3),
//             step of its grid (3), rotation w x y z (fixed bodies; others are in the frames)
//   inertia   10 float32 a body: centre of mass (3) and principal axes w x y z in its frame, moments (3)
//   shapes    13 float32 a shape: body, primitive (CnDrawing; 3 + I: mesh I), position (3),
//             rotation w x y z, size (3; radius first; of a mesh: ones), number of its material (-1: none)
//   meshes    one mesh after another: 10 float64: number of places, of triangles, 1 if it has normals (else
//             each triangle is flat), bytes of its corners, low corner of its box (3), step of its
//             grid (3); 3 uint16 a place; 2 bytes a normal, if any; corners (page_meshes.c)
//   joints    18 float32 a joint, then a spring: drawing (CniPageJoint), drive (0: none, 1: turns, 2: slides), body a,
//             body b (-1: the ground), frames a and b on them: position (3), rotation w x y z
//   curves    float32, one curve after another: its joint, its side (0: a, 1: b), number of points; 2 a
//             point, x and y in the frame
//   times     1 float64 a kept frame
//   frames-I  6 uint16 a moving body: position (3) and rotation (3), a whole number of frames
//   twists-I  6 numbers of half precision a moving body, where there is room: velocity (3), spin (3), as frames-I
//   contacts-I  8 words of 4 bytes a contact that carries a force: bodies a and b as uint32; point (3) and force
//             on b (3) as float32; a whole number of frames. contact-ends: 1 float64 a kept frame, contacts up to it
//   events    5 float64 an event: time, number of its name in the packing, bodies (-1: none), speed (NaN: unknown)
//   event-bins  float32: contacts that began and impacts, in equal parts of the time of the frames
//   series-I  1 float64 a point; series-time has the times. Works (work_...) are sums from the first step on
//   reactions JSON: title, name and unit of each plot of joints; reactions-I, reactions-time as series
//   meta      JSON: all that is text, the counts, and the worst errors of the packing; "colors": red, green,
//             blue, opacity of each body, null where the scene gives none; absent where it gives none at all
#ifndef CNI_VIEW_PRIVATE_H
#define CNI_VIEW_PRIVATE_H

#include <cairn/look.h>
#include <cairn/record.h>
#include <cairn/run_look.h>
#include <cairn/tools.h>

#include <math.h>
#include <stdio.h>

#include "view/view.h"

// ---- failures and memory: this room has no more of the library than any program ----

// Pass a failure on; as core/error.h has it.
#ifndef CNI_TRY
#define CNI_TRY(call)                                                                              \
  do {                                                                                             \
    CnStatus cni_try_status = (call);                                                              \
    if (cni_try_status != CN_OK) return cni_try_status;                                            \
  } while (0)
#endif

// A failure with a sentence.
CnStatus cni_page_error(CnStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

// Arrays of zeros that go together. `array` is the address of the pointer, which is null for none.
typedef struct CniPageMemory {
  struct CniPageBlock *blocks;
} CniPageMemory;
CnStatus cni_page_array(CniPageMemory *memory, int64_t count, size_t size, void *array);
void cni_page_memory_release(CniPageMemory *memory);

// ---- the template, generated at build time; empty where web/ could not be built ----

extern const unsigned char cni_page_head[], cni_page_tail[];
extern const size_t cni_page_head_size, cni_page_tail_size;

// ---- where the contents come from ----

// A run, or a scene seen as a run of one frame. A function that fails leaves its own message.
typedef struct CniPageSource {
  void *context;
  CnRunInfo info;
  const char *description; // "" without one
  int32_t is_scene;        // no steps were made: first frame only
  CnStatus (*parameter)(void *context, int32_t index, CnRunParameter *parameter);
  CnStatus (*body)(void *context, int32_t index, CnRunBody *body);
  // negative: not given; null: none is
  CnStatus (*color)(void *context, int32_t index, double color[4]);
  CnStatus (*shape)(void *context, int32_t index, CnRunShape *shape);
  // of a shape that is drawn so
  CnStatus (*triangles)(void *context, int32_t shape, int32_t quarter, CnTriangles *triangles);
  CnStatus (*joint)(void *context, int32_t index, CnRunJoint *joint);
  const CnRunJoint *springs; // force elements between two points, drawn as zigzags
  int32_t spring_count;
  const CnWorld *world; // that has the curves of joints; null: none is known
  // twists may be null
  CnStatus (*frame)(void *context, int64_t index, double *time, CnPose *poses, CnTwist *twists);
  const char *label; // what this run is called among others; null: nothing
  // of all bodies; null: not known
  CnStatus (*inertias)(void *context, CnPose *coms, CnVec3 *moments);
  // of all shapes, and how many materials there are; null: not known
  CnStatus (*materials)(void *context, int32_t *materials, int32_t *count);
  CnStatus (*material_name)(void *context, int32_t index, char *name, size_t size);
  // first coordinate with a motor of each joint, -1: none; null: not known
  CnStatus (*drives)(void *context, int32_t *coordinates);
  // of a frame, as cn_run_contacts; null: none were recorded
  CnStatus (*contacts)(void *context, int64_t frame, CnRunContact *contacts, int32_t capacity,
                       int32_t *count);
  CnStatus (*events)(void *context, int64_t first, int64_t count, CnRunEvent *events);
  // scalars first, then sensors
  CnStatus (*series)(void *context, int32_t index, CnRunSeries *series);
  CnStatus (*values)(void *context, const char *name, int64_t first, int64_t count, double *values);
  // of all joints in a frame; null: none were recorded
  CnStatus (*states)(void *context, int64_t frame, double *time, CnJointState *states);
  CnStatus (*coupling)(void *context, int32_t index, const char **name);
  CnStatus (*coupling_states)(void *context, int64_t frame, CnCouplingState *states);
} CniPageSource;

// Write the page of one source, or of two side by side.
CnStatus cni_page_write(const CniPageSource *const *sources, int32_t count, const CniPageDef *def);

// ---- packing of poses ----

#define CNI_PACK_WORDS 6 // uint16 a body and frame

// A position lies on a grid of 65536 points along each side of the box that its body sweeps over
// the run: low + n step. A body that rests keeps all its digits, one that falls far does not spoil
// the others.
typedef struct CniPackBox {
  double low[3], high[3], step[3];
} CniPackBox;

CniPackBox cni_pack_box_empty(void);
void cni_pack_box_add(CniPackBox *box, CnVec3 point);
// After the last point: the step, chosen so that high is on the grid.
void cni_pack_box_close(CniPackBox *box);

void cni_pack_position(const CniPackBox *box, CnVec3 position, uint16_t words[3]);
CnVec3 cni_unpack_position(const CniPackBox *box, const uint16_t words[3]);

// A unit quaternion by its three smaller components, 15 bits each over -1/sqrt 2 .. 1/sqrt 2; the
// top bits of the first two words tell which is missing. q and -q are the same rotation.
void cni_pack_rotation(CnQuat rotation, uint16_t words[3]);
CnQuat cni_unpack_rotation(const uint16_t words[3]);

// A number of half precision, the nearest; beyond the largest one (65504) that.
uint16_t cni_pack_half(double value);

// ---- the file ----

// Writes beside the path and renames at the end. The first failure is kept and returned by close:
// the calls between need no checks.
typedef struct CniPageFile {
  CnOutput *output;
  const char *prefix; // of the names of blocks
  int64_t byte_count;
  uint8_t carry[3]; // bytes of base64 that wait for their group of three
  int32_t carry_count;
} CniPageFile;

CnStatus cni_page_file_open(const char *path, CniPageFile *file);
// Keep the file, or take everything back (keep 0).
CnStatus cni_page_file_close(CniPageFile *file, int32_t keep);

void cni_page_file_bytes(CniPageFile *file, const void *bytes, size_t size);
void cni_page_file_text(CniPageFile *file, const char *text);
// A JSON string with its quotes; < > & are escaped so that it can stand inside a script element,
// and bytes that are not UTF-8 become U+FFFD.
void cni_page_file_string(CniPageFile *file, const char *text);
// A JSON number with all its digits; null where it is not finite.
void cni_page_file_number(CniPageFile *file, double value);
// A block of JSON: begin, text, end.
void cni_page_file_json(CniPageFile *file, const char *name);
void cni_page_file_json_end(CniPageFile *file);
// A data block of base64: begin, numbers, end.
void cni_page_file_begin(CniPageFile *file, const char *name);
void cni_page_file_base64(CniPageFile *file, const uint8_t *bytes, size_t size);
void cni_page_file_float64(CniPageFile *file, double value);
void cni_page_file_float32(CniPageFile *file, float value);
void cni_page_file_uint16(CniPageFile *file, uint16_t value);
void cni_page_file_uint32(CniPageFile *file, uint32_t value);
void cni_page_file_end(CniPageFile *file);

// ---- parts of a page ----

// The blocks "joints" and "curves".
typedef enum CniPageJoint {
  CNI_PAGE_POINT = 0,
  CNI_PAGE_AXIS,
  CNI_PAGE_LINK,
  CNI_PAGE_SQUARE,
  CNI_PAGE_SPRING
} CniPageJoint;
CnStatus cni_page_write_joints(CniPageFile *file, const CniPageSource *source);

// The blocks "shapes" and "meshes".
CnStatus cni_page_write_shapes(CniPageFile *file, const CniPageSource *source);
// One mesh of the block "meshes".
CnStatus cni_page_write_mesh(CniPageFile *file, const CnTriangles *triangles);

// The block "meta": text, settings, parameters, names, the list of series.
CnStatus cni_page_write_meta(CniPageFile *file, const CniPageSource *source,
                             int64_t steps_per_point);

// Steps that share two points of a plot (their least and largest value), so that no series has more
// than some thousand points and all together stay below max_bytes. 1: every step is a point.
int64_t cni_page_steps_per_point(const CniPageSource *source, int64_t max_bytes);
// The blocks "series-time" and "series-I": scalars first, then sensors.
CnStatus cni_page_write_series(CniPageFile *file, const CniPageSource *source,
                               int64_t steps_per_point);

// The frames that a page keeps: every stride-th and the last.
typedef struct CniPageFrames {
  int64_t count, stride;
} CniPageFrames;
int64_t cni_page_frame_index(const CniPageSource *source, const CniPageFrames *kept, int64_t i);

// Contacts of the kept frames. The plan is made first: how many there are at most, and what they take.
typedef struct CniPageContacts {
  int64_t byte_count;                    // at most; 0: there are none
  int32_t per_frame;                     // at most; the strongest are kept
  int64_t frames_per_chunk, chunk_count; // filled in by the writing
  int64_t kept, dropped;
} CniPageContacts;
CnStatus cni_page_plan_contacts(const CniPageSource *source, int64_t max_bytes,
                                CniPageContacts *plan);
CnStatus cni_page_write_contacts(CniPageFile *file, const CniPageSource *source,
                                 const CniPageFrames *frames, CniPageContacts *plan);

// The blocks "events" and "event-bins", and the names of the kinds as a JSON array.
CnStatus cni_page_write_events(CniPageFile *file, const CniPageSource *source);
void cni_page_write_event_kinds(CniPageFile *file);

// The blocks "reactions" and "reactions-I", where joints were recorded.
CnStatus cni_page_write_reactions(CniPageFile *file, const CniPageSource *source);

// A world made from the scene of a run again, for the curves of its joints, with the values its parameters had;
// null where there are none, or the run was not made from a scene.
CnWorld *cni_page_curves(CnRun *run, const CnRunInfo *info);
// The springs of a run, in the page's memory.
CnStatus cni_page_springs(CnRun *run, CniPageMemory *memory, CniPageSource *source);

#endif
