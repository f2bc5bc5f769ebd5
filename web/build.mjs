// SPDX-License-Identifier: Apache-2.0
// Builds the page template: bundles src/main.js and its styles into src/page.html and writes
//   OUT/page.html        the template, to look at
//   OUT/page_template.c  the same as two C arrays, before and after the place of the data
// usage: node build.mjs OUT
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
  console.error("usage: node build.mjs OUT");
  process.exit(2);
}

const bundle = async (entry, options) => {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    legalComments: "none",
    target: "es2022",
    logLevel: "warning",
    ...options,
  });
  return result.outputFiles[0].text.trim();
};

// The licences of what is bundled travel with the page.
const licences = async () => {
  const parts = [];
  for (const name of ["three", "uplot"]) {
    const folder = join(here, "node_modules", name);
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const text = await readFile(join(folder, "LICENSE"), "utf8");
    parts.push(`${name} ${version}\n\n${text.trim()}`);
  }
  return parts.join("\n\n").replaceAll("--", "- -");
};

const put = (page, mark, text) => {
  const parts = page.split(mark);
  if (parts.length !== 2) throw new Error(`src/page.html: ${mark} must be there once`);
  return parts[0] + text + parts[1];
};

const script = await bundle("main.js", { format: "iife" });
const style = await bundle("page.css", {});
if (/<\/script/i.test(script) || /<!--/.test(script)) throw new Error("the script would end early");
if (/<\/style/i.test(style)) throw new Error("the style would end early");

let page = await readFile(join(here, "src/page.html"), "utf8");
page = put(page, "<!--licences-->", `<!--\nContains:\n\n${await licences()}\n-->`);
page = put(page, "<!--style-->", `<style>${style}</style>`);
page = put(page, "<!--script-->", `<script>${script}</script>`);
const [head, tail, more] = page.split("<!--data-->");
if (tail === undefined || more !== undefined)
  throw new Error("src/page.html: <!--data--> must be there once");

const array = (name, text) => {
  const bytes = Buffer.from(text, "utf8");
  const lines = [];
  for (let i = 0; i < bytes.length; i += 64) lines.push([...bytes.subarray(i, i + 64)].join(","));
  return `const unsigned char cni_page_${name}[] = {\n${lines.join(",\n")}};
const size_t cni_page_${name}_size = sizeof cni_page_${name};\n`;
};

await mkdir(out, { recursive: true });
await writeFile(join(out, "page.html"), page);
await writeFile(
  join(out, "page_template.c"),
  `// Written by web/build.mjs.\n#include "view/view_private.h"\n\n${array("head", head)}\n${array("tail", tail)}`,
);
