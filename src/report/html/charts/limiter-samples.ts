import { type RequestSample, isAdmitted, isRefused, type Sample } from "../../../rules/limits/sample.ts";
import { parseRateLimitInfo, type RateLimitInfo, rateLimitInfoOf } from "../../../rules/limits/rate-limit-info.ts";
import type { LoadEvidence } from "../../../load/load-evidence.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import type { ProbeEvidence } from "../../../evidence/evidence.ts";

/** What a limiter showed in one answer, on the target's own clock. */
export interface LimiterSample extends RateLimitInfo {
  /** Milliseconds of the target's time; only differences mean something. */
  readonly atMs: number;
  readonly decision: "admitted" | "refused" | "other";
  /** From sending to the head of the answer, on the harness's clock. */
  readonly latencyMs: number;
}

/** What one key was sent, and which numbers it is held to. */
export interface KeySamples {
  /** Tier, or the key's role. */
  readonly name: string;
  readonly limits: TierLimits;
  readonly seen: readonly LimiterSample[];
}

/** As much of a kept sample as a page shows. */
interface KeptSample extends RateLimitInfo, Pick<Sample, "status" | "sentMs" | "headMs" | "headClockMs"> {
  readonly kind: unknown;
}

/** Health does not count, so it is no part of what a limiter admitted. */
function seenOfSamples(samples: readonly KeptSample[]): LimiterSample[] {
  return samples
    .filter(({ kind, status }) => kind !== "health" && status !== null)
    .map((sample) => seenAt(sample.headMs + sample.headClockMs, sample))
    .toSorted((one, other) => one.atMs - other.atMs);
}

/** The requests of one key under load; health does not count. */
export function loadSamples({ requests, flows, speed }: LoadEvidence, key: string): LimiterSample[] {
  const uncounted = new Set(flows.filter(({ operation }) => operation.kind === "health").map(({ name }) => name));
  return requests
    .filter((each) => each.key === key && each.status !== null && !uncounted.has(each.flow))
    .map((sample) => seenAt(sample.headMs * speed, sample))
    .toSorted((one, other) => one.atMs - other.atMs);
}

function seenAt(
  atMs: number,
  answer: RateLimitInfo & Pick<RequestSample, "status" | "sentMs" | "headMs">,
): LimiterSample {
  const decision = isAdmitted(answer) ? "admitted" : isRefused(answer) ? "refused" : "other";
  return { atMs, decision, ...rateLimitInfoOf(answer), latencyMs: answer.headMs - answer.sentMs };
}

/** The samples of a probe that uses up a tier's allowance, where that is what the evidence holds. */
export function keySamplesOf({ instance, result }: ProbeEvidence): KeySamples | null {
  if (result.kind !== "ran" || !isObject(result.evidence)) return null;
  const { limits, samples } = result.evidence;
  if (!isLimits(limits) || !Array.isArray(samples)) return null;
  const kept = samples.map(keptSample);
  const isAllKept = kept.every((each) => each !== null);
  return isAllKept ? { name: instance ?? "key", limits, seen: seenOfSamples(kept) } : null;
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null;

const isLimits = (value: unknown): value is TierLimits =>
  isObject(value) && typeof value["perHour"] === "number" && typeof value["perMinute"] === "number";

/** Evidence of a probe is kept as unknown JSON, and may be of another version or made by hand; `null` for what is no sample. */
function keptSample(value: unknown): KeptSample | null {
  if (!isObject(value)) return null;
  const shown = parseRateLimitInfo(value);
  const { kind, status, sentMs, headMs, headClockMs } = value;
  if (shown === null || (status !== null && !isNumber(status))) return null;
  return isNumber(sentMs) && isNumber(headMs) && isNumber(headClockMs)
    ? { ...shown, kind, status, sentMs, headMs, headClockMs }
    : null;
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);
