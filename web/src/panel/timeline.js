// SPDX-License-Identifier: Apache-2.0
// Events above the scrub bar: how many contacts began (low bars), impacts (long strokes, the higher the faster) and
// steps that did not converge or were cut by time (below, in the colour of warnings). A click goes to the nearest.
import { digits, quantity, seconds } from "../data/format.js";
import { $ } from "./elements.js";

const HEIGHT = 22;

// Times of steps of which a flag says that they went wrong.
const wrongSteps = (data) => {
  const wrong = [];
  const flag = (name, bad, text) => {
    const series = data.series.find((s) => s.kind === "scalar" && s.name === name);
    series?.values.forEach((v, i) => {
      if (v === bad) wrong.push({ time: data.seriesTimes[i], kind: text, warn: true });
    });
  };
  if (data.meta.tolerance > 0 && !data.meta.ownSteps) flag("converged", 0, "step not converged");
  flag("cut_by_time", 1, "step cut by its time budget");
  return wrong;
};

const sentence = (data, e) => {
  if (e.warn) return `${e.kind}, ${seconds(e.time)}`;
  const pair = e.bodyB >= 0 ? `: ${data.nameOf(e.bodyA)}, ${data.nameOf(e.bodyB)}` : "";
  const speed = e.speed > 0 ? `, ${quantity(e.speed, "m/s", 3)}` : "";
  return `${e.kind}${pair}${speed}, ${seconds(e.time)}`;
};

export const createTimeline = (data, player) => {
  const canvas = $("events");
  const marks = [...data.events, ...wrongSteps(data)];
  const bins = data.eventBins ?? new Float32Array(0);
  if (!marks.length && !bins.some((n) => n > 0)) return { marks, redraw: () => {} };
  canvas.hidden = false;
  const span = player.last - player.first || 1;
  const at = (time, width) => ((time - player.first) / span) * width;
  const largest = bins.reduce((a, b) => Math.max(a, b), 0);
  const fastest = marks.reduce((a, e) => Math.max(a, e.speed || 0), 0);

  const redraw = () => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    if (!width) return;
    canvas.width = width * ratio;
    canvas.height = HEIGHT * ratio;
    const paper = canvas.getContext("2d");
    paper.scale(ratio, ratio);
    paper.fillStyle = colour("--dim");
    paper.globalAlpha = 0.55;
    const [first, last] = [data.times[0], data.times[data.times.length - 1]];
    bins.forEach((n, i) => {
      if (!(n > 0)) return;
      const x = at(first + (i / bins.length) * (last - first), width);
      const high = 2 + 9 * Math.sqrt(n / largest);
      paper.fillRect(x, 16 - high, Math.max(1, (at(last, width) - at(first, width)) / bins.length - 0.3), high);
    });
    paper.globalAlpha = 1;
    for (const e of marks) {
      if (!e.warn && !(e.speed > 0)) continue;
      const x = Math.round(at(e.time, width));
      paper.fillStyle = colour(e.warn ? "--warn" : "--accent");
      if (e.warn) paper.fillRect(x - 1, 17, 2, 5);
      else {
        const high = 3 + 12 * Math.sqrt(e.speed / fastest);
        paper.fillRect(x - 0.75, 16 - high, 1.5, high);
      }
    }
  };
  new ResizeObserver(redraw).observe(canvas);

  const nearest = (x) => {
    const width = canvas.clientWidth;
    let [best, off] = [null, 8];
    for (const e of marks) {
      const d = Math.abs(at(e.time, width) - x);
      if (d < off) [best, off] = [e, d];
    }
    return best;
  };
  canvas.addEventListener("mousemove", (e) => {
    const mark = nearest(e.offsetX);
    canvas.title = mark
      ? sentence(data, mark)
      : `${digits(data.meta.events)} events: contacts that began (grey), impacts, steps that went wrong`;
  });
  canvas.addEventListener("click", (e) => {
    const mark = nearest(e.offsetX);
    player.pause();
    player.seek(mark ? mark.time : player.first + (e.offsetX / canvas.clientWidth) * span);
  });
  return { marks, redraw };
};
