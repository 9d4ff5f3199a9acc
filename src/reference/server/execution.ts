import { isStreaming, type Agent, type Entrypoint } from "../agents.ts";
import { apiError, type ApiError } from "../api-error.ts";
import type { SchemaViolation, TokenUsage } from "../behaviour/invoke.ts";
import { eventTypeByStage, type ExecutionStage } from "../behaviour/webhooks.ts";
import { fieldsOf } from "../json-edit.ts";
import type { RequestContext } from "./admission.ts";
import type { ServerState } from "./state.ts";

/** What an invoke or a stream asks for, read from a body that passed. */
export interface ExecutionRequest {
  readonly query: string;
  readonly session: string | null;
  readonly maxTokens: number | null;
  readonly resumeFromIndex: number;
  readonly delayMs: number | null;
  readonly chunkSize: number | null;
}

/** What an agent says in answer. */
export interface Execution {
  readonly agent: Agent;
  readonly text: string;
  readonly turn: number;
  readonly previousQuery: string | null;
  readonly usage: TokenUsage;
  /** Milliseconds it thinks, at most its timeout. */
  readonly processingMs: number;
  readonly timesOut: boolean;
}

/** What came with a request for a turn. */
export interface IncomingExecution {
  readonly agentId: string;
  /** Tag of the entrypoint that is asked for; `null` for the first that fits. */
  readonly tag: string | null;
  readonly body: unknown;
  readonly violations: readonly SchemaViolation[];
}

/** What is wrong with a request for a turn: its agent, its body or (where that is told last) its key. */
export function validateExecution(
  state: ServerState,
  context: RequestContext,
  arrival: IncomingExecution,
): ApiError | null {
  const { behaviour, agents } = state;
  const body = behaviour.validateBody(arrival.body, arrival.violations, context.operation);
  const agent = validateAgent(agents, arrival.agentId) ?? entrypointTrouble(state, context, arrival);
  return behaviour.chooseError(agent, body) ?? context.deferredError;
}

function entrypointTrouble(
  { agents }: ServerState,
  { operation }: RequestContext,
  arrival: IncomingExecution,
): ApiError | null {
  const agent = agents.get(arrival.agentId);
  if (agent === undefined || findEntrypoint(agent, arrival.tag, operation === "stream") !== undefined) return null;
  const wanted = operation === "stream" ? "streaming entrypoint" : "entrypoint that answers at once";
  return apiError(
    "entrypoint-not-found",
    arrival.tag === null ? `This agent has no ${wanted}.` : "This agent has no entrypoint of this tag.",
  );
}

/** The entrypoint of a tag; without one the first that streams, or that does not. */
export function findEntrypoint(agent: Agent, tag: string | null, streams: boolean): Entrypoint | undefined {
  return agent.entrypoints.find((entrypoint) =>
    tag === null ? isStreaming(entrypoint) === streams : entrypoint.tag === tag,
  );
}

export const unknownAgentError = apiError("agent-not-found", "No agent has this id.");

export function validateAgent(agents: ReadonlyMap<string, Agent>, id: string): ApiError | null {
  return agents.has(id) ? null : unknownAgentError;
}

/** Lets the agent speak: remembers the session and charges the tokens. */
export function executeAgent(
  state: ServerState,
  context: RequestContext,
  agent: Agent,
  request: ExecutionRequest,
  entrypoint: Entrypoint | undefined,
): Execution {
  const { behaviour, clock, conversations } = state;
  const first = { turn: 1, previousQuery: null };
  const conversation =
    agent.remembers && request.session !== null
      ? conversations.addTurn(conversationName(state, context, agent, request.session), request.query)
      : first;
  const whole = agent.respond(request.query, conversation, entrypoint?.tag ?? "");
  const text = request.maxTokens === null ? whole : behaviour.truncateText(whole, request.maxTokens);
  const usage = { prompt: behaviour.countTokens(request.query), completion: behaviour.countTokens(text) };
  const timesOut = agent.processingMs > behaviour.timeoutMs(agent);
  const processingMs = timesOut ? behaviour.timeoutMs(agent) : agent.processingMs;
  if (behaviour.updatesLastRequest(context.operation)) state.lastRequestMs.set(agent.id, clock.now());
  if (!timesOut && agent.failure.kind === "none") {
    behaviour.chargeTokens(context.account, usage.prompt + usage.completion, clock.now(), context.operation);
  }
  return { agent, text, ...conversation, usage, processingMs, timesOut };
}

function conversationName(state: ServerState, context: RequestContext, agent: Agent, session: string): string {
  return state.behaviour.conversationKey({
    account: context.accountName,
    agent: agent.id,
    session,
    operation: context.operation,
  });
}

/** Reads a body that the schema let pass; a value of another type than the document's is as good as absent. */
export function readExecutionRequest(body: unknown): ExecutionRequest {
  const fields = fieldsOf(body);
  const parameters = fieldsOf(fields["parameters"]);
  const { query } = fields;
  return {
    query: typeof query === "string" ? query : query === undefined ? "" : JSON.stringify(query),
    session: textOf(fields["session_id"]),
    maxTokens: wholeOf(parameters["max_tokens"]),
    resumeFromIndex: wholeOf(parameters["resume_from_index"]) ?? 0,
    delayMs: wholeOf(parameters["stream_delay_ms"]),
    chunkSize: wholeOf(parameters["chunk_size"]) || null,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function wholeOf(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

/** Tells webhooks of one execution, stage by stage. */
export interface ExecutionEvents {
  readonly requestId: string;
  /** Tells how the turn has ended. */
  ended(turn: Execution): void;
  /** Tells, where anything is told of that, that the client left before the end. */
  disconnected(): void;
}

/** Tells that an execution starts. Nothing here takes time, and what webhooks do with it holds up nobody. */
export function emitExecutionStart(
  state: ServerState,
  context: RequestContext,
  agent: Agent,
  input: unknown,
): ExecutionEvents {
  const { behaviour, clock, outbox } = state;
  const requestId = behaviour.requestId(state.nextRequestNumber());
  const tell = (stage: ExecutionStage) =>
    outbox.emit({
      type: eventTypeByStage[stage.kind],
      agentId: agent.id,
      deploymentId: agent.deployment.id,
      data: behaviour.executionEventData({ requestId, input, stage }),
    });
  tell({ kind: "invoked" });
  return {
    requestId,
    ended: (turn) => tell(stageOf(turn, clock.now() - context.arrivedMs)),
    disconnected: () => {
      if (behaviour.disconnectEvent() === null) return;
      tell({ kind: "failed", message: "The stream was stopped.", details: "The client left before its end." });
    },
  };
}

function stageOf({ agent, text, usage, timesOut, processingMs }: Execution, elapsedMs: number): ExecutionStage {
  if (timesOut) return { kind: "timeout", timeoutMs: processingMs };
  if (agent.failure.kind === "none") return { kind: "completed", text, usage, elapsedMs };
  const details = agent.failure.kind === "crash" ? "The agent crashed." : "The model is overloaded.";
  return { kind: "failed", message: "The agent failed to process the request.", details };
}
