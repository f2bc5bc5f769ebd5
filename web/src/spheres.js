// SPDX-License-Identifier: Apache-2.0
// Many spheres cheaply: each is one square that faces the camera, and every pixel of it asks where
// its ray meets the sphere. Round at any size, two triangles a sphere; ten thousand move smoothly.
// A band around each shows how it turns. In the shadow map a sphere is a disc through its
// centre, so it cannot shade its own lit side.
import * as THREE from "three";

const VERTEX_PARS = `
attribute vec4 sphere; // centre, radius
attribute vec4 turn;   // rotation as x y z w
attribute vec3 tint;
varying vec3 vCentre;
varying float vRadius;
varying vec4 vTurn;
varying vec3 vTint;`;

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
gl_Position = projectionMatrix * mvPosition;`;

const FRAGMENT_PARS = `
uniform mat4 projectionMatrix;
varying vec3 vCentre;
varying float vRadius;
varying vec4 vTurn;
varying vec3 vTint;
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
vec3 hitView = ray * (along - vRadius * sqrt(max(1.0 - rim * rim, 0.0)));
vec3 hitNormal = normalize(hitView - vCentre);
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
diffuseColor.rgb *= vTint * mix(1.0, 0.66, band);
diffuseColor.a *= cover;`;

const createMaterial = () => {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.02 });
  // the rim by coverage of samples; its alpha must not reach the picture: the page would show
  material.alphaToCoverage = true;
  Object.assign(material, {
    blending: THREE.CustomBlending,
    blendSrc: THREE.OneFactor,
    blendDst: THREE.ZeroFactor,
    blendSrcAlpha: THREE.ZeroFactor,
    blendDstAlpha: THREE.OneFactor,
  });
  material.onBeforeCompile = (shader) => {
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

const createShadowMaterial = () => {
  const material = new THREE.MeshDepthMaterial();
  material.shadowSide = THREE.DoubleSide;
  material.side = THREE.DoubleSide;
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace(
        "#include <common>",
        "#include <common>\nattribute vec4 sphere;\nvarying vec2 vDisc;",
      )
      .replace(
        "#include <project_vertex>",
        `vDisc = position.xy;
        vec4 mvPosition = viewMatrix * vec4(sphere.xyz, 1.0);
        mvPosition.xy += position.xy * sphere.w;
        gl_Position = projectionMatrix * mvPosition;`,
      );
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec2 vDisc;")
      .replace("#include <clipping_planes_fragment>", "if (dot(vDisc, vDisc) > 1.0) discard;");
  };
  return material;
};

export const createSpheres = (shapes, scene) => {
  const count = shapes.length;
  const geometry = new THREE.InstancedBufferGeometry();
  const square = [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0];
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(square, 3));
  geometry.setAttribute(
    "normal",
    new THREE.Float32BufferAttribute([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1], 3),
  );
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  geometry.instanceCount = count;
  const attribute = (name, size) => {
    const made = new THREE.InstancedBufferAttribute(new Float32Array(size * count), size);
    made.setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute(name, made);
    return made;
  };
  const sphere = attribute("sphere", 4);
  const turn = attribute("turn", 4);
  const tint = attribute("tint", 3);

  const mesh = new THREE.Mesh(geometry, createMaterial());
  mesh.customDepthMaterial = createShadowMaterial();
  mesh.frustumCulled = false;
  mesh.castShadow = mesh.receiveShadow = true;
  scene.add(mesh);

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
      const [ox, oy, oz] = shape.position;
      const tx = 2 * (y * oz - z * oy);
      const ty = 2 * (z * ox - x * oz);
      const tz = 2 * (x * oy - y * ox);
      out[at] += ox + w * tx + y * tz - z * ty;
      out[at + 1] += oy + w * ty + z * tx - x * tz;
      out[at + 2] += oz + w * tz + x * ty - y * tx;
    }
    sphere.needsUpdate = turn.needsUpdate = true;
  };

  const paint = (colourOf) => {
    for (let i = 0; i < count; i++) colourOf(shapes[i]).toArray(tint.array, 3 * i);
    tint.needsUpdate = true;
  };

  // The nearest sphere on a ray: {distance, shape}.
  const one = new THREE.Sphere();
  const point = new THREE.Vector3();
  const pick = ({ ray }) => {
    let best = { distance: Infinity, shape: null };
    for (let i = 0; i < count; i++) {
      one.center.fromArray(sphere.array, 4 * i);
      one.radius = sphere.array[4 * i + 3];
      if (!ray.intersectSphere(one, point)) continue;
      const distance = point.distanceTo(ray.origin);
      if (distance < best.distance) best = { distance, shape: shapes[i] };
    }
    return best;
  };

  return { place, paint, pick };
};
