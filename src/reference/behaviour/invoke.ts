import type { Agent } from "../agents.ts";
import { fieldError, type ApiError } from "../api-error.ts";
import type { Endpoint } from "../endpoint.ts";

export interface SchemaViolation {
  /** Keyword of the violated JSON Schema rule, such as `required`. */
  readonly rule: string;
  readonly path: string;
  /** Name of the missing field, if `rule` is `required`; otherwise empty. */
  readonly missing: string;
  readonly message: string;
}

/** Number of tokens of one execution. Each word counts as a token. */
export interface TokenUsage {
  readonly prompt: number;
  readonly completion: number;
}

export interface InvokeInput {
  readonly agent: Agent;
  readonly text: string;
  readonly turn: number;
  readonly previousQuery: string | null;
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
 * How the server handles invokes. Some of the functions, such as `validateBody`, also handle streams. Source: Endpoints
 * 1.
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
  /** Requests with the same conversation key continue one conversation. */
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
