import { streamEvents, type StreamEventName } from "../../spec/events.ts";
import type { StreamShape } from "./sequence.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/** The events of a stream in order. `isOver`: the target ended the stream, so no event is missing. */
export interface StreamOrder extends Pick<StreamShape, "sequence"> {
  readonly isOver: boolean;
}

/** A rule about the order of a stream's events. It applies to every stream, in runs and under load. */
export interface StreamRule {
  readonly clause: "SSE-2" | "SSE-4" | "SSE-5" | "SSE-6";
  readonly expected: string;
  /**
   * Returns the actual order if it breaks the rule, `null` if it does not, or `undefined` if the rule does not apply to
   * this stream.
   */
  readonly judge: (stream: StreamOrder) => string | null | undefined;
}

const names: readonly string[] = streamEvents;

/** Whether a name is one of the events that the document defines. */
export const isKnownName = (name: string | null): name is StreamEventName => name !== null && names.includes(name);

/** Whether an event of this name ends a stream. */
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
  judge: onlyKnownNames(({ sequence, isOver }) => {
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
  judge: onlyKnownNames(({ sequence, isOver }) => {
    const at = sequence.findIndex(isTerminalName);
    if (at === -1) return isOver ? "neither of them" : undefined;
    return at === sequence.length - 1 ? null : `${sequence[at + 1]} after ${sequence[at]}`;
  }),
};

export const chunksBetween: StreamRule = {
  clause: "SSE-6",
  expected: "`chunk` events between `start` and the end",
  judge: onlyKnownNames(({ sequence }) => {
    const chunk = sequence.indexOf("chunk");
    const end = sequence.findIndex(isTerminalName);
    if (chunk === -1) return sequence[end] === "done" ? "no chunk before done" : undefined;
    // A stream without `start` passes here: SSE-4 judges that.
    if (sequence.indexOf("start") > chunk) return "a chunk before start";
    return end !== -1 && end < chunk ? "a chunk after the end" : null;
  }),
};

/**
 * Makes a rule skip streams with event names that the document does not define. SSE-2 judges the names, and unknown
 * events have no order.
 */
function onlyKnownNames(say: StreamRule["judge"]): StreamRule["judge"] {
  return (stream) => (stream.sequence.every(isKnownName) ? say(stream) : undefined);
}

export const streamRules: readonly StreamRule[] = [eventNames, startFirst, oneEnd, chunksBetween];
