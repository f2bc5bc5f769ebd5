// SPDX-License-Identifier: Apache-2.0
// What bodies can be coloured by: a figure with a unit, or a class. Only what a run can tell is offered.
import { createLoads } from "./contacts.js";
import { groupIndex } from "./groups.js";

// How large each body is: the ball about its origin that holds its shapes (half-spaces aside), m.
const sizes = (data) => {
  const result = new Float32Array(data.bodyCount);
  for (const s of data.shapes) {
    if (s.kind === 2) continue;
    const own = s.kind === 0 ? s.size[0] : Math.hypot(...s.half);
    result[s.body] = Math.max(result[s.body], Math.hypot(...s.position) + own);
  }
  return result;
};

// The figure that all but the largest few stay below, over some moments of the run.
const typical = (data, poses, value) => {
  const looks = Math.min(10, data.frameCount);
  const stride = Math.max(1, Math.floor(data.bodyCount / 3000));
  let top = 0;
  for (let n = 0; n < looks; n++) {
    const frame = looks > 1 ? Math.floor((n * (data.frameCount - 1)) / (looks - 1)) : 0;
    const next = Math.min(frame + 1, data.frameCount - 1);
    poses.update({ frame, next, share: 0 });
    const found = [];
    for (let i = 0; i < data.bodyCount; i += stride) if (data.moves(i)) found.push(value(i));
    found.sort((a, b) => a - b);
    if (found.length) top = Math.max(top, found[Math.floor(0.98 * (found.length - 1))]);
  }
  return top > 0 ? top : 1;
};

export const colourModes = (data, poses) => {
  const modes = [{ name: "body", title: "bodies" }];
  const figure = (name, title, unit, value, moving) => {
    let top = null;
    modes.push({
      name,
      title,
      unit,
      value,
      moving,
      low: 0,
      top: () => (top ??= typical(data, poses, value)),
    });
  };
  const classes = (name, title, names, of) => modes.push({ name, title, classes: names, of });

  if (data.groups.length > 1) {
    const index = groupIndex(data);
    classes("group", "groups of names", data.groups.map((g) => g.name), (s) => index[s.body]);
  }
  if (data.meta.materials.length > 0)
    classes("material", "material", data.meta.materials, (s) => s.material);
  if (data.frameCount > 1) {
    const twist = new Float64Array(6);
    const speed = (i) => {
      if (!data.twist) return poses.speed(i);
      poses.twist(i, twist);
      return Math.sqrt(twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2]);
    };
    figure("speed", "speed", "m/s", speed, true);
    figure("energy", "kinetic energy", "J", poses.energy, true);
  }
  if (data.contacts.recorded) {
    const loads = createLoads(data);
    figure("force", "contact force", "N", (i) => loads(poses.frame())[i], true);
  }
  const size = sizes(data);
  const own = Array.from(size).filter((r, i) => r > 0 && data.kinds[i] === 0);
  const least = own.reduce((a, b) => Math.min(a, b), Infinity);
  const largest = own.reduce((a, b) => Math.max(a, b), 0);
  if (largest > least * 1.001) {
    figure("size", "size", "m", (i) => size[i], false);
    Object.assign(modes.at(-1), { low: least, top: () => largest });
  }
  return modes;
};
