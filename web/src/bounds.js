// SPDX-License-Identifier: Apache-2.0
// Where the scene is: the box that holds what moves most of the time (bodies that flew off, and
// short excursions, aside) and the fixed parts near it.
import * as THREE from "three";
import { KIND, SHAPE } from "./data/data.js";

const FRAMES = 32; // looks over the run
const BODIES = 4000; // that are asked in each
const JOINTS = 2000; // that are asked
const TAIL = 0.01; // share of the positions that may be outside, on each side of each axis

const extent = (shape) => {
  if (shape.kind === SHAPE.sphere) return shape.size[0];
  return shape.kind === SHAPE.plane ? 0 : Math.hypot(...shape.half);
};

// How far a body's shapes reach from its origin.
const reaches = (data) => {
  const result = new Float64Array(data.bodyCount);
  for (const shape of data.shapes)
    result[shape.body] = Math.max(
      result[shape.body],
      Math.hypot(...shape.position) + extent(shape),
    );
  return result;
};

// The box around a shape where it stands in the first frame.
const shapeBounds = (data, shape) => {
  const { position, rotation } = data.decode(0, shape.body);
  const turn = ([w, x, y, z]) => new THREE.Quaternion(x, y, z, w);
  const one = new THREE.Vector3(1, 1, 1);
  const pose = new THREE.Matrix4().compose(new THREE.Vector3(...position), turn(rotation), one);
  const own = new THREE.Matrix4().compose(
    new THREE.Vector3(...shape.position),
    turn(shape.rotation),
    new THREE.Vector3(...shape.half),
  );
  return new THREE.Box3(one.clone().negate(), one).applyMatrix4(pose.multiply(own));
};

const movingBounds = (data) => {
  const box = new THREE.Box3();
  const reach = reaches(data);
  const moving = [];
  for (let i = 0; i < data.bodyCount; i++) if (data.kinds[i] === KIND.dynamic) moving.push(i);
  if (!moving.length) return box;

  const low = [[], [], []];
  const high = [[], [], []];
  const stride = Math.ceil(moving.length / BODIES);
  const looks = Math.min(FRAMES, data.frameCount);
  for (let n = 0; n < looks; n++) {
    const frame = looks > 1 ? Math.round((n * (data.frameCount - 1)) / (looks - 1)) : 0;
    for (let j = 0; j < moving.length; j += stride) {
      const body = moving[j];
      const { position } = data.decode(frame, body);
      for (let k = 0; k < 3; k++) {
        low[k].push(position[k] - reach[body]);
        high[k].push(position[k] + reach[body]);
      }
    }
  }
  const least = low.map((list) => list.sort((a, b) => a - b)[Math.floor(TAIL * list.length)]);
  const largest = high.map((list) => list.sort((a, b) => b - a)[Math.floor(TAIL * list.length)]);
  return box.set(new THREE.Vector3(...least), new THREE.Vector3(...largest));
};

export const sceneBounds = (data) => {
  const box = movingBounds(data);

  // what does not move by forces joins unless it is much larger than what does
  const size = box.isEmpty() ? Infinity : box.getSize(new THREE.Vector3()).length();
  for (const shape of data.shapes) {
    if (data.kinds[shape.body] === KIND.dynamic || shape.kind === SHAPE.plane) continue;
    const own = shapeBounds(data, shape);
    if (own.getSize(new THREE.Vector3()).length() > 2 * size) continue;
    if (box.isEmpty() || box.distanceToPoint(own.getCenter(new THREE.Vector3())) < 2 * size)
      box.union(own);
  }
  // and so do the places where joints hold things to the ground
  for (const { bodyA, bodyB, frameA, frameB } of data.joints.slice(0, JOINTS))
    for (const [body, frame] of [
      [bodyA, frameA],
      [bodyB, frameB],
    ]) {
      const anchor = new THREE.Vector3(frame[0], frame[1], frame[2]);
      if (body < 0 && (box.isEmpty() || box.distanceToPoint(anchor) < size)) box.expandByPoint(anchor);
    }
  if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  const least = Math.max(box.getSize(new THREE.Vector3()).length(), 1e-9) * 1e-3;
  return box.expandByScalar(least);
};
