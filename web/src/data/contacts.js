// SPDX-License-Identifier: Apache-2.0
// Contacts of the frames, where they were recorded: 8 numbers each, the bodies as whole numbers. A block of frames
// is decoded when it is first asked for.
//
// A frame's contacts: {count, bodies, numbers, first}; contact i has bodies[8 (first + i)] and the next, then
// numbers[8 (first + i) + 2 ..]: point (3) and force on the second body (3).
export const STRIDE = 8;

const NONE = { count: 0, first: 0, bodies: new Uint32Array(0), numbers: new Float32Array(0) };

export const createContacts = (blocks, packing) => {
  const recorded = packing.contactsKept > 0;
  if (!recorded) return { recorded, at: () => NONE, largest: 0, mean: 0 };
  const ends = blocks.float64("contact-ends");
  const chunks = new Array(packing.contactChunks);
  const chunkOf = (index) => {
    if (!chunks[index]) {
      const bodies = blocks.uint32(`contacts-${index}`);
      chunks[index] = { bodies, numbers: new Float32Array(bodies.buffer) };
    }
    return chunks[index];
  };
  const per = packing.contactFramesPerChunk;
  const at = (frame) => {
    const chunk = Math.floor(frame / per);
    const start = chunk > 0 ? ends[chunk * per - 1] : 0;
    const from = frame > 0 ? ends[frame - 1] : 0;
    return { count: ends[frame] - from, first: from - start, ...chunkOf(chunk) };
  };

  // A force that all but the largest few stay below, N, from some frames.
  const typical = () => {
    const sizes = [];
    for (let n = 0; n < 24; n++) {
      const { count, first, numbers } = at(Math.round((n * (ends.length - 1)) / 23));
      const stride = Math.max(1, Math.floor(count / 400));
      for (let i = 0; i < count; i += stride) {
        const k = STRIDE * (first + i);
        sizes.push(Math.hypot(numbers[k + 5], numbers[k + 6], numbers[k + 7]));
      }
    }
    sizes.sort((a, b) => a - b);
    return sizes.length ? sizes[Math.floor(0.97 * (sizes.length - 1))] : 0;
  };
  return { recorded, at, largest: typical(), mean: ends[ends.length - 1] / ends.length };
};

// The sum of the sizes of the contact forces on each body, N.
export const createLoads = (data) => {
  const loads = new Float32Array(data.bodyCount);
  let frameOfLoads = -1;
  return (frame) => {
    if (frame === frameOfLoads) return loads;
    frameOfLoads = frame;
    loads.fill(0);
    const { count, first, bodies, numbers } = data.contacts.at(frame);
    for (let i = 0; i < count; i++) {
      const k = STRIDE * (first + i);
      const size = Math.hypot(numbers[k + 5], numbers[k + 6], numbers[k + 7]);
      loads[bodies[k]] += size;
      loads[bodies[k + 1]] += size;
    }
    return loads;
  };
};
