import { tryParseJson, getPath } from "../../base/json.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/**
 * The order of a stream's events, and whether its chunks have indexes. Sources: Events, "Stream events"; States,
 * "Stream sequence".
 */
export interface StreamShape {
  /** Names of the events in order. Consecutive chunks are listed once. */
  readonly sequence: string[];
  readonly chunks: number;
  readonly indexes: Indexes["kind"];
}

/** An event with its data as text. Several `data` lines are joined by line feeds. */
interface NamedEvent {
  readonly name: string | null;
  readonly data: string;
}

/** Returns the order of a stream's events, and whether its chunks have indexes. */
export function streamShapeOf(events: readonly NamedEvent[]): StreamShape {
  const chunks = events.filter(({ name }) => name === "chunk");
  return {
    sequence: sequenceOf(events),
    chunks: chunks.length,
    indexes: classifyIndexes(chunks.map(({ data }) => getPath(tryParseJson(data), "index"))).kind,
  };
}

/**
 * Returns the names of the events in order, with consecutive chunks once. By the SSE standard, an event without a name
 * is a `message`.
 */
export function sequenceOf(events: readonly Pick<NamedEvent, "name">[]): string[] {
  const names = events.map(({ name }) => name ?? "message");
  return names.filter((name, at) => name !== "chunk" || names[at - 1] !== "chunk");
}

/** The `index` values of the chunks of a stream: absent from all, rising integers, or broken. */
export type Indexes =
  | { readonly kind: "absent" }
  | { readonly kind: "rising"; readonly values: readonly number[] }
  /**
   * `at` is the position of the first wrong chunk: it has no index although others have one, or its index is no integer
   * or not above the previous one.
   */
  | { readonly kind: "broken"; readonly at: number };

/**
 * Classifies the indexes of a stream's chunks.
 *
 * @param values `index` of each chunk; `undefined` if it has none
 */
export function classifyIndexes(values: readonly unknown[]): Indexes {
  if (values.every((value) => value === undefined)) return { kind: "absent" };
  const missing = values.indexOf(undefined);
  const at = missing === -1 ? values.findIndex((value, place) => !risesAt(value, place, values)) : missing;
  return at === -1 ? { kind: "rising", values: values.map(Number) } : { kind: "broken", at };
}

const risesAt = (value: unknown, at: number, values: readonly unknown[]): boolean =>
  Number.isInteger(value) && (at === 0 || Number(value) > Number(values[at - 1]));

/** Returns `usage.total_tokens` of a stream's `done` event; `null` if absent. */
export function tokensOfDone(events: readonly NamedEvent[]): number | null {
  const done = events.find(({ name }) => name === "done");
  return done === undefined ? null : tokensOf(tryParseJson(done.data));
}

/**
 * Returns the tokens that a response or a `done` event reports: `usage.total_tokens`, or `tokens_used` of the generic
 * envelope. `null` without either.
 */
export function tokensOf(json: unknown): number | null {
  const found = getPath(json, "usage", "total_tokens") ?? getPath(json, "data", "metadata", "tokens_used");
  return typeof found === "number" && Number.isInteger(found) && found >= 0 ? found : null;
}
