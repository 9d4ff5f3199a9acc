import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifySchemaValidationError,
} from "fastify";
import type { SchemaViolation } from "../behaviour/execution.ts";
import { fieldError, apiError } from "../behaviour/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import { sendResult, failed, type RouteResult } from "./http.ts";
import {
  checkOperation,
  createAlert,
  createWebhook,
  describeAgent,
  handleHealth,
  handleInvoke,
  handleKeyUsage,
  handleUsage,
  listAgents,
  listDeliveries,
  type ListQuery,
  startOperation,
  submitBatch,
  webhookMetrics,
} from "./handlers.ts";
import type { RequestContext } from "./admission.ts";
import { agentSchemas, operationSchemas } from "./agent-schemas.ts";
import { handleStream } from "./stream.ts";
import { validateExecution, unknownAgentError, type IncomingExecution } from "./execution.ts";
import { webhookSchemas } from "./webhook-schemas.ts";

interface RouteShape {
  Params: { agent_id: string; entrypoint_tag?: string; operation_id: string; webhook_id: string };
  Querystring: ListQuery;
}
type RouteRequest = FastifyRequest<RouteShape>;

type RouteHandler = (context: RequestContext, request: RouteRequest, reply: FastifyReply) => void | Promise<void>;

const respondAtOnce =
  (respond: (context: RequestContext, request: RouteRequest) => RouteResult): RouteHandler =>
  (context, request, reply) =>
    sendResult(request, reply, respond(context, request));

/** Adds a route for each endpoint of the interface document. Source: Endpoints 1 to 12. */
export function addRoutes(app: FastifyInstance): void {
  const add = (method: "GET" | "POST", url: string, endpoint: Endpoint, schema: FastifySchema, handle: RouteHandler) =>
    app.route<RouteShape>({
      method,
      url,
      schema,
      attachValidation: true,
      config: { endpoint },
      handler: (request, reply) => void (request.requestContext && handle(request.requestContext, request, reply)),
    });
  const agent = "/v1/agents/:agent_id";
  add("POST", `${agent}/invoke`, "invoke", agentSchemas.invoke, sendInvoke);
  add("POST", `${agent}/stream`, "stream", agentSchemas.stream, sendStream);
  add("GET", `${agent}/health`, "health", agentSchemas.health, byAgent(handleHealth));
  add("GET", "/v1/agents", "list", agentSchemas.list, respondAtOnce(listForQuery));
  add("GET", "/v1/usage", "usage", agentSchemas.usage, respondAtOnce(handleUsage));
  add("GET", agent, "describeAgent", operationSchemas.describe, byAgent(describeAgent));
  add("GET", "/v1/keys/usage", "keyUsage", operationSchemas.keyUsage, respondAtOnce(handleKeyUsage));
  const operation = "/v1/operations/:operation_id";
  add("GET", operation, "checkOperation", operationSchemas.checkOperation, byOperation(checkOperation));
  add("POST", `${agent}/batch`, "batch", operationSchemas.batch, byAgent(submitBatch));
  const start = operationSchemas.startOperation;
  add("POST", `${agent}/operations`, "startOperation", start, byAgent(startOperation));
  add("POST", `/api${agent}/execute/:entrypoint_tag`, "execute", operationSchemas.execute, sendExecute);
  add("POST", "/v1/webhooks", "createWebhook", webhookSchemas.createWebhook, byBody(createWebhook));
  const webhook = "/v1/webhooks/:webhook_id";
  add("GET", `${webhook}/deliveries`, "listDeliveries", webhookSchemas.listDeliveries, byWebhook(listDeliveries));
  add("GET", `${webhook}/metrics`, "webhookMetrics", webhookSchemas.webhookMetrics, byWebhook(webhookMetrics));
  add("POST", "/v1/alerts", "createAlert", webhookSchemas.createAlert, byBody(createAlert));
}

type RespondById = (context: RequestContext, id: string, body: unknown) => RouteResult;

const byAgent = (respond: RespondById): RouteHandler =>
  respondAtOnce((context, { params, body }) => respond(context, params.agent_id, body));
const byOperation = (respond: RespondById): RouteHandler =>
  respondAtOnce((context, { params, body }) => respond(context, params.operation_id, body));
const byWebhook = (respond: RespondById): RouteHandler =>
  respondAtOnce((context, { params, body }) => respond(context, params.webhook_id, body));
const byBody = (respond: (context: RequestContext, body: unknown) => RouteResult): RouteHandler =>
  respondAtOnce((context, { body }) => respond(context, body));

const sendInvoke: RouteHandler = async (context, request, reply) => {
  reply.hijack();
  const crash = failed(apiError("crash", "The server failed."));
  sendResult(request, reply, await handleInvoke(context, executionRequest(request)).catch(() => crash));
};

const sendStream: RouteHandler = async (context, request, reply) => {
  reply.hijack();
  const incoming = executionRequest(request);
  const error = validateExecution(context, incoming);
  const agent = context.state.agents.get(incoming.agentId);
  if (error !== null || agent === undefined) return sendResult(request, reply, failed(error ?? unknownAgentError));
  await handleStream(context, reply.raw, agent, incoming).catch(() => reply.raw.destroy());
};

const sendExecute: RouteHandler = (context, request, reply) => {
  const send = request.params.entrypoint_tag?.endsWith("_stream") === true ? sendStream : sendInvoke;
  return send(context, request, reply);
};

function listForQuery(context: RequestContext, request: RouteRequest): RouteResult {
  const [violation] = violationsOf(request);
  return violation === undefined
    ? listAgents(context, request.query)
    : failed(fieldError("invalid-input", violation.path.slice(1), violation.message));
}

function executionRequest(request: RouteRequest): IncomingExecution {
  const { agent_id: agentId, entrypoint_tag: tag = null } = request.params;
  return { agentId, tag, body: request.body, violations: violationsOf(request) };
}

function violationsOf(request: RouteRequest): readonly SchemaViolation[] {
  const found: readonly FastifySchemaValidationError[] = request.validationError?.validation ?? [];
  return found.map(({ keyword, instancePath, params, message }) => ({
    rule: keyword,
    path: instancePath,
    missing: typeof params["missingProperty"] === "string" ? params["missingProperty"] : "",
    message: message ?? keyword,
  }));
}
