import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { type Plugin, rolldown, type RolldownBuild, type RolldownOutput } from "rolldown";

import type { ClauseCatalogue } from "../src/cli/catalogue/catalogue-entry.ts";

// Bundles the command and its libraries into a folder. Usage: `node_modules/.bin/node tools/bundle.ts FOLDER`.

const root = fileURLToPath(new URL("..", import.meta.url));

/** Entry points of the bundle: the `conformance` command, and each module that runs as a thread or process. */
export const entries = [
  "src/cli/main.ts",
  "src/reference/embedded/process/child.ts",
  "src/load/engines/autocannon/sender.ts",
  "src/app/proxy/judge-worker.ts",
  "src/selftest/trial-worker.ts",
  "src/selftest/mutants/mutants-worker.ts",
  "src/selftest/wire/wire-worker.ts",
];

/** Module that computes the clause catalogue. The bundle contains the result: computing it would load every suite. */
const catalogueModule = join(root, "src", "cli", "catalogue", "catalogue.ts");
const catalogueAsData: Plugin = {
  name: "catalogue as data",
  load: async (id) => {
    if (id !== catalogueModule) return null;
    const { clauseCatalogue } = (await import(pathToFileURL(catalogueModule).href)) as {
      readonly clauseCatalogue: ClauseCatalogue;
    };
    // V8 parses JSON in a string faster than it parses the same value as a literal.
    return `export const clauseCatalogue = JSON.parse(${JSON.stringify(JSON.stringify(clauseCatalogue))});`;
  },
};

/** Bundles each JSON file as a string. As object literals, large files would add about 100,000 lines. */
const jsonAsStrings: Plugin = {
  name: "data as JSON in a string",
  load: {
    filter: { id: /\.json$/ },
    handler: (id) => ({
      code: `module.exports = JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(readFileSync(id, "utf8"))))});`,
      moduleType: "js",
    }),
  },
};

/** Replaces the package `string-width` by a function with a cache, since cli-table3 measures the same texts often. */
const cachedWidths: Plugin = {
  name: "quick widths",
  load: {
    filter: { id: /\/string-width\/index\.js$/ },
    handler: () => ({
      code: `
        const { displayWidth } = require(${JSON.stringify(join(root, "src", "base", "text.ts"))});
        const known = new Map();
        module.exports = (text) => {
          if (!known.has(text)) known.set(text, displayWidth(text));
          return known.get(text);
        };`,
      moduleType: "js",
    }),
  },
};

/** Removes a slow call from cli-table3, which shortens the text of every cell for an unused debug message. */
const withoutDebugText: Plugin = {
  name: "no debug text",
  transform: {
    filter: { id: /\/cli-table3\/src\/cell\.js$/ },
    handler: (code) => {
      const unused = "utils.truncate(this.content, 10, this.truncate)";
      if (!code.includes(unused)) throw new Error("cli-table3 has changed: it no longer cuts cells for debug messages");
      return code.replace(unused, '""');
    },
  },
};

export const bundleOf = (input: Readonly<Record<string, string>>): Promise<RolldownBuild> =>
  rolldown({
    cwd: root,
    input,
    platform: "node",
    plugins: [catalogueAsData, jsonAsStrings, cachedWidths, withoutDebugText],
    onLog: (level, log, pass) => {
      // Ignores warnings about `eval` in packages, because this project does not call the code that uses `eval`.
      if (log.code === "EVAL" && log.id?.includes("/node_modules/") === true) return;
      if (level === "warn") throw new Error(log.message);
      pass(level, log);
    },
  });

const licenceName = /^(licen[cs]e|copying|notice)(\b|$)/i;

export function thirdPartyLicences(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((id) => packageFolderOf(id) ?? []));
  const texts = Array.from(folders, (folder) => {
    const { name, version, license } = manifestIn(folder);
    if (license === undefined) throw new Error(`${name} is bundled, and names no licence`);
    const files = readdirSync(folder).filter((file) => licenceName.test(file));
    const licences = files.toSorted().map((file) => readFileSync(join(folder, file), "utf8").trim());
    return [`${name} ${version} (${license})`, ...licences].join("\n\n");
  });
  const head = "The command contains these libraries, under their own licences.";
  return `${[head, ...texts.toSorted()].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

const manifestIn = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Readonly<Record<string, string | undefined>>;

const packageFolderOf = (id: string): string | null =>
  /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? null;

export const modulesOf = ({ output }: RolldownOutput): string[] =>
  output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));

async function writeCommand(folder: string): Promise<void> {
  const input = Object.fromEntries(entries.map((path) => [basename(path, ".ts"), path]));
  if (Object.keys(input).length !== entries.length) throw new Error("two entries of the bundle have one name");
  const bundle = await bundleOf(input);
  const written = await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // Removes all comments except licences, because reading comments makes every start slower.
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await bundle.close();
  writeFileSync(join(folder, "THIRD-PARTY-LICENCES.txt"), thirdPartyLicences(modulesOf(written)));
}

const [, script, folder] = process.argv;
if (script === fileURLToPath(import.meta.url) && folder !== undefined) await writeCommand(folder);
