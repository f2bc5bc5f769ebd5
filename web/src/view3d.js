// SPDX-License-Identifier: Apache-2.0
// The stage: camera, light, and what is on it. Draws only when something has changed.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { createBodies } from "./bodies.js";
import { sceneBounds } from "./bounds.js";
import { SCENES } from "./colours.js";
import { createFixtures } from "./fixtures.js";
import { createJoints } from "./joints.js";
import { createLights, directions } from "./lights.js";

// Up is the axis most opposed to gravity.
const upAxis = (gravity) => {
  const sizes = gravity.map(Math.abs);
  const k = sizes[2] >= Math.max(sizes[0], sizes[1]) ? 2 : sizes[1] > sizes[0] ? 1 : 0;
  const up = [0, 0, 0];
  up[k] = gravity[k] > 0 ? -1 : 1;
  return new THREE.Vector3(...up);
};

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

// Camera and what moves it: mouse, and the calls below.
const createCamera = (canvas, bounds, up, change) => {
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
  let touched = false; // moved by hand: resizing must not move it again
  controls.addEventListener("change", change);
  controls.addEventListener("start", () => (touched = true));

  const fit = () => {
    const back = directions(up)(0.62, -1, 0.5);
    const distance = fitDistance(bounds, centre, back, up, camera);
    camera.position.copy(centre).addScaledVector(back, distance * 1.08);
    controls.target.copy(centre);
    controls.update();
    touched = false;
    change();
  };
  const move = (transform) => {
    const offset = transform(camera.position.clone().sub(controls.target));
    camera.position.copy(controls.target).add(offset);
    touched = true;
    change();
  };
  return {
    camera,
    update: () => controls.update(),
    fit,
    resize: (width, height) => {
      camera.aspect = width / height;
      camera.updateProjectionMatrix();
      if (!touched) fit();
    },
    zoom: (factor) => move((offset) => offset.multiplyScalar(factor)),
    orbit: (around, over) =>
      move((offset) => {
        const right = new THREE.Vector3().crossVectors(up, offset).normalize();
        const tilted = offset.clone().applyAxisAngle(right, over);
        const steep = Math.abs(tilted.clone().normalize().dot(up)) > 0.98;
        return (steep ? offset : tilted).applyAxisAngle(up, around);
      }),
  };
};

export const createView = (canvas, data) => {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFShadowMap;
  renderer.toneMapping = THREE.NeutralToneMapping;
  const scene = new THREE.Scene();
  scene.background = new THREE.Color();
  let dirty = true;
  const redraw = () => (dirty = true);

  const up = upAxis(data.meta.gravity);
  const bounds = sceneBounds(data);
  const centre = bounds.getCenter(new THREE.Vector3());
  const lights = createLights(scene, centre, bounds.getSize(new THREE.Vector3()).length() / 2, up);
  const eye = createCamera(canvas, bounds, up, redraw);
  const bodies = createBodies(data, scene);
  bodies.place({ frame: 0, next: Math.min(1, data.frameCount - 1), share: 0 });
  bodies.paint();
  const fixtures = createFixtures(data, bodies, scene, bounds, up);
  fixtures.place();
  const joints = createJoints(data, bodies, scene, bounds);

  const resize = () => {
    const { clientWidth: width, clientHeight: height } = canvas.parentElement;
    if (!width || !height) return;
    renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    renderer.setSize(width, height, false);
    eye.resize(width, height);
    redraw();
  };
  new ResizeObserver(resize).observe(canvas.parentElement);
  resize();

  const raycaster = new THREE.Raycaster();
  return {
    bodies,
    redraw,
    gridSpacing: fixtures.spacing,
    fit: eye.fit,
    orbit: eye.orbit,
    zoom: eye.zoom,
    place: (moment) => {
      bodies.place(moment);
      fixtures.place();
      joints.place();
      redraw();
    },
    setTheme: (name) => {
      scene.background.set(SCENES[name].back);
      lights.setTheme(SCENES[name]);
      fixtures.setTheme(SCENES[name]);
      joints.setTheme(SCENES[name]);
      redraw();
    },
    // body under a point of the canvas, -1 without one
    pick: (x, y) => {
      const { width, height } = canvas.getBoundingClientRect();
      const point = new THREE.Vector2((2 * x) / width - 1, 1 - (2 * y) / height);
      raycaster.setFromCamera(point, eye.camera);
      return bodies.pick(raycaster);
    },
    // true if there was something to draw
    draw: () => {
      eye.update();
      if (!dirty) return false;
      dirty = false;
      fixtures.look(eye.camera);
      renderer.render(scene, eye.camera);
      return true;
    },
  };
};
