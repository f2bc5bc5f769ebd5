// SPDX-License-Identifier: Apache-2.0
// Triangles of shapes that are none of the page's own, unpacked. src/view/page_meshes.c packs them.

const HEAD = 80; // bytes: ten numbers

// The octahedron folded up again.
const unpackNormal = (a, b, out, at) => {
  let x = (a - 128) / 127;
  let y = (b - 128) / 127;
  const z = 1 - Math.abs(x) - Math.abs(y);
  if (z < 0)
    [x, y] = [(1 - Math.abs(y)) * (x < 0 ? -1 : 1), (1 - Math.abs(x)) * (y < 0 ? -1 : 1)];
  const length = Math.hypot(x, y, z);
  out[at] = x / length;
  out[at + 1] = y / length;
  out[at + 2] = z / length;
};

// Corners: how many places back from the newest, 0 for the next new one; seven bits a byte.
const readCorners = (data, count) => {
  const index = new Uint32Array(count);
  let next = 0;
  let at = 0;
  for (let i = 0; i < count; i++) {
    let value = data[at] & 127;
    for (let shift = 7; data[at++] & 128; shift += 7) value |= (data[at] & 127) << shift;
    index[i] = value ? next - value : next++;
  }
  return index;
};

// Every triangle with corners of its own, and the normal that it has.
const makeFlat = (places, index) => {
  const own = new Float32Array(3 * index.length);
  const normals = new Float32Array(own.length);
  const side = (at, k, from) => own[at + 3 * k + from] - own[at + from];
  for (let at = 0; at < own.length; at += 9) {
    for (let k = 0; k < 9; k++) own[at + k] = places[3 * index[(at + k - (k % 3)) / 3] + (k % 3)];
    const x = side(at, 1, 1) * side(at, 2, 2) - side(at, 1, 2) * side(at, 2, 1);
    const y = side(at, 1, 2) * side(at, 2, 0) - side(at, 1, 0) * side(at, 2, 2);
    const z = side(at, 1, 0) * side(at, 2, 1) - side(at, 1, 1) * side(at, 2, 0);
    const length = Math.hypot(x, y, z) || 1;
    for (let k = 0; k < 9; k += 3) {
      normals[at + k] = x / length;
      normals[at + k + 1] = y / length;
      normals[at + k + 2] = z / length;
    }
  }
  return { places: own, normals, index: null };
};

// Places, normals, corners (null: three after three), and half the size of the box around the origin that
// holds them.
export const readMeshes = (data) => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const meshes = [];
  for (let at = 0; at < data.length; ) {
    const [count, triangles, hasNormals, bytes, ...box] = Array.from({ length: 10 }, (_, k) =>
      view.getFloat64(at + 8 * k, true),
    );
    const places = new Float32Array(3 * count);
    const half = [0, 0, 0];
    at += HEAD;
    for (let i = 0; i < 3 * count; i++, at += 2) {
      places[i] = box[i % 3] + view.getUint16(at, true) * box[3 + (i % 3)];
      half[i % 3] = Math.max(half[i % 3], Math.abs(places[i]));
    }
    const normals = new Float32Array(hasNormals ? 3 * count : 0);
    for (let i = 0; i < normals.length; i += 3, at += 2)
      unpackNormal(data[at], data[at + 1], normals, i);
    const index = readCorners(data.subarray(at, at + bytes), 3 * triangles);
    at += bytes;
    meshes.push({ ...(hasNormals ? { places, normals, index } : makeFlat(places, index)), half });
  }
  return meshes;
};
