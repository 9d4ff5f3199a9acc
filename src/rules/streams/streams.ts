import { tryParseJson, getPath } from "../../base/json.ts";
import { streamEvents, type StreamEventName } from "../../spec/events-and-errors.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

export interface StreamShape {
  /** Names of the events in order. Consecutive `chunk` events are one entry. */
  readonly sequence: string[];
  readonly chunks: number;
  readonly indexes: Indexes["kind"];
}

/** A stream event with its data as text. Several `data` lines are joined by line feeds. */
interface NamedEvent {
  readonly name: string | null;
  readonly data: string;
}

export function streamShapeOf(events: readonly NamedEvent[]): StreamShape {
  const chunks = events.filter(({ name }) => name === "chunk");
  return {
    sequence: sequenceOf(events),
    chunks: chunks.length,
    indexes: classifyIndexes(chunks.map(({ data }) => getPath(tryParseJson(data), "index"))).kind,
  };
}

/**
 * Returns the names of the events in order, with consecutive `chunk` events as one entry. An event without a name is
 * called `message`, as in the SSE standard.
 */
export function sequenceOf(events: readonly Pick<NamedEvent, "name">[]): string[] {
  const names = events.map(({ name }) => name ?? "message");
  return names.filter((name, at) => name !== "chunk" || names[at - 1] !== "chunk");
}

export type Indexes =
  | { readonly kind: "absent" }
  | { readonly kind: "rising"; readonly values: readonly number[] }
  /**
   * `at` is the position of the first chunk without `index`, or else of the first chunk whose `index` is not a rising
   * integer.
   */
  | { readonly kind: "broken"; readonly at: number };

function classifyIndexes(values: readonly unknown[]): Indexes {
  if (values.every((value) => value === undefined)) return { kind: "absent" };
  const missing = values.indexOf(undefined);
  const at = missing === -1 ? values.findIndex((value, place) => !risesAt(value, place, values)) : missing;
  return at === -1 ? { kind: "rising", values: values.map(Number) } : { kind: "broken", at };
}

const risesAt = (value: unknown, at: number, values: readonly unknown[]): boolean =>
  Number.isInteger(value) && (at === 0 || Number(value) > Number(values[at - 1]));

export function tokensOfDone(events: readonly NamedEvent[]): number | null {
  const done = events.find(({ name }) => name === "done");
  return done === undefined ? null : tokensOf(tryParseJson(done.data));
}

export function tokensOf(json: unknown): number | null {
  const found = getPath(json, "usage", "total_tokens") ?? getPath(json, "data", "metadata", "tokens_used");
  return typeof found === "number" && Number.isInteger(found) && found >= 0 ? found : null;
}

/** The order of a stream's events. `isOver`: the target ended the stream, so `sequence` is complete. */
export interface StreamOrder extends Pick<StreamShape, "sequence"> {
  readonly isOver: boolean;
}

export interface StreamRule {
  readonly clause: "SSE-2" | "SSE-4" | "SSE-5" | "SSE-6";
  readonly expected: string;
  /** Returns how the stream breaks the rule; `null` if the stream conforms, `undefined` if the rule does not apply. */
  readonly judge: (stream: StreamOrder) => string | null | undefined;
}

const names: readonly string[] = streamEvents;

export const isStreamEventName = (name: string | null): name is StreamEventName =>
  name !== null && names.includes(name);

export const isFinalEventName = (name: string | null): boolean => name === "done" || name === "error";

export const eventNames: StreamRule = {
  clause: "SSE-2",
  expected: "`event:` is one of start, chunk, error and done",
  judge: ({ sequence }) => {
    if (sequence.length === 0) return undefined;
    const strange = sequence.find((name) => !isStreamEventName(name));
    return strange === undefined ? null : `an event named ${JSON.stringify(strange)}`;
  },
};

export const startIsFirst: StreamRule = {
  clause: "SSE-4",
  expected: "`start` first, and once",
  judge: onlyKnownNames(({ sequence, isOver }) => {
    const [first] = sequence;
    if (first === undefined) return isOver ? "no event at all" : undefined;
    if (first !== "start") return `${first} comes first`;
    const starts = sequence.filter((name) => name === "start").length;
    return starts === 1 ? null : `${starts} start events`;
  }),
};

export const exactlyOneEnd: StreamRule = {
  clause: "SSE-5",
  expected: "exactly one of `done` and `error`, and nothing after it",
  judge: onlyKnownNames(({ sequence, isOver }) => {
    const at = sequence.findIndex(isFinalEventName);
    if (at === -1) return isOver ? "neither of them" : undefined;
    return at === sequence.length - 1 ? null : `${sequence[at + 1]} after ${sequence[at]}`;
  }),
};

export const chunksBetween: StreamRule = {
  clause: "SSE-6",
  expected: "`chunk` events between `start` and the end",
  judge: onlyKnownNames(({ sequence }) => {
    const chunk = sequence.indexOf("chunk");
    const end = sequence.findIndex(isFinalEventName);
    if (chunk === -1) return sequence[end] === "done" ? "no chunk before done" : undefined;
    // Without a `start` event, `indexOf` returns -1 and this condition is false. SSE-4 judges a missing `start`.
    if (sequence.indexOf("start") > chunk) return "a chunk before start";
    return end !== -1 && end < chunk ? "a chunk after the end" : null;
  }),
};

/** Returns a `judge` that skips streams with an unknown event name, because SSE-2 judges such names. */
function onlyKnownNames(judge: StreamRule["judge"]): StreamRule["judge"] {
  return (stream) => (stream.sequence.every(isStreamEventName) ? judge(stream) : undefined);
}

export const streamRules: readonly StreamRule[] = [eventNames, startIsFirst, exactlyOneEnd, chunksBetween];
