// SPDX-License-Identifier: Apache-2.0
// How fast a page plays without a graphics card: pictures a second at 800 x 600, and how long it took to open.
// usage: node tests/browser/speed.mjs PAGE.html [SECONDS [RATE]]; fails where there are fewer than RATE pictures a second
// A figure, not a test: it depends on the machine and on what else that does.
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser, processorTime, skipWithout } from "./browser.mjs";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const [path, length = "5", least = "0"] = process.argv.slice(2);
if (!path) {
  console.error("usage: node tests/browser/speed.mjs PAGE.html [SECONDS [RATE]]");
  process.exit(2);
}
skipWithout(web);

const browser = await openBrowser(web);
const start = Date.now();
const { page } = await browser.open(resolve(path));
const opened = (Date.now() - start) / 1000;
await page.setViewportSize({ width: 800, height: 600 });
const told = await page.evaluate(async () => {
  cairn.hide_ui();
  cairn.size(800, 600);
  await cairn.settled();
  const scrubs = [];
  for (let k = 0; k < 10; k++) {
    const before = performance.now();
    cairn.seekFrame((((k * 7919) % 97) / 97) * (cairn.frames - 1));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    scrubs.push(performance.now() - before);
  }
  cairn.play();
  await new Promise((done) => setTimeout(done, 1000));
  return {
    scrub: scrubs.sort((a, b) => a - b)[5],
    bodies: cairn.bodyCount,
    frames: cairn.frames,
    software: cairn.software,
  };
});
const begin = { time: performance.now(), work: processorTime(), drawn: await page.evaluate("cairn.drawnCount") };
await new Promise((done) => setTimeout(done, 1000 * Number(length)));
const drawn = (await page.evaluate("cairn.drawnCount")) - begin.drawn;
const rate = (1000 * drawn) / (performance.now() - begin.time);
const work = (1000 * (processorTime() - begin.work)) / drawn;
console.log(
  `${path}: ${told.bodies} bodies, ${told.frames} frames, ${told.software ? "software" : "graphics card"}: ` +
    `open ${opened.toFixed(1)} s, scrub ${told.scrub.toFixed(0)} ms, ${rate.toFixed(1)} frames/s at 800 x 600, ` +
    `${work.toFixed(0)} ms of processor time a frame`,
);
await browser.close();
if (rate < Number(least)) process.exit(1);
