// SPDX-License-Identifier: Apache-2.0
// The page: data in, playback, plots and table out, and what mouse and keys do.
import { load, KIND } from "./data.js";
import { createPlayer, RATES } from "./player.js";
import { createPlots } from "./plots.js";
import { createSettings, stateOf } from "./settings.js";
import { createView } from "./view3d.js";
import { rampGradient } from "./colours.js";
import { digits, quantity, seconds } from "./format.js";

const $ = (id) => document.getElementById(id);

const ICONS = {
  play: "M8 5.5v13l11-6.5z",
  pause: "M7 5h3.6v14H7zM13.4 5H17v14h-3.6z",
  back: "M15.5 5.5v13L7 12zM5 5.5h2v13H5z",
  forward: "M8.5 5.5v13L17 12zM17 5.5h2v13h-2z",
  loop:
    "M17 4l4 3.5-4 3.5V8.6H8A3.4 3.4 0 0 0 4.6 12H3a5 5 0 0 1 5-5h9z" +
    "M7 20l-4-3.5L7 13v2.4h9A3.4 3.4 0 0 0 19.400 12H21a5 5 0 0 1-5 5H7z",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3v2.200a6.800 6.800 0 0 1 0 13.600V21a9 9 0 0 0 0-18z",
};
const setIcon = (button, name) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  button.replaceChildren(svg);
};

const showTitles = ({ meta }) => {
  const title = meta.sceneTitle || meta.sceneName || "Cairn";
  document.title = `${title} – Cairn`;
  $("title").textContent = title;
  const facts = [
    meta.sceneTitle && meta.sceneName,
    `${digits(meta.bodies)} bodies`,
    `h = ${quantity(meta.timeStep, "s")}`,
    meta.ownSteps ? meta.integrator : `${meta.integrator}, ${meta.solver}`,
    `Cairn ${meta.cairnVersion}`,
  ];
  $("subtitle").textContent = facts.filter(Boolean).join("  ·  ");
  const state = stateOf(meta);
  $("state").textContent = state.text;
  $("state").classList.add(state.kind);
  $("state").hidden = false;
  if (!meta.verdict) return;
  $("verdict").textContent = meta.verdict;
  $("verdict").classList.add(meta.trusted ? "good" : "warn");
  $("verdict").hidden = false;
};

const setUpTheme = (change) => {
  const system = matchMedia("(prefers-color-scheme: light)");
  let chosen = null;
  const apply = () => {
    const name = chosen ?? (system.matches ? "light" : "dark");
    document.documentElement.dataset.theme = name;
    change(name);
  };
  system.addEventListener("change", apply);
  const toggle = () => {
    chosen = document.documentElement.dataset.theme === "light" ? "dark" : "light";
    apply();
  };
  setIcon($("theme"), "theme");
  $("theme").addEventListener("click", toggle);
  apply();
  return toggle;
};

const setUpControls = (player, frameCount) => {
  const scrub = $("scrub");
  for (const rate of RATES) $("rate").add(new Option(`${rate}×`, rate));
  setIcon($("back"), "back");
  setIcon($("forward"), "forward");
  setIcon($("loop"), "loop");
  scrub.min = player.first;
  scrub.max = player.last;
  scrub.addEventListener("input", () => {
    const time = Number(scrub.value); // before the pause is told, which sets it
    player.pause();
    player.seek(time);
  });
  $("play").addEventListener("click", player.toggle);
  $("back").addEventListener("click", () => player.step(-1));
  $("forward").addEventListener("click", () => player.step(1));
  $("rate").addEventListener("change", () => player.setRate(Number($("rate").value)));
  $("loop").addEventListener("click", () => player.setLoop(!player.state.loop));

  let icon = "";
  player.listen((state) => {
    const { frame } = player.locate(state.time);
    $("time").textContent = seconds(state.time);
    $("frame").textContent = `frame ${frame + 1} of ${frameCount}`;
    scrub.value = state.time;
    scrub.setAttribute("aria-valuetext", seconds(state.time));
    const span = player.last - player.first;
    scrub.style.setProperty(
      "--done",
      `${span > 0 ? (100 * (state.time - player.first)) / span : 0}%`,
    );
    $("rate").value = state.rate;
    $("loop").setAttribute("aria-pressed", state.loop);
    const wanted = state.playing ? "pause" : "play";
    if (wanted !== icon) {
      setIcon($("play"), (icon = wanted));
      $("play").setAttribute("aria-label", wanted === "play" ? "Play" : "Pause");
    }
  });
  $("clock").hidden = false;
};

const setUpColours = (data, view) => {
  const select = $("colour");
  select.add(new Option("bodies", "body"));
  select.add(new Option("speed", "speed"));
  const apply = () => {
    view.bodies.setMode(select.value);
    view.redraw();
    $("ramp").hidden = select.value !== "speed";
  };
  $("ramp").querySelector("i").style.background = rampGradient();
  $("rampTop").textContent = quantity(view.bodies.topSpeed, "m/s", 2);
  select.addEventListener("change", apply);
  if (data.frameCount < 2) $("colourLabel").hidden = true;
  return () => {
    if (data.frameCount < 2) return;
    select.value = select.value === "body" ? "speed" : "body";
    apply();
  };
};

// The card of the body that was clicked.
const setUpCard = (data, view, player) => {
  const card = $("card");
  const canvas = $("canvas");
  let body = -1;
  const row = (name, value) => {
    const dt = document.createElement("dt");
    const dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = value;
    return [dt, dd];
  };
  const fill = () => {
    card.hidden = body < 0;
    if (body < 0) return;
    const { p } = view.bodies.poses;
    const title = document.createElement("b");
    title.textContent = data.meta.names[body] || `body ${body}`;
    const list = document.createElement("dl");
    list.append(
      ...row("index", digits(body)),
      ...row(
        "mass",
        data.kinds[body] === KIND.dynamic ? quantity(data.mass(body), "kg") : "prescribed motion",
      ),
      ...row(
        "position",
        `${[0, 1, 2].map((k) => digits(Math.round(p[3 * body + k] * 1e5) / 1e5, 5)).join(", ")} m`,
      ),
      ...(data.frameCount > 1 ? row("speed", quantity(view.bodies.speed(body), "m/s", 3)) : []),
    );
    card.replaceChildren(title, list);
  };
  const select = (index) => {
    body = index;
    view.bodies.select(index);
    view.redraw();
    fill();
  };
  let start = null;
  canvas.addEventListener("pointerdown", (e) => (start = [e.clientX, e.clientY]));
  canvas.addEventListener("pointerup", (e) => {
    if (!start || e.button !== 0 || Math.hypot(e.clientX - start[0], e.clientY - start[1]) > 4)
      return;
    const { left, top } = canvas.getBoundingClientRect();
    select(view.pick(e.clientX - left, e.clientY - top));
  });
  player.listen(fill);
  return select;
};

const setUpKeys = (player, view, actions) => {
  const turn = Math.PI / 36;
  const keys = {
    " ": player.toggle,
    ArrowLeft: (e) => player.step(e.shiftKey ? -10 : -1),
    ArrowRight: (e) => player.step(e.shiftKey ? 10 : 1),
    ArrowUp: () => player.faster(1),
    ArrowDown: () => player.faster(-1),
    Home: () => player.seek(player.first),
    End: () => player.seek(player.last),
    a: () => view.orbit(-turn, 0),
    d: () => view.orbit(turn, 0),
    w: () => view.orbit(0, -turn),
    s: () => view.orbit(0, turn),
    "+": () => view.zoom(1 / 1.15),
    "=": () => view.zoom(1 / 1.15),
    "-": () => view.zoom(1.15),
    f: view.fit,
    c: actions.colours,
    t: actions.theme,
    l: () => player.setLoop(!player.state.loop),
    "?": actions.help,
    Escape: () => actions.select(-1),
  };
  addEventListener(
    "keydown",
    (e) => {
      if (e.ctrlKey || e.altKey || e.metaKey) return;
      const action = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
      if (!action) return;
      e.preventDefault();
      action(e);
    },
    true,
  );
};

// Everything around the picture that needs it.
const setUpView = (data, view, player, theme) => {
  player.listen((state) => view.place(player.locate(state.time)));
  const help = () => {
    $("keys").hidden = !$("keys").hidden;
    $("help").setAttribute("aria-expanded", !$("keys").hidden);
  };
  const select = setUpCard(data, view, player);
  const colours = setUpColours(data, view);
  setUpKeys(player, view, { theme, help, colours, select });
  $("fit").addEventListener("click", view.fit);
  $("help").addEventListener("click", help);
  $("scale").textContent = `grid ${quantity(view.gridSpacing, "m", 2)}`;
  $("scale").hidden = !view.gridSpacing;
};

const tryView = (data) => {
  try {
    return createView($("canvas"), data);
  } catch (error) {
    $("note").textContent = `No picture: this browser gives no WebGL (${error.message}).`;
    $("note").hidden = false;
    return null;
  }
};

// What scripts can ask of the page.
const expose = (data, player, plots, drawnCount) => {
  window.cairn = {
    meta: data.meta,
    frameCount: data.frameCount,
    bodyCount: data.bodyCount,
    times: Array.from(data.times),
    positionError: data.packing.positionError,
    rotationError: data.packing.rotationError,
    decode: data.decode,
    play: player.play,
    pause: player.pause,
    seek: player.seek,
    seekFrame: player.seekFrame,
    get time() {
      return player.state.time;
    },
    get frame() {
      return player.locate(player.state.time).frame;
    },
    get playing() {
      return player.state.playing;
    },
    get drawnCount() {
      return drawnCount();
    },
    plots: plots.map(({ title, names, plot }) => {
      const [times, ...values] = plot.data;
      return { title, names, times, values };
    }),
    ready: true,
  };
};

const start = () => {
  const data = load();
  const player = createPlayer(data.times);
  showTitles(data);
  createSettings($("settings"), data);
  const view = tryView(data);
  const plots = createPlots($("plots"), data, player);
  const theme = setUpTheme((name) => {
    view?.setTheme(name);
    plots.redraw();
  });
  setUpControls(player, data.frameCount);
  if (view) setUpView(data, view, player, theme);

  // short runs start slowly, so that there is something to see
  const still = data.frameCount < 2;
  document.body.classList.toggle("still", still);
  const span = player.last - player.first;
  const slow = RATES.findLast((r) => span / r >= 2) ?? RATES[0];
  player.setRate(span >= 1.5 || still ? 1 : slow);

  let drawn = 0;
  let before = performance.now();
  const loop = (now) => {
    player.advance((now - before) / 1000);
    before = now;
    if (view?.draw()) drawn++;
    requestAnimationFrame(loop);
  };
  requestAnimationFrame(loop);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!still && view && !calm) player.play();
  expose(data, player, plots.plots, () => drawn);
};

start();
