// The stage: camera, light, and what is on it. Draws only when something has changed.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { createBodies } from "./bodies.js";
import { sceneBounds } from "./bounds.js";
import { SCENES } from "./colours.js";
import { createFixtures } from "./fixtures.js";

// Up is the axis most opposed to gravity.
const upAxis = (gravity) => {
  const sizes = gravity.map(Math.abs);
  const k = sizes[2] >= Math.max(sizes[0], sizes[1]) ? 2 : sizes[1] > sizes[0] ? 1 : 0;
  const up = [0, 0, 0];
  up[k] = gravity[k] > 0 ? -1 : 1;
  return new THREE.Vector3(...up);
};

export const createView = (canvas, data) => {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFShadowMap;
  renderer.toneMapping = THREE.NeutralToneMapping;
  const scene = new THREE.Scene();
  scene.background = new THREE.Color();

  const up = upAxis(data.meta.gravity);
  const bounds = sceneBounds(data);
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

  // sideways basis for light and camera
  const side = new THREE.Vector3(up.z || up.y ? 1 : 0, 0, up.x ? 1 : 0).normalize();
  const ahead = new THREE.Vector3().crossVectors(up, side);
  const direction = (s, a, u) =>
    new THREE.Vector3()
      .addScaledVector(side, s)
      .addScaledVector(ahead, a)
      .addScaledVector(up, u)
      .normalize();

  const sky = new THREE.HemisphereLight(0xffffff, 0x888888, 1.5);
  sky.position.copy(up);
  const sun = new THREE.DirectionalLight(0xfff4e6, 2.4);
  sun.position.copy(centre).addScaledVector(direction(-0.85, -0.45, 1.25), 3 * radius);
  sun.target.position.copy(centre);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.bias = -0.0004;
  sun.shadow.normalBias = radius * 0.002;
  sun.shadow.radius = 3;
  const reach = 1.25 * radius;
  Object.assign(sun.shadow.camera, {
    left: -reach,
    right: reach,
    top: reach,
    bottom: -reach,
    near: radius,
    far: 6 * radius,
  });
  sun.shadow.camera.updateProjectionMatrix();
  const fill = new THREE.DirectionalLight(0xdfe9ff, 1.1);
  fill.position.copy(centre).addScaledVector(direction(0.9, -0.5, 0.5), 3 * radius);
  fill.target.position.copy(centre);
  scene.add(sky, sun, sun.target, fill, fill.target);

  const bodies = createBodies(data, scene);
  bodies.place({ frame: 0, next: Math.min(1, data.frameCount - 1), share: 0 });
  bodies.paint();
  const fixtures = createFixtures(data, bodies, scene, bounds, up);
  fixtures.place();

  let dirty = true;
  let touched = false; // the user moved the camera: resizing must not move it again
  controls.addEventListener("change", () => (dirty = true));
  controls.addEventListener("start", () => (touched = true));

  // The nearest distance from which all corners of the scene are in sight.
  const fit = () => {
    const back = direction(0.62, -1, 0.5);
    const right = new THREE.Vector3().crossVectors(up, back).normalize();
    const above = new THREE.Vector3().crossVectors(back, right);
    const tan = Math.tan((camera.fov * Math.PI) / 360);
    let distance = 0;
    for (let i = 0; i < 8; i++) {
      const corner = new THREE.Vector3(
        i & 1 ? bounds.max.x : bounds.min.x,
        i & 2 ? bounds.max.y : bounds.min.y,
        i & 4 ? bounds.max.z : bounds.min.z,
      ).sub(centre);
      const across = Math.abs(corner.dot(right)) / (tan * camera.aspect);
      const upward = Math.abs(corner.dot(above)) / tan;
      distance = Math.max(distance, corner.dot(back) + Math.max(across, upward));
    }
    camera.position.copy(centre).addScaledVector(back, distance * 1.08);
    controls.target.copy(centre);
    controls.update();
    touched = false;
    dirty = true;
  };

  const resize = () => {
    const { clientWidth: width, clientHeight: height } = canvas.parentElement;
    if (!width || !height) return;
    renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    renderer.setSize(width, height, false);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    if (!touched) fit();
    dirty = true;
  };
  new ResizeObserver(resize).observe(canvas.parentElement);
  resize();
  fit();

  const raycaster = new THREE.Raycaster();
  const orbit = (around, over) => {
    const offset = camera.position.clone().sub(controls.target);
    const right = new THREE.Vector3().crossVectors(up, offset).normalize();
    const tilted = offset.clone().applyAxisAngle(right, over);
    const slope = tilted.clone().normalize().dot(up);
    if (Math.abs(slope) < 0.98) offset.copy(tilted);
    offset.applyAxisAngle(up, around);
    camera.position.copy(controls.target).add(offset);
    touched = dirty = true;
  };

  return {
    bodies,
    gridSpacing: fixtures.hasPlanes ? fixtures.spacing : 0,
    fit,
    orbit,
    zoom: (factor) => {
      camera.position.sub(controls.target).multiplyScalar(factor).add(controls.target);
      touched = dirty = true;
    },
    place: (moment) => {
      bodies.place(moment);
      fixtures.place();
      dirty = true;
    },
    redraw: () => (dirty = true),
    setTheme: (name) => {
      const theme = SCENES[name];
      scene.background.set(theme.back);
      sky.color.set(theme.sky);
      sky.groundColor.set(theme.earth);
      sky.intensity = name === "dark" ? 1.5 : 1.9;
      fixtures.setTheme(theme);
      dirty = true;
    },
    // body under a point of the canvas, -1 without one
    pick: (x, y) => {
      const { width, height } = canvas.getBoundingClientRect();
      raycaster.setFromCamera(new THREE.Vector2((2 * x) / width - 1, 1 - (2 * y) / height), camera);
      return bodies.pick(raycaster);
    },
    draw: () => {
      controls.update();
      if (!dirty) return false;
      dirty = false;
      fixtures.look(camera);
      renderer.render(scene, camera);
      return true;
    },
  };
};
