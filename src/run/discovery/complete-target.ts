import { is2xx } from "../../base/http.ts";
import { getPath } from "../../base/json.ts";
import { bodyJson, envelopeContent, type Exchange, statusOf } from "../../evidence/exchange.ts";
import {
  assignedAgents,
  type RequestRole,
  roleAssignmentOf,
  type Target,
  type TargetKey,
  usableKeys,
  withDetectedTier,
} from "../../target/target.ts";
import { agentPath, type Client } from "../send/client.ts";
import { orIfSkipped } from "../skip-reason.ts";
import type { Need } from "../plan/needs.ts";
import type { RunClock } from "../time/run-clock.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { agentIds, defaultQuery } from "./discover-target.ts";
import type { Discovery } from "../probe.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { usageCountIn } from "../../rules/limits/usage-report.ts";
import { type PublishedTier, publishedTierNames, publishedTiers } from "../../spec/tiers.ts";
import { tierOfWindow } from "../plan/key-limits.ts";

/**
 * A role that the agent of the role `source` can play if requests contain `requestFields`. For example,
 * `stream_delay_ms` makes the `streaming` agent stream slowly.
 */
interface DerivedRole {
  readonly role: RequestRole;
  readonly source: "answering" | "streaming";
  readonly requestFields: Readonly<Record<string, unknown>>;
  /** Sends one request to the agent. Returns whether the agent plays the role. */
  readonly testAgent: (client: Client, agent: string, body: object, time: RunClock) => Promise<boolean>;
}

const streamDelayMs = 200;
/** Number of events to read before deciding whether a stream is slow. */
const slowStreamSampleSize = 5;
/** A stream counts as slow if each pause after its second event is at least this fraction of the requested delay. */
const minObservedDelayShare = 0.6;
/**
 * Real time to wait for the first `slowStreamSampleSize` events. If fewer arrive, waits for the same time again, and
 * advances the test clock meanwhile.
 */
const maxRealWaitMs = 3000;
/** Maximum advance of the test clock while waiting for events, for an agent that follows the test clock. */
const maxAdvanceMs = 10_000;
/** An agent counts as slow if it takes at least this long to respond. */
const minSlowMs = 1000;

const countingQuery = `Please count: ${Array.from({ length: 20 }, (_, index) => index + 1).join(" ")}`;

const derivableRoles: readonly DerivedRole[] = [
  {
    role: "slowStreaming",
    source: "streaming",
    requestFields: { query: countingQuery, parameters: { stream_delay_ms: streamDelayMs } },
    testAgent: streamsSlowly,
  },
  {
    role: "slow",
    source: "answering",
    requestFields: {
      query: "Please write a story of a thousand words, and then the same story once more in other words.",
    },
    testAgent: answersSlowly,
  },
];

/**
 * Assigns the role `slowStreaming` to the `streaming` agent, and `slow` to the `answering` agent. Skips a role that no
 * probe needs or that an agent already has. A test request must show that the agent is slow enough.
 */
export async function assignDerivedRoles(
  client: Client,
  target: Target,
  {
    time,
    signal,
    needed,
  }: { readonly time: RunClock; readonly signal: AbortSignal; readonly needed: ReadonlySet<Need> },
): Promise<Target> {
  let assigned = target;
  for (const { role, source, requestFields, testAgent } of derivableRoles) {
    const agent = target.agents[source];
    if (roleAssignmentOf(target, role) !== null || agent === undefined || !needed.has(`agents.${role}`)) continue;
    if (await orIfSkipped(testAgent(client, agent, requestFields, time), false, signal))
      assigned = {
        ...assigned,
        roleAssignments: { ...assigned.roleAssignments, [role]: { agent, body: requestFields, path: null } },
      };
  }
  return assigned;
}

async function streamsSlowly(client: Client, agent: string, body: object, time: RunClock): Promise<boolean> {
  const eventTimesMs: number[] = [];
  const underway = client.open("POST", agentPath(agent, "stream"), {
    json: body,
    accept: "text/event-stream",
    closeWhen: (events) => {
      eventTimesMs.push(time.targetMs());
      return events.length >= slowStreamSampleSize;
    },
  });
  const finished = underway.finished;
  await Promise.race([finished, time.sleepReal(maxRealWaitMs)]);
  if (eventTimesMs.length < slowStreamSampleSize)
    await time.passUntil(Promise.race([finished, time.sleepReal(maxRealWaitMs)]), maxAdvanceMs);
  underway.close();
  const exchange = await finished;
  const gaps = eventTimesMs.slice(2).map((ms, index) => ms - (eventTimesMs[index + 1] ?? ms));
  return (
    is2xx(statusOf(exchange)) && gaps.length >= 2 && gaps.every((ms) => ms >= minObservedDelayShare * streamDelayMs)
  );
}

/** Invokes the agent. Returns whether the response is so slow that concurrent requests would overlap. */
async function answersSlowly(client: Client, agent: string, body: object): Promise<boolean> {
  const exchange = await client.invoke(agent, body);
  return is2xx(statusOf(exchange)) && responseTimeMs(exchange) >= minSlowMs;
}

const responseTimeMs = ({ answer, sentMs }: Exchange): number => answer.endMs - sentMs;

/** Maximum response size of an agent for webhook tests. The receiver stores deliveries, which contain the response. */
const maxResponseBytes = 16 * 1024;
/**
 * The search for a webhook agent invokes at most `invoked` agents. It stops after `failedInSequence` failures in a row,
 * or when `slow` invokes have no response yet. Invokes cost tokens, and occupy concurrency slots until they end.
 */
const searchLimits = { invoked: 6, slow: 3, failedInSequence: 2 } as const;
/**
 * An agent is quick if it responds within this time. Webhook tests wait for many responses, and therefore prefer quick
 * agents.
 */
const maxQuickMs = 3000;
/**
 * `nextMs`: real time to wait for a response before the search invokes the next agent. `lastMs`: the same after the
 * last invoke.
 */
const defaultTimeouts = { nextMs: 1000, lastMs: 5000 };

export const respondsQuickly = (exchange: Exchange): boolean => responseTimeMs(exchange) <= maxQuickMs;

const hasShortBody = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && (answer.body.kind === "none" || answer.body.bytes <= maxResponseBytes);

interface WebhookAgentResult {
  readonly target: Target;
  /** Settles when every invoked agent has responded. Until then, the requests occupy concurrency slots. */
  readonly pendingRequests: Promise<unknown>;
}

/**
 * Finds an agent for webhook probes that is not the answering agent. Webhooks cannot be deleted: they would report
 * every later invoke of the answering agent. Tries the `remembering` agent first, then agents without a role.
 */
export async function withWebhookAgent(
  client: Client,
  target: Target,
  discovery: Discovery,
  { signal, timeouts = defaultTimeouts }: { readonly signal: AbortSignal; readonly timeouts?: typeof defaultTimeouts },
): Promise<WebhookAgentResult> {
  const pending: Promise<unknown>[] = [];
  const resultWith = (agent: string | null): WebhookAgentResult => ({
    target: agent === null ? target : { ...target, agents: { ...target.agents, webhooked: agent } },
    pendingRequests: Promise.allSettled(pending),
  });
  if (target.agents.webhooked !== undefined) return resultWith(null);
  const assigned: ReadonlySet<string> = new Set(assignedAgents(target));
  const unassigned = (agents: readonly string[]): string[] => agents.filter((agent) => !assigned.has(agent));
  const invoke = (agent: string): Promise<Exchange> => {
    const response = client.invoke(agent, { query: defaultQuery });
    pending.push(response);
    return response;
  };
  const findAgent = async (): Promise<string | null> => {
    const { answering, remembering } = target.agents;
    const known = remembering === undefined || remembering === answering ? [] : [remembering];
    const suitable = await findWebhookAgent(known, invoke, timeouts);
    if (suitable !== null) return suitable;
    const first = unassigned(agentIds(bodyJson(discovery.listing)));
    return findWebhookAgent(first.length > 0 ? first : await listUnassigned(client, unassigned), invoke, timeouts);
  };
  return resultWith(await orIfSkipped(findAgent(), null, signal));
}

const maxListedPages = 4;

/**
 * Returns the agents without a role on the first page of the agent list that has any. Reads at most four pages. A page
 * with fewer than 20 agents may not be the last, because a server may shorten pages.
 */
async function listUnassigned(
  client: Client,
  unassigned: (agents: readonly string[]) => string[],
): Promise<readonly string[]> {
  const seen = new Set<string>();
  for (let page = 1; page <= maxListedPages; page++) {
    const sender = page === 1 ? client : client.since("1.2");
    const body = bodyJson(await sender.send("GET", `/agents?page=${page}&limit=20`));
    const agents = agentIds(body);
    const found = unassigned(agents);
    const pages = getPath(envelopeContent(body), "pagination", "pages");
    const isLast = agents.every((agent) => seen.has(agent)) || (typeof pages === "number" && pages <= page);
    if (found.length > 0 || isLast) return found;
    for (const agent of agents) seen.add(agent);
  }
  return [];
}

interface InvokedAgent {
  readonly agent: string;
  exchange: Exchange | null;
}

async function findWebhookAgent(
  agents: readonly string[],
  invoke: (agent: string) => Promise<Exchange>,
  timeouts: typeof defaultTimeouts,
): Promise<string | null> {
  const candidates: InvokedAgent[] = [];
  const pending = new Set<Promise<void>>();
  const isSuitable = ({ exchange }: InvokedAgent): boolean =>
    exchange !== null && is2xx(statusOf(exchange)) && hasShortBody(exchange);
  const hasFailed = ({ exchange }: InvokedAgent): boolean => exchange !== null && !is2xx(statusOf(exchange));
  const firstQuick = (): string | null =>
    candidates.find((each) => isSuitable(each) && each.exchange !== null && respondsQuickly(each.exchange))?.agent ??
    null;
  const anyOrTimeout = async (ms: number): Promise<void> => {
    const stop = new AbortController();
    const timeout = sleep(ms, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    await Promise.race([timeout, ...pending]);
    stop.abort();
  };
  for (const agent of agents.slice(0, searchLimits.invoked)) {
    const candidate: InvokedAgent = { agent, exchange: null };
    candidates.push(candidate);
    const ending = invoke(agent)
      .then((exchange) => {
        candidate.exchange = exchange;
      })
      .finally(() => pending.delete(ending));
    pending.add(ending);
    await anyOrTimeout(timeouts.nextMs);
    if (firstQuick() !== null) return firstQuick();
    const latest = candidates.slice(-searchLimits.failedInSequence);
    if (latest.length >= searchLimits.failedInSequence && latest.every(hasFailed)) break;
    if (candidates.filter(({ exchange }) => exchange === null).length >= searchLimits.slow) break;
  }
  const untilMs = performance.now() + timeouts.lastMs;
  while (pending.size > 0 && firstQuick() === null && performance.now() < untilMs)
    await anyOrTimeout(untilMs - performance.now());
  return firstQuick() ?? candidates.find(isSuitable)?.agent ?? null;
}

export function keysOfUnknownTier(target: Target, main: TargetKey): TargetKey[] {
  const unknown = usableKeys(target).filter(({ tier, key }) => tier === null && key !== main.key);
  return unknown.filter(({ key }, index) => unknown.findIndex((other) => other.key === key) === index);
}

export async function withDetectedTiers(client: Client, target: Target, signal: AbortSignal): Promise<Target> {
  let known = target;
  for (const key of keysOfUnknownTier(target, client.key)) {
    const usage = await orIfSkipped(client.since("1.1").as(key).send("GET", "/usage"), null, signal);
    if (usage === null) break;
    const tier = tierInUsageResponse(usage, target);
    for (const { name } of Object.values(target.keys).filter((each) => each.key === key.key))
      known = withDetectedTier(known, name, tier);
  }
  return known;
}

/** Returns the published tier whose limits a response to `GET /usage` shows; `null` if the tier is not certain. */
export function tierInUsageResponse(exchange: Exchange, { tiers }: Pick<Target, "tiers">): PublishedTier | null {
  const { limit, remaining, resetAfter, date } = sampleOf(exchange);
  if (!is2xx(statusOf(exchange)) || limit === null || remaining === null) return null;
  const tier = tierOfWindow({ limit, remaining, resetAfter, date });
  const isOfOwnTier = Object.values(tiers).some(({ perHour, perMinute, burst }) =>
    [perHour, perMinute, perMinute + (burst ?? 0)].includes(limit),
  );
  if (tier === null || isOfOwnTier) return null;
  const quota = usageCountIn(bodyJson(exchange), "tokens")?.limit ?? null;
  const isConfirmed = quota === publishedTiers[tier].tokensPerMonth;
  const isAmbiguous = publishedTierNames.some((other) => other !== tier && hasWindowOf(other, limit));
  return isConfirmed || (quota === null && !isAmbiguous) ? tier : null;
}

const hasWindowOf = (tier: PublishedTier, limit: number): boolean =>
  publishedTiers[tier].perHour === limit || publishedTiers[tier].perMinute === limit;
