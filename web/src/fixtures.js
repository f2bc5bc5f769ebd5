// What stands still, and planes. Fixed boxes that come between the camera and what moves turn to glass.
import * as THREE from "three";
import { KIND, SHAPE } from "./data.js";
import { niceBelow, planeMaterial, planeMesh } from "./planes.js";

const GLASS = 0.12;
const SINGLE = 400; // fixed shapes up to here are meshes of their own

export const createFixtures = (data, bodies, scene, bounds, up) => {
  const centre = bounds.getCenter(new THREE.Vector3());
  const size = bounds.getSize(new THREE.Vector3());
  const radius = size.length() / 2;
  const spacing = niceBelow(radius / 2.5);
  const matrix = new THREE.Matrix4();

  // ---- planes ----
  const material = planeMaterial(centre, 6 * radius, spacing);
  const fixedPlanes = [];
  const movingPlanes = [];
  for (const shape of data.shapes) {
    if (shape.kind !== SHAPE.plane) continue;
    const unit = { ...shape, size: [1, 1, 1] };
    bodies.matrixOf(unit, matrix);
    const rotation = new THREE.Quaternion().setFromRotationMatrix(matrix);
    const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(rotation);
    const origin = new THREE.Vector3().setFromMatrixPosition(matrix);
    if (data.kinds[shape.body] === KIND.fixed)
      fixedPlanes.push({ origin, rotation, normal, offset: -normal.dot(origin) });
    else movingPlanes.push(unit);
  }
  const top = { up, height: up.dot(centre) + (Math.abs(size.dot(up)) / 2) * 1.02 };
  // a plane may cut the others only if the scene is outside of it
  const cutters = fixedPlanes.filter((p) => p.normal.dot(centre) + p.offset > -0.1 * radius);
  for (const plane of fixedPlanes)
    scene.add(
      planeMesh(
        plane,
        cutters.length <= 64 ? cutters : [],
        7 * radius,
        centre,
        fixedPlanes.length > 1 ? top : null,
        material,
      ),
    );
  const movers = movingPlanes.map((shape) => {
    const at = {
      origin: new THREE.Vector3(),
      rotation: new THREE.Quaternion(),
      normal: new THREE.Vector3(0, 0, 1),
    };
    const mesh = planeMesh(at, [], 2 * radius, new THREE.Vector3(), null, material);
    mesh.matrixAutoUpdate = false;
    scene.add(mesh);
    return { mesh, shape };
  });

  // ---- fixed spheres and boxes ----
  const solids = data.shapes.filter(
    (s) => s.kind !== SHAPE.plane && data.kinds[s.body] === KIND.fixed,
  );
  const sphere = new THREE.IcosahedronGeometry(1, solids.length <= 300 ? 12 : 3);
  const box = new THREE.BoxGeometry(2, 2, 2);
  const edges = new THREE.EdgesGeometry(box);
  const edgeMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.45 });
  const colours = new THREE.Color();
  const solidMaterials = [];
  const walls = [];

  const addSingle = (shape) => {
    const own = new THREE.MeshStandardMaterial({ roughness: 0.85 });
    const mesh = new THREE.Mesh(shape.kind === SHAPE.box ? box : sphere, own);
    mesh.matrixAutoUpdate = false;
    mesh.matrix.copy(bodies.matrixOf(shape, matrix));
    mesh.castShadow = mesh.receiveShadow = true;
    solidMaterials.push(own);
    scene.add(mesh);
    if (shape.kind !== SHAPE.box) return;
    const lines = new THREE.LineSegments(edges, edgeMaterial);
    lines.matrixAutoUpdate = false;
    lines.matrix.copy(mesh.matrix);
    scene.add(lines);
    walls.push({ mesh, inverse: mesh.matrix.clone().invert() });
  };
  const addMany = (kind, geometry) => {
    const list = solids.filter((s) => s.kind === kind);
    if (!list.length) return;
    const own = new THREE.MeshStandardMaterial({ roughness: 0.85 });
    const mesh = new THREE.InstancedMesh(geometry, own, list.length);
    list.forEach((s, i) => mesh.setMatrixAt(i, bodies.matrixOf(s, matrix)));
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = true;
    solidMaterials.push(own);
    scene.add(mesh);
  };
  if (solids.length <= SINGLE) solids.forEach(addSingle);
  else {
    addMany(SHAPE.sphere, sphere);
    addMany(SHAPE.box, box);
  }

  // Does the way from one point to another pass through the unit cube of a box?
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

  // Points to be seen: the centre of what moves now and some around it.
  const seen = [];
  const look = new THREE.Box3();
  const point = new THREE.Vector3();
  const gather = () => {
    look.makeEmpty();
    for (let i = 0; i < data.bodyCount; i++) {
      if (data.kinds[i] !== KIND.dynamic) continue;
      look.expandByPoint(point.fromArray(bodies.poses.p, 3 * i));
    }
    look.intersect(bounds);
    seen.length = 0;
    if (look.isEmpty()) return;
    const middle = look.getCenter(new THREE.Vector3());
    const half = look.getSize(new THREE.Vector3()).multiplyScalar(0.3);
    for (const [x, y, z] of [
      [0, 0, 0],
      [1, 1, 0],
      [1, -1, 0],
      [-1, 1, 0],
      [-1, -1, 0],
      [0, 0, 1],
      [0, 0, -1],
    ])
      seen.push(middle.clone().add(new THREE.Vector3(x * half.x, y * half.y, z * half.z)));
  };

  return {
    spacing,
    hasPlanes: fixedPlanes.length + movers.length > 0,
    place: () => {
      if (walls.length) gather();
      for (const { mesh, shape } of movers) mesh.matrix.copy(bodies.matrixOf(shape, matrix));
    },
    look: (camera) => {
      for (const { mesh, inverse } of walls) {
        const hidden = seen.filter((p) => passes(inverse, camera.position, p)).length;
        const glass = hidden > 1;
        if (mesh.material.transparent === glass) continue;
        mesh.material.transparent = glass;
        mesh.material.opacity = glass ? GLASS : 1;
        mesh.material.depthWrite = !glass;
        mesh.castShadow = !glass;
        mesh.material.needsUpdate = true;
      }
    },
    setTheme: (theme) => {
      material.color.set(theme.plane);
      material.userData.uniforms.gridColour.value.set(theme.grid);
      edgeMaterial.color.set(theme.edge);
      solidMaterials.forEach((m) => m.color.copy(colours.set(theme.fixed)));
    },
  };
};
