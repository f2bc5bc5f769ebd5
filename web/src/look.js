// SPDX-License-Identifier: Apache-2.0
// How bodies look: hidden, alone, in a colour of their own, or of glass. Whoever draws asks here.
import * as THREE from "three";

const VEIL = 0.22;

export const createLook = (data) => {
  const n = data.bodyCount;
  const hidden = new Uint8Array(n);
  const alone = new Uint8Array(n);
  let isolated = false;
  let veiled = false; // what moves is glass, so that what is inside is seen
  const opacity = new Float32Array(n).fill(1);
  const colours = new Array(n).fill(null);
  const listeners = [];
  const tell = () => listeners.forEach((f) => f());
  (data.meta.colors ?? []).forEach(([r, g, b, o], i) => {
    if (r !== null) colours[i] = new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);
    if (o !== null) opacity[i] = o;
  });
  const told = colours.slice();
  const visible = (body) => !hidden[body] && (!isolated || alone[body] === 1);
  return {
    listen: (f) => listeners.push(f),
    visible,
    opacity: (body) => {
      if (!visible(body)) return 0;
      return veiled && data.kinds[body] === 0 ? Math.min(opacity[body], VEIL) : opacity[body];
    },
    veil: (yes) => {
      if (veiled === yes) return;
      veiled = yes;
      tell();
    },
    colour: (body) => colours[body],
    get changed() {
      return isolated || hidden.includes(1);
    },
    hide: (bodies, yes = true) => {
      for (const i of bodies) hidden[i] = yes ? 1 : 0;
      tell();
    },
    // these alone; null: all again
    isolate: (bodies) => {
      isolated = bodies !== null;
      alone.fill(0);
      for (const i of bodies ?? []) {
        alone[i] = 1;
        hidden[i] = 0;
      }
      tell();
    },
    showAll: () => {
      hidden.fill(0);
      isolated = false;
      tell();
    },
    // null: as the scene has it
    setColour: (bodies, colour) => {
      for (const i of bodies) colours[i] = colour ? new THREE.Color(colour) : told[i];
      tell();
    },
    setOpacity: (bodies, value) => {
      for (const i of bodies) opacity[i] = value;
      tell();
    },
  };
};
