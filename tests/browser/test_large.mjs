// SPDX-License-Identifier: Apache-2.0
// A page of 50,000 bodies: it opens, scrubs and plays, and bodies are where the formulas of tests/support/page_source.c
// put them. How long that takes is printed, and no test. usage: as test_page.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { drawn, openBrowser, skipWithout } from "./browser.mjs";

const [pages, web, pictures] = process.argv.slice(2);
skipWithout(web);
const folder = mkdtempSync(join(tmpdir(), "cairn-large-"));
let browser;
before(async () => {
  browser = await openBrowser(web, pictures);
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

test("50,000 bodies", async () => {
  execFileSync(pages, ["large", folder]);
  const start = Date.now();
  const { page, trouble } = await browser.open(join(folder, "large.html"));
  console.log(`open: ${((Date.now() - start) / 1000).toFixed(1)} s`);
  assert.equal(await page.evaluate("cairn.bodyCount"), 50001);
  const error = await page.evaluate("cairn.positionError");
  for (const [frame, body] of [[0, 1], [17, 12345], [39, 50000], [23, 777]]) {
    const { position } = await page.evaluate(([f, b]) => cairn.decode(f, b), [frame, body]);
    const angle = 0.7 * body + 0.05 * frame;
    const radius = 0.5 + 0.01 * body;
    const want = [radius * Math.cos(angle), radius * Math.sin(angle), 0.2 + 0.001 * body];
    const off = Math.hypot(...position.map((x, k) => x - want[k]));
    assert.ok(off <= error * (1 + 1e-9), `${off} m off`);
  }
  await page.evaluate("cairn.camera({ from: [0, -14, 9], to: [0, 0, 0.5] })"); // they reach 500 m far
  await drawn(page);
  const first = await browser.look(page, "#canvas");
  assert.ok(first.colours > 500);
  const before = Date.now();
  await page.evaluate("cairn.seekFrame(30)");
  await drawn(page);
  console.log(`scrub, in full: ${((Date.now() - before) / 1000).toFixed(1)} s`);
  assert.ok((await browser.difference(first, await browser.look(page, "#canvas"))) > 0.01);
  await page.evaluate("cairn.seekFrame(0); cairn.play()");
  await page.waitForFunction(() => cairn.time > 0.05, null, { timeout: 60000 });
  await page.evaluate("cairn.pause()");
  await browser.keep(page, "large");
  assert.deepEqual(trouble, []);
});
