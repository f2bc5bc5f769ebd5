// SPDX-License-Identifier: Apache-2.0
// Many spheres cheaply, in three passes of which each draws what is its own and folds up the rest:
//   solid   each sphere is one square that faces the camera, and every pixel of it asks where its ray meets the
//           sphere. Round at any size; a section plane cuts it as it cuts a ball of wood
//   glass   the same, for spheres that are seen through
//   fast    where no graphics card helps and things move: one point each (spheres_fast.js)
// A band around each shows how it turns. In the shadow map a sphere is a disc through its centre, so it cannot
// shade its own lit side. A hidden sphere has the fade 0, one of glass less than 1.
import * as THREE from "three";
import { createFastSpheres } from "./spheres_fast.js";

const VERTEX_PARS = `
attribute vec4 sphere; // centre, radius
attribute vec4 turn;   // rotation as x y z w
attribute vec4 tint;   // colour, fade
varying vec3 vCentre;
varying float vRadius;
varying vec4 vTurn;
varying vec4 vTint;`;

// The circle in which the cone of sight touches the sphere lies nearer than the centre.
const VERTEX_PLACE = `
vCentre = (viewMatrix * vec4(sphere.xyz, 1.0)).xyz;
vRadius = sphere.w;
vTurn = turn;
vTint = tint;
float far2 = dot(vCentre, vCentre);
float nearer = max(1.0 - vRadius * vRadius / far2, 1e-3);
vec3 toward = vCentre * inversesqrt(far2);
vec3 other = abs(toward.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
vec3 across = normalize(cross(toward, other));
vec3 upward = cross(across, toward);
vec2 corner = position.xy * vRadius * sqrt(nearer) * 1.04;
vec4 mvPosition = vec4(vCentre * nearer + across * corner.x + upward * corner.y, 1.0);
gl_Position = projectionMatrix * mvPosition;
#ifdef GLASS
  if (tint.w > 0.995 || tint.w < 0.005) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
#else
  if (tint.w < 0.995) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
#endif`;

const FRAGMENT_PARS = `
uniform mat4 projectionMatrix;
uniform vec4 section; // plane in camera axes: kept where n x + d >= 0
varying vec3 vCentre;
varying float vRadius;
varying vec4 vTurn;
varying vec4 vTint;
#if NUM_DIR_LIGHT_SHADOWS > 0
  uniform mat4 directionalShadowMatrix[ NUM_DIR_LIGHT_SHADOWS ];
#endif`;

// Where the ray meets the sphere, in camera axes. The distance of the ray from the centre is taken
// before squaring: far small spheres would drown in round-off otherwise.
const FRAGMENT_HIT = `
vec3 ray = normalize(-vViewPosition);
float along = dot(ray, vCentre);
vec3 miss = vCentre - along * ray;
float rim = length(miss) / vRadius;
float cover = clamp((1.0 - rim) / max(fwidth(rim), 1e-6) + 0.5, 0.0, 1.0);
if (cover < 0.02) discard;
float reach = vRadius * sqrt(max(1.0 - rim * rim, 0.0));
vec3 hitView = ray * (along - reach);
vec3 hitNormal = normalize(hitView - vCentre);
float within = dot(section.xyz, hitView) + section.w;
if (within < 0.0) {
  float slope = dot(section.xyz, ray);
  float on = along - reach - within / slope;
  if (slope <= 0.0 || on > along + reach) discard;
  hitView = ray * on;
  hitNormal = -section.xyz;
}
vec3 hitWorldNormal = hitNormal * mat3(viewMatrix);
vec3 hitWorld = (hitView - viewMatrix[3].xyz) * mat3(viewMatrix);
hitWorld += hitWorldNormal * (0.04 * vRadius);
vec4 hitClip = projectionMatrix * vec4(hitView, 1.0);
gl_FragDepth = 0.5 * hitClip.z / hitClip.w + 0.5;`;

const FRAGMENT_COLOUR = `
vec3 aside = cross(hitWorldNormal, vTurn.xyz);
float height = (hitWorldNormal + 2.0 * (vTurn.w * aside + cross(aside, vTurn.xyz))).z;
float soft = fwidth(height) + 0.004;
float band = 1.0 - smoothstep(0.24 - soft, 0.24 + soft, abs(height));
diffuseColor.rgb *= vTint.rgb * mix(1.0, 0.66, band);
#ifdef GLASS
  diffuseColor.a = vTint.w * cover;
#else
  diffuseColor.a *= cover;
#endif`;

const createMaterial = (glass, section) => {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.02 });
  if (glass) {
    material.defines = { ...material.defines, GLASS: 1 };
    material.transparent = true;
    material.depthWrite = false;
  } else {
    // the rim by coverage of samples; its alpha must not reach the picture: the page would show
    material.alphaToCoverage = true;
    Object.assign(material, {
      blending: THREE.CustomBlending,
      blendSrc: THREE.OneFactor,
      blendDst: THREE.ZeroFactor,
      blendSrcAlpha: THREE.ZeroFactor,
      blendDstAlpha: THREE.OneFactor,
    });
  }
  material.onBeforeCompile = (shader) => {
    shader.uniforms.section = section;
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>${VERTEX_PARS}`)
      .replace("#include <project_vertex>", VERTEX_PLACE);
    // the standard lighting, at the point that was hit
    const lights = THREE.ShaderChunk.lights_fragment_begin
      .replaceAll("vViewPosition", "(-hitView)")
      .replaceAll(
        "vDirectionalShadowCoord[ i ]",
        "(directionalShadowMatrix[ i ] * vec4(hitWorld, 1.0))",
      );
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>${FRAGMENT_PARS}`)
      .replace("#include <clipping_planes_fragment>", FRAGMENT_HIT)
      .replace("#include <color_fragment>", FRAGMENT_COLOUR)
      .replace(
        "#include <normal_fragment_begin>",
        "vec3 normal = hitNormal;\nvec3 nonPerturbedNormal = normal;",
      )
      .replace("#include <lights_fragment_begin>", lights);
  };
  return material;
};

const createShadowMaterial = (section) => {
  const material = new THREE.MeshDepthMaterial();
  material.shadowSide = THREE.DoubleSide;
  material.side = THREE.DoubleSide;
  material.onBeforeCompile = (shader) => {
    shader.uniforms.section = section;
    shader.vertexShader = shader.vertexShader
      .replace(
        "#include <common>",
        "#include <common>\nattribute vec4 sphere, tint;\nuniform vec4 section;\nvarying vec2 vDisc;",
      )
      .replace(
        "#include <project_vertex>",
        `vDisc = position.xy;
        vec4 mvPosition = viewMatrix * vec4(sphere.xyz, 1.0);
        bool gone = tint.w < 0.995 || dot(section.xyz, sphere.xyz) + section.w < 0.0;
        mvPosition.xy += position.xy * (gone ? 0.0 : sphere.w);
        gl_Position = projectionMatrix * mvPosition;`,
      );
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec2 vDisc;")
      .replace("#include <clipping_planes_fragment>", "if (dot(vDisc, vDisc) > 1.0) discard;");
  };
  return material;
};

const LARGEST_POINT = 500; // pixels

const SQUARE = [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0];

const squareGeometry = () => {
  const geometry = new THREE.InstancedBufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(SQUARE, 3));
  geometry.setAttribute(
    "normal",
    new THREE.Float32BufferAttribute([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1], 3),
  );
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  return geometry;
};

export const createSpheres = (shapes, scene, stage) => {
  const count = shapes.length;
  const attribute = (size) => {
    const made = new THREE.InstancedBufferAttribute(new Float32Array(size * count), size);
    made.setUsage(THREE.DynamicDrawUsage);
    return made;
  };
  const sphere = attribute(4);
  const turn = attribute(4);
  const tint = attribute(4);
  const withInstances = (geometry) => {
    geometry.setAttribute("sphere", sphere);
    geometry.setAttribute("turn", turn);
    geometry.setAttribute("tint", tint);
    geometry.instanceCount = count;
    return geometry;
  };
  const addMesh = (geometry, material) => {
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    scene.add(mesh);
    return mesh;
  };
  const square = withInstances(squareGeometry());
  const solid = addMesh(square, createMaterial(false, stage.section));
  solid.customDepthMaterial = createShadowMaterial(stage.sectionInWorld);
  solid.castShadow = solid.receiveShadow = true;
  const glass = addMesh(square, createMaterial(true, stage.section));
  glass.renderOrder = 2;
  glass.visible = false;
  const largest = shapes.reduce((most, s) => Math.max(most, s.size[0]), 0);
  const arrays = { sphere: sphere.array, turn: turn.array, tint: tint.array };
  const fast = createFastSpheres(arrays, count, scene, stage);

  const place = ({ p, q }) => {
    const out = sphere.array;
    const spin = turn.array;
    for (let i = 0; i < count; i++) {
      const shape = shapes[i];
      const a = 3 * shape.body;
      const b = 4 * shape.body;
      const w = q[b];
      const x = q[b + 1];
      const y = q[b + 2];
      const z = q[b + 3];
      const at = 4 * i;
      out[at] = p[a];
      out[at + 1] = p[a + 1];
      out[at + 2] = p[a + 2];
      out[at + 3] = shape.size[0];
      spin[at] = x;
      spin[at + 1] = y;
      spin[at + 2] = z;
      spin[at + 3] = w;
      if (shape.centred) continue;
      // off the body's origin: p + q o
      const o = shape.position;
      const tx = 2 * (y * o[2] - z * o[1]);
      const ty = 2 * (z * o[0] - x * o[2]);
      const tz = 2 * (x * o[1] - y * o[0]);
      out[at] += o[0] + w * tx + y * tz - z * ty;
      out[at + 1] += o[1] + w * ty + z * tx - x * tz;
      out[at + 2] += o[2] + w * tz + x * ty - y * tx;
    }
    sphere.needsUpdate = turn.needsUpdate = true;
    fast.changed();
  };

  let anyGlass = false;
  const paint = (colourOf, fadeOf) => {
    const out = tint.array;
    anyGlass = false;
    for (let i = 0; i < count; i++) {
      const colour = colourOf(shapes[i]);
      const fade = fadeOf(shapes[i]);
      out[4 * i] = colour.r;
      out[4 * i + 1] = colour.g;
      out[4 * i + 2] = colour.b;
      out[4 * i + 3] = fade;
      if (fade < 0.995 && fade > 0.005) anyGlass = true;
    }
    tint.needsUpdate = true;
    fast.changed();
    glass.visible = anyGlass;
  };

  // The nearest sphere on a ray that is seen: {distance, shape, fade}.
  const one = new THREE.Sphere();
  const point = new THREE.Vector3();
  const pick = ({ ray }, accept) => {
    let best = { distance: Infinity, shape: null };
    for (let i = 0; i < count; i++) {
      if (!accept(shapes[i], tint.array[4 * i + 3])) continue;
      one.center.fromArray(sphere.array, 4 * i);
      one.radius = sphere.array[4 * i + 3];
      if (!ray.intersectSphere(one, point)) continue;
      const distance = point.distanceTo(ray.origin);
      if (distance < best.distance) best = { distance, shape: shapes[i] };
    }
    return best;
  };

  return {
    place,
    paint,
    pick,
    still: shapes.every((s) => s.still),
    // `pixels`: how large a ball of 1 m is in the middle of the picture; points have a largest size
    setFast: (wanted, pixels) => {
      const on = wanted && 4 * largest * pixels < LARGEST_POINT;
      fast.points.visible = on;
      solid.visible = !on;
    },
    setSection: () => {},
  };
};
