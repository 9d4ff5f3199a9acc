import { writeFileSync } from "node:fs";

import { generated } from "./generated.ts";

/** Writes the generated files (`npm run docs`). */
for (const [path, make] of generated) {
  writeFileSync(new URL(`../../${path}`, import.meta.url), make());
  process.stdout.write(`${path} written\n`);
}
