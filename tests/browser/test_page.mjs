// SPDX-License-Identifier: Apache-2.0
// The page in a browser: it shows what the run file holds, plays, answers mouse and keys, and keeps
// quiet otherwise. usage: node test_page.mjs PAGES WEB, PAGES the program of pages.c, WEB the
// folder with node_modules.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { drawn, openBrowser, skipWithout } from "./browser.mjs";

const [pages, web] = process.argv.slice(2);
skipWithout(web);

const folder = mkdtempSync(join(tmpdir(), "cairn-pages-"));
const make = (...words) => execFileSync(pages, [...words, folder]);
let browser;

before(async () => {
  browser = await openBrowser(web);
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

test("a run", async (t) => {
  make("run", "heap", "640", "60");
  const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
  const { page, trouble } = await browser.open(join(folder, "run.html"));

  await t.test("has all frames and bodies", async () => {
    assert.equal(await page.evaluate("cairn.frameCount"), truth.frames);
    assert.equal(await page.evaluate("cairn.bodyCount"), truth.bodies);
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

  await t.test("plots the scalars of every step", async () => {
    const plots = await page.evaluate("cairn.plots");
    for (const title of ["Energy", "Contacts", "Penetration", "Residual", "Iterations"])
      assert.ok(
        plots.some((p) => p.title === title),
        `no plot ${title}`,
      );
    assert.ok(
      plots.some((p) => p.title.startsWith("Sensor")),
      "no plot of a sensor",
    );
    for (const plot of plots) {
      assert.equal(plot.times.length, truth.steps);
      for (const values of plot.values) {
        assert.equal(values.length, truth.steps);
        assert.ok(
          values.some((v) => v !== null),
          `${plot.title} is empty`,
        );
      }
    }
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
  });

  await t.test("draws the scene, and plays it", async () => {
    const start = await browser.look(page, "#canvas");
    assert.ok(start.colours > 500, "the canvas is blank");
    assert.equal(await page.evaluate("cairn.playing"), false);
    await page.locator("#play").click();
    await page.waitForFunction(() => cairn.playing && cairn.time > 0.1, null, { timeout: 60000 });
    const moving = await browser.look(page, "#canvas");
    assert.ok((await browser.difference(start, moving)) > 0.01, "nothing moves");
    await page.locator("#play").click();
    assert.equal(await page.evaluate("cairn.playing"), false);
    await drawn(page);
    const once = await browser.look(page, "#canvas");
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
  });

  await t.test("scrubs, and the plots follow", async () => {
    const heads = () =>
      page.$$eval(".playhead", (all) => all.map((e) => e.getBoundingClientRect().left));
    const legend = () => page.locator(".plot .legend >> nth=0").innerText();
    const end = await page.evaluate("cairn.times.at(-1)");
    const box = await page.locator("#scrub").boundingBox();
    await page.mouse.click(box.x + 0.25 * box.width, box.y + box.height / 2);
    assert.ok(Math.abs((await page.evaluate("cairn.time")) / end - 0.25) < 0.03);
    const [first, told] = [await heads(), await legend()];
    await page.mouse.click(box.x + 0.75 * box.width, box.y + box.height / 2);
    assert.ok(Math.abs((await page.evaluate("cairn.time")) / end - 0.75) < 0.03);
    const second = await heads();
    assert.ok(first.length >= 5 && second.every((x, i) => x > first[i] + 20));
    assert.notEqual(await legend(), told);
    // a click on a plot goes there
    const over = await page.locator(".plot .u-over >> nth=1").boundingBox();
    await page.mouse.click(over.x + 0.5 * over.width, over.y + over.height / 2);
    assert.ok(Math.abs((await page.evaluate("cairn.time")) / end - 0.5) < 0.05);
  });

  await t.test("turns, zooms, changes colours and theme", async () => {
    await page.evaluate("cairn.seekFrame(20)");
    await drawn(page);
    let last = await browser.look(page, "#canvas");
    const changes = async (what) => {
      await drawn(page);
      const next = await browser.look(page, "#canvas");
      assert.ok((await browser.difference(last, next)) > 0.005, `${what} changes nothing`);
      last = next;
    };
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
    await page.locator("#colour").selectOption("speed");
    await changes("colour by speed");
    await page.keyboard.press("t");
    await changes("the theme");
    assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "light");
  });

  await t.test("tells what a body is", async () => {
    const { x, y, width, height } = await page.locator("#canvas").boundingBox();
    await page.evaluate("cairn.seek(Infinity)");
    await drawn(page);
    // somewhere along the middle there is one
    for (let down = 0.3; down < 0.9 && !(await page.locator("#card").isVisible()); down += 0.05)
      await page.mouse.click(x + width / 2, y + down * height);
    assert.match(await page.locator("#card").innerText(), /mass\s+[\d.e-]+ kg/);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#card").isVisible(), false);
  });

  await t.test("has the settings", async () => {
    const text = await page.locator("#settings").innerText();
    for (const row of [
      /Solver\s+psor/,
      /Integrator\s+impulse/,
      /Time step h\s+[\d.]+ ms/,
      /State\s+complete/,
      /Cairn\s+\d+\.\d+\.\d+/,
      /Frames\s+all/,
    ])
      assert.match(text, row);
    assert.match(await page.locator("#state").innerText(), /^complete$/);
  });

  assert.deepEqual(trouble, []);
  await page.close();
});

test("a machine: verdict, work, joints", async () => {
  make("run", "joints", "200", "100");
  const { page, trouble } = await browser.open(join(folder, "run.html"));
  assert.match(await page.locator("#verdict").innerText(), /^trusted: 200 steps/);
  const plots = await page.evaluate("cairn.plots");
  const plot = (title) => plots.find((p) => p.title === title);
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
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a run that was stopped", async () => {
  make("killed", "domino", "50");
  const { page, trouble } = await browser.open(join(folder, "run.html"));
  assert.match(await page.locator("#state").innerText(), /not complete/);
  assert.equal(await page.locator("#verdict").isVisible(), false);
  assert.ok((await page.evaluate("cairn.frameCount")) > 1);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a scene: first frame, no plots, no playback", async () => {
  make("scene", "granular");
  const { page, trouble } = await browser.open(join(folder, "scene.html"));
  assert.equal(await page.evaluate("cairn.frameCount"), 1);
  assert.equal(await page.evaluate("cairn.bodyCount"), 1001);
  assert.equal(await page.locator(".plot").count(), 0);
  assert.equal(await page.locator("#controls").isVisible(), false);
  assert.match(await page.locator("#settings").innerText(), /spheres\s+1\s?000/);
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
