// SPDX-License-Identifier: Apache-2.0
// Contacts as recorded: points, arrows of force, and chains, which are lines from centre to centre of bodies that
// press on each other, the wider the more. Of a body that was picked only its own.
import * as THREE from "three";
import { rampColour } from "../colours.js";
import { STRIDE } from "../data/contacts.js";
import { niceBelow } from "../planes.js";

const MOST = 40000; // contacts of a frame that are drawn

// An arrow along z of length 1: shaft and head; lit by nothing, so it is seen in all colours.
const arrowGeometry = () => {
  const points = [
    [0, 0],
    [0.022, 0],
    [0.022, 0.72],
    [0.07, 0.72],
    [0, 1],
  ].map(([r, z]) => new THREE.Vector2(r, z));
  return new THREE.LatheGeometry(points, 7).rotateX(Math.PI / 2);
};
const pointGeometry = () => new THREE.OctahedronGeometry(1, 1);
const barGeometry = () => new THREE.CylinderGeometry(1, 1, 1, 6, 1, true).rotateX(Math.PI / 2);

const createMarks = (scene, geometry, coloured, lit) => {
  const options = { depthTest: false, transparent: true };
  const material = lit ? new THREE.MeshLambertMaterial(options) : new THREE.MeshBasicMaterial(options);
  let mesh = null;
  let room = 0;
  // more room, in good measure
  const grow = (count) => {
    if (mesh) {
      scene.remove(mesh);
      mesh.dispose();
    }
    room = Math.max(64, Math.ceil(count * 1.5));
    mesh = new THREE.InstancedMesh(geometry, material, room);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    if (coloured) mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * room), 3);
    mesh.frustumCulled = false;
    mesh.renderOrder = 6; // over everything: contacts are inside
    scene.add(mesh);
  };
  let used = 0;
  return {
    material,
    begin: (count) => {
      if (count > room) grow(count);
      used = 0;
    },
    add: (matrix, colour) => {
      matrix.toArray(mesh.instanceMatrix.array, 16 * used);
      colour?.toArray(mesh.instanceColor.array, 3 * used);
      used++;
    },
    end: () => {
      if (!mesh) return;
      mesh.count = used;
      mesh.visible = used > 0;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    },
    get count() {
      return used;
    },
  };
};

// `keeps`: is a place on the side of the section that is drawn?
export const createForces = (data, bodies, look, scene, bounds, keeps) => {
  const radius = bounds.getSize(new THREE.Vector3()).length() / 2;
  const unit = niceBelow(radius / 5); // m, length of the arrow in the legend
  let largest = data.contacts.largest || 1; // N
  let perUnit = niceBelow(largest); // N
  const shown = { points: false, arrows: false, chains: false };
  if (!data.contacts.recorded)
    return { recorded: false, shown, place: () => {}, show: () => {}, setTheme: () => {}, counts: () => ({}) };

  const points = createMarks(scene, pointGeometry(), false, false);
  const arrows = createMarks(scene, arrowGeometry(), false, false);
  const chains = createMarks(scene, barGeometry(), true, true);
  const [at, force, other] = [0, 1, 2].map(() => new THREE.Vector3());
  const matrix = new THREE.Matrix4();
  const turn = new THREE.Quaternion();
  const scale = new THREE.Vector3();
  const z = new THREE.Vector3(0, 0, 1);
  const colour = new THREE.Color();

  const addArrow = (size) => {
    turn.setFromUnitVectors(z, force.divideScalar(size));
    const length = (size / perUnit) * unit;
    const thick = Math.min(length, 1.6 * unit);
    arrows.add(matrix.compose(at, turn, scale.set(thick, thick, length)));
  };
  // From one centre to the other, or to the contact where one does not move.
  const addChain = (a, b, size) => {
    const { p } = bodies.poses;
    force.fromArray(p, 3 * a);
    other.fromArray(p, 3 * b);
    if (data.kinds[a] !== 0) force.copy(at);
    if (data.kinds[b] !== 0) other.copy(at);
    const middle = at.addVectors(force, other).multiplyScalar(0.5);
    other.sub(force);
    const length = other.length();
    if (length === 0) return;
    turn.setFromUnitVectors(z, other.divideScalar(length));
    const share = size / largest;
    const width = radius * (0.0006 + 0.009 * Math.min(share, 1.5));
    chains.add(matrix.compose(middle, turn, scale.set(width, width, length)), rampColour(share, colour));
  };
  const place = () => {
    const any = shown.points || shown.arrows || shown.chains;
    const { count, first, bodies: pairs, numbers } = data.contacts.at(any ? bodies.frame() : 0);
    const list = any ? Math.min(count, MOST) : 0;
    points.begin(shown.points ? list : 0);
    arrows.begin(shown.arrows ? list : 0);
    chains.begin(shown.chains ? list : 0);
    const picked = bodies.selected;
    for (let i = 0; i < list; i++) {
      const k = STRIDE * (first + i);
      const a = pairs[k];
      const b = pairs[k + 1];
      if (picked >= 0 && a !== picked && b !== picked) continue;
      if (!look.visible(a) || !look.visible(b)) continue;
      if (!keeps(at.fromArray(numbers, k + 2))) continue;
      const size = Math.hypot(numbers[k + 5], numbers[k + 6], numbers[k + 7]);
      // on the body that was picked, or on the one that moves
      const onA = picked >= 0 ? a === picked : data.kinds[b] !== 0;
      if (shown.points)
        points.add(matrix.makeScale(1, 1, 1).scale(scale.setScalar(radius * 0.0055)).setPosition(at));
      if (shown.arrows && size > 0) {
        force.fromArray(numbers, k + 5).multiplyScalar(onA ? -1 : 1);
        addArrow(size);
      }
      if (shown.chains && size > 0) addChain(a, b, size);
    }
    points.end();
    arrows.end();
    chains.end();
  };
  return {
    recorded: true,
    shown,
    unit,
    get perUnit() {
      return perUnit;
    },
    // two runs have one scale
    get largest() {
      return largest;
    },
    setLargest: (value) => {
      largest = value;
      perUnit = niceBelow(value);
      place();
    },
    place,
    show: (what, yes) => {
      shown[what] = yes;
      if (what === "chains") look.veil(yes);
      place();
    },
    counts: () => ({ points: points.count, arrows: arrows.count, chains: chains.count }),
    setTheme: (theme) => {
      points.material.color.set(theme.contact);
      arrows.material.color.set(theme.contact);
    },
  };
};
