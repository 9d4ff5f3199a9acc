import { bodyJson, type Exchange, statusOf } from "../evidence/exchange.ts";
import type { Target } from "../target/target.ts";
import { BudgetSpent, type Client } from "./client.ts";
import { agentIds } from "./look.ts";
import type { Look } from "./probe.ts";
import { WaitRefused } from "./wait-budget.ts";

/** So many are invoked, until one answers: a small key has few requests. */
const mostTried = 2;

/**
 * The target with an agent of its own for webhooks, where nobody named one and the list has another that answers. Webhooks cannot be deleted:
 * tied to the agent with which limits are used up, each of them would get a delivery for each of those requests.
 */
export async function withQuietAgent(client: Client, target: Target, look: Look, signal: AbortSignal): Promise<Target> {
  if (target.agents.webhooked !== undefined) return target;
  const played: ReadonlySet<string> = new Set(Object.values(target.agents));
  const others = (listing: Exchange): string[] => agentIds(bodyJson(listing)).filter((agent) => !played.has(agent));
  try {
    const near = others(look.listing);
    const candidates = near.length > 0 ? near : others(await client.send("GET", "/agents?page=1&limit=20"));
    for (const agent of candidates.slice(0, mostTried)) {
      const status = statusOf(await client.invoke(agent, { query: "Hello. Please answer in a few words." })) ?? 0;
      if (status >= 200 && status < 300) return { ...target, agents: { ...target.agents, webhooked: agent } };
    }
  } catch (error) {
    // What the run may not send or wait for any more, its probes will say.
    if (!(signal.aborted || error instanceof BudgetSpent || error instanceof WaitRefused)) throw error;
  }
  return target;
}
