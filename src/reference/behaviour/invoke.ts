import type { Agent } from "../agents.ts";
import { fieldError, type Operation, type ApiError } from "../api-error.ts";

/**
 * A violation of a request's schema: the rule, and the path of the invalid value, such as `/parameters/temperature`.
 */
export interface SchemaViolation {
  readonly rule: string;
  readonly path: string;
  readonly missing: string;
  readonly message: string;
}

/** Tokens of one execution. A word counts as a token. */
export interface TokenUsage {
  readonly prompt: number;
  readonly completion: number;
}

/** The content of an invoke response. */
export interface InvokeInput {
  readonly agent: Agent;
  readonly text: string;
  readonly turn: number;
  readonly previousQuery: string | null;
  readonly usage: TokenUsage;
  readonly elapsedMs: number;
  readonly requestId: string;
}

/** The parts that identify a conversation. */
export interface ConversationInput {
  readonly account: string;
  readonly agent: string;
  readonly session: string;
  readonly operation: Operation;
}

/** Decisions about invocation. Those about the request also serve streams. Source: Endpoints 1. */
export interface InvokeBehaviour {
  /** The error in a request body, or `null`. */
  validateBody(body: unknown, violations: readonly SchemaViolation[], operation: Operation): ApiError | null;
  /** Chooses between the error of the agent and that of the body. */
  chooseError(agent: ApiError | null, body: ApiError | null): ApiError | null;
  countTokens(text: string): number;
  /** Shortens a text to `max_tokens`. */
  truncateText(text: string, maxTokens: number): string;
  /** The key under which a conversation is remembered. */
  conversationKey(input: ConversationInput): string;
  timeoutMs(agent: Agent): number;
  agentVersion(agent: Agent): string;
  requestId(number: number): string;
  result(input: InvokeInput): unknown;
  invokeBody(input: InvokeInput, result: unknown, version: string): unknown;
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
