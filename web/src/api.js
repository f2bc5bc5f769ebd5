// SPDX-License-Identifier: Apache-2.0
// What scripts can ask of the page: window.cairn, and the same by the address (#time=1&size=800x600&ui=0 ...), so that
// films are made frame by frame. docs/dev/page.md tells all of it.

const numbers = (text) => text.split(",").map(Number);

export const expose = ({ views, player, plots, picture, card, timeline, theme, drawnCount, ready }) => {
  const hide_ui = (hidden = true) => {
    document.body.classList.toggle("bare", hidden);
    window.dispatchEvent(new Event("resize"));
  };
  // What was drawn is there until the end of the task; a second call in it need not draw again.
  let fresh = false;
  const drawAll = () => {
    if (fresh && !views.some((v) => v.stale)) return;
    views.forEach((v) => v.drawNow());
    fresh = true;
    setTimeout(() => (fresh = false));
  };
  // The moment is drawn when it returns.
  const seek = (time) => {
    player.pause();
    player.seek(Number(time));
    drawAll();
    return player.state.time;
  };
  const size = (width, height) => views.forEach((v) => v.setSize(Number(width), Number(height)));
  const camera = (how) => {
    if (how?.fit) views.forEach((v) => v.eye.fit());
    else views.forEach((v) => v.eye.set(how ?? {}));
    drawAll();
  };
  // The picture as it is now, of the first run, as a data URL of the size that was asked for.
  const paper = document.createElement("canvas");
  const picture_url = (type = "image/png", quality) => {
    const [{ canvas }] = views;
    paper.width = canvas.clientWidth;
    paper.height = canvas.clientHeight;
    const context = paper.getContext("2d");
    context.imageSmoothingQuality = "high";
    drawAll();
    context.drawImage(canvas, 0, 0, paper.width, paper.height);
    return paper.toDataURL(type, quality);
  };
  const show = (name, on = true) => {
    if (name === "contacts") return ["points", "arrows"].forEach((part) => show(part, on));
    const found = picture.show.get(name);
    if (!found && ["points", "arrows", "chains"].includes(name))
      throw new RangeError(`${name}: no contacts are recorded (cairn run --record contacts)`);
    // nothing stands in the way: all is seen as it is
    if (!found && name === "glass") return;
    if (!found && name === "joints") throw new RangeError("joints: the run has none");
    if (!found) throw new RangeError(`nothing to show by that name: ${[...picture.show.keys()].join(", ")}`);
    found.set(on);
  };
  const settled = async () => {
    while (views.some((v) => !v.resting)) await new Promise((done) => requestAnimationFrame(done));
  };
  // getters stay getters
  const more = {
    ready,
    settled,
    hide_ui,
    seek,
    size,
    camera,
    picture: picture_url,
    show,
    sharp: (on) => views.forEach((v) => v.setSharp(on)),
    colour: (name) => picture.colours.set(name),
    section: (axis, share = 0.5, flip = false) => picture.section.set({ axis, share, flip }),
    theme,
    select: (body, run = 0) => card.select(views[run], body),
    hide: (bodies, run = 0) => views[run].look.hide(bodies),
    isolate: (bodies, run = 0) => views[run].look.isolate(bodies),
    showAll: () => views.forEach((v) => v.look.showAll()),
    visible: (body, run = 0) => views[run].look.visible(body),
    // not one that waits in a source
    shown: (body, run = 0) => views[run].look.visible(body) && views[run].bodies.poses.p[3 * body] < 1e8,
    look: (body, run = 0) => ({
      colour: `#${views[run].bodies.colourOf(body).getHexString()}`,
      opacity: Math.round(views[run].look.opacity(body) * 1e6) / 1e6,
    }),
    glass: (run = 0) => views[run].walls.filter((w) => w.glass).map((w) => w.body),
    marks: (run = 0) => ({ joints: views[run].joints.count, ...views[run].forces.counts() }),
    contacts: (frame, run = 0) => {
      const { count, first, bodies, numbers: all } = views[run].data.contacts.at(frame);
      return Array.from({ length: count }, (_, i) => {
        const k = 8 * (first + i);
        return {
          bodies: [bodies[k], bodies[k + 1]],
          point: Array.from(all.subarray(k + 2, k + 5)),
          force: Array.from(all.subarray(k + 5, k + 8)),
        };
      });
    },
    events: timeline.marks,
    ruler: () => picture.ruler.distance(),
    project: (point, run = 0) => views[run].project({ x: point[0], y: point[1], z: point[2] }, [0, 0]),
    get software() {
      return views[0].software;
    },
    get drawnCount() {
      return drawnCount();
    },
    plots: plots.list(),
    get pickedPlots() {
      return plots.pickedList();
    },
  };
  Object.defineProperties(window.cairn, Object.getOwnPropertyDescriptors(more));
};

// Playback and data, which are there without a picture too.
export const exposeData = (runs, player) => {
  const [data] = runs;
  window.cairn = {
    runs: runs.length,
    meta: data.meta,
    frames: data.frameCount,
    frameCount: data.frameCount,
    bodyCount: data.bodyCount,
    times: Array.from(data.times),
    positionError: data.packing.positionError,
    rotationError: data.packing.rotationError,
    decode: (frame, body, run = 0) => runs[run].decode(frame, body),
    twist: (frame, body, run = 0) =>
      runs[run].twist ? Array.from(runs[run].twist(frame, body, new Float64Array(6))) : null,
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
  };
};

// What the address asks for. `pictures=N&start=T&fps=F` leaves N pictures in the document, one <img> each.
export const obeyAddress = async (hash) => {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  const { cairn } = window;
  const has = (name) => asked.has(name);
  if (has("theme")) cairn.theme(asked.get("theme"));
  if (has("ui") && asked.get("ui") === "0") cairn.hide_ui();
  if (has("size")) cairn.size(...asked.get("size").split("x"));
  if (has("colour")) cairn.colour(asked.get("colour"));
  for (const name of (asked.get("show") ?? "").split(",").filter(Boolean)) cairn.show(name);
  for (const name of (asked.get("no") ?? "").split(",").filter(Boolean)) cairn.show(name, false);
  if (has("from") || has("to"))
    cairn.camera({
      from: has("from") ? numbers(asked.get("from")) : undefined,
      to: has("to") ? numbers(asked.get("to")) : undefined,
      fov: Number(asked.get("fov")),
    });
  else if (["azimuth", "elevation", "zoom", "fov"].some(has)) {
    const how = {};
    for (const k of ["azimuth", "elevation", "zoom", "fov"]) if (has(k)) how[k] = Number(asked.get(k));
    cairn.camera(how);
  }
  if (has("time")) cairn.seek(asked.get("time"));
  const count = Number(asked.get("pictures") ?? 0);
  for (let i = 0; i < count; i++) {
    cairn.seek(Number(asked.get("start") ?? 0) + i / Number(asked.get("fps") ?? 30));
    const image = document.createElement("img");
    image.dataset.cairnPicture = i;
    image.src = cairn.picture();
    document.body.append(image);
  }
};
