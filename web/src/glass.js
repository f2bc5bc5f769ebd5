// SPDX-License-Identifier: Apache-2.0
// Fixed boxes that come between the camera and what moves turn to glass.
import * as THREE from "three";
import { KIND } from "./data.js";

const OPACITY = 0.12;

// Does the way from one point to another pass through a box? `inverse` makes it the unit cube.
const passes = (inverse, from, to) => {
  const a = from.clone().applyMatrix4(inverse);
  const d = to.clone().applyMatrix4(inverse).sub(a);
  let enter = 0;
  let leave = 1;
  for (const k of ["x", "y", "z"]) {
    if (Math.abs(d[k]) < 1e-12) {
      if (Math.abs(a[k]) > 1) return false;
      continue;
    }
    const t0 = (-1 - a[k]) / d[k];
    const t1 = (1 - a[k]) / d[k];
    enter = Math.max(enter, Math.min(t0, t1));
    leave = Math.min(leave, Math.max(t0, t1));
  }
  return enter < leave;
};

// The middle of what moves and some points around it, as shares of its size.
const POINTS = [
  [0, 0, 0],
  [0.3, 0.3, 0],
  [0.3, -0.3, 0],
  [-0.3, 0.3, 0],
  [-0.3, -0.3, 0],
  [0, 0, 0.3],
  [0, 0, -0.3],
];

const setGlass = (mesh, glass) => {
  if (mesh.material.transparent === glass) return;
  mesh.material.transparent = glass;
  mesh.material.opacity = glass ? OPACITY : 1;
  mesh.material.depthWrite = !glass;
  mesh.material.needsUpdate = true;
  mesh.castShadow = !glass;
};

export const createGlass = (data, bodies, bounds) => {
  const walls = [];
  const wanted = []; // points that should be seen
  const box = new THREE.Box3();
  const point = new THREE.Vector3();
  return {
    add: (mesh) => walls.push({ mesh, inverse: mesh.matrix.clone().invert() }),
    // after bodies have moved
    place: () => {
      if (!walls.length) return;
      box.makeEmpty();
      for (let i = 0; i < data.bodyCount; i++)
        if (data.kinds[i] === KIND.dynamic)
          box.expandByPoint(point.fromArray(bodies.poses.p, 3 * i));
      box.intersect(bounds);
      wanted.length = 0;
      if (box.isEmpty()) return;
      const middle = box.getCenter(new THREE.Vector3());
      const size = box.getSize(new THREE.Vector3());
      for (const share of POINTS)
        wanted.push(new THREE.Vector3(...share).multiply(size).add(middle));
    },
    // before drawing: two hidden points make a wall glass
    look: (camera) => {
      for (const { mesh, inverse } of walls) {
        const hidden = wanted.filter((p) => passes(inverse, camera.position, p)).length;
        setGlass(mesh, hidden > 1);
      }
    },
  };
};
