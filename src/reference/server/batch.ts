import type { AsyncOperation, EntryResult } from "../behaviour/batches.ts";
import { fieldsOf } from "../json-edit.ts";
import { apiError, type ApiError } from "../api-error.ts";
import { failed, ok, type RouteResult } from "./response.ts";
import type { RequestContext } from "./admission.ts";
import { handleInvoke } from "./handlers.ts";
import { disconnectSignal, sleep } from "./wait.ts";
import { validateAgent } from "./execution.ts";

/** Accepts a batch, and returns the operation that processes it. Source: Endpoints, "11. Batch submission". */
export const submitBatch = (context: RequestContext, agentId: string, body: unknown): RouteResult =>
  acceptEntries(context, agentId, entriesOf(body), context.state.behaviour.validateBatch(body));

/** Accepts the body of an invoke, and returns the operation that processes it. Source: Endpoints, 10. */
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

/** Handles `GET /operations/{operation_id}`. An operation of another key counts as unknown. */
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

/** Returns an error if the month's tokens are used up. This is the only limit for the entries of a batch. */
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
