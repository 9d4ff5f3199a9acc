// Reads files as JSON and writes as many bytes as a page has: what no renderer of a page can do without.
import { readFileSync, writeFileSync } from "node:fs";

const [, , out, bytes, ...files] = process.argv;
for (const file of files) JSON.parse(readFileSync(file, "utf8"));
writeFileSync(out, "x".repeat(Number(bytes)));
