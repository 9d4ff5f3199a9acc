import type { Agent, Conversation } from "../agents.ts";
import { type ApiError, fieldError } from "./errors.ts";
import type { Endpoint } from "../endpoint.ts";

export interface SchemaViolation {
  /** Keyword of the violated JSON Schema rule, such as `required`. */
  readonly rule: string;
  readonly path: string;
  /** Name of the missing field, if `rule` is `required`; otherwise empty. */
  readonly missing: string;
  readonly message: string;
}

/** Numbers of tokens that one execution of an agent has used. Each word counts as a token. */
export interface TokenUsage {
  readonly prompt: number;
  readonly completion: number;
}

export interface InvokeInput extends Conversation {
  readonly agent: Agent;
  readonly text: string;
  readonly usage: TokenUsage;
  readonly elapsedMs: number;
  readonly requestId: string;
}

export interface ConversationInput {
  readonly account: string;
  readonly agent: string;
  readonly session: string;
  readonly endpoint: Endpoint;
}

/**
 * The reference server's standard behaviour for invokes. Some functions, such as `validateBody`, also apply to streams.
 * Source: Endpoints 1.
 */
export const standardInvoke = {
  validateBody: (body: unknown, violations: readonly SchemaViolation[], _endpoint: Endpoint): ApiError | null => {
    if (body === undefined) return fieldError("missing-field", "query", "missing");
    const missing = violations.find(({ rule, path }) => rule === "required" && path === "");
    if (missing !== undefined) return fieldError("missing-field", missing.missing, "missing");
    const [first] = violations;
    return first === undefined ? null : fieldError("invalid-input", fieldName(first.path), first.message);
  },
  chooseError: (agent: ApiError | null, body: ApiError | null): ApiError | null => agent ?? body,
  countTokens: (text: string): number => text.match(/\S+/gu)?.length ?? 0,
  truncateText: (text: string, maxTokens: number, _endpoint: Endpoint): string =>
    text
      .split(/(?<=\s)(?=\S)/u)
      .slice(0, maxTokens)
      .join("")
      .trimEnd(),
  /**
   * Returns an identifier of the request's conversation. Requests with the same identifier continue one conversation.
   */
  conversationKey: ({ account, agent, session }: ConversationInput): string =>
    JSON.stringify([account, agent, session]),
  timeoutMs: ({ deployment }: Agent): number => deployment.timeoutMs,
  agentVersion: (agent: Agent): string => agent.version,
  requestId: (number: number): string => `req_${String(number).padStart(8, "0")}`,
  invokeResult: ({ agent, text, turn, previousQuery }: InvokeInput): unknown =>
    agent.remembers ? { output: text, turn, previous_query: previousQuery } : { output: text },
  invokeBody: ({ usage, elapsedMs, requestId }: InvokeInput, result: unknown, version: string): unknown => ({
    result,
    usage: {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion,
    },
    metadata: { execution_time: elapsedMs / 1000, agent_version: version, request_id: requestId },
  }),
};

function fieldName(path: string): string {
  return path === "" ? "body" : path.slice(1).replaceAll("/", ".");
}

export interface StreamParameters {
  readonly resumeFromIndex: number;
  readonly delayMs: number | null;
  /** Requested number of code points in a chunk; `null` if the client requested none. */
  readonly chunkSize: number | null;
}

export type StreamEnding =
  | { readonly kind: "done"; readonly usage: TokenUsage }
  | {
      readonly kind: "error";
      readonly cause: "crash" | "overload" | "timeout";
      readonly retryAfterSeconds: number | null;
    };

export interface StreamInput {
  readonly sessionId: string;
  readonly chunks: readonly Chunk[];
  readonly processingMs: number;
  readonly chunkIntervalMs: number;
  readonly ending: StreamEnding;
}

export interface Chunk {
  readonly text: string;
  readonly index: number;
}

export type StreamStep =
  | { readonly kind: "start" }
  | { readonly kind: "chunk"; readonly chunk: Chunk }
  | { readonly kind: "done"; readonly usage: TokenUsage }
  | { readonly kind: "error"; readonly ending: Extract<StreamEnding, { kind: "error" }> }
  | { readonly kind: "wait"; readonly ms: number }
  /** Waits for `count` turns of the event loop, so that written data reaches the network. */
  | { readonly kind: "turns"; readonly count: number }
  | { readonly kind: "cut" };

export type EventStep = Extract<StreamStep, { kind: "start" | "chunk" | "done" | "error" }>;

export type StreamBytes = string | Uint8Array;

/** The reference server's standard behaviour for streams. Source: Endpoints 2; Events, "Stream events (SSE)". */
export const standardStream = {
  splitText: (text: string, chunkSize: number | null): readonly string[] =>
    chunkSize === null ? wordsOf(text) : slicesOf(text, chunkSize),
  resumeChunks: (chunks: readonly Chunk[], { resumeFromIndex }: StreamParameters): readonly Chunk[] =>
    chunks.slice(resumeFromIndex),
  chunkIntervalMs: (agentMs: number, { delayMs }: StreamParameters): number => delayMs ?? agentMs,
  planSteps: ({ chunks, processingMs, chunkIntervalMs, ending }: StreamInput): readonly StreamStep[] => [
    { kind: "start" },
    ...waitSteps(processingMs),
    ...chunkSteps(chunks, chunkIntervalMs),
    ending.kind === "done" ? { kind: "done", usage: ending.usage } : { kind: "error", ending },
  ],
  eventName: (kind: EventStep["kind"]): string => kind,
  eventText: (data: unknown): string => JSON.stringify(data),
  sessionId: (number: number): string => `ses_${String(number).padStart(8, "0")}`,
  startData: ({ sessionId }: StreamInput): unknown => ({ message: "Stream started", session_id: sessionId }),
  chunkData: ({ text, index }: Chunk): unknown => ({ content: text, index }),
  doneData: ({ prompt, completion }: TokenUsage, elapsedMs: number, _input: StreamInput): unknown => ({
    message: "Stream completed",
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    execution_time: elapsedMs / 1000,
  }),
  streamErrorData: ({ cause, retryAfterSeconds }: Extract<StreamEnding, { kind: "error" }>): unknown =>
    cause === "overload"
      ? { error: "The model is overloaded.", code: "CAPACITY_ERROR", retry_after: retryAfterSeconds }
      : { error: cause === "timeout" ? "The agent timed out." : "Processing failed.", code: "STREAM_ERROR" },
  bytesBeforeEvents: (): readonly StreamBytes[] => [],
  encodeEvent: (name: string, data: string, _number: number): readonly StreamBytes[] => [
    `event: ${name}\ndata: ${data}\n\n`,
  ],
  noticesDisconnect: (): "at once" | "at the next write" | "never" => "at once",
};

function chunkSteps(chunks: readonly Chunk[], intervalMs: number): StreamStep[] {
  const steps = chunks.map((chunk): StreamStep => ({ kind: "chunk", chunk }));
  return intervalMs > 0 ? steps.flatMap((step, at) => (at === 0 ? step : [...waitSteps(intervalMs), step])) : steps;
}

function waitSteps(ms: number): StreamStep[] {
  return ms > 0 ? [{ kind: "wait", ms }] : [];
}

function wordsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(/(?<=\s)(?=\S)/u);
}

function slicesOf(text: string, size: number): readonly string[] {
  // Only a text with surrogate pairs needs an array of code points. Every other text can be sliced directly.
  const points = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
  const sliceFrom = (at: number): string => points?.slice(at, at + size).join("") ?? text.slice(at, at + size);
  const count = Math.ceil((points ?? text).length / size);
  return Array.from({ length: count }, (_, slice) => sliceFrom(slice * size));
}
