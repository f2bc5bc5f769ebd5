// SPDX-License-Identifier: Apache-2.0
// A page opened from its file in Debian's Chromium, offline, with everything noted that it should
// not do: errors, warnings, requests.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const CHROMIUM = "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--use-angle=swiftshader", // WebGL without a graphics card
  "--enable-unsafe-swiftshader",
];

// Leave with the status that ctest counts as skipped.
export const skipWithout = (web) => {
  const missing = !existsSync(CHROMIUM)
    ? `${CHROMIUM} is not installed`
    : !existsSync(join(web, "node_modules/playwright-core"))
      ? "web/node_modules has no playwright-core"
      : null;
  if (!missing) return;
  console.log(`SKIPPED: ${missing} (scripts/setup installs it)`);
  process.exit(77);
};

// Processor seconds of all processes that this one has started, so far.
export const processorTime = () => {
  const all = new Map();
  for (const name of readdirSync("/proc").filter((n) => /^\d+$/.test(n)))
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      all.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch {} // it has just ended
  const ours = (pid) => pid === process.pid || (all.has(pid) && ours(all.get(pid).parent));
  let ticks = 0;
  for (const [pid, p] of all) if (pid !== process.pid && ours(pid)) ticks += p.ticks;
  return ticks / 100;
};

// Pictures of pages go to the folder `pictures`, if there is one.
// `blind`: a browser without WebGL.
export const openBrowser = async (web, pictures, blind = false) => {
  const { chromium } = createRequire(join(web, "package.json"))("playwright-core");
  const profile = mkdtempSync(join(tmpdir(), "cairn-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: blind ? [...FLAGS.filter((f) => !/swiftshader/.test(f)), "--disable-3d-apis"] : FLAGS,
    viewport: { width: 960, height: 600 },
    reducedMotion: "reduce", // pages wait for us
    colorScheme: "dark",
  });

  // `calm` false: as for people who like motion, the clock is noted from the beginning
  const open = async (path, { calm = true, hash = "" } = {}) => {
    const page = await context.newPage();
    if (!calm) {
      await page.emulateMedia({ reducedMotion: "no-preference" });
      await page.addInitScript(() => {
        window.clock = [];
        const note = () => {
          if (window.cairn) window.clock.push(window.cairn.time);
          requestAnimationFrame(note);
        };
        requestAnimationFrame(note);
      });
    }
    const trouble = [];
    page.on("console", (m) => {
      if (["error", "warning"].includes(m.type())) trouble.push(`${m.type()}: ${m.text()}`);
    });
    page.on("pageerror", (e) => trouble.push(`exception: ${e.message}`));
    page.on("dialog", (d) => trouble.push(`dialog: ${d.message()}`) && d.dismiss());
    page.on("request", (r) => {
      if (!/^(file|data|blob):/.test(r.url())) trouble.push(`request: ${r.url()}`);
    });
    await page.goto(pathToFileURL(path).href + hash);
    await page.evaluate("cairn.ready");
    await page.evaluate("cairn.sharp?.(false)"); // four times as fast
    return { page, trouble };
  };

  // What a part of a page looks like now: number of colours, and a handle for comparisons. The
  // pixels stay in an empty page, in which they are decoded.
  const blank = await context.newPage();
  const look = async (page, selector) => {
    const picture = await page.locator(selector).screenshot();
    return blank.evaluate(
      async (url) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const paper = canvas.getContext("2d");
        paper.drawImage(image, 0, 0);
        const { data } = paper.getImageData(0, 0, image.width, image.height);
        const pixels = new Uint32Array(data.buffer);
        window.looks ??= [];
        return { handle: window.looks.push(pixels) - 1, colours: new Set(pixels).size };
      },
      `data:image/png;base64,${picture.toString("base64")}`,
    );
  };
  // Share of pixels that differ between two looks.
  const difference = (first, second) =>
    blank.evaluate(
      ([i, j]) =>
        window.looks[i].filter((v, k) => v !== window.looks[j][k]).length / window.looks[i].length,
      [first.handle, second.handle],
    );

  const keep = async (page, name) => {
    if (!pictures) return;
    mkdirSync(pictures, { recursive: true });
    await page.evaluate("cairn.settled()");
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  };

  const close = async () => {
    console.log(`browser: ${processorTime().toFixed(0)} s of processor time`);
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { open, look, difference, keep, close };
};

// Wait until the page has drawn what it was told, in full.
export const drawn = (page) => page.evaluate("cairn.settled()");
