// SPDX-License-Identifier: Apache-2.0
// The page in a browser: it shows what the run file holds, plays, answers mouse and keys, and keeps quiet otherwise.
// usage: node test_page.mjs PAGES WEB PICTURES, PAGES the program of pages.c, WEB the folder with node_modules,
// PICTURES a folder in which pictures of the pages are left to be looked at.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { drawn, openBrowser, skipWithout } from "./browser.mjs";

const [pages, web, pictures] = process.argv.slice(2);
skipWithout(web);

const here = dirname(fileURLToPath(import.meta.url));
const EVERYTHING = join(here, "everything.json");
const folder = mkdtempSync(join(tmpdir(), "cairn-pages-"));
const make = (...words) => execFileSync(pages, [...words, folder]);
let browser;

before(async () => {
  browser = await openBrowser(web, pictures);
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const length = (v) => Math.hypot(...v);
const angle = (a, b) => {
  const sign = a.reduce((sum, x, i) => sum + x * b[i], 0) < 0 ? -1 : 1;
  return 2 * length(a.map((x, i) => x - sign * b[i]));
};

// Something that must change the picture.
const changer = async (page) => {
  await drawn(page);
  let last = await browser.look(page, "#canvas");
  return async (what, least = 0.002) => {
    await drawn(page);
    const next = await browser.look(page, "#canvas");
    assert.ok((await browser.difference(last, next)) > least, `${what} changes nothing`);
    last = next;
  };
};

// Where a body is on the screen.
const spot = async (page, body) => {
  const box = await page.locator("#canvas").boundingBox();
  const [x, y] = await page.evaluate((b) => cairn.project(cairn.decode(cairn.frame, b).position), body);
  return [box.x + x, box.y + y];
};

test("a run", async (t) => {
  make("run", EVERYTHING, "400", "50");
  const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
  const { page, trouble } = await browser.open(join(folder, "run.html"));
  const names = await page.evaluate("cairn.meta.names");
  const body = (name) => names.indexOf(name);

  await t.test("has all frames and bodies", async () => {
    assert.equal(await page.evaluate("cairn.frames"), truth.frames);
    assert.equal(await page.evaluate("cairn.bodyCount"), truth.bodies);
    await browser.keep(page, "run");
  });

  await t.test("decodes the poses of the run file within the stated errors", async () => {
    const positionError = await page.evaluate("cairn.positionError");
    const rotationError = await page.evaluate("cairn.rotationError");
    assert.ok(positionError > 0 && positionError < 1e-3);
    assert.ok(rotationError > 0 && rotationError < 1e-3);
    assert.equal(truth.poses.length, 20);
    let worst = 0;
    for (const want of truth.poses) {
      const got = await page.evaluate(
        ([f, b]) => ({ ...cairn.decode(f, b), time: cairn.times[f] }),
        [want.frame, want.body],
      );
      assert.equal(got.time, want.time);
      const off = length(got.position.map((x, k) => x - want.position[k]));
      assert.ok(off <= positionError, `frame ${want.frame}, body ${want.body}: ${off} m off`);
      assert.ok(angle(got.rotation, want.rotation) <= rotationError * (1 + 1e-9));
      worst = Math.max(worst, off);
    }
    assert.ok(worst > positionError / 1000, "the stated error is far from what occurs");
    assert.match(await page.locator("#settings").innerText(), /worst error [\d.]+ [nµm]?m/);
  });

  await t.test("has velocities and contacts of the run file", async () => {
    const last = truth.frames - 1;
    const twist = await page.evaluate(([f, b]) => cairn.twist(f, b), [last, truth.bodies - 1]);
    // half precision: 11 bits
    twist.forEach((x, k) => assert.ok(Math.abs(x - truth.twist[k]) <= Math.abs(truth.twist[k]) / 2048 + 6e-8));
    const contacts = await page.evaluate((f) => cairn.contacts(f), last);
    assert.equal(contacts.length, truth.contacts);
    assert.ok(contacts.length > 10);
    contacts.sort((a, b) => length(b.force) - length(a.force));
    assert.deepEqual(contacts[0].bodies, truth.strongest.bodies);
    for (const what of ["point", "force"])
      contacts[0][what].forEach((x, k) => assert.equal(x, Math.fround(truth.strongest[what][k])));
  });

  await t.test("plots sensors first, then what moves; figures of the solver are folded", async () => {
    const plots = await page.evaluate("cairn.plots");
    const titles = plots.map((p) => p.title);
    assert.match(titles[0], /^Sensor/);
    const at = (title) => titles.indexOf(title);
    for (const title of ["Energy", "Contacts", "Residual", "Iterations"]) assert.ok(at(title) > 0, title);
    assert.ok(at("Energy") < at("Joint reactions") && at("Joint reactions") < at("Residual"));
    for (const plot of plots) {
      assert.equal(plot.inner, at("Residual") <= plots.indexOf(plot));
      for (const values of plot.values) {
        assert.equal(values.length, plot.times.length);
        assert.ok(values.some((v) => v !== null && v !== 0), `${plot.title} is empty`);
      }
    }
    assert.equal(await page.locator("#innards").getAttribute("open"), null);
    assert.equal(await page.locator("#innards .plot").count(), 0);
    const before = await page.locator(".plot").count();
    await page.locator("#innards summary").click();
    await page.locator("#innards .plot").first().waitFor();
    assert.ok((await page.locator(".plot").count()) > before);
    const last = (title, name) => {
      const plot = plots.find((p) => p.title === title);
      return plot.values[plot.names.indexOf(name)].at(-1);
    };
    assert.equal(last("Energy", "kinetic_energy"), truth.lastKineticEnergy);
    assert.equal(last("Contacts", "contacts"), truth.lastContacts);
    const sum = last("Energy", "kinetic_energy") + last("Energy", "potential_energy");
    assert.equal(last("Energy", "total_energy"), sum);
    // and something is drawn
    assert.ok((await browser.look(page, ".plot canvas >> nth=0")).colours > 20);
    await page.locator("#innards summary").click();
  });

  await t.test("draws the scene, and plays it", async () => {
    const start = await browser.look(page, "#canvas");
    assert.ok(start.colours > 500, "the canvas is blank");
    assert.equal(await page.evaluate("cairn.playing"), false);
    await page.locator("#play").click();
    await page.waitForFunction(() => cairn.playing && cairn.time > 0.1, null, { timeout: 60000 });
    await page.locator("#play").click();
    assert.equal(await page.evaluate("cairn.playing"), false);
    await drawn(page);
    const once = await browser.look(page, "#canvas");
    assert.ok((await browser.difference(start, once)) > 0.005, "nothing moves");
    const twice = await browser.look(page, "#canvas");
    assert.equal(await browser.difference(once, twice), 0, "it moves while paused");
  });

  await t.test("obeys the keys", async () => {
    const frame = () => page.evaluate("cairn.frame");
    const playing = () => page.evaluate("cairn.playing");
    await page.evaluate("cairn.seekFrame(5)");
    await page.keyboard.press("ArrowRight");
    assert.equal(await frame(), 6);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await frame(), 4);
    await page.keyboard.press("Shift+ArrowRight");
    assert.equal(await frame(), 14);
    await page.keyboard.press("End");
    assert.equal(await frame(), truth.frames - 1);
    await page.keyboard.press("Home");
    assert.equal(await frame(), 0);
    await page.keyboard.press("Space");
    assert.equal(await playing(), true);
    await page.keyboard.press("Space");
    assert.equal(await playing(), false);
    const rate = await page.locator("#rate").inputValue();
    await page.keyboard.press("ArrowUp");
    assert.ok(Number(await page.locator("#rate").inputValue()) > Number(rate));
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.locator("#rate").inputValue(), rate);
    // Escape closes the list of keys
    await page.keyboard.press("?");
    assert.equal(await page.locator("#keys").isVisible(), true);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#keys").isVisible(), false);
  });

  await t.test("scrubs, and the plots follow", async () => {
    const heads = () =>
      page.$$eval("#plots .playhead", (all) => all.map((e) => e.getBoundingClientRect().left));
    const legend = () => page.locator("#plots .legend >> nth=0").innerText();
    const end = await page.evaluate("cairn.times.at(-1)");
    const box = await page.locator("#scrub").boundingBox();
    await page.mouse.click(box.x + 0.25 * box.width, box.y + box.height / 2);
    assert.ok(Math.abs((await page.evaluate("cairn.time")) / end - 0.25) < 0.03);
    const [first, told] = [await heads(), await legend()];
    await page.mouse.click(box.x + 0.75 * box.width, box.y + box.height / 2);
    assert.ok(Math.abs((await page.evaluate("cairn.time")) / end - 0.75) < 0.03);
    const second = await heads();
    assert.ok(first.length >= 4 && second.every((x, i) => x > first[i] + 20));
    assert.notEqual(await legend(), told);
    // a click on a plot goes there
    const over = page.locator("#plots .u-over >> nth=1");
    const { width, height } = await over.boundingBox();
    await over.click({ position: { x: 0.5 * width, y: height / 2 } });
    assert.ok(Math.abs((await page.evaluate("cairn.time")) / end - 0.5) < 0.05);
  });

  await t.test("shows events on the time line", async () => {
    const events = await page.evaluate("cairn.events");
    const began = events.filter((e) => e.kind === "contact began");
    assert.ok(began.length > 10);
    assert.ok(began.every((e) => e.time >= 0 && e.time <= 0.801 && e.bodyA >= 0 && e.bodyB >= 0));
    const flags = await page.evaluate(() => {
      const plot = cairn.plots.find((p) => p.names.includes("converged"));
      return plot.values[plot.names.indexOf("converged")].filter((v) => v === 0).length;
    });
    assert.ok(flags > 0);
    assert.equal(events.filter((e) => e.kind === "step not converged").length, flags);
    assert.ok((await browser.look(page, "#events")).colours > 3);
    const { x, y, width } = await page.locator("#events").boundingBox();
    const end = await page.evaluate("cairn.times.at(-1)");
    const at = began[Math.floor(began.length / 2)].time;
    await page.mouse.move(x + (at / end) * width, y + 8);
    assert.match(await page.locator("#events").getAttribute("title"), /contact began: .+, .+, [\d.]+ s/);
    await page.mouse.click(x + (at / end) * width, y + 8);
    assert.ok(Math.abs((await page.evaluate("cairn.time")) - at) < 0.02);
  });

  await t.test("turns, zooms, changes the theme", async () => {
    await page.evaluate("cairn.seekFrame(20)");
    const changes = await changer(page);
    const { x, y, width, height } = await page.locator("#canvas").boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + 120, y + height / 2 + 20, { steps: 4 });
    await page.mouse.up();
    await changes("dragging");
    await page.mouse.wheel(0, -400);
    await page.waitForTimeout(200);
    await changes("the wheel");
    await page.keyboard.press("d");
    await changes("the key D");
    await page.keyboard.press("f");
    await changes("the key F");
    await page.keyboard.press("t");
    await changes("the theme");
    assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "light");
    await browser.keep(page, "light");
    await page.keyboard.press("t");
  });

  await t.test("stays in sight when the window gets narrow", async () => {
    const outside = () =>
      page.evaluate(() => {
        const { clientWidth: w, clientHeight: h } = document.getElementById("canvas");
        const all = Array.from({ length: cairn.bodyCount - 1 }, (_, i) => i + 1);
        const places = all.map((i) => cairn.project(cairn.decode(cairn.frame, i).position));
        return places.filter(([x, y]) => x < 0 || y < 0 || x > w || y > h).length;
      });
    await page.keyboard.press("d"); // by hand: the camera is not fitted again by itself
    assert.equal(await outside(), 0);
    await page.setViewportSize({ width: 560, height: 700 });
    await drawn(page);
    assert.equal(await outside(), 0, "the narrow window crops");
    await browser.keep(page, "narrow");
    await page.setViewportSize({ width: 960, height: 600 });
    await page.keyboard.press("f");
    await drawn(page);
    assert.equal(await outside(), 0);
  });

  await t.test("tells what a body is, how it moves and what presses on it", async () => {
    await page.evaluate("cairn.seek(0.7)");
    await drawn(page);
    await page.mouse.click(...(await spot(page, body("crate 2"))));
    const card = await page.locator("#card").innerText();
    for (const row of [
      /crate 2/,
      /mass\s+13.5 kg/,
      /material\s+rubber/,
      /position\s+1\.2/,
      /speed\s+[\d.e-]+ [nµm]?m\/s/,
      /spin\s+[\d.e-]+ [nµm]?rad\/s/,
      /contacts\s+\d: crate 1 [\d.]+ k?N/,
      /contact force\s+[\d.]+ k?N/,
    ])
      assert.match(card, row);
    assert.equal(await page.locator("#picked .plot").count(), 4);
    const picked = await page.evaluate("cairn.pickedPlots");
    assert.deepEqual(picked.map((p) => p.title), ["Position", "Speed", "Spin", "Contact force"]);
    assert.ok(picked.every((p) => p.values[0].length === truth.frames));
    await browser.keep(page, "picked");
    // the force on the upper crate at rest is its weight
    const weight = picked[3].values[0].at(-1);
    assert.ok(Math.abs(weight / (13.5 * 9.81) - 1) < 0.05, `${weight} N`);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#card").isVisible(), false);
    assert.equal(await page.locator("#picked").isVisible(), false);
  });

  await t.test("lets fixed bodies be picked too", async () => {
    const { x, y, width, height } = await page.locator("#canvas").boundingBox();
    await page.mouse.click(x + 0.5 * width, y + 0.97 * height);
    assert.match(await page.locator("#card").innerText(), /floor[\s\S]*mass\s+fixed/);
    await page.keyboard.press("Escape");
  });

  await t.test("turns walls to glass, of bodies that are moved too, and keeps them so", async () => {
    const tray = names.findIndex((n) => n.includes("tray"));
    const glass = () => page.evaluate("cairn.glass()");
    const first = await glass();
    assert.ok(first.length >= 2 && first.every((b) => b === tray));
    for (const time of [0, 0.3, 0.8]) {
      await page.evaluate((at) => cairn.seek(at), time);
      assert.deepEqual(await glass(), first);
    }
    const changes = await changer(page);
    await page.locator("#showButton").click();
    await page.locator("#show-glass").click();
    await changes("walls that are no glass", 0.01);
    assert.deepEqual(await glass(), []);
    await page.locator("#show-glass").click();
    await changes("walls of glass", 0.01);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#show").isVisible(), false);
  });

  await t.test("hides, isolates and colours bodies, grouped by name", async () => {
    const changes = await changer(page);
    await page.locator("#bodiesButton").click();
    const rows = page.locator("#bodyList .group");
    const texts = (await rows.allInnerTexts()).join("\n");
    assert.match(texts, /ball\s+18/);
    assert.match(texts, /crate\s+2/);
    const row = (name) => page.locator("#bodyList .group", { has: page.getByRole("button", { name, exact: true }) });
    await row("ball").locator('input[type="checkbox"]').click();
    assert.equal(await page.evaluate((b) => cairn.visible(b), body("ball 3")), false);
    await changes("hiding the balls");
    await row("crate").getByRole("button", { name: "only" }).click();
    const seen = await page.evaluate(() => cairn.meta.names.filter((_, i) => cairn.visible(i)));
    assert.deepEqual(seen, ["crate 1", "crate 2"]);
    await changes("isolating the crates");
    await page.keyboard.press("Escape"); // the list is in the way
    await changes("closing the list");
    await page.keyboard.press("b");
    await row("crate").locator('input[type="color"]').fill("#00ff00");
    await page.keyboard.press("Escape");
    await changes("a colour");
    await page.keyboard.press("b");
    await row("crate").locator("button.open").click();
    assert.equal(await page.locator(".members:visible .bodyRow").count(), 2);
    await browser.keep(page, "bodies");
    await page.locator("#showAll").click();
    assert.equal(await page.evaluate((b) => cairn.visible(b), body("ball 3")), true);
    await changes("showing all");
    await page.keyboard.press("Escape");
    // and by the keys: the body that was picked
    await page.evaluate((b) => cairn.select(b), body("cone"));
    await page.keyboard.press("h");
    assert.equal(await page.evaluate((b) => cairn.visible(b), body("cone")), false);
    await page.keyboard.press("u");
    await page.evaluate((b) => cairn.select(b), body("cone"));
    await page.keyboard.press("i");
    assert.equal(await page.evaluate((b) => cairn.visible(b), body("crate 1")), false);
    await page.keyboard.press("u");
    await page.keyboard.press("Escape");
  });

  await t.test("colours by speed, energy, force, size, material and group, with a legend", async () => {
    await page.evaluate("cairn.seek(0.2)");
    const changes = await changer(page);
    const options = await page.$$eval("#colour option", (all) => all.map((o) => o.value));
    assert.deepEqual(options, ["body", "group", "material", "speed", "energy", "force", "size"]);
    for (const [name, unit] of [["speed", "m/s"], ["energy", "J"], ["force", "N"], ["size", "m"]]) {
      await page.locator("#colour").selectOption(name);
      await changes(`colour by ${name}`);
      assert.match(await page.locator("#ramp").innerText(), new RegExp(`\\d [kmµ]?${unit}$`));
      if (name === "force") await browser.keep(page, "by-force");
    }
    await page.locator("#colour").selectOption("material");
    await changes("colour by material");
    assert.match(await page.locator("#classes").innerText(), /steel[\s\S]*rubber/);
    await page.keyboard.press("c");
    assert.equal(await page.locator("#colour").inputValue(), "speed");
    await page.locator("#colour").selectOption("body");
  });

  await t.test("draws joints and drives, contacts, force arrows and chains, trails", async () => {
    await page.evaluate("cairn.seekFrame(35)");
    const changes = await changer(page);
    const marks = await page.evaluate("cairn.marks()");
    assert.equal(marks.joints, 4); // and a spring
    const contacts = await page.evaluate("cairn.contacts(cairn.frame).length");
    assert.equal(marks.arrows, contacts); // few: shown from the beginning
    assert.match(await page.locator("#arrowLegend").innerText(), /→ [\d.]+ m?m = [\d.]+ k?N/);
    await page.keyboard.press("k");
    await changes("no arrows", 0.0005);
    assert.equal((await page.evaluate("cairn.marks()")).arrows, 0);
    assert.equal(await page.locator("#arrowLegend").isVisible(), false);
    await page.keyboard.press("n");
    await changes("chains");
    assert.equal((await page.evaluate("cairn.marks()")).chains, contacts);
    assert.match(await page.locator("#chainLegend").innerText(), /chains 0\s+[\d.]+ k?N/);
    await browser.keep(page, "chains");
    await page.keyboard.press("n");
    await page.keyboard.press("k");
    await drawn(page);
    await changes("arrows", 0.0005);
    await page.keyboard.press("j");
    await changes("no joints", 0.0005);
    await page.keyboard.press("j");
    await page.keyboard.press("r");
    await changes("trails", 0.0005);
    await browser.keep(page, "trails");
    await page.keyboard.press("r");
  });

  await t.test("draws bodies without shapes", async () => {
    await page.evaluate("cairn.seek(0)");
    await drawn(page);
    const [x, y] = await spot(page, body("upper link"));
    await page.mouse.click(x, y + 6);
    assert.match(await page.locator("#card").innerText(), /upper link[\s\S]*joints\s+shoulder, elbow/);
    await page.keyboard.press("Escape");
  });

  await t.test("cuts the scene open", async () => {
    await page.evaluate("cairn.seek(0.8)");
    const changes = await changer(page);
    await page.keyboard.press("x");
    await changes("a section across x", 0.01);
    await page.locator("#showButton").click();
    await page.locator('input[name="axis"][value="1"]').click();
    await changes("a section across y", 0.01);
    assert.match(await page.locator("#sectionFigure").innerText(), /^y = /);
    await page.locator("#sectionFlip").click();
    await changes("the other half", 0.01);
    await page.locator("#sectionShare").fill("0.6");
    await changes("another place", 0.001);
    await browser.keep(page, "section");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await changes("no section", 0.01);
  });

  await t.test("measures between two places", async () => {
    await page.evaluate("cairn.seek(0)");
    await drawn(page);
    await page.locator("#rulerButton").click();
    for (const name of ["bob", "kite"]) await page.mouse.click(...(await spot(page, body(name))));
    const found = await page.evaluate("cairn.ruler()");
    // from the near side of one ball to that of the other: their centres are 1.6 m apart
    assert.ok(Math.abs(found.length - 1.6) < 0.06, `${found.length} m`);
    assert.deepEqual(found.bodies, [body("bob"), body("kite")]);
    assert.match(await page.locator("#rulerText").innerText(), /^1\.[56]\d* m {2}\(x .+ y .+ z .+\)$/);
    await browser.keep(page, "ruler");
    // its ends go with the bodies
    await page.evaluate("cairn.seek(0.5)");
    const later = await page.evaluate("cairn.ruler()");
    assert.ok(Math.abs(later.length - found.length) > 1e-3);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#rulerText").isVisible(), false);
  });

  await t.test("shows names with markup as text", async () => {
    const tray = names.findIndex((n) => n.includes("tray"));
    await page.evaluate((b) => cairn.select(b), tray);
    assert.match(await page.locator("#card").innerText(), /<b onmouseover=alert\(1\)>tray<\/b>/);
    await page.locator("#bodiesButton").click();
    assert.match(await page.locator("#bodyList").innerText(), /<b onmouseover=alert\(1\)>tray<\/b>/);
    assert.match(await page.locator("#plots").innerText(), /height of <i>bob<\/i>/);
    assert.equal(await page.locator("#card b b, #bodyList b, #plots h2 i").count(), 0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
  });

  await t.test("has the settings, and the verdict on top", async () => {
    const text = await page.locator("#settings").innerText();
    for (const row of [
      /Solver\s+psor/,
      /Integrator\s+impulse/,
      /Time step h\s+[\d.]+ ms/,
      /State\s+complete/,
      /Cairn\s+\d+\.\d+\.\d+/,
      /Frames\s+all/,
      /Contacts\s+all/,
    ])
      assert.match(text, row);
    assert.match(await page.locator("#state").innerText(), /^complete$/);
    assert.match(await page.locator("#verdict").innerText(), /trusted: 400 steps/);
    const [verdict, main] = [page.locator("#verdict"), page.locator("#main")];
    assert.ok((await verdict.boundingBox()).y < (await main.boundingBox()).y);
  });

  await t.test("can be driven by a script, picture by picture", async () => {
    const told = await page.evaluate(async () => {
      cairn.hide_ui();
      cairn.size(320, 200);
      cairn.camera({ azimuth: 30, elevation: 40, zoom: 1.2 });
      const load = async (url) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        return [image.width, image.height];
      };
      const at = cairn.seek(0.4);
      const first = cairn.picture();
      cairn.seek(0.1);
      const second = cairn.picture();
      cairn.seek(0.4);
      return { at, size: await load(first), moves: first !== second, again: first === cairn.picture() };
    });
    assert.deepEqual(told, { at: 0.4, size: [320, 200], moves: true, again: true });
    assert.equal(await page.locator("#controls").isVisible(), false);
    await page.evaluate("cairn.size(0, 0); cairn.hide_ui(false); cairn.camera({ fit: true })");
  });

  assert.deepEqual(trouble, []);
  await page.close();
});

test("the clock begins at zero and never goes back", async () => {
  const { page, trouble } = await browser.open(join(folder, "run.html"), { calm: false });
  const times = await page.evaluate("window.clock");
  assert.ok(times.length > 0 && times[0] === 0);
  assert.ok(times.every((t, i) => t >= 0 && (i === 0 || t >= times[i - 1] || times[i - 1] > 0.7)));
  await page.waitForFunction(() => cairn.time > 0.05, null, { timeout: 30000 });
  assert.deepEqual(trouble, []);
  await page.close();
});

test("an address asks for a moment, a size and a camera", async () => {
  const hash = "#time=0.3&size=300x200&ui=0&theme=light&azimuth=10&elevation=60&no=joints&pictures=2&fps=10";
  const { page, trouble } = await browser.open(join(folder, "run.html"), { hash });
  assert.equal(await page.locator("#canvas").evaluate((c) => [c.clientWidth, c.clientHeight].join()), "300,200");
  assert.equal(await page.locator("#top").isVisible(), false);
  assert.equal(await page.locator("#show-joints").isChecked(), false);
  const pictures_ = await page.$$eval("img[data-cairn-picture]", (all) => all.map((i) => i.src));
  assert.equal(pictures_.length, 2);
  assert.ok(pictures_[0] !== pictures_[1] && pictures_.every((p) => p.length > 2000));
  assert.deepEqual(trouble, []);
  await page.close();
});

test("colours of the scene file; bodies of a source are seen when they are let go", async () => {
  make("run", join(here, "feeder.json"), "300", "50");
  const { page, trouble } = await browser.open(join(folder, "run.html"));
  const names = await page.evaluate("cairn.meta.names");
  const seen = (time) =>
    page.evaluate((at) => {
      cairn.seek(at);
      return cairn.meta.names.filter((n, i) => n.startsWith("pellet") && cairn.shown(i)).length;
    }, time);
  // ten a second, the first at once
  assert.equal(await seen(0), 0);
  assert.equal(await seen(0.35), 4);
  assert.equal(await seen(0.6), 6);
  const colour = (name) => page.evaluate((i) => cairn.look(i), names.indexOf(name));
  assert.deepEqual(await colour("pellet0"), { colour: "#e6991a", opacity: 1 });
  assert.deepEqual(await colour("window"), { colour: "#3380e6", opacity: 0.4 });
  await browser.keep(page, "feeder");
  assert.deepEqual(trouble, []);
  await page.close();
});

test("without room for all contacts the strongest stay", async () => {
  make("run", EVERYTHING, "400", "50");
  make("small");
  const forces = async (name, last) => {
    const { page, trouble } = await browser.open(join(folder, name));
    const list = await page.evaluate((t) => cairn.contacts(cairn.times.indexOf(t)), last);
    const settings = await page.locator("#settings").innerText();
    assert.deepEqual(trouble, []);
    await page.close();
    return { sizes: list.map((c) => length(c.force)).sort((a, b) => b - a), settings };
  };
  const end = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8")).poses[0].time;
  const all = await forces("run.html", end);
  const some = await forces("small.html", end);
  assert.ok(some.sizes.length >= 16 && some.sizes.length < all.sizes.length);
  assert.deepEqual(some.sizes, all.sizes.slice(0, some.sizes.length));
  assert.match(some.settings, /Contacts\s+the strongest [\d\s]+ of [\d\s]+ with a force/);
});

test("impacts on the time line", async () => {
  make("run", "bouncing-ball", "150", "30");
  const { page, trouble } = await browser.open(join(folder, "run.html"));
  const impacts = (await page.evaluate("cairn.events")).filter((e) => e.kind === "impact");
  assert.ok(impacts.length > 1);
  // it falls from rest: v = g t
  const { time, speed } = impacts[0];
  assert.ok(Math.abs(speed / (9.81 * time) - 1) < 1e-6, `${speed} m/s after ${time} s`);
  await page.evaluate((at) => cairn.seek(at), impacts[1].time);
  const { x, y, width } = await page.locator("#events").boundingBox();
  const end = await page.evaluate("cairn.times.at(-1)");
  await page.mouse.move(x + (impacts[0].time / end) * width, y + 8);
  assert.match(await page.locator("#events").getAttribute("title"), /^impact: .+ m\/s, [\d.]+ s$/);
  await browser.keep(page, "impacts");
  assert.deepEqual(trouble, []);
  await page.close();
});

test("two runs side by side", async () => {
  make("pair", "bouncing-ball", "150", "30");
  const { page, trouble } = await browser.open(join(folder, "pair.html"));
  assert.equal(await page.evaluate("cairn.runs"), 2);
  assert.equal(await page.locator(".view canvas").count(), 2);
  assert.match(await page.locator(".runName >> nth=0").innerText(), /A\s+run\.h5/);
  assert.match(await page.locator(".runName >> nth=1").innerText(), /B\s+<b>second<\/b>\.h5/);
  assert.equal(await page.locator("#verdicts p").count(), 2);
  // plots of one title hold both
  const plots = await page.evaluate("cairn.plots");
  const energy = plots.find((p) => p.title === "Energy");
  assert.ok(energy.names.filter((n) => n === "kinetic_energy").length === 2);
  // one clock
  const first = await browser.look(page, ".view canvas >> nth=0");
  const second = await browser.look(page, ".view canvas >> nth=1");
  await page.evaluate("cairn.seek(0.1)");
  await drawn(page);
  assert.ok((await browser.difference(first, await browser.look(page, ".view canvas >> nth=0"))) > 0.001);
  assert.ok((await browser.difference(second, await browser.look(page, ".view canvas >> nth=1"))) > 0.0001);
  // one camera
  const before = await browser.look(page, ".view canvas >> nth=1");
  await page.keyboard.press("d");
  await drawn(page);
  assert.ok((await browser.difference(before, await browser.look(page, ".view canvas >> nth=1"))) > 0.005);
  await browser.keep(page, "pair");
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a run that was stopped", async () => {
  make("killed", "domino", "50");
  const { page, trouble } = await browser.open(join(folder, "run.html"));
  assert.match(await page.locator("#state").innerText(), /not complete/);
  assert.equal(await page.locator("#verdict").count(), 0);
  assert.ok((await page.evaluate("cairn.frameCount")) > 1);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a machine: verdict, work, joints", async () => {
  make("run", "joints", "200", "100");
  const { page, trouble } = await browser.open(join(folder, "run.html"));
  assert.match(await page.locator("#verdict").innerText(), /trusted: 200 steps/);
  const plots = await page.evaluate("cairn.plots");
  const plot = (title) => plots.find((p) => p.title === title);
  assert.equal(plot("Contacts"), undefined, "there are none to be plotted");
  const work = plot("Work so far");
  for (const part of ["gravity", "springs", "drives", "friction"])
    assert.ok(work.names.includes(`work_${part}`), part);
  // works are sums: they add up to the kinetic energy gained since the first step
  const energy = plot("Energy");
  const kinetic = energy.values[energy.names.indexOf("kinetic_energy")];
  const sum = (at) => work.values.reduce((all, values) => all + values[at], 0);
  assert.ok(Math.abs(sum(199) - sum(0) - (kinetic[199] - kinetic[0])) < 1e-6);
  for (const title of ["Joint coordinates", "Joint rates", "Joint efforts", "Joint reactions"])
    assert.ok(plot(title)?.times.length > 10, title);
  await browser.keep(page, "machine");
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a scene: first frame, no plots, no playback", async () => {
  make("scene", "granular:spheres=300");
  const { page, trouble } = await browser.open(join(folder, "scene.html"));
  assert.equal(await page.evaluate("cairn.frameCount"), 1);
  assert.equal(await page.evaluate("cairn.bodyCount"), 301);
  assert.equal(await page.locator(".plot").count(), 0);
  assert.equal(await page.locator("#controls").isVisible(), false);
  assert.match(await page.locator("#settings").innerText(), /spheres\s+300/);
  assert.ok((await browser.look(page, "#canvas")).colours > 500);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a hostile title is only text", async () => {
  make("hostile");
  const { page, trouble } = await browser.open(join(folder, "hostile.html"));
  assert.equal(await page.evaluate("window.broken"), undefined);
  const title = await page.locator("#title").textContent();
  assert.ok(title.startsWith("</script><script>window.broken = 1</script><img src=x onerror="));
  assert.ok(title.endsWith(" & <b>'\"\\"));
  assert.equal(await page.locator("img").count(), 0);
  assert.ok((await page.title()).startsWith("</script>"));
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a page that dropped frames says so", async () => {
  make("thinned");
  const { page, trouble } = await browser.open(join(folder, "thinned.html"));
  const count = await page.evaluate("cairn.frameCount");
  assert.ok(count < 300 && count > 10);
  const settings = await page.locator("#settings").innerText();
  assert.match(settings, new RegExp(`Frames\\s+${count} of 300 \\(every`));
  assert.ok(Math.abs((await page.evaluate("cairn.times.at(-1)")) - 0.02 * 299) < 1e-9);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("without WebGL: a sentence instead of the picture, all the rest", async () => {
  make("run", "joints", "100", "50");
  const blind = await openBrowser(web, pictures, true);
  try {
    const { page, trouble } = await blind.open(join(folder, "run.html"));
    assert.equal(await page.evaluate("document.createElement('canvas').getContext('webgl2')"), null);
    const note = page.locator("#note");
    assert.ok(await note.isVisible());
    assert.match(await note.innerText(), /^No picture: this browser gives no WebGL 2\..*cairn render/);
    assert.equal(await page.locator("#tools").isVisible(), false);
    assert.ok((await page.locator(".plot").count()) > 3);
    assert.match(await page.locator("#verdict").innerText(), /trusted/);
    // the clock goes on, by keys and by the button
    await page.keyboard.press("End");
    assert.ok((await page.evaluate("cairn.time")) > 0.1);
    await page.keyboard.press("Home");
    assert.equal(await page.evaluate("cairn.time"), 0);
    await page.locator("#play").click();
    await page.waitForFunction("cairn.time > 0");
    await page.locator("#theme").click();
    if (pictures) await page.screenshot({ path: join(pictures, "blind.png") });
    assert.deepEqual(trouble, []);
  } finally {
    await blind.close();
  }
});
