import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import type { KeyHistory } from "../../rules/limits/key-history.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import {
  type UsageCountChange,
  type GrowthBounds,
  growthOf,
  tokenGrowthBounds,
  type UsageCount,
  usageCountIn,
} from "../../rules/limits/usage-report.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import { SkipError } from "../../run/skip-reason.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import { endpointOf } from "../shared/all-exchanges.ts";
import { hasStatus, isSuccess, reportedTokens } from "../shared/response.ts";

export interface UsageReads {
  readonly usage: Exchange;
  readonly later: Exchange;
  readonly turns: readonly Exchange[];
  /** Whether the key was unused before the run, which suggests that no other client uses it. */
  readonly isFresh: boolean;
}

export const usageCountOf = (exchange: Exchange, name: "requests" | "tokens"): UsageCount | null =>
  isSuccess(exchange) ? usageCountIn(bodyJson(exchange), name) : null;

/** Returns by how much `tokens.used` grew between two reads, and the allowed growth; `null` if a read has no count. */
export function tokenGrowth({
  usage,
  later,
  turns,
  isFresh,
}: UsageReads): (UsageCountChange & GrowthBounds & { readonly remaining: number }) | null {
  const [before, after] = [usageCountOf(usage, "tokens"), usageCountOf(later, "tokens")];
  if (before === null || after === null) return null;
  const reported = tokenGrowthBounds(turns.map((turn) => ({ status: statusOf(turn), tokens: reportedTokens(turn) })));
  const bounds = isFresh ? reported : { ...reported, max: Infinity };
  return { ...growthOf(before, after, bounds), ...bounds, remaining: after.remaining };
}

/** Measures once more if `tokens.used` grew too much: the target may have counted an earlier request late. */
export async function remeasureIfDisturbed<T extends UsageReads>(measure: () => Promise<T>): Promise<T> {
  const first = await measure();
  return tokenGrowth(first)?.kind === "beyond" ? measure() : first;
}

interface UsageRead {
  readonly usage: Exchange;
  readonly limits: TierLimits | null;
  readonly quota: number | null;
}

/** Sends nothing: returns the usage response that the pre-flight discovery has read. */
export const usageRead = probe(
  "usage is read",
  { requests: 0, reads: true },
  async ({ discovery, client, target }): Promise<UsageRead> => ({
    usage: discovery.usage,
    limits: limitsOf(client.key, target),
    quota: quotaOf(client.key, target),
  }),
);

const quotaOf = (key: TargetKey, target: Target): number | null =>
  key.isTierDetected ? null : (limitsOf(key, target)?.tokensPerMonth ?? null);

const keysOfKnownQuota = (target: Target): { readonly key: TargetKey; readonly quota: number }[] =>
  usableKeys(target).flatMap((key) => {
    const quota = quotaOf(key, target);
    return quota === null ? [] : [{ key, quota }];
  });

export const everyUsageRead = probe(
  "usage is read with every key",
  {
    since: "1.1",
    requests: 1,
    executions: 0,
    reads: true,
    stage: "coverage",
    mayDropRequests: true,
    keys: (target) => keysOfKnownQuota(target).map(({ key }) => key),
  },
  async ({ client, target, discovery, recorder, time }) => {
    const known = keysOfKnownQuota(target);
    const isRead = ({ name }: TargetKey): boolean =>
      recorder
        .exchangesSinceOutage()
        .some((each) => each.key === name && isSuccess(each) && endpointOf(each, {}) === "usage");
    for (const { key } of known)
      if (!hasStatus(discovery.usage, 404, 405) && !isRead(key))
        await client.as(key).send("GET", "/usage", { unpaced: !time.canAdvance });
    return { quotas: Object.fromEntries(known.map(({ key, quota }) => [key.name, quota])) };
  },
);

export interface UsageGrowth extends UsageReads, UsageRead, KeyHistory<Sample, TierLimits | null> {
  /**
   * Two usage reads: the first of the run and the first of this probe. `null` if the target has a test clock, or an
   * outage occurred.
   */
  readonly allAlong: UsageReads | null;
}

export const usageGrown = probe(
  "usage is read, an agent is invoked, and usage is read again",
  { needs: ["agents.answering"], requests: 3, executions: 1, stage: "exclusive" },
  (context): Promise<UsageGrowth> => remeasureIfDisturbed(() => measureUsageGrowth(context)),
);

async function measureUsageGrowth({
  client,
  given,
  recorder,
  target,
  discovery,
  time,
  outages,
}: ProbeContext<"agents.answering">): Promise<UsageGrowth> {
  if (hasStatus(discovery.usage, 404, 405)) throw new SkipError("usage is missing; see USE-1");
  const before = await client.send("GET", "/usage");
  await client.invoke(given["agents.answering"], { query: defaultQuery }, { noRetry: true });
  const later = await client.send("GET", "/usage");
  // These reads serve the header checks. Without a test clock, they would use up requests that other probes need.
  if (time.canAdvance) for (const path of ["/keys/usage", "/usage"]) await client.send("GET", path);
  const { key } = client;
  const turns = (from: Exchange, to: Exchange): Exchange[] => agentCallsBetween(recorder, key, from, to);
  // `isFresh: false` allows usage to grow by any amount: other clients can have used the key since the discovery.
  const earlier = { usage: discovery.usage, later: before, turns: turns(discovery.usage, before), isFresh: false };
  return {
    usage: before,
    later,
    samples: recorder.samplesOf(key.name),
    turns: turns(before, later),
    // After an outage, omits the usage since the discovery. A restarted target can count from zero again.
    allAlong: time.canAdvance || outages.count() > 0 ? null : earlier,
    isFresh: key.fresh,
    limits: limitsOf(key, target),
    quota: quotaOf(key, target),
  };
}

export interface StreamAccounted extends UsageReads {
  readonly reports: readonly [Exchange, Exchange];
  readonly streamed: Exchange;
}

/** Pause before the stream, so that the health field `last_request` differs from the time of earlier requests. */
const waitBeforeStreamMs = 5000;
/**
 * Pause in real time for agents that ignore the test clock. Without the pause, a `last_request` in whole seconds can
 * stay the same.
 */
const extraRealWaitMs = 1100;

export const streamAccounted = probe(
  "an agent streams between two readings of its health and of usage",
  { needs: ["clock", "agents.streaming"], requests: 4, executions: 1, stage: "exclusive" },
  (context): Promise<StreamAccounted> => remeasureIfDisturbed(() => accountStream(context)),
);

async function accountStream({
  client,
  given,
  recorder,
  time,
}: ProbeContext<"clock" | "agents.streaming">): Promise<StreamAccounted> {
  const agent = given["agents.streaming"];
  const usage = await client.send("GET", "/usage");
  const before = await client.health(agent);
  await time.passTime(waitBeforeStreamMs, "a stream must come some time after what was sent before it");
  const isKnownClock =
    time.agentsFollow || /\d\d:?\d\d:?\d\d[.,]\d/.test(String(getPath(bodyJson(before), "last_request")));
  if (!isKnownClock) await time.sleepReal(extraRealWaitMs);
  const streamed = await client.stream(agent, { query: "Hello. Please answer in a few words." }, { noRetry: true });
  const reports = [before, await client.health(agent)] as const;
  // A header check compares this response's `Remaining` with the `Remaining` of the next response.
  await client.send("GET", "/keys/usage");
  const later = await client.send("GET", "/usage");
  const { key } = client;
  return { usage, later, turns: agentCallsBetween(recorder, key, usage, later), isFresh: key.fresh, reports, streamed };
}

const agentCallsBetween = (recorder: Recorder, key: TargetKey, from: Exchange, to: Exchange): Exchange[] =>
  recorder.exchangesSinceOutage().filter((each) => each.key === key.name && isBetween(each, from, to) && isTurn(each));

const isTurn = ({ request }: Exchange): boolean => /\/agents\/[^/]+\/(invoke|stream)$/.test(request.url);
const isBetween = ({ sentMs, answer }: Exchange, before: Exchange, after: Exchange): boolean =>
  sentMs >= before.answer.endMs && answer.endMs <= after.sentMs;
