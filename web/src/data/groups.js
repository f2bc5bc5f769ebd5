// SPDX-License-Identifier: Apache-2.0
// Bodies by name: "grain 12", "grain_13" and "grain[14]" are one group, "grain"; those without a name by what they are.

const KINDS = ["bodies", "moved bodies", "fixed bodies"];

export const groupBodies = (data) => {
  const groups = new Map();
  for (let i = 0; i < data.bodyCount; i++) {
    const name = data.meta.names[i];
    const stem = name.replace(/(?:[\s_.:-]*[[(#]?\d+[\])]?)+$/, "").trim();
    const key = name ? stem || name : KINDS[data.kinds[i]];
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(i);
  }
  return [...groups].map(([name, bodies]) => ({ name, bodies }));
};

// The number of each body's group.
export const groupIndex = (data) => {
  const index = new Int32Array(data.bodyCount);
  data.groups.forEach((g, n) => g.bodies.forEach((i) => (index[i] = n)));
  return index;
};
