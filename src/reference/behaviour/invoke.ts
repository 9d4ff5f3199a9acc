import type { Agent } from "../agents.ts";
import { fieldError, type Operation, type ApiError } from "../api-error.ts";

/** One breach of a request schema: which rule, and the path of the value that broke it (`/parameters/temperature`). */
export interface SchemaViolation {
  readonly rule: string;
  readonly path: string;
  readonly missing: string;
  readonly message: string;
}

/** Tokens of one turn, counted in words. */
export interface TokenUsage {
  readonly prompt: number;
  readonly completion: number;
}

/** What an invoke answer is made of. */
export interface InvokeInput {
  readonly agent: Agent;
  readonly text: string;
  readonly turn: number;
  readonly previousQuery: string | null;
  readonly usage: TokenUsage;
  readonly elapsedMs: number;
  readonly requestId: string;
}

/** Where a session is named. */
export interface ConversationInput {
  readonly account: string;
  readonly agent: string;
  readonly session: string;
  readonly operation: Operation;
}

/** Decisions about invocation. Source: Endpoints 1; the request's side serves the stream too. */
export interface InvokeBehaviour {
  /** What is wrong with a request body, or `null`. */
  validateBody(body: unknown, violations: readonly SchemaViolation[], operation: Operation): ApiError | null;
  /** Which of two troubles of one request is told. */
  chooseError(agent: ApiError | null, body: ApiError | null): ApiError | null;
  countTokens(text: string): number;
  /** The part of a text that `max_tokens` leaves. */
  truncateText(text: string, maxTokens: number): string;
  /** The name a conversation is remembered by. */
  conversationKey(facts: ConversationInput): string;
  timeoutMs(agent: Agent): number;
  agentVersion(agent: Agent): string;
  requestId(number: number): string;
  result(facts: InvokeInput): unknown;
  invokeBody(facts: InvokeInput, result: unknown, version: string): unknown;
}

export const standardInvoke: InvokeBehaviour = {
  validateBody: (body, violations) => {
    if (body === undefined) return fieldError("missing-field", "query", "missing");
    const missing = violations.find(({ rule, path }) => rule === "required" && path === "");
    if (missing !== undefined) return fieldError("missing-field", missing.missing, "missing");
    const [first] = violations;
    return first === undefined ? null : fieldError("invalid-input", fieldName(first.path), first.message);
  },
  chooseError: (agent, body) => agent ?? body,
  countTokens: (text) => text.match(/\S+/gu)?.length ?? 0,
  truncateText: (text, maxTokens) =>
    text
      .split(/(?<=\s)(?=\S)/u)
      .slice(0, maxTokens)
      .join("")
      .trimEnd(),
  conversationKey: ({ account, agent, session }) => JSON.stringify([account, agent, session]),
  timeoutMs: ({ deployment }) => deployment.timeoutMs,
  agentVersion: (agent) => agent.version,
  requestId: (number) => `req_${String(number).padStart(8, "0")}`,
  result: ({ agent, text, turn, previousQuery }) =>
    agent.remembers ? { output: text, turn, previous_query: previousQuery } : { output: text },
  invokeBody: ({ usage, elapsedMs, requestId }, result, version) => ({
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
