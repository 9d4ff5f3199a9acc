import { jsonIn, member } from "../base/json.ts";

// Scripts of k6 import this file: it has no Buffer, no URL and no package of others.

/** What a whole stream looked like. Sources: Events, "Stream events"; States, "Stream sequence". */
export interface StreamShape {
  /** Names of the events in order; runs of chunks stand once. */
  readonly sequence: string[];
  readonly chunks: number;
  /** Of the chunks: `absent` on all; `rising`: on all, each above the one before; `broken`: anything else. */
  readonly indexes: "absent" | "rising" | "broken";
}

/** An event with its data as sent, its lines joined by line feeds. */
interface NamedEvent {
  readonly name: string;
  readonly data: string;
}

/** Reads off the order of the events, their indexes and the end. */
export function shapeOf(events: readonly NamedEvent[]): StreamShape {
  const names = events.map(({ name }) => name);
  const chunks = events.filter(({ name }) => name === "chunk");
  return {
    sequence: names.filter((name, at) => name !== "chunk" || names[at - 1] !== "chunk"),
    chunks: chunks.length,
    indexes: indexesOf(chunks),
  };
}

function indexesOf(chunks: readonly NamedEvent[]): StreamShape["indexes"] {
  const indexes = chunks.map(({ data }) => member(jsonIn(data), "index"));
  if (indexes.every((index) => index === undefined)) return "absent";
  const isRising = indexes.every(
    (index, at) => Number.isInteger(index) && (at === 0 || Number(index) > Number(indexes[at - 1])),
  );
  return isRising ? "rising" : "broken";
}

/** `usage.total_tokens` of a stream's `done`; `null` where it does not say. */
export function tokensOfDone(events: readonly NamedEvent[]): number | null {
  const done = events.find(({ name }) => name === "done");
  return done === undefined ? null : tokensOf(jsonIn(done.data));
}

/** `usage.total_tokens` of an answer or of a stream's `done`, or `tokens_used` of the generic envelope. */
export function tokensOf(json: unknown): number | null {
  const found = member(json, "usage", "total_tokens") ?? member(json, "data", "metadata", "tokens_used");
  return typeof found === "number" && Number.isInteger(found) && found >= 0 ? found : null;
}
