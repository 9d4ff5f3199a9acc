import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { RequestBudgetExhausted, type Client } from "../send/client.ts";
import { defaultQuery } from "./greeting.ts";
import { WaitRefused } from "../time/wait-budget.ts";

/** Maximum number of agents to invoke: a key may have few requests. */
const mostTried = 2;

export interface AgentAttempt {
  readonly agent: string;
  readonly exchange: Exchange;
}

/**
 * Invokes agents until one responds with an accepted status. Returns the last one tried if none does, `null` if none
 * could be invoked.
 */
export async function findAnsweringAgent(
  client: Client,
  agents: readonly string[],
  isAnswer: (status: number | null) => boolean,
): Promise<AgentAttempt | null> {
  let last: AgentAttempt | null = null;
  try {
    for (const agent of agents.slice(0, mostTried)) {
      const exchange = await client.invoke(agent, { query: defaultQuery });
      last = { agent, exchange };
      if (isAnswer(statusOf(exchange))) break;
    }
  } catch (error) {
    if (!isBudgetExhausted(error)) throw error;
  }
  return last;
}

/** Whether a budget of requests or waiting time is used up. Probes report this themselves. */
export const isBudgetExhausted = (error: unknown): error is RequestBudgetExhausted | WaitRefused =>
  error instanceof RequestBudgetExhausted || error instanceof WaitRefused;
