import { z } from "zod";

import type { Exchange } from "../../evidence/exchange.ts";
import { check } from "../../run/check.ts";
import { breach, follows, holds, unproven } from "../../run/finding.ts";
import { member, misshapen, outcomeOf, show } from "../answers/shape.ts";
import { eventsOf, isEventStream, isOver, isWellNamed, readEvents, sequenceText } from "./events.ts";
import { failedInStream, overloadedInStream } from "./probes.ts";

/** What keeps a stream's events from being judged; `null` where nothing does. */
export function withoutStream(exchange: Exchange) {
  if (!isEventStream(exchange)) return unproven(`no stream opened (${outcomeOf(exchange)})`);
  return isWellNamed(exchange) ? null : unproven("its events have names that the document does not know");
}

/** Whether the server dropped the connection before any answer arrived. */
const isDropped = ({ answer }: Exchange): boolean => answer.kind === "unanswered" && answer.reason === "broken";

const errorFields = ({ exchange }: { readonly exchange: Exchange }) => {
  const errors = readEvents(exchange, "error");
  if (errors.length === 0) return unproven("no `error` event came whose data can be read");
  const shape = z.looseObject({ error: z.string(), code: z.string() });
  for (const { data } of errors) {
    const broken = misshapen(shape, data, "data of `error`", exchange);
    if (broken !== null) return broken;
  }
  return holds();
};

const errorPause = ({ exchange }: { readonly exchange: Exchange }) => {
  const errors = readEvents(exchange, "error");
  if (errors.length === 0) return unproven("no `error` event came whose data can be read");
  const given = errors.map(({ data }) => data["retry_after"]).filter((value) => value !== undefined && value !== null);
  for (const value of given) {
    const broken = misshapen(z.number(), value, "`retry_after` of `error`", exchange);
    if (broken !== null) return broken;
  }
  return follows(given.length === 0 ? "absent" : "present");
};

/** Checks of streams whose agent fails, or is overloaded. */
export const failureChecks = [
  check("SSE-15", failedInStream, errorFields, { as: "failing" }),
  check("SSE-15", overloadedInStream, errorFields, { as: "overloaded" }),
  check("SSE-16", failedInStream, errorPause, { as: "failing" }),
  check("SSE-16", overloadedInStream, errorPause, { as: "overloaded" }),
  check("SSE-17", failedInStream, ({ exchange }) => {
    if (isDropped(exchange)) return breach("an `error` event", outcomeOf(exchange), exchange);
    const unable = withoutStream(exchange);
    if (unable !== null) return unable;
    if (eventsOf(exchange).some(({ name }) => name === "error")) return holds();
    const isDone = eventsOf(exchange).some(({ name }) => name === "done");
    if (!isDone && !isOver(exchange)) return unproven(`the stream did not end in time (${outcomeOf(exchange)})`);
    return breach("an `error` event", `${sequenceText(exchange)} (${outcomeOf(exchange)})`, exchange);
  }),
  check("SSE-18", failedInStream, ({ exchange }) => {
    const code = member(readEvents(exchange, "error")[0]?.data, "code");
    if (typeof code !== "string") return unproven("no `error` event came with a `code`");
    return code === "STREAM_ERROR" ? holds() : breach("`code` is STREAM_ERROR", show(code), exchange);
  }),
  check("SSE-19", overloadedInStream, ({ exchange }) => {
    if (isDropped(exchange))
      return breach("an `error` event with the code CAPACITY_ERROR", outcomeOf(exchange), exchange);
    const unable = withoutStream(exchange);
    if (unable !== null) return unable;
    const [first] = readEvents(exchange, "error");
    if (first === undefined && isOver(exchange))
      return breach("an `error` event with the code CAPACITY_ERROR", sequenceText(exchange), exchange);
    const code = member(first?.data, "code");
    if (typeof code !== "string") return unproven("no `error` event came with a `code`");
    if (code !== "CAPACITY_ERROR") return breach("`code` is CAPACITY_ERROR", show(code), exchange);
    return (member(first?.data, "retry_after") ?? null) === null
      ? breach("`retry_after` beside CAPACITY_ERROR", show(first?.data), exchange)
      : holds();
  }),
] as const;
