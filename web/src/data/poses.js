// SPDX-License-Identifier: Apache-2.0
// Poses at any moment: two decoded frames, and what lies between them.

// Distance a body goes from one array of positions to another.
const path = (a, b, i) =>
  Math.hypot(b[3 * i] - a[3 * i], b[3 * i + 1] - a[3 * i + 1], b[3 * i + 2] - a[3 * i + 2]);

// Rotation from one quaternion to another as a vector: axis times angle.
const turnBetween = (a, b, i, out, at) => {
  const [aw, ax, ay, az] = [a[i], a[i + 1], a[i + 2], a[i + 3]];
  const [bw, bx, by, bz] = [b[i], b[i + 1], b[i + 2], b[i + 3]];
  let w = bw * aw + bx * ax + by * ay + bz * az;
  let x = bx * aw - bw * ax - by * az + bz * ay;
  let y = by * aw - bw * ay - bz * ax + bx * az;
  let z = bz * aw - bw * az - bx * ay + by * ax;
  if (w < 0) [w, x, y, z] = [-w, -x, -y, -z];
  const sine = Math.hypot(x, y, z);
  const scale = sine > 1e-12 ? (2 * Math.atan2(sine, w)) / sine : 2;
  out[at] = scale * x;
  out[at + 1] = scale * y;
  out[at + 2] = scale * z;
};

// Bodies of a source wait in one place until they are due: where two or more that move by forces stand still at the
// very same place in the first two frames. The place of each such body; NaN: it has none. Positions are known to
// an error, so places are cells of a grid, taken eight times, each shifted by half a cell along other axes: what is
// at one place is in one cell of one of them.
const waitingPlaces = (data) => {
  const homes = new Float32Array(3 * data.bodyCount).fill(NaN);
  if (data.frameCount < 2) return homes;
  const cell = 16 * Math.max(data.packing.positionError, 1e-12);
  const keyOf = (p, shift) =>
    p.map((x, k) => Math.floor(x / cell + ((shift >> k) & 1 ? 0.5 : 0))).join();
  const moving = [];
  for (let i = 0; i < data.bodyCount; i++) {
    if (data.kinds[i] !== 0) continue;
    const { position } = data.decode(0, i);
    const still = data.decode(1, i).position.every((x, k) => x === position[k]);
    moving.push({ i, position, still });
  }
  const standing = moving.filter((b) => b.still);
  for (let shift = 0; standing.length > 1 && shift < 8; shift++) {
    const counts = new Map();
    for (const { position } of standing) {
      const key = keyOf(position, shift);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const { i, position } of moving)
      if (counts.get(keyOf(position, shift)) > 1) homes.set(position, 3 * i);
  }
  return homes;
};
const AWAY = 1e9; // m: where bodies that wait are put

export const createPoses = (data) => {
  const n = data.bodyCount;
  data.homes ??= waitingPlaces(data);
  const { homes } = data;
  const someWait = homes.some((x) => !Number.isNaN(x));
  const waits = (p, i) =>
    p[3 * i] === homes[3 * i] && p[3 * i + 1] === homes[3 * i + 1] && p[3 * i + 2] === homes[3 * i + 2];
  const arrays = () => ({ p: new Float32Array(3 * n), q: new Float32Array(4 * n) });
  const frames = [0, 1].map(() => ({ index: -1, ...arrays() }));
  const now = arrays();
  let [from, to, span, part] = [frames[0], frames[0], 0, 0];
  const [first, second, third] = [0, 1, 2].map(() => new Float64Array(6));

  // A frame that is there already is not decoded again.
  const fetch = (index, other) => {
    let found = frames.find((f) => f.index === index);
    if (!found) {
      found = frames.find((f) => f.index !== other);
      data.decodeAll(index, found.p, found.q);
      found.index = index;
    }
    return found;
  };

  const update = ({ frame, next, share }) => {
    from = fetch(frame, next);
    to = fetch(next, frame);
    span = data.times[next] - data.times[frame];
    part = share;
    const { p: pa, q: qa } = from;
    const { p: pb, q: qb } = to;
    const { p, q } = now;
    for (let i = 0; i < 3 * n; i++) p[i] = pa[i] + share * (pb[i] - pa[i]);
    for (let i = 0; someWait && i < n; i++) {
      if (waits(pa, i)) p.fill(AWAY, 3 * i, 3 * i + 3);
      else if (waits(pb, i)) for (let k = 3 * i; k < 3 * i + 3; k++) p[k] = pa[k];
    }
    for (let i = 0; i < 4 * n; i += 4) {
      // the shorter way round, then back to unit length
      const dot =
        qa[i] * qb[i] + qa[i + 1] * qb[i + 1] + qa[i + 2] * qb[i + 2] + qa[i + 3] * qb[i + 3];
      const a = 1 - share;
      const b = dot < 0 ? -share : share;
      const w = a * qa[i] + b * qb[i];
      const x = a * qa[i + 1] + b * qb[i + 1];
      const y = a * qa[i + 2] + b * qb[i + 2];
      const z = a * qa[i + 3] + b * qb[i + 3];
      const scale = 1 / Math.sqrt(w * w + x * x + y * y + z * z || 1);
      q[i] = w * scale;
      q[i + 1] = x * scale;
      q[i + 2] = y * scale;
      q[i + 3] = z * scale;
    }
  };

  // Velocity and spin of a body into out (6): as recorded, or the means between the two frames.
  const twist = (i, out) => {
    if (data.twist) {
      data.twist(from.index, i, first);
      data.twist(to.index, i, second);
      for (let k = 0; k < 6; k++) out[k] = first[k] + part * (second[k] - first[k]);
      return out;
    }
    out.fill(0);
    if (!(span > 0)) return out;
    for (let k = 0; k < 3; k++) out[k] = to.p[3 * i + k] - from.p[3 * i + k];
    turnBetween(from.q, to.q, 4 * i, out, 3);
    for (let k = 0; k < 6; k++) out[k] /= span;
    return out;
  };

  return {
    now,
    update,
    twist,
    frame: () => (part > 0.5 ? to.index : from.index),
    // mean speed of a body's origin between the two frames, m/s
    speed: (i) => (span > 0 ? path(from.p, to.p, i) / span : 0),
    energy: (i) => kineticEnergy(data, i, now.q, twist(i, third)),
  };
};

// A vector turned by a quaternion.
const turn = (qw, qx, qy, qz, x, y, z, out) => {
  const a = 2 * (qy * z - qz * y);
  const b = 2 * (qz * x - qx * z);
  const c = 2 * (qx * y - qy * x);
  out[0] = x + qw * a + qy * c - qz * b;
  out[1] = y + qw * b + qz * a - qx * c;
  out[2] = z + qw * c + qx * b - qy * a;
  return out;
};

// Kinetic energy of a body with twist t, J: of its centre of mass, and of the spin about it in principal axes.
const scratch = new Float64Array(3);
export const kineticEnergy = (data, i, q, t) => {
  if (data.kinds[i] !== 0) return 0;
  const own = data.inertia;
  const k = 10 * i;
  const w = q[4 * i];
  const x = q[4 * i + 1];
  const y = q[4 * i + 2];
  const z = q[4 * i + 3];
  const r = turn(w, x, y, z, own[k], own[k + 1], own[k + 2], scratch);
  const vx = t[0] + t[4] * r[2] - t[5] * r[1];
  const vy = t[1] + t[5] * r[0] - t[3] * r[2];
  const vz = t[2] + t[3] * r[1] - t[4] * r[0];
  const s = turn(w, -x, -y, -z, t[3], t[4], t[5], scratch);
  turn(own[k + 3], -own[k + 4], -own[k + 5], -own[k + 6], s[0], s[1], s[2], scratch);
  const turning = own[k + 7] * s[0] * s[0] + own[k + 8] * s[1] * s[1] + own[k + 9] * s[2] * s[2];
  return 0.5 * data.mass(i) * (vx * vx + vy * vy + vz * vz) + 0.5 * turning;
};

// The speed that all but the fastest few bodies stay below, from some frames of the run.
export const typicalTopSpeed = (data) => {
  const n = data.bodyCount;
  const [a, b] = [new Float32Array(3 * n), new Float32Array(3 * n)];
  const q = new Float32Array(4 * n);
  const looks = Math.min(12, data.frameCount - 1);
  let top = 1e-9;
  for (let k = 0; k < looks; k++) {
    const frame = Math.floor((k * (data.frameCount - 1)) / looks);
    data.decodeAll(frame, a, q);
    data.decodeAll(frame + 1, b, q);
    const span = data.times[frame + 1] - data.times[frame];
    const speeds = [];
    for (let i = 0; i < n; i++) if (data.moves(i)) speeds.push(path(a, b, i) / span);
    speeds.sort((x, y) => x - y);
    if (speeds.length) top = Math.max(top, speeds[Math.floor(0.98 * (speeds.length - 1))]);
  }
  return top;
};
