// SPDX-License-Identifier: Apache-2.0
// Bodies without shapes, such as the links of many robots, are drawn as bars from their joints to their centre of
// mass, and a small ball there.

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

// The rotation w x y z that turns z into a unit vector.
const along = ([x, y, z]) => {
  if (z < -0.999999) return [0, 1, 0, 0];
  const q = [1 + z, -y, x, 0];
  const size = Math.hypot(...q);
  return q.map((v) => v / size);
};

// A length of the scene: how far bodies are from each other in the first frame.
const sceneSize = (data) => {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const stride = Math.max(1, Math.floor(data.bodyCount / 2000));
  for (let i = 0; i < data.bodyCount; i += stride)
    data.decode(0, i).position.forEach((x, k) => {
      low[k] = Math.min(low[k], x);
      high[k] = Math.max(high[k], x);
    });
  return data.bodyCount ? distance(low, high) : 0;
};

export const addBones = (data) => {
  const bare = new Uint8Array(data.bodyCount).fill(1);
  for (const s of data.shapes) bare[s.body] = 0;
  if (!bare.includes(1)) return;
  const anchors = new Map();
  for (const { bodyA, bodyB, frameA, frameB } of data.joints)
    for (const [body, frame] of [
      [bodyA, frameA],
      [bodyB, frameB],
    ])
      if (body >= 0 && bare[body]) {
        if (!anchors.has(body)) anchors.set(body, []);
        anchors.get(body).push(frame.slice(0, 3));
      }
  const size = sceneSize(data);
  for (let body = 0; body < data.bodyCount; body++) {
    if (!bare[body] || data.kinds[body] === 2) continue;
    const centre = Array.from(data.inertia.subarray(10 * body, 10 * body + 3));
    const ends = (anchors.get(body) ?? []).filter((e) => distance(e, centre) > 1e-6 * size);
    const longest = Math.max(0, ...ends.map((e) => distance(e, centre)));
    const width = longest > 0 ? Math.min(longest / 14, (size || longest) / 60) : (size || 1) / 50;
    const common = { body, mesh: null, material: -1, bone: true };
    for (const end of ends) {
      const length = distance(end, centre);
      const way = centre.map((x, k) => (x - end[k]) / length);
      const half = [width, width, length / 2];
      const position = centre.map((x, k) => (x + end[k]) / 2);
      data.shapes.push({ ...common, kind: 1, position, rotation: along(way), size: half, half });
    }
    const ball = [1.8, 1.8, 1.8].map((x) => x * width);
    data.shapes.push({ ...common, kind: 0, position: centre, rotation: [1, 0, 0, 0], size: ball, half: ball });
  }
};
