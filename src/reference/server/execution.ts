import { isStreaming, type Agent, type Entrypoint } from "../agents.ts";
import { apiError, type ApiError } from "../behaviour/errors.ts";
import type { InvokeInput, SchemaViolation, StreamParameters } from "../behaviour/execution.ts";
import { eventTypeByStage, type ExecutionStage } from "../behaviour/webhooks.ts";
import { fieldsOf, textOrNull } from "../json-edit.ts";
import type { RequestContext } from "./admission.ts";
import { addTurn } from "./state.ts";

export interface ExecutionRequest extends StreamParameters {
  readonly query: string;
  readonly session: string | null;
  readonly maxTokens: number | null;
}

export interface Execution extends Omit<InvokeInput, "elapsedMs" | "requestId"> {
  readonly processingMs: number;
  readonly timesOut: boolean;
}

export interface IncomingExecution {
  readonly agentId: string;
  readonly tag: string | null;
  readonly body: unknown;
  readonly violations: readonly SchemaViolation[];
}

export function validateExecution(context: RequestContext, request: IncomingExecution): ApiError | null {
  const { behaviour, agents } = context.state;
  const body = behaviour.validateBody(request.body, request.violations, context.endpoint);
  const agent = validateAgent(agents, request.agentId) ?? validateEntrypoint(context, request);
  return behaviour.chooseError(agent, body) ?? context.deferredError;
}

function validateEntrypoint({ endpoint, state }: RequestContext, request: IncomingExecution): ApiError | null {
  const agent = state.agents.get(request.agentId);
  if (agent === undefined || findEntrypoint(agent, request.tag, endpoint === "stream") !== undefined) return null;
  const wanted = endpoint === "stream" ? "streaming entrypoint" : "entrypoint that does not stream";
  return apiError(
    "entrypoint-not-found",
    request.tag === null ? `This agent has no ${wanted}.` : "This agent has no entrypoint of this tag.",
  );
}

/**
 * Finds the entrypoint with this tag. If `tag` is `null`, finds the first entrypoint that streams (`streams: true`) or
 * does not stream (`streams: false`).
 */
export function findEntrypoint(agent: Agent, tag: string | null, streams: boolean): Entrypoint | undefined {
  return agent.entrypoints.find((entrypoint) =>
    tag === null ? isStreaming(entrypoint) === streams : entrypoint.tag === tag,
  );
}

export const unknownAgentError = apiError("agent-not-found", "No agent has this id.");

export function validateAgent(agents: ReadonlyMap<string, Agent>, id: string): ApiError | null {
  return agents.has(id) ? null : unknownAgentError;
}

export function executeAgent(
  context: RequestContext,
  agent: Agent,
  request: ExecutionRequest,
  entrypoint: Entrypoint | undefined,
): Execution {
  const { state, endpoint, account, accountName } = context;
  const { behaviour, clock } = state;
  const { query, session } = request;
  const conversation =
    agent.remembers && session !== null
      ? addTurn(state, behaviour.conversationKey({ account: accountName, agent: agent.id, session, endpoint }), query)
      : { turn: 1, previousQuery: null };
  const full = agent.respond(query, conversation, entrypoint?.tag ?? "");
  const text = request.maxTokens === null ? full : behaviour.truncateText(full, request.maxTokens, endpoint);
  const usage = { prompt: behaviour.countTokens(query), completion: behaviour.countTokens(text) };
  const timesOut = agent.processingMs > behaviour.timeoutMs(agent);
  const processingMs = timesOut ? behaviour.timeoutMs(agent) : agent.processingMs;
  if (behaviour.updatesLastRequest(endpoint)) state.lastRequestMs.set(agent.id, clock.now());
  if (!timesOut && agent.failure.kind === "none") {
    behaviour.chargeTokens(account, usage.prompt + usage.completion, clock.now(), endpoint);
  }
  return { agent, text, ...conversation, usage, processingMs, timesOut };
}

/** Reads the body of an invoke or stream. Ignores a parameter that is no integer of 0 or more: `max_tokens: "5"`. */
export function readExecutionRequest(body: unknown): ExecutionRequest {
  const fields = fieldsOf(body);
  const parameters = fieldsOf(fields["parameters"]);
  const { query } = fields;
  return {
    query: typeof query === "string" ? query : query === undefined ? "" : JSON.stringify(query),
    session: textOrNull(fields["session_id"]),
    maxTokens: nonNegativeInteger(parameters["max_tokens"]),
    resumeFromIndex: nonNegativeInteger(parameters["resume_from_index"]) ?? 0,
    delayMs: nonNegativeInteger(parameters["stream_delay_ms"]),
    chunkSize: nonNegativeInteger(parameters["chunk_size"]) || null,
  };
}

function nonNegativeInteger(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

/** Emits the event of an execution's start. Returns its request id, and functions that emit the events of its end. */
export function emitExecutionStart(context: RequestContext, agent: Agent, input: unknown) {
  const { state, endpoint, arrivedMs } = context;
  const { behaviour, clock, outbox } = state;
  const requestId = behaviour.requestId(state.nextRequestNumber());
  const emit = (stage: ExecutionStage) =>
    outbox.emit({
      type: eventTypeByStage[stage.kind],
      agentId: agent.id,
      deploymentId: agent.deployment.id,
      data: behaviour.executionEventData({ requestId, input, endpoint, stage }),
    });
  emit({ kind: "invoked" });
  return {
    requestId,
    ended: (execution: Execution) =>
      behaviour.endStages(stageOf(execution, clock.now() - arrivedMs), agent.id).forEach(emit),
    disconnected: () => {
      if (behaviour.disconnectEvent() === null) return;
      emit({ kind: "failed", message: "The stream was stopped.", details: "The client left before its end." });
    },
  };
}

function stageOf({ agent, text, usage, timesOut, processingMs }: Execution, elapsedMs: number): ExecutionStage {
  if (timesOut) return { kind: "timeout", timeoutMs: processingMs };
  if (agent.failure.kind === "none") return { kind: "completed", text, usage, elapsedMs };
  const details = agent.failure.kind === "crash" ? "The agent crashed." : "The model is overloaded.";
  return { kind: "failed", message: "The agent failed to process the request.", details };
}
