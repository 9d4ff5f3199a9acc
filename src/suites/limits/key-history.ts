import { minuteMs } from "../../base/duration.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import {
  type Decision,
  decisionOfResponse,
  type DecisionOutcome,
  type History,
  decisionOutcomeOf,
  type Span,
} from "../../rules/limits/admission/history.ts";
import type { HistoryJudgement } from "../../rules/limits/admission/judge.ts";
import type { LimitName } from "../../rules/limits/admission/models.ts";
import {
  describeAdmittedWhenExhausted,
  type Elapsed,
  exhaustedWindowRule,
  judgeExhausted,
} from "../../rules/limits/exhausted-window.ts";
import {
  noAdmissionAfterLastRefusal,
  judgeByClocks,
  type KeyHistory,
  maxInClosedWindow,
  slotReleaseMs,
  toleranceMs,
} from "../../rules/limits/key-history.ts";
import { refusedForTokens } from "../../rules/limits/month-tokens.ts";
import { isAdmitted, isAgentCall, type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { usageCountIn } from "../../rules/limits/usage-report.ts";
import type { Discovery, ProbeContext } from "../../run/probe.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import { firstRequirementSet, isAddedAfter, type RequirementSet } from "../../spec/clause.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { elapsedSeconds, fallBetween } from "../shared/compare-samples.ts";
import { isSuccess } from "../shared/response.ts";

/** A kind of GET request that counts like an invoke but runs no agent. */
export type CountedRead = "usage" | "list";

export interface RunKeyHistory extends KeyHistory<Sample> {
  readonly hasClock: boolean;
  readonly countedRead?: CountedRead | null;
  /**
   * Whether `GET /usage` counts toward the rate limit. Only older evidence has this field; newer evidence has
   * `countedRead`.
   */
  readonly readsCount?: boolean;
  /** Ids of GET requests that count, because `Remaining` fell with them. `countedRead` can be `null` nonetheless. */
  readonly countedReadIds?: readonly string[];
  /** Earlier requests that ended at most 1.5 s before `samples` began, or later. They may still hold slots. */
  readonly stragglers: readonly Sample[];
  /** Requests that may count for this key: their key begins alike, or their probe is newer than the requirement set. */
  readonly lookalikes: readonly Sample[];
}

export function keyHistoryOf(
  key: TargetKey,
  limits: TierLimits,
  { target, recorder, discovery, idleSinceMs, requirements = firstRequirementSet }: KeyHistoryContext,
): RunKeyHistory {
  const isLater = ({ sentMs }: Sample | Exchange): boolean => sentMs >= (idleSinceMs ?? 0);
  const isStraggler = (sample: Sample): boolean =>
    idleSinceMs !== null && !isLater(sample) && sample.endMs >= idleSinceMs - slotReleaseMs;
  const names = Object.values(target.keys).flatMap((each) => (each.key === key.key ? [each.name] : []));
  const all = [...new Set([key.name, ...names])].flatMap((name) => recorder.samplesOf(name));
  const isOfLaterSet = ({ since }: Sample): boolean => isAddedAfter(requirements, since);
  return {
    limits,
    isFresh: key.fresh || idleSinceMs !== null,
    hasClock: target.clock !== null,
    samples: all.filter((each) => isLater(each) && !isOfLaterSet(each)),
    countedRead: countedReadOf(discovery),
    stragglers: all.filter(isStraggler),
    lookalikes: [
      ...recorder
        .exchangesSinceOutage()
        .filter((exchange) => exchange.key === null && isLater(exchange) && hasSimilarKey(exchange, key.key))
        .map((exchange) => sampleOf(exchange, exchange.clockMs, exchange.clockMs)),
      ...all.filter((each) => isLater(each) && isOfLaterSet(each)),
    ],
  };
}

interface KeyHistoryContext {
  readonly target: Target;
  readonly recorder: Recorder;
  readonly discovery: Discovery;
  readonly idleSinceMs: number | null;
  readonly requirements?: RequirementSet;
}

function hasSimilarKey({ request }: Exchange, key: string): boolean {
  const beginning = key.slice(0, Math.ceil(key.length / 2));
  return request.headers.some(([name, value]) => name.toLowerCase() === "authorization" && value.includes(beginning));
}

/**
 * Judges a key's requests against every legal limiter. A test clock may run or stand still between advances. A breach
 * must hold in both cases.
 */
export const judgeKeyHistory = memoizeByObject((use: RunKeyHistory): HistoryJudgement => {
  const clocks = use.hasClock ? (["stands", "runs"] as const) : (["runs"] as const);
  return judgeByClocks(
    clocks.map((clock) => historyOf(use, clock)),
    use.limits,
    { toleranceMs, slotReleaseMs, tokensMayBeExhausted: tokensMayBeExhausted(use) },
    false,
  );
});

export const isRefusedForTokens = ({ samples, limits }: RunKeyHistory): boolean =>
  refusedForTokens(samples, limits).size > 0;

export function provesExcess(use: RunKeyHistory, name: LimitName): boolean {
  const judged = judgeKeyHistory(use);
  return judged.kind === "breach" && judged.breach === "too many admitted" && judged.limit === name;
}

/** Percentages to add to the published limit, tried in order until the raised limit allows all admitted requests. */
const excessPercents = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000] as const;

export function excessPercentOf(use: RunKeyHistory, name: LimitName): number | null {
  if (!provesExcess(use, name)) return null;
  const field = name === "hour" ? "perHour" : "perMinute";
  const raisedBy = (percent: number): RunKeyHistory => ({
    ...use,
    limits: { ...use.limits, [field]: Math.floor(use.limits[field] * (1 + percent / 100)) },
  });
  return excessPercents.find((percent) => !provesExcess(raisedBy(percent), name)) ?? null;
}

const isLimited = (sample: Sample): boolean => isAdmitted(sample) && sample.kind !== "health";

export const tokensMayBeExhausted = ({ samples }: RunKeyHistory): boolean =>
  noAdmissionAfterLastRefusal(samples, samples.filter(isLimited));

function historyOf(
  { isFresh, samples, stragglers, lookalikes, countedReadIds = [], ...history }: RunKeyHistory,
  clock: "stands" | "runs",
): History {
  const countedIds = new Set(countedReadIds);
  const forTokens = refusedForTokens(samples, history.limits);
  const mayCount = (sample: Sample): boolean =>
    forTokens.has(sample.id) || (!countedIds.has(sample.id) && isCountUnknown(sample, countedReadIn(history)));
  return {
    priorUse: isFresh ? "nothing" : "counted",
    lingeringUntilMs: stragglers.map(({ endMs }) => endMs),
    decisions: [
      ...samples.map((sample) => toDecision(sample, clock, mayCount(sample) ? "failed" : decisionOutcomeOf(sample))),
      ...lookalikes.map((sample) => toDecision(sample, clock, "failed")),
    ],
  };
}

function decisionSpan(sample: Sample, clock: "stands" | "runs"): Span {
  const runs = clock === "runs" ? 1 : 0;
  return {
    fromMs: sample.sentClockMs + runs * sample.sentMs,
    toMs: sample.headClockMs + runs * sample.headMs,
  };
}

const isCountUnknown = (sample: Sample, countedRead: CountedRead | null): boolean =>
  isRefusedRead(sample, countedRead) ||
  (isAdmitted(sample) && !isAgentCall(sample) && !(sample.kind === countedRead && (sample.remaining ?? 0) > 0));

/** Whether a request of kind `usage` or `countedRead` got 429. The cause can be a separate limit for GET requests. */
const isRefusedRead = ({ kind, status }: Sample, countedRead: CountedRead | null): boolean =>
  (kind === "usage" || kind === countedRead) && status === 429;

/**
 * Returns the kind of GET request that lowered `Remaining` in discovery, and so counts toward the limit; `null` if no
 * kind did.
 */
export function countedReadOf({ listing, usage, again: [first, second] = [] }: Discovery): CountedRead | null {
  if (fallsByOne(listing, usage)) return "usage";
  if (first === undefined || second === undefined || !fallsByOne(first, second)) return null;
  return statusOf(usage) === 200 ? "usage" : "list";
}

/** Like {@link countedReadOf}. Without usable headers, compares usage reports: a rise from 200 to 201 means `usage`. */
export function burstReadOf({
  discovery,
  recorder,
  client,
}: Pick<ProbeContext, "discovery" | "recorder" | "client">): CountedRead | null {
  const { listing, usage } = discovery;
  const counted = countedReadOf(discovery);
  const isShown =
    [listing, usage].every((each) => statusOf(each) === 200) &&
    fallBetween(sampleOf(listing), sampleOf(usage)) !== null;
  if (counted !== null || isShown) return counted;
  return addsToUsage(recorder.exchangesSinceOutage().filter(({ key }) => key === client.key.name)) ? "usage" : null;
}

const requestsUsedIn = (exchange: Exchange): number | null =>
  isSuccess(exchange) && sampleOf(exchange).kind === "usage"
    ? (usageCountIn(bodyJson(exchange), "requests")?.used ?? null)
    : null;

function addsToUsage(exchanges: readonly Exchange[]): boolean {
  const ordered = exchanges
    .filter((each) => sampleOf(each).kind !== "health")
    .toSorted((one, other) => one.sentMs - other.sentMs);
  return ordered.some((from, at) => {
    const used = requestsUsedIn(from);
    const later = ordered.slice(at + 1);
    const next = later.findIndex((each) => requestsUsedIn(each) !== null);
    const reads = later.slice(0, next + 1);
    const isOnlyReads = reads.every((each) => each.request.method === "GET" && isSuccess(each));
    const to = reads.at(-1);
    return used !== null && to !== undefined && isOnlyReads && requestsUsedIn(to) === used + reads.length;
  });
}

const fallsByOne = (from: Exchange, to: Exchange): boolean =>
  statusOf(from) === 200 && statusOf(to) === 200 && fallBetween(sampleOf(from), sampleOf(to))?.fell === 1;

export const countedReadIn = ({
  countedRead,
  readsCount,
}: Pick<RunKeyHistory, "countedRead" | "readsCount">): CountedRead | null =>
  countedRead ?? (readsCount === true ? "usage" : null);

const toDecision = (sample: Sample, clock: "stands" | "runs", outcome: DecisionOutcome): Decision =>
  decisionOfResponse(sample, decisionSpan(sample, clock), outcome);

export const maxAdmittedWithin = (samples: readonly Sample[], windowMs: number): number =>
  maxInClosedWindow(
    samples.filter(isLimited).map((sample) => ({ ...decisionSpan(sample, "runs"), count: 1 })),
    windowMs,
  );

export const minuteReached = ({ samples, limits }: RunKeyHistory): boolean =>
  maxAdmittedWithin(samples, minuteMs) >= limits.perMinute;

export function minuteReachedBefore(request: Exchange, { samples, limits }: RunKeyHistory): boolean {
  const refused = samples.find(({ id }) => id === request.id) ?? sampleOf(request);
  const sinceMs = decisionSpan(refused, "runs").toMs - minuteMs;
  const recent = samples.filter((each) => isLimited(each) && each.sentMs <= refused.sentMs);
  return recent.filter((each) => decisionSpan(each, "runs").fromMs > sinceMs).length >= limits.perMinute;
}

/** Judges HDR-19: after `Remaining: 0`, the server must admit no request until the window ends. */
export function judgeExhaustedWindow(use: RunKeyHistory, name: LimitName, isOver: boolean): Finding<never> {
  if (isOver) return unproven("more are admitted than published (LIM-1, LIM-3)");
  const { samples, limits, hasClock } = use;
  const elapsed = (from: Sample, to: Sample): Elapsed => elapsedSeconds(from, to, hasClock);
  const judged = judgeExhausted({ ...use, elapsed });
  if (judged.kind === "kept") return holds();
  if (judged.kind === "not tested") {
    const [own, other] = name === "hour" ? [limits.perHour, limits.perMinute] : [limits.perMinute, limits.perHour];
    const isReported = (limit: number): boolean => samples.some((each) => isAdmitted(each) && each.limit === limit);
    return isReported(other) && !isReported(own)
      ? inapplicable(`the headers do not report the ${name}`)
      : unproven("no admitted request had `Remaining: 0` and was followed by one more");
  }
  const { exhausted, admitted } = judged.beyond;
  const ids = [exhausted, ...admitted.slice(0, 5)].map(({ id }) => id).join(", ");
  return breach(exhaustedWindowRule, `${describeAdmittedWhenExhausted(judged.beyond)} (${ids})`);
}
