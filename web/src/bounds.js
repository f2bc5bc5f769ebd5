// Where the scene is: the box that holds what moves (stragglers that flew off aside) and the fixed
// parts near it.
import * as THREE from "three";
import { KIND, SHAPE } from "./data.js";

const reach = (shape) =>
  Math.hypot(...shape.position) +
  (shape.kind === SHAPE.sphere ? shape.size[0] : shape.kind === SHAPE.box ? Math.hypot(...shape.size) : 0);

// Value below which a share of the sorted numbers lies.
const quantile = (values, share) => {
  values.sort((a, b) => a - b);
  return values[Math.round(share * (values.length - 1))];
};

export const sceneBounds = (data) => {
  const reaches = new Float64Array(data.bodyCount);
  for (const shape of data.shapes) reaches[shape.body] = Math.max(reaches[shape.body], reach(shape));

  const box = new THREE.Box3();
  const moving = [];
  for (let i = 0; i < data.bodyCount; i++) if (data.kinds[i] === KIND.dynamic) moving.push(i);
  if (moving.length) {
    const tail = moving.length > 50 ? 0.01 : 0;
    for (const [k, axis] of ["x", "y", "z"].entries()) {
      box.min[axis] = quantile(moving.map((i) => data.low(i, k) - reaches[i]), tail);
      box.max[axis] = quantile(moving.map((i) => data.high(i, k) + reaches[i]), 1 - tail);
    }
  }

  // what does not move by forces joins unless it is much larger than what does
  const size = box.isEmpty() ? Infinity : box.getSize(new THREE.Vector3()).length();
  const corner = new THREE.Vector3();
  for (let i = 0; i < data.bodyCount; i++) {
    if (data.kinds[i] === KIND.dynamic || reaches[i] === 0 || reaches[i] > 1.5 * size) continue;
    for (const sign of [-1, 1]) {
      corner.set(...[0, 1, 2].map((k) => (sign < 0 ? data.low(i, k) : data.high(i, k)) + sign * reaches[i]));
      if (box.isEmpty() || box.distanceToPoint(corner) < size) box.expandByPoint(corner);
    }
  }
  if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  const least = Math.max(box.getSize(new THREE.Vector3()).length(), 1e-9) * 1e-3;
  return box.expandByScalar(least);
};
