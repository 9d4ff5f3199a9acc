// The baseline of rendering a report's page: reads the same files as JSON, and writes as many bytes as the page has. No renderer can do
// less.
import { readFileSync, writeFileSync } from "node:fs";

const [, , out, bytes, ...files] = process.argv;
for (const file of files) JSON.parse(readFileSync(file, "utf8"));
writeFileSync(out, "x".repeat(Number(bytes)));
