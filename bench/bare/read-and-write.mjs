// A benchmark's baseline for rendering a report as an HTML page. Reads the same JSON files, and writes a file of the
// same size, but renders nothing.
import { readFileSync, writeFileSync } from "node:fs";

const [, , out, bytes, ...files] = process.argv;
for (const file of files) JSON.parse(readFileSync(file, "utf8"));
writeFileSync(out, "x".repeat(Number(bytes)));
