import { formatDuration } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";

/**
 * An event that makes evidence of a run unreliable, though the target may work correctly.
 * Times are in milliseconds since the start of the run.
 *
 * - `key refused`: the target refuses a key that it accepted before, e.g. because somebody revoked the key.
 * - `keys shared`: another client uses the same keys, so that the run does not know all requests.
 * - `stalled`: this machine slept, this process was stopped, or a clock jumped.
 */
export type Disturbance =
  | { readonly kind: "key refused"; readonly fromMs: number; readonly key: string }
  | {
      readonly kind: "keys shared";
      readonly by: "another run" | "somebody else";
      readonly fromMs: number;
      readonly keys: readonly string[];
    }
  | { readonly kind: "stalled"; readonly fromMs: number; readonly toMs: number; readonly lastedMs: number };

export function describeDisturbance(disturbance: Disturbance): string {
  const since = `from ${formatDuration(Math.round(disturbance.fromMs))} of the run on`;
  if (disturbance.kind === "key refused")
    return `the target refused the key \`${disturbance.key}\` ${since}, though it had accepted it`;
  if (disturbance.kind === "keys shared") return describeSharing(disturbance, since);
  const lasted = formatDuration(Math.round(disturbance.lastedMs));
  return `this machine slept, or a clock of it jumped, by ${lasted} at ${formatDuration(Math.round(disturbance.fromMs))} of the run`;
}

function describeSharing({ by, keys }: Extract<Disturbance, { kind: "keys shared" }>, since: string): string {
  if (by === "another run") return `another run used the same keys on this target ${since}`;
  const names = keys.map((key) => `\`${key}\``).join(", ");
  return `somebody else used ${names} during the run: requests were counted while the run sent none`;
}

/**
 * Whether a disturbance makes an exchange useless as evidence. A shared key does not, because it affects only counts
 * and times.
 */
export function invalidatesExchange(disturbance: Disturbance, { key, sentMs, answer }: Exchange): boolean {
  if (answer.endMs < disturbance.fromMs) return false;
  if (disturbance.kind === "key refused") return key === disturbance.key;
  return disturbance.kind === "stalled" && sentMs <= disturbance.toMs;
}

export function invalidatesSample(disturbance: Disturbance, key: string, { endMs }: Sample): boolean {
  if (endMs < disturbance.fromMs) return false;
  if (disturbance.kind === "key refused") return key === disturbance.key;
  return disturbance.kind === "stalled" || disturbance.keys.includes(key);
}

/** Clauses about the number of requests that a key may send, or that the target has counted. */
const countingClauses = /^(LIM-\d+|HDR-1[23579]|USE-[78]|HLT-1[56]|SSE-27|ALR-3)$/;

/** Clauses about durations or the order of events. Another run on the same target can change both. */
const timingClauses =
  /^(HOOK-\d+|WHK-\d+|ALR-\d+|KEY-3|AUTH-10|HDR-1[46]|INV-[49]|SSE-14|SSE-31|HLT-(8|17|22)|REQ-8|ERR-16)$/;

export const isAboutCounts = (clause: string): boolean => countingClauses.test(clause);

export const isAboutTiming = (clause: string): boolean => timingClauses.test(clause);
