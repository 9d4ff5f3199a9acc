import { minuteMs } from "../../base/duration.ts";
import type { HistoryJudgement } from "../../rules/limits/admission/judge.ts";
import {
  judgeByClocks,
  maxInClosedWindow,
  endsRefused,
  slotReleaseMs,
  toleranceMs,
} from "../../rules/limits/key-history.ts";
import { decisionOfResponse, outcomeOf } from "../../rules/limits/admission/decision.ts";
import { isAdmitted, isAgentCall, type Sample } from "../../rules/limits/sample.ts";
import type { Decision, DecisionOutcome, History, Span } from "../../rules/limits/admission/history.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Discovery } from "../../run/probe.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { sampleOf } from "../../rules/limits/sampling.ts";
import { fallBetween, sampleFrom } from "../shared/compare-samples.ts";

/** Everything that was sent on one key, with what is known of its limits. Times as in {@link Sample}. */
export interface KeyHistory {
  readonly limits: TierLimits;
  /** Nothing that was sent with the key earlier can still count. */
  readonly isFresh: boolean;
  /** The run moves the target's clock, which may stand still or run on between the moves. */
  readonly hasClock: boolean;
  readonly samples: readonly Sample[];
  /** Reading usage was seen to draw on the allowance. */
  readonly readsCount: boolean;
  /** Earlier requests that no longer count, and whose slots a slow server may not have given back yet. */
  readonly stragglers: readonly Sample[];
  /** Requests that were sent with another spelling of the key, or with a wrong key that resembles it. */
  readonly lookalikes: readonly Sample[];
}

/**
 * What the run has sent on a key, under whatever names the target file gives it.
 * @param idleSinceMs everything that was sent earlier has run out by then; `null` where the whole run counts
 */
export function keyHistoryOf(
  key: TargetKey,
  limits: TierLimits,
  { target, recorder, look, idleSinceMs }: KeyHistoryContext,
): KeyHistory {
  const isLater = ({ sentMs }: Sample | Exchange): boolean => sentMs >= (idleSinceMs ?? 0);
  const isStraggler = (sample: Sample): boolean =>
    idleSinceMs !== null && !isLater(sample) && sample.endMs >= idleSinceMs - slotReleaseMs;
  const names = Object.values(target.keys).flatMap((each) => (each.key === key.key ? [each.name] : []));
  const all = [...new Set([key.name, ...names])].flatMap((name) => recorder.samplesOf(name));
  return {
    limits,
    isFresh: key.fresh || idleSinceMs !== null,
    hasClock: target.clock !== null,
    samples: all.filter(isLater),
    readsCount: doReadsCount(look),
    stragglers: all.filter(isStraggler),
    lookalikes: recorder
      .exchanges()
      .filter((exchange) => exchange.key === null && isLater(exchange) && resembles(exchange, key.key))
      .map((exchange) => sampleOf(exchange, exchange.clockMs, exchange.clockMs)),
  };
}

export interface KeyHistoryContext {
  readonly target: Target;
  readonly recorder: Recorder;
  readonly look: Discovery;
  readonly idleSinceMs: number | null;
}

function resembles({ request }: Exchange, key: string): boolean {
  const beginning = key.slice(0, Math.ceil(key.length / 2));
  return request.headers.some(([name, value]) => name.toLowerCase() === "authorization" && value.includes(beginning));
}

const judged = new WeakMap<KeyHistory, HistoryJudgement>();

/**
 * Judges all that was sent on a key against every admissible limiter. A target whose clock the run moves may stand still
 * between the moves or run on: it is a breach only where it would be one on either clock.
 */
export function judgeKeyHistory(use: KeyHistory): HistoryJudgement {
  const known = judged.get(use);
  if (known !== undefined) return known;
  const judgement = judgeAfresh(use);
  judged.set(use, judgement);
  return judgement;
}

/** A slot is given back in real time: a move of the target's clock is no time for that, so the probes try for so long before they believe a refusal. */
function judgeAfresh(use: KeyHistory): HistoryJudgement {
  const clocks = use.hasClock ? (["stands", "runs"] as const) : (["runs"] as const);
  const options = { toleranceMs, slotReleaseMs, tokensMayBeExhausted: tokensMayBeExhausted(use) };
  return judgeByClocks(
    clocks.map((clock) => historyOf(use, clock)),
    use.limits,
    options,
    false,
  );
}

const isLimited = (sample: Sample): boolean => isAdmitted(sample) && sample.kind !== "health";

/** Whether the month's tokens may explain any refusal. */
export const tokensMayBeExhausted = ({ samples }: KeyHistory): boolean =>
  endsRefused(samples, samples.filter(isLimited));

function historyOf(
  { isFresh, samples, readsCount, stragglers, lookalikes }: KeyHistory,
  clock: "stands" | "runs",
): History {
  return {
    priorUse: isFresh ? "nothing" : "counted",
    lingeringUntilMs: stragglers.map(({ endMs }) => endMs),
    decisions: [
      ...samples.map((sample) =>
        decided(sample, clock, countsPerhaps(sample, readsCount) ? "failed" : outcomeOf(sample)),
      ),
      ...lookalikes.map((sample) => decided(sample, clock, "failed")),
    ],
  };
}

/** When a limiter decided on a request, by a target's clock that stands still between the run's moves or runs on. */
function decidedIn(sample: Sample, clock: "stands" | "runs"): Span {
  const runs = clock === "runs" ? 1 : 0;
  return {
    fromMs: sample.sentClockMs + runs * sample.sentMs,
    toMs: sample.headClockMs + runs * sample.headMs,
  };
}

/**
 * Whether reading usage or listing uses up the allowance is open, and so is whether it is refused once that is used up. Where reading usage was seen
 * to draw on it, it counts as long as something was left.
 */
const countsPerhaps = (sample: Sample, readsCount: boolean): boolean =>
  isRefusedRead(sample) ||
  (isAdmitted(sample) &&
    !isAgentCall(sample) &&
    !(readsCount && sample.kind === "usage" && (sample.remaining ?? 0) > 0));

/** Reading usage may have a limit of its own besides: what refuses it is no proof of what refuses an agent. */
const isRefusedRead = ({ kind, status }: Sample): boolean => kind === "usage" && status === 429;

/** Whether reading usage drew on the allowance of which its headers speak, by the two reads before the run. */
export function doReadsCount({ listing, usage }: Discovery): boolean {
  const fall = fallBetween(sampleFrom(listing), sampleFrom(usage));
  return fall !== null && fall.fell === 1 && statusOf(listing) === 200 && statusOf(usage) === 200;
}

const decided = (sample: Sample, clock: "stands" | "runs", outcome: DecisionOutcome): Decision =>
  decisionOfResponse(sample, decidedIn(sample, clock), outcome);

/** The most requests that were certainly admitted within one span of this length, whatever the target's clock does. */
export const maxAdmittedWithin = (samples: readonly Sample[], windowMs: number): number =>
  maxInClosedWindow(
    samples.filter(isLimited).map((sample) => ({ ...decidedIn(sample, "runs"), count: 1 })),
    windowMs,
  );

/** Whether so many were admitted within a minute as its limit says. */
export const minuteReached = ({ samples, limits }: KeyHistory): boolean =>
  maxAdmittedWithin(samples, minuteMs) >= limits.perMinute;

/** Whether so many were admitted within the minute before a request: else its refusal was for something else. */
export function minuteReachedBefore(request: Exchange, { samples, limits }: KeyHistory): boolean {
  const refused = samples.find(({ id }) => id === request.id) ?? sampleFrom(request);
  const sinceMs = decidedIn(refused, "runs").toMs - minuteMs;
  const recent = samples.filter((each) => isLimited(each) && each.sentMs <= refused.sentMs);
  return recent.filter((each) => decidedIn(each, "runs").fromMs > sinceMs).length >= limits.perMinute;
}
