import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import type { Client } from "../send/client.ts";
import { isBudgetExhausted } from "../skip-reason.ts";

/** The query to send if its content does not matter. It is short, because tokens cost money. */
export const defaultQuery = "Hello. Please answer in a few words.";

/** Maximum number of agents that the search invokes. More invokes could use up the small limit of a key. */
const maxInvokedAgents = 2;

export interface AgentAttempt {
  readonly agent: string;
  readonly exchange: Exchange;
}

/**
 * Invokes up to two agents until one responds with an accepted status. Returns the last agent that was invoked, or
 * `null` if none could be invoked.
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
