import type { Agent } from "../agents.ts";
import type { WebhookRequest } from "../behaviour/webhooks.ts";
import type { Alert } from "../behaviour/alerts.ts";
import type { UsageInput } from "../behaviour/health-list-usage.ts";
import type { AsyncOperation, EntryResult } from "../behaviour/batches.ts";
import type { WindowName } from "../limits/windows.ts";
import { apiError, type ApiError } from "../behaviour/errors.ts";
import type { Webhook } from "../webhooks/store.ts";
import { failed, ok, type RouteResult } from "./http.ts";
import type { RequestContext } from "./admission.ts";
import {
  emitExecutionStart,
  executeAgent,
  findEntrypoint,
  type IncomingExecution,
  readExecutionRequest,
  unknownAgentError,
  validateAgent,
  validateExecution,
} from "./execution.ts";
import { disconnectSignal, sleep } from "./wait.ts";
import { fieldsOf } from "../json-edit.ts";

export async function handleInvoke(context: RequestContext, request: IncomingExecution): Promise<RouteResult> {
  const { behaviour, clock, agents } = context.state;
  const error = validateExecution(context, request);
  const agent = agents.get(request.agentId);
  if (error !== null || agent === undefined) return failed(error ?? unknownAgentError);
  const entrypoint = findEntrypoint(agent, request.tag, false);
  const execution = executeAgent(context, agent, readExecutionRequest(request.body), entrypoint);
  const events = emitExecutionStart(context, agent, request.body);
  if (execution.processingMs > 0) await sleep(clock, execution.processingMs, context.client);
  events.ended(execution);
  if (execution.timesOut) return failed(apiError("timeout", "The agent did not respond within its timeout."));
  if (agent.failure.kind !== "none") return failed(apiError("crash", "The agent failed."));
  const input = { ...execution, elapsedMs: clock.now() - context.arrivedMs, requestId: events.requestId };
  return ok(behaviour.invokeBody(input, behaviour.invokeResult(input), behaviour.agentVersion(agent)));
}

export function handleHealth(context: RequestContext, agentId: string): RouteResult {
  const { behaviour, clock, startedMs, lastRequestMs: lastRequests } = context.state;
  return forAgent(context, agentId, (agent) => {
    const uptimeMs = clock.now() - startedMs;
    const lastRequestMs = lastRequests.get(agentId) ?? null;
    const version = behaviour.agentVersion(agent);
    return ok(behaviour.healthBody({ agent, version, uptimeMs, lastRequestMs }), agent.health);
  });
}

export function describeAgent(context: RequestContext, agentId: string): RouteResult {
  const { behaviour } = context.state;
  return forAgent(context, agentId, (agent) => {
    const version = behaviour.agentVersion(agent);
    return ok(behaviour.agentDetailsBody({ agent, version, listItem: behaviour.listItem(agent, version) }));
  });
}

function forAgent(
  { state, deferredError }: RequestContext,
  id: string,
  respond: (agent: Agent) => RouteResult,
): RouteResult {
  const agent = state.agents.get(id);
  if (agent === undefined) return failed(unknownAgentError);
  return deferredError === null ? respond(agent) : failed(deferredError);
}

export interface ListQuery {
  readonly page?: number;
  readonly limit?: number;
}

export function listAgents({ state, deferredError }: RequestContext, query: ListQuery): RouteResult {
  const { behaviour, agents } = state;
  if (deferredError !== null) return failed(deferredError);
  const all = [...agents.values()];
  const error = behaviour.validatePage(query.page, query.limit, all.length);
  if (error !== null) return failed(error);
  const request = behaviour.effectivePage(query.page, query.limit);
  const items = behaviour
    .pageItems(all, request)
    .map((agent) => behaviour.listItem(agent, behaviour.agentVersion(agent)));
  return ok(behaviour.listBody({ ...request, items, total: all.length }));
}

export function handleUsage(context: RequestContext): RouteResult {
  const { state, deferredError } = context;
  return deferredError === null ? ok(state.behaviour.usageBody(usageInput(context))) : failed(deferredError);
}

const missingKeyError = apiError("missing-key", "A key is required.");

export function handleKeyUsage(context: RequestContext): RouteResult {
  const { state, key, deferredError, lastUsedMs } = context;
  if (deferredError !== null || key === null) return failed(deferredError ?? missingKeyError);
  const expiresAtMs = state.ring.find(key.key)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
  const input = {
    ...usageInput(context),
    key,
    lastUsedMs,
    expiresAtMs: Number.isFinite(expiresAtMs) ? expiresAtMs : null,
  };
  return ok(state.behaviour.keyUsageBody(input));
}

function usageInput({ account, state: { behaviour, clock, leftOut } }: RequestContext): UsageInput {
  const nowMs = clock.now();
  const windows = account.windows(nowMs);
  const advertised = behaviour.advertisedWindow(windows);
  const leftOutCount = leftOut.count(account, nowMs);
  const windowOf = (name: WindowName) => {
    const found = windows.find(({ window }) => window === name) ?? advertised;
    return leftOutCount === 0 ? found : { ...found, remaining: Math.min(found.limit, found.remaining + leftOutCount) };
  };
  return { hour: windowOf("hour"), minute: windowOf("minute"), tokens: behaviour.tokenCount(account, nowMs), nowMs };
}

export function createWebhook(context: RequestContext, body: unknown): RouteResult {
  const { key, deferredError, state } = context;
  const { behaviour, outbox } = state;
  const request = behaviour.readWebhookRequest(body);
  const invalid = behaviour.validateWebhook(body, (url) => outbox.addressRefusal(url));
  const error = invalid ?? validateAgentAccess(context, request) ?? deferredError;
  if (error !== null || key === null) return failed(error ?? missingKeyError);
  return ok(behaviour.webhookBody(outbox.add({ ...request, headers: {}, owner: key.name })));
}

function validateAgentAccess(
  { key, endpoint, state: { agents, behaviour } }: RequestContext,
  { agentId }: WebhookRequest,
): ApiError | null {
  // Without an `agentId`, the webhook gets the events of all agents. Then the empty id makes `permits` reject a key that
  // is limited to some agents.
  const request = { endpoint, agentId: agentId ?? "", address: "", isSigned: false };
  if (key !== null && !behaviour.permits({ ...key, allowedIps: null }, request))
    return apiError("forbidden", "This key may create webhooks for its own agents only: name one of them as agent_id.");
  return agentId === null ? null : validateAgent(agents, agentId);
}

export function listDeliveries(context: RequestContext, id: string): RouteResult {
  const { behaviour, outbox } = context.state;
  return forWebhook(context, id, (webhook) => behaviour.deliveriesBody(webhook, outbox.deliveriesOf(id)));
}

export function webhookMetrics(context: RequestContext, id: string): RouteResult {
  const { behaviour, outbox } = context.state;
  return forWebhook(context, id, (webhook) => behaviour.metricsBody(webhook, outbox.totalsOf(id)));
}

function forWebhook(
  { key, deferredError, state }: RequestContext,
  id: string,
  respond: (webhook: Webhook) => unknown,
): RouteResult {
  if (deferredError !== null) return failed(deferredError);
  const webhook = state.outbox.find(id);
  return webhook === undefined || key === null || !state.behaviour.showsWebhook(webhook, key)
    ? failed(apiError("webhook-not-found", "No webhook has this id."))
    : ok(respond(webhook));
}

export function createAlert({ key, deferredError, state }: RequestContext, body: unknown): RouteResult {
  const { alerts, behaviour, clock, outbox } = state;
  const error = behaviour.validateAlert(body, (url) => outbox.addressRefusal(url)) ?? deferredError;
  if (error !== null || key === null) return failed(error ?? missingKeyError);
  const id = behaviour.alertId(alerts.count + 1);
  const alert: Alert = { id, owner: key.name, ...behaviour.readAlertRequest(body), createdMs: clock.now() };
  alerts.add(alert);
  return ok(behaviour.alertBody(alert));
}

/** Starts an operation that processes a batch. Returns the operation's handle. Source: Endpoints, "11. Batch submission". */
export const submitBatch = (context: RequestContext, agentId: string, body: unknown): RouteResult =>
  acceptEntries(context, agentId, entriesOf(body), context.state.behaviour.validateBatch(body));

/** Starts an operation that invokes an agent once. Returns the operation's handle. Source: Endpoints, 10. */
export const startOperation = (context: RequestContext, agentId: string, body: unknown): RouteResult =>
  acceptEntries(context, agentId, [body], context.state.behaviour.validateOperation(body));

function acceptEntries(
  context: RequestContext,
  agentId: string,
  entries: readonly unknown[],
  bodyError: ApiError | null,
): RouteResult {
  const { state } = context;
  const { behaviour, clock, operations } = state;
  const invalid = behaviour.chooseError(validateAgent(state.agents, agentId), bodyError);
  const error = invalid ?? context.deferredError;
  if (error !== null) return failed(error);
  const accepted: AsyncOperation = {
    id: behaviour.operationId(state.nextRequestNumber()),
    owner: context.accountName,
    agentId,
    status: "pending",
    createdMs: clock.now(),
    startedMs: null,
    endedMs: null,
    total: entries.length,
    results: [],
  };
  operations.set(accepted.id, accepted);
  void runEntries(context, accepted, entries);
  return ok(behaviour.handleBody(accepted));
}

/** Handles `GET /operations/{operation_id}`. Responds with 404 unless the key's own account started the operation. */
export function checkOperation({ state, deferredError, accountName, key }: RequestContext, id: string): RouteResult {
  if (deferredError !== null) return failed(deferredError);
  const operation = state.operations.get(id);
  return operation !== undefined && state.behaviour.showsOperation(operation, accountName, key)
    ? ok(state.behaviour.operationBody(operation))
    : failed(apiError("operation-not-found", "No operation has this id."));
}

async function runEntries(
  context: RequestContext,
  accepted: AsyncOperation,
  entries: readonly unknown[],
): Promise<void> {
  const { behaviour, clock, operations } = context.state;
  await sleep(clock, behaviour.pendingMs(), null);
  let current: AsyncOperation = { ...accepted, status: "running", startedMs: clock.now() };
  operations.set(current.id, current);
  for (const [index, entry] of entries.entries()) {
    const result = entryResult(context, index, await invokeEntry(context, accepted.agentId, entry));
    await sleep(clock, behaviour.entryMs(), null);
    current = { ...current, results: [...current.results, result] };
    operations.set(current.id, current);
  }
  const isFailed = current.results.every(({ kind }) => kind === "error");
  operations.set(current.id, { ...current, status: isFailed ? "failed" : "completed", endedMs: clock.now() });
}

function entryResult({ state }: RequestContext, index: number, result: RouteResult): EntryResult {
  if (result.kind === "json") return { kind: "success", index, body: result.value };
  const { cause, message } = result.error;
  return { kind: "error", index, code: state.behaviour.errorCode(cause, "batch"), message };
}

async function invokeEntry(context: RequestContext, agentId: string, body: unknown): Promise<RouteResult> {
  const arrivedMs = context.state.clock.now();
  const error = quotaError(context, arrivedMs);
  if (error !== null) return failed(error);
  try {
    const entryContext = { ...context, arrivedMs, client: disconnectSignal() };
    return await handleInvoke(entryContext, { agentId, tag: null, body, violations: [] });
  } catch {
    return failed(apiError("crash", "The server failed."));
  }
}

/** Returns an error if the month's tokens are used up. The server checks no other limit for entries of an operation. */
function quotaError({ account, endpoint, state }: RequestContext, nowMs: number): ApiError | null {
  const { used, limit } = state.behaviour.tokenCount(account, nowMs);
  return state.behaviour.needsTokens(endpoint) && used >= limit
    ? apiError("token-quota", "The tokens of this month are used up.")
    : null;
}

function entriesOf(body: unknown): readonly unknown[] {
  const { batch } = fieldsOf(body);
  return Array.isArray(batch) ? batch : [];
}
