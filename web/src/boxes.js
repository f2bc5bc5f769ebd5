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
  const r = shape.rotation;
  const sw = r[0];
  const sx = r[1];
  const sy = r[2];
  const sz = r[3];
  const w = bw * sw - bx * sx - by * sy - bz * sz;
  const x = bw * sx + bx * sw + by * sz - bz * sy;
  const y = bw * sy - bx * sz + by * sw + bz * sx;
  const z = bw * sz + bx * sy - by * sx + bz * sw;
  const ox = shape.position[0];
  const oy = shape.position[1];
  const oz = shape.position[2];
  const tx = 2 * (by * oz - bz * oy);
  const ty = 2 * (bz * ox - bx * oz);
  const tz = 2 * (bx * oy - by * ox);
  const l = shape.size[0];
  const m = shape.size[1];
  const n = shape.size[2];
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

// ---- materials ----
// Instances have a fade: 1 solid, 0 hidden, between them glass. Each pass folds up what is not its own.

const FOLD = {
  solid: "if (fade < 0.995) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);",
  glass: "if (fade > 0.995 || fade < 0.005) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);",
};

const BOX_EDGE = `
vec2 inner = (1.0 - abs(vFace)) / max(fwidth(vFace), vec2(1e-6));
float edge = 1.0 - smoothstep(0.6, 1.8, min(inner.x, inner.y));
diffuseColor.rgb *= mix(1.0, 0.72, edge);`;

const changeShader = (shader, pass, boxes) => {
  const pars = `attribute float fade;\nvarying float vFade;${boxes ? "\nattribute vec2 face;\nvarying vec2 vFace;" : ""}`;
  const varyings = `varying float vFade;${boxes ? "\nvarying vec2 vFace;" : ""}`;
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", `#include <common>\n${pars}`)
    .replace("#include <begin_vertex>", `#include <begin_vertex>\nvFade = fade;${boxes ? "\nvFace = face;" : ""}`)
    .replace("#include <project_vertex>", `#include <project_vertex>\n${FOLD[pass]}`);
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", `#include <common>\n${varyings}`)
    .replace("#include <color_fragment>", `#include <color_fragment>${boxes ? BOX_EDGE : ""}`);
  if (pass !== "glass") return;
  // glass is seen at its edges, and where the eye grazes it
  const rim = boxes ? "0.35 * edge" : "0.3 * pow(1.0 - abs(dot(normal, normalize(vViewPosition))), 2.0)";
  shader.fragmentShader = shader.fragmentShader.replace(
    "#include <opaque_fragment>",
    `diffuseColor.a = min(vFade + ${rim}, 1.0);\n#include <opaque_fragment>`,
  );
};

const createMaterial = (pass, boxes) => {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.6, metalness: 0.02 });
  if (pass === "glass") {
    material.transparent = true;
    material.depthWrite = false;
  }
  material.onBeforeCompile = (shader) => changeShader(shader, pass, boxes);
  material.customProgramCacheKey = () => `${pass} ${boxes}`;
  return material;
};

// The shadow of what is solid.
const createShadowMaterial = () => {
  const material = new THREE.MeshDepthMaterial();
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute float fade;")
      .replace("#include <project_vertex>", `#include <project_vertex>\n${FOLD.solid}`);
  };
  return material;
};

// ---- geometry ----

const boxGeometry = () => {
  const geometry = new THREE.BoxGeometry(2, 2, 2);
  const uv = geometry.getAttribute("uv");
  const face = new Float32Array(uv.count * 2);
  for (let i = 0; i < face.length; i++) face[i] = 2 * uv.array[i] - 1;
  geometry.setAttribute("face", new THREE.BufferAttribute(face, 2));
  return geometry;
};

// The geometry of a mesh of the data, made once.
const meshGeometry = (mesh) => {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(mesh.places, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(mesh.normals, 3));
  if (mesh.index) geometry.setIndex(new THREE.BufferAttribute(mesh.index, 1));
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

// ---- instances ----

const createInstances = (shapes, scene, geometry, boxes) => {
  const count = shapes.length;
  const fade = new THREE.InstancedBufferAttribute(new Float32Array(count).fill(1), 1);
  geometry.setAttribute("fade", fade);
  const solid = new THREE.InstancedMesh(geometry, createMaterial("solid", boxes), count);
  solid.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  solid.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * count), 3);
  solid.customDepthMaterial = createShadowMaterial();
  solid.castShadow = solid.receiveShadow = true;
  const glass = new THREE.InstancedMesh(geometry, createMaterial("glass", boxes), count);
  glass.instanceMatrix = solid.instanceMatrix;
  glass.instanceColor = solid.instanceColor;
  glass.renderOrder = 2;
  glass.visible = false;
  for (const mesh of [solid, glass]) {
    mesh.frustumCulled = false;
    scene.add(mesh);
  }
  const hits = [];
  return {
    still: shapes.every((s) => s.still),
    place: (poses) => {
      const out = solid.instanceMatrix.array;
      for (let i = 0; i < count; i++) writeMatrix(out, 16 * i, shapes[i], poses);
      solid.instanceMatrix.needsUpdate = true;
      solid.boundingSphere = null; // rays ask for it; instances have moved
    },
    paint: (colourOf, fadeOf) => {
      let [anyGlass, anySolid] = [false, false];
      for (let i = 0; i < count; i++) {
        colourOf(shapes[i]).toArray(solid.instanceColor.array, 3 * i);
        const f = fadeOf(shapes[i]);
        fade.array[i] = f;
        if (f >= 0.995) anySolid = true;
        else if (f > 0.005) anyGlass = true;
      }
      solid.instanceColor.needsUpdate = fade.needsUpdate = true;
      solid.visible = anySolid;
      glass.visible = anyGlass;
    },
    pick: (raycaster, accept) => {
      hits.length = 0;
      solid.raycast(raycaster, hits);
      let best = { distance: Infinity, shape: null };
      for (const { distance, instanceId: i } of hits)
        if (distance < best.distance && accept(shapes[i], fade.array[i]))
          best = { distance, shape: shapes[i] };
      return best;
    },
    setFast: () => {},
    // a plane that cuts (THREE.Plane), or null; what is inside is seen then
    setSection: (plane) => {
      for (const { material } of [solid, glass]) {
        material.clippingPlanes = plane ? [plane] : null;
        material.clipShadows = true;
        material.side = plane ? THREE.DoubleSide : THREE.FrontSide;
        material.needsUpdate = true;
      }
    },
  };
};

export const createBoxes = (shapes, scene) => createInstances(shapes, scene, boxGeometry(), true);

export const createMeshes = (shapes, scene, mesh) =>
  createInstances(shapes, scene, meshGeometry(mesh), false);
