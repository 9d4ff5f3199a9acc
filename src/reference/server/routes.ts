import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifySchemaValidationError,
} from "fastify";
import type { SchemaViolation } from "../behaviour/invoke.ts";
import { fieldError, apiError, type Operation } from "../api-error.ts";
import { sendResult, failed, type RouteResult } from "./response.ts";
import { checkOperation, submitBatch } from "./batch.ts";
import type { RequestContext } from "./admission.ts";
import { describeAgent, health, invoke, keyUsage, listAgents, usage, type ListQuery } from "./handlers.ts";
import { operationSchemas } from "./operation-schemas.ts";
import { agentSchemas } from "./agent-schemas.ts";
import type { ServerState } from "./state.ts";
import { stream } from "./stream.ts";
import { validateExecution, unknownAgentError, type IncomingExecution } from "./execution.ts";
import { webhookSchemas } from "./webhook-schemas.ts";
import { createAlert, createWebhook, listDeliveries, webhookMetrics } from "./webhooks.ts";

/** What a route reads of its request; of the names in `Params` it has those of its own path. */
interface RouteShape {
  Params: { agent_id: string; entrypoint_tag?: string; operation_id: string; webhook_id: string };
  Querystring: ListQuery;
}
type RouteRequest = FastifyRequest<RouteShape>;

/** Answers a request through `answer`, at once or later; it never rejects. */
type Handle = (state: ServerState, request: RouteRequest, reply: FastifyReply) => void | Promise<void>;

/** An endpoint that has its whole answer at once. */
const whole =
  (respond: (state: ServerState, context: RequestContext, request: RouteRequest) => RouteResult): Handle =>
  (state, request, reply) => {
    if (request.openRequest !== null)
      sendResult(state, request, reply, respond(state, request.openRequest.context, request));
  };

/** Adds every endpoint of the document. Source: Endpoints 1 to 12. */
export function addRoutes(app: FastifyInstance, state: ServerState): void {
  const add = (method: "GET" | "POST", url: string, operation: Operation, schema: FastifySchema, handle: Handle) =>
    app.route<RouteShape>({
      method,
      url,
      schema,
      attachValidation: true,
      config: { operation },
      handler: (request, reply) => void handle(state, request, reply),
    });
  const agent = "/v1/agents/:agent_id";
  add("POST", `${agent}/invoke`, "invoke", agentSchemas.invoke, answerInvoke);
  add("POST", `${agent}/stream`, "stream", agentSchemas.stream, answerStream);
  add("GET", `${agent}/health`, "health", agentSchemas.health, ofAgent(health));
  add("GET", "/v1/agents", "list", agentSchemas.list, whole(listOf));
  add("GET", "/v1/usage", "usage", agentSchemas.usage, whole(usage));
  add("GET", agent, "describeAgent", operationSchemas.describe, ofAgent(describeAgent));
  add("GET", "/v1/keys/usage", "keyUsage", operationSchemas.keyUsage, whole(keyUsage));
  const operation = "/v1/operations/:operation_id";
  add("GET", operation, "checkOperation", operationSchemas.checkOperation, ofOperation(checkOperation));
  add("POST", `${agent}/batch`, "batch", operationSchemas.batch, ofAgent(submitBatch));
  add("POST", `/api${agent}/execute/:entrypoint_tag`, "execute", operationSchemas.execute, answerExecute);
  add("POST", "/v1/webhooks", "createWebhook", webhookSchemas.createWebhook, ofBody(createWebhook));
  const webhook = "/v1/webhooks/:webhook_id";
  add("GET", `${webhook}/deliveries`, "listDeliveries", webhookSchemas.listDeliveries, ofWebhook(listDeliveries));
  add("GET", `${webhook}/metrics`, "webhookMetrics", webhookSchemas.webhookMetrics, ofWebhook(webhookMetrics));
  add("POST", "/v1/alerts", "createAlert", webhookSchemas.createAlert, ofBody(createAlert));
}

type OfOne = (state: ServerState, context: RequestContext, id: string, body: unknown) => RouteResult;

const ofAgent = (respond: OfOne): Handle =>
  whole((state, context, { params, body }) => respond(state, context, params.agent_id, body));
const ofOperation = (respond: OfOne): Handle =>
  whole((state, context, { params, body }) => respond(state, context, params.operation_id, body));
const ofWebhook = (respond: OfOne): Handle =>
  whole((state, context, { params, body }) => respond(state, context, params.webhook_id, body));
const ofBody = (respond: (state: ServerState, context: RequestContext, body: unknown) => RouteResult): Handle =>
  whole((state, context, { body }) => respond(state, context, body));

async function answerInvoke(state: ServerState, request: RouteRequest, reply: FastifyReply): Promise<void> {
  reply.hijack();
  if (request.openRequest === null) return;
  const { context, client } = request.openRequest;
  try {
    const given = await invoke(state, context, client, arrivalOf(request));
    sendResult(state, request, reply, given);
  } catch {
    sendResult(state, request, reply, failed(apiError("crash", "The server failed.")));
  }
}

async function answerStream(state: ServerState, request: RouteRequest, reply: FastifyReply): Promise<void> {
  reply.hijack();
  if (request.openRequest === null) return;
  const { context, client } = request.openRequest;
  const arrival = arrivalOf(request);
  const refused = validateExecution(state, context, arrival);
  const agent = state.agents.get(arrival.agentId);
  if (refused !== null || agent === undefined) {
    sendResult(state, request, reply, failed(refused ?? unknownAgentError));
    return;
  }
  try {
    await stream(state, context, client, reply.raw, agent, arrival);
  } catch {
    reply.raw.destroy();
  }
}

function listOf(state: ServerState, context: RequestContext, request: RouteRequest): RouteResult {
  const [breach] = breachesOf(request);
  return breach === undefined
    ? listAgents(state, context, request.query)
    : failed(fieldError("invalid-input", breach.path.slice(1), breach.message));
}

function answerExecute(state: ServerState, request: RouteRequest, reply: FastifyReply): Promise<void> {
  const streams = request.params.entrypoint_tag?.endsWith("_stream") === true;
  return streams ? answerStream(state, request, reply) : answerInvoke(state, request, reply);
}

function arrivalOf(request: RouteRequest): IncomingExecution {
  const { agent_id: agentId, entrypoint_tag: tag = null } = request.params;
  return { agentId, tag, body: request.body, violations: breachesOf(request) };
}

function breachesOf(request: RouteRequest): readonly SchemaViolation[] {
  const found: readonly FastifySchemaValidationError[] = request.validationError?.validation ?? [];
  return found.map(({ keyword, instancePath, params, message }) => ({
    rule: keyword,
    path: instancePath,
    missing: typeof params["missingProperty"] === "string" ? params["missingProperty"] : "",
    message: message ?? keyword,
  }));
}
