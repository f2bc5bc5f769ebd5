// SPDX-License-Identifier: Apache-2.0
// What the picture shows: colours with their legend, joints, contacts, trails, glass, section and ruler.
import { CLASSES, rampGradient } from "../colours.js";
import { quantity } from "../data/format.js";
import { element, $ } from "./elements.js";

// ---- colours ----

const setUpColours = (views) => {
  const select = $("colour");
  const names = new Map();
  for (const view of views) for (const m of view.bodies.modes) names.set(m.name, m.title);
  for (const [name, title] of names) select.add(new Option(title, name));
  for (const i of document.querySelectorAll(".rampLine i")) i.style.background = rampGradient();
  const legend = (mode, top) => {
    $("ramp").hidden = !mode.value;
    $("classes").hidden = !mode.classes;
    if (mode.value) {
      $("rampLow").textContent = mode.low > 0 ? quantity(mode.low, mode.unit, 2) : "0";
      $("rampTop").textContent = quantity(top, mode.unit, 2);
    }
    if (!mode.classes) return;
    const items = mode.classes.slice(0, CLASSES.length).map((name, i) => {
      const item = element("span", "item");
      const dot = element("i");
      dot.style.background = CLASSES[i];
      item.append(dot, element("span", "", name));
      return item;
    });
    $("classes").replaceChildren(...items);
  };
  const apply = () => {
    const tops = views.map((v) => v.bodies.modes.find((m) => m.name === select.value)?.top?.() ?? 0);
    const top = Math.max(...tops);
    views.map((v) => v.setMode(select.value, top || undefined)).forEach((mode) => legend(mode, top));
  };
  select.addEventListener("change", apply);
  $("colourLabel").hidden = names.size < 2;
  return {
    next: () => {
      select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
      apply();
    },
    set: (name) => {
      if (!names.has(name)) throw new RangeError(`no colour by ${name}: ${[...names.keys()].join(", ")}`);
      select.value = name;
      apply();
    },
  };
};

// ---- what is drawn ----

const setUpShow = (views) => {
  const list = $("showList");
  const switches = new Map();
  const add = (name, title, on, apply) => {
    const label = element("label", "switch");
    const box = element("input");
    box.type = "checkbox";
    box.id = `show-${name}`;
    box.checked = on;
    label.append(box, element("span", "", title));
    list.append(label);
    const set = (yes) => {
      box.checked = yes;
      views.forEach((v) => {
        apply(v, yes);
        v.redraw();
      });
    };
    box.addEventListener("change", () => set(box.checked));
    switches.set(name, { set, toggle: () => set(!box.checked) });
    set(on);
  };
  const any = (f) => views.some(f);
  if (any((v) => v.joints.count > 0)) add("joints", "Joints, springs, drives", true, (v, on) => v.joints.show(on));
  if (any((v) => v.forces.recorded)) {
    const largest = Math.max(...views.map((v) => v.forces.largest ?? 0));
    views.forEach((v) => v.forces.setLargest?.(largest));
    const few = views.every((v) => v.data.contacts.mean <= 40);
    const legend = (v, on) => {
      const { perUnit, unit } = v.forces;
      $("arrowLegend").textContent = `→ ${quantity(unit, "m", 2)} = ${quantity(perUnit, "N", 2)}`;
      $("arrowLegend").hidden = !on;
    };
    add("points", "Contact points", few, (v, on) => v.forces.show("points", on));
    add("arrows", "Contact forces", few, (v, on) => {
      v.forces.show("arrows", on);
      if (v.forces.recorded) legend(v, on);
    });
    add("chains", "Force chains", false, (v, on) => {
      v.forces.show("chains", on);
      $("chainTop").textContent = quantity(largest, "N", 2);
      $("chainLegend").hidden = !on;
    });
  }
  if (any((v) => v.data.frameCount > 1))
    add("trails", "Trails (of the picked body, or of few)", false, (v, on) => v.trails.show(on));
  if (any((v) => v.walls.length > 0)) add("glass", "Walls in the way as glass", true, (v, on) => v.setGlass(on));
  return switches;
};

// ---- section ----

const setUpSection = (views) => {
  const axes = [...document.querySelectorAll('input[name="axis"]')];
  const state = { axis: -1, share: 0.5, flip: false };
  const apply = () => {
    const places = views.map((v) => {
      const place = v.section.set(state);
      v.forces.place();
      v.redraw();
      return place;
    });
    axes.forEach((a) => (a.checked = Number(a.value) === state.axis));
    $("sectionPlace").hidden = state.axis < 0;
    $("sectionShare").value = state.share;
    $("sectionFigure").textContent = state.axis < 0 ? "" : `${"xyz"[state.axis]} = ${quantity(places[0], "m", 3)}`;
  };
  const set = (change) => {
    Object.assign(state, change);
    apply();
  };
  axes.forEach((a) => a.addEventListener("change", () => set({ axis: Number(a.value), flip: a.value === "1" })));
  $("sectionShare").addEventListener("input", () => set({ share: Number($("sectionShare").value) }));
  $("sectionFlip").addEventListener("click", () => set({ flip: !state.flip }));
  return {
    set,
    next: () => {
      const axis = state.axis === 2 ? -1 : state.axis + 1;
      set({ axis, flip: axis === 1 });
    },
    close: () => {
      const was = state.axis >= 0;
      if (was) set({ axis: -1 });
      return was;
    },
  };
};

// ---- ruler ----

const setUpRuler = (views, canvases) => {
  const text = $("rulerText");
  let on = false;
  const at = [0, 0];
  const other = [0, 0];
  const tell = () => {
    views.forEach((view, n) => {
      const found = view.ruler.distance();
      if (!found) return;
      const parts = found.parts.map((x, k) => `${"xyz"[k]} ${quantity(x, "m", 3)}`).join("  ");
      const sentence = `${quantity(found.length, "m", 4)}  (${parts})`;
      if (text.textContent !== sentence) text.textContent = sentence;
      view.project(view.ruler.places[0], at);
      view.project(view.ruler.places[1], other);
      const left = canvases[n].offsetLeft + canvases[n].parentElement.offsetLeft;
      text.style.left = `${left + (at[0] + other[0]) / 2}px`;
      text.style.top = `${(at[1] + other[1]) / 2}px`;
    });
    text.hidden = !on || !views.some((v) => v.ruler.count > 0);
    const one = views.some((v) => v.ruler.count === 1);
    if (one) text.textContent = "now the other end";
  };
  const setOn = (yes) => {
    on = yes;
    $("rulerButton").setAttribute("aria-pressed", String(on));
    canvases.forEach((c) => c.classList.toggle("measuring", on));
    if (!on)
      views.forEach((v) => {
        v.ruler.clear();
        v.redraw();
      });
    tell();
  };
  $("rulerButton").addEventListener("click", () => setOn(!on));
  return {
    get on() {
      return on;
    },
    setOn,
    tell,
    // a click while it is on
    add: (view, body, point) => {
      views.forEach((v) => v !== view && v.ruler.clear());
      if (body >= 0) view.ruler.add(body, point);
      view.redraw();
      tell();
    },
    distance: () => views.map((v) => v.ruler.distance()).find(Boolean) ?? null,
  };
};

export const setUpPicture = (views, canvases) => {
  const spacing = views[0].gridSpacing;
  $("scale").textContent = `grid ${quantity(spacing, "m", 2)}`;
  $("scale").hidden = !spacing;
  return {
    colours: setUpColours(views),
    show: setUpShow(views),
    section: setUpSection(views),
    ruler: setUpRuler(views, canvases),
  };
};
