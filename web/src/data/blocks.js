// SPDX-License-Identifier: Apache-2.0
// The data blocks of one run of the page, by name. src/view/view_private.h has the layout.

export const createBlocks = (prefix) => {
  const block = (name) => document.querySelector(`script[data-cairn="${prefix}${name}"]`);

  // Bytes of a base64 block; the text is dropped, it is not needed again.
  const bytes = (name) => {
    const element = block(name);
    const text = element?.textContent ?? "";
    element?.remove();
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const data = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) data[i] = raw.charCodeAt(i);
    return data;
  };
  return {
    has: (name) => block(name) !== null,
    json: (name) => JSON.parse(block(name).textContent),
    bytes,
    uint16: (name) => new Uint16Array(bytes(name).buffer),
    uint32: (name) => new Uint32Array(bytes(name).buffer),
    float32: (name) => new Float32Array(bytes(name).buffer),
    float64: (name) => new Float64Array(bytes(name).buffer),
  };
};

// Numbers of half precision, by their 16 bits.
let halves = null;
export const halfTable = () => {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const size =
      exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
    halves[bits] = bits & 0x8000 ? -size : size;
  }
  return halves;
};
