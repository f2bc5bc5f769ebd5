// SPDX-License-Identifier: Apache-2.0
// Figures for people: few digits, and a unit with each.

const PREFIXES = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
  [1e-12, "p"],
];
const PREFIXED = new Set(["m", "s", "J", "N", "W", "Pa", "N m", "m/s", "rad", "Hz"]);

const trim = (text) =>
  text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;

// Without an exponent: 512 with two digits is 512, not 5.1e+2.
const rounded = (value, count) => {
  const places = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return trim(value.toFixed(Math.min(places, 20)));
};

// Significant digits without needless zeros: 1234, 0.0123, 1.2e-7.
export const digits = (value, count = 4) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9)
    return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(count - 1).split("e");
    return `${trim(mantissa)}e${Number(exponent)}`;
  }
  return rounded(value, count);
};

// With unit, and a prefix where the unit takes one: 3.2 mm, 12 kJ.
export const quantity = (value, unit, count = 4) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (!unit || unit === "1") return digits(value, count);
  if (!PREFIXED.has(unit) || value === 0) return `${digits(value, count)} ${unit}`;
  const size = Math.abs(value);
  if (size >= 1e12 || size < 1e-12) return `${digits(value, count)} ${unit}`;
  const [scale, prefix] = PREFIXES.find(([s]) => size >= s * 0.99999) ?? PREFIXES.at(-1);
  return `${rounded(value / scale, count)} ${prefix}${unit}`;
};

// kinetic_energy -> Kinetic energy
export const words = (name) => {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};

export const seconds = (value) => `${value.toFixed(value < 100 ? 3 : 2)} s`;
