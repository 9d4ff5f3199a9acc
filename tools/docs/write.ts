import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { generated } from "./generated.ts";

// `npm run docs`: writes the generated files, and names those that changed.
let changedCount = 0;
for (const [path, make] of generated) {
  const file = new URL(`../../${path}`, import.meta.url);
  const text = make();
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  writeFileSync(file, text);
  changedCount += 1;
  process.stdout.write(`${path} written\n`);
}
if (changedCount === 0) process.stdout.write("Every generated file was up to date.\n");
