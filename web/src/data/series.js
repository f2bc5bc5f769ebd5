// SPDX-License-Identifier: Apache-2.0
// Which series share a plot, and under which names.
import { words } from "./format.js";

// Which scalars share a plot, in the order of the page; the first match takes a series.
const GROUPS = [
  { title: "Energy", match: /energy/ },
  { title: "Contacts", match: /contact|overlap/ },
  { title: "Penetration", match: /penetration/ },
  { title: "Work so far", match: /^work_/, moving: true, drop: /^work_/ },
  { title: "Left in the balance", match: /^balance$/, moving: true, inner: true },
  { title: "Residual", match: /^residual$/, log: true, inner: true },
  { title: "Residual speed", match: /residual/, log: true, inner: true },
  { title: "Drift", match: /drift/, log: true, inner: true },
  { title: "Rejected steps", match: /rejected/, quiet: true, inner: true },
  { title: "Iterations", match: /iteration/, inner: true },
  { title: "Dissipated in a step", match: /dissipation/, inner: true },
  { title: "Cost of a step", match: /second|^ms_/, inner: true },
  { title: "Flags", match: /converged|cut_by_time/, quiet: true, inner: true },
];

const MAX_LINES = 6; // sensors of one unit that share a plot

const largest = (values) => values.reduce((most, v) => Math.max(most, Math.abs(v ?? 0)), 0);

const groupScalars = (series) => {
  const groups = new Map();
  const works = series.filter((s) => /^work_/.test(s.name)).map((s) => largest(s.values));
  const roundOff = 1e-9 * Math.max(0, ...works);
  for (const s of series) {
    if (s.name === "time" || s.name === "step") continue;
    const known = GROUPS.find((g) => g.match.test(s.name));
    const title = known?.title ?? words(s.name);
    // two units never share an axis
    const key = `${title}|${s.unit}`;
    // flags that never change are not worth a plot, nor is what stays zero
    if (s.values.every((v) => !v)) continue;
    if (known?.quiet && s.values.every((v) => v === s.values[0])) continue;
    if (known?.moving && largest(s.values) <= roundOff) continue;
    const order = known ? GROUPS.indexOf(known) : GROUPS.length;
    if (!groups.has(key))
      groups.set(key, {
        ...known,
        title,
        unit: s.unit,
        log: known?.log ?? false,
        inner: known ? Boolean(known.inner) : true,
        order,
        series: [],
      });
    groups.get(key).series.push(s);
  }
  return [...groups.values()].sort((a, b) => a.order - b.order);
};

const groupSensors = (series) => {
  const groups = new Map();
  for (const s of series) {
    if (!groups.has(s.unit)) groups.set(s.unit, []);
    groups.get(s.unit).push(s);
  }
  const result = [];
  for (const [unit, list] of groups)
    for (let i = 0; i < list.length; i += MAX_LINES) {
      const part = list.slice(i, i + MAX_LINES);
      result.push({
        title: part.length === 1 ? `Sensor: ${part[0].name}` : "Sensors",
        unit,
        log: false,
        series: part,
      });
    }
  return result;
};

// Plots of joints: what has one title and one unit, some lines each.
const groupReactions = (series) => {
  const groups = new Map();
  for (const s of series) {
    const key = `${s.title}|${s.unit}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(s);
  }
  const result = [];
  for (const list of groups.values())
    for (let i = 0; i < list.length; i += MAX_LINES) {
      const part = list.slice(i, i + MAX_LINES);
      const { title, unit, times } = part[0];
      result.push({ title, unit, times, log: false, series: part });
    }
  return result;
};

// What the title says already is left out: "penetration_max" under Penetration is "max".
const shortName = (name, title) => {
  const text = words(name).toLowerCase();
  const said = title.toLowerCase().replace(/s$/, "");
  const rest = text.replace(new RegExp(`\\b(${said}s?|seconds)\\b`), "").trim();
  return rest || text;
};

// The plots of a run in their order: {title, unit, log, inner, times, series}. What the scene asked for comes first,
// what only tells of the solver last (inner).
const groupsOf = (data) => {
  // without a tolerance there is no convergence to speak of; what nobody measured is not shown
  const told = data.series.filter(
    (s) =>
      (s.name !== "converged" || data.meta.tolerance > 0) &&
      (!data.meta.ownSteps || !/^(converged|iterations)$/.test(s.name)) &&
      s.values.some((v) => Number.isFinite(v)),
  );
  const scalars = groupScalars(told.filter((s) => s.kind === "scalar"));
  const sensors = groupSensors(told.filter((s) => s.kind === "sensor"));
  const reactions = groupReactions(data.reactions);
  const outer = scalars.filter((g) => !g.inner);
  const inner = scalars.filter((g) => g.inner);
  const all = [...sensors, ...outer, ...reactions, ...inner];
  return all.map((g) => ({ ...g, times: g.times ?? data.seriesTimes }));
};

// Of two runs what has one title and unit shares a plot; the second run's lines are dashed.
const merge = (a, b) => {
  const key = (g) => `${g.title}|${g.unit}`;
  const rest = new Map();
  for (const g of b) rest.set(key(g), [...(rest.get(key(g)) ?? []), g]);
  const marked = (g, mark, dash) =>
    g.series.map((s) => ({ ...s, mark, dash, times: g.times }));
  const result = a.map((g) => {
    const other = rest.get(key(g))?.shift();
    const series = [...marked(g, "A", false), ...(other ? marked(other, "B", true) : [])];
    return { ...g, series, lines: g.series.length };
  });
  for (const list of rest.values())
    for (const g of list) result.push({ ...g, series: marked(g, "B", true), lines: g.series.length });
  return result;
};

export const plotGroups = (runs) => {
  const [a, b] = runs.map(groupsOf);
  return b ? merge(a, b) : a;
};

// What a legend calls a series: nothing where the title says it all.
export const legendName = (series, group) => {
  const name = plainName(series, group);
  return series.mark ? `${series.mark} ${name}`.trim() : name;
};
const plainName = (series, group) => {
  if (series.kind === "joint") return series.name;
  if (group.drop) return words(series.name.replace(group.drop, "")).toLowerCase();
  if ((group.lines ?? group.series.length) === 1) return "";
  return series.kind === "sensor" ? series.name : shortName(series.name, group.title);
};
