import { is2xx } from "../../base/http.ts";
import { formatValue, getPath, isObject } from "../../base/json.ts";
import { type Exchange, sentJson, statusOf } from "../../evidence/exchange.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { instantMsOf, isTimestamp } from "../../rules/bodies/timestamps.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";
import { check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { eventsOfType, eventTypeOf } from "../deliveries/events.ts";
import { allDeliveries, timingOutWithWebhooks } from "../deliveries/probes.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { streamTimeMismatch, durationUnitMismatch } from "../shared/durations.ts";
import { hasStatus, outcomeOf, reportedTokens, isComplete } from "../shared/response.ts";
import { eventsOf, isEventStream, readEvents } from "../stream/events.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import {
  type ComparedPair,
  deliveryData,
  endedExecutions,
  invokeFields,
  isSameExecution,
  pairCheck,
  type ReportedExecution,
  reportedExecutions,
  requestIdOf,
} from "./pairs.ts";
import { slowAgentWithWebhookInvoked } from "./probes.ts";

const on = { all: allExchanges, arrived: allDeliveries, sent: invokedWithWebhooks };
const between = "delivery and response";
const noPair = unproven("no delivery of `agent.completed` can be matched with a response; see HOOK-8 and HOOK-17");

const nothingCompared = ({ all, arrived }: EvidenceOf<typeof on>): Finding<never> =>
  reportedExecutions(all)(arrived).length === 0 ? noPair : inapplicable("no delivery and its response both show it");

const checkReports = (
  clause: "HOOK-42" | "HOOK-43",
  as: string,
  judge: (pair: ReportedExecution) => Mismatch | null | undefined,
) =>
  pairCheck(clause, on, {
    as,
    between,
    pairs: ({ all, arrived }) => reportedExecutions(all)(arrived),
    judge,
    otherwise: nothingCompared,
  });

const isCompleted = (delivery: Delivery): boolean => eventTypeOf(delivery) === "agent.completed";

const checkCompleted = (as: string, judge: (pair: ReportedExecution) => Mismatch | null | undefined) =>
  checkReports("HOOK-42", as, (pair) => (isCompleted(pair.second) ? judge(pair) : undefined));

function compare<T>(
  name: string,
  delivered: unknown,
  responded: unknown,
  isType: (value: unknown) => value is T,
): Mismatch | null | undefined {
  if (!isType(delivered) || !isType(responded)) return undefined;
  return delivered === responded
    ? null
    : {
        expected: `\`${name}\` ${formatValue(responded)}, as in the response`,
        actual: `${formatValue(delivered)} in the delivery`,
      };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => Number.isInteger(value);

/** Compares the texts at the same paths of two results. Skips timestamps: a time can be written in two ways. */
function resultMismatch(delivered: unknown, responded: unknown, path = "result"): Mismatch | null | undefined {
  if (isText(delivered) && isText(responded))
    return isTimestamp(delivered) && isTimestamp(responded) ? undefined : compare(path, delivered, responded, isText);
  if (!isObject(delivered) || !isObject(responded)) return undefined;
  const found = Object.keys(delivered).map((name) =>
    resultMismatch(delivered[name], responded[name], `${path}.${name}`),
  );
  return found.find((each) => each !== null && each !== undefined) ?? (found.includes(null) ? null : undefined);
}

function endOf({ first }: ReportedExecution): "completed" | "failed" | null {
  if (isEventStream(first)) {
    const [isDone, isError] = ["done", "error"].map((end) => eventsOf(first).some(({ name }) => name === end));
    // A stream with both `done` and `error`, or with neither, does not show how the execution ended.
    return isDone === isError ? null : isDone ? "completed" : "failed";
  }
  // An error response proves nothing: a gateway may send it although the execution completes.
  return is2xx(statusOf(first)) && getPath(invokeFields(first), "result") !== undefined ? "completed" : null;
}

const isWholeStream = (exchange: Exchange): boolean => isEventStream(exchange) && isComplete(exchange);

const endsOfExecutions = (
  ends: readonly Delivery[],
): (ComparedPair & { readonly first: Delivery; readonly second: Delivery })[] =>
  [...Map.groupBy(ends, (each) => deliveryData(each, "request_id")).values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : others.filter((each) => isSameExecution(first, each)).map((second) => ({ first, second })),
  );

const timedOutProbes = { ended: timingOutWithWebhooks, arrived: allDeliveries };

/**
 * Whether `completed` and `timeout` are about the same execution. A gateway may retry the invoke, which starts another
 * execution.
 */
function isOfTimeout(completed: Delivery, timeout: Delivery, invoked: Exchange): boolean {
  const [agent, itsAgent] = [completed, timeout].map((each) => getPath(deliveryJson(each), "agent_id"));
  if (agent !== itsAgent) return false;
  const [query, sent] = [
    getPath(deliveryData(completed, "input"), "query"),
    getPath(sentJson(invoked.request), "query"),
  ];
  const [id, other] = [completed, timeout].map((each) => deliveryData(each, "request_id"));
  if (!isText(id) || !isText(other)) return isText(query) && query === sent;
  return id === other && (query === undefined || query === sent);
}

const createdMsOf = (delivery: Delivery): number => instantMsOf(getPath(deliveryJson(delivery), "created"));

/** Returns how long after `timeout` the event `completed` was created. Positive is legal: an agent can finish late. */
const lateByMs = (completed: Delivery, timeout: Delivery): number => createdMsOf(completed) - createdMsOf(timeout);

/** Judges HOOK-43: an execution that timed out has no `agent.completed` created before or with its `agent.timeout`. */
function judgeTimeout({ ended: { invoked, deliveries }, arrived }: EvidenceOf<typeof timedOutProbes>): Finding<never> {
  if (hasStatus(invoked, 504)) return inapplicable("the invoke ended with 504, which may be a gateway's");
  if (!hasStatus(invoked, 500)) return unproven(`the invoke did not end with 500 (${outcomeOf(invoked)})`);
  const timeouts = eventsOfType(deliveries, "agent.timeout");
  if (timeouts.length === 0) return unproven("no `agent.timeout` came; see HOOK-10");
  const ends = eventsOfType(arrived.deliveries, "agent.completed").flatMap((completed) =>
    timeouts
      .filter((timeout) => isOfTimeout(completed, timeout, invoked))
      .map((timeout) => ({ pair: [timeout, completed] as const, lateMs: lateByMs(completed, timeout) })),
  );
  const found = ends.find(({ lateMs }) => lateMs <= 0);
  if (found !== undefined)
    return breach(
      "`agent.timeout` alone, as the response is 500",
      "also `agent.completed` of the same execution, created no later",
      ...found.pair,
    );
  return ends.some(({ lateMs }) => Number.isNaN(lateMs))
    ? unproven("an event of the execution has no readable `created`")
    : holds();
}

/**
 * Returns an upper bound of the duration of a stream, in ms. Includes the time until the delivery arrived, because the
 * server can notice the end of the stream late.
 */
const streamUntilDeliveryMs = ({ first, second, tookMs }: ReportedExecution): number =>
  Math.max(tookMs, first.answer.endMs - first.sentMs + second.clockAtMostMs - first.clockMs);

export const deliveryRelations = [
  checkCompleted("request_id", ({ first, second }) =>
    compare("request_id", deliveryData(second, "request_id"), requestIdOf(first), isText),
  ),
  checkCompleted("result", ({ first, second }) =>
    resultMismatch(deliveryData(second, "result"), getPath(invokeFields(first), "result")),
  ),
  checkCompleted("tokens", ({ first, second }) =>
    compare("tokens_used", deliveryData(second, "tokens_used"), reportedTokens(first), isCount),
  ),
  pairCheck("HOOK-42", on, {
    as: "execution_time",
    also: [slowAgentWithWebhookInvoked],
    between,
    pairs: ({ all, arrived }) => reportedExecutions(all)(arrived),
    judge: ({ first, second, tookMs }) => {
      const seconds = deliveryData(second, "execution_time");
      if (typeof seconds !== "number") return undefined;
      if (!isWholeStream(first)) return durationUnitMismatch("data.execution_time", seconds, tookMs);
      const done = readEvents(first, "done")[0]?.data["execution_time"];
      return streamTimeMismatch(seconds, { done, tookMs: streamUntilDeliveryMs({ first, second, tookMs }) });
    },
    otherwise: noPair,
  }),
  checkReports("HOOK-43", "as the response", (pair) => {
    const [end, type] = [endOf(pair), isCompleted(pair.second) ? "completed" : "failed"];
    if (end === null) return undefined;
    return end === type
      ? null
      : {
          expected: `\`agent.${end}\`, as the response says`,
          actual: `\`agent.${type}\` of the same execution`,
        };
  }),
  pairCheck("HOOK-43", on, {
    as: "one end",
    between: "ends of an execution",
    pairs: ({ arrived }) => endsOfExecutions(endedExecutions(arrived)),
    judge: ({ first, second }) =>
      eventTypeOf(first) === eventTypeOf(second)
        ? null
        : {
            expected: "either `agent.completed` or `agent.failed` for one execution",
            actual: "both, with the same `request_id`",
          },
    otherwise: unproven("no execution has two deliveries"),
  }),
  check("HOOK-43", timedOutProbes, judgeTimeout, { as: "timed out", since: "1.1" }),
];

/**
 * A delivery's `execution_time` is in milliseconds if it is 700 to 1400 times that of `done`, e.g. 1600 and 1.5. The
 * factor may differ from 1000, because a server can measure both times separately.
 */
const [minMillisecondsFactor, maxMillisecondsFactor] = [700, 1400];
/** Maximum deviation from 1000 if the time may also be right in seconds, e.g. 5 in the delivery of a 6 s stream. */
const maxFactorError = 0.001;
const toleranceSeconds = 0.05;

interface ComparedTimes extends ReportedExecution {
  readonly delivered: number;
  readonly done: number;
  readonly mayBeRounded: boolean;
}

function comparedTimes({ all, arrived }: EvidenceOf<typeof on>): ComparedTimes[] {
  const isWhole = (seconds: unknown): boolean => typeof seconds !== "number" || Number.isInteger(seconds);
  const roundsAll = eventsOfType(arrived.deliveries, "agent.completed").every((each) =>
    isWhole(deliveryData(each, "execution_time")),
  );
  return reportedExecutions(all)(arrived).flatMap((pair) => {
    if (!isCompleted(pair.second) || !isEventStream(pair.first)) return [];
    const delivered = deliveryData(pair.second, "execution_time");
    const done = readEvents(pair.first, "done")[0]?.data["execution_time"];
    const isComparable = typeof delivered === "number" && typeof done === "number" && delivered > 0 && done > 0;
    if (!isComparable) return [];
    const mayBeRounded = roundsAll && isWhole(delivered) && delivered <= done + 1;
    return [{ ...pair, delivered, done, mayBeRounded }];
  });
}

function shortStreamMismatch(times: ComparedTimes): Mismatch | null {
  const { delivered, done, mayBeRounded } = times;
  const factor = delivered / done;
  const isLonger = delivered > streamUntilDeliveryMs(times) / 1000 + toleranceSeconds;
  const isInMilliseconds = isLonger
    ? factor >= minMillisecondsFactor && factor <= maxMillisecondsFactor
    : Math.abs(factor - 1000) < maxFactorError;
  if (!isInMilliseconds || mayBeRounded) return null;
  return { expected: `\`data.execution_time\` about ${done}, as in \`done\``, actual: `${delivered}` };
}

export const streamTimesCheck = pairCheck("HOOK-42", on, {
  as: "execution_time of short streams",
  since: "1.2",
  also: [slowAgentWithWebhookInvoked],
  between: "delivery and `done` of a stream",
  pairs: comparedTimes,
  judge: shortStreamMismatch,
  otherwise: inapplicable("no stream has a duration in `done` and in its delivery"),
});
