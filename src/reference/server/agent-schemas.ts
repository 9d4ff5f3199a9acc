import {
  fieldsWith,
  arraySchema,
  errorResponses,
  integerSchema,
  jsonMediaType,
  jsonResponse,
  nullableStringSchema,
  numberSchema,
  objectSchema,
  optionalObjectSchema,
  responseSchemas,
  secondsSchema,
  stringSchema,
  timeSchema,
} from "./openapi.ts";

const { badRequest, noAgent, tooLarge, limited, crashed } = errorResponses;
const creationErrors = [badRequest, noAgent, tooLarge, limited];
const executionErrors = [...creationErrors, crashed];

const agentId = { agent_id: { type: "string", description: "Identifier of the agent." } };
const params = objectSchema(agentId);

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
  objectSchema(
    {
      query: { type: "string", description: "Input or prompt." },
      parameters: { type: "object", properties, additionalProperties: true },
      session_id: { type: "string", description: "Keeps a conversation's context across calls." },
    },
    ["query"],
  );

/** Schema of `page` and `limit` in a query string. An integer beyond these bounds would lose digits when parsed. */
const paginationInteger = { ...integerSchema, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

const tokenUsage = optionalObjectSchema(
  fieldsWith(integerSchema, "prompt_tokens", "completion_tokens", "total_tokens"),
);

const invokeResponse = objectSchema(
  {
    result: { type: "object" },
    usage: tokenUsage,
    metadata: optionalObjectSchema({
      execution_time: secondsSchema,
      agent_version: stringSchema,
      request_id: stringSchema,
    }),
  },
  ["result"],
);

/** Returns the schema of a single event, because OpenAPI 3.1 cannot describe a whole event stream. */
function streamEvent(name: string, contentSchema: object) {
  return objectSchema({
    event: { const: name },
    data: { ...stringSchema, contentMediaType: jsonMediaType, contentSchema },
  });
}

const streamEvents = {
  description: "Each event; `data` is JSON.",
  oneOf: [
    streamEvent("start", objectSchema({ message: stringSchema, session_id: stringSchema }, ["message"])),
    streamEvent("chunk", objectSchema({ content: stringSchema, index: integerSchema }, ["content"])),
    streamEvent("done", objectSchema({ message: stringSchema, usage: tokenUsage, execution_time: secondsSchema })),
    streamEvent(
      "error",
      objectSchema({ error: stringSchema, code: stringSchema, retry_after: secondsSchema }, ["error", "code"]),
    ),
  ],
};

const healthResponse = objectSchema(
  {
    status: { type: "string", enum: ["healthy", "degraded", "unhealthy"] },
    checks: optionalObjectSchema({
      agent: optionalObjectSchema({ status: stringSchema, response_time_ms: numberSchema }),
      dependencies: { type: "object", additionalProperties: stringSchema },
      resources: optionalObjectSchema({ memory_usage_percent: numberSchema, cpu_usage_percent: numberSchema }),
    }),
    version: stringSchema,
    uptime: secondsSchema,
    last_request: timeSchema,
    warnings: arraySchema(stringSchema),
  },
  ["status", "checks"],
);

const listResponse = objectSchema({
  data: arraySchema({ type: "object" }),
  pagination: optionalObjectSchema(fieldsWith(integerSchema, "page", "limit", "total", "pages")),
});

const countedUse = objectSchema({ used: integerSchema, limit: integerSchema, remaining: integerSchema });
const usageResponse = objectSchema({ period: timeSchema, requests: countedUse, tokens: countedUse });

export const agentSchemas = {
  invoke: {
    summary: "Invoke an agent",
    operationId: "invokeAgent",
    params,
    body: executionBody(parameters),
    response: jsonResponse("The agent's response.", invokeResponse, executionErrors),
  },
  stream: {
    summary: "Stream an agent's response",
    operationId: "streamAgent",
    params,
    body: executionBody(streamParameters),
    response: responseSchemas(
      "Server-sent events: start, chunk, error, done.",
      { "text/event-stream": streamEvents },
      executionErrors,
    ),
  },
  health: {
    summary: "An agent's health",
    operationId: "agentHealth",
    params,
    response: jsonResponse("The health report.", healthResponse, [noAgent]),
  },
  list: {
    summary: "List agents",
    operationId: "listAgents",
    querystring: optionalObjectSchema({ page: paginationInteger, limit: paginationInteger }),
    response: jsonResponse("One page of the agents.", listResponse, [badRequest, limited]),
  },
  usage: {
    summary: "Read usage",
    operationId: "readUsage",
    response: jsonResponse("The usage of the key.", usageResponse, [limited]),
  },
};

const agentDetails = objectSchema(
  {
    ...fieldsWith(stringSchema, "agent_id", "agent_name", "description", "framework", "version"),
    status: { type: "string", enum: ["healthy", "degraded", "unhealthy"] },
    lifecycle: stringSchema,
    created_at: stringSchema,
    entrypoints: arraySchema(objectSchema({ file: stringSchema, module: stringSchema, tag: stringSchema })),
    deployment: objectSchema({
      deployment_id: stringSchema,
      timeout: secondsSchema,
      memory: { ...stringSchema, description: "Size with its unit." },
    }),
  },
  ["agent_id", "version", "lifecycle", "entrypoints", "deployment"],
);

const keyUsage = objectSchema({
  key: optionalObjectSchema({
    ...fieldsWith(stringSchema, "name", "tier", "scope"),
    agents: { type: ["array", "null"], items: stringSchema },
    allowed_ips: { type: ["array", "null"], items: stringSchema },
    expires_at: nullableStringSchema,
  }),
  period: timeSchema,
  requests: countedUse,
  tokens: countedUse,
  last_used: { ...nullableStringSchema, description: "When the key was used before this request." },
});

const batchEntry = objectSchema(
  {
    query: { type: "string", description: "Input or prompt." },
    parameters: { type: "object", additionalProperties: true },
    session_id: stringSchema,
  },
  ["query"],
);

const handle = { operation_id: stringSchema, status: stringSchema, check_url: stringSchema };

const operation = objectSchema(
  {
    ...handle,
    status: { type: "string", enum: ["pending", "running", "completed", "failed"] },
    agent_id: stringSchema,
    ...fieldsWith(timeSchema, "created_at", "started_at", "completed_at"),
    progress: optionalObjectSchema({ completed: integerSchema, total: integerSchema }),
    results: arraySchema({ type: "object" }),
  },
  Object.keys(handle),
);

export const operationSchemas = {
  describe: {
    summary: "Describe an agent",
    operationId: "describeAgent",
    params,
    response: jsonResponse("The details of the agent.", agentDetails, [noAgent, limited]),
  },
  keyUsage: {
    summary: "Read key usage",
    operationId: "readKeyUsage",
    response: jsonResponse("The usage of the key.", keyUsage, [limited]),
  },
  batch: {
    summary: "Submit a batch",
    operationId: "submitBatch",
    params,
    body: objectSchema({ batch: arraySchema(batchEntry, { minItems: 1, maxItems: 100 }) }),
    response: jsonResponse("The handle of the batch's operation.", objectSchema(handle), creationErrors, 201),
  },
  startOperation: {
    summary: "Start an asynchronous operation",
    operationId: "startOperation",
    params,
    body: batchEntry,
    response: jsonResponse("The handle of the operation.", objectSchema(handle), creationErrors, 201),
  },
  checkOperation: {
    summary: "Check an asynchronous operation",
    operationId: "checkOperation",
    params: objectSchema({ operation_id: stringSchema }),
    response: jsonResponse("The state of the operation.", operation, [
      [404, "No operation of this key has this id."],
      limited,
    ]),
  },
  execute: {
    summary: "Execute an entrypoint",
    operationId: "executeEntrypoint",
    params: objectSchema({ ...agentId, entrypoint_tag: { ...stringSchema, description: "Tag of the entrypoint." } }),
    body: executionBody(streamParameters),
    response: responseSchemas(
      "The agent's response; a stream of events if the tag ends in `_stream`.",
      { [jsonMediaType]: invokeResponse, "text/event-stream": streamEvents },
      executionErrors,
    ),
  },
};
