// SPDX-License-Identifier: Apache-2.0
// The camera and what moves it: mouse, keys, scripts, a window that changes its size, and the camera of another view.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { directions } from "./lights.js";

// The nearest distance from the middle, backward, from which all corners of a box are in sight.
const fitDistance = (bounds, centre, back, up, camera) => {
  const right = new THREE.Vector3().crossVectors(up, back).normalize();
  const above = new THREE.Vector3().crossVectors(back, right);
  const tan = Math.tan((camera.fov * Math.PI) / 360);
  let distance = 0;
  for (const x of [bounds.min.x, bounds.max.x])
    for (const y of [bounds.min.y, bounds.max.y])
      for (const z of [bounds.min.z, bounds.max.z]) {
        const corner = new THREE.Vector3(x, y, z).sub(centre);
        const across = Math.abs(corner.dot(right)) / (tan * camera.aspect);
        const upward = Math.abs(corner.dot(above)) / tan;
        distance = Math.max(distance, corner.dot(back) + Math.max(across, upward));
      }
  return distance;
};

export const createCamera = (canvas, bounds, up, change) => {
  const centre = bounds.getCenter(new THREE.Vector3());
  const radius = bounds.getSize(new THREE.Vector3()).length() / 2;
  const camera = new THREE.PerspectiveCamera(32, 1, radius / 200, radius * 60);
  camera.up.copy(up);
  const controls = new OrbitControls(camera, canvas);
  controls.enableDamping = true;
  controls.dampingFactor = 0.12;
  controls.minDistance = radius / 50;
  controls.maxDistance = radius * 25;
  controls.zoomToCursor = true;
  let touched = false; // moved by hand: a new size must not turn it
  let needed = 0; // distance from which everything is seen
  let quiet = false; // another view's camera is being copied
  let link = () => {};
  const tell = () => {
    change();
    if (!quiet) link();
  };
  controls.addEventListener("change", tell);
  controls.addEventListener("start", () => (touched = true));
  const direction = directions(up);
  const usual = direction(0.62, -1, 0.5);
  const far = () => {
    const back = new THREE.Vector3().subVectors(camera.position, controls.target);
    if (back.lengthSq() === 0) back.copy(usual);
    back.normalize();
    return Math.abs(back.dot(up)) > 0.999 ? 2 * radius : fitDistance(bounds, centre, back, up, camera);
  };
  const settle = () => {
    controls.update();
    needed = far();
    tell();
  };
  const look = (back, distance) => {
    camera.position.copy(centre).addScaledVector(back, distance * 1.08);
    controls.target.copy(centre);
    settle();
  };
  const fit = () => {
    look(usual, fitDistance(bounds, centre, usual, up, camera));
    touched = false;
  };
  const move = (transform) => {
    const offset = transform(camera.position.clone().sub(controls.target));
    camera.position.copy(controls.target).add(offset);
    touched = true;
    tell();
  };
  // For scripts: {from, to} places in the world; or {azimuth, elevation} in degrees around the scene, zoom 1: all of
  // it; fov in degrees.
  const set = ({ from, to, fov, azimuth, elevation, zoom }) => {
    if (fov > 0) camera.fov = fov;
    camera.updateProjectionMatrix();
    touched = true;
    if (from || to) {
      if (to) controls.target.set(...to);
      if (from) camera.position.set(...from);
      settle();
      return;
    }
    const a = ((azimuth ?? -58.2) * Math.PI) / 180;
    const e = (Math.min(Math.max(elevation ?? 23, -89), 89) * Math.PI) / 180;
    const back = direction(Math.cos(a) * Math.cos(e), Math.sin(a) * Math.cos(e), Math.sin(e));
    look(back, fitDistance(bounds, centre, back, up, camera) / (zoom > 0 ? zoom : 1));
  };
  return {
    camera,
    target: controls.target,
    update: () => controls.update(),
    fit,
    set,
    // a window of another shape: what was in sight stays so
    resize: (width, height) => {
      camera.aspect = width / height;
      camera.updateProjectionMatrix();
      if (!touched) return fit();
      const before = needed;
      needed = far();
      if (before > 0 && needed > 0) {
        const offset = camera.position.clone().sub(controls.target).multiplyScalar(needed / before);
        camera.position.copy(controls.target).add(offset);
      }
      tell();
    },
    zoom: (factor) => move((offset) => offset.multiplyScalar(factor)),
    orbit: (around, over) =>
      move((offset) => {
        const right = new THREE.Vector3().crossVectors(up, offset).normalize();
        const tilted = offset.clone().applyAxisAngle(right, over);
        const steep = Math.abs(tilted.clone().normalize().dot(up)) > 0.98;
        return (steep ? offset : tilted).applyAxisAngle(up, around);
      }),
    onMove: (f) => (link = f),
    copy: (other) => {
      quiet = true;
      camera.position.copy(other.camera.position);
      controls.target.copy(other.target);
      controls.update();
      quiet = false;
      touched = true;
    },
  };
};
