// SPDX-License-Identifier: Apache-2.0
// Joints: their axes, planes and points on the bodies, and a line from one frame to the other, which is a
// link or a rope where two points are held apart, and a gap where they should not be. Springs are zigzags.
import * as THREE from "three";

const DRAW = { point: 0, axis: 1, link: 2, square: 3, spring: 4 };
const COILS = 12; // corners of a zigzag
const MOST = 5000; // joints that are drawn

// Lines of a joint in its frame a, in units of the mark; a point is a small cross.
const STROKES = {
  [DRAW.point]: [-0.3, 0, 0, 0.3, 0, 0, 0, -0.3, 0, 0, 0.3, 0, 0, 0, -0.3, 0, 0, 0.3],
  [DRAW.axis]: [0, 0, -1, 0, 0, 1, -0.25, 0, 0, 0.25, 0, 0, 0, -0.25, 0, 0, 0.25, 0],
  [DRAW.link]: [],
  [DRAW.spring]: [],
  [DRAW.square]: [
    -0.7, -0.7, 0, 0.7, -0.7, 0, 0.7, -0.7, 0, 0.7, 0.7, 0, 0.7, 0.7, 0, -0.7, 0.7, 0, -0.7, 0.7, 0,
    -0.7, -0.7, 0,
  ],
};

export const createJoints = (data, bodies, scene, bounds) => {
  const list = data.joints.slice(0, MOST);
  if (!list.length) return { place: () => {}, setTheme: () => {} };
  const mark = bounds.getSize(new THREE.Vector3()).length() / 40;
  const pointsOf = (j) =>
    STROKES[j.draw].length / 3 +
    (j.draw === DRAW.spring ? 2 * COILS : 0) +
    (j.curves.length ? j.curves.reduce((sum, c) => sum + c.points.length - 2, 0) : 2);
  const count = list.reduce((sum, j) => sum + pointsOf(j), 0);
  const places = new Float32Array(3 * count);
  const geometry = new THREE.BufferGeometry();
  const attribute = new THREE.BufferAttribute(places, 3);
  attribute.setUsage(THREE.DynamicDrawUsage);
  geometry.setAttribute("position", attribute);
  const material = new THREE.LineBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 });
  const lines = new THREE.LineSegments(geometry, material);
  lines.frustumCulled = false;
  lines.renderOrder = 1;
  scene.add(lines);

  const [p, q] = [new THREE.Vector3(), new THREE.Quaternion()];
  // A point of a frame on a body (-1: the ground), in the world.
  const toWorld = (point, frame, body) => {
    point.applyQuaternion(q.set(frame[4], frame[5], frame[6], frame[3]));
    point.add(p.set(frame[0], frame[1], frame[2]));
    if (body < 0) return point;
    const { p: position, q: turn } = bodies.poses;
    point.applyQuaternion(
      q.set(turn[4 * body + 1], turn[4 * body + 2], turn[4 * body + 3], turn[4 * body]),
    );
    return point.add(p.fromArray(position, 3 * body));
  };
  const point = new THREE.Vector3();
  const [from, to, side] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  // Corners of a spring beside the line between its ends, straight at both of them.
  const corner = (k) => {
    point.lerpVectors(from, to, k / (COILS + 1));
    const out = k < 2 || k > COILS - 1 ? 0 : k % 2 ? 1 : -1;
    return point.addScaledVector(side, 0.3 * mark * out);
  };
  const place = () => {
    let at = 0;
    const put = (frame, body) => {
      toWorld(point, frame, body).toArray(places, at);
      at += 3;
    };
    for (const { draw, bodyA, bodyB, frameA, frameB, curves } of list) {
      const strokes = STROKES[draw];
      for (let i = 0; i < strokes.length; i += 3) {
        point.set(strokes[i], strokes[i + 1], strokes[i + 2]).multiplyScalar(mark);
        put(frameA, bodyA);
      }
      for (const { side, points } of curves)
        for (let i = 0; i + 3 < points.length; i += 2)
          for (const k of [i, i + 2]) {
            point.set(points[k], points[k + 1], 0);
            put(side ? frameB : frameA, side ? bodyB : bodyA);
          }
      if (curves.length) continue;
      if (draw === DRAW.spring) {
        toWorld(from.set(0, 0, 0), frameA, bodyA);
        toWorld(to.set(0, 0, 0), frameB, bodyB);
        side.subVectors(to, from);
        side.set(side.z, 0, -side.x).lengthSq() > 0 || side.set(1, 0, 0);
        side.normalize();
        for (let k = 0; k <= COILS; k++)
          for (const end of [k, k + 1]) {
            corner(end).toArray(places, at);
            at += 3;
          }
        continue;
      }
      point.set(0, 0, 0);
      put(frameA, bodyA);
      point.set(0, 0, 0);
      put(frameB, bodyB);
    }
    attribute.needsUpdate = true;
  };
  place();
  return {
    place,
    setTheme: (theme) => material.color.set(theme.joint),
  };
};
