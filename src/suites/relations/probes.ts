import { randomUUID } from "node:crypto";

import { sumOf } from "../../base/numbers.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { type Discovery, probe } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { requestRoles, roleAssignmentOf } from "../../target/target.ts";
import { listPages, pageOf, requestsToList } from "../listing/probes.ts";
import { isSuccess } from "../shared/response.ts";
import { awaitDeliveries, createWebhook, reachOrThrow } from "../webhooks/create-webhook.ts";
import { probeIfManyRequests } from "../shared/few-requests.ts";
import { maxTimeoutMs, timeoutStepMs } from "../limits/timeouts.ts";

const since = "1.1";

export const degradedInvoked = probe(
  "a degraded agent is invoked between two readings of its health",
  { needs: ["agents.degraded"], requests: 1, since },
  async ({ client, given, target }) => {
    const agent = given["agents.degraded"];
    if (requestRoles.some((role) => roleAssignmentOf(target, role)?.agent === agent))
      throw new SkipError("the degraded agent has a role in which it fails or is slow");
    const invoke = (): Promise<Exchange> => client.invoke(agent, { query: defaultQuery });
    const before = await client.health(agent);
    const first = await invoke();
    const invoked = isSuccess(first) ? [first] : [first, await invoke()];
    return { before, invoked, after: await client.health(agent) };
  },
);

const maxSlowMs = 35_000;

/** Runs after other probes that call the slow agent: the new webhook would otherwise get events of their calls. */
export const slowAgentWithWebhookInvoked = probe(
  "a slow agent that has a webhook is invoked, and streams",
  {
    needs: ["receiver", "agents.slow"],
    requests: (target) => (hasFewRequests(target) ? 0 : 3),
    executions: 2,
    stage: "coverage",
    creates: { webhooks: 1 },
    createsFew: {},
    since,
  },
  async ({ client, given: { receiver, "agents.slow": slow }, target, time }) => {
    if (hasFewRequests(target)) throw new SkipError("the key has few requests a minute");
    await reachOrThrow(receiver, target);
    const options = {
      name: "slow-agent",
      events: ["agent.completed", "agent.failed"],
      agent: slow.agent,
    };
    const { address, exchange } = await createWebhook(client, receiver, options);
    const body = (): object => ({ query: `Hello. ${randomUUID()}` });
    const invoked = await time.awaitAgent(client.invoke(slow, body(), { noRetry: true }), maxSlowMs);
    const streamed = await time.awaitAgent(client.stream(slow, body(), { noRetry: true }), maxSlowMs);
    if (isSuccess(exchange) && isSuccess(invoked)) await awaitDeliveries([{ address, count: 1 }], time);
    return { created: exchange, invoked, streamed };
  },
);

export const timedOutInStream = probe(
  "an agent that runs into its own timeout is asked for a stream",
  {
    needs: ["agents.timingOut"],
    requests: 1,
    waits: { mode: "reserved", seconds: maxTimeoutMs / 1000 },
    // Runs late, because large advances of the test clock would disturb measured durations.
    stage: "coverage",
    since,
  },
  async ({ client, given, time }) => ({
    exchange: await time.passUntil(
      client.stream(given["agents.timingOut"], { query: defaultQuery }, { noRetry: true }),
      maxTimeoutMs,
      timeoutStepMs,
    ),
  }),
);

export const sessionsAtOnce = probeIfManyRequests(
  "an agent is told a word in each of three sessions, and then asked for it in the first and the third",
  { needs: ["agents.remembering"], requests: 6, since },
  async ({ client, given }) => {
    const textOf = (kind: "word" | "mark"): string => `${kind}-${randomUUID().slice(0, 8)}`;
    const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()].map((id) => `conf-${id}`);
    const [word, mark, second, third] = [textOf("word"), textOf("mark"), textOf("word"), textOf("word")];
    const invoke = (query: string, session: string | undefined): Promise<Exchange> =>
      client.invoke(given["agents.remembering"], { query, session_id: session }, { noRetry: true });
    const open = (text: string, session: string | undefined) => invoke(`Please remember this: ${text}`, session);
    const question = "Which word did I tell you before?";
    const opening = await open(word, one);
    const control = { word, response: await invoke(`${question} (${mark})`, one) };
    await open(second, two);
    const thirdOpening = await open(third, three);
    return {
      control,
      first: { texts: [word, mark], opening, response: await invoke(question, one) },
      third: { texts: [third], opening: thirdOpening, response: await invoke(question, three) },
    };
  },
);

const pageCount = 3;
/** Highest `limit` to request. A target may reject a higher one. */
const maxLimit = 20;

/** Lists the pages at most twice: the second time only if requests of other keys reordered the agents meanwhile. */
const maxTries = 2;

export const everyPageListed = probe(
  "all agents are listed on three pages",
  {
    requests: (target) => (hasFewRequests(target) ? 0 : requestsToList(pageCount, maxTries)),
    reads: true,
    stage: "exclusive",
    since,
  },
  async ({ client, discovery, target }): Promise<readonly Exchange[]> => {
    const total = totalOf(discovery);
    if (hasFewRequests(target) || total < pageCount) return [];
    return listByLimit(client, total, { limit: Math.min(maxLimit, Math.ceil(total / pageCount)), count: pageCount });
  },
);

const totalOf = ({ listing }: Discovery): number => pageOf(listing)?.pagination.total ?? 0;

async function listByLimit(
  client: Client,
  total: number,
  { limit, count }: { readonly limit: number; readonly count: number },
): Promise<readonly Exchange[]> {
  const { pages } = await listPages(client, { limit, count: Math.min(count, Math.ceil(total / limit)), maxTries });
  return pages;
}

/** Number of pages to list for each `limit`. Some faulty servers repeat agents only for certain limits. */
const pagesByLimit = { 1: 3, 7: 2 } as const;

export const pagesOfOtherLimitsListed = probeIfManyRequests(
  "some agents are listed with a limit of 1, and of 7",
  {
    requests: sumOf(Object.values(pagesByLimit).map((count) => requestsToList(count, maxTries))),
    reads: true,
    stage: "exclusive",
    since: "1.2",
  },
  async ({ client, discovery }): Promise<readonly (readonly Exchange[])[]> => {
    const lists: (readonly Exchange[])[] = [];
    for (const [limit, count] of Object.entries(pagesByLimit))
      lists.push(await listByLimit(client, totalOf(discovery), { limit: Number(limit), count }));
    return lists;
  },
);
