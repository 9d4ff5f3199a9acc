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

/** Endpoint 1: runs an agent and returns its whole response, or an error. */
export async function invoke(
  state: ServerState,
  context: RequestContext,
  client: DisconnectSignal,
  request: IncomingExecution,
): Promise<RouteResult> {
  const { behaviour, clock, agents } = state;
  const error = validateExecution(state, context, request);
  const agent = agents.get(request.agentId);
  if (error !== null || agent === undefined) return failed(error ?? unknownAgentError);
  const execution = executeAgent(
    state,
    context,
    agent,
    readExecutionRequest(request.body),
    findEntrypoint(agent, request.tag, false),
  );
  const events = emitExecutionStart(state, context, agent, request.body);
  if (execution.processingMs > 0) await sleep(clock, execution.processingMs, client);
  events.ended(execution);
  if (execution.timesOut) return failed(apiError("timeout", "The agent did not answer within its timeout."));
  if (agent.failure.kind !== "none") return failed(apiError("crash", "The agent failed to answer."));
  const input = {
    ...execution,
    elapsedMs: clock.now() - context.arrivedMs,
    requestId: events.requestId,
  };
  return ok(behaviour.invokeBody(input, behaviour.result(input), behaviour.agentVersion(agent)));
}

/** Endpoint 3: an agent's health report. */
export function health(state: ServerState, context: RequestContext, agentId: string): RouteResult {
  const { behaviour, clock } = state;
  return forAgent(state, context, agentId, (agent) => {
    const uptimeMs = clock.now() - state.startedMs;
    const lastRequestMs = state.lastRequestMs.get(agentId) ?? null;
    const version = behaviour.agentVersion(agent);
    return ok(behaviour.healthBody({ agent, version, uptimeMs, lastRequestMs }), agent.health);
  });
}

/** Endpoint 12: the details of an agent. */
export function describeAgent(state: ServerState, context: RequestContext, agentId: string): RouteResult {
  const { behaviour } = state;
  return forAgent(state, context, agentId, (agent) => {
    const version = behaviour.agentVersion(agent);
    return ok(behaviour.agentDetailsBody({ agent, version, listItem: behaviour.listItem(agent, version) }));
  });
}

function forAgent(
  { agents }: ServerState,
  { deferredError }: RequestContext,
  id: string,
  respond: (agent: Agent) => RouteResult,
): RouteResult {
  const agent = agents.get(id);
  if (agent === undefined) return failed(unknownAgentError);
  return deferredError === null ? respond(agent) : failed(deferredError);
}

/** Page and limit from the query string. */
export interface ListQuery {
  readonly page?: number;
  readonly limit?: number;
}

/** Endpoint 4: a page of the list of agents. */
export function listAgents(state: ServerState, context: RequestContext, query: ListQuery): RouteResult {
  const { behaviour, agents } = state;
  if (context.deferredError !== null) return failed(context.deferredError);
  const all = [...agents.values()];
  const error = behaviour.validatePage(query.page, query.limit, all.length);
  if (error !== null) return failed(error);
  const request = behaviour.effectivePage(query.page, query.limit);
  const items = behaviour
    .pageItems(all, request)
    .map((agent) => behaviour.listItem(agent, behaviour.agentVersion(agent)));
  return ok(behaviour.listBody({ ...request, items, total: all.length }));
}

/** Endpoint 5: the usage of a key. */
export function usage(state: ServerState, { account, deferredError }: RequestContext): RouteResult {
  return deferredError === null ? ok(state.behaviour.usageBody(usageInput(state, account))) : failed(deferredError);
}

/** Endpoint 9: the usage of a key, with its permissions. */
export function keyUsage(state: ServerState, { key, account, deferredError, lastUsedMs }: RequestContext): RouteResult {
  if (deferredError !== null || key === null)
    return failed(deferredError ?? apiError("missing-key", "A key is required."));
  const expiresAtMs = state.ring.find(key.key)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
  const input = {
    ...usageInput(state, account),
    key,
    lastUsedMs: lastUsedMs,
    expiresAtMs: Number.isFinite(expiresAtMs) ? expiresAtMs : null,
  };
  return ok(state.behaviour.keyUsageBody(input));
}

function usageInput({ behaviour, clock }: ServerState, account: Account): UsageInput {
  const nowMs = clock.now();
  const windows = account.windows(nowMs);
  const advertised = behaviour.advertisedWindow(windows);
  const windowOf = (name: WindowName) => windows.find(({ window }) => window === name) ?? advertised;
  return { hour: windowOf("hour"), minute: windowOf("minute"), tokens: account.tokens(nowMs), nowMs };
}
