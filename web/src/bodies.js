// Spheres and boxes as instanced meshes: one draw call for all spheres, one for all boxes. Poses are
// interpolated between two frames, shapes follow their bodies.
import * as THREE from "three";
import { KIND, SHAPE } from "./data.js";
import { bodyColour, rampColour } from "./colours.js";

// Fewer triangles a sphere where there are many.
const sphereDetail = (count) => (count <= 300 ? 12 : count <= 3000 ? 6 : count <= 30000 ? 3 : 2);

// A sphere's turning shows by a band around it, drawn in its own axes.
const bandedMaterial = () => {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.02 });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 vOwn;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvOwn = position;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec3 vOwn;")
      .replace(
        "#include <color_fragment>",
        `#include <color_fragment>
        float across = normalize(vOwn).z;
        float soft = fwidth(across) + 0.004;
        float band = 1.0 - smoothstep(0.24 - soft, 0.24 + soft, abs(across));
        diffuseColor.rgb = mix(diffuseColor.rgb, mix(diffuseColor.rgb * 0.62, vec3(1.0), 0.06), band);`,
      );
  };
  return material;
};

// Edges of boxes a little darker, of the same width on every face.
const edgedMaterial = () => {
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

const boxGeometry = () => {
  const geometry = new THREE.BoxGeometry(2, 2, 2);
  const uv = geometry.getAttribute("uv");
  const face = new Float32Array(uv.count * 2);
  for (let i = 0; i < uv.count; i++) {
    face[2 * i] = 2 * uv.getX(i) - 1;
    face[2 * i + 1] = 2 * uv.getY(i) - 1;
  }
  geometry.setAttribute("face", new THREE.BufferAttribute(face, 2));
  return geometry;
};

// Matrix of a shape on its body: rotations multiplied, offset turned, scaled by size.
const writeMatrix = (out, at, shape, p, pi, q, qi) => {
  const [bw, bx, by, bz] = [q[qi], q[qi + 1], q[qi + 2], q[qi + 3]];
  const [sw, sx, sy, sz] = shape.rotation;
  const w = bw * sw - bx * sx - by * sy - bz * sz;
  const x = bw * sx + bx * sw + by * sz - bz * sy;
  const y = bw * sy - bx * sz + by * sw + bz * sx;
  const z = bw * sz + bx * sy - by * sx + bz * sw;
  const [ox, oy, oz] = shape.position;
  const tx = 2 * (by * oz - bz * oy);
  const ty = 2 * (bz * ox - bx * oz);
  const tz = 2 * (bx * oy - by * ox);
  const [a, b, c] = shape.size;
  out[at] = (1 - 2 * (y * y + z * z)) * a;
  out[at + 1] = 2 * (x * y + w * z) * a;
  out[at + 2] = 2 * (x * z - w * y) * a;
  out[at + 3] = 0;
  out[at + 4] = 2 * (x * y - w * z) * b;
  out[at + 5] = (1 - 2 * (x * x + z * z)) * b;
  out[at + 6] = 2 * (y * z + w * x) * b;
  out[at + 7] = 0;
  out[at + 8] = 2 * (x * z + w * y) * c;
  out[at + 9] = 2 * (y * z - w * x) * c;
  out[at + 10] = (1 - 2 * (x * x + y * y)) * c;
  out[at + 11] = 0;
  out[at + 12] = p[pi] + ox + bw * tx + by * tz - bz * ty;
  out[at + 13] = p[pi + 1] + oy + bw * ty + bz * tx - bx * tz;
  out[at + 14] = p[pi + 2] + oz + bw * tz + bx * ty - by * tx;
  out[at + 15] = 1;
};

// Two decoded frames and what lies between them.
const createPoses = (data) => {
  const n = data.bodyCount;
  const frames = [0, 1].map(() => ({ index: -1, p: new Float32Array(3 * n), q: new Float32Array(4 * n) }));
  const now = { p: new Float32Array(3 * n), q: new Float32Array(4 * n), speed: new Float32Array(n) };

  const fetch = (index, other) => {
    let found = frames.find((f) => f.index === index);
    if (!found) {
      found = frames.find((f) => f.index !== other);
      data.decodeAll(index, found.p, found.q);
      found.index = index;
    }
    return found;
  };

  const update = ({ frame, next, share }) => {
    const a = fetch(frame, next);
    const b = fetch(next, frame);
    const s = share;
    for (let i = 0; i < 3 * n; i++) now.p[i] = a.p[i] + s * (b.p[i] - a.p[i]);
    for (let i = 0; i < 4 * n; i += 4) {
      const dot = a.q[i] * b.q[i] + a.q[i + 1] * b.q[i + 1] + a.q[i + 2] * b.q[i + 2] + a.q[i + 3] * b.q[i + 3];
      const t = dot < 0 ? -s : s;
      let norm = 0;
      for (let k = i; k < i + 4; k++) {
        now.q[k] = (1 - s) * a.q[k] + t * b.q[k];
        norm += now.q[k] * now.q[k];
      }
      norm = 1 / Math.sqrt(norm || 1);
      for (let k = i; k < i + 4; k++) now.q[k] *= norm;
    }
    const span = data.times[next] - data.times[frame];
    for (let i = 0; i < n; i++)
      now.speed[i] = span > 0 ? Math.hypot(b.p[3 * i] - a.p[3 * i], b.p[3 * i + 1] - a.p[3 * i + 1], b.p[3 * i + 2] - a.p[3 * i + 2]) / span : 0;
  };
  return { now, update };
};

// The speed that all but the fastest few bodies stay below, from some frames of the run.
const typicalTopSpeed = (data) => {
  if (data.frameCount < 2) return 1;
  const n = data.bodyCount;
  const a = new Float32Array(3 * n);
  const b = new Float32Array(3 * n);
  const q = new Float32Array(4 * n);
  const tops = [];
  const looks = Math.min(12, data.frameCount - 1);
  for (let k = 0; k < looks; k++) {
    const frame = Math.floor((k * (data.frameCount - 1)) / looks);
    data.decodeAll(frame, a, q);
    data.decodeAll(frame + 1, b, q);
    const span = data.times[frame + 1] - data.times[frame];
    const speeds = [];
    for (let i = 0; i < n; i++)
      if (data.moves(i)) speeds.push(Math.hypot(b[3 * i] - a[3 * i], b[3 * i + 1] - a[3 * i + 1], b[3 * i + 2] - a[3 * i + 2]) / span);
    speeds.sort((x, y) => x - y);
    if (speeds.length) tops.push(speeds[Math.floor(0.98 * (speeds.length - 1))]);
  }
  return Math.max(...tops, 1e-9);
};

export const createBodies = (data, scene) => {
  const poses = createPoses(data);
  const topSpeed = typicalTopSpeed(data);
  const groups = [];
  const colour = new THREE.Color();
  let selected = -1;
  let mode = "body";

  const shapeColour = (shape) => {
    if (shape.body === selected) return colour.set("#fff2a8");
    if (mode === "speed" && data.kinds[shape.body] !== KIND.fixed)
      return rampColour(poses.now.speed[shape.body] / topSpeed, colour);
    return colour.copy(shape.colour);
  };

  const addGroup = (kind, geometryOf, material) => {
    const shapes = data.shapes.filter((s) => s.kind === kind && data.kinds[s.body] !== KIND.fixed);
    if (!shapes.length) return;
    for (const s of shapes) s.colour = bodyColour(s.body, data.kinds[s.body] === KIND.kinematic);
    const mesh = new THREE.InstancedMesh(geometryOf(shapes.length), material, shapes.length);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * shapes.length), 3);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = shapes.length <= 40000;
    scene.add(mesh);
    groups.push({ mesh, shapes });
  };
  addGroup(SHAPE.sphere, (count) => new THREE.IcosahedronGeometry(1, sphereDetail(count)), bandedMaterial());
  addGroup(SHAPE.box, boxGeometry, edgedMaterial());

  const paint = () => {
    for (const { mesh, shapes } of groups) {
      const out = mesh.instanceColor.array;
      shapes.forEach((s, i) => shapeColour(s).toArray(out, 3 * i));
      mesh.instanceColor.needsUpdate = true;
    }
  };

  const place = (moment) => {
    poses.update(moment);
    for (const { mesh, shapes } of groups) {
      const out = mesh.instanceMatrix.array;
      for (let i = 0; i < shapes.length; i++)
        writeMatrix(out, 16 * i, shapes[i], poses.now.p, 3 * shapes[i].body, poses.now.q, 4 * shapes[i].body);
      mesh.instanceMatrix.needsUpdate = true;
      // rays ask for it; instances have moved
      mesh.boundingSphere = null;
    }
    if (mode === "speed") paint();
  };

  return {
    poses: poses.now,
    topSpeed,
    place,
    paint,
    setMode: (name) => {
      mode = name;
      paint();
    },
    select: (body) => {
      selected = body;
      paint();
    },
    // the nearest body that a ray meets, -1 without one
    pick: (raycaster) => {
      let best = { distance: Infinity, body: -1 };
      for (const { mesh, shapes } of groups)
        for (const hit of raycaster.intersectObject(mesh))
          if (hit.distance < best.distance) best = { distance: hit.distance, body: shapes[hit.instanceId].body };
      return best.body;
    },
    matrixOf: (shape, out) => {
      writeMatrix(out.elements, 0, shape, poses.now.p, 3 * shape.body, poses.now.q, 4 * shape.body);
      return out;
    },
  };
};
