import {
  agentParams,
  responseSchemas,
  badRequest,
  countedUse,
  invokeResponse,
  limited,
  notFound,
  refusals,
  streamEvents,
  streamParameters,
  tooLarge,
  executionBody,
  executionErrors,
} from "./agent-schemas.ts";

const string = { type: "string" } as const;
const time = { type: "string", format: "date-time" } as const;
const nullable = { type: ["string", "null"] } as const;
const json = "application/json";

const entrypoint = {
  type: "object",
  properties: { file: string, module: string, tag: string },
  required: ["file", "module", "tag"],
} as const;

const description = {
  type: "object",
  properties: {
    agent_id: string,
    agent_name: string,
    description: string,
    framework: string,
    version: string,
    status: { type: "string", enum: ["healthy", "degraded", "unhealthy"] },
    lifecycle: string,
    created_at: string,
    entrypoints: { type: "array", items: entrypoint },
    deployment: {
      type: "object",
      properties: {
        deployment_id: string,
        timeout: { type: "number", description: "Seconds." },
        memory: { ...string, description: "Size with its unit." },
      },
      required: ["deployment_id", "timeout", "memory"],
    },
  },
  required: ["agent_id", "version", "lifecycle", "entrypoints", "deployment"],
} as const;

const keyUsage = {
  type: "object",
  properties: {
    key: {
      type: "object",
      properties: {
        name: string,
        tier: string,
        scope: string,
        agents: { type: ["array", "null"], items: string },
        allowed_ips: { type: ["array", "null"], items: string },
        expires_at: nullable,
      },
    },
    period: time,
    requests: countedUse,
    tokens: countedUse,
    last_used: { ...nullable, description: "When the key was used before this request." },
  },
  required: ["key", "period", "requests", "tokens", "last_used"],
} as const;

const batchEntry = {
  type: "object",
  properties: {
    query: { type: "string", description: "Input or prompt." },
    parameters: { type: "object", additionalProperties: true },
    session_id: string,
  },
  required: ["query"],
} as const;

const handle = {
  type: "object",
  properties: { operation_id: string, status: string, check_url: string },
  required: ["operation_id", "status", "check_url"],
} as const;

const operation = {
  type: "object",
  properties: {
    ...handle.properties,
    status: { type: "string", enum: ["pending", "running", "completed", "failed"] },
    agent_id: string,
    created_at: time,
    started_at: time,
    completed_at: time,
    progress: { type: "object", properties: { completed: { type: "integer" }, total: { type: "integer" } } },
    results: { type: "array", items: { type: "object" } },
  },
  required: handle.required,
} as const;

/**
 * Schemas of the routes whose shape the document leaves open. The behaviour validates the body of a batch, not the
 * schema.
 */
export const operationSchemas = {
  describe: {
    summary: "Describe an agent",
    operationId: "describeAgent",
    params: agentParams,
    response: responseSchemas("Everything about the agent.", json, description, [...refusals, notFound, limited]),
  },
  keyUsage: {
    summary: "Read key usage",
    operationId: "readKeyUsage",
    response: responseSchemas("What the key has used.", json, keyUsage, [...refusals, limited]),
  },
  batch: {
    summary: "Submit a batch",
    operationId: "submitBatch",
    params: agentParams,
    body: {
      type: "object",
      properties: { batch: { type: "array", items: batchEntry, minItems: 1, maxItems: 100 } },
      required: ["batch"],
    },
    response: responseSchemas(
      "The handle of the operation that works on it.",
      json,
      handle,
      [badRequest, ...refusals, notFound, tooLarge, limited],
      201,
    ),
  },
  checkOperation: {
    summary: "Check an asynchronous operation",
    operationId: "checkOperation",
    params: { type: "object", properties: { operation_id: string }, required: ["operation_id"] },
    response: responseSchemas("How far the operation is.", json, operation, [
      ...refusals,
      [404, "No operation of this key has this id."],
      limited,
    ]),
  },
  execute: {
    summary: "Execute an entrypoint",
    operationId: "executeEntrypoint",
    params: {
      type: "object",
      properties: { ...agentParams.properties, entrypoint_tag: { ...string, description: "Tag of the entrypoint." } },
      required: ["agent_id", "entrypoint_tag"],
    },
    body: executionBody(streamParameters),
    response: executeResponses(),
  },
};

/** A tag that ends in `_stream` gets a stream, any other the response of an invoke. */
function executeResponses() {
  const all = responseSchemas(
    "The agent's answer; a stream's events where the tag ends in `_stream`.",
    json,
    invokeResponse,
    executionErrors,
  );
  const { 200: success } = all;
  if (success === undefined) return all;
  return {
    ...all,
    200: { ...success, content: { ...success.content, "text/event-stream": { schema: streamEvents } } },
  };
}
