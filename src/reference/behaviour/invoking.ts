import type { Agent } from "../agents.ts";
import { fieldTrouble, type Operation, type Trouble } from "../trouble.ts";

/** One breach of a request schema: which rule, and the path of the value that broke it (`/parameters/temperature`). */
export interface SchemaBreach {
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
export interface InvokeFacts {
  readonly agent: Agent;
  readonly text: string;
  readonly turn: number;
  readonly previousQuery: string | null;
  readonly usage: TokenUsage;
  readonly elapsedMs: number;
  readonly requestId: string;
}

/** Where a session is named. */
export interface ConversationFacts {
  readonly account: string;
  readonly agent: string;
  readonly session: string;
  readonly operation: Operation;
}

/** Decisions about invocation. Source: Endpoints 1; the request's side serves the stream too. */
export interface Invoking {
  /** What is wrong with a request body, or `null`. */
  bodyTrouble(body: unknown, breaches: readonly SchemaBreach[], operation: Operation): Trouble | null;
  /** Which of two troubles of one request is told. */
  firstTrouble(agent: Trouble | null, body: Trouble | null): Trouble | null;
  tokensOf(text: string): number;
  /** The part of a text that `max_tokens` leaves. */
  truncated(text: string, maxTokens: number): string;
  /** The name a conversation is remembered by. */
  conversationOf(facts: ConversationFacts): string;
  timeoutMs(agent: Agent): number;
  agentVersion(agent: Agent): string;
  requestId(number: number): string;
  result(facts: InvokeFacts): unknown;
  invokeBody(facts: InvokeFacts, result: unknown, version: string): unknown;
}

export const standardInvoking: Invoking = {
  bodyTrouble: (body, breaches) => {
    if (body === undefined) return fieldTrouble("missing-field", "query", "missing");
    const missing = breaches.find(({ rule, path }) => rule === "required" && path === "");
    if (missing !== undefined) return fieldTrouble("missing-field", missing.missing, "missing");
    const [first] = breaches;
    return first === undefined ? null : fieldTrouble("invalid-input", fieldName(first.path), first.message);
  },
  firstTrouble: (agent, body) => agent ?? body,
  tokensOf: (text) => text.match(/\S+/gu)?.length ?? 0,
  truncated: (text, maxTokens) =>
    text
      .split(/(?<=\s)(?=\S)/u)
      .slice(0, maxTokens)
      .join("")
      .trimEnd(),
  conversationOf: ({ account, agent, session }) => JSON.stringify([account, agent, session]),
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
