// SPDX-License-Identifier: Apache-2.0
// What moves: spheres, boxes and meshes that follow their bodies, in the colours of bodies or of speed.
import * as THREE from "three";
import { byMesh, createBoxes, createMeshes, writeMatrix } from "./boxes.js";
import { bodyColour, rampColour } from "./colours.js";
import { KIND, SHAPE } from "./data.js";
import { createPoses, typicalTopSpeed } from "./poses.js";
import { createSpheres } from "./spheres.js";

const SELECTED = new THREE.Color("#fff2a8");

export const createBodies = (data, scene) => {
  const poses = createPoses(data);
  const topSpeed = typicalTopSpeed(data);
  let selected = -1;
  let mode = "body";

  const moving = data.shapes.filter((s) => data.kinds[s.body] !== KIND.fixed);
  for (const s of moving) {
    s.colour = bodyColour(s.body, data.kinds[s.body] === KIND.kinematic);
    s.centred = s.position.every((x) => x === 0);
  }
  const spheres = moving.filter((s) => s.kind === SHAPE.sphere);
  const boxes = moving.filter((s) => s.kind === SHAPE.box);
  const groups = [];
  if (spheres.length) groups.push(createSpheres(spheres, scene));
  if (boxes.length) groups.push(createBoxes(boxes, scene));
  for (const [mesh, list] of byMesh(moving)) groups.push(createMeshes(list, scene, mesh));

  const mixed = new THREE.Color();
  const colourOf = ({ body, colour }) => {
    if (body === selected) return SELECTED;
    return mode === "speed" ? rampColour(poses.speed(body) / topSpeed, mixed) : colour;
  };
  const paint = () => groups.forEach((g) => g.paint(colourOf));

  return {
    poses: poses.now,
    speed: poses.speed,
    topSpeed,
    place: (moment) => {
      poses.update(moment);
      groups.forEach((g) => g.place(poses.now));
      if (mode === "speed") paint();
    },
    paint,
    setMode: (name) => {
      mode = name;
      paint();
    },
    select: (body) => {
      selected = body;
      paint();
    },
    // the nearest body that a ray meets, -1 without one
    pick: (raycaster) => {
      const hits = groups.map((g) => g.pick(raycaster)).sort((a, b) => a.distance - b.distance);
      return hits[0]?.shape?.body ?? -1;
    },
    matrixOf: (shape, out) => {
      writeMatrix(out.elements, 0, shape, poses.now);
      return out;
    },
  };
};
