// Plots over time, one below the other. All share the time axis, the cursor and the playhead: a line at
// the moment that is played. The legend tells the values at the cursor, or at the playhead.
import uPlot from "uplot";
import { LINES } from "./colours.js";
import { digits, quantity, words } from "./format.js";

const SYNC = "cairn";

// Which scalars share a plot, in the order of the page; the first match takes a series.
const GROUPS = [
  { title: "Energy", match: /energy/ },
  { title: "Contacts", match: /contact|overlap/ },
  { title: "Penetration", match: /penetration/ },
  { title: "Residual", match: /^residual$/, log: true },
  { title: "Residual speed", match: /residual/, log: true },
  { title: "Iterations", match: /iteration/ },
  { title: "Dissipated in a step", match: /dissipation/ },
  { title: "Cost of a step", match: /second|^ms_/ },
  { title: "Flags", match: /converged|cut_by_time/, quiet: true },
];

const MAX_LINES = 6; // sensors of one unit that share a plot

const groupScalars = (series) => {
  const groups = new Map();
  for (const s of series) {
    if (s.name === "time" || s.name === "step") continue;
    const known = GROUPS.find((g) => g.match.test(s.name));
    const title = known?.title ?? words(s.name);
    // two units never share an axis
    const key = `${title}|${s.unit}`;
    // flags that never change are not worth a plot
    if (known?.quiet && s.values.every((v) => v === s.values[0])) continue;
    const order = known ? GROUPS.indexOf(known) : GROUPS.length;
    if (!groups.has(key))
      groups.set(key, { title, unit: s.unit, log: known?.log ?? false, order, series: [] });
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

// Total mechanical energy, where its parts are known.
const withTotal = (series) => {
  const part = (pattern) => series.find((s) => pattern.test(s.name) && s.kind === "scalar");
  const kinetic = part(/^kinetic_energy$/);
  const potential = part(/^potential_energy$/);
  if (!kinetic || !potential || part(/^(total_)?energy$/)) return series;
  const values = kinetic.values.map((k, i) =>
    k === null || potential.values[i] === null ? null : k + potential.values[i],
  );
  return [...series, { name: "total_energy", unit: kinetic.unit, kind: "scalar", values }];
};

const shortName = (name, title) => {
  const text = words(name);
  const stem = title.toLowerCase().replace(/s$/, "");
  const rest = text
    .toLowerCase()
    .replace(new RegExp(`\\s*\\b${stem}s?\\b\\s*`), " ")
    .trim();
  return rest && rest !== text.toLowerCase() ? rest : text.toLowerCase();
};

const nearest = (times, time) => {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low > 0 && time - times[low - 1] < times[low] - time ? low - 1 : low;
};

// Few powers of ten that cover a range.
const decades = (low, high) => {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / 5));
  const ticks = [];
  for (let e = last; e >= first; e -= step) ticks.unshift(10 ** e);
  return ticks;
};
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const power = (value) => {
  const exponent = Math.round(Math.log10(value));
  const text = String(Math.abs(exponent)).replace(/\d/g, (d) => SUPERSCRIPTS[d]);
  return `10${exponent < 0 ? "⁻" : ""}${text}`;
};

const createPlot = (parent, group, times, player, colourOf) => {
  const box = document.createElement("section");
  box.className = "plot";
  const head = document.createElement("header");
  const title = document.createElement("h2");
  title.textContent = group.title;
  const legend = document.createElement("div");
  legend.className = "legend";
  head.append(title, legend);
  const area = document.createElement("div");
  box.append(head, area);
  parent.append(box);

  const values = group.series.map((s) => {
    const dot = document.createElement("i");
    const name = document.createElement("span");
    const value = document.createElement("b");
    const item = document.createElement("span");
    item.className = "item";
    name.textContent =
      group.series.length > 1 || group.title.startsWith("Sensor")
        ? s.kind === "sensor"
          ? s.name
          : shortName(s.name, group.title)
        : "";
    item.append(dot, name, value);
    item.title = s.name;
    legend.append(item);
    return { dot, value };
  });
  values.forEach((v, i) => (v.dot.style.background = LINES[i % LINES.length]));

  // a logarithm has no place for zero: gaps
  const columns = group.series.map((s) =>
    group.log ? s.values.map((v) => (v > 0 ? v : null)) : s.values,
  );
  const logarithmic = group.log && columns.some((c) => c.some((v) => v !== null));
  const axis = {
    stroke: () => colourOf("--dim"),
    grid: { stroke: () => colourOf("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  const playhead = document.createElement("div");
  playhead.className = "playhead";

  const place = (u) => {
    const left = u.valToPos(player.state.time, "x");
    playhead.style.transform = `translateX(${left}px)`;
    playhead.hidden = !(left >= -1 && left <= u.bbox.width / devicePixelRatio + 1);
  };
  // where a series has no value (some are taken with frames only), the last one before
  const valueAt = (list, index) => {
    let at = index;
    while (at > 0 && list[at] === null) at--;
    return list[at];
  };
  const show = (index) =>
    values.forEach(
      (v, i) =>
        (v.value.textContent = quantity(valueAt(group.series[i].values, index), group.unit, 3)),
    );

  let hovered = null;
  const plot = new uPlot(
    {
      width: Math.max(area.clientWidth, 100),
      height: 120,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: SYNC, scales: ["x", null] },
        drag: { x: true, y: false, setScale: true },
        points: { size: 6 },
        y: false,
      },
      scales: {
        x: { time: false },
        y: logarithmic
          ? { distr: 3 }
          : {
              range: (u, low, high) =>
                low === high || low === null
                  ? [(low ?? 0) - 1, (high ?? 0) + 1]
                  : uPlot.rangeNum(low, high, 0.1, true),
            },
      },
      axes: [
        { ...axis, size: 24, values: (u, ticks) => ticks.map((t) => `${digits(t, 6)} s`) },
        {
          ...axis,
          size: 62,
          space: 26,
          values: (u, ticks) =>
            ticks.map((t) => (group.log ? power(t) : quantity(t, group.unit, 4))),
          ...(logarithmic && {
            splits: (u, i, low, high) => decades(low, high),
            filter: (u, ticks) => ticks,
          }),
        },
      ],
      series: [
        {},
        ...group.series.map((s, i) => ({
          label: s.name,
          stroke: LINES[i % LINES.length],
          width: 1.5,
          spanGaps: !group.log,
          points: { show: times.length < 3 },
        })),
      ],
      hooks: {
        ready: [(u) => u.over.append(playhead)],
        setSize: [place],
        setScale: [place],
        setCursor: [
          (u) => {
            hovered = u.cursor.left >= 0 ? u.cursor.idx : null;
            show(hovered ?? nearest(times, player.state.time));
          },
        ],
      },
    },
    [times, ...columns],
    area,
  );

  // A click without a drag goes to that moment.
  let down = 0;
  plot.over.addEventListener("pointerdown", (e) => (down = e.clientX));
  plot.over.addEventListener("click", (e) => {
    if (Math.abs(e.clientX - down) > 3) return;
    player.seek(plot.posToVal(e.clientX - plot.over.getBoundingClientRect().left, "x"));
  });

  const follow = () => {
    place(plot);
    if (hovered === null) show(nearest(times, player.state.time));
  };
  follow();
  new ResizeObserver(() => {
    const width = area.clientWidth;
    if (width > 0 && width !== plot.width) plot.setSize({ width, height: 120 });
  }).observe(area);
  return { plot, follow, title: group.title, names: group.series.map((s) => s.name) };
};

export const createPlots = (parent, data, player) => {
  const style = getComputedStyle(document.documentElement);
  const colourOf = (name) => style.getPropertyValue(name).trim();
  const scalars = withTotal(data.series).filter((s) => s.kind === "scalar");
  const sensors = data.series.filter((s) => s.kind === "sensor");
  const plots = [...groupScalars(scalars), ...groupSensors(sensors)].map((group) =>
    createPlot(parent, group, data.seriesTimes, player, colourOf),
  );
  player.listen(() => plots.forEach((p) => p.follow()));
  return {
    plots,
    redraw: () => plots.forEach((p) => p.plot.redraw(false)),
  };
};
