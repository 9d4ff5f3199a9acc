import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, holds, unproven } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { fieldMatrix } from "../shared/matrices.ts";
import { fieldMismatch } from "../../rules/bodies/fields.ts";
import { judgePresence } from "../shared/cases.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { outcomeOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { eventsOf, isEventStream, isOver, isTerminal, isWellNamed, readEvents, sequenceText } from "./events.ts";
import { eventCases } from "./event-fields.ts";
import { everyStream, failedInStream, overloadedInStream } from "./probes.ts";

/** Says why the events of a stream cannot be judged; `null` if they can. */
export function missingStream(exchange: Exchange) {
  if (!isEventStream(exchange)) return unproven(`no stream opened (${outcomeOf(exchange)})`);
  return isWellNamed(exchange) ? null : unproven("its events have names that the document does not know");
}

/** Whether the server closed the connection before a response. */
const isDropped = ({ answer }: Exchange): boolean => answer.kind === "unanswered" && answer.reason === "broken";

/**
 * Checks the fields of a clause on every `error` event of the run.
 * @param asked probe of an agent that sends one
 */
const field = <P extends Probe>(clause: "SSE-15" | "SSE-16", asked: P, as: string): Check =>
  checkEvery(
    clause,
    { asked, everything: allExchanges, all: everyStream },
    {
      as,
      matrix: fieldMatrix("streamError"),
      noun: "events",
      members: (evidence) => eventCases(evidence, evidence.all.streams, "error"),
      judge: ({ data }) => fieldMismatch("streamError", clause, data),
      whenEmpty: unproven("no `error` event came whose data can be read"),
      judgeAcross: (events) =>
        judgePresence(
          "streamError",
          clause,
          events.map(({ data }) => data),
        ),
    },
  );

/** Checks of streams whose agent fails or is overloaded. */
export const failureChecks = [
  field("SSE-15", failedInStream, "failing"),
  field("SSE-15", overloadedInStream, "overloaded"),
  field("SSE-16", failedInStream, "failing"),
  field("SSE-16", overloadedInStream, "overloaded"),
  check("SSE-17", failedInStream, ({ exchange }) => {
    if (isDropped(exchange)) return breach("an `error` event", outcomeOf(exchange), exchange);
    const unable = missingStream(exchange);
    if (unable !== null) return unable;
    if (eventsOf(exchange).some(({ name }) => name === "error")) return holds();
    const isDone = eventsOf(exchange).some(({ name }) => name === "done");
    if (!isDone && !isOver(exchange)) return unproven(`the stream did not end in time (${outcomeOf(exchange)})`);
    return breach("an `error` event", `${sequenceText(exchange)} (${outcomeOf(exchange)})`, exchange);
  }),
  checkEvery(
    "SSE-17",
    { asked: failedInStream, all: everyStream },
    {
      as: "every agent that fails",
      matrix: fieldMatrix("streamError"),
      noun: "streams",
      members: ({ all }) =>
        all.streams
          .filter(({ id }) => all.failing.includes(id))
          .map((exchange) => ({ cell: { of: "stream events", kind: "error" }, proof: exchange, subject: exchange })),
      // An agent that fails on invoke may still stream, so either terminal event is fine.
      judge: (exchange) => {
        if (!isOver(exchange) || !isWellNamed(exchange)) return undefined;
        if (eventsOf(exchange).some(isTerminal)) return null;
        return { expected: "an `error` event", actual: `${sequenceText(exchange)} (${outcomeOf(exchange)})` };
      },
      whenEmpty: unproven("no stream of an agent that fails came to its end"),
    },
  ),
  check("SSE-18", failedInStream, ({ exchange }) => {
    const code = getPath(readEvents(exchange, "error")[0]?.data, "code");
    if (typeof code !== "string") return unproven("no `error` event came with a `code`");
    return code === "STREAM_ERROR" ? holds() : breach("`code` is STREAM_ERROR", formatValue(code), exchange);
  }),
  check("SSE-19", overloadedInStream, ({ exchange }) => {
    if (isDropped(exchange))
      return breach("an `error` event with the code CAPACITY_ERROR", outcomeOf(exchange), exchange);
    const unable = missingStream(exchange);
    if (unable !== null) return unable;
    const [first] = readEvents(exchange, "error");
    if (first === undefined && isOver(exchange))
      return breach("an `error` event with the code CAPACITY_ERROR", sequenceText(exchange), exchange);
    const code = getPath(first?.data, "code");
    if (typeof code !== "string") return unproven("no `error` event came with a `code`");
    if (code !== "CAPACITY_ERROR") return breach("`code` is CAPACITY_ERROR", formatValue(code), exchange);
    return (getPath(first?.data, "retry_after") ?? null) === null
      ? breach("`retry_after` beside CAPACITY_ERROR", formatValue(first?.data), exchange)
      : holds();
  }),
] as const;
