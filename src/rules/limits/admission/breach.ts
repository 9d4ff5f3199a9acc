import { hourMs, minuteMs } from "../../../base/duration.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import { type AdmissionOptions, type Decision, type History, requestsIn } from "./history.ts";
import type { LimitName } from "./models.ts";
import { maxHeld } from "./slots.ts";
import { requestsBefore } from "./tally.ts";
import { timelineOf } from "./timeline.ts";

/**
 * - `too many admitted`: more requests were admitted than any limiter with the published numbers admits.
 * - `refused below limit`: a request was refused although no limit can have been reached.
 * - `inconsistent`: some limiter explains each response alone, but no limiter explains all of them.
 */
export type BreachKind = "too many admitted" | "refused below limit" | "inconsistent";

export interface LimitBreach {
  readonly kind: "breach";
  readonly breach: BreachKind;
  readonly limit: LimitName | "concurrency" | "any";
  readonly expected: string;
  readonly actual: string;
  /** Ids of requests whose responses alone prove the breach. An id is repeated if it stands for several requests. */
  readonly witness: readonly string[];
}

/** Returns a sentence that says what the published numbers allow. */
export function describeExpected(breach: BreachKind, limit: LimitBreach["limit"], limits: TierLimits): string {
  const numbers = `${limits.perMinute} a minute, ${limits.perHour} an hour, ${limits.concurrent} at a time`;
  const burst = limits.burst === null ? "a burst of unknown size" : `a burst of ${limits.burst}`;
  if (breach === "refused below limit") return `no refusal before a limit is reached: ${numbers}, ${burst}`;
  if (breach === "inconsistent") return `one limiter that explains every response: ${numbers}, ${burst}`;
  if (limit === "concurrency") return `at most ${limits.concurrent} requests at a time`;
  if (limit === "hour") return `at most ${limits.perHour} requests in an hour, wherever its windows begin`;
  return `at most ${limits.perMinute} requests in a minute, and ${burst}, wherever its windows begin`;
}

/** Returns a sentence that says what the witness shows: the few requests that alone prove the breach. */
export function describeActual(
  breach: BreachKind,
  limit: LimitBreach["limit"],
  witness: readonly Decision[],
  history: History,
  options: AdmissionOptions,
): string {
  if (limit === "concurrency") return `${maxHeld(witness).count} requests held a slot at the same time`;
  if (breach === "refused below limit")
    return witness.map((refusal) => describeCountedAt(refusal, history, options)).join("; ");
  return `${admittedAndRefused(witness)}, on a key ${textsOfPriorUse[history.priorUse]}`;
}

const textsOfPriorUse = {
  nothing: "not used before",
  counted: "used before",
  anything: "used before, perhaps still in use",
} as const;

function admittedAndRefused(witness: readonly Decision[]): string {
  const parts = (["admitted", "refused"] as const).flatMap((outcome) => {
    const those = witness.filter((decision) => decision.outcome === outcome);
    return those.length === 0 ? [] : [`${requestsIn(those)} ${outcome} within ${spanOf(those)}`];
  });
  return parts.join(" and ");
}

function spanOf(decisions: readonly Decision[]): string {
  const fromMs = decisions.reduce((earliest, { decided }) => Math.min(earliest, decided.fromMs), Infinity);
  const toMs = decisions.reduce((latest, { decided }) => Math.max(latest, decided.toMs), -Infinity);
  return `${((toMs - fromMs) / 1000).toFixed(1)} s`;
}

/** Returns a text that says how few requests can have counted at the time of a refusal. */
function describeCountedAt(refusal: Decision, history: History, options: AdmissionOptions): string {
  const timeline = timelineOf(history, options, [refusal], new Set());
  const before = timeline.refusals[0]?.countedBefore ?? 0;
  const since = (windowMs: number) =>
    before - requestsBefore(timeline.counted.latest, (timeline.refusals[0]?.fromMs ?? 0) - windowMs);
  return (
    `request ${refusal.id} was refused when at most ${since(minuteMs)} others can have counted in the minute ` +
    `and ${since(hourMs)} in the hour before it`
  );
}
