import type { Agent } from "../agents.ts";
import type { UsageFacts } from "../behaviour/reading.ts";
import type { Account } from "../limits/account.ts";
import type { WindowName } from "../limits/windows.ts";
import { trouble } from "../trouble.ts";
import { failed, ok, type Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import { beginTurn } from "./happenings.ts";
import { pause, type Departure } from "./pause.ts";
import type { ServerState } from "./state.ts";
import { entrypointOf, readTurnRequest, takeTurn, turnTrouble, unknownAgent, type TurnArrival } from "./turn.ts";

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
  if (refused !== null || agent === undefined) return failed(refused ?? unknownAgent);
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
  const { behaviour, clock } = state;
  return ofAgent(state, exchange, agentId, (agent) => {
    const uptimeMs = clock.now() - state.startedMs;
    const lastRequestMs = state.lastRequestMs.get(agentId) ?? null;
    const version = behaviour.agentVersion(agent);
    return ok(behaviour.healthBody({ agent, version, uptimeMs, lastRequestMs }), agent.health);
  });
}

/** Endpoint 12: everything there is to know about one agent. */
export function describeAgent(state: ServerState, exchange: Exchange, agentId: string): Answer {
  const { behaviour } = state;
  return ofAgent(state, exchange, agentId, (agent) => {
    const version = behaviour.agentVersion(agent);
    return ok(behaviour.describeBody({ agent, version, listItem: behaviour.listItem(agent, version) }));
  });
}

function ofAgent(
  { agents }: ServerState,
  { refusedLate }: Exchange,
  id: string,
  respond: (agent: Agent) => Answer,
): Answer {
  const agent = agents.get(id);
  if (agent === undefined) return failed(unknownAgent);
  return refusedLate === null ? respond(agent) : failed(refusedLate);
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
export function usage(state: ServerState, { account, refusedLate }: Exchange): Answer {
  return refusedLate === null ? ok(state.behaviour.usageBody(usageFacts(state, account))) : failed(refusedLate);
}

/** Endpoint 9: what the key has used, and what it may. */
export function keyUsage(state: ServerState, { key, account, refusedLate, previousMs }: Exchange): Answer {
  if (refusedLate !== null || key === null) return failed(refusedLate ?? trouble("missing-key", "A key is required."));
  const expiresAtMs = state.ring.find(key.key)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
  const facts = {
    ...usageFacts(state, account),
    key,
    lastUsedMs: previousMs,
    expiresAtMs: Number.isFinite(expiresAtMs) ? expiresAtMs : null,
  };
  return ok(state.behaviour.keyUsageBody(facts));
}

function usageFacts({ behaviour, clock }: ServerState, account: Account): UsageFacts {
  const nowMs = clock.now();
  const readings = account.readings(nowMs);
  const shown = behaviour.shownReading(readings);
  const readingOf = (name: WindowName) => readings.find(({ window }) => window === name) ?? shown;
  return { hour: readingOf("hour"), minute: readingOf("minute"), tokens: account.tokens(nowMs), nowMs };
}
