// SPDX-License-Identifier: Apache-2.0
// The table of settings: what was simulated, how, by which version, and what the page kept of it.
// Text enters the page as text only.
import { digits, quantity } from "../data/format.js";

const element = (tag, text, name) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (name) e.className = name;
  return e;
};

const table = (parent, title, rows) => {
  const shown = rows.filter((row) => row && row[1] !== "" && row[1] !== undefined);
  if (!shown.length) return;
  const box = element("section", undefined, "table");
  box.append(element("h2", title));
  const list = element("table");
  for (const [name, value] of shown) {
    const row = element("tr");
    const head = element("th", name);
    head.scope = "row";
    row.append(head, element("td", value));
    list.append(row);
  }
  box.append(list);
  parent.append(box);
};

export const stateOf = (meta) =>
  meta.source === "scene"
    ? { text: "first frame", kind: "plain" }
    : meta.complete
      ? { text: "complete", kind: "good" }
      : { text: "not complete", kind: "warn" };

const keptFrames = (meta, packing) => {
  const all = meta.recordedFrames;
  if (packing.frames === all) return `all ${digits(all)}`;
  const which = `every ${packing.stride}th, and the last`;
  return `${digits(packing.frames)} of ${digits(all)} (${which}), to keep the page small`;
};

// What vouches for a step: the residual of its problem, or the integrator's own error and drift.
const solves = (meta) => [
  ["Solver", meta.solver],
  ["Iterations a step", `at most ${digits(meta.iterations)}`],
  ["Tolerance", meta.tolerance > 0 ? digits(meta.tolerance) : "none: all iterations"],
];
const ownSteps = (meta) => [
  [
    "Error a step",
    meta.integratorTolerance > 0
      ? `at most ${digits(meta.integratorTolerance)}, else the step is rejected`
      : "not controlled: steps of fixed length",
  ],
  ["Certificate", "drift and rejected steps; there is no step problem and no residual"],
];

export const createSettings = (parent, data, mark) => {
  const { meta, packing } = data;
  if (mark) parent.append(element("h1", `Run ${mark}`, "runMark"));
  const isRun = meta.source === "run";
  const time = data.times[data.times.length - 1] - data.times[0];

  table(parent, "Scene", [
    ["Title", meta.sceneTitle],
    ["Name", meta.sceneName],
    ["Description", meta.description],
    ["Bodies", digits(meta.bodies)],
    ["Shapes", digits(meta.shapes)],
    ["Joints", digits(meta.joints)],
    ...(meta.couplings ? [["Couplings", digits(meta.couplings)]] : []),
    ["Seed", meta.seed],
  ]);
  table(
    parent,
    "Parameters",
    meta.parameters.map(([name, value]) => [name, digits(value, 7)]),
  );
  table(parent, "Method", [
    ["Integrator", meta.integrator],
    ["Time step h", quantity(meta.timeStep, "s")],
    ...(meta.ownSteps ? ownSteps(meta) : solves(meta)),
    ["Friction", meta.friction === "coulomb" ? "coulomb (exact)" : meta.friction],
    ["Gravity", `(${meta.gravity.map((g) => digits(g, 6)).join(", ")}) m/s²`],
    isRun && ["Threads", digits(meta.workers)],
  ]);
  table(parent, isRun ? "Run" : "State", [
    [
      "State",
      isRun
        ? meta.complete
          ? "complete"
          : "not complete: still running, or stopped before its end"
        : "first frame of the scene; nothing was simulated",
    ],
    isRun && ["Steps", digits(meta.steps)],
    isRun && ["Time of frames", quantity(time, "s")],
    ["Cairn", meta.cairnVersion],
    meta.pageVersion !== meta.cairnVersion && ["Page by Cairn", meta.pageVersion],
  ]);
  table(parent, "This page", [
    isRun && ["Frames", keptFrames(meta, packing)],
    ["Positions", `16 bits a coordinate; worst error ${quantity(packing.positionError, "m", 2)}`],
    ["Rotations", `48 bits; worst error ${quantity(packing.rotationError, "rad", 2)}`],
    isRun && [
      "Velocities",
      packing.twists ? "16 bits, three digits" : "differences of frames: there was no room for more",
    ],
    packing.contactChunks > 0 && [
      "Contacts",
      packing.contactsDropped > 0
        ? `the strongest ${digits(packing.contactsKept)} of ${digits(packing.contactsKept + packing.contactsDropped)} with a force, to keep the page small`
        : `all ${digits(packing.contactsKept)} with a force`,
    ],
    isRun &&
      meta.steps > 0 && [
        "Plots",
        meta.stepsPerPoint > 1
          ? `least and largest value of every ${digits(meta.stepsPerPoint)} steps`
          : "every step",
      ],
  ]);

  if (meta.sceneText || meta.sceneTextBytes > 0) {
    const details = element("details", undefined, "table");
    details.append(element("summary", "Scene file"));
    details.append(
      element(
        "pre",
        meta.sceneText || `${digits(meta.sceneTextBytes)} bytes: too long to be shown here`,
      ),
    );
    parent.append(details);
  }
};
