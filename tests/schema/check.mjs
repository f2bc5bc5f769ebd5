// SPDX-License-Identifier: Apache-2.0
// Every good scene (built-in ones, tests/scenes/good, examples of docs/scene.md) must satisfy
// docs/scene.schema.json; every malformed scene must do with it what its case says.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import Ajv from "ajv/dist/2020.js";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
const read = (file) => fs.readFileSync(path.join(root, file), "utf8");
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, strictTuples: false });
const validate = ajv.compile(JSON.parse(read("docs/scene.schema.json")));

let failures = 0;
function fail(what, why) {
  failures++;
  console.log(`${what}: ${why}`);
}

// ---- good scenes ----

const good = [];
for (const folder of ["examples/scenes", "examples/machines", "tests/scenes/good"])
  for (const file of fs.readdirSync(path.join(root, folder)))
    if (file.endsWith(".json")) good.push([`${folder}/${file}`, read(`${folder}/${file}`)]);
let block = 0;
for (const match of read("docs/scene.md").matchAll(/^```json\n(.*?)^```/gms))
  good.push([`docs/scene.md, example ${++block}`, match[1]]);
for (const file of fs.readdirSync(path.join(root, "docs/howto")))
  for (const match of read(`docs/howto/${file}`).matchAll(/^```json\n(.*?)^```/gms)) good.push([file, match[1]]);
for (const [name, text] of good)
  if (!validate(JSON.parse(text))) fail(name, ajv.errorsText(validate.errors));

// ---- malformed scenes ----

const cases = read("tests/scenes/malformed.txt").split(/^=== /m).slice(1);
for (const one of cases) {
  const [, title, text, verdict] = one.match(/^(.*?)\n(.*?)\n--- (.*?)\n/s);
  let scene;
  try {
    scene = JSON.parse(text);
  } catch {
    scene = undefined;
  }
  if (verdict === "no JSON") {
    // duplicate keys and bare values are JSON, and numbers beyond doubles are numbers to this parser
    if (scene !== undefined && validate(scene) && !/same key|too large/.test(title))
      fail(title, "is JSON and satisfies the schema");
  } else if (scene === undefined) {
    fail(title, "is no JSON");
  } else if (validate(scene) !== (verdict === "the schema accepts it")) {
    fail(title, `${verdict}: not so; ${ajv.errorsText(validate.errors)}`);
  }
}
if (good.length < 12 || cases.length < 60) fail("scenes", `only ${good.length} and ${cases.length}`);
console.log(`${good.length} good and ${cases.length} malformed scenes, ${failures} failures`);
process.exit(failures ? 1 : 0);
