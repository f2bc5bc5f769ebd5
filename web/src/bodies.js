// SPDX-License-Identifier: Apache-2.0
// What bodies consist of, half-spaces aside: spheres, boxes and meshes that follow them, in the colours that were
// asked for; and which of them a ray meets.
import * as THREE from "three";
import { byMesh, createBoxes, createMeshes, writeMatrix } from "./boxes.js";
import { bodyColour, classColour, rampColour } from "./colours.js";
import { KIND, SHAPE } from "./data/data.js";
import { colourModes } from "./data/modes.js";
import { createPoses } from "./data/poses.js";
import { createSpheres } from "./spheres.js";

const SELECTED = new THREE.Color("#fff2a8");
const GLASS = 0.13; // opacity of walls that would hide what moves

const prepare = (data) => {
  for (const s of data.shapes) {
    s.still = data.kinds[s.body] === KIND.fixed;
    s.free = data.kinds[s.body] === KIND.dynamic; // figures are told of these
    s.colour = s.still ? null : bodyColour(s.body, data.kinds[s.body] === KIND.kinematic);
    s.centred = s.position.every((x) => x === 0);
    s.glass = false;
  }
};

export const createBodies = (data, look, scene, stage) => {
  const poses = createPoses(data);
  const modes = colourModes(data, poses);
  const fixedColour = new THREE.Color();
  let selected = -1;
  let mode = modes[0];
  let highest = 1;
  prepare(data);

  const solids = data.shapes.filter((s) => s.kind !== SHAPE.plane);
  const spheres = solids.filter((s) => s.kind === SHAPE.sphere);
  const boxes = solids.filter((s) => s.kind === SHAPE.box);
  const groups = [];
  if (spheres.length) groups.push(createSpheres(spheres, scene, stage));
  if (boxes.length) groups.push(createBoxes(boxes, scene));
  for (const [mesh, list] of byMesh(solids)) groups.push(createMeshes(list, scene, mesh));

  const mixed = new THREE.Color();
  const palette = [];
  const plainColour = (shape) => {
    const { body } = shape;
    if (mode.classes) return (palette[mode.of(shape)] ??= classColour(mode.of(shape)));
    if (mode.value && shape.free) {
      return rampColour((mode.value(body) - mode.low) / (highest - mode.low), mixed);
    }
    return look.colour(body) ?? shape.colour ?? fixedColour;
  };
  const colourOf = (shape) => (shape.body === selected ? SELECTED : plainColour(shape));
  const firstShape = [];
  for (const s of solids) firstShape[s.body] ??= s;
  const fadeOf = (shape) => {
    const opacity = look.opacity(shape.body);
    return shape.glass && shape.body !== selected ? Math.min(opacity, GLASS) : opacity;
  };
  const paint = () => groups.forEach((g) => g.paint(colourOf, fadeOf));
  const place = (moment, all) => {
    poses.update(moment);
    for (const g of groups) if (all || !g.still) g.place(poses.now);
    if (mode.moving && !all) paint();
  };
  look.listen(paint);

  return {
    poses: poses.now,
    twist: poses.twist,
    speed: poses.speed,
    energy: poses.energy,
    frame: poses.frame,
    modes,
    solids,
    place,
    paint,
    // `top`: of the scale, where another run has a say
    setMode: (name, top) => {
      mode = modes.find((m) => m.name === name) ?? modes[0];
      palette.length = 0;
      highest = top ?? mode.top?.(); // asks other moments
      return mode;
    },
    setFixedColour: (colour) => {
      fixedColour.set(colour);
      paint();
    },
    setFast: (on, pixels) => groups.forEach((g) => g.setFast(on, pixels)),
    setSection: (plane) => groups.forEach((g) => g.setSection(plane)),
    select: (body) => {
      selected = body;
      paint();
    },
    get selected() {
      return selected;
    },
    // the nearest shape that a ray meets, {distance, shape}: what is solid, or what is glass
    pick: (raycaster, solid) => {
      const accept = (shape, fade) =>
        (solid ? fade > 0.995 : fade > 0.005 && fade <= 0.995) && stage.keeps(shape, poses.now);
      const hits = groups.map((g) => g.pick(raycaster, accept));
      return hits.reduce((a, b) => (b.distance < a.distance ? b : a), { distance: Infinity, shape: null });
    },
    colourOf: (body) => (firstShape[body] ? plainColour(firstShape[body]) : fixedColour),
    matrixOf: (shape, out) => {
      writeMatrix(out.elements, 0, shape, poses.now);
      return out;
    },
  };
};
