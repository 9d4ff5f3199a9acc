/**
 * JSON Schemas of the routes. Requests are validated by them. Responses are only described by them, so that no
 * serializer drops a field that the behaviour sends.
 */

const integer = { type: "integer" } as const;
const number = { type: "number" } as const;
const string = { type: "string" } as const;

export const agentParams = {
  type: "object",
  properties: { agent_id: { type: "string", description: "Identifier of the agent." } },
  required: ["agent_id"],
} as const;

const parameters = {
  temperature: { type: "number", minimum: 0, maximum: 2 },
  max_tokens: { type: "integer", minimum: 1 },
  context: { type: "object" },
} as const;

export const streamParameters = {
  ...parameters,
  resume_from_index: { type: "integer", minimum: 0, description: "The first chunk to send." },
  stream_delay_ms: {
    type: "integer",
    minimum: 0,
    maximum: 60_000,
    description: "Milliseconds to wait between chunks.",
  },
  chunk_size: { type: "integer", minimum: 1, description: "Characters to a chunk." },
} as const;

export function executionBody(properties: object) {
  return {
    type: "object",
    properties: {
      query: { type: "string", description: "Input or prompt." },
      parameters: { type: "object", properties, additionalProperties: true },
      session_id: { type: "string", description: "Keeps a conversation's context across calls." },
    },
    required: ["query"],
  };
}

const errorBody = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: { code: string, message: string, status: integer, retry_after: integer },
      required: ["code", "message"],
    },
  },
  required: ["error"],
} as const;

const rateLimitHeaderSchemas = {
  "X-RateLimit-Limit": { ...integer, description: "Requests allowed in the window." },
  "X-RateLimit-Remaining": { ...integer, description: "Requests left in the window." },
  "X-RateLimit-Reset": { ...integer, description: "When the window resets, in Unix seconds." },
  "X-RateLimit-Reset-After": { ...integer, description: "Seconds until the window resets." },
} as const;

export interface ResponseSchema {
  readonly description: string;
  readonly headers: object;
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
}

/** A response and its errors. `status` is that of success. */
export function responseSchemas(
  description: string,
  type: string,
  schema: object,
  errors: readonly (readonly [number, string])[],
  status = 200,
): Record<number, ResponseSchema> {
  const withHeaders = (text: string, media: string, body: object) => ({
    description: text,
    headers: rateLimitHeaderSchemas,
    content: { [media]: { schema: body } },
  });
  const rows = errors.map(([code, text]) => [code, withHeaders(text, "application/json", errorBody)] as const);
  return { [status]: withHeaders(description, type, schema), ...Object.fromEntries(rows) };
}

/** Larger numbers in a URL lose digits when they are parsed. */
export const pageNumber = { ...integer, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;

export const badRequest = [400, "A field is missing or invalid."] as const;
export const unauthorized = [401, "The key is missing, wrong or expired."] as const;
export const forbidden = [403, "The key may not do this, or not from this address."] as const;
export const notFound = [404, "No agent has this id."] as const;
export const tooLarge = [413, "The body is larger than the server reads."] as const;
export const notAcceptable = [406, "The answer has no media type that `Accept` names."] as const;
export const limited = [429, "A limit is used up; wait `retry_after` seconds."] as const;
export const crashed = [500, "The agent failed."] as const;
export const refusals = [unauthorized, forbidden, notAcceptable];
export const executionErrors = [badRequest, ...refusals, notFound, tooLarge, limited, crashed];

export const seconds = { ...number, description: "Seconds." } as const;

const tokenUsage = {
  type: "object",
  properties: { prompt_tokens: integer, completion_tokens: integer, total_tokens: integer },
} as const;

export const invokeResponse = {
  type: "object",
  properties: {
    result: { type: "object" },
    usage: tokenUsage,
    metadata: {
      type: "object",
      properties: {
        execution_time: seconds,
        agent_version: string,
        request_id: string,
      },
    },
  },
  required: ["result"],
} as const;

/** One event of a stream. OpenAPI 3.1 has no schema for a stream, so tools use this schema for each event. */
function streamEvent(name: string, properties: Readonly<Record<string, object>>, required: readonly string[]) {
  const contentSchema = { type: "object", properties, required };
  const data = { ...string, contentMediaType: "application/json", contentSchema };
  return { type: "object", properties: { event: { const: name }, data }, required: ["event", "data"] };
}

export const streamEvents = {
  description: "Each event; `data` is JSON.",
  oneOf: [
    streamEvent("start", { message: string, session_id: string }, ["message"]),
    streamEvent("chunk", { content: string, index: integer }, ["content"]),
    streamEvent("done", { message: string, usage: tokenUsage, execution_time: seconds }, [
      "message",
      "usage",
      "execution_time",
    ]),
    streamEvent("error", { error: string, code: string, retry_after: seconds }, ["error", "code"]),
  ],
};

const healthAnswer = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["healthy", "degraded", "unhealthy"] },
    checks: {
      type: "object",
      properties: {
        agent: { type: "object", properties: { status: string, response_time_ms: number } },
        dependencies: { type: "object", additionalProperties: string },
        resources: { type: "object", properties: { memory_usage_percent: number, cpu_usage_percent: number } },
      },
    },
    version: string,
    uptime: seconds,
    last_request: { type: "string", format: "date-time" },
    warnings: { type: "array", items: string },
  },
  required: ["status", "checks"],
} as const;

const listAnswer = {
  type: "object",
  properties: {
    data: { type: "array", items: { type: "object" } },
    pagination: { type: "object", properties: { page: integer, limit: integer, total: integer, pages: integer } },
  },
  required: ["data", "pagination"],
} as const;

export const countedUse = {
  type: "object",
  properties: { used: integer, limit: integer, remaining: integer },
  required: ["used", "limit", "remaining"],
} as const;

export const usageResponse = {
  type: "object",
  properties: { period: { type: "string", format: "date-time" }, requests: countedUse, tokens: countedUse },
  required: ["period", "requests", "tokens"],
} as const;

export const agentSchemas = {
  invoke: {
    summary: "Invoke an agent",
    operationId: "invokeAgent",
    params: agentParams,
    body: executionBody(parameters),
    response: responseSchemas("The agent's answer.", "application/json", invokeResponse, executionErrors),
  },
  stream: {
    summary: "Stream an agent's answer",
    operationId: "streamAgent",
    params: agentParams,
    body: executionBody(streamParameters),
    response: responseSchemas(
      "Server-sent events: start, chunk, error, done.",
      "text/event-stream",
      streamEvents,
      executionErrors,
    ),
  },
  health: {
    summary: "An agent's health",
    operationId: "agentHealth",
    params: agentParams,
    response: responseSchemas("The health report.", "application/json", healthAnswer, [...refusals, notFound]),
  },
  list: {
    summary: "List agents",
    operationId: "listAgents",
    querystring: { type: "object", properties: { page: pageNumber, limit: pageNumber } },
    response: responseSchemas("One page of the agents.", "application/json", listAnswer, [
      badRequest,
      ...refusals,
      limited,
    ]),
  },
  usage: {
    summary: "Read usage",
    operationId: "readUsage",
    response: responseSchemas("What the key has used.", "application/json", usageResponse, [...refusals, limited]),
  },
};
