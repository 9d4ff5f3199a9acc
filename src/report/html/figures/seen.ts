import type { Sample } from "../../../limits/sample.ts";
import type { LoadEvidence } from "../../../load/load-evidence.ts";
import type { TierLimits } from "../../../interface/tiers.ts";
import type { ProbeEvidence } from "../../../evidence/evidence.ts";

/** What a limiter showed in one answer, on the target's own clock. */
export interface Seen {
  /** Milliseconds of the target's time; only differences mean something. */
  readonly atMs: number;
  readonly became: "admitted" | "refused" | "other";
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Unix seconds. */
  readonly reset: number | null;
  readonly date: number | null;
  /** From sending to the head of the answer, on the harness's clock. */
  readonly latencyMs: number;
}

/** What one key was sent, and which numbers it is held to. */
export interface Stretch {
  /** Tier, or the key's role. */
  readonly name: string;
  readonly limits: TierLimits;
  readonly seen: readonly Seen[];
}

/** Health does not count, so it is no part of what a limiter admitted. */
export function seenOfSamples(samples: readonly Sample[]): Seen[] {
  return samples
    .filter(({ kind, status }) => kind !== "health" && status !== null)
    .map(({ headMs, headClockMs, sentMs, status, limit, remaining, reset, date }) => ({
      atMs: headMs + headClockMs,
      became: becameOf(status),
      limit,
      remaining,
      reset,
      date,
      latencyMs: headMs - sentMs,
    }))
    .toSorted((one, other) => one.atMs - other.atMs);
}

/** The requests of one key under load; health does not count. */
export function seenOfLoad({ requests, flows, speed }: LoadEvidence, key: string): Seen[] {
  const uncounted = new Set(flows.filter(({ operation }) => operation.kind === "health").map(({ name }) => name));
  return requests
    .filter((each) => each.key === key && each.status !== null && !uncounted.has(each.flow))
    .map(({ sentMs, headMs, status, limit, remaining, reset, date }) => ({
      atMs: headMs * speed,
      became: becameOf(status),
      limit,
      remaining,
      reset,
      date,
      latencyMs: headMs - sentMs,
    }))
    .toSorted((one, other) => one.atMs - other.atMs);
}

function becameOf(status: number | null): Seen["became"] {
  if (status === 429) return "refused";
  return status !== null && status >= 200 && status < 300 ? "admitted" : "other";
}

/** The samples of a probe that uses up a tier's allowance, where that is what the evidence holds. */
export function stretchOf({ instance, result }: ProbeEvidence): Stretch | null {
  if (result.kind !== "ran" || !isObject(result.evidence)) return null;
  const { limits, samples } = result.evidence;
  if (!isLimits(limits) || !Array.isArray(samples) || !samples.every(isSample)) return null;
  return { name: instance ?? "key", limits, seen: seenOfSamples(samples) };
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null;

const isLimits = (value: unknown): value is TierLimits =>
  isObject(value) && typeof value["perHour"] === "number" && typeof value["perMinute"] === "number";

/** Evidence of a probe is kept as unknown JSON, and may be of another version or made by hand. */
const isSample = (value: unknown): value is Sample =>
  isObject(value) &&
  ["sentMs", "headMs", "headClockMs"].every((name) => Number.isFinite(value[name])) &&
  ["status", "limit", "remaining", "reset", "date"].every(
    (name) => value[name] === null || Number.isFinite(value[name]),
  );
