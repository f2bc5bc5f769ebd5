// SPDX-License-Identifier: Apache-2.0
// The stage of one run: camera, light, and what is on it. Draws only when something has changed. Without a graphics
// card what moves is drawn in a fast way, and once more in full when it has come to rest.
import * as THREE from "three";
import { createBodies } from "./bodies.js";
import { sceneBounds } from "./bounds.js";
import { createCamera } from "./camera.js";
import { SCENES } from "./colours.js";
import { createForces } from "./draw/forces.js";
import { createJoints } from "./draw/joints.js";
import { createRuler } from "./draw/ruler.js";
import { createTrails } from "./draw/trails.js";
import { createGlass } from "./glass.js";
import { createLights } from "./lights.js";
import { createWalls } from "./walls.js";

const REST = 200; // ms without a change: the picture rests
const SHARP = 2500; // bodies up to which the processor draws a resting picture with four samples a pixel

// Up is the axis most opposed to gravity.
const upAxis = (gravity) => {
  const sizes = gravity.map(Math.abs);
  const k = sizes[2] >= Math.max(sizes[0], sizes[1]) ? 2 : sizes[1] > sizes[0] ? 1 : 0;
  const up = [0, 0, 0];
  up[k] = gravity[k] > 0 ? -1 : 1;
  return new THREE.Vector3(...up);
};

// Does the processor draw instead of a graphics card?
const drawsInSoftware = () => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const told = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = told ? gl.getParameter(told.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
};

// A plane across the scene along an axis (0 .. 2), or none; kept is what is beyond `share` of the way.
const createSection = (bounds, bodies, uniform, world) => {
  const plane = new THREE.Plane();
  const inView = new THREE.Plane();
  const state = { axis: -1, share: 0.5, flip: false };
  return {
    state,
    set: (change) => {
      const before = state.axis;
      Object.assign(state, change);
      const { axis, share, flip } = state;
      const low = bounds.min.getComponent(Math.max(axis, 0));
      const high = bounds.max.getComponent(Math.max(axis, 0));
      plane.normal.set(0, 0, 0);
      if (axis >= 0) plane.normal.setComponent(axis, flip ? -1 : 1);
      plane.constant = -(low + share * (high - low)) * (flip ? -1 : 1);
      if (before < 0 !== axis < 0) bodies.setSection(axis < 0 ? null : plane);
      return axis < 0 ? null : low + share * (high - low);
    },
    look: (camera) => {
      world.value.set(plane.normal.x, plane.normal.y, plane.normal.z, state.axis < 0 ? 0 : plane.constant);
      if (state.axis < 0) return uniform.value.set(0, 0, 0, 0);
      inView.copy(plane).applyMatrix4(camera.matrixWorldInverse);
      return uniform.value.set(inView.normal.x, inView.normal.y, inView.normal.z, inView.constant);
    },
    keeps: (point) => state.axis < 0 || plane.distanceToPoint(point) >= 0,
  };
};

export const createView = (canvas, data, look) => {
  const software = drawsInSoftware();
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: !software });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFShadowMap;
  renderer.toneMapping = THREE.NeutralToneMapping;
  renderer.localClippingEnabled = true;
  const scene = new THREE.Scene();
  scene.background = new THREE.Color();
  let dirty = true;
  let changed = 0; // when something last did, ms
  let looked = false; // walls know where the camera is
  const redraw = () => {
    dirty = true;
    changed = performance.now();
  };

  const up = upAxis(data.meta.gravity);
  const bounds = sceneBounds(data);
  const centre = bounds.getCenter(new THREE.Vector3());
  const lights = createLights(scene, centre, bounds.getSize(new THREE.Vector3()).length() / 2, up);
  const eye = createCamera(canvas, bounds, up, () => {
    looked = false;
    redraw();
  });
  const place = new THREE.Vector3();
  const stage = {
    section: { value: new THREE.Vector4() }, // in camera axes
    sectionInWorld: { value: new THREE.Vector4() },
    lightUniforms: lights.uniforms,
    keeps: ({ body }, { p }) => section.keeps(place.fromArray(p, 3 * body)),
  };
  const bodies = createBodies(data, look, scene, stage);
  const section = createSection(bounds, bodies, stage.section, stage.sectionInWorld);
  let moment = { frame: 0, next: Math.min(1, data.frameCount - 1), share: 0 };
  bodies.place(moment, true);
  bodies.paint();
  const walls = createWalls(data, bodies, look, scene, bounds, up);
  walls.place();
  const glass = createGlass(data, bodies, bounds);
  const joints = createJoints(data, bodies, look, scene, bounds);
  const forces = createForces(data, bodies, look, scene, bounds, section.keeps);
  const trails = createTrails(data, bodies, look, scene);
  const ruler = createRuler(bodies, scene);
  const marks = [joints, forces, trails, ruler];
  look.listen(() => {
    marks.forEach((m) => m.place());
    redraw();
  });

  let fixedSize = null; // {width, height} in pixels, for films
  let fast = false;
  let sharpAllowed = true;
  // Samples along a pixel's side: without a graphics card only what rests is smoothed.
  const setSamples = (forced) => {
    const sharp = software && sharpAllowed && !fast && (forced || data.bodyCount <= SHARP);
    const ratio = sharp ? 2 : software || fixedSize ? 1 : Math.min(window.devicePixelRatio, 2);
    if (renderer.getPixelRatio() === ratio) return;
    renderer.setPixelRatio(ratio);
    dirty = true;
  };
  const resize = () => {
    const { clientWidth, clientHeight } = canvas.parentElement;
    const width = fixedSize?.width ?? clientWidth;
    const height = fixedSize?.height ?? clientHeight;
    if (!width || !height) return;
    setSamples(false);
    renderer.setSize(width, height, false);
    if (fixedSize) Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    marks.forEach((m) => m.setSize?.(width, height));
    eye.resize(width, height);
    redraw();
  };
  new ResizeObserver(resize).observe(canvas.parentElement);
  resize();

  // ---- drawing ----
  const sizeOfPicture = new THREE.Vector2();
  const setFast = (on) => {
    const distance = eye.camera.position.distanceTo(eye.target);
    const tan = Math.tan((eye.camera.fov * Math.PI) / 360);
    bodies.setFast(on, renderer.getSize(sizeOfPicture).y / 2 / (tan * distance));
    if (on === fast) return;
    fast = on;
    lights.setShadows(!on);
    dirty = true;
  };

  const render = () => {
    dirty = false;
    eye.camera.updateMatrixWorld();
    section.look(eye.camera);
    renderer.render(scene, eye.camera);
  };
  const lookAround = () => {
    looked = true;
    if (!glass.look(eye.camera.position)) return;
    bodies.paint();
    dirty = true;
  };

  const raycaster = new THREE.Raycaster();
  const nearer = (a, b) => (b.distance < a.distance ? b : a);
  return {
    data,
    look,
    bodies,
    eye,
    section,
    forces,
    trails,
    ruler,
    joints,
    redraw,
    software,
    walls: glass.walls,
    gridSpacing: walls.spacing,
    radius: bounds.getSize(new THREE.Vector3()).length() / 2,
    place: (next) => {
      moment = next;
      bodies.place(moment);
      walls.place();
      marks.forEach((m) => m.place());
      redraw();
    },
    setMode: (name, top) => {
      const mode = bodies.setMode(name, top);
      bodies.place(moment);
      bodies.paint();
      redraw();
      return mode;
    },
    select: (body) => {
      bodies.select(body);
      marks.forEach((m) => m.place());
      redraw();
    },
    setGlass: (on) => {
      glass.setOn?.(on);
      looked = false;
      redraw();
    },
    setTheme: (name) => {
      const theme = SCENES[name];
      scene.background.set(theme.back);
      lights.setTheme(theme);
      walls.setTheme(theme);
      bodies.setFixedColour(theme.fixed);
      marks.forEach((m) => m.setTheme(theme));
      redraw();
    },
    setSize: (width, height) => {
      fixedSize = width > 0 && height > 0 ? { width, height } : null;
      resize();
    },
    // what is under a point of the canvas: {body, point}, body -1 without one
    pick: (x, y) => {
      const { width, height } = canvas.getBoundingClientRect();
      const point = new THREE.Vector2((2 * x) / width - 1, 1 - (2 * y) / height);
      raycaster.setFromCamera(point, eye.camera);
      const solid = nearer(bodies.pick(raycaster, true), walls.pick(raycaster));
      const moves = solid.shape && !solid.shape.still;
      const hit = moves ? solid : nearer(solid, bodies.pick(raycaster, false));
      if (!hit.shape) return { body: -1, point: null };
      return { body: hit.shape.body, point: raycaster.ray.at(hit.distance, new THREE.Vector3()) };
    },
    // where a place of the world is on the canvas, in pixels
    project: (point, out) => {
      const { width, height } = canvas.getBoundingClientRect();
      place.copy(point).project(eye.camera);
      out[0] = ((place.x + 1) / 2) * width;
      out[1] = ((1 - place.y) / 2) * height;
      return out;
    },
    // at once and in full
    drawNow: () => {
      setFast(false);
      setSamples(true);
      lookAround();
      render();
    },
    get stale() {
      return dirty;
    },
    // smoothing without a graphics card takes its time
    setSharp: (on) => {
      sharpAllowed = on;
      redraw();
    },
    // nothing is left to be drawn
    get resting() {
      return !dirty && looked && !fast;
    },
    // true if there was something to draw
    draw: () => {
      eye.update();
      const rests = performance.now() - changed > REST;
      if (!looked && (rests || !changed)) lookAround();
      if (software) setFast(!rests);
      setSamples(false);
      if (!dirty) return false;
      render();
      return true;
    },
  };
};
