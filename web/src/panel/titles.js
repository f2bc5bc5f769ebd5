// SPDX-License-Identifier: Apache-2.0
// The head of the page: what it shows, and on top whether the run can be trusted; of two runs, in what they differ.
import { digits, quantity } from "../data/format.js";
import { element, $ } from "./elements.js";
import { stateOf } from "./settings.js";

const factsOf = (meta) => [
  `${digits(meta.bodies)} bodies`,
  `h = ${quantity(meta.timeStep, "s")}`,
  meta.ownSteps ? meta.integrator : `${meta.integrator}, ${meta.solver}`,
  `Cairn ${meta.cairnVersion}`,
];

// What may differ between two runs, as words.
const words = (meta) => {
  const all = new Map([
    ["title", meta.sceneTitle || meta.sceneName],
    ["integrator", meta.integrator],
    ["solver", meta.ownSteps ? "" : meta.solver],
    ["h", quantity(meta.timeStep, "s")],
    ["tolerance", meta.tolerance > 0 ? digits(meta.tolerance) : "none"],
    ["iterations", digits(meta.iterations)],
    ["friction", meta.friction],
    ["bodies", digits(meta.bodies)],
  ]);
  for (const [name, value] of meta.parameters) all.set(name, digits(value, 6));
  return all;
};

// "A: run.h5, mu 0.3" where the other has another mu.
export const runNames = (runs) => {
  const all = runs.map(({ meta }) => words(meta));
  const differs = [...all[0].keys()].filter((k) => all.some((w) => w.get(k) !== all[0].get(k)));
  return runs.map(({ meta }, i) => {
    const own = differs
      .slice(0, 5)
      .map((k) => (k === "title" ? all[i].get(k) : `${k} ${all[i].get(k) ?? "–"}`));
    return [meta.label, ...own].filter(Boolean).join("  ·  ") || "the same settings";
  });
};

export const showTitles = (runs) => {
  const [{ meta }] = runs;
  const title = meta.sceneTitle || meta.sceneName || "Cairn";
  document.title = `${title} – Cairn`;
  $("title").textContent = title;
  const facts = [meta.sceneTitle && meta.sceneName.replace(/^.*\//, ""), ...factsOf(meta)];
  $("subtitle").textContent =
    runs.length > 1 ? `two runs side by side  ·  Cairn ${meta.pageVersion}` : facts.filter(Boolean).join("  ·  ");
  const state = stateOf(meta);
  $("state").textContent = state.text;
  $("state").classList.add(state.kind);
  $("state").hidden = runs.length > 1;
  runs.forEach((run, i) => {
    if (!run.meta.verdict) return;
    const line = element("p", run.meta.trusted ? "good" : "warn");
    if (i === 0) line.id = "verdict";
    const mark = element("span", "mark", run.meta.trusted ? "✓" : "!");
    mark.setAttribute("aria-hidden", "true");
    const text = runs.length > 1 ? `${"AB"[i]}  ${run.meta.verdict}` : run.meta.verdict;
    line.append(mark, element("span", "", text));
    $("verdicts").append(line);
  });
};
