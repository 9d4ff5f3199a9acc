import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import type { Client } from "../send/client.ts";
import { isBudgetExhausted } from "../skip-reason.ts";

/** The query of an invoke whose content does not matter. It asks for few words, because tokens cost money. */
export const defaultQuery = "Hello. Please answer in a few words.";

/**
 * Maximum number of agents that the search for a working agent invokes. More invokes could use up the small limit of a
 * key.
 */
const maxInvokedAgents = 2;

export interface AgentAttempt {
  readonly agent: string;
  readonly exchange: Exchange;
}

/**
 * Invokes the first two agents in turn, until one responds with a status for which `isAnswer` is true. Returns the last
 * agent that was invoked; `null` if the run had no request left for the first.
 */
export async function findAnsweringAgent(
  client: Client,
  agents: readonly string[],
  isAnswer: (status: number | null) => boolean,
): Promise<AgentAttempt | null> {
  let last: AgentAttempt | null = null;
  try {
    for (const agent of agents.slice(0, maxInvokedAgents)) {
      const exchange = await client.invoke(agent, { query: defaultQuery });
      last = { agent, exchange };
      if (isAnswer(statusOf(exchange))) break;
    }
  } catch (error) {
    if (!isBudgetExhausted(error)) throw error;
  }
  return last;
}
