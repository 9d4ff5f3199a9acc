import { writeFileSync } from "node:fs";

import { clausesPage } from "./clauses-page.ts";

/** Writes the generated pages; run by `npm run docs`. */
const pages = { "docs/clauses.md": clausesPage };

for (const [path, make] of Object.entries(pages)) {
  writeFileSync(new URL(`../../${path}`, import.meta.url), make());
  process.stdout.write(`${path} written\n`);
}
