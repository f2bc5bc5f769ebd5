// SPDX-License-Identifier: Apache-2.0
// The way that bodies came, fading with age: of the one that was picked, or of all where there are few.
import * as THREE from "three";
import { KIND } from "../data/data.js";
import { createLines } from "./lines.js";

const FEW = 40; // bodies that move: all of them get a trail
const POINTS = 400; // of a trail at most

export const createTrails = (data, bodies, look, scene) => {
  const moving = [];
  for (let i = 0; i < data.bodyCount; i++) if (data.kinds[i] === KIND.dynamic) moving.push(i);
  const room = Math.max(1, Math.min(moving.length, FEW)) * Math.min(POINTS, data.frameCount);
  let lines = null;
  let shown = false;
  let size = [1, 1];
  const colour = new THREE.Color();
  const back = new THREE.Color();
  const [one, two] = [new THREE.Vector3(), new THREE.Vector3()];
  const [first, second] = [new THREE.Color(), new THREE.Color()];
  const paths = new Map();
  const stride = Math.max(1, Math.ceil(data.frameCount / POINTS));
  const count = Math.ceil(data.frameCount / stride);
  // Positions of a body in every n-th frame, kept once they were asked for.
  const pathOf = (body) => {
    if (!paths.has(body)) {
      const path = new Float32Array(3 * count);
      for (let n = 0; n < count; n++) {
        const { position } = data.decode(Math.min(n * stride, data.frameCount - 1), body);
        path.set(position, 3 * n);
      }
      paths.set(body, path);
    }
    return paths.get(body);
  };
  const followed = () => {
    if (bodies.selected >= 0) return data.moves(bodies.selected) ? [bodies.selected] : [];
    return moving.length <= FEW ? moving : [];
  };
  const place = () => {
    if (!shown && !lines) return;
    lines ??= createLines(scene, room + FEW, { width: 2, coloured: true, over: false });
    lines.setSize(...size);
    lines.begin();
    const last = Math.min(Math.floor(bodies.frame() / stride), count - 1);
    for (const body of shown ? followed() : []) {
      if (!look.visible(body)) continue;
      const path = pathOf(body);
      colour.copy(bodies.colourOf(body));
      const age = (n) => Math.max(0.08, 1 - (last - n) / Math.max(last, 40));
      for (let n = 0; n < last; n++) {
        one.fromArray(path, 3 * n);
        two.fromArray(path, 3 * (n + 1));
        lines.add(one, two, first.lerpColors(back, colour, age(n)), second.lerpColors(back, colour, age(n + 1)));
      }
      one.fromArray(path, 3 * last);
      lines.add(one, two.fromArray(bodies.poses.p, 3 * body), colour);
    }
    lines.end();
  };
  return {
    place,
    // there is something to show a trail of
    get few() {
      return moving.length <= FEW;
    },
    show: (yes) => {
      shown = yes;
      place();
    },
    setSize: (w, h) => {
      size = [w, h];
      lines?.setSize(w, h);
    },
    setTheme: (theme) => {
      back.set(theme.back);
      place();
    },
  };
};
