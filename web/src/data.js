// SPDX-License-Identifier: Apache-2.0
// The data blocks of the page, decoded. src/view/view_private.h has the layout; positions and rotations are
// unpacked with the same operations as there, so the errors stated in the page hold here.

import { readMeshes } from "./meshes.js";

const block = (name) => document.querySelector(`script[data-cairn="${name}"]`);

const json = (name) => JSON.parse(block(name).textContent);

// Bytes of a base64 block; the text is dropped, it is not needed again.
const bytes = (name) => {
  const element = block(name);
  const text = element?.textContent ?? "";
  element?.remove();
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const data = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) data[i] = raw.charCodeAt(i);
  return data;
};

const float64 = (name) => new Float64Array(bytes(name).buffer);
const float32 = (name) => new Float32Array(bytes(name).buffer);

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

const createPoses = (table, times, packing, bodyCount) => {
  // which bodies have frames, and where in a frame they are
  const slots = new Int32Array(bodyCount).fill(-1);
  let moving = 0;
  for (let i = 0; i < bodyCount; i++) if (table[ROW * i] & 4) slots[i] = moving++;

  // blocks of frames are decoded when they are first asked for
  const chunks = new Array(packing.chunks);
  const chunkOf = (frame) => {
    const index = Math.floor(frame / packing.framesPerChunk);
    chunks[index] ??= new Uint16Array(bytes(`frames-${index}`).buffer);
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
  return { decode, decodeAll, moves: (i) => slots[i] >= 0 };
};

// ---- the other blocks ----

const loadShapes = (count) => {
  const table = float32("shapes");
  const meshes = readMeshes(bytes("meshes"));
  return Array.from({ length: count }, (_, i) => {
    const row = Array.from(table.subarray(12 * i, 12 * i + 12));
    const mesh = row[1] >= SHAPE.mesh ? meshes[row[1] - SHAPE.mesh] : null;
    return {
      body: row[0],
      kind: mesh ? SHAPE.mesh : row[1],
      mesh,
      position: row.slice(2, 5),
      rotation: row.slice(5, 9),
      size: row.slice(9, 12),
      half: mesh ? mesh.half : row.slice(9, 12), // of a box that holds it
    };
  });
};

// Joints, and springs after them.
const loadJoints = () => {
  const table = float32("joints");
  const count = table.length / 17;
  const joints = Array.from({ length: count }, (_, i) => {
    const [draw, bodyA, bodyB, ...frames] = table.subarray(17 * i, 17 * i + 17);
    return { draw, bodyA, bodyB, frameA: frames.slice(0, 7), frameB: frames.slice(7), curves: [] };
  });
  const curves = float32("curves");
  for (let at = 0; at < curves.length; ) {
    const [joint, side, points] = curves.subarray(at, at + 3);
    at += 3 + 2 * points;
    joints[joint]?.curves.push({ side, points: curves.slice(at - 2 * points, at) });
  }
  return joints;
};

// Plots: the times and one array a series; what is not a number becomes a gap.
const gaps = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));

const loadSeries = (meta) => {
  if (meta.steps === 0) return { series: [], seriesTimes: [] };
  return {
    series: meta.series.map((s, i) => ({ ...s, values: gaps(float64(`series-${i}`)) })),
    seriesTimes: Array.from(float64("series-time")),
  };
};

// Plots of joints, which were recorded with the frames.
const loadReactions = () => {
  if (!document.querySelector('[data-cairn="reactions"]')) return { reactions: [] };
  const times = Array.from(float64("reactions-time"));
  return {
    reactions: json("reactions").map((r, i) => ({
      ...r,
      kind: "joint",
      times,
      values: gaps(float64(`reactions-${i}`)),
    })),
  };
};

export const load = () => {
  const meta = json("meta");
  const packing = json("packing");
  const table = float64("bodies");
  const times = float64("times");
  const bodyCount = meta.bodies;
  return {
    meta,
    packing,
    times,
    frameCount: times.length,
    bodyCount,
    kinds: Uint8Array.from({ length: bodyCount }, (_, i) => table[ROW * i] & 3),
    mass: (i) => table[ROW * i + 1],
    shapes: loadShapes(meta.shapes),
    joints: loadJoints(),
    ...loadSeries(meta),
    ...loadReactions(),
    ...createPoses(table, times, packing, bodyCount),
  };
};
