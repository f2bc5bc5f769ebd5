// SPDX-License-Identifier: Apache-2.0
// The schema of scenes and the tables of docs/ against the library's descriptions of definitions:
//     node fields.mjs PROGRAM           fails where a document says something else
//     node fields.mjs PROGRAM --write   writes what the library says into the documents
// PROGRAM is build/tests/schema_fields.
import fs from "node:fs";
import path from "node:path";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
const tables = JSON.parse(execFileSync(process.argv[2], { encoding: "utf8" }));
const write = process.argv.includes("--write");
const NOT_IN_SCENE = 2, NOT_IN_RUN = 4;
let failures = 0;

function compare(file, old, now) {
  if (old === now) return;
  if (write) return fs.writeFileSync(path.join(root, file), now);
  failures++;
  const a = old.split("\n"), b = now.split("\n");
  const line = a.findIndex((text, i) => text !== b[i]);
  console.log(`${file}:${line + 1}: is\n${a[line]}\nshould be\n${b[line]}`);
  console.log("node tests/schema/fields.mjs build/tests/schema_fields --write puts it right");
}

// ---- the schema ----

const compact = (x) =>
  Array.isArray(x)
    ? `[${x.map(compact).join(", ")}]`
    : x && typeof x === "object"
      ? `{${Object.entries(x).map(([k, v]) => `${JSON.stringify(k)}: ${compact(v)}`).join(", ")}}`
      : JSON.stringify(x);

const ranges = ["number", "positive", "notNegative", "share", "positiveShare"];

function numberSchema(f) {
  const whole = f.type === "integer";
  if (!whole && ranges[f.range]) return { $ref: `#/$defs/${ranges[f.range]}` };
  const own = { type: whole ? "integer" : "number" };
  if (f.least !== "-inf") own[f.openLeast ? "exclusiveMinimum" : "minimum"] = f.least;
  if (f.most !== "inf") own[f.openMost ? "exclusiveMaximum" : "maximum"] = f.most;
  else if (whole) own.maximum = 1000000000;
  if (f.multiple) own.multipleOf = f.multiple;
  return { anyOf: [own, { $ref: "#/$defs/expression" }] };
}

function valueOf(f) {
  const x = f.default;
  if (f.type === "vector") return x;
  if (f.type === "flag") return x[0] !== 0;
  if (f.type === "choice" || f.type === "word") return f.words[x[0]];
  return x[0];
}

// Defaults that depend on the name of the solver, and the name.
const ofSolver = (f) => tables.solver.slice(0, 3).includes(f);

function fieldSchema(f) {
  const of = {
    number: numberSchema, integer: numberSchema,
    vector: () => ({ $ref: "#/$defs/vector" }),
    flag: () => ({ type: "boolean" }),
    choice: () => ({ enum: f.words }),
    word: () => ({ type: "string" }),
  };
  const schema = of[f.type](f);
  schema.description = f.unit ? `${f.unit}, ${f.sentence}` : f.sentence;
  if (!ofSolver(f)) schema.default = valueOf(f);
  return schema;
}

const named = (what) => ({
  anyOf: [{ type: "string", description: `A name \`cairn ${what}s\` lists.` }, { $ref: `#/$defs/${what}` }],
});

// Keys of a scene that are no fields of the struct, before those that are.
const others = {
  settings: { comment: true, time: { $ref: "#/$defs/positive", description: "s, how long a run is meant to be", default: 1 },
    integrator: named("integrator"), solver: named("solver") },
  solver: { comment: true },
  integrator: { comment: true, name: { type: "string" } },
  material: { comment: true, surface_function: { $ref: "#/$defs/name",
    description: "function of time that the surface velocity is multiplied with" },
    color: { $ref: "#/$defs/color", description: "of bodies that have none, by the first of their shapes" },
    opacity: { $ref: "#/$defs/share", description: "likewise" } },
};

function schemaWith(text) {
  for (const [def, table] of Object.entries({ settings: "world", solver: "solver", integrator: "integrator", material: "material" })) {
    const properties = { ...others[def] };
    for (const f of tables[table])
      if (!(f.where & NOT_IN_SCENE) && !properties[f.file]) properties[f.file] = fieldSchema(f);
    const lines = Object.entries(properties).map(([k, v]) => `        ${JSON.stringify(k)}: ${compact(v)}`);
    const start = text.indexOf('      "properties": {\n', text.indexOf(`\n    "${def}": {\n`));
    const end = text.indexOf("\n      }\n", start);
    text = `${text.slice(0, start)}      "properties": {\n${lines.join(",\n")}${text.slice(end)}`;
  }
  return text;
}

// ---- the tables ----

function rangeText(f) {
  if (f.type === "flag") return "true, false";
  if (f.type === "choice") return f.words.map((w) => `\`${w}\``).join(", ");
  if (f.type === "word") return "a name";
  if (f.type === "vector") return "three numbers";
  let text = f.type === "integer" ? "whole" : "";
  const add = (t) => (text += (text ? ", " : "") + t);
  if (f.multiple) add(`a multiple of ${f.multiple}`);
  if (f.most !== "inf") add(`${f.openLeast ? "(" : "["}${f.least}, ${f.most}${f.openMost ? ")" : "]"}`);
  else if (f.least !== "-inf") add(`${f.openLeast ? ">" : "≥"} ${f.least}`);
  return text;
}

const superscript = (unit) => unit.replace("^2", "²").replace("^3", "³");
const show = (x) => (Array.isArray(x) ? `[${x.join(", ")}]` : typeof x === "string" ? `\`${x}\`` : `${x}`);

function row(f) {
  const limits = [superscript(f.unit), rangeText(f)].filter((x) => x).join(", ");
  const usual = f.name === "name" ? "`auto`" : ofSolver(f) ? "the solver's" : show(valueOf(f));
  return `| \`${f.file}\` | ${limits} | ${usual} | ${f.sentence} |`;
}

const more = {
  world: [
    "| `time` | s, > 0 | 1 | how long a run is meant to be |",
    "| `integrator` | a name of `cairn integrators`, or an object | `impulse` | keys below |",
    "| `solver` | a name of `cairn solvers`, or an object | `auto` | keys below |",
  ],
};

function docsWith(text) {
  for (const table of ["world", "solver", "integrator", "material"]) {
    const start = text.indexOf(`<!-- fields: ${table} -->\n`), end = text.indexOf("\n<!-- end -->", start);
    if (start < 0 || end < 0) {
      failures++;
      console.log(`docs/scene.md: the marks of the fields of ${table} are missing`);
      continue;
    }
    const rows = tables[table].filter((f) => !(f.where & NOT_IN_SCENE) && f.name !== "integrator").map(row);
    const lines = ["| key | unit, range | default | meaning |", "| --- | --- | --- | --- |", ...rows, ...(more[table] ?? [])];
    text = `${text.slice(0, start)}<!-- fields: ${table} -->\n${lines.join("\n")}${text.slice(end)}`;
  }
  return text;
}

function runFileWith(text) {
  const names = ["solver"];
  for (const [table, prefix] of [["world", ""], ["solver", ""], ["integrator", "integrator_"]])
    for (const f of tables[table]) if (!(f.where & NOT_IN_RUN)) names.push(prefix + f.file);
  names.push("frames_per_second");
  const line = `| /settings | attributes | ${names.map((n) => `\`${n}\``).join(", ")}; choices as words (\`local\`: its number) |`;
  return text.replace(/^\| \/settings \|.*$/m, () => line);
}

for (const [file, change] of [["docs/scene.schema.json", schemaWith], ["docs/scene.md", docsWith], ["docs/run-file.md", runFileWith]]) {
  const text = fs.readFileSync(path.join(root, file), "utf8");
  compare(file, text, change(text));
}
if (!failures) console.log(`${Object.values(tables).flat().length} fields: schema and docs agree with the library`);
process.exit(failures ? 1 : 0);
