// SPDX-License-Identifier: Apache-2.0
// Colours of bodies, of plots and of figures, for both themes.
import * as THREE from "three";

const BODIES = ["#dd8a6c", "#ecc48a", "#7fae9b", "#6690bd", "#a98cb0", "#cf6f58", "#a3c6d4"];
const KINEMATIC = "#cfa65a";
export const CLASSES = ["#6690bd", "#dd8a6c", "#7fae9b", "#ecc48a", "#a98cb0", "#a3c6d4", "#c9788f", "#8fa65b", "#8d99ae", "#d0a95f"];

export const LINES = ["#4f8fd0", "#e0764f", "#5aa586", "#b07cc0", "#d9a63a", "#58b4c4", "#c75d7a", "#8a97a8", "#9b7f52", "#7fae3f"];

export const SCENES = {
  dark: {
    back: "#161b23",
    plane: "#4c525b",
    grid: "#747d88",
    fixed: "#8a94a3",
    joint: "#ffd166",
    drive: "#ff7a59",
    contact: "#ff5d73",
    ruler: "#ffffff",
    sky: "#e8eeff",
    earth: "#5d5348",
    skyIntensity: 1.5,
  },
  light: {
    back: "#f3f4f2",
    plane: "#e3e4e0",
    grid: "#b3b6b2",
    fixed: "#a9adb1",
    joint: "#8a5a00",
    drive: "#c2371b",
    contact: "#c2183c",
    ruler: "#101418",
    sky: "#ffffff",
    earth: "#b9ada0",
    skyIntensity: 1.9,
  },
};

// Spread neighbours over the palette without a visible period.
const scatter = (index) => {
  let x = (index + 1) * 0x9e3779b1;
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  return (x ^ (x >>> 13)) >>> 0;
};

export const bodyColour = (index, kinematic) => {
  if (kinematic) return new THREE.Color(KINEMATIC);
  const mixed = scatter(index);
  const colour = new THREE.Color(BODIES[mixed % BODIES.length]);
  return colour.offsetHSL(0, 0, (((mixed >>> 8) % 100) / 100 - 0.5) * 0.06);
};

export const classColour = (index) =>
  new THREE.Color(index < 0 ? "#8d99ae" : CLASSES[index % CLASSES.length]);

// Dark blue through green to yellow, even in lightness; share 0 .. 1.
const RAMP = ["#5a69c6", "#3f8fc4", "#3fae9d", "#9cc46b", "#efcb6e", "#f7efc4"].map(
  (c) => new THREE.Color(c),
);
export const rampColour = (share, target) => {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return target.copy(RAMP[low]).lerp(RAMP[low + 1], at - low);
};
export const rampGradient = () =>
  `linear-gradient(90deg, ${RAMP.map((c) => `#${c.getHexString()}`).join(", ")})`;
