import type { Delivery } from "../../evidence/delivery.ts";
import { deliveryPolicy } from "../../spec/events.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import { type AllDeliveries, allDeliveries } from "./probes.ts";
import { type FailingReceivers, failingReceivers } from "./retry-probe.ts";
import { observedAttempts, attemptsTo, withoutDuplicates } from "./retry-evidence.ts";
import { explainAttempts, allowedLateMs, maxPauseMs, type TimeSpan } from "./retry-schedule.ts";
import { hookPrefix } from "../webhooks/create-webhook.ts";

/** What came of a probe, as a run or a kept report has it. */
export interface ProbeEntry {
  readonly probe: string;
  readonly result: ProbeResult;
}

/** What a receiver saw that listened beyond the end of a run. Times are milliseconds since the start of the run. */
export interface WatchedDeliveries {
  /** All that came, that of the run included. */
  readonly deliveries: readonly Delivery[];
  readonly untilMs: number;
  /** When nobody listened. */
  readonly unwatched: readonly TimeSpan[];
}

/** What there is still to see of the retry schedule. Times are milliseconds since the start of the run. */
export type RemainingRetries =
  | { readonly kind: "nothing"; readonly reason: string }
  /** Another attempt is to come in some reading of the schedule. */
  | {
      readonly kind: "awaited";
      readonly attempts: number;
      /** When the last of them came. */
      readonly lastMs: number;
      /** When the next is due, if each delay counts from the attempt before. */
      readonly nextMs: number;
      /** By then every reading of the schedule is over. */
      readonly latestMs: number;
    }
  /** No attempt is to come, and until then none may. */
  | { readonly kind: "quiet"; readonly attempts: number; readonly lastMs: number; readonly untilMs: number }
  | { readonly kind: "over"; readonly attempts: number };

/** The delivery that fails at every attempt tells how far the schedule has come. */
export function remainingRetries(probes: readonly ProbeEntry[], watched: WatchedDeliveries): RemainingRetries {
  const after = mergeWatched(probes, watched);
  const [sent, all] = [
    evidenceOf<FailingReceivers>(after, failingReceivers.name),
    evidenceOf<AllDeliveries>(after, allDeliveries.name),
  ];
  if (sent === null || all === null) return nothing("no webhook was created whose receiver fails");
  if (sent.passed !== null) return nothing("the target's clock has shown the whole retry schedule");
  const seen = { sent, all };
  const made = withoutDuplicates(attemptsTo(seen, "failing"), seen);
  const [first, last] = [made[0], made.at(-1)];
  if (first === undefined || last === undefined) return nothing("no delivery has reached the receiver that fails");
  const explanations = explainAttempts(observedAttempts(made, seen));
  const [attempts, lastMs] = [made.length, last.receivedMs];
  if (explanations.some(({ kind }) => kind === "under way")) {
    const nextMs = lastMs + (delaysMs[attempts - 1] ?? longestMs);
    return { kind: "awaited", attempts, lastMs, nextMs, latestMs: first.receivedMs + wholeMs };
  }
  const isFollowed = explanations.some(({ kind }) => kind === "complete");
  const untilMs = lastMs + (isFollowed ? maxPauseMs : shortPauseMs);
  const isMissed = watched.unwatched.some(({ fromMs, toMs }) => fromMs <= untilMs && toMs >= lastMs);
  if (watched.untilMs > untilMs || isMissed) return { kind: "over", attempts };
  return { kind: "quiet", attempts, lastMs, untilMs };
}

/** What follows upon attempts that are off the schedule matters little. */
const shortPauseMs = 60_000;

const nothing = (reason: string): RemainingRetries => ({ kind: "nothing", reason });

/** Delays of the retries where the first one does not come at once; a sender that has come further is in another reading. */
const delaysMs: readonly number[] = deliveryPolicy.retryDelaysMs.slice(1);
const longestMs = Math.max(...delaysMs);
const wholeMs = delaysMs.reduce((sum, ms) => sum + ms + allowedLateMs(ms), 0);

/** Puts what was watched into the evidence of the probes that began it. */
export function mergeWatched<P extends ProbeEntry>(probes: readonly P[], watched: WatchedDeliveries): P[] {
  const { deliveries, untilMs, unwatched } = watched;
  const toWebhooks = deliveries.filter(({ hook }) => hook.startsWith(hookPrefix));
  return probes.map((each) => {
    if (each.result.kind !== "ran") return each;
    const change = changes({ deliveries: toWebhooks, untilMs, unwatched })[each.probe];
    if (change === undefined) return each;
    return { ...each, result: { ...each.result, evidence: { ...(each.result.evidence as object), ...change } } };
  });
}

const changes = ({ deliveries, untilMs, unwatched }: WatchedDeliveries): Readonly<Record<string, object>> => ({
  [allDeliveries.name]: { deliveries, untilMs } satisfies Partial<AllDeliveries>,
  [failingReceivers.name]: { unwatched } satisfies Partial<FailingReceivers>,
});

function evidenceOf<E>(probes: readonly ProbeEntry[], name: string): E | null {
  const result = probes.find(({ probe }) => probe === name)?.result;
  // Kept evidence of a probe is what that probe returned: the same that its checks rely on.
  return result?.kind === "ran" ? (result.evidence as E) : null;
}
