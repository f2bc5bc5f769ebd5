// SPDX-License-Identifier: Apache-2.0
// Poses at any moment: two decoded frames, and what lies between them.

// Distance a body goes from one array of positions to another.
const path = (a, b, i) =>
  Math.hypot(b[3 * i] - a[3 * i], b[3 * i + 1] - a[3 * i + 1], b[3 * i + 2] - a[3 * i + 2]);

export const createPoses = (data) => {
  const n = data.bodyCount;
  const arrays = () => ({ p: new Float32Array(3 * n), q: new Float32Array(4 * n) });
  const frames = [0, 1].map(() => ({ index: -1, ...arrays() }));
  const now = arrays();
  let [from, to, span] = [frames[0], frames[0], 0];

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
    const { p: pa, q: qa } = from;
    const { p: pb, q: qb } = to;
    const { p, q } = now;
    for (let i = 0; i < 3 * n; i++) p[i] = pa[i] + share * (pb[i] - pa[i]);
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

  return {
    now,
    update,
    // mean speed of a body's origin between the two frames, m/s
    speed: (i) => (span > 0 ? path(from.p, to.p, i) / span : 0),
  };
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
