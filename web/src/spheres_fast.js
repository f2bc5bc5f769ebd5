// SPDX-License-Identifier: Apache-2.0
// Spheres as points with a size, for pictures that follow each other fast without a graphics card: one corner a
// sphere, a few operations a pixel, no shadows. Each is as deep as its centre, so spheres that lie in each other are cut
// along a straight line; all else is as in the full picture.
import * as THREE from "three";

const VERTEX = `
precision highp float;
attribute vec4 position, turn, tint; // position: centre, radius
uniform mat4 viewMatrix, projectionMatrix;
uniform vec4 section; // in camera axes
uniform float viewHeight; // pixels
varying vec3 vTint, vAxis;
void main() {
  vec3 centre = (viewMatrix * vec4(position.xyz, 1.0)).xyz;
  gl_Position = projectionMatrix * vec4(centre, 1.0);
  gl_PointSize = max(position.w * projectionMatrix[1][1] * viewHeight / gl_Position.w, 1.0);
  if (tint.w < 0.995 || dot(section.xyz, centre) + section.w < 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  vTint = tint.rgb;
  vec3 axis = vec3(2.0 * (turn.x * turn.z + turn.w * turn.y), 2.0 * (turn.y * turn.z - turn.w * turn.x),
    1.0 - 2.0 * (turn.x * turn.x + turn.y * turn.y));
  vAxis = mat3(viewMatrix) * axis;
}`;

const FRAGMENT = `
precision highp float;
uniform vec3 sunWay, fillWay, upWay, sunColour, fillColour, skyColour, earthColour; // ways in camera axes
varying vec3 vTint, vAxis;
void main() {
  vec2 at = vec2(2.0, -2.0) * gl_PointCoord + vec2(-1.0, 1.0);
  float rest = 1.0 - dot(at, at);
  if (rest < 0.0) discard;
  vec3 normal = vec3(at, sqrt(rest));
  vec3 light = mix(earthColour, skyColour, 0.5 + 0.5 * dot(normal, upWay))
    + sunColour * max(dot(normal, sunWay), 0.0) + fillColour * max(dot(normal, fillWay), 0.0);
  float band = abs(dot(normal, vAxis)) < 0.24 ? 0.66 : 1.0;
  gl_FragColor = vec4(sqrt(min(vTint * light * band, vec3(1.0))), 1.0);
}`;

const WAYS = ["sunWay", "fillWay", "upWay"];

// `arrays`: sphere, turn and tint, four numbers each.
export const createFastSpheres = (arrays, count, scene, stage) => {
  const geometry = new THREE.BufferGeometry();
  const attributes = Object.entries({ position: arrays.sphere, turn: arrays.turn, tint: arrays.tint }).map(
    ([name, array]) => {
      const made = new THREE.BufferAttribute(array, 4);
      made.setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute(name, made);
      return made;
    },
  );
  const own = Object.fromEntries(WAYS.map((name) => [name, { value: new THREE.Vector3() }]));
  const viewHeight = { value: 1 };
  const material = new THREE.RawShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: { ...stage.lightUniforms, ...own, section: stage.section, viewHeight },
  });
  const points = new THREE.Points(geometry, material);
  points.frustumCulled = false;
  points.visible = false;
  points.onBeforeRender = (renderer, _, camera) => {
    for (const name of WAYS)
      own[name].value.copy(stage.lightUniforms[name].value).transformDirection(camera.matrixWorldInverse);
    viewHeight.value = renderer.domElement.height;
  };
  scene.add(points);
  return {
    points,
    changed: () => attributes.forEach((a) => (a.needsUpdate = true)),
  };
};
