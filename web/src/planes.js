// SPDX-License-Identifier: Apache-2.0
// Half-spaces as something finite to look at. A plane becomes a square around the scene, cut by the
// other fixed planes (walls that make a box stand as a box), fading out toward its rim, with a grid
// of known spacing. Only its outer side is drawn, so walls between the camera and the scene vanish.
import * as THREE from "three";

// Keep the part of a polygon where n x + d >= 0.
const clip = (polygon, n, d) => {
  const result = [];
  for (let i = 0; i < polygon.length; i++) {
    const a = polygon[i];
    const b = polygon[(i + 1) % polygon.length];
    const ga = n.dot(a) + d;
    const gb = n.dot(b) + d;
    if (ga >= 0) result.push(a);
    if (ga < 0 !== gb < 0) result.push(a.clone().lerp(b, ga / (ga - gb)));
  }
  return result;
};

const square = (origin, rotation, half) =>
  [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].map(([x, y]) => new THREE.Vector3(x * half, y * half, 0).applyQuaternion(rotation).add(origin));

// 1, 2 or 5 times a power of ten, not above the value.
export const niceBelow = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  const lead = value / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
};

export const planeMaterial = (centre, radius, spacing) => {
  const material = new THREE.MeshLambertMaterial({ transparent: true });
  const uniforms = {
    fadeCentre: { value: centre },
    fadeRadius: { value: radius },
    gridSpacing: { value: spacing },
    gridColour: { value: new THREE.Color() },
  };
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace(
        "#include <common>",
        "#include <common>\nattribute vec2 inPlane;\nvarying vec2 vInPlane;\nvarying vec3 vWorld;",
      )
      .replace(
        "#include <begin_vertex>",
        `#include <begin_vertex>
        vInPlane = inPlane;
        vWorld = (modelMatrix * vec4(position, 1.0)).xyz;`,
      );
    shader.fragmentShader = shader.fragmentShader
      .replace(
        "#include <common>",
        `#include <common>
        uniform vec3 fadeCentre, gridColour;
        uniform float fadeRadius, gridSpacing;
        varying vec2 vInPlane;
        varying vec3 vWorld;
        float gridLine(vec2 p, float width) {
          vec2 d = fwidth(p);
          vec2 g = abs(fract(p - 0.5) - 0.5) / max(d, vec2(1e-6));
          // lines closer than some pixels fade instead of shimmering
          float thin = 1.0 - smoothstep(0.15, 0.5, max(d.x, d.y));
          return (1.0 - smoothstep(width - 0.5, width + 0.5, min(g.x, g.y))) * thin;
        }`,
      )
      .replace(
        "#include <color_fragment>",
        `#include <color_fragment>
        float fine = gridLine(vInPlane / gridSpacing, 0.6);
        float coarse = gridLine(vInPlane / (5.0 * gridSpacing), 0.8);
        float line = max(0.45 * fine, 0.9 * coarse);
        diffuseColor.rgb = mix(diffuseColor.rgb, gridColour, line);
        diffuseColor.a *= 1.0 - smoothstep(0.45, 1.0, distance(vWorld, fadeCentre) / fadeRadius);`,
      );
  };
  material.userData.uniforms = uniforms;
  return material;
};

// The visible polygon of one plane as a mesh. `others`: planes {normal, offset} that cut it (n x +
// offset >= 0 is outside them); `top`: how far walls rise, as {up, height}.
export const planeMesh = (plane, others, half, centre, top, material) => {
  const { origin, rotation, normal } = plane;
  // the point of the plane next to the scene
  const foot = centre.clone().addScaledVector(normal, -normal.dot(centre.clone().sub(origin)));
  let polygon = square(foot, rotation, half);
  for (const other of others) {
    if (other === plane || other.normal.dot(normal) > 0.999) continue;
    const cut = clip(polygon, other.normal, other.offset + half * 1e-6);
    if (cut.length >= 3) polygon = cut;
  }
  if (top && Math.abs(normal.dot(top.up)) < 0.3) {
    const cut = clip(polygon, top.up.clone().negate(), top.height);
    if (cut.length >= 3) polygon = cut;
  }

  const x = new THREE.Vector3(1, 0, 0).applyQuaternion(rotation);
  const y = new THREE.Vector3(0, 1, 0).applyQuaternion(rotation);
  const positions = [];
  const inPlane = [];
  const normals = [];
  for (let i = 1; i + 1 < polygon.length; i++)
    for (const p of [polygon[0], polygon[i], polygon[i + 1]]) {
      const d = p.clone().sub(origin);
      positions.push(p.x, p.y, p.z);
      inPlane.push(d.dot(x), d.dot(y));
      normals.push(normal.x, normal.y, normal.z);
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3));
  geometry.setAttribute("inPlane", new THREE.Float32BufferAttribute(inPlane, 2));
  const mesh = new THREE.Mesh(geometry, material);
  mesh.receiveShadow = true;
  return mesh;
};
