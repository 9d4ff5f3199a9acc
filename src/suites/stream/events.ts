import { isDeepStrictEqual } from "node:util";

import { parseBoundedJson } from "../../base/parsing.ts";
import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import { type Exchange, headerValues, type StreamEvent } from "../../evidence/exchange.ts";
import type { ClauseCase } from "../../run/judge/check.ts";
import type { StreamEventName } from "../../spec/events-and-errors.ts";
import { isStreamEventName, isFinalEventName, type StreamOrder, sequenceOf } from "../../rules/streams/streams.ts";
import type { AllExchanges } from "../shared/all-exchanges.ts";
import { maxDurationMsBy } from "../shared/durations.ts";
import { hasStatus } from "../shared/response.ts";
import { getPath, isObject } from "../../base/json.ts";

interface ReadEvent {
  readonly name: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const streamPath = /\/agents\/[^/?]+\/stream$/;

export const isEventStream = (exchange: Exchange): boolean =>
  streamPath.test(exchange.request.url) &&
  hasStatus(exchange, 200) &&
  headerValues(exchange, "Content-Type").some((value) => /^\s*text\/event-stream\s*(;|$)/i.test(value));

/** Whether the target opened a stream and did not end it with an `error` event. */
export const isStreamAccepted = (exchange: Exchange): boolean =>
  isEventStream(exchange) && eventsOf(exchange).at(-1)?.name !== "error";

export const eventsOf = ({ answer }: Exchange): readonly StreamEvent[] =>
  answer.kind === "answered" ? answer.events : [];

export const dataOf: (event: StreamEvent) => Readonly<Record<string, unknown>> | undefined = memoizeByObject(
  ({ data }: StreamEvent) => {
    const parsed = parseBoundedJson(data);
    return isObject(parsed) ? parsed : undefined;
  },
);

export function readEvents(
  exchange: Exchange,
  name: StreamEventName,
  part: "whole" | "before the end" = "whole",
): ReadEvent[] {
  const events = eventsOf(exchange);
  const end = part === "whole" ? -1 : events.findIndex(isTerminal);
  return (end === -1 ? events : events.slice(0, end)).flatMap((event) => {
    const data = event.name === name ? dataOf(event) : undefined;
    return data === undefined ? [] : [{ name, data }];
  });
}

/** Returns the `execution_time` of a stream's first `done` event; `null` if absent or not a number. */
export function doneSeconds(exchange: Exchange): number | null {
  const seconds = getPath(readEvents(exchange, "done")[0]?.data, "execution_time");
  return typeof seconds === "number" ? seconds : null;
}

/** Returns a field of a stream's first `error` event. */
export const errorFieldOf = (exchange: Exchange, name: string): unknown =>
  getPath(readEvents(exchange, "error")[0]?.data, name);

interface EventCase {
  readonly root: ReadEvent["data"];
  readonly tookMs: number;
}

export function eventCases(
  all: AllExchanges,
  streams: readonly Exchange[],
  name: StreamEventName,
): ClauseCase<EventCase>[] {
  const maxDurationOf = maxDurationMsBy(all);
  const cell = { of: "stream events", kind: name };
  return streams.flatMap((exchange) => {
    const tookMs = maxDurationOf(exchange);
    return readEvents(exchange, name).map(({ data }) => ({ cell, proof: exchange, subject: eventCase(data, tookMs) }));
  });
}

/** Returns the same object for the same event and duration, because checks cache their results by object. */
const eventCase = memoizeByPair((root: EventCase["root"], tookMs: number): EventCase => ({ root, tookMs }));

export function describeSequence(exchange: Exchange): string {
  const runs: { name: string; count: number }[] = [];
  for (const { name } of eventsOf(exchange)) {
    const last = runs.at(-1);
    if (last !== undefined && last.name === String(name)) last.count += 1;
    else runs.push({ name: String(name), count: 1 });
  }
  if (runs.length === 0) return "no event";
  const described = runs.slice(0, 12).map(({ name, count }) => (count === 1 ? name : `${name} × ${count}`));
  return runs.length > described.length ? `${described.join(", ")}, …` : described.join(", ");
}

export const isTerminal = ({ name }: StreamEvent): boolean => isFinalEventName(name);

export const textOf = (exchange: Exchange): string =>
  readEvents(exchange, "chunk")
    .map(({ data }) => getPath(data, "content"))
    .filter((content) => typeof content === "string")
    .join("");

/** Whether the document defines every event name of the stream. Most checks skip other streams, which SSE-2 judges. */
export const isWellNamed = (exchange: Exchange): boolean =>
  eventsOf(exchange).every(({ name }) => isStreamEventName(name));

/** Whether the target ended the stream, or the connection broke. `false` if the harness stopped reading. */
export const hasEnded = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && (answer.ending.kind === "complete" || answer.ending.kind === "broken");

/** Returns the sequence of a stream's events. `isOver`: the target ended the stream without breaking the connection. */
export const orderOf = (exchange: Exchange): StreamOrder => ({
  sequence: sequenceOf(eventsOf(exchange)),
  isOver: hasEnded(exchange) && !isBroken(exchange),
});

const isBroken = ({ answer }: Exchange): boolean => answer.kind === "answered" && answer.ending.kind === "broken";

/**
 * Works like {@link orderOf}, but also sets `isOver` for a broken stream if all repetitions of its request broke after
 * the same number of events. Network failures would hardly repeat so exactly.
 */
export function orderAmong(exchange: Exchange, all: readonly Exchange[]): StreamOrder {
  const isSame = ({ key, request }: Exchange): boolean =>
    key === exchange.key &&
    request.url === exchange.request.url &&
    isDeepStrictEqual(request.body, exchange.request.body);
  const count = eventsOf(exchange).length;
  const alike = isBroken(exchange) && count > 0 ? all.filter(isSame) : [];
  const breaksHere = (each: Exchange): boolean => isBroken(each) && eventsOf(each).length === count;
  return alike.length > 1 && alike.every(breaksHere) ? { ...orderOf(exchange), isOver: true } : orderOf(exchange);
}

/** Whether the request skips chunks at the start of the stream (`resume_from_index` above 0). */
export function isResumed(exchange: Exchange): boolean {
  const { body } = exchange.request;
  return body.kind === "text" && /"resume_from_index"\s*:\s*[1-9]/.test(body.text);
}
