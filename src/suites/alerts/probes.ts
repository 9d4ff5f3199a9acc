import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";
import type { Hook } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { WaitRefused } from "../../run/time/wait-budget.ts";
import { type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import { wholeNumberHeader } from "../../rules/limits/sampling.ts";
import { waitIfAllowed } from "../limits/exhaust.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { isSuccess, member } from "../shared/response.ts";

/** How an alert's threshold was crossed, or why it was not: `out of time` where the run may not wait for room to send more. */
export type Crossing =
  | { readonly kind: "crossed"; readonly fromPercent: number; readonly toPercent: number }
  | { readonly kind: "not crossed"; readonly reason: string }
  | { readonly kind: "out of time" };

export interface AlertCrossed {
  readonly created: Exchange;
  /** Percentage of the alert. */
  readonly threshold: number;
  readonly crossing: Crossing;
  /** What the receiver had got before the first request that was to cross the threshold. */
  readonly before: readonly Delivery[];
  /** What it got afterwards. */
  readonly after: readonly Delivery[];
  /** How long it was waited for a message, on the target's time. */
  readonly waitedMs: number;
  /** Where nothing ever reached the receiver in the run, why that may be so; `null` where it can be reached. */
  readonly unreached: string | null;
}

/** So many requests may cross a threshold; of a larger allowance, one per cent is more. A test clock is a sign that requests cost little. */
const mostRequests = 60;
const mostOnTestClock = 150;
/** After so long no request weighs on a minute: where that costs no real time, not even in a window that lets the one before weigh in. */
const idleMs = { moved: 121_000, real: minuteOverMs } as const;
/** Real time in which a greeting to the new address, which is legal, arrives. */
const pingMs = { moved: 30, real: 500 } as const;

export const alertCrossed = probe(
  "a usage alert is created, and its threshold crossed",
  {
    needs: ["receiver"],
    requests: (target) => (hasFewRequests(target) ? 1 : 34),
    waits: { how: "if left", seconds: (target) => (hasFewRequests(target) ? 0 : idleMs.real / 1000) },
    lane: "alone",
    keys: (target) => cheapestFirst(target, () => false).slice(0, 1),
    creates: { alerts: 1 },
  },
  async (scene): Promise<AlertCrossed> => {
    const { given, time } = scene;
    const hook = given.receiver.open("alert", { secret: null, replies: [{ kind: "status", status: 204 }] });
    const client = scene.client.as(alertKey(scene));
    // Where each request counts, none is spent on crossing a threshold.
    const isLean = hasFewRequests(scene.target);
    if (!isLean) await idle(client, scene);
    const start = isLean ? [] : await measure(client, scene);
    const above = thresholdAbove(start);
    const threshold = Math.min(above ?? 99, 99);
    const created = await client.send("POST", "/alerts", {
      json: { type: "rate_limit", threshold, webhook_url: hook.url },
    });
    if (!isLean) await hook.waitForDeliveries(1, time.canMove ? Math.max(time.settleMs, pingMs.moved) : pingMs.real);
    const before = [...hook.deliveries()];
    const crossing = isLean
      ? notCrossed("the key has too few requests to cross a threshold")
      : await crossingOf(client, scene, { created, above, start });
    const waitedMs = crossing.kind === "crossed" ? await awaitMessage(hook, before.length + 1, time) : 0;
    const after = hook.deliveries().slice(before.length);
    const unreached =
      hook.droppedCount() > 0 ? "messages to the alert were counted and turned away" : unreachedReason(scene);
    return { created, threshold, crossing, before, after, waitedMs, unreached };
  },
);

interface Attempt {
  readonly created: Exchange;
  readonly above: number | null;
  readonly start: readonly Used[];
}

async function crossingOf(client: Client, scene: ProbeContext, { created, above, start }: Attempt): Promise<Crossing> {
  if (!isSuccess(created)) return notCrossed("the alert was not created");
  if (above === null) return notCrossed("nothing shows how much of its allowance the key has used");
  if (above > 99) return notCrossed("the key's allowance is used up nearly");
  return cross(client, scene, above, start);
}

const notCrossed = (reason: string): Crossing => ({ kind: "not crossed", reason });

/** Lets the minute of the alert's key pass where it was used in it. Where that cannot be waited for, the measuring tells. */
async function idle(client: Client, { recorder, time }: ProbeContext): Promise<void> {
  const last = countedOn(client, recorder).at(-1);
  if (last === undefined) return;
  // A clock that the run moves may stand still between the moves.
  const ms = time.canMove ? idleMs.moved : last.endMs + idleMs.real - time.now();
  await waitIfAllowed(time, ms, "the minute of the alert's key must pass");
}

/** The key whose threshold is crossed with the fewest waits, and then with the fewest requests. */
function alertKey({ client, target, recorder, time }: ProbeContext): TargetKey {
  // On a real clock others may be using the other keys meanwhile.
  const isInUse = (key: TargetKey): boolean => time.canMove && recentlyOn(client.as(key), recorder, time).length > 0;
  return cheapestFirst(target, isInUse)[0] ?? client.key;
}

function cheapestFirst(target: Target, isInUse: (key: TargetKey) => boolean): TargetKey[] {
  const costOf = (key: TargetKey): Cost => {
    const limits = limitsOf(key, target);
    if (limits === null) return { waits: 1, requests: mostRequests };
    // The reading before and the creation itself count in the minute, and the threshold must lie above them.
    const requests = (limits.perHour / 100) * (Math.floor(200 / limits.perMinute) + 1);
    return { waits: Math.floor(requests / limits.perMinute) + Number(isInUse(key)), requests };
  };
  return usableKeys(target)
    .map((key) => ({ key, ...costOf(key) }))
    .filter(({ requests }) => requests <= mostRequests)
    .toSorted((a, b) => a.waits - b.waits || a.requests - b.requests)
    .map(({ key }) => key);
}

interface Cost {
  readonly waits: number;
  readonly requests: number;
}

const countedOn = ({ key }: Client, recorder: Recorder): Sample[] =>
  recorder.samplesOf(key.name).filter(({ kind, status }) => kind !== "health" && status !== null);

/** What was sent in the last minute. */
const recentlyOn = (client: Client, recorder: Recorder, time: RunClock): Sample[] =>
  countedOn(client, recorder).filter(({ endMs, endClockMs }) => endMs + endClockMs > time.targetMs() - minuteOverMs);

/** How much of a window a key has used, at least and at most, by all that the target tells and the run has counted. */
export interface Used {
  readonly limit: number;
  readonly atLeast: number;
  readonly atMost: number;
}

/**
 * Reads usage, and looks at the hour and the minute. A window of which neither the report nor the headers speak is judged by
 * the run's own count: all that may count in it, and what was sent since the alert was created.
 *
 * @param sinceMs when the alert was created, on the run's real clock
 */
async function measure(client: Client, { recorder, target, time }: ProbeContext, sinceMs = Infinity): Promise<Used[]> {
  const read = await client.send("GET", "/usage");
  const limits = limitsOf(client.key, target);
  const shown = [windowOfReport(read), windowOfHeaders(read)].filter((each) => each !== null);
  if (limits === null) return shown.map(({ used, limit }) => ({ limit, atLeast: used, atMost: used }));
  const counted = countedOn(client, recorder);
  // Where requests cost little, an alert may also watch a minute to which the burst adds.
  const withBurst = time.canMove && limits.burst !== null ? [limits.perMinute + limits.burst] : [];
  return [
    { limit: limits.perHour, own: counted },
    { limit: limits.perMinute, own: recentlyOn(client, recorder, time) },
    ...withBurst.map((limit) => ({ limit, own: recentlyOn(client, recorder, time) })),
  ].map(({ limit, own }) => {
    const told = shown.find((each) => each.limit === limit);
    // Refusals and errors may count or not.
    const since = own.filter(({ sentMs, status }) => sentMs >= sinceMs && status !== null && status < 300).length;
    return { limit, atLeast: told?.used ?? since, atMost: told?.used ?? own.length };
  });
}

interface Window {
  readonly used: number;
  readonly limit: number;
}

function windowOfReport(read: Exchange): Window | null {
  const requests = usageField(bodyJson(read), "requests");
  const [used, limit] = [member(requests, "used"), member(requests, "limit")];
  return typeof used === "number" && typeof limit === "number" && limit > 0 ? { used, limit } : null;
}

function windowOfHeaders(read: Exchange): Window | null {
  const limit = wholeNumberHeader(read, headerNames.rateLimit);
  const remaining = wholeNumberHeader(read, headerNames.rateRemaining);
  return limit === null || remaining === null || limit <= 0 ? null : { used: limit - remaining, limit };
}

/**
 * The lowest whole percentage that no window has reached yet, whatever is counted, when the request that creates the alert
 * is counted too; `null` where nothing is known.
 */
export function thresholdAbove(windows: readonly Used[]): number | null {
  if (windows.length === 0) return null;
  return Math.floor(Math.max(...windows.map(({ atMost, limit }) => ((atMost + 1) / limit) * 100))) + 1;
}

/** How many more requests bring every window above a percentage; 0 where each stands above it. */
export const requestsAbove = (threshold: number, windows: readonly Used[]): number =>
  Math.max(...windows.map(({ atLeast, limit }) => Math.floor((threshold / 100) * limit) + 1 - atLeast), 0);

/** So many reads that change nothing show that reads do not count. */
const readsThatTell = 2;

/** Sends harmless reads, or invokes where reads do not count, until every window that is known of stands above the threshold. */
async function cross(
  client: Client,
  scene: ProbeContext,
  threshold: number,
  start: readonly Used[],
): Promise<Crossing> {
  const sinceMs = scene.time.now();
  const most = scene.time.canMove ? mostOnTestClock : mostRequests;
  let windows = start.map((each) => ({ ...each, atLeast: Math.min(each.atLeast, each.atMost) }));
  let readsCount = true;
  for (let sent = 0; sent <= most; sent++) {
    const missing = requestsAbove(threshold, windows);
    if (missing === 0) return { kind: "crossed", fromPercent: percentOf(start), toPercent: percentOf(windows) };
    if (missing > most - sent) return notCrossed(`it takes ${missing} more requests to get above ${threshold} %`);
    if (sent === readsThatTell) readsCount = requestsAbove(threshold, start) !== missing;
    const measured = await measureWithin(client, scene, sinceMs, readsCount ? null : scene.target.agents.answering);
    if (measured === null) return { kind: "out of time" };
    windows = measured;
  }
  return notCrossed(`${most} requests did not bring the key's use above ${threshold} %`);
}

/** @param agent invoked first, where one is given */
async function measureWithin(
  client: Client,
  scene: ProbeContext,
  sinceMs: number,
  agent: string | null | undefined,
): Promise<Used[] | null> {
  try {
    if (typeof agent === "string") await client.invoke(agent, { query: "Hello." });
    return await measure(client, scene, sinceMs);
  } catch (error) {
    if (error instanceof WaitRefused) return null;
    throw error;
  }
}

/** The share of the window that is used most, in per cent. */
const percentOf = (windows: readonly Used[]): number =>
  Math.max(...windows.map(({ atLeast, limit }) => (atLeast / limit) * 100));

/** Real time in which a message arrives. Where the target's clock can be moved, that is where time passes. */
const realWaitMs = 10_000;
const movedWaitMs = 1000;
/** An alert may be looked for by a job: moves of the target's clock, five minutes in all. */
const movesMs = [1000, 9000, 50_000, 60_000, 180_000] as const;
/** Without a clock, further waits as far as the run may wait: a job that looks every minute is common. */
const furtherWaitsMs = [5000, 5000, 10_000, 10_000, 10_000, 15_000] as const;

/** Waits for a message. Returns how long nothing came, on the target's time. */
async function awaitMessage(hook: Hook, count: number, time: RunClock): Promise<number> {
  const sinceMs = time.targetMs();
  if (!(await hook.waitForDeliveries(count, time.canMove ? time.settleMs : realWaitMs)))
    for (const ms of time.canMove ? movesMs : furtherWaitsMs) {
      if (!(await waitIfAllowed(time, ms, "an alert may be looked for now and then"))) break;
      if (await hook.waitForDeliveries(count, time.settleMs)) break;
    }
  if (time.canMove) await hook.waitForDeliveries(count, movedWaitMs);
  return time.targetMs() - sinceMs;
}

function unreachedReason({ given, target }: ProbeContext<"receiver">): string | null {
  const isReached = given.receiver.deliveries().length > 0 || target.webhooks?.isReachabilityPromised === true;
  return isReached ? null : `nothing reached the receiver at ${given.receiver.baseUrl}`;
}

/** Alerts that the document leaves open. */
export const oddAlertsCreated = probe(
  "alerts with a threshold above 100, and of an unknown type, are created",
  { needs: ["receiver"], requests: 2, creates: { alerts: 2 } },
  async ({ client, given }) => {
    const hook = given.receiver.open("odd-alerts", { secret: null, replies: [{ kind: "status", status: 204 }] });
    const send = (alert: object): Promise<Exchange> =>
      client.send("POST", "/alerts", { json: { type: "rate_limit", threshold: 99, webhook_url: hook.url, ...alert } });
    return { beyond: await send({ threshold: 150 }), unknownType: await send({ type: "conformance_unknown" }) };
  },
);

/** The id of an alert that was created, wherever a published shape may hold it; `null` where there is none. */
export function alertIdOf(created: Exchange): string | null {
  const body = bodyJson(created);
  for (const holder of [body, member(body, "data"), member(body, "data", "result")])
    for (const name of ["alert_id", "id"]) {
      const id = member(holder, name);
      if (typeof id === "string" || typeof id === "number") return String(id);
    }
  return null;
}
