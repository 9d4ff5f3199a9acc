import { array, errors, integer, json, nullableString, number, object, partial } from "./openapi.ts";
import { responses, seconds, string, time } from "./openapi.ts";

const { badRequest, noAgent, tooLarge, limited, crashed } = errors;
const executionErrors = [badRequest, noAgent, tooLarge, limited, crashed];

const agentId = { agent_id: { type: "string", description: "Identifier of the agent." } };
const params = object(agentId);

const parameters = {
  temperature: { type: "number", minimum: 0, maximum: 2 },
  max_tokens: { type: "integer", minimum: 1 },
  context: { type: "object" },
};

const streamParameters = {
  ...parameters,
  resume_from_index: { type: "integer", minimum: 0, description: "The first chunk to send." },
  stream_delay_ms: {
    type: "integer",
    minimum: 0,
    maximum: 60_000,
    description: "Milliseconds to wait between chunks.",
  },
  chunk_size: { type: "integer", minimum: 1, description: "Characters of a chunk." },
};

const executionBody = (properties: object) =>
  object(
    {
      query: { type: "string", description: "Input or prompt." },
      parameters: { type: "object", properties, additionalProperties: true },
      session_id: { type: "string", description: "Keeps a conversation's context across calls." },
    },
    ["query"],
  );

/** A page number in a URL. Numbers outside these bounds would lose digits when they are parsed. */
const pageNumber = { ...integer, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

const tokenUsage = partial({ prompt_tokens: integer, completion_tokens: integer, total_tokens: integer });

const invokeResponse = object(
  {
    result: { type: "object" },
    usage: tokenUsage,
    metadata: partial({ execution_time: seconds, agent_version: string, request_id: string }),
  },
  ["result"],
);

/**
 * Makes the schema of one event of a stream. OpenAPI 3.1 has no schema for a whole stream, so tools apply this schema
 * to each event.
 */
function streamEvent(name: string, contentSchema: object) {
  return object({ event: { const: name }, data: { ...string, contentMediaType: json, contentSchema } });
}

const streamEvents = {
  description: "Each event; `data` is JSON.",
  oneOf: [
    streamEvent("start", object({ message: string, session_id: string }, ["message"])),
    streamEvent("chunk", object({ content: string, index: integer }, ["content"])),
    streamEvent("done", object({ message: string, usage: tokenUsage, execution_time: seconds })),
    streamEvent("error", object({ error: string, code: string, retry_after: seconds }, ["error", "code"])),
  ],
};

const healthResponse = object(
  {
    status: { type: "string", enum: ["healthy", "degraded", "unhealthy"] },
    checks: partial({
      agent: partial({ status: string, response_time_ms: number }),
      dependencies: { type: "object", additionalProperties: string },
      resources: partial({ memory_usage_percent: number, cpu_usage_percent: number }),
    }),
    version: string,
    uptime: seconds,
    last_request: time,
    warnings: array(string),
  },
  ["status", "checks"],
);

const listResponse = object({
  data: array({ type: "object" }),
  pagination: partial({ page: integer, limit: integer, total: integer, pages: integer }),
});

const countedUse = object({ used: integer, limit: integer, remaining: integer });
const usageResponse = object({ period: time, requests: countedUse, tokens: countedUse });

/** Schemas of invoke, stream, health, list and usage. */
export const agentSchemas = {
  invoke: {
    summary: "Invoke an agent",
    operationId: "invokeAgent",
    params,
    body: executionBody(parameters),
    response: responses("The agent's response.", { [json]: invokeResponse }, executionErrors),
  },
  stream: {
    summary: "Stream an agent's response",
    operationId: "streamAgent",
    params,
    body: executionBody(streamParameters),
    response: responses(
      "Server-sent events: start, chunk, error, done.",
      { "text/event-stream": streamEvents },
      executionErrors,
    ),
  },
  health: {
    summary: "An agent's health",
    operationId: "agentHealth",
    params,
    response: responses("The health report.", { [json]: healthResponse }, [noAgent]),
  },
  list: {
    summary: "List agents",
    operationId: "listAgents",
    querystring: partial({ page: pageNumber, limit: pageNumber }),
    response: responses("One page of the agents.", { [json]: listResponse }, [badRequest, limited]),
  },
  usage: {
    summary: "Read usage",
    operationId: "readUsage",
    response: responses("The usage of the key.", { [json]: usageResponse }, [limited]),
  },
};

const agentDetails = object(
  {
    agent_id: string,
    agent_name: string,
    description: string,
    framework: string,
    version: string,
    status: { type: "string", enum: ["healthy", "degraded", "unhealthy"] },
    lifecycle: string,
    created_at: string,
    entrypoints: array(object({ file: string, module: string, tag: string })),
    deployment: object({
      deployment_id: string,
      timeout: seconds,
      memory: { ...string, description: "Size with its unit." },
    }),
  },
  ["agent_id", "version", "lifecycle", "entrypoints", "deployment"],
);

const keyUsage = object({
  key: partial({
    name: string,
    tier: string,
    scope: string,
    agents: { type: ["array", "null"], items: string },
    allowed_ips: { type: ["array", "null"], items: string },
    expires_at: nullableString,
  }),
  period: time,
  requests: countedUse,
  tokens: countedUse,
  last_used: { ...nullableString, description: "When the key was used before this request." },
});

const batchEntry = object(
  {
    query: { type: "string", description: "Input or prompt." },
    parameters: { type: "object", additionalProperties: true },
    session_id: string,
  },
  ["query"],
);

const handle = { operation_id: string, status: string, check_url: string };

const operation = object(
  {
    ...handle,
    status: { type: "string", enum: ["pending", "running", "completed", "failed"] },
    agent_id: string,
    created_at: time,
    started_at: time,
    completed_at: time,
    progress: partial({ completed: integer, total: integer }),
    results: array({ type: "object" }),
  },
  Object.keys(handle),
);

/**
 * Schemas of operations that the document shows only in part. The function `validateBatch`, not a schema, validates the
 * body of a batch.
 */
export const operationSchemas = {
  describe: {
    summary: "Describe an agent",
    operationId: "describeAgent",
    params,
    response: responses("The details of the agent.", { [json]: agentDetails }, [noAgent, limited]),
  },
  keyUsage: {
    summary: "Read key usage",
    operationId: "readKeyUsage",
    response: responses("The usage of the key.", { [json]: keyUsage }, [limited]),
  },
  batch: {
    summary: "Submit a batch",
    operationId: "submitBatch",
    params,
    body: object({ batch: array(batchEntry, { minItems: 1, maxItems: 100 }) }),
    response: responses(
      "The handle of the batch's operation.",
      { [json]: object(handle) },
      [badRequest, noAgent, tooLarge, limited],
      201,
    ),
  },
  checkOperation: {
    summary: "Check an asynchronous operation",
    operationId: "checkOperation",
    params: object({ operation_id: string }),
    response: responses("The state of the operation.", { [json]: operation }, [
      [404, "No operation of this key has this id."],
      limited,
    ]),
  },
  execute: {
    summary: "Execute an entrypoint",
    operationId: "executeEntrypoint",
    params: object({ ...agentId, entrypoint_tag: { ...string, description: "Tag of the entrypoint." } }),
    body: executionBody(streamParameters),
    response: responses(
      "The agent's response; a stream of events if the tag ends in `_stream`.",
      { [json]: invokeResponse, "text/event-stream": streamEvents },
      executionErrors,
    ),
  },
};
