import type { EvidenceOf } from "../../run/judge/check.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { inapplicable } from "../../run/judge/finding.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { eventsOfType, eventTypeOf } from "../deliveries/events.ts";
import { allDeliveries } from "../deliveries/probes.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { isEventStream, readEvents } from "../stream/events.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { dataOf, type ReportedExecution, reportedExecutions } from "./executions.ts";
import { slowWithWebhook } from "./probes.ts";
import { comparedPairs } from "./relation.ts";

const on = { all: allExchanges, arrived: allDeliveries, sent: invokedWithWebhooks };
const between = "delivery and `done` of a stream";

/** Minimum quotient of the delivered duration and the duration in `done` if the delivered one is in milliseconds. */
const minMillisecondsFactor = 700;
/** Maximum quotient of the delivered duration and the duration in `done` if the delivered one is in milliseconds. */
const maxMillisecondsFactor = 1400;
/** Maximum distance of the quotient from 1000 if the stream may have taken as many seconds as delivered. */
const maxFactorError = 0.001;
/** Tolerance for clocks, in seconds. */
const clockSeconds = 0.05;

/** The duration of one stream in seconds, as reported by its delivery and by its `done` event. */
interface ComparedTimes {
  readonly pair: ReportedExecution;
  readonly delivered: number;
  readonly done: number;
  /** Whether the target may have rounded the delivered duration to whole seconds. */
  readonly mayBeRounded: boolean;
}

/** Returns the two durations of each stream. Leaves out streams with a duration of 0. */
function comparedTimes({ all, arrived }: EvidenceOf<typeof on>): ComparedTimes[] {
  const isWhole = (seconds: unknown): boolean => typeof seconds !== "number" || Number.isInteger(seconds);
  const roundsAll = eventsOfType(arrived.deliveries, "agent.completed").every((each) =>
    isWhole(dataOf(each, "execution_time")),
  );
  return reportedExecutions(all)(arrived).flatMap((pair) => {
    if (eventTypeOf(pair.second) !== "agent.completed" || !isEventStream(pair.first)) return [];
    const delivered = dataOf(pair.second, "execution_time");
    const done = readEvents(pair.first, "done")[0]?.data["execution_time"];
    const isComparable = typeof delivered === "number" && typeof done === "number" && delivered > 0 && done > 0;
    return isComparable ? [{ pair, delivered, done, mayBeRounded: isWhole(delivered) && roundsAll }] : [];
  });
}

/**
 * Returns a mismatch if the delivered duration of a short stream is in milliseconds. `HOOK-42/execution_time` allows a
 * second more than the stream took, for rounding.
 */
function unitMismatch({ pair, delivered, done, mayBeRounded }: ComparedTimes): Mismatch | null {
  const { first, second, tookMs } = pair;
  const untilDeliveryMs = first.answer.endMs - first.sentMs + second.clockAtMostMs - first.clockMs;
  const tookSeconds = Math.max(tookMs, untilDeliveryMs) / 1000;
  const factor = delivered / done;
  const isLonger = delivered > tookSeconds + clockSeconds;
  const isInMilliseconds = isLonger
    ? factor >= minMillisecondsFactor && factor <= maxMillisecondsFactor
    : Math.abs(factor - 1000) < maxFactorError;
  if (!isInMilliseconds || mayBeRounded) return null;
  return { expected: `\`data.execution_time\` about ${done}, as in \`done\``, actual: `${delivered}` };
}

/** Checks that the delivery of a short stream reports its duration in seconds, as `done` does. */
export const streamTimesCheck = checkEvery("HOOK-42", on, {
  as: "execution_time of short streams",
  since: "1.2",
  also: [slowWithWebhook],
  matrix: { description: `every pair of the run: ${between}`, cells: [], coverageProbe: null },
  noun: "pairs",
  members: (evidence) =>
    comparedTimes(evidence).map((times) => ({
      cell: { of: comparedPairs, kind: between },
      proof: times.pair.second,
      comparedWith: times.pair.first,
      subject: times,
    })),
  judge: unitMismatch,
  whenEmpty: inapplicable("no stream has a duration in `done` and in its delivery"),
});
