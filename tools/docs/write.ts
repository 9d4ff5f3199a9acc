import { writeFileSync } from "node:fs";

import { generated } from "./generated.ts";

// `npm run docs`: writes the generated files.
for (const [path, make] of generated) {
  writeFileSync(new URL(`../../${path}`, import.meta.url), make());
  process.stdout.write(`${path} written\n`);
}
