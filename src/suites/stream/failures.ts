import { formatValue, getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check, checkEvery } from "../../run/judge/check.ts";
import { breach, inapplicable, holds, unproven } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import { checkFields, fieldMatrix } from "../shared/cases.ts";
import { type AllExchanges, allExchanges } from "../shared/all-exchanges.ts";
import { outcomeOf } from "../shared/response.ts";
import {
  eventCases,
  eventsOf,
  isEventStream,
  hasEnded,
  isTerminal,
  isWellNamed,
  errorFieldOf,
  readEvents,
  describeSequence,
} from "./events.ts";
import { type AllStreams, everyStream, failedInStream, overloadedInStream, type StreamFailureRole } from "./probes.ts";

export function missingStream(exchange: Exchange) {
  if (!isEventStream(exchange)) return unproven(`no stream opened (${outcomeOf(exchange)})`);
  return isWellNamed(exchange) ? null : unproven("the stream has event names that are not in the document");
}

const isDropped = ({ answer }: Exchange): boolean => answer.kind === "unanswered" && answer.reason === "broken";

interface ErrorFieldEvidence {
  readonly all: AllStreams;
  readonly allExchanges: AllExchanges;
}

const errorEventsOf =
  (role: StreamFailureRole | null) =>
  ({ all: { streams, roles }, allExchanges: whole }: ErrorFieldEvidence) => {
    // Evidence saved by earlier versions of the harness has no `roles`.
    if (roles === undefined) return role === null ? [] : eventCases(whole, streams, "error");
    return eventCases(
      whole,
      streams.filter(({ id }) => (roles[id] ?? null) === role),
      "error",
    );
  };

const errorFields = { table: "streamError", noun: "events" } as const;

const checkField = <P extends Probe>(clause: "SSE-15" | "SSE-16", asked: P, as: string, role: StreamFailureRole) =>
  checkFields(
    clause,
    { asked, allExchanges, all: everyStream },
    {
      ...errorFields,
      as,
      members: errorEventsOf(role),
      whenEmpty: unproven("there is no `error` event with readable data"),
    },
  );

/** Checks `error` events of agents without a {@link StreamFailureRole}, such as an agent that times out. */
const checkFieldOfOtherAgents = (clause: "SSE-15" | "SSE-16"): Check =>
  checkFields(
    clause,
    { allExchanges, all: everyStream },
    {
      ...errorFields,
      as: "other agents",
      since: "1.2",
      members: errorEventsOf(null),
      whenEmpty: inapplicable("no stream of another agent has an `error` event"),
    },
  );

export const streamFailureChecks = [
  checkField("SSE-15", failedInStream, "failing", "failingInStream"),
  checkField("SSE-15", overloadedInStream, "overloaded", "overloaded"),
  checkFieldOfOtherAgents("SSE-15"),
  checkField("SSE-16", failedInStream, "failing", "failingInStream"),
  checkField("SSE-16", overloadedInStream, "overloaded", "overloaded"),
  checkFieldOfOtherAgents("SSE-16"),
  check("SSE-17", failedInStream, ({ exchange }) => {
    if (isDropped(exchange)) return breach("an `error` event", outcomeOf(exchange), exchange);
    const missing = missingStream(exchange);
    if (missing !== null) return missing;
    if (eventsOf(exchange).some(({ name }) => name === "error")) return holds();
    const isDone = eventsOf(exchange).some(({ name }) => name === "done");
    if (!isDone && !hasEnded(exchange)) return unproven(`the stream did not end in time (${outcomeOf(exchange)})`);
    return breach("an `error` event", `${describeSequence(exchange)} (${outcomeOf(exchange)})`, exchange);
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
      // An agent with the role `failing` fails on an invoke, but its stream can still succeed. Therefore, `done` is
      // accepted.
      judge: (exchange) => {
        if (!hasEnded(exchange) || !isWellNamed(exchange)) return undefined;
        if (eventsOf(exchange).some(isTerminal)) return null;
        return { expected: "an `error` event", actual: `${describeSequence(exchange)} (${outcomeOf(exchange)})` };
      },
      whenEmpty: unproven("no stream of a failing agent is complete"),
    },
  ),
  check("SSE-18", failedInStream, ({ exchange }) => {
    const code = errorFieldOf(exchange, "code");
    if (typeof code !== "string") return unproven("there is no `error` event with a `code`");
    return code === "STREAM_ERROR" ? holds() : breach("`code` is STREAM_ERROR", formatValue(code), exchange);
  }),
  check("SSE-19", overloadedInStream, ({ exchange }) => {
    const expected = "an `error` event with the code CAPACITY_ERROR";
    if (isDropped(exchange)) return breach(expected, outcomeOf(exchange), exchange);
    const missing = missingStream(exchange);
    if (missing !== null) return missing;
    const [first] = readEvents(exchange, "error");
    if (first === undefined && hasEnded(exchange)) return breach(expected, describeSequence(exchange), exchange);
    const code = getPath(first?.data, "code");
    if (typeof code !== "string") return unproven("there is no `error` event with a `code`");
    if (code !== "CAPACITY_ERROR") return breach("`code` is CAPACITY_ERROR", formatValue(code), exchange);
    return (getPath(first?.data, "retry_after") ?? null) === null
      ? breach("`retry_after` with CAPACITY_ERROR", formatValue(first?.data), exchange)
      : holds();
  }),
  checkEvery(
    "SSE-19",
    { asked: overloadedInStream, all: everyStream },
    {
      as: "every",
      since: "1.1",
      matrix: fieldMatrix("streamError"),
      noun: "streams",
      members: ({ all }) =>
        all.streams
          .filter((each) => errorFieldOf(each, "code") === "CAPACITY_ERROR")
          .map((exchange) => ({ cell: { of: "stream events", kind: "error" }, proof: exchange, subject: exchange })),
      judge: (exchange) =>
        (errorFieldOf(exchange, "retry_after") ?? null) === null
          ? { expected: "`retry_after` with CAPACITY_ERROR", actual: describeSequence(exchange) }
          : null,
      whenEmpty: inapplicable("no stream has an `error` event with the code CAPACITY_ERROR"),
    },
  ),
] as const;
