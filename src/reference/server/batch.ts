import type { AsyncOperation, EntryResult } from "../behaviour/batches.ts";
import { fieldsOf } from "../json-edit.ts";
import { apiError, type ApiError } from "../api-error.ts";
import { failed, ok, type RouteResult } from "./response.ts";
import type { RequestContext } from "./admission.ts";
import { invoke } from "./handlers.ts";
import { disconnectSignal, sleep } from "./wait.ts";
import type { ServerState } from "./state.ts";
import { validateAgent } from "./execution.ts";

/** Endpoint 11: accepts a batch and returns the handle of its operation. */
export function submitBatch(state: ServerState, context: RequestContext, agentId: string, body: unknown): RouteResult {
  const { behaviour, clock, operations } = state;
  const invalid = behaviour.chooseError(validateAgent(state.agents, agentId), behaviour.validateBatch(body));
  const error = invalid ?? context.deferredError;
  if (error !== null) return failed(error);
  const entries = entriesOf(body);
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
  operations.put(accepted);
  void runEntries(state, context, accepted, entries);
  return ok(behaviour.handleBody(accepted));
}

/** Endpoint 10: the state of an operation. Operations of other keys count as unknown. */
export function checkOperation(state: ServerState, context: RequestContext, id: string): RouteResult {
  if (context.deferredError !== null) return failed(context.deferredError);
  const invalid = state.operations.find(id);
  return invalid === undefined || invalid.owner !== context.accountName
    ? failed(apiError("operation-not-found", "No operation has this id."))
    : ok(state.behaviour.operationBody(invalid));
}

/** Runs the entries in order, on the server's clock. Never rejects. */
async function runEntries(
  state: ServerState,
  context: RequestContext,
  accepted: AsyncOperation,
  entries: readonly unknown[],
): Promise<void> {
  const { behaviour, clock, operations } = state;
  await sleep(clock, behaviour.pendingMs(), null);
  let current: AsyncOperation = { ...accepted, status: "running", startedMs: clock.now() };
  operations.put(current);
  for (const [index, entry] of entries.entries()) {
    const result = await runEntry(state, context, accepted.agentId, index, entry);
    await sleep(clock, behaviour.entryMs(), null);
    current = { ...current, results: [...current.results, result] };
    operations.put(current);
  }
  const isFailed = current.results.every(({ kind }) => kind === "error");
  operations.put({ ...current, status: isFailed ? "failed" : "completed", endedMs: clock.now() });
}

async function runEntry(
  state: ServerState,
  context: RequestContext,
  agentId: string,
  index: number,
  entry: unknown,
): Promise<EntryResult> {
  const result = await invokeEntry(state, context, agentId, entry);
  if (result.kind === "json") return { kind: "success", index, body: result.value };
  const { cause, message } = result.error;
  return { kind: "error", index, code: state.behaviour.errorCode(cause, "batch"), message };
}

async function invokeEntry(
  state: ServerState,
  context: RequestContext,
  agentId: string,
  entry: unknown,
): Promise<RouteResult> {
  const nowMs = state.clock.now();
  const error = quotaError(state, context, nowMs);
  if (error !== null) return failed(error);
  try {
    const request = { agentId, tag: null, body: entry, violations: [] };
    return await invoke(state, { ...context, arrivedMs: nowMs }, disconnectSignal(), request);
  } catch {
    return failed(apiError("crash", "The server failed."));
  }
}

/** A batch counts as one request, but its entries fail when the month's tokens are used up. */
function quotaError({ behaviour }: ServerState, { account }: RequestContext, nowMs: number): ApiError | null {
  const { used, limit } = account.tokens(nowMs);
  return behaviour.needsTokens("batch") && used >= limit
    ? apiError("token-quota", "The tokens of this month are used up.")
    : null;
}

function entriesOf(body: unknown): readonly unknown[] {
  const { batch } = fieldsOf(body);
  return Array.isArray(batch) ? batch : [];
}
