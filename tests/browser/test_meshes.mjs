// SPDX-License-Identifier: Apache-2.0
// Meshes of a page, read by what the page reads them with: what the file says, within a step of its grid, once
// for all shapes that share it, in few bytes. No browser is needed. usage: node test_meshes.mjs PAGES, the
// program of pages.c.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readMeshes } from "../../web/src/data/meshes.js";

const [pages] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "cairn-meshes-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const block = (html, name) => {
  const mark = `data-cairn="${name}">`;
  const from = html.lastIndexOf(mark) + mark.length;
  const text = html.slice(from, html.indexOf("<", from));
  return { text, data: new Uint8Array(Buffer.from(text, "base64")) };
};

const triangleCount = (m) => (m.index ? m.index.length : m.places.length / 3) / 3;

// Corners of triangle t, and the normals there.
const corner = (m, t, k) => {
  const at = 3 * (m.index ? m.index[3 * t + k] : 3 * t + k);
  return [m.places.slice(at, at + 3), m.normals.slice(at, at + 3)];
};
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

// The volume inside; every normal is a unit vector, and looks where its triangle does.
const look = (m) => {
  let volume = 0;
  for (let t = 0; t < triangleCount(m); t++) {
    const [[a, na], [b, nb], [c, nc]] = [corner(m, t, 0), corner(m, t, 1), corner(m, t, 2)];
    const area = cross(minus(b, a), minus(c, a));
    volume += dot(a, cross(b, c)) / 6;
    const size = Math.sqrt(dot(area, area));
    for (const n of [na, nb, nc]) {
      assert.ok(Math.abs(dot(n, n) - 1) < 1e-5);
      if (m.index === null) assert.ok(dot(n, area) > 0.999 * size);
      else if (size > 1e-3) assert.ok(dot(n, area) > 0.7 * size);
    }
  }
  return volume;
};

test("rings that share a mesh, and a capsule", () => {
  execFileSync(pages, ["rings", folder]);
  const html = readFileSync(join(folder, "rings.html"), "utf8");
  const { text, data } = block(html, "meshes");
  const meshes = readMeshes(data);
  assert.equal(meshes.length, 2); // one of three rings, one of the capsule
  const [ring, capsule] = meshes;
  assert.equal(triangleCount(ring), 20000);

  // places as in the file, to a step of the grid: half the size over 65535
  const want = readFileSync(join(folder, "rings.obj"), "utf8").split("\n").map((l) => l.split(" "));
  const places = want.filter(([w]) => w === "v").map(([, ...p]) => p.map(Number));
  const faces = want.filter(([w]) => w === "f").map(([, ...f]) => f.map((i) => i - 1));
  assert.equal(faces.length, 20000);
  let worst = 0;
  for (let t = 0; t < faces.length; t++)
    for (let k = 0; k < 3; k++) {
      const [p] = corner(ring, t, k);
      worst = Math.max(worst, ...minus(p, places[faces[t][k]]).map(Math.abs));
    }
  assert.ok(worst < 0.51 * (8 / 65535) && worst > 1e-6, `off by ${worst}`);
  assert.ok(Math.abs(look(ring) / (2 * Math.PI ** 2 * 3) - 1) < 0.01);
  const round = Math.PI * 0.25 * 2 + (Math.PI * 4 * 0.125) / 3;
  const inside = look(capsule);
  assert.ok(inside > 0.9 * round && inside < round, `${inside} of ${round}`);
  assert.ok(capsule.half.every((h, k) => Math.abs(h - [0.5, 0.5, 1.5][k]) < 0.02));

  const each = text.length / 20000;
  console.log(`${each.toFixed(1)} bytes a triangle in the page`);
  assert.ok(each < 12);
});
