// SPDX-License-Identifier: Apache-2.0
// Walls that come between the camera and what moves turn to glass: boxes and meshes of bodies that are fixed or
// moved. Asked at some moments of the whole run, so that a wall that is glass stays so while it plays, and again
// when the camera has come to rest.
import * as THREE from "three";
import { KIND, SHAPE } from "./data/data.js";
import { createPoses } from "./data/poses.js";
import { writeMatrix } from "./boxes.js";

const WALLS = 600; // at most
const MOMENTS = 8;
const BODIES = 24; // asked in each moment
const HIDDEN = 0.2; // share of them
const TRIANGLES = 60000; // of a mesh that is asked by its triangles

// Does the way from one point to another pass through a box? `inverse` makes it the cube of half sizes.
const [a, d] = [new THREE.Vector3(), new THREE.Vector3()];
const passes = (inverse, half, from, to) => {
  a.copy(from).applyMatrix4(inverse);
  d.copy(to).applyMatrix4(inverse).sub(a);
  let enter = 0;
  let leave = 1;
  for (let k = 0; k < 3; k++) {
    const at = a.getComponent(k);
    const way = d.getComponent(k);
    if (Math.abs(way) < 1e-12) {
      if (Math.abs(at) > half[k]) return false;
      continue;
    }
    const t0 = (-half[k] - at) / way;
    const t1 = (half[k] - at) / way;
    enter = Math.max(enter, Math.min(t0, t1));
    leave = Math.min(leave, Math.max(t0, t1));
  }
  return enter < leave;
};

// The same with the triangles of a mesh.
const ray = new THREE.Ray();
const corners = [0, 1, 2].map(() => new THREE.Vector3());
const met = new THREE.Vector3();
const meets = (inverse, mesh, from, to) => {
  ray.origin.copy(from).applyMatrix4(inverse);
  ray.direction.copy(to).applyMatrix4(inverse).sub(ray.origin);
  const reach = ray.direction.length() * 0.999;
  ray.direction.normalize();
  const { places, index } = mesh;
  const count = index ? index.length : places.length / 3;
  for (let i = 0; i < count; i += 3) {
    for (let k = 0; k < 3; k++) corners[k].fromArray(places, 3 * (index ? index[i + k] : i + k));
    if (!ray.intersectTriangle(corners[0], corners[1], corners[2], false, met)) continue;
    if (met.distanceTo(ray.origin) < reach) return true;
  }
  return false;
};

export const createGlass = (data, bodies, bounds) => {
  const walls = data.shapes.filter(
    (s) =>
      data.kinds[s.body] !== KIND.dynamic &&
      (s.kind === SHAPE.box || (s.kind === SHAPE.mesh && s.mesh.places.length < 9 * TRIANGLES)),
  );
  const moving = [];
  for (let i = 0; i < data.bodyCount; i++) if (data.kinds[i] === KIND.dynamic) moving.push(i);
  if (walls.length > WALLS || !walls.length || !moving.length) return { look: () => false, walls: [] };

  // some moments: where some bodies are, and the walls' inverse matrices
  const poses = createPoses(data);
  const stride = Math.max(1, Math.floor(moving.length / BODIES));
  const matrix = new THREE.Matrix4();
  const looks = Math.min(MOMENTS, data.frameCount);
  const moments = Array.from({ length: looks }, (_, n) => {
    const frame = looks > 1 ? Math.round((n * (data.frameCount - 1)) / (looks - 1)) : 0;
    poses.update({ frame, next: frame, share: 0 });
    const points = [];
    for (let j = 0; j < moving.length; j += stride) {
      const point = new THREE.Vector3().fromArray(poses.now.p, 3 * moving[j]);
      if (bounds.containsPoint(point)) points.push(point);
    }
    const inverses = walls.map((s) => {
      writeMatrix(matrix.elements, 0, s.mesh ? s : { ...s, size: [1, 1, 1] }, poses.now);
      return matrix.clone().invert();
    });
    return { points, inverses };
  });
  const hides = (wall, w, from) =>
    moments.some(({ points, inverses }) => {
      let count = 0;
      for (const to of points) {
        if (!passes(inverses[w], wall.half, from, to)) continue;
        if (wall.mesh && !meets(inverses[w], wall.mesh, from, to)) continue;
        count++;
      }
      return count > 0 && count >= HIDDEN * points.length;
    });
  let on = true;
  return {
    walls,
    setOn: (yes) => (on = yes),
    // true if some wall has changed
    look: (from) => {
      let changed = false;
      walls.forEach((wall, w) => {
        const glass = on && hides(wall, w, from);
        changed ||= glass !== wall.glass;
        wall.glass = glass;
      });
      return changed;
    },
  };
};
