// SPDX-License-Identifier: Apache-2.0
// Boxes as one instanced mesh, their edges a little darker, of the same width on every face; and any
// other shape by its triangles.
import * as THREE from "three";

// Matrix of a shape on its body: rotations multiplied, offset turned, scaled by size.
export const writeMatrix = (out, at, shape, { p, q }) => {
  const a = 3 * shape.body;
  const b = 4 * shape.body;
  const bw = q[b];
  const bx = q[b + 1];
  const by = q[b + 2];
  const bz = q[b + 3];
  const [sw, sx, sy, sz] = shape.rotation;
  const w = bw * sw - bx * sx - by * sy - bz * sz;
  const x = bw * sx + bx * sw + by * sz - bz * sy;
  const y = bw * sy - bx * sz + by * sw + bz * sx;
  const z = bw * sz + bx * sy - by * sx + bz * sw;
  const [ox, oy, oz] = shape.position;
  const tx = 2 * (by * oz - bz * oy);
  const ty = 2 * (bz * ox - bx * oz);
  const tz = 2 * (bx * oy - by * ox);
  const [l, m, n] = shape.size;
  out[at] = (1 - 2 * (y * y + z * z)) * l;
  out[at + 1] = 2 * (x * y + w * z) * l;
  out[at + 2] = 2 * (x * z - w * y) * l;
  out[at + 3] = 0;
  out[at + 4] = 2 * (x * y - w * z) * m;
  out[at + 5] = (1 - 2 * (x * x + z * z)) * m;
  out[at + 6] = 2 * (y * z + w * x) * m;
  out[at + 7] = 0;
  out[at + 8] = 2 * (x * z + w * y) * n;
  out[at + 9] = 2 * (y * z - w * x) * n;
  out[at + 10] = (1 - 2 * (x * x + y * y)) * n;
  out[at + 11] = 0;
  out[at + 12] = p[a] + ox + bw * tx + by * tz - bz * ty;
  out[at + 13] = p[a + 1] + oy + bw * ty + bz * tx - bx * tz;
  out[at + 14] = p[a + 2] + oz + bw * tz + bx * ty - by * tx;
  out[at + 15] = 1;
};

const createMaterial = () => {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.6, metalness: 0.02 });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute vec2 face;\nvarying vec2 vFace;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvFace = face;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec2 vFace;")
      .replace(
        "#include <color_fragment>",
        `#include <color_fragment>
        vec2 inner = (1.0 - abs(vFace)) / max(fwidth(vFace), vec2(1e-6));
        diffuseColor.rgb *= mix(0.72, 1.0, smoothstep(0.6, 1.8, min(inner.x, inner.y)));`,
      );
  };
  return material;
};

const createGeometry = () => {
  const geometry = new THREE.BoxGeometry(2, 2, 2);
  const uv = geometry.getAttribute("uv");
  const face = new Float32Array(uv.count * 2);
  for (let i = 0; i < face.length; i++) face[i] = 2 * uv.array[i] - 1;
  geometry.setAttribute("face", new THREE.BufferAttribute(face, 2));
  return geometry;
};

const createInstances = (shapes, scene, geometry, material) => {
  const mesh = new THREE.InstancedMesh(geometry, material, shapes.length);
  mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * shapes.length), 3);
  mesh.frustumCulled = false;
  mesh.castShadow = mesh.receiveShadow = true;
  scene.add(mesh);
  return {
    place: (poses) => {
      const out = mesh.instanceMatrix.array;
      for (let i = 0; i < shapes.length; i++) writeMatrix(out, 16 * i, shapes[i], poses);
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // rays ask for it; instances have moved
    },
    paint: (colourOf) => {
      shapes.forEach((s, i) => colourOf(s).toArray(mesh.instanceColor.array, 3 * i));
      mesh.instanceColor.needsUpdate = true;
    },
    pick: (raycaster) => {
      const [hit] = raycaster.intersectObject(mesh);
      return hit
        ? { distance: hit.distance, shape: shapes[hit.instanceId] }
        : { distance: Infinity, shape: null };
    },
  };
};

export const createBoxes = (shapes, scene) =>
  createInstances(shapes, scene, createGeometry(), createMaterial());

// The geometry of a mesh of the data, made once.
export const meshGeometry = (mesh) => {
  if (mesh.geometry) return mesh.geometry;
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(mesh.places, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(mesh.normals, 3));
  if (mesh.index) geometry.setIndex(new THREE.BufferAttribute(mesh.index, 1));
  mesh.geometry = geometry;
  return geometry;
};

// Shapes by the mesh that they share.
export const byMesh = (shapes) => {
  const groups = new Map();
  for (const s of shapes) {
    if (!s.mesh) continue;
    if (!groups.has(s.mesh)) groups.set(s.mesh, []);
    groups.get(s.mesh).push(s);
  }
  return [...groups];
};

export const createMeshes = (shapes, scene, mesh) => {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.6, metalness: 0.02 });
  return createInstances(shapes, scene, meshGeometry(mesh), material);
};
