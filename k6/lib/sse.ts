import { streamRules, type StreamShape } from "../../src/rules/streams/streams.ts";

export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** Splits an event stream into events, by the SSE standard. Leaves out an event that is cut off at the end. */
export function readEvents(body: string): StreamEvent[] {
  const blocks = body
    .replace(/^\uFEFF/, "")
    .replaceAll(/\r\n?/g, "\n")
    .split("\n\n");
  return blocks
    .slice(0, -1)
    .map(readBlock)
    .filter((event) => event !== null);
}

function readBlock(block: string): StreamEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [field, value] = readLine(line);
    if (field === "event") name = value;
    if (field === "data") data.push(value);
  }
  return data.length === 0 ? null : { name, data: data.join("\n") };
}

function readLine(line: string): [field: string, value: string] {
  const colon = line.indexOf(":");
  if (colon === -1) return [line, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}

/** Whether a finished stream keeps all rules for its events: known names, their order, and exactly one end. */
export const isCompleteStream = ({ sequence }: Pick<StreamShape, "sequence">): boolean =>
  streamRules.every(({ judge }) => typeof judge({ sequence, isOver: true }) !== "string");
