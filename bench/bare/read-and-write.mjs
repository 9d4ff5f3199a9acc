// The baseline for rendering a report's page: reads the same JSON files, and writes a file as long as the page, without
// rendering.
import { readFileSync, writeFileSync } from "node:fs";

const [, , out, bytes, ...files] = process.argv;
for (const file of files) JSON.parse(readFileSync(file, "utf8"));
writeFileSync(out, "x".repeat(Number(bytes)));
