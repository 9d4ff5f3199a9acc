import { randomUUID } from "node:crypto";
import { getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { isAboutMonthTokens } from "../../rules/limits/header-rules.ts";
import { isRefused, sampleOf, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import type { ProbeContext } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import { headerNames } from "../../spec/headers.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { eventsOfType } from "../deliveries/events.ts";
import { fillAgentId, maxRealPolls, pollToEnd, queryOfDelivery, startedId } from "../operations/probes.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { agentIdOf, awaitUnexpected } from "../webhooks/create-webhook.ts";
import { helloBody, samplesSince, unpaced, waitIfAllowed } from "./exhaust.ts";
import { usageField } from "../../rules/limits/usage-report.ts";

export function tokensIn(exchange: Exchange, name: "used" | "limit"): number | null {
  const value = getPath(usageField(bodyJson(exchange), "tokens"), name);
  return isSuccess(exchange) && typeof value === "number" ? value : null;
}

/**
 * Whether a response may mean that the month's tokens are used up. The document states no status for this case
 * (LIM-20), so 402, 403 and 429 all count.
 */
export const mayRefuseForTokens = (exchange: Exchange): boolean => hasStatus(exchange, 402, 403, 429);

/** Whether a response refuses a request for the month's tokens, and the rate limit cannot explain it. */
export const refusesForTokens = (exchange: Exchange): boolean =>
  mayRefuseForTokens(exchange) && !mayRefuseForRate(exchange);

/** Whether a 429 may come from the limit per minute or hour: it reports `Remaining: 0`, and not of the month. */
function mayRefuseForRate(exchange: Exchange): boolean {
  const sample = sampleOf(exchange);
  return isRefused(sample) && (sample.remaining ?? 0) === 0 && !isAboutMonthTokens(sample, null);
}

export interface BatchBeyondQuota {
  readonly before: Exchange;
  readonly submitted: Exchange;
  readonly after: Exchange;
  readonly completed: readonly Delivery[];
  readonly control: Exchange;
}

/**
 * Maximum number of requests that `submitBatchBeyond` sends without a test clock: two `GET /usage`, one batch, one
 * invoke, and all polls of a slow batch.
 */
const maxAroundBatch = 4 + maxRealPolls;

const starts = {
  batch: (query: string): object => ({ batch: [{ query }] }),
  operation: (query: string): object => ({ query }),
} as const;

type BatchContext = Pick<
  ProbeContext<"keys.nearQuota" | "agents.answering">,
  "client" | "given" | "target" | "time" | "receiver" | "recorder"
>;

/**
 * Starts a batch or an operation after an invoke was refused for used-up tokens, and polls it. Returns `null` if the
 * target has no path for `start`, and `undefined` if no invoke was refused or the run may not wait for enough requests.
 */
export async function submitBatchBeyond(
  context: BatchContext,
  refusal: Exchange | null,
  start: keyof typeof starts = "batch",
): Promise<BatchBeyondQuota | null | undefined> {
  const { client, given, target, time } = context;
  const path = target.paths[start];
  if (path === null) return null;
  if (refusal === null || !mayRefuseForTokens(refusal)) return undefined;
  if (time.canAdvance) await time.passTime(minuteOverMs, "only the tokens must be spent");
  else if (!hasRequestsLeft(context, refusal) && !(await waitIfAllowed(time, minuteOverMs, "a batch needs requests")))
    return undefined;
  const own = withoutPacing(client.as(given["keys.nearQuota"]).since("1.2"));
  const query = `Hello. ${randomUUID()}`;
  // Without a test clock, avoids the agent with the role `webhooked`. Its new deliveries could mix with late retries of
  // earlier deliveries.
  const agent = time.canAdvance ? agentIdOf({ target }) : given["agents.answering"];
  const before = await own.send("GET", "/usage");
  const submitted = await own.send("POST", fillAgentId(path, agent), { json: starts[start](query) });
  const id = startedId(submitted);
  if (id !== null) await pollToEnd(own, id, time);
  const after = await own.send("GET", "/usage");
  const completed = isSuccess(submitted) ? await completedOf(query, context) : [];
  return { before, submitted, after, completed, control: await own.invoke(given["agents.answering"], helloBody) };
}

/** Whether the key's last minute and `Remaining` leave `maxAroundBatch` requests. `Remaining` can be the hour's. */
function hasRequestsLeft({ given, target, time, recorder }: BatchContext, refusal: Exchange): boolean {
  const key = given["keys.nearQuota"];
  const perMinute = limitsOf(key, target)?.perMinute ?? publishedTiers.free.perMinute;
  const recent = samplesSince(recorder, key, time.now() - minuteOverMs);
  const remaining = wholeNumberHeader(refusal, headerNames.rateRemaining) ?? 0;
  return Math.min(perMinute - recent.length, remaining) >= maxAroundBatch;
}

/** Returns a client that never waits for a limit to reset. Waiting for the monthly token quota could take weeks. */
function withoutPacing(client: Client): Client {
  return {
    ...client,
    send: (method, path, options) => client.send(method, path, { ...options, ...unpaced }),
    invoke: (agent, body, options) => client.invoke(agent, body, { ...options, ...unpaced }),
  };
}

async function completedOf(query: string, { receiver, target, time }: BatchContext): Promise<Delivery[]> {
  if (target.webhooks === null || !time.canAdvance) return [];
  const opened = await receiver();
  await awaitUnexpected(time);
  return eventsOfType(opened.deliveries(), "agent.completed").filter((each) => queryOfDelivery(each) === query);
}

/**
 * Judges LIM-19 for a batch or an operation. `GET /usage` can show tokens of earlier requests late. So growth proves a
 * breach only above their sum, `accountedTokens`. A delivery that reports tokens also proves a breach.
 */
export function judgeBatchBeyondQuota(
  batched: BatchBeyondQuota | null | undefined,
  what: keyof typeof starts,
  accountedTokens: number | null,
): Finding<never> {
  if (batched === null) return inapplicable(`the path of this ${what} is not known`);
  if (batched === undefined) return unproven(`no ${what} followed an invoke that was refused for its tokens (LIM-19)`);
  const { before, submitted, after, completed, control } = batched;
  if (!refusesForTokens(control))
    return unproven(`an invoke after the ${what} was not refused for its tokens (${outcomeOf(control)})`);
  if (refusesForTokens(submitted)) return holds();
  if (!isSuccess(submitted))
    return unproven(`the ${what} was neither accepted nor refused for its tokens (${outcomeOf(submitted)})`);
  const [first, last] = [tokensIn(before, "used"), tokensIn(after, "used")];
  if (first === null || last === null) return unproven(`usage does not show the tokens that the ${what} used (USE-4)`);
  const isOfBatch = accountedTokens !== null && last > Math.max(first, accountedTokens);
  const growth = isOfBatch ? `\`tokens.used\` grew from ${first} to ${last}` : null;
  const spent = growth ?? reportedTokens(completed);
  if (spent === null && last > first) return unproven("usage may show the tokens of earlier requests late");
  if (spent === null) return holds();
  return breach(
    `no ${what} uses tokens once those of the month are used up, as no invoke does`,
    `${outcomeOf(submitted)}, and ${spent}, between two refused invokes`,
    submitted,
    after,
    control,
  );
}

function reportedTokens(completed: readonly Delivery[]): string | null {
  const tokens = completed.map((each) => getPath(deliveryJson(each), "data", "tokens_used"));
  const found = tokens.filter((each) => typeof each === "number").find((each) => each > 0);
  return found === undefined ? null : `\`agent.completed\` of its entry reports ${found} tokens`;
}
