// SPDX-License-Identifier: Apache-2.0
// Sky, sun with shadows over the whole scene, and a weak light from the other side.
import * as THREE from "three";

// A direction from parts to the side, ahead and up; up is one of the axes.
export const directions = (up) => {
  const side = new THREE.Vector3(up.x ? 0 : 1, 0, up.x ? 1 : 0);
  const ahead = new THREE.Vector3().crossVectors(up, side);
  return (s, a, u) =>
    new THREE.Vector3()
      .addScaledVector(side, s)
      .addScaledVector(ahead, a)
      .addScaledVector(up, u)
      .normalize();
};

export const createLights = (scene, centre, radius, up) => {
  const direction = directions(up);
  const sky = new THREE.HemisphereLight();
  sky.position.copy(up);
  const sun = new THREE.DirectionalLight(0xfff4e6, 2.4);
  const fill = new THREE.DirectionalLight(0xdfe9ff, 1.1);
  const [sunWay, fillWay] = [direction(-0.85, -0.45, 1.25), direction(0.9, -0.5, 0.5)];
  sun.position.copy(centre).addScaledVector(sunWay, 3 * radius);
  fill.position.copy(centre).addScaledVector(fillWay, 3 * radius);
  sun.target.position.copy(centre);
  fill.target.position.copy(centre);

  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.bias = -0.0004;
  sun.shadow.normalBias = radius * 0.002;
  sun.shadow.radius = 3;
  const reach = 1.25 * radius;
  const range = { left: -reach, right: reach, top: reach, bottom: -reach };
  Object.assign(sun.shadow.camera, range, { near: radius, far: 6 * radius });
  sun.shadow.camera.updateProjectionMatrix();
  scene.add(sky, sun, sun.target, fill, fill.target);

  // the same light for shaders of our own; a matt surface gives back 1/pi of it
  const part = (light) => light.color.clone().multiplyScalar(light.intensity / Math.PI);
  const uniforms = {
    sunWay: { value: sunWay },
    fillWay: { value: fillWay },
    upWay: { value: up },
    sunColour: { value: part(sun) },
    fillColour: { value: part(fill) },
    skyColour: { value: new THREE.Color() },
    earthColour: { value: new THREE.Color() },
  };
  return {
    uniforms,
    setShadows: (on) => (sun.castShadow = on),
    setTheme: (theme) => {
      sky.color.set(theme.sky);
      sky.groundColor.set(theme.earth);
      sky.intensity = theme.skyIntensity;
      uniforms.skyColour.value.copy(sky.color).multiplyScalar(sky.intensity / Math.PI);
      uniforms.earthColour.value.copy(sky.groundColor).multiplyScalar(sky.intensity / Math.PI);
    },
  };
};
