import {
  admittedAfter,
  isWellBefore,
  leastEarlySeconds,
  mostRoundingSeconds,
  refusedBefore,
  secondsText,
} from "../../limits/retry-after.ts";
import { ofEachKey } from "./blame.ts";
import { judgeEach } from "./every.ts";
import { isCounted, type LoadedKey, lineOf, type LoadFacts } from "./facts.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import { notForSlots } from "./overlap.ts";
import { is2xx } from "../../base/http-status.ts";
import { sumOf } from "../../base/numbers.ts";
import { counted } from "../../base/text.ts";
import { quantile } from "../../base/statistics/quantile.ts";
import { isAdmitted, isRefused, isTurn } from "../../limits/sample.ts";
import type { Sent } from "./sent.ts";

/** LIM-12: beyond a limit the answer is 429 with the error body, and nothing else. */
export function judgeOnlyRefusals(facts: LoadFacts): Says {
  if (isCounted(facts)) return bySummary(facts);
  return ofEachKey(facts, (use) => {
    const turns = use.sent.filter(isTurn);
    const first = turns.find(isRefused);
    if (first === undefined) return unproven("nothing was refused");
    const beyond = turns.filter((each) => each.sentMs >= first.sentMs && each.of.operation.agent !== "failing");
    const strange = judgeEach(
      beyond.filter(({ status }) => status !== null),
      ({ status }) =>
        status === 429 || is2xx(status)
          ? null
          : { expected: "nothing but 200 and 429 beyond the limit", actual: String(status) },
      facts,
      "nothing beyond the limit was answered",
    );
    if (strange.kind !== "holds") return strange;
    const said = judgeEach(
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
      : { ...said, detail: `${counted(said.seen?.looked ?? 0, "refusal")}, all with \`retry_after\`` };
  });
}

function bySummary({ evidence: { summary, flows } }: LoadFacts): Says {
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
  readonly refusals: readonly Sent[];
  readonly next: Sent | undefined;
}

/** Only where one request followed another, and so nobody else took the room. */
function streaksOf({ sent }: LoadedKey, facts: LoadFacts): Streak[] {
  const inTurn = sent.filter(({ of }) => of.shape.kind === "after refusal");
  if (inTurn.length !== sent.length) return [];
  const isAlone = notForSlots(facts);
  // Nobody waits for a slot for so long.
  const isRate = (sample: Sent): boolean =>
    isAlone(sample) || (sample.remaining === 0 && saidBy(sample) >= leastEarlySeconds);
  const streaks: { refusals: Sent[]; next: Sent | undefined }[] = [];
  let open: { refusals: Sent[]; next: Sent | undefined } | null = null;
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
function passed(from: Sent, to: Sent, { time }: LoadFacts): { readonly least: number; readonly most: number } {
  return {
    least: (time.at(to.sentMs).fromMs - time.at(from.headMs).toMs) / 1000,
    most: (time.at(to.headMs).toMs - time.at(from.sentMs).fromMs) / 1000,
  };
}

const saidBy = ({ retryAfterSeconds }: Sent): number => retryAfterSeconds ?? 0;
/** Two clocks that are kept in time may run at rates so far apart: in an hour that is seconds. */
const mostDrift = 0.0005;

/** LIM-13: after `retry_after` a request is admitted. */
export function judgeAdmittedAfter(facts: LoadFacts): Says {
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
                passed(earlier, between, facts).most + saidBy(between) > saidBy(earlier) + mostRoundingSeconds,
            )
        );
      });
      if (broken === undefined) continue;
      return breach(admittedAfter(saidBy(broken)), `429, ${secondsText(passed(broken, later, facts).least)} after it`, [
        lineOf(broken, facts),
        lineOf(later, facts),
      ]);
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
export function judgeRefusedBefore(facts: LoadFacts): Says {
  let proven = 0;
  for (const { refusals, next } of streaksOf(facts.main, facts)) {
    for (const [index, refusal] of refusals.entries()) {
      if (saidBy(refusal) < leastEarlySeconds) continue;
      const follower = refusals[index + 1];
      if (follower !== undefined && passed(refusal, follower, facts).most < saidBy(refusal)) proven += 1;
      if (next === undefined || !isAdmitted(next)) continue;
      const { most } = passed(refusal, next, facts);
      if (!isWellBefore(most, saidBy(refusal))) continue;
      return breach(refusedBefore(most, saidBy(refusal)), `${next.status}: the time left was shorter`, [
        lineOf(refusal, facts),
        lineOf(next, facts),
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
export function judgeSlowRefusals(facts: LoadFacts): Says {
  const { speed, latency } = facts.evidence;
  const { refused, admitted } = latency;
  if (refused.count < leastRefusals || admitted.count === 0)
    return unproven("fewer than 5 requests were refused, or none was admitted");
  const ofAnswering = facts.sent.filter(
    (each) => isAdmitted(each) && each.of.operation.agent !== "slow" && each.of.operation.agent !== "slowStreaming",
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
