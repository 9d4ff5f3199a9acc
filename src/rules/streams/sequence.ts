import { tryParseJson, getPath } from "../../base/json.ts";

// Scripts of k6 import this file: it has no Buffer, no URL and no package of others.

/** What a whole stream looked like. Sources: Events, "Stream events"; States, "Stream sequence". */
export interface StreamShape {
  /** Names of the events in order; runs of chunks stand once. */
  readonly sequence: string[];
  readonly chunks: number;
  readonly indexes: Indexes["kind"];
}

/** An event with its data as sent, its lines joined by line feeds. */
interface NamedEvent {
  readonly name: string | null;
  readonly data: string;
}

/** Reads off the order of the events, their indexes and the end. */
export function shapeOf(events: readonly NamedEvent[]): StreamShape {
  const chunks = events.filter(({ name }) => name === "chunk");
  return {
    sequence: sequenceOf(events),
    chunks: chunks.length,
    indexes: indexesOf(chunks.map(({ data }) => getPath(tryParseJson(data), "index"))).kind,
  };
}

/** Names in order, runs of chunks once. Whoever reads streams by the standard calls an event without a name `message`. */
export function sequenceOf(events: readonly Pick<NamedEvent, "name">[]): string[] {
  const names = events.map(({ name }) => name ?? "message");
  return names.filter((name, at) => name !== "chunk" || names[at - 1] !== "chunk");
}

/** `index` of a stream's chunks: on none; on all, integers, each above the one before; anything else. */
export type Indexes =
  | { readonly kind: "absent" }
  | { readonly kind: "rising"; readonly values: readonly number[] }
  /** `at`: the first chunk that lacks what others have; where none does, the first whose value is no integer, or not above the one before. */
  | { readonly kind: "broken"; readonly at: number };

/** @param values `index` of each chunk; `undefined` where it has none */
export function indexesOf(values: readonly unknown[]): Indexes {
  if (values.every((value) => value === undefined)) return { kind: "absent" };
  const missing = values.indexOf(undefined);
  const at = missing === -1 ? values.findIndex((value, place) => !risesAt(value, place, values)) : missing;
  return at === -1 ? { kind: "rising", values: values.map(Number) } : { kind: "broken", at };
}

const risesAt = (value: unknown, at: number, values: readonly unknown[]): boolean =>
  Number.isInteger(value) && (at === 0 || Number(value) > Number(values[at - 1]));

/** `usage.total_tokens` of a stream's `done`; `null` where it does not say. */
export function tokensOfDone(events: readonly NamedEvent[]): number | null {
  const done = events.find(({ name }) => name === "done");
  return done === undefined ? null : tokensOf(tryParseJson(done.data));
}

/** `usage.total_tokens` of an answer or of a stream's `done`, or `tokens_used` of the generic envelope. */
export function tokensOf(json: unknown): number | null {
  const found = getPath(json, "usage", "total_tokens") ?? getPath(json, "data", "metadata", "tokens_used");
  return typeof found === "number" && Number.isInteger(found) && found >= 0 ? found : null;
}
