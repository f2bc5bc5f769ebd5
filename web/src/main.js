// SPDX-License-Identifier: Apache-2.0
// The page: data in, playback, plots and tables out, and what mouse and keys do. One run, or two side by side with
// one clock and one camera.
import { expose, exposeData, obeyAddress } from "./api.js";
import { load, runPrefixes } from "./data/data.js";
import { seconds } from "./data/format.js";
import { createLook } from "./look.js";
import { createBodyList } from "./panel/bodies.js";
import { createCard, motionOf } from "./panel/card.js";
import { element, setIcon, $ } from "./panel/elements.js";
import { setUpPicture } from "./panel/picture.js";
import { createPlots } from "./panel/plots.js";
import { createPopovers } from "./panel/popovers.js";
import { createSettings } from "./panel/settings.js";
import { createTimeline } from "./panel/timeline.js";
import { runNames, showTitles } from "./panel/titles.js";
import { createPlayer, locateIn, RATES } from "./player.js";
import { createView } from "./view3d.js";

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
  return {
    toggle,
    set: (name) => {
      if (name !== "light" && name !== "dark") throw new RangeError("themes: light, dark");
      chosen = name;
      apply();
    },
  };
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

// A click without a drag: the end of a ruler, or a body.
const setUpClicks = (views, card, ruler) => {
  for (const view of views) {
    const { canvas } = view;
    let start = null;
    canvas.addEventListener("pointerdown", (e) => (start = [e.clientX, e.clientY]));
    canvas.addEventListener("pointerup", (e) => {
      if (!start || e.button !== 0 || Math.hypot(e.clientX - start[0], e.clientY - start[1]) > 4)
        return;
      const { left, top } = canvas.getBoundingClientRect();
      const { body, point } = view.pick(e.clientX - left, e.clientY - top);
      if (ruler.on) ruler.add(view, body, point);
      else card.select(view, body);
    });
  }
};

// Keys that need no picture.
const playerKeys = (player, theme) => ({
  " ": player.toggle,
  ArrowLeft: (e) => player.step(e.shiftKey ? -10 : -1),
  ArrowRight: (e) => player.step(e.shiftKey ? 10 : 1),
  ArrowUp: () => player.faster(1),
  ArrowDown: () => player.faster(-1),
  Home: () => player.seek(player.first),
  End: () => player.seek(player.last),
  t: theme.toggle,
  l: () => player.setLoop(!player.state.loop),
});

const pictureKeys = (views, { card, picture, popovers, bodyList }) => {
  const turn = Math.PI / 36;
  const [view] = views;
  const show = (name) => () => picture.show.get(name)?.toggle();
  const escape = () => {
    if (popovers.close()) return;
    if (picture.ruler.on) return picture.ruler.setOn(false);
    if (card.picked.body >= 0) return card.select(card.picked.view, -1);
    picture.section.close();
  };
  return {
    a: () => view.eye.orbit(-turn, 0),
    d: () => view.eye.orbit(turn, 0),
    w: () => view.eye.orbit(0, -turn),
    s: () => view.eye.orbit(0, turn),
    "+": () => view.eye.zoom(1 / 1.15),
    "=": () => view.eye.zoom(1 / 1.15),
    "-": () => view.eye.zoom(1.15),
    f: view.eye.fit,
    c: picture.colours.next,
    j: show("joints"),
    k: show("arrows"),
    n: show("chains"),
    r: show("trails"),
    x: picture.section.next,
    m: () => picture.ruler.setOn(!picture.ruler.on),
    h: card.hide,
    i: card.isolate,
    u: bodyList.showAll,
    b: () => popovers.toggle($("bodies")),
    "?": () => popovers.toggle($("keys")),
    Escape: escape,
  };
};

const setUpKeys = (keys) =>
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

// ---- pictures ----

// A view for each run; the second one's canvas is made here.
const createViews = (runs) => {
  const views = [];
  const names = runs.length > 1 ? runNames(runs) : [];
  document.body.classList.toggle("pair", runs.length > 1);
  runs.forEach((data, i) => {
    let canvas = $("canvas");
    if (i > 0) {
      const box = element("div", "view");
      canvas = element("canvas", "second");
      canvas.tabIndex = 0;
      box.append(canvas);
      $("view").after(box);
    }
    if (runs.length > 1) {
      const label = element("p", "runName glass");
      label.append(element("b", "", "AB"[i]), element("span", "", names[i]));
      canvas.parentElement.append(label);
    }
    views.push(Object.assign(createView(canvas, data, createLook(data)), { canvas }));
  });
  views.forEach((v) => v.eye.onMove(() => views.forEach((w) => w !== v && w.eye.copy(v.eye))));
  return views;
};

// Without WebGL 2 the page says so where the picture would be; plots, tables and the clock work.
const tryViews = (runs) => {
  let why = "";
  if (document.createElement("canvas").getContext("webgl2"))
    try {
      return createViews(runs);
    } catch (error) {
      console.info(error);
      why = ` (${error.message})`;
    }
  document.body.classList.add("blind");
  $("note").textContent =
    `No picture: this browser gives no WebGL 2${why}. Plots, figures and the clock work. ` +
    "Switch graphics acceleration on in the browser's settings, try another browser, or make pictures by cairn render.";
  $("note").hidden = false;
  return [];
};

// Everything around the pictures that needs them.
const setUpViews = (views, player, plots, theme) => {
  player.listen((state) => views.forEach((v) => v.place(locateIn(v.data.times, state.time))));
  const picture = setUpPicture(views, views.map((v) => v.canvas));
  const card = createCard(views, player, (picked) =>
    plots.showPicked(
      picked ? picked.view.data.nameOf(picked.body) : "",
      picked && picked.view.data.moves(picked.body) && picked.view.data.frameCount > 1
        ? motionOf(picked.view.data, picked.body)
        : null,
    ),
  );
  const popovers = createPopovers([
    [$("showButton"), $("show")],
    [$("bodiesButton"), $("bodies")],
    [$("help"), $("keys")],
  ]);
  const bodyList = createBodyList(views, card.select);
  $("fit").addEventListener("click", () => views.forEach((v) => v.eye.fit()));
  setUpClicks(views, card, picture.ruler);
  setUpKeys({ ...playerKeys(player, theme), ...pictureKeys(views, { card, picture, popovers, bodyList }) });
  return { picture, card };
};

const start = () => {
  const runs = runPrefixes().map(load);
  const [data] = runs;
  const player = createPlayer(data.times, runs.slice(1).map((r) => r.times));
  exposeData(runs, player);
  showTitles(runs);
  runs.forEach((run, i) => createSettings($("settings"), run, runs.length > 1 ? "AB"[i] : ""));
  const views = tryViews(runs);
  const plots = createPlots(runs, player);
  const timeline = createTimeline(data, player);
  const theme = setUpTheme((name) => {
    views.forEach((v) => v.setTheme(name));
    plots.redraw();
    timeline.redraw();
  });
  setUpControls(player, data.frameCount);
  const around = views.length ? setUpViews(views, player, plots, theme) : null;
  if (!around) setUpKeys(playerKeys(player, theme));

  // short runs start slowly, so that there is something to see
  const still = data.frameCount < 2;
  document.body.classList.toggle("still", still);
  const span = player.last - player.first;
  const slow = RATES.findLast((r) => span / r >= 2) ?? RATES[0];
  player.setRate(span >= 1.5 || still ? 1 : slow);

  // the watch starts with the first picture: the first ones take their time
  let drawn = 0;
  let before = null;
  let tellReady;
  const ready = new Promise((done) => (tellReady = done));
  const loop = (now) => {
    if (before !== null) player.advance((now - before) / 1000);
    before = drawn > 0 || !views.length ? now : null;
    let any = false;
    for (const v of views) any = v.draw() || any;
    if (any) {
      drawn++;
      around.picture.ruler.tell();
    }
    if (drawn > 0 || !views.length) tellReady(true);
    requestAnimationFrame(loop);
  };
  requestAnimationFrame(loop);
  document.addEventListener("visibilitychange", () => (before = null));
  if (views.length)
    expose({ views, player, ...around, plots, timeline, theme: theme.set, drawnCount: () => drawn, ready });
  else window.cairn.ready = ready;
  const asked = location.hash.length > 1;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!still && views.length && !calm && !asked) player.play();
  if (asked && views.length) window.cairn.ready = ready.then(() => obeyAddress(location.hash));
};

start();
