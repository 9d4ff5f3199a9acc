import { streamEvents, type StreamEventName } from "../../spec/events.ts";
import type { StreamShape } from "./sequence.ts";

// Scripts of k6 import this file: it has no Buffer, no URL and no package of others.

/** The order of a stream's events, and whether the target decided where it ended: then nothing more would have come. */
export interface StreamOrder extends Pick<StreamShape, "sequence"> {
  readonly isOver: boolean;
}

/** A rule of the order of one stream's events. Suites and load judge every stream by it. */
export interface StreamRule {
  readonly clause: "SSE-2" | "SSE-4" | "SSE-5" | "SSE-6";
  readonly expected: string;
  /** What is wrong with a stream, `null` where nothing is, `undefined` where it does not show. */
  readonly judge: (stream: StreamOrder) => string | null | undefined;
}

const names: readonly string[] = streamEvents;

/** Whether the name is one of the document's. */
export const isKnownName = (name: string | null): name is StreamEventName => name !== null && names.includes(name);

/** Whether a name is that of an event which ends a stream. */
export const isTerminalName = (name: string | null): boolean => name === "done" || name === "error";

export const eventNames: StreamRule = {
  clause: "SSE-2",
  expected: "`event:` is one of start, chunk, error and done",
  judge: ({ sequence }) => {
    if (sequence.length === 0) return undefined;
    const strange = sequence.find((name) => !isKnownName(name));
    return strange === undefined ? null : `an event named ${JSON.stringify(strange)}`;
  },
};

export const startFirst: StreamRule = {
  clause: "SSE-4",
  expected: "`start` first, and once",
  judge: ofKnownNames(({ sequence, isOver }) => {
    const [first] = sequence;
    if (first === undefined) return isOver ? "no event at all" : undefined;
    if (first !== "start") return `${first} comes first`;
    const starts = sequence.filter((name) => name === "start").length;
    return starts === 1 ? null : `${starts} start events`;
  }),
};

export const oneEnd: StreamRule = {
  clause: "SSE-5",
  expected: "exactly one of `done` and `error`, and nothing after it",
  judge: ofKnownNames(({ sequence, isOver }) => {
    const at = sequence.findIndex(isTerminalName);
    if (at === -1) return isOver ? "neither of them" : undefined;
    return at === sequence.length - 1 ? null : `${sequence[at + 1]} after ${sequence[at]}`;
  }),
};

export const chunksBetween: StreamRule = {
  clause: "SSE-6",
  expected: "`chunk` events between `start` and the end",
  judge: ofKnownNames(({ sequence }) => {
    const chunk = sequence.indexOf("chunk");
    const end = sequence.findIndex(isTerminalName);
    if (chunk === -1) return sequence[end] === "done" ? "no chunk before done" : undefined;
    // That there is a `start` at all is SSE-4's to say.
    if (sequence.indexOf("start") > chunk) return "a chunk before start";
    return end !== -1 && end < chunk ? "a chunk after the end" : null;
  }),
};

/** Events of other names are SSE-2's to say: what is built on names is not judged of such a stream. */
function ofKnownNames(say: StreamRule["judge"]): StreamRule["judge"] {
  return (stream) => (stream.sequence.every(isKnownName) ? say(stream) : undefined);
}

export const streamRules: readonly StreamRule[] = [eventNames, startFirst, oneEnd, chunksBetween];
