import { trouble } from "../trouble.ts";
import { failed, ok, type Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import { beginTurn } from "./happenings.ts";
import { pause, type Departure } from "./pause.ts";
import type { ServerState } from "./state.ts";
import { agentTrouble, entrypointOf, readTurnRequest, takeTurn, turnTrouble, type TurnArrival } from "./turn.ts";

/** Endpoint 1: the agent's whole answer, or why there is none. */
export async function invoke(
  state: ServerState,
  exchange: Exchange,
  client: Departure,
  arrival: TurnArrival,
): Promise<Answer> {
  const { behaviour, clock, agents } = state;
  const refused = turnTrouble(state, exchange, arrival);
  const agent = agents.get(arrival.agentId);
  if (refused !== null || agent === undefined) return failed(refused ?? trouble("agent-not-found", "No such agent."));
  const turn = takeTurn(state, exchange, agent, readTurnRequest(arrival.body), entrypointOf(agent, arrival.tag, false));
  const happening = beginTurn(state, exchange, agent, arrival.body);
  if (turn.thinksMs > 0) await pause(clock, turn.thinksMs, client);
  happening.ended(turn);
  if (turn.timesOut) return failed(trouble("timeout", "The agent did not answer within its timeout."));
  if (agent.failure.kind !== "none") return failed(trouble("crash", "The agent failed to answer."));
  const facts = {
    ...turn,
    elapsedMs: clock.now() - exchange.arrivedMs,
    requestId: happening.requestId,
  };
  return ok(behaviour.invokeBody(facts, behaviour.result(facts), behaviour.agentVersion(agent)));
}

/** Endpoint 3: an agent's health report. */
export function health(state: ServerState, exchange: Exchange, agentId: string): Answer {
  const { behaviour, clock, agents } = state;
  const agent = agents.get(agentId);
  const refused = agentTrouble(agents, agentId) ?? exchange.refusedLate;
  if (refused !== null || agent === undefined) return failed(refused ?? trouble("agent-not-found", "No such agent."));
  return ok(
    behaviour.healthBody({
      agent,
      version: behaviour.agentVersion(agent),
      uptimeMs: clock.now() - state.startedMs,
      lastRequestMs: state.lastRequestMs.get(agentId) ?? null,
    }),
    agent.health,
  );
}

/** Page and limit as the query string gives them. */
export interface ListQuery {
  readonly page?: number;
  readonly limit?: number;
}

/** Endpoint 4: one page of the agents. */
export function listAgents(state: ServerState, exchange: Exchange, query: ListQuery): Answer {
  const { behaviour, agents } = state;
  if (exchange.refusedLate !== null) return failed(exchange.refusedLate);
  const all = [...agents.values()];
  const refused = behaviour.pageTrouble(query.page, query.limit, all.length);
  if (refused !== null) return failed(refused);
  const request = behaviour.pageOf(query.page, query.limit);
  const items = behaviour.listed(all, request).map((agent) => behaviour.listItem(agent, behaviour.agentVersion(agent)));
  return ok(behaviour.listBody({ ...request, items, total: all.length }));
}

/** Endpoint 5: what the key has used. */
export function usage(state: ServerState, exchange: Exchange): Answer {
  const { behaviour, clock } = state;
  if (exchange.refusedLate !== null) return failed(exchange.refusedLate);
  const nowMs = clock.now();
  const readings = exchange.account.readings(nowMs);
  const shown = behaviour.shownReading(readings);
  const hour = readings.find(({ window }) => window === "hour") ?? shown;
  const minute = readings.find(({ window }) => window === "minute") ?? shown;
  return ok(behaviour.usageBody({ hour, minute, tokens: exchange.account.tokens(nowMs), nowMs }));
}
