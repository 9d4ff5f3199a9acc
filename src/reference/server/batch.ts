import type { AsyncOperation, EntryResult } from "../behaviour/batches.ts";
import { fieldsOf } from "../json-edit.ts";
import { apiError, type ApiError } from "../api-error.ts";
import { failed, ok, type RouteResult } from "./response.ts";
import type { RequestContext } from "./admission.ts";
import { invoke } from "./handlers.ts";
import { disconnectSignal, sleep } from "./wait.ts";
import type { ServerState } from "./state.ts";
import { validateAgent } from "./execution.ts";

/** Endpoint 11: takes a batch and answers with the handle of the operation that works on it. */
export function submitBatch(state: ServerState, context: RequestContext, agentId: string, body: unknown): RouteResult {
  const { behaviour, clock, operations } = state;
  const found = behaviour.chooseError(validateAgent(state.agents, agentId), behaviour.validateBatch(body));
  const refused = found ?? context.deferredError;
  if (refused !== null) return failed(refused);
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
  void workOff(state, context, accepted, entries);
  return ok(behaviour.handleBody(accepted));
}

/** Endpoint 10: how far an operation is. One of another key is as good as none. */
export function checkOperation(state: ServerState, context: RequestContext, id: string): RouteResult {
  if (context.deferredError !== null) return failed(context.deferredError);
  const found = state.operations.find(id);
  return found === undefined || found.owner !== context.accountName
    ? failed(apiError("operation-not-found", "No operation has this id."))
    : ok(state.behaviour.operationBody(found));
}

/** Does one entry after the other, on the clock. Never rejects. */
async function workOff(
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
    const result = await doEntry(state, context, accepted.agentId, index, entry);
    await sleep(clock, behaviour.entryMs(), null);
    current = { ...current, results: [...current.results, result] };
    operations.put(current);
  }
  const isFailed = current.results.every(({ kind }) => kind === "error");
  operations.put({ ...current, status: isFailed ? "failed" : "completed", endedMs: clock.now() });
}

async function doEntry(
  state: ServerState,
  context: RequestContext,
  agentId: string,
  index: number,
  entry: unknown,
): Promise<EntryResult> {
  const given = await answerOf(state, context, agentId, entry);
  if (given.kind === "json") return { kind: "success", index, body: given.value };
  const { cause, message } = given.trouble;
  return { kind: "error", index, code: state.behaviour.errorCode(cause, "batch"), message };
}

async function answerOf(
  state: ServerState,
  context: RequestContext,
  agentId: string,
  entry: unknown,
): Promise<RouteResult> {
  const nowMs = state.clock.now();
  const spent = quotaTrouble(state, context, nowMs);
  if (spent !== null) return failed(spent);
  try {
    const arrival = { agentId, tag: null, body: entry, violations: [] };
    return await invoke(state, { ...context, arrivedMs: nowMs }, disconnectSignal(), arrival);
  } catch {
    return failed(apiError("crash", "The server failed."));
  }
}

/** A batch is admitted as one request; its entries stop where the month's tokens do. */
function quotaTrouble({ behaviour }: ServerState, { account }: RequestContext, nowMs: number): ApiError | null {
  const { used, limit } = account.tokens(nowMs);
  return behaviour.needsTokens("batch") && used >= limit
    ? apiError("token-quota", "The tokens of this month are used up.")
    : null;
}

function entriesOf(body: unknown): readonly unknown[] {
  const { batch } = fieldsOf(body);
  return Array.isArray(batch) ? batch : [];
}
