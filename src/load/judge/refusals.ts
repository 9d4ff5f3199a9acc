import {
  describeAdmission,
  isWellBefore,
  minEarlySeconds,
  maxRoundingSeconds,
  describeEarlyRefusal,
  formatSeconds,
} from "../../rules/limits/retry-after.ts";
import { judgeEachKey } from "./breach-clause.ts";
import { judgeResponses } from "./responses.ts";
import { hasCountsOnly, type KeyFacts, describeRequest, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { cannotBeConcurrency } from "./requests-between.ts";
import { is2xx } from "../../base/http-status.ts";
import { sumOf } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import { quantile } from "../../base/statistics/quantile.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** LIM-12: beyond a limit the answer is 429 with the error body, and nothing else. */
export function judgeOnlyRefusals(facts: LoadFacts): JudgeResult {
  if (hasCountsOnly(facts)) return bySummary(facts);
  return judgeEachKey(facts, (use) => {
    const turns = use.sent.filter(isAgentCall);
    const first = turns.find(isRefused);
    if (first === undefined) return unproven("nothing was refused");
    const beyond = turns.filter(
      (each) => each.sentMs >= first.sentMs && each.plannedFlow.operation.agent !== "failing",
    );
    const strange = judgeResponses(
      beyond.filter(({ status }) => status !== null),
      ({ status }) =>
        status === 429 || is2xx(status)
          ? null
          : { expected: "nothing but 200 and 429 beyond the limit", actual: String(status) },
      facts,
      "nothing beyond the limit was answered",
    );
    if (strange.kind !== "holds") return strange;
    const said = judgeResponses(
      turns.filter(isRefused),
      ({ retryAfterSeconds }) =>
        retryAfterSeconds === null
          ? { expected: "a 429 has the error body with `retry_after`", actual: "there is none" }
          : null,
      facts,
      "nothing was refused",
    );
    if (said.kind !== "holds") return said;
    const lost = beyond.filter(({ status, left }) => status === null && !left).length;
    return lost > 0
      ? unproven(`${lost} of ${beyond.length} requests beyond the limit got no answer`)
      : { ...said, detail: `${formatCount(said.seen?.looked ?? 0, "refusal")}, all with \`retry_after\`` };
  });
}

function bySummary({ evidence: { summary, flows } }: LoadFacts): JudgeResult {
  const turns = new Set(
    flows
      .filter(({ operation: { kind, agent } }) => ["invoke", "stream"].includes(kind) && agent !== "failing")
      .map(({ name }) => name),
  );
  const slots = summary.filter(({ flow }) => turns.has(flow));
  const failed = sumOf(slots.map((slot) => slot.failed));
  if (sumOf(slots.map((slot) => slot.refused)) === 0) return unproven("nothing was refused");
  if (failed > 0) return breach("nothing but 200 and 429", `${failed} answers with another status`);
  return unproven("the summary of a long run does not show the bodies of its refusals");
}

/** A refusal with what came after it on its key, until a request was admitted. */
interface Streak {
  readonly refusals: readonly SampledRequest[];
  readonly next: SampledRequest | undefined;
}

/** Only where one request followed another, and so nobody else took the room. */
function streaksOf({ sent }: KeyFacts, facts: LoadFacts): Streak[] {
  const inTurn = sent.filter(({ plannedFlow }) => plannedFlow.shape.kind === "after refusal");
  if (inTurn.length !== sent.length) return [];
  const isAlone = cannotBeConcurrency(facts);
  // Nobody waits for a slot for so long.
  const isRate = (sample: SampledRequest): boolean =>
    isAlone(sample) || (sample.remaining === 0 && saidBy(sample) >= minEarlySeconds);
  const streaks: { refusals: SampledRequest[]; next: SampledRequest | undefined }[] = [];
  let open: { refusals: SampledRequest[]; next: SampledRequest | undefined } | null = null;
  for (const sample of inTurn) {
    if (isRefused(sample) && isRate(sample) && sample.retryAfterSeconds !== null) {
      if (open === null) streaks.push((open = { refusals: [], next: undefined }));
      open.refusals.push(sample);
    } else if (open !== null) {
      open.next = sample;
      open = null;
    }
  }
  return streaks;
}

/** Seconds of the target's time from a refusal to a later request: at least, and at most. */
function passed(
  from: SampledRequest,
  to: SampledRequest,
  { time }: LoadFacts,
): { readonly least: number; readonly most: number } {
  return {
    least: (time.at(to.sentMs).fromMs - time.at(from.headMs).toMs) / 1000,
    most: (time.at(to.headMs).toMs - time.at(from.sentMs).fromMs) / 1000,
  };
}

const saidBy = ({ retryAfterSeconds }: SampledRequest): number => retryAfterSeconds ?? 0;
/** Two clocks that are kept in time may run at rates so far apart: in an hour that is seconds. */
const mostDrift = 0.0005;

/** LIM-13: after `retry_after` a request is admitted. */
export function judgeAdmittedAfter(facts: LoadFacts): JudgeResult {
  let proven = 0;
  for (const { refusals, next } of streaksOf(facts.main, facts)) {
    for (const [index, later] of refusals.entries()) {
      // A later refusal that promises a later instant has pushed the room away; promises are rounded.
      const broken = refusals.slice(0, index).find((earlier, at) => {
        const isOver = passed(earlier, later, facts).least >= saidBy(earlier) * (1 + mostDrift);
        return (
          isOver &&
          !refusals
            .slice(at + 1, index)
            .some(
              (between) =>
                passed(earlier, between, facts).most + saidBy(between) > saidBy(earlier) + maxRoundingSeconds,
            )
        );
      });
      if (broken === undefined) continue;
      return breach(
        describeAdmission(saidBy(broken)),
        `429, ${formatSeconds(passed(broken, later, facts).least)} after it`,
        [describeRequest(broken, facts), describeRequest(later, facts)],
      );
    }
    const last = refusals[0];
    if (next !== undefined && last !== undefined && isAdmitted(next) && passed(last, next, facts).most >= saidBy(last))
      proven += 1;
  }
  return proven > 0
    ? holds(`${proven} times admitted after \`retry_after\``)
    : unproven("nothing was sent after a `retry_after` had passed");
}

/** LIM-14: well before `retry_after` is over, no request is admitted. */
export function judgeRefusedBefore(facts: LoadFacts): JudgeResult {
  let proven = 0;
  for (const { refusals, next } of streaksOf(facts.main, facts)) {
    for (const [index, refusal] of refusals.entries()) {
      if (saidBy(refusal) < minEarlySeconds) continue;
      const follower = refusals[index + 1];
      if (follower !== undefined && passed(refusal, follower, facts).most < saidBy(refusal)) proven += 1;
      if (next === undefined || !isAdmitted(next)) continue;
      const { most } = passed(refusal, next, facts);
      if (!isWellBefore(most, saidBy(refusal))) continue;
      return breach(describeEarlyRefusal(most, saidBy(refusal)), `${next.status}: the time left was shorter`, [
        describeRequest(refusal, facts),
        describeRequest(next, facts),
      ]);
    }
  }
  return proven > 0
    ? holds(`${proven} times still refused before \`retry_after\``)
    : unproven("nothing was sent well before the end of a `retry_after`");
}

/** A refusal is slow from here on, where admitted requests are not; in ms. */
const slowMs = 1000;
/** On a faster clock, so long in our own time, and a second in the target's. */
const slowAtSpeedMs = 200;
const slowRatio = 5;
const leastRefusals = 5;

/** A 429 that takes seconds while answers do not: no clause of the document, but nobody wants to pay for it. */
export function judgeSlowRefusals(facts: LoadFacts): JudgeResult {
  const { speed, latency } = facts.evidence;
  const { refused, admitted } = latency;
  if (refused.count < leastRefusals || admitted.count === 0)
    return unproven("fewer than 5 requests were refused, or none was admitted");
  const ofAnswering = facts.sent.filter(
    (each) =>
      isAdmitted(each) &&
      each.plannedFlow.operation.agent !== "slow" &&
      each.plannedFlow.operation.agent !== "slowStreaming",
  );
  const times = ofAnswering.map(({ headMs, sentMs }) => headMs - sentMs);
  const admittedMs = times.length > 0 ? quantile(times, 0.9) : admitted.p90Us / 1000;
  const refusedMs = refused.p50Us / 1000;
  const text = `429: half within ${tell(refusedMs)}, 99 % within ${tell(refused.p99Us / 1000)}; admitted: 90 % within ${tell(admittedMs)}`;
  const isLong = refusedMs >= (speed > 1 ? Math.max(slowAtSpeedMs, slowMs / speed) : slowMs);
  if (isLong && refusedMs >= slowRatio * admittedMs) return breach("a refusal comes as fast as an answer", text);
  return holds(text);
}

const tell = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
