// SPDX-License-Identifier: Apache-2.0
// What stands still, and planes.
import * as THREE from "three";
import { byMesh, meshGeometry } from "./boxes.js";
import { KIND, SHAPE } from "./data.js";
import { createGlass } from "./glass.js";
import { niceBelow, planeMaterial, planeMesh } from "./planes.js";

const SINGLE = 400; // fixed shapes up to here are meshes of their own
const MOST_CUTTERS = 64;

// ---- planes ----

// Where a plane is: a point on it, its axes, its normal, and n x + offset = 0.
const planeOf = (shape, bodies) => {
  const matrix = bodies.matrixOf({ ...shape, size: [1, 1, 1] }, new THREE.Matrix4());
  const rotation = new THREE.Quaternion().setFromRotationMatrix(matrix);
  const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(rotation);
  const origin = new THREE.Vector3().setFromMatrixPosition(matrix);
  return { origin, rotation, normal, offset: -normal.dot(origin) };
};

const GROUND = {
  origin: new THREE.Vector3(),
  rotation: new THREE.Quaternion(),
  normal: new THREE.Vector3(0, 0, 1),
};

const createPlanes = (data, bodies, scene, bounds, up) => {
  const centre = bounds.getCenter(new THREE.Vector3());
  const size = bounds.getSize(new THREE.Vector3());
  const radius = size.length() / 2;
  const spacing = niceBelow(radius / 2.5);
  const material = planeMaterial(centre, 6 * radius, spacing);
  const shapes = data.shapes.filter((s) => s.kind === SHAPE.plane);
  const isFixed = (s) => data.kinds[s.body] === KIND.fixed;

  // walls end a little above the scene; a plane cuts others only if the scene is outside of it
  const planes = shapes.filter(isFixed).map((s) => planeOf(s, bodies));
  const top = { up, height: up.dot(centre) + (Math.abs(size.dot(up)) / 2) * 1.02 };
  const cutters = planes.filter((p) => p.normal.dot(centre) + p.offset > -0.1 * radius);
  if (cutters.length > MOST_CUTTERS) cutters.length = 0;
  for (const plane of planes) {
    const limit = planes.length > 1 ? top : null;
    scene.add(planeMesh(plane, cutters, 7 * radius, centre, limit, material));
  }

  const movers = shapes
    .filter((s) => !isFixed(s))
    .map((s) => {
      const mesh = planeMesh(GROUND, [], 2 * radius, GROUND.origin, null, material);
      mesh.matrixAutoUpdate = false;
      scene.add(mesh);
      return { mesh, shape: { ...s, size: [1, 1, 1] } };
    });
  return {
    spacing: shapes.length ? spacing : 0,
    place: () => movers.forEach(({ mesh, shape }) => bodies.matrixOf(shape, mesh.matrix)),
    setTheme: (theme) => {
      material.color.set(theme.plane);
      material.userData.uniforms.gridColour.value.set(theme.grid);
    },
  };
};

// ---- fixed spheres, boxes and meshes ----

const createSolids = (data, bodies, scene, glass) => {
  const solids = data.shapes.filter(
    (s) => s.kind !== SHAPE.plane && data.kinds[s.body] === KIND.fixed,
  );
  const sphere = new THREE.IcosahedronGeometry(1, solids.length <= 300 ? 12 : 3);
  const box = new THREE.BoxGeometry(2, 2, 2);
  const edges = new THREE.EdgesGeometry(box);
  const lineMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.45 });
  const materials = [];

  const add = (mesh) => {
    materials.push(mesh.material);
    mesh.castShadow = mesh.receiveShadow = true;
    scene.add(mesh);
  };
  const newMaterial = () => new THREE.MeshStandardMaterial({ roughness: 0.85 });

  const geometryOf = ({ kind, mesh }) =>
    mesh ? meshGeometry(mesh) : kind === SHAPE.box ? box : sphere;

  const addSingle = (shape) => {
    const mesh = new THREE.Mesh(geometryOf(shape), newMaterial());
    mesh.matrixAutoUpdate = false;
    bodies.matrixOf(shape, mesh.matrix);
    add(mesh);
    if (shape.kind !== SHAPE.box) return;
    glass.add(mesh);
    const lines = new THREE.LineSegments(edges, lineMaterial);
    lines.matrixAutoUpdate = false;
    lines.matrix.copy(mesh.matrix);
    scene.add(lines);
  };
  const addMany = (list, geometry) => {
    const mesh = new THREE.InstancedMesh(geometry, newMaterial(), list.length);
    const matrix = new THREE.Matrix4();
    list.forEach((s, i) => mesh.setMatrixAt(i, bodies.matrixOf(s, matrix)));
    mesh.frustumCulled = false;
    add(mesh);
  };
  if (solids.length <= SINGLE) solids.forEach(addSingle);
  else {
    for (const kind of [SHAPE.sphere, SHAPE.box]) {
      const list = solids.filter((s) => s.kind === kind);
      if (list.length) addMany(list, geometryOf(list[0]));
    }
    for (const [mesh, list] of byMesh(solids)) addMany(list, meshGeometry(mesh));
  }
  return {
    setTheme: (theme) => {
      lineMaterial.color.set(theme.edge);
      materials.forEach((m) => m.color.set(theme.fixed));
    },
  };
};

export const createFixtures = (data, bodies, scene, bounds, up) => {
  const glass = createGlass(data, bodies, bounds);
  const planes = createPlanes(data, bodies, scene, bounds, up);
  const solids = createSolids(data, bodies, scene, glass);
  return {
    spacing: planes.spacing,
    place: () => {
      glass.place();
      planes.place();
    },
    look: glass.look,
    setTheme: (theme) => {
      planes.setTheme(theme);
      solids.setTheme(theme);
    },
  };
};
