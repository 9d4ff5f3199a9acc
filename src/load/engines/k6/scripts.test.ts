import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";

import { packageRoot } from "../../../base/package-root.ts";

const folder = join(packageRoot(), "k6");
const scripts = readdirSync(folder).filter((name) => /^[^.]+\.ts$/.test(name));

/** Returns the imports of a file that exist at run time, without type imports. */
const importsOf = (path: string): string[] =>
  [...readFileSync(path, "utf8").matchAll(/^(?:import|export) (?!type\b)[^"';]*?from "([^"]+)";$/gm)].flatMap(
    ([, name]) => name ?? [],
  );

/** Finds all files of the k6 scripts, and their imports of other packages. */
function closure(): { readonly files: readonly string[]; readonly foreign: readonly string[] } {
  const files = new Set(scripts.map((name) => join(folder, name)));
  const foreign: string[] = [];
  for (const path of files)
    for (const name of importsOf(path)) {
      if (name.startsWith(".")) files.add(join(dirname(path), name));
      else if (name !== "k6" && !name.startsWith("k6/")) foreign.push(`${path} imports ${name}`);
    }
  return { files: [...files].map((path) => relative(packageRoot(), path)), foreign };
}

it("imports nothing at run time but files of this project and modules of k6 itself", () => {
  expect(closure().foreign).toEqual([]);
});

it("is in the package with all that it imports", () => {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  const { files: published } = z.object({ files: z.array(z.string()) }).parse(manifest);
  const isPublished = (path: string): boolean => published.some((each) => path === each || path.startsWith(`${each}/`));
  const { files } = closure();
  expect(files.length).toBeGreaterThan(scripts.length);
  expect(files.filter((path) => !isPublished(path))).toEqual([]);
});
