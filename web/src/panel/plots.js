// SPDX-License-Identifier: Apache-2.0
// Plots over time, one below the other. All share the time axis, the cursor and the playhead: a
// line at the moment that is played. The legend tells the values at the cursor, or at the playhead.
import uPlot from "uplot";
import { LINES } from "../colours.js";
import { element, $ } from "./elements.js";
import { digits, quantity } from "../data/format.js";
import { legendName, plotGroups } from "../data/series.js";

const SYNC = "cairn";
const HEIGHT = 120; // pixels

// The lines of a second run have the colours of the first one's.
const lineColour = (group, index) => LINES[(index % (group.lines ?? Infinity)) % LINES.length];

// ---- figures on axes ----

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

// A series that does not change still gets a range.
const plainRange = (u, low, high) =>
  low === high ? [(low ?? 0) - 1, (high ?? 0) + 1] : uPlot.rangeNum(low, high, 0.1, true);

const plotAxes = (group, logarithmic, colourOf) => {
  const common = {
    stroke: () => colourOf("--dim"),
    grid: { stroke: () => colourOf("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  const seconds = (u, ticks) => ticks.map((t) => `${digits(t, 6)} s`);
  const figures = (u, ticks) => ticks.map((t) => quantity(t, group.unit, 4));
  const powers = {
    values: (u, ticks) => ticks.map(power),
    splits: (u, i, low, high) => decades(low, high),
    filter: (u, ticks) => ticks,
  };
  return [
    { ...common, size: 24, values: seconds },
    { ...common, size: 62, space: 26, values: figures, ...(logarithmic && powers) },
  ];
};

// ---- legend ----

// Index of the time nearest to a given one.
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

// Where a series has no value (some are taken with frames only), the last one before.
const valueAt = (list, index) => {
  let at = index;
  while (at > 0 && (list[at] === null || list[at] === undefined)) at--;
  return list[at];
};

// A line of the second run shares the entry of the first one's: two figures, the second in brackets.
const createLegend = (group, values) => {
  const legend = element("div", "legend");
  const paired = group.lines > 0 && group.series.length === 2 * group.lines;
  const entries = [];
  const figures = group.series.map((s, i) => {
    const figure = element("b");
    if (paired && i >= group.lines) {
      figure.className = "second";
      figure.title = "second run";
      entries[i - group.lines].append(figure);
      return figure;
    }
    const item = element("span", "item");
    const dot = element("i");
    dot.style.background = lineColour(group, i);
    dot.classList.toggle("dashed", Boolean(s.dash));
    item.title = s.name;
    item.append(dot, element("span", "", legendName(paired ? { ...s, mark: "" } : s, group)), figure);
    entries.push(item);
    legend.append(item);
    return figure;
  });
  const show = (index) =>
    values.forEach((list, i) => {
      const text = quantity(valueAt(list, index), group.unit, 3);
      if (figures[i].textContent !== text) figures[i].textContent = text;
    });
  return { legend, show };
};

// ---- one plot ----

// A click without a drag goes to that moment.
const seekByClick = (plot, player) => {
  let down = 0;
  plot.over.addEventListener("pointerdown", (e) => (down = e.clientX));
  plot.over.addEventListener("click", (e) => {
    if (Math.abs(e.clientX - down) > 3) return;
    player.seek(plot.posToVal(e.clientX - plot.over.getBoundingClientRect().left, "x"));
  });
};

const followWidth = (plot, area) => {
  new ResizeObserver(() => {
    const width = area.clientWidth;
    if (width > 0 && width !== plot.width) plot.setSize({ width, height: HEIGHT });
  }).observe(area);
};

// One axis of time for all lines; where a run has no value there, nothing is said (undefined: no gap).
const align = (group) => {
  const times = [...new Set(group.series.map((s) => s.times ?? group.times))];
  if (times.length === 1) return [times[0], ...group.series.map((s) => s.values)];
  const tables = times.map((t) => [t, ...group.series.filter((s) => s.times === t).map((s) => s.values)]);
  return uPlot.join(tables);
};

export const createPlot = (parent, group, player, colourOf) => {
  const [times, ...all] = align(group);
  const { legend, show } = createLegend(group, all);
  const box = element("section", "plot");
  const head = element("header");
  const area = element("div");
  head.append(element("h2", "", group.title), legend);
  box.append(head, area);
  parent.append(box);

  // a logarithm has no place for zero: gaps
  const positive = (values) => values.map((v) => (v > 0 || v === undefined ? v : null));
  const columns = all.map((values) => (group.log ? positive(values) : values));
  const logarithmic = group.log && columns.some((c) => c.some((v) => v > 0));

  // the width as drawn: asking the element would make the browser lay out the page every frame
  const playhead = element("div", "playhead");
  const place = (u) => {
    const left = u.valToPos(player.state.time, "x");
    playhead.style.transform = `translateX(${left}px)`;
    playhead.hidden = !(left >= -1 && left <= u.bbox.width / devicePixelRatio + 1);
  };
  let hovered = null;
  const tell = () => show(hovered ?? nearest(times, player.state.time));
  const hover = (u) => {
    hovered = u.cursor.left >= 0 ? u.cursor.idx : null;
    tell();
  };

  const lines = group.series.map((s, i) => ({
    label: s.name,
    stroke: lineColour(group, i),
    width: 1.5,
    dash: s.dash ? [5, 4] : undefined,
    spanGaps: !group.log,
    points: { show: times.length < 3 },
  }));
  const options = {
    width: Math.max(area.clientWidth, 100),
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: SYNC, scales: ["x", null] }, points: { size: 6 }, y: false },
    scales: { x: { time: false }, y: logarithmic ? { distr: 3 } : { range: plainRange } },
    axes: plotAxes(group, logarithmic, colourOf),
    series: [{}, ...lines],
    hooks: {
      ready: [(u) => u.over.append(playhead)],
      setSize: [place],
      setScale: [place],
      setCursor: [hover],
    },
  };
  const plot = new uPlot(options, [times, ...columns], area);
  seekByClick(plot, player);
  followWidth(plot, area);
  const follow = () => {
    place(plot);
    if (hovered === null) tell();
  };
  follow();
  return { plot, follow, title: group.title, names: group.series.map((s) => s.name) };
};

const themeColours = () => {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(name).trim();
};

// Plots of one run, or of two: what was asked for and what moves in the open, figures of the solver folded away until
// somebody wants them.
export const createPlots = (runs, player) => {
  const colourOf = themeColours();
  const groups = plotGroups(runs);
  const make = (parent, list) => list.map((group) => createPlot(parent, group, player, colourOf));
  const plots = make($("plots"), groups.filter((g) => !g.inner));
  const inner = groups.filter((g) => g.inner);
  const fold = $("innards");
  fold.hidden = inner.length === 0;
  fold.addEventListener("toggle", () => {
    if (fold.open && !$("innardPlots").childElementCount) plots.push(...make($("innardPlots"), inner));
  });
  player.listen(() => plots.forEach((p) => p.follow()));

  // of the body that was picked
  let picked = [];
  const showPicked = (title, list) => {
    picked.forEach((p) => p.plot.destroy());
    picked = [];
    const box = $("picked");
    box.hidden = !list;
    box.replaceChildren();
    if (!list) return;
    box.append(element("h2", "pickedTitle", title));
    picked = make(box, list);
  };
  player.listen(() => picked.forEach((p) => p.follow()));
  return {
    showPicked,
    redraw: () => [...plots, ...picked].forEach((p) => p.plot.redraw(false)),
    // what each plot shows, folded ones too
    list: () =>
      groups.map((g) => {
        const [times, ...values] = align(g);
        return { title: g.title, unit: g.unit, inner: Boolean(g.inner), names: g.series.map((s) => s.name), times, values };
      }),
    pickedList: () => picked.map((p) => ({ title: p.title, names: p.names, values: p.plot.data.slice(1) })),
  };
};
