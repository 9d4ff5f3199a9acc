import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";
import type { Hook, Receiver } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import { wholeNumberHeader } from "../../rules/limits/sample.ts";
import { unlessWaitRefused, waitIfAllowed } from "../limits/exhaust.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { getPath } from "../../base/json.ts";

/**
 * The result of trying to raise a key's usage above the alert's threshold. `out of time`: the key's limits require a
 * longer wait than the run allows.
 */
type Crossing =
  | { readonly kind: "crossed"; readonly fromPercent: number; readonly toPercent: number }
  | { readonly kind: "not crossed"; readonly reason: string }
  | { readonly kind: "out of time" };

export interface AlertCrossingEvidence {
  readonly created: Exchange;
  readonly threshold: number;
  readonly crossing: Crossing;
  /** Deliveries that arrived before the probe raised the key's usage, e.g. a ping to the alert's URL. */
  readonly before: readonly Delivery[];
  readonly after: readonly Delivery[];
  readonly waitedMs: number;
  /** Why the receiver may have missed the alert, e.g. after too many messages; `null` if no reason is known. */
  readonly unreached: string | null;
}

/** Maximum number of requests to cross an alert's threshold. A GET after each invoke is extra. */
const maxRequests = 60;
const maxRequestsOnTestClock = 200;
/**
 * Pause after which the limit per minute counts no earlier requests. With a test clock (`advanced`), the pause lasts
 * two minutes, because some limiters also count part of the previous minute.
 */
const idleMs = { advanced: 121_000, real: minuteOverMs } as const;
/** Real time to wait for a ping. Some servers ping the webhook URL of a new alert. */
const pingMs = { advanced: 30, real: 500 } as const;

export const openAlertHook = (receiver: Receiver, name: string): Hook =>
  receiver.open(name, { secret: null, replies: [{ kind: "status", status: 204 }] });

export const alertCrossed = probe(
  "a usage alert is created, and its threshold crossed",
  {
    needs: ["receiver"],
    requests: (target) => (hasFewRequests(target) ? 1 : 34),
    waits: { mode: "optional", seconds: (target) => (hasFewRequests(target) ? 0 : idleMs.real / 1000) },
    stage: "exclusive",
    keys: (target) => keysByCost(target, () => false).slice(0, 1),
    creates: { alerts: 1 },
  },
  async (context): Promise<AlertCrossingEvidence> => {
    const { given, time } = context;
    const hook = openAlertHook(given.receiver, "alert");
    const client = context.client.as(alertKey(context));
    const hasFew = hasFewRequests(context.target);
    if (!hasFew) await waitUntilIdle(client, context);
    const start = hasFew ? [] : await measureUsage(client, context);
    const above = thresholdAbove(start);
    const threshold = Math.min(above ?? 99, 99);
    const created = await client.send("POST", "/alerts", {
      json: { type: "rate_limit", threshold, webhook_url: hook.url },
    });
    if (!hasFew)
      await hook.waitForDeliveries(1, time.canAdvance ? Math.max(time.settleMs, pingMs.advanced) : pingMs.real);
    const before = [...hook.deliveries()];
    const crossing = hasFew
      ? notCrossed("the key has too few requests to cross a threshold")
      : await crossingOf(client, context, { created, above, start });
    const waitedMs = crossing.kind === "crossed" ? await awaitMessage(hook, before.length + 1, time) : 0;
    const after = hook.deliveries().slice(before.length);
    const isFlooded = hook.droppedCount() + given.receiver.refusedConnections() > 0;
    const unreached = isFlooded ? "the receiver got too many messages to keep them all" : unreachedReason(context);
    return { created, threshold, crossing, before, after, waitedMs, unreached };
  },
);

interface Attempt {
  readonly created: Exchange;
  readonly above: number | null;
  readonly start: readonly WindowUse[];
}

async function crossingOf(
  client: Client,
  context: ProbeContext,
  { created, above, start }: Attempt,
): Promise<Crossing> {
  if (!isSuccess(created)) return notCrossed("the alert was not created");
  if (above === null) return notCrossed("no response shows how much of its allowance the key has used");
  if (above > 99) return notCrossed("the key's allowance is nearly exhausted");
  return crossThreshold(client, context, above, start);
}

const notCrossed = (reason: string): Crossing => ({ kind: "not crossed", reason });

async function waitUntilIdle(client: Client, { recorder, time }: ProbeContext): Promise<void> {
  const last = countedSamplesOf(client, recorder).at(-1);
  if (last === undefined) return;
  const ms = time.canAdvance ? idleMs.advanced : last.endMs + idleMs.real - time.now();
  await waitIfAllowed(time, ms, "the minute of the alert's key must pass");
}

function alertKey({ client, target, recorder, time }: ProbeContext): TargetKey {
  const isInUse = (key: TargetKey): boolean =>
    time.canAdvance && recentSamplesOf(client.as(key), recorder, time).length > 0;
  return keysByCost(target, isInUse)[0] ?? client.key;
}

function keysByCost(target: Target, isInUse: (key: TargetKey) => boolean): TargetKey[] {
  const costOf = (key: TargetKey): CrossingCost => {
    const limits = limitsOf(key, target);
    if (limits === null) return { waits: 1, requests: maxRequests };
    const requests = (limits.perHour / 100) * (Math.floor(200 / limits.perMinute) + 1);
    return { waits: Math.floor(requests / limits.perMinute) + Number(isInUse(key)), requests };
  };
  return usableKeys(target)
    .map((key) => ({ key, ...costOf(key) }))
    .filter(({ requests }) => requests <= maxRequests)
    .toSorted((a, b) => a.waits - b.waits || a.requests - b.requests)
    .map(({ key }) => key);
}

interface CrossingCost {
  readonly waits: number;
  readonly requests: number;
}

const countedSamplesOf = ({ key }: Client, recorder: Recorder): Sample[] =>
  recorder.samplesOf(key.name).filter(({ kind, status }) => kind !== "health" && status !== null);

const recentSamplesOf = (client: Client, recorder: Recorder, time: RunClock): Sample[] =>
  countedSamplesOf(client, recorder).filter(
    ({ endMs, endClockMs }) => endMs + endClockMs > time.targetMs() - minuteOverMs,
  );

/**
 * Requests that a key has used in a window: at least `min`, at most `max`. If the target reports the number, both are
 * equal.
 */
interface WindowUse {
  readonly limit: number;
  readonly min: number;
  readonly max: number;
}

async function measureUsage(
  client: Client,
  { recorder, target, time, discovery }: ProbeContext,
  sinceMs = Infinity,
): Promise<WindowUse[]> {
  const read = await client.send("GET", hasStatus(discovery.usage, 404, 405) ? "/agents?page=1&limit=2" : "/usage");
  const limits = limitsOf(client.key, target);
  const reported = [windowOfReport(read), windowOfHeaders(read)].filter((each) => each !== null);
  if (limits === null) return reported.map(({ used, limit }) => ({ limit, min: used, max: used }));
  const counted = countedSamplesOf(client, recorder);
  // Some targets use `perMinute` plus `burst` as the limit per minute. To exceed a percentage of this larger limit takes
  // more requests, which take too long without a test clock.
  const withBurst = time.canAdvance && limits.burst !== null ? [limits.perMinute + limits.burst] : [];
  return [
    { limit: limits.perHour, own: counted },
    { limit: limits.perMinute, own: recentSamplesOf(client, recorder, time) },
    ...withBurst.map((limit) => ({ limit, own: recentSamplesOf(client, recorder, time) })),
  ].map(({ limit, own }) => {
    const known = reported.find((each) => each.limit === limit);
    // `min` counts only successful requests: a target need not count refused requests and errors.
    const successes = own.filter(({ sentMs, status }) => sentMs >= sinceMs && status !== null && status < 300).length;
    return { limit, min: known?.used ?? successes, max: known?.used ?? own.length };
  });
}

interface Window {
  readonly used: number;
  readonly limit: number;
}

function windowOfReport(read: Exchange): Window | null {
  const requests = usageField(bodyJson(read), "requests");
  const [used, limit] = [getPath(requests, "used"), getPath(requests, "limit")];
  return typeof used === "number" && typeof limit === "number" && limit > 0 ? { used, limit } : null;
}

function windowOfHeaders(read: Exchange): Window | null {
  const limit = wholeNumberHeader(read, headerNames.rateLimit);
  const remaining = wholeNumberHeader(read, headerNames.rateRemaining);
  return limit === null || remaining === null || limit <= 0 ? null : { used: limit - remaining, limit };
}

/** Returns the lowest threshold, in whole percent, that the next request will not reach; `null` without windows. */
export function thresholdAbove(windows: readonly WindowUse[]): number | null {
  if (windows.length === 0) return null;
  return Math.floor(Math.max(...windows.map(({ max, limit }) => ((max + 1) / limit) * 100))) + 1;
}

export const requestsToExceed = (threshold: number, windows: readonly WindowUse[]): number =>
  Math.max(...windows.map(({ min, limit }) => Math.floor((threshold / 100) * limit) + 1 - min), 0);

/** If this many GET requests do not raise the key's usage, the probe sends an invoke before each further GET. */
const maxUncountedReads = 2;

async function crossThreshold(
  client: Client,
  context: ProbeContext,
  threshold: number,
  start: readonly WindowUse[],
): Promise<Crossing> {
  const sinceMs = context.time.now();
  const max = context.time.canAdvance ? maxRequestsOnTestClock : maxRequests;
  let windows = start;
  let countsReads = true;
  for (let sent = 0; sent <= max; sent++) {
    const missing = requestsToExceed(threshold, windows);
    if (missing === 0) return { kind: "crossed", fromPercent: percentOf(start), toPercent: percentOf(windows) };
    if (missing > max - sent) return notCrossed(`it takes ${missing} more requests to get above ${threshold} %`);
    if (sent === maxUncountedReads) countsReads = requestsToExceed(threshold, start) !== missing;
    const agent = countsReads ? undefined : context.target.agents.answering;
    const measured = await unlessWaitRefused(async () => {
      if (agent !== undefined) await client.invoke(agent, { query: "Hello." });
      return measureUsage(client, context, sinceMs);
    });
    if (measured === null) return { kind: "out of time" };
    windows = measured;
  }
  return notCrossed(`${max} requests did not bring the key's use above ${threshold} %`);
}

const percentOf = (windows: readonly WindowUse[]): number =>
  Math.max(...windows.map(({ min, limit }) => (min / limit) * 100));

const realWaitMs = 10_000;
const advancedWaitMs = 1000;
/**
 * The wait for an alert advances the test clock by these steps. They add up to 5 minutes, as some targets check alerts
 * only every few minutes.
 */
const advancesMs = [1000, 9000, 50_000, 60_000, 180_000] as const;
/**
 * Further waits for an alert without a test clock. With `realWaitMs` they exceed a minute, because some targets check
 * alerts only once a minute.
 */
const furtherPausesMs = [5000, 5000, 10_000, 10_000, 10_000, 15_000] as const;

async function awaitMessage(hook: Hook, count: number, time: RunClock): Promise<number> {
  const sinceMs = time.targetMs();
  if (!(await hook.waitForDeliveries(count, time.canAdvance ? time.settleMs : realWaitMs)))
    for (const ms of time.canAdvance ? advancesMs : furtherPausesMs) {
      if (!(await waitIfAllowed(time, ms, "an alert may be looked for now and then"))) break;
      if (await hook.waitForDeliveries(count, time.settleMs)) break;
    }
  if (time.canAdvance) await hook.waitForDeliveries(count, advancedWaitMs);
  return time.targetMs() - sinceMs;
}

function unreachedReason({ given, target }: ProbeContext<"receiver">): string | null {
  const isReached = given.receiver.deliveries().length > 0 || target.webhooks?.isReachabilityPromised === true;
  return isReached ? null : `nothing reached the receiver at ${given.receiver.baseUrl}`;
}

/**
 * Runs after all other alerts, because some keys can have only a few. Its place results from its stage: only a check of
 * a gap reads it, and the probes of a stage that are judged run first.
 */
export const oddAlertsCreated = probe(
  "alerts with a threshold above 100, and of an unknown type, are created",
  { needs: ["receiver"], requests: 2, creates: { alerts: 2 }, stage: "exclusive" },
  async ({ client, given }) => {
    const hook = openAlertHook(given.receiver, "odd-alerts");
    const send = (alert: object): Promise<Exchange> =>
      client.send("POST", "/alerts", { json: { type: "rate_limit", threshold: 99, webhook_url: hook.url, ...alert } });
    return { beyond: await send({ threshold: 150 }), unknownType: await send({ type: "conformance_unknown" }) };
  },
);

export function alertIdOf(created: Exchange): string | null {
  const body = bodyJson(created);
  for (const holder of [body, getPath(body, "data"), getPath(body, "data", "result")])
    for (const name of ["alert_id", "id"]) {
      const id = getPath(holder, name);
      if (typeof id === "string" || typeof id === "number") return String(id);
    }
  return null;
}
