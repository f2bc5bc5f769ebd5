// SPDX-License-Identifier: Apache-2.0
// The data blocks of a run of the page, decoded. src/view/view_private.h has the layout; positions and rotations are
// unpacked with the same operations as there, so the errors stated in the page hold here.

import { createBlocks, halfTable } from "./blocks.js";
import { addBones } from "./bones.js";
import { createContacts } from "./contacts.js";
import { readMeshes } from "./meshes.js";
import { groupBodies } from "./groups.js";

export const KIND = { dynamic: 0, kinematic: 1, fixed: 2 };
export const SHAPE = { sphere: 0, box: 1, plane: 2, mesh: 3 };

const WORDS = 6;
const HALF_ROOT = 0.70710678118654757;

// A component of a packed quaternion.
const component = (word) => ((word & 0x7fff) / 32766) * (2 * HALF_ROOT) - HALF_ROOT;

// The inverse of cni_pack_rotation: w x y z into `q` at `at`, the largest from the other three.
const unpackRotation = (words, from, q, at) => {
  const a = component(words[from]);
  const b = component(words[from + 1]);
  const c = component(words[from + 2]);
  const largest = Math.sqrt(Math.max(1 - a * a - b * b - c * c, 0));
  const missing = (words[from] >> 15) | ((words[from + 1] >> 15) << 1);
  q[at] = missing === 0 ? largest : a;
  q[at + 1] = missing === 1 ? largest : missing === 0 ? a : b;
  q[at + 2] = missing === 2 ? largest : missing === 3 ? c : b;
  q[at + 3] = missing === 3 ? largest : c;
};

// ---- poses ----

// Rows of a body in the table: kind, mass, low corner of its box, step of its grid, rotation.
const ROW = 12;
const [LOW, STEP, TURN] = [2, 5, 8];

const createFrames = (blocks, table, times, packing, bodyCount) => {
  // which bodies have frames, and where in a frame they are
  const slots = new Int32Array(bodyCount).fill(-1);
  let moving = 0;
  for (let i = 0; i < bodyCount; i++) if (table[ROW * i] & 4) slots[i] = moving++;

  // blocks of frames are decoded when they are first asked for
  const chunks = new Array(packing.chunks);
  const chunkOf = (frame) => {
    const index = Math.floor(frame / packing.framesPerChunk);
    chunks[index] ??= blocks.uint16(`frames-${index}`);
    return chunks[index];
  };
  const offsetOf = (frame) => (frame % packing.framesPerChunk) * moving * WORDS;

  // Pose of one body in one frame, in full precision.
  const decode = (frame, body) => {
    if (!(frame >= 0 && frame < times.length && body >= 0 && body < bodyCount))
      throw new RangeError("no such frame or body");
    const row = ROW * body;
    const position = Array.from(table.subarray(row + LOW, row + LOW + 3));
    const rotation = Array.from(table.subarray(row + TURN, row + TURN + 4));
    if (slots[body] >= 0) {
      const words = chunkOf(frame);
      const at = offsetOf(frame) + slots[body] * WORDS;
      for (let k = 0; k < 3; k++) position[k] += words[at + k] * table[row + STEP + k];
      unpackRotation(words, at + 3, rotation, 0);
    }
    return { position, rotation };
  };

  // All poses of a frame into single-precision arrays (3 and 4 numbers a body).
  const decodeAll = (frame, positions, rotations) => {
    const words = moving ? chunkOf(frame) : null;
    const start = moving ? offsetOf(frame) : 0;
    for (let i = 0; i < bodyCount; i++) {
      const row = ROW * i;
      if (slots[i] < 0) {
        for (let k = 0; k < 3; k++) positions[3 * i + k] = table[row + LOW + k];
        for (let k = 0; k < 4; k++) rotations[4 * i + k] = table[row + TURN + k];
        continue;
      }
      const at = start + slots[i] * WORDS;
      positions[3 * i] = table[row + LOW] + words[at] * table[row + STEP];
      positions[3 * i + 1] = table[row + LOW + 1] + words[at + 1] * table[row + STEP + 1];
      positions[3 * i + 2] = table[row + LOW + 2] + words[at + 2] * table[row + STEP + 2];
      unpackRotation(words, at + 3, rotations, 4 * i);
    }
  };

  // Velocity and spin of a body in a frame as recorded, into out (6); null where the page has no room for them.
  const half = halfTable();
  const twists = new Array(packing.chunks);
  const twist = (frame, body, out) => {
    out.fill(0);
    if (slots[body] < 0) return out;
    const index = Math.floor(frame / packing.framesPerChunk);
    twists[index] ??= blocks.uint16(`twists-${index}`);
    const at = offsetOf(frame) + slots[body] * WORDS;
    for (let k = 0; k < 6; k++) out[k] = half[twists[index][at + k]];
    return out;
  };
  return {
    decode,
    decodeAll,
    twist: packing.twists ? twist : null,
    moves: (i) => slots[i] >= 0,
  };
};

// ---- the other blocks ----

const loadShapes = (blocks, count) => {
  const table = blocks.float32("shapes");
  const meshes = readMeshes(blocks.bytes("meshes"));
  return Array.from({ length: count }, (_, i) => {
    const row = Array.from(table.subarray(13 * i, 13 * i + 13));
    const mesh = row[1] >= SHAPE.mesh ? meshes[row[1] - SHAPE.mesh] : null;
    return {
      body: row[0],
      kind: mesh ? SHAPE.mesh : row[1],
      mesh,
      position: row.slice(2, 5),
      rotation: row.slice(5, 9),
      size: row.slice(9, 12),
      half: mesh ? mesh.half : row.slice(9, 12), // of a box that holds it
      material: row[12],
    };
  });
};

// Joints, and springs after them.
const JOINT = 18;
const loadJoints = (blocks, names) => {
  const table = blocks.float32("joints");
  const joints = Array.from({ length: table.length / JOINT }, (_, i) => {
    const [draw, driven, bodyA, bodyB, ...frames] = table.subarray(JOINT * i, JOINT * (i + 1));
    const [frameA, frameB] = [frames.slice(0, 7), frames.slice(7)];
    const name = names[i] ?? { name: "", kind: "spring" };
    return { draw, driven, bodyA, bodyB, frameA, frameB, curves: [], ...name };
  });
  const curves = blocks.float32("curves");
  for (let at = 0; at < curves.length; ) {
    const [joint, side, points] = curves.subarray(at, at + 3);
    at += 3 + 2 * points;
    joints[joint]?.curves.push({ side, points: curves.slice(at - 2 * points, at) });
  }
  return joints;
};

// What happened: time, kind, two bodies (-1: none), speed; and how often in each part of the run.
const EVENT = 5;
const loadEvents = (blocks, packing) => {
  if (!blocks.has("events")) return { events: [], eventBins: null };
  const table = blocks.float64("events");
  const events = Array.from({ length: table.length / EVENT }, (_, i) => {
    const [time, kind, bodyA, bodyB, speed] = table.subarray(EVENT * i, EVENT * (i + 1));
    return { time, kind: packing.eventKinds[kind], bodyA, bodyB, speed };
  });
  return { events, eventBins: blocks.float32("event-bins") };
};

// Plots: the times and one array a series; what is not a number becomes a gap.
const gaps = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));

const loadSeries = (blocks, meta) => {
  if (meta.steps === 0) return { series: [], seriesTimes: [] };
  return {
    series: meta.series.map((s, i) => ({ ...s, values: gaps(blocks.float64(`series-${i}`)) })),
    seriesTimes: Array.from(blocks.float64("series-time")),
  };
};

// Plots of joints, which were recorded with the frames.
const loadReactions = (blocks) => {
  if (!blocks.has("reactions")) return { reactions: [] };
  const times = Array.from(blocks.float64("reactions-time"));
  return {
    reactions: blocks.json("reactions").map((r, i) => ({
      ...r,
      kind: "joint",
      times,
      values: gaps(blocks.float64(`reactions-${i}`)),
    })),
  };
};

// How many runs the page holds, and the prefix of each one's blocks.
export const runPrefixes = () =>
  ["", "b-"].filter((p) => document.querySelector(`script[data-cairn="${p}meta"]`));

export const load = (prefix) => {
  const blocks = createBlocks(prefix);
  const meta = blocks.json("meta");
  const packing = blocks.json("packing");
  const table = blocks.float64("bodies");
  const times = blocks.float64("times");
  const bodyCount = meta.bodies;
  const data = {
    meta,
    packing,
    times,
    frameCount: times.length,
    bodyCount,
    kinds: Uint8Array.from({ length: bodyCount }, (_, i) => table[ROW * i] & 3),
    mass: (i) => table[ROW * i + 1],
    shapes: loadShapes(blocks, meta.shapes),
    joints: loadJoints(blocks, meta.jointNames),
    inertia: blocks.float32("inertia"), // centre of mass (3), its axes w x y z, moments (3) a body
    contacts: createContacts(blocks, packing),
    ...loadEvents(blocks, packing),
    ...loadSeries(blocks, meta),
    ...loadReactions(blocks),
    ...createFrames(blocks, table, times, packing, bodyCount),
  };
  data.nameOf = (i) => (i < 0 ? "ground" : meta.names[i] || `body ${i}`);
  data.groups = groupBodies(data);
  addBones(data);
  return data;
};
