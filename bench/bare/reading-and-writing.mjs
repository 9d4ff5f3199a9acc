// The baseline of a report's page: reads files as JSON, and writes as many bytes as the page has. Every renderer must
// do this.
import { readFileSync, writeFileSync } from "node:fs";

const [, , out, bytes, ...files] = process.argv;
for (const file of files) JSON.parse(readFileSync(file, "utf8"));
writeFileSync(out, "x".repeat(Number(bytes)));
