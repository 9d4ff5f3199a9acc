import { tryParseJson, getPath } from "../../base/json.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/**
 * The order of the events of a whole stream, and whether its chunks have indexes. Sources in the document: Events,
 * "Stream events"; States, "Stream sequence".
 */
export interface StreamShape {
  /** Names of the events in order, with consecutive chunks listed once. */
  readonly sequence: string[];
  readonly chunks: number;
  readonly indexes: Indexes["kind"];
}

/** An event with its data as text. Several `data` lines are joined by line feeds. */
interface NamedEvent {
  readonly name: string | null;
  readonly data: string;
}

/** Reads the order of the events, and whether the chunks have indexes. */
export function shapeOf(events: readonly NamedEvent[]): StreamShape {
  const chunks = events.filter(({ name }) => name === "chunk");
  return {
    sequence: sequenceOf(events),
    chunks: chunks.length,
    indexes: indexesOf(chunks.map(({ data }) => getPath(tryParseJson(data), "index"))).kind,
  };
}

/**
 * Names in order, with consecutive chunks listed once. An event without a name is a `message`, as the SSE standard
 * says.
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
   * `at` is the position of the first wrong chunk. That chunk has no index although others have one, or its index is no
   * integer or not above the previous index.
   */
  | { readonly kind: "broken"; readonly at: number };

/**
 * Classifies the indexes of a stream's chunks.
 *
 * @param values `index` of each chunk; `undefined` if it has none
 */
export function indexesOf(values: readonly unknown[]): Indexes {
  if (values.every((value) => value === undefined)) return { kind: "absent" };
  const missing = values.indexOf(undefined);
  const at = missing === -1 ? values.findIndex((value, place) => !risesAt(value, place, values)) : missing;
  return at === -1 ? { kind: "rising", values: values.map(Number) } : { kind: "broken", at };
}

const risesAt = (value: unknown, at: number, values: readonly unknown[]): boolean =>
  Number.isInteger(value) && (at === 0 || Number(value) > Number(values[at - 1]));

/** `usage.total_tokens` of the `done` event of a stream; `null` if it is absent. */
export function tokensOfDone(events: readonly NamedEvent[]): number | null {
  const done = events.find(({ name }) => name === "done");
  return done === undefined ? null : tokensOf(tryParseJson(done.data));
}

/** The tokens of a response or of a `done` event: `usage.total_tokens`, or `tokens_used` of the generic envelope. */
export function tokensOf(json: unknown): number | null {
  const found = getPath(json, "usage", "total_tokens") ?? getPath(json, "data", "metadata", "tokens_used");
  return typeof found === "number" && Number.isInteger(found) && found >= 0 ? found : null;
}
