// Benchmark baseline for rendering an HTML report: reads and writes the same amount, but renders nothing.
import { readFileSync, writeFileSync } from "node:fs";

const [, , out, bytes, ...files] = process.argv;
for (const file of files) JSON.parse(readFileSync(file, "utf8"));
writeFileSync(out, "x".repeat(Number(bytes)));
