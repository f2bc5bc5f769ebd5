// SPDX-License-Identifier: Apache-2.0
// The list of bodies, grouped by name: hide, isolate, colour a group or, where there are few, a body of it.
import { button, element, $ } from "./elements.js";

const FEW = 60; // bodies of a group that are listed one by one

// Groups of all runs by name: {name, parts: [{view, bodies}]}.
const allGroups = (views) => {
  const groups = new Map();
  for (const view of views)
    for (const { name, bodies } of view.data.groups) {
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push({ view, bodies });
    }
  return [...groups].map(([name, parts]) => ({ name, parts }));
};

export const createBodyList = (views, select) => {
  const list = $("bodyList");
  const rows = [];

  const row = (name, count, parts, kind) => {
    const line = element("div", `bodyRow ${kind}`);
    line.setAttribute("role", "listitem");
    const each = (f) => parts.forEach(({ view, bodies }) => f(view.look, bodies));
    const seen = () => parts.some(({ view, bodies }) => bodies.some(view.look.visible));

    const eye = element("input");
    eye.type = "checkbox";
    eye.title = "show";
    eye.setAttribute("aria-label", `show ${name}`);
    eye.addEventListener("change", () => each((look, b) => look.hide(b, !eye.checked)));
    const colour = element("input");
    colour.type = "color";
    colour.title = "colour";
    colour.setAttribute("aria-label", `colour of ${name}`);
    colour.addEventListener("input", () => each((look, b) => look.setColour(b, colour.value)));
    const [first] = parts;
    const label = button(name, name, () => select(first.view, first.bodies[0]));
    label.className = "bodyName";
    const alone = button("only", `show ${name} alone`, () => {
      views.forEach((v) => {
        const own = parts.find((p) => p.view === v);
        v.look.isolate(own ? own.bodies : []);
      });
    });
    line.append(eye, colour, label, element("span", "count", count > 1 ? String(count) : ""), alone);
    list.append(line);
    rows.push(() => {
      eye.checked = seen();
      line.classList.toggle("off", !eye.checked);
      colour.value = `#${first.view.bodies.colourOf(first.bodies[0]).getHexString()}`;
    });
    return line;
  };

  for (const { name, parts } of allGroups(views)) {
    const count = Math.max(...parts.map((p) => p.bodies.length));
    const head = row(name, count, parts, "group");
    if (count < 2 || count > FEW) continue;
    const inner = element("div", "members");
    inner.hidden = true;
    const open = button("›", "one by one", () => {
      inner.hidden = !inner.hidden;
      head.classList.toggle("open", !inner.hidden);
    });
    open.className = "open";
    head.append(open);
    for (const body of parts[0].bodies) {
      const line = row(parts[0].view.data.nameOf(body), 1, [{ view: parts[0].view, bodies: [body] }], "one");
      inner.append(line);
    }
    list.append(inner);
  }
  const fill = () => {
    rows.forEach((f) => f());
    const changed = views.some((v) => v.look.changed);
    $("showAll").disabled = !changed;
    $("bodiesButton").classList.toggle("active", changed);
  };
  views.forEach((v) => v.look.listen(fill));
  const showAll = () => views.forEach((v) => v.look.showAll());
  $("showAll").addEventListener("click", showAll);
  fill();
  return { showAll, fill };
};
