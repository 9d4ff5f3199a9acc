/** One event of a stream. `data` is as sent, its lines joined by line feeds. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** What a whole stream looked like. Sources: Events, "Stream events"; States, "Stream sequence". */
export interface StreamShape {
  /** Names of the events in order; runs of chunks stand once. */
  readonly sequence: readonly string[];
  readonly chunks: number;
  /** `absent`: on no chunk; `rising`: on all, each above the one before; `broken`: anything else. */
  readonly indexes: "absent" | "rising" | "broken";
}

/** Splits the body of an event stream by the standard's rules. An event that is cut off at the end does not count. */
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

/** Reads off the order of the events, their indexes and the end. */
export function shapeOf(events: readonly StreamEvent[]): StreamShape {
  const names = events.map(({ name }) => name);
  const chunks = events.filter(({ name }) => name === "chunk");
  return {
    sequence: names.filter((name, at) => name !== "chunk" || names[at - 1] !== "chunk"),
    chunks: chunks.length,
    indexes: indexesOf(chunks),
  };
}

/** A stream that ended as it should: `start` first, chunks only between, exactly one of `done` and `error`, and last. */
export function isWhole({ sequence }: StreamShape): boolean {
  return /^start( chunk)? (done|error)$/.test(sequence.join(" "));
}

/** `usage.total_tokens` of `done`; `null` where it does not say. */
export function tokensOfDone(events: readonly StreamEvent[]): number | null {
  return tokensOf(events.find(({ name }) => name === "done")?.data ?? null);
}

/** `usage.total_tokens` of a body or of an event's data, or `tokens_used` of the generic envelope. */
export function tokensOf(json: string | null): number | null {
  const body = parsed(json ?? "");
  const metadata = memberOf(memberOf(body, "data"), "metadata");
  const tokens = memberOf(memberOf(body, "usage"), "total_tokens") ?? memberOf(metadata, "tokens_used");
  return Number.isInteger(tokens) && Number(tokens) >= 0 ? Number(tokens) : null;
}

function indexesOf(chunks: readonly StreamEvent[]): StreamShape["indexes"] {
  const indexes = chunks.map(({ data }) => memberOf(parsed(data), "index"));
  if (indexes.every((index) => index === undefined)) return "absent";
  const isRising = indexes.every(
    (index, at) => Number.isInteger(index) && (at === 0 || Number(index) > Number(indexes[at - 1])),
  );
  return isRising ? "rising" : "broken";
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
