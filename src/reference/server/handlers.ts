import type { Agent } from "../agents.ts";
import type { UsageInput } from "../behaviour/health-list-usage.ts";
import type { Account } from "../limits/account.ts";
import type { WindowName } from "../limits/windows.ts";
import { apiError } from "../api-error.ts";
import { failed, ok, type RouteResult } from "./response.ts";
import type { RequestContext } from "./admission.ts";
import {
  emitExecutionStart,
  findEntrypoint,
  readExecutionRequest,
  executeAgent,
  validateExecution,
  unknownAgentError,
  type IncomingExecution,
} from "./execution.ts";
import { sleep, type DisconnectSignal } from "./wait.ts";
import type { ServerState } from "./state.ts";

/** Endpoint 1: the agent's whole answer, or why there is none. */
export async function invoke(
  state: ServerState,
  context: RequestContext,
  client: DisconnectSignal,
  arrival: IncomingExecution,
): Promise<RouteResult> {
  const { behaviour, clock, agents } = state;
  const refused = validateExecution(state, context, arrival);
  const agent = agents.get(arrival.agentId);
  if (refused !== null || agent === undefined) return failed(refused ?? unknownAgentError);
  const turn = executeAgent(
    state,
    context,
    agent,
    readExecutionRequest(arrival.body),
    findEntrypoint(agent, arrival.tag, false),
  );
  const happening = emitExecutionStart(state, context, agent, arrival.body);
  if (turn.processingMs > 0) await sleep(clock, turn.processingMs, client);
  happening.ended(turn);
  if (turn.timesOut) return failed(apiError("timeout", "The agent did not answer within its timeout."));
  if (agent.failure.kind !== "none") return failed(apiError("crash", "The agent failed to answer."));
  const facts = {
    ...turn,
    elapsedMs: clock.now() - context.arrivedMs,
    requestId: happening.requestId,
  };
  return ok(behaviour.invokeBody(facts, behaviour.result(facts), behaviour.agentVersion(agent)));
}

/** Endpoint 3: an agent's health report. */
export function health(state: ServerState, context: RequestContext, agentId: string): RouteResult {
  const { behaviour, clock } = state;
  return ofAgent(state, context, agentId, (agent) => {
    const uptimeMs = clock.now() - state.startedMs;
    const lastRequestMs = state.lastRequestMs.get(agentId) ?? null;
    const version = behaviour.agentVersion(agent);
    return ok(behaviour.healthBody({ agent, version, uptimeMs, lastRequestMs }), agent.health);
  });
}

/** Endpoint 12: everything there is to know about one agent. */
export function describeAgent(state: ServerState, context: RequestContext, agentId: string): RouteResult {
  const { behaviour } = state;
  return ofAgent(state, context, agentId, (agent) => {
    const version = behaviour.agentVersion(agent);
    return ok(behaviour.agentDetailsBody({ agent, version, listItem: behaviour.listItem(agent, version) }));
  });
}

function ofAgent(
  { agents }: ServerState,
  { deferredError }: RequestContext,
  id: string,
  respond: (agent: Agent) => RouteResult,
): RouteResult {
  const agent = agents.get(id);
  if (agent === undefined) return failed(unknownAgentError);
  return deferredError === null ? respond(agent) : failed(deferredError);
}

/** Page and limit as the query string gives them. */
export interface ListQuery {
  readonly page?: number;
  readonly limit?: number;
}

/** Endpoint 4: one page of the agents. */
export function listAgents(state: ServerState, context: RequestContext, query: ListQuery): RouteResult {
  const { behaviour, agents } = state;
  if (context.deferredError !== null) return failed(context.deferredError);
  const all = [...agents.values()];
  const refused = behaviour.validatePage(query.page, query.limit, all.length);
  if (refused !== null) return failed(refused);
  const request = behaviour.effectivePage(query.page, query.limit);
  const items = behaviour
    .pageItems(all, request)
    .map((agent) => behaviour.listItem(agent, behaviour.agentVersion(agent)));
  return ok(behaviour.listBody({ ...request, items, total: all.length }));
}

/** Endpoint 5: what the key has used. */
export function usage(state: ServerState, { account, deferredError }: RequestContext): RouteResult {
  return deferredError === null ? ok(state.behaviour.usageBody(usageFacts(state, account))) : failed(deferredError);
}

/** Endpoint 9: what the key has used, and what it may. */
export function keyUsage(state: ServerState, { key, account, deferredError, lastUsedMs }: RequestContext): RouteResult {
  if (deferredError !== null || key === null)
    return failed(deferredError ?? apiError("missing-key", "A key is required."));
  const expiresAtMs = state.ring.find(key.key)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
  const facts = {
    ...usageFacts(state, account),
    key,
    lastUsedMs: lastUsedMs,
    expiresAtMs: Number.isFinite(expiresAtMs) ? expiresAtMs : null,
  };
  return ok(state.behaviour.keyUsageBody(facts));
}

function usageFacts({ behaviour, clock }: ServerState, account: Account): UsageInput {
  const nowMs = clock.now();
  const readings = account.windows(nowMs);
  const shown = behaviour.advertisedWindow(readings);
  const readingOf = (name: WindowName) => readings.find(({ window }) => window === name) ?? shown;
  return { hour: readingOf("hour"), minute: readingOf("minute"), tokens: account.tokens(nowMs), nowMs };
}
