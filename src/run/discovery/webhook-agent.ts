import { setTimeout as sleep } from "node:timers/promises";

import { is2xx } from "../../base/http-status.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { assignedAgents, type Target } from "../../target/target.ts";
import type { Client } from "../send/client.ts";
import { defaultQuery, agentIds } from "./discover-target.ts";
import { SkipError } from "../skip-reason.ts";
import type { Discovery } from "../probe.ts";

/** Maximum response size of an agent for webhook tests, because the receiver stores each delivered response. */
const maxResponseBytes = 16 * 1024;
/**
 * Limits of the search for an agent that triggers webhooks. `slow` is the maximum number of agents without a response.
 */
const searchLimits = { invoked: 6, slow: 3, failedInSequence: 2 } as const;
/**
 * An agent is quick if it responds within this time. Webhook tests wait for many responses, and therefore prefer quick
 * agents.
 */
const maxQuickMs = 3000;
/** Real time to wait before the next agent is invoked. `lastMs` is the wait after the last agent. */
const defaultTimeouts = { nextMs: 1000, lastMs: 5000 };

export const respondsQuickly = ({ sentMs, answer }: Exchange): boolean => answer.endMs - sentMs <= maxQuickMs;

const hasShortBody = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && (answer.body.kind === "none" || answer.body.bytes <= maxResponseBytes);

export interface WebhookAgentResult {
  readonly target: Target;
  /** Settles when every invoked agent has responded. Until then, the requests occupy concurrency slots. */
  readonly pendingRequests: Promise<unknown>;
}

/**
 * Reserves an agent for webhook probes. Webhooks cannot be deleted, and would report all later calls of a shared agent.
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
  const othersIn = (listing: Exchange): string[] => agentIds(bodyJson(listing)).filter((agent) => !assigned.has(agent));
  const invoke = (agent: string): Promise<Exchange> => {
    const response = client.invoke(agent, { query: defaultQuery });
    pending.push(response);
    return response;
  };
  try {
    const { answering, remembering } = target.agents;
    const known = remembering === undefined || remembering === answering ? [] : [remembering];
    const suitable = await findWebhookAgent(known, invoke, timeouts);
    if (suitable !== null) return resultWith(suitable);
    const first = othersIn(discovery.listing);
    const listed = first.length > 0 ? first : othersIn(await client.send("GET", "/agents?page=1&limit=20"));
    return resultWith(await findWebhookAgent(listed, invoke, timeouts));
  } catch (error) {
    if (!(signal.aborted || error instanceof SkipError)) throw error;
  }
  return resultWith(null);
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
  const quickest = (): string | null =>
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
    if (quickest() !== null) return quickest();
    const latest = candidates.slice(-searchLimits.failedInSequence);
    if (latest.length >= searchLimits.failedInSequence && latest.every(hasFailed)) break;
    if (candidates.filter(({ exchange }) => exchange === null).length >= searchLimits.slow) break;
  }
  const untilMs = performance.now() + timeouts.lastMs;
  while (pending.size > 0 && quickest() === null && performance.now() < untilMs)
    await anyOrTimeout(untilMs - performance.now());
  return quickest() ?? candidates.find(isSuitable)?.agent ?? null;
}
