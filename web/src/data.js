// The data blocks of the page, decoded. src/view/page.h has the layout; positions and rotations are
// unpacked with the same operations as there, so the errors stated in the page hold here.

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
export const SHAPE = { sphere: 0, box: 1, plane: 2 };

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

export const load = () => {
  const meta = json("meta");
  const packing = json("packing");
  const table = float64("bodies");
  const shapeTable = float32("shapes");
  const times = float64("times");
  const bodyCount = meta.bodies;

  // rows of the moving bodies in a frame
  const slots = new Int32Array(bodyCount).fill(-1);
  const kinds = new Uint8Array(bodyCount);
  let moving = 0;
  for (let i = 0; i < bodyCount; i++) {
    kinds[i] = table[12 * i] & 3;
    if (table[12 * i] & 4) slots[i] = moving++;
  }

  // Blocks of frames are decoded when they are first asked for.
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
    const row = 12 * body;
    const position = [table[row + 2], table[row + 3], table[row + 4]];
    const rotation = [table[row + 8], table[row + 9], table[row + 10], table[row + 11]];
    if (slots[body] >= 0) {
      const words = chunkOf(frame);
      const at = offsetOf(frame) + slots[body] * WORDS;
      for (let k = 0; k < 3; k++)
        position[k] = table[row + 2 + k] + words[at + k] * table[row + 5 + k];
      unpackRotation(words, at + 3, rotation, 0);
    }
    return { position, rotation };
  };

  // All poses of a frame into single-precision arrays (3 and 4 numbers a body).
  const decodeAll = (frame, positions, rotations) => {
    const words = moving ? chunkOf(frame) : null;
    const start = moving ? offsetOf(frame) : 0;
    for (let i = 0; i < bodyCount; i++) {
      const row = 12 * i;
      if (slots[i] < 0) {
        for (let k = 0; k < 3; k++) positions[3 * i + k] = table[row + 2 + k];
        for (let k = 0; k < 4; k++) rotations[4 * i + k] = table[row + 8 + k];
        continue;
      }
      const at = start + slots[i] * WORDS;
      positions[3 * i] = table[row + 2] + words[at] * table[row + 5];
      positions[3 * i + 1] = table[row + 3] + words[at + 1] * table[row + 6];
      positions[3 * i + 2] = table[row + 4] + words[at + 2] * table[row + 7];
      unpackRotation(words, at + 3, rotations, 4 * i);
    }
  };

  const shapes = [];
  for (let i = 0; i < meta.shapes; i++) {
    const r = shapeTable.subarray(12 * i, 12 * i + 12);
    shapes.push({
      body: r[0],
      kind: r[1],
      position: [r[2], r[3], r[4]],
      rotation: [r[5], r[6], r[7], r[8]],
      size: [r[9], r[10], r[11]],
    });
  }

  // Plots: the times and one array a series; what is not a number becomes a gap.
  const gaps = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));
  const hasSeries = meta.steps > 0;
  const seriesTimes = hasSeries ? Array.from(float64("series-time")) : [];
  const series = hasSeries
    ? meta.series.map((s, i) => ({ ...s, values: gaps(float64(`series-${i}`)) }))
    : [];

  return {
    meta,
    packing,
    times,
    frameCount: times.length,
    bodyCount,
    kinds,
    shapes,
    series,
    seriesTimes,
    mass: (i) => table[12 * i + 1],
    moves: (i) => slots[i] >= 0,
    // the box that a body's origin sweeps over the run
    low: (i, k) => table[12 * i + 2 + k],
    high: (i, k) => table[12 * i + 2 + k] + 65535 * table[12 * i + 5 + k],
    decode,
    decodeAll,
  };
};
