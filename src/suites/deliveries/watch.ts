import type { Delivery } from "../../evidence/delivery.ts";
import { deliveryPolicy } from "../../spec/events.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import { allDeliveries } from "./probes.ts";
import { type FailingReceivers, failingReceivers } from "./retry-probe.ts";
import { observedAttempts, attemptsTo, withoutDuplicates } from "./retry-evidence.ts";
import { explainAttempts, allowedLateMs, maxPauseMs, type TimeSpan } from "./retry-schedule.ts";
import { isToWebhook, type AllDeliveries } from "./events.ts";

export interface ProbeEntry {
  readonly probe: string;
  readonly result: ProbeResult;
}

export interface WatchedDeliveries {
  readonly deliveries: readonly Delivery[];
  readonly untilMs: number;
  readonly unwatched: readonly TimeSpan[];
}

/** Retries that the target can still send after the run. All times are in ms since the run's start. */
export type RemainingRetries =
  | { readonly kind: "nothing"; readonly reason: string }
  | {
      readonly kind: "awaited";
      readonly attempts: number;
      readonly lastMs: number;
      /** Due time of the next attempt. Assumes that each delay starts at the previous attempt, not at the first. */
      readonly nextMs: number;
      /** Time by which the retry schedule has ended under every reading of the document. */
      readonly latestMs: number;
    }
  /** No attempt is due. An attempt before `untilMs` would be a breach. */
  | { readonly kind: "quiet"; readonly attempts: number; readonly lastMs: number; readonly untilMs: number }
  | { readonly kind: "over"; readonly attempts: number };

export function remainingRetries(probes: readonly ProbeEntry[], watched: WatchedDeliveries): RemainingRetries {
  const after = mergeWatched(probes, watched);
  const sent = evidenceOf<FailingReceivers>(after, failingReceivers.name);
  const all = evidenceOf<AllDeliveries>(after, allDeliveries.name);
  if (sent === null || all === null) return noRetriesLeft("no webhook was created whose receiver fails");
  if (sent.passed !== null) return noRetriesLeft("the target's clock covered the whole retry schedule");
  const evidence = { sent, all };
  const observed = withoutDuplicates(attemptsTo(evidence, "failing"), evidence);
  const [first, last] = [observed[0], observed.at(-1)];
  if (first === undefined || last === undefined)
    return noRetriesLeft("no delivery has reached the receiver that fails");
  const explanations = explainAttempts(observedAttempts(observed, evidence));
  const attempts = observed.length;
  const lastMs = last.receivedMs;
  if (explanations.some(({ kind }) => kind === "under way")) {
    const nextMs = lastMs + (delaysMs[attempts - 1] ?? longestDelayMs);
    return { kind: "awaited", attempts, lastMs, nextMs, latestMs: first.receivedMs + wholeScheduleMs };
  }
  const isComplete = explanations.some(({ kind }) => kind === "complete");
  const untilMs = lastMs + (isComplete ? maxPauseMs : shortPauseMs);
  const isMissed = watched.unwatched.some(({ fromMs, toMs }) => fromMs <= untilMs && toMs >= lastMs);
  if (watched.untilMs > untilMs || isMissed) return { kind: "over", attempts };
  return { kind: "quiet", attempts, lastMs, untilMs };
}

/** How long to keep listening if the attempts already break the schedule. */
const shortPauseMs = 60_000;

const noRetriesLeft = (reason: string): RemainingRetries => ({ kind: "nothing", reason });

const delaysMs: readonly number[] = deliveryPolicy.retryDelaysMs.slice(1);
const longestDelayMs = Math.max(...delaysMs);
const wholeScheduleMs = delaysMs.reduce((sum, ms) => sum + ms + allowedLateMs(ms), 0);

export function mergeWatched<P extends ProbeEntry>(probes: readonly P[], watched: WatchedDeliveries): P[] {
  const { untilMs, unwatched } = watched;
  const deliveries = watched.deliveries.filter(isToWebhook);
  const changes: Readonly<Record<string, object>> = {
    [allDeliveries.name]: { deliveries, untilMs } satisfies Partial<AllDeliveries>,
    [failingReceivers.name]: { unwatched } satisfies Partial<FailingReceivers>,
  };
  return probes.map((each) => {
    const change = changes[each.probe];
    if (each.result.kind !== "ran" || change === undefined) return each;
    return { ...each, result: { ...each.result, evidence: { ...(each.result.evidence as object), ...change } } };
  });
}

function evidenceOf<E>(probes: readonly ProbeEntry[], name: string): E | null {
  const result = probes.find(({ probe }) => probe === name)?.result;
  // The caller must pass the result type of the probe `name` as `E`.
  return result?.kind === "ran" ? (result.evidence as E) : null;
}
