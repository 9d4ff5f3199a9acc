import { setTimeout as sleep } from "node:timers/promises";

import { is2xx } from "../../base/http-status.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { assignedAgents, type Target } from "../../target/target.ts";
import type { Client } from "../send/client.ts";
import { defaultQuery } from "./answering-agent.ts";
import { SkipError } from "../skip-reason.ts";
import { agentIds } from "./discover-target.ts";
import type { Discovery } from "../probe.ts";

/**
 * Maximum response size. Each webhook receives the whole response, and long ones would fill the receiver's storage.
 */
const mostBytes = 16 * 1024;
/**
 * Limits of the search, because a key may have few requests: agents to invoke, slow ones to wait for, and failures in
 * sequence.
 */
const most = { asked: 6, slow: 3, failedInTurn: 2 } as const;
/**
 * Maximum response time: each webhook check waits for several responses of the agent. A slower agent is taken only if
 * there is no other.
 */
const mostMs = 3000;
/** Real time to wait for an agent before the next is invoked as well, and at the end for any of them. */
const standardPatience = { nextMs: 1000, lastMs: 5000 };

export const respondsQuickly = ({ sentMs, answer }: Exchange): boolean => answer.endMs - sentMs <= mostMs;

const isShort = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && (answer.body.kind === "none" || answer.body.bytes <= mostBytes);

/** A target with its webhook agent. */
export interface WebhookAgentResult {
  readonly target: Target;
  /** Settles once every invoked agent has responded. Until then, these requests hold slots and are not counted. */
  readonly pendingRequests: Promise<unknown>;
}

/**
 * Assigns an agent that only webhooks use, unless the user assigned one. It is the remembering agent, which few
 * requests use, or another one of the list. Webhooks cannot be deleted: on the main agent, each would receive a
 * delivery for each request that uses up limits.
 */
export async function withWebhookAgent(
  client: Client,
  target: Target,
  look: Discovery,
  {
    signal,
    patience = standardPatience,
  }: { readonly signal: AbortSignal; readonly patience?: typeof standardPatience },
): Promise<WebhookAgentResult> {
  const asked: Promise<unknown>[] = [];
  const quieted = (agent: string | null): WebhookAgentResult => ({
    target: agent === null ? target : withWebhooked(target, agent),
    pendingRequests: Promise.allSettled(asked),
  });
  if (target.agents.webhooked !== undefined) return quieted(null);
  const played: ReadonlySet<string> = new Set(assignedAgents(target));
  const others = (listing: Exchange): string[] => agentIds(bodyJson(listing)).filter((agent) => !played.has(agent));
  const ask = (agent: string): Promise<Exchange> => {
    const answer = client.invoke(agent, { query: defaultQuery });
    asked.push(answer);
    return answer;
  };
  try {
    const { answering, remembering } = target.agents;
    const known = remembering === undefined || remembering === answering ? [] : [remembering];
    const named = await findQuiet(known, ask, patience);
    if (named !== null) return quieted(named);
    const near = others(look.listing);
    const listed = near.length > 0 ? near : others(await client.send("GET", "/agents?page=1&limit=20"));
    return quieted(await findQuiet(listed, ask, patience));
  } catch (error) {
    if (!(signal.aborted || error instanceof SkipError)) throw error;
  }
  return quieted(null);
}

/** An agent that was invoked. */
interface Asked {
  readonly agent: string;
  /** `null` until the agent has responded. */
  exchange: Exchange | null;
}

/**
 * Finds the first agent with quick and short responses, else one with short responses. A slow agent does not block
 * the search: the next one is invoked at the same time.
 */
async function findQuiet(
  candidates: readonly string[],
  ask: (agent: string) => Promise<Exchange>,
  patience: typeof standardPatience,
): Promise<string | null> {
  const asked: Asked[] = [];
  const under = new Set<Promise<void>>();
  const came = ({ exchange }: Asked): boolean => exchange !== null;
  const isGood = ({ exchange }: Asked): boolean => exchange !== null && is2xx(statusOf(exchange)) && isShort(exchange);
  const best = (): string | null =>
    asked.find((each) => isGood(each) && each.exchange !== null && respondsQuickly(each.exchange))?.agent ?? null;
  const inTime = async (ms: number): Promise<void> => {
    const stop = new AbortController();
    const pause = sleep(ms, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    await Promise.race([pause, ...under]);
    stop.abort();
  };
  for (const agent of candidates.slice(0, most.asked)) {
    const one: Asked = { agent, exchange: null };
    asked.push(one);
    const ending = ask(agent)
      .then((exchange) => {
        one.exchange = exchange;
      })
      .finally(() => under.delete(ending));
    under.add(ending);
    await inTime(patience.nextMs);
    if (best() !== null) return best();
    const lately = asked.slice(-most.failedInTurn).filter(came);
    if (lately.length >= most.failedInTurn && lately.every((each) => !is2xx(each.exchange && statusOf(each.exchange))))
      break;
    if (asked.filter((each) => !isGood(each) && !came(each)).length >= most.slow) break;
  }
  const untilMs = performance.now() + patience.lastMs;
  while (under.size > 0 && best() === null && performance.now() < untilMs) await inTime(untilMs - performance.now());
  return best() ?? asked.find(isGood)?.agent ?? null;
}

const withWebhooked = (target: Target, webhooked: string): Target => ({
  ...target,
  agents: { ...target.agents, webhooked },
});
