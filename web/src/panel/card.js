// SPDX-License-Identifier: Apache-2.0
// The body that was clicked: what it is, how it moves, what presses on it; and plots of its motion over the run.
import { digits, quantity } from "../data/format.js";
import { KIND } from "../data/data.js";
import { STRIDE } from "../data/contacts.js";
import { button, element, $ } from "./elements.js";

const MOST_POINTS = 1500; // of a plot

const KINDS = ["", "moves as prescribed", "fixed"];

const place = (v) => v.map((x) => digits(Math.round(x * 1e5) / 1e5, 5)).join(", ");
const length = (v) => Math.hypot(v[0], v[1], v[2]);

// Contacts of a body in a frame: how many, with whom, the sum of forces on it and of their sizes.
const touching = (data, body, frame) => {
  const { count, first, bodies, numbers } = data.contacts.at(frame);
  const sum = [0, 0, 0];
  const partners = new Map();
  let [number, pressed] = [0, 0];
  for (let i = 0; i < count; i++) {
    const k = STRIDE * (first + i);
    if (bodies[k] !== body && bodies[k + 1] !== body) continue;
    const sign = bodies[k + 1] === body ? 1 : -1;
    const force = [numbers[k + 5], numbers[k + 6], numbers[k + 7]];
    number++;
    pressed += length(force);
    force.forEach((f, n) => (sum[n] += sign * f));
    const other = sign > 0 ? bodies[k] : bodies[k + 1];
    partners.set(other, (partners.get(other) ?? 0) + length(force));
  }
  return { number, sum, pressed, partners };
};

// The motion of a body over the run as plots: {title, unit, times, series}.
export const motionOf = (data, body) => {
  const stride = Math.max(1, Math.ceil(data.frameCount / MOST_POINTS));
  const times = [];
  const columns = { place: [[], [], []], speed: [], spin: [], force: [] };
  const twist = new Float64Array(6);
  for (let f = 0; f < data.frameCount; f += stride) {
    times.push(data.times[f]);
    const { position } = data.decode(f, body);
    position.forEach((x, k) => columns.place[k].push(x));
    if (data.twist) {
      data.twist(f, body, twist);
      columns.speed.push(length(twist));
      columns.spin.push(length(twist.subarray(3)));
    }
    if (data.contacts.recorded) columns.force.push(length(touching(data, body, f).sum));
  }
  if (!data.twist)
    for (let i = 0; i < times.length; i++) {
      const j = Math.min(i + 1, times.length - 1);
      const way = columns.place.map((c) => c[j] - c[i]);
      columns.speed.push(j > i ? length(way) / (times[j] - times[i]) : (columns.speed.at(-1) ?? 0));
    }
  const one = (title, unit, values, name) => ({
    title,
    unit,
    log: false,
    times,
    series: [{ name, kind: "scalar", values }],
  });
  const plots = [
    {
      title: "Position",
      unit: "m",
      log: false,
      times,
      series: ["x", "y", "z"].map((name, k) => ({ name, kind: "sensor", values: columns.place[k] })),
    },
    one("Speed", "m/s", columns.speed, "speed"),
  ];
  if (data.twist) plots.push(one("Spin", "rad/s", columns.spin, "spin"));
  if (data.contacts.recorded) plots.push(one("Contact force", "N", columns.force, "force"));
  return plots;
};

export const createCard = (views, player, showPlots) => {
  const card = $("card");
  let picked = { view: null, body: -1 };
  const twist = new Float64Array(6);
  const cells = new Map();
  let list = null;
  const row = (name, value) => {
    if (!cells.has(name)) {
      const dt = element("dt", "", name);
      const dd = element("dd");
      cells.set(name, dd);
      list.append(dt, dd);
    }
    const cell = cells.get(name);
    if (cell.textContent !== value) cell.textContent = value;
  };
  const fill = () => {
    const { view, body } = picked;
    if (body < 0) return;
    const { data, bodies } = view;
    const kind = data.kinds[body];
    row("mass", kind === KIND.dynamic ? quantity(data.mass(body), "kg") : KINDS[kind]);
    const material = data.shapes.find((s) => s.body === body && s.material >= 0)?.material;
    if (material !== undefined) row("material", data.meta.materials[material]);
    row("position", `${place(Array.from(bodies.poses.p.subarray(3 * body, 3 * body + 3)))} m`);
    if (data.frameCount < 2) return;
    if (kind !== KIND.fixed) {
      bodies.twist(body, twist);
      row("speed", quantity(length(twist), "m/s", 3));
      row("spin", quantity(length(twist.subarray(3)), "rad/s", 3));
      if (kind === KIND.dynamic) row("kinetic energy", quantity(bodies.energy(body), "J", 3));
    }
    if (!data.contacts.recorded) return;
    const { number, sum, pressed, partners } = touching(data, body, bodies.frame());
    const strongest = [...partners].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const with_ = strongest.map(([i, f]) => `${data.nameOf(i)} ${quantity(f, "N", 3)}`).join(", ");
    row("contacts", number ? `${number}: ${with_}${partners.size > 3 ? ", …" : ""}` : "none");
    row("contact force", quantity(length(sum), "N", 3));
    row("pressed with", quantity(pressed, "N", 3));
  };
  const build = () => {
    const { view, body } = picked;
    card.hidden = body < 0;
    if (body < 0) return;
    const { data, look } = view;
    const head = element("header");
    head.append(element("b", "", data.nameOf(body)), element("span", "dim", `body ${body}`));
    const close = button("×", "let go (Esc)", () => select(view, -1));
    close.className = "close";
    head.append(close);
    list = element("dl");
    cells.clear();
    const joints = data.joints.filter((j) => j.bodyA === body || j.bodyB === body);
    fill();
    if (joints.length)
      row("joints", joints.slice(0, 4).map((j) => j.name || j.kind).join(", ") + (joints.length > 4 ? ", …" : ""));
    const actions = element("div", "actions");
    const group = data.groups.find((g) => g.bodies.includes(body));
    actions.append(
      button("Hide", "hide this body (H)", () => {
        look.hide([body]);
        select(view, -1);
      }),
      button("Isolate", "this body alone (I)", () => look.isolate([body])),
    );
    if (group.bodies.length > 1)
      actions.append(
        button(`Hide all “${group.name}”`, "hide its group", () => {
          look.hide(group.bodies);
          select(view, -1);
        }),
      );
    card.replaceChildren(head, list, actions);
  };
  const select = (view, body) => {
    if (picked.view && picked.view !== view) picked.view.select(-1);
    picked = { view, body };
    view?.select(body);
    build();
    showPlots(body < 0 ? null : { view, body });
  };
  player.listen(fill);
  return {
    select,
    get picked() {
      return picked;
    },
    hide: () => {
      const { view, body } = picked;
      if (body < 0) return;
      view.look.hide([body]);
      select(view, -1);
    },
    isolate: () => picked.body >= 0 && picked.view.look.isolate([picked.body]),
  };
};
