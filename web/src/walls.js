// SPDX-License-Identifier: Apache-2.0
// Half-spaces of all bodies: floors and walls.
import * as THREE from "three";
import { KIND, SHAPE } from "./data/data.js";
import { niceBelow, planeMaterial, planeMesh } from "./planes.js";

const MOST_CUTTERS = 64;

// Where a plane is: a point on it, its axes, its normal, and n x + offset = 0.
const planeOf = (shape, bodies) => {
  const matrix = bodies.matrixOf({ ...shape, size: [1, 1, 1] }, new THREE.Matrix4());
  const rotation = new THREE.Quaternion().setFromRotationMatrix(matrix);
  const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(rotation);
  const origin = new THREE.Vector3().setFromMatrixPosition(matrix);
  return { origin, rotation, normal, offset: -normal.dot(origin), shape };
};

const GROUND = {
  origin: new THREE.Vector3(),
  rotation: new THREE.Quaternion(),
  normal: new THREE.Vector3(0, 0, 1),
};

export const createWalls = (data, bodies, look, scene, bounds, up) => {
  const centre = bounds.getCenter(new THREE.Vector3());
  const size = bounds.getSize(new THREE.Vector3());
  const radius = size.length() / 2;
  const spacing = niceBelow(radius / 2.5);
  const material = planeMaterial(centre, 6 * radius, spacing);
  const shapes = data.shapes.filter((s) => s.kind === SHAPE.plane);
  const isFixed = (s) => data.kinds[s.body] === KIND.fixed;
  const meshes = [];
  const add = (mesh, shape) => {
    meshes.push({ mesh, shape });
    scene.add(mesh);
  };

  // walls end a little above the scene; a plane cuts others only if the scene is outside of it
  const planes = shapes.filter(isFixed).map((s) => planeOf(s, bodies));
  const top = { up, height: up.dot(centre) + (Math.abs(size.dot(up)) / 2) * 1.02 };
  const cutters = planes.filter((p) => p.normal.dot(centre) + p.offset > -0.1 * radius);
  if (cutters.length > MOST_CUTTERS) cutters.length = 0;
  for (const plane of planes) {
    const limit = planes.length > 1 ? top : null;
    add(planeMesh(plane, cutters, 7 * radius, centre, limit, material), plane.shape);
  }

  const movers = shapes
    .filter((s) => !isFixed(s))
    .map((s) => {
      const mesh = planeMesh(GROUND, [], 2 * radius, GROUND.origin, null, material);
      mesh.matrixAutoUpdate = false;
      add(mesh, s);
      return { mesh, shape: { ...s, size: [1, 1, 1] } };
    });
  look.listen(() =>
    meshes.forEach(({ mesh, shape }) => (mesh.visible = look.visible(shape.body))),
  );
  const hits = [];
  return {
    spacing: shapes.length ? spacing : 0,
    place: () => movers.forEach(({ mesh, shape }) => bodies.matrixOf(shape, mesh.matrix)),
    pick: (raycaster) => {
      let best = { distance: Infinity, shape: null };
      for (const { mesh, shape } of meshes) {
        if (!mesh.visible) continue;
        hits.length = 0;
        mesh.raycast(raycaster, hits);
        // what has faded out is not there
        for (const { distance, point } of hits)
          if (distance < best.distance && point.distanceTo(centre) < 4.5 * radius)
            best = { distance, shape };
      }
      return best;
    },
    setTheme: (theme) => {
      material.color.set(theme.plane);
      material.userData.uniforms.gridColour.value.set(theme.grid);
    },
  };
};
