import type { EndLine, SampleLine } from "../../src/load/engines/k6/lines.ts";

export type { EndLine, SampleLine };

/** Writes a line of JSON on the console. */
export function write(line: SampleLine | EndLine): void {
  console.log(JSON.stringify(line));
}
