import { type Exchange, statusOf } from "../evidence/exchange.ts";
import { BudgetSpent, type Client } from "./client.ts";
import { greeting } from "./greeting.ts";
import { WaitRefused } from "./wait-budget.ts";

/** So many agents are invoked until one answers as it should: a small key has few requests. */
const mostTried = 2;

export interface Invoked {
  readonly agent: string;
  readonly exchange: Exchange;
}

/** The first agent with such a status, or else the last one tried; `null` where none could be. */
export async function findAnswering(
  client: Client,
  agents: readonly string[],
  isAnswer: (status: number | null) => boolean,
): Promise<Invoked | null> {
  let last: Invoked | null = null;
  try {
    for (const agent of agents.slice(0, mostTried)) {
      const exchange = await client.invoke(agent, { query: greeting });
      last = { agent, exchange };
      if (isAnswer(statusOf(exchange))) break;
    }
  } catch (error) {
    if (!isSpent(error)) throw error;
  }
  return last;
}

/** Whether the run may not send or wait for something any more: its probes will say so. */
export const isSpent = (error: unknown): error is BudgetSpent | WaitRefused =>
  error instanceof BudgetSpent || error instanceof WaitRefused;
