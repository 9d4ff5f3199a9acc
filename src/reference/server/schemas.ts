/**
 * JSON Schemas of the routes. The requests' are enforced; the responses' are published only, so that what the server
 * sends is what its behaviour says and no serializer drops a field.
 */

const integer = { type: "integer" } as const;
const number = { type: "number" } as const;
const string = { type: "string" } as const;

const agentParams = {
  type: "object",
  properties: { agent_id: { type: "string", description: "Identifier of the agent." } },
  required: ["agent_id"],
} as const;

const parameters = {
  temperature: { type: "number", minimum: 0, maximum: 2 },
  max_tokens: { type: "integer", minimum: 1 },
  context: { type: "object" },
} as const;

const streamParameters = {
  ...parameters,
  resume_from_index: { type: "integer", minimum: 0, description: "The first chunk to send." },
  stream_delay_ms: { type: "integer", minimum: 0, description: "Milliseconds to wait between chunks." },
  chunk_size: { type: "integer", minimum: 1, description: "Characters to a chunk." },
} as const;

function turnBody(properties: object) {
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

function answers(description: string, type: string, schema: object, errors: readonly (readonly [number, string])[]) {
  const withHeaders = (text: string, media: string, body: object) => ({
    description: text,
    headers: rateLimitHeaderSchemas,
    content: { [media]: { schema: body } },
  });
  const rows = errors.map(([status, text]) => [status, withHeaders(text, "application/json", errorBody)] as const);
  return { 200: withHeaders(description, type, schema), ...Object.fromEntries(rows) };
}

const badRequest = [400, "A field is missing or invalid."] as const;
const unauthorized = [401, "The key is missing, wrong or expired."] as const;
const notFound = [404, "No agent has this id."] as const;
const tooLarge = [413, "The body is larger than the server reads."] as const;
const limited = [429, "A limit is used up; wait `retry_after` seconds."] as const;
const crashed = [500, "The agent failed."] as const;
const turnErrors = [badRequest, unauthorized, notFound, tooLarge, limited, crashed];

const invokeAnswer = {
  type: "object",
  properties: {
    result: { type: "object" },
    usage: {
      type: "object",
      properties: { prompt_tokens: integer, completion_tokens: integer, total_tokens: integer },
    },
    metadata: {
      type: "object",
      properties: {
        execution_time: { ...number, description: "Seconds." },
        agent_version: string,
        request_id: string,
      },
    },
  },
  required: ["result"],
} as const;

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
    uptime: { ...number, description: "Seconds." },
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

const counted = {
  type: "object",
  properties: { used: integer, limit: integer, remaining: integer },
  required: ["used", "limit", "remaining"],
} as const;

const usageAnswer = {
  type: "object",
  properties: { period: { type: "string", format: "date-time" }, requests: counted, tokens: counted },
  required: ["period", "requests", "tokens"],
} as const;

export const routeSchemas = {
  invoke: {
    summary: "Invoke an agent",
    operationId: "invokeAgent",
    params: agentParams,
    body: turnBody(parameters),
    response: answers("The agent's answer.", "application/json", invokeAnswer, turnErrors),
  },
  stream: {
    summary: "Stream an agent's answer",
    operationId: "streamAgent",
    params: agentParams,
    body: turnBody(streamParameters),
    response: answers("Server-sent events: start, chunk, error, done.", "text/event-stream", string, turnErrors),
  },
  health: {
    summary: "An agent's health",
    operationId: "agentHealth",
    params: agentParams,
    response: answers("The health report.", "application/json", healthAnswer, [unauthorized, notFound]),
  },
  list: {
    summary: "List agents",
    operationId: "listAgents",
    querystring: { type: "object", properties: { page: integer, limit: integer } },
    response: answers("One page of the agents.", "application/json", listAnswer, [badRequest, unauthorized, limited]),
  },
  usage: {
    summary: "Read usage",
    operationId: "readUsage",
    response: answers("What the key has used.", "application/json", usageAnswer, [unauthorized, limited]),
  },
};
