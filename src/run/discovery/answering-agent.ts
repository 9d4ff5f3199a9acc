import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { RequestBudgetExhausted, type Client } from "../send/client.ts";
import { defaultQuery } from "./greeting.ts";
import { WaitRefused } from "../time/wait-budget.ts";

/** So many agents are invoked until one answers as it should: a small key has few requests. */
const mostTried = 2;

export interface AgentAttempt {
  readonly agent: string;
  readonly exchange: Exchange;
}

/** The first agent with such a status, or else the last one tried; `null` where none could be. */
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

/** Whether the run may not send or wait for something any more: its probes will say so. */
export const isBudgetExhausted = (error: unknown): error is RequestBudgetExhausted | WaitRefused =>
  error instanceof RequestBudgetExhausted || error instanceof WaitRefused;
