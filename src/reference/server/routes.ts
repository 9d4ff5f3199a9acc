import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifySchemaValidationError,
} from "fastify";
import type { SchemaBreach } from "../behaviour/invoking.ts";
import { fieldTrouble, trouble, type Operation } from "../trouble.ts";
import { answer, failed, type Answer } from "./answer.ts";
import { checkOperation, submitBatch } from "./batch.ts";
import type { Exchange } from "./exchange.ts";
import { describeAgent, health, invoke, keyUsage, listAgents, usage, type ListQuery } from "./operations.ts";
import { otherSchemas } from "./other-schemas.ts";
import { routeSchemas } from "./schemas.ts";
import type { ServerState } from "./state.ts";
import { stream } from "./stream.ts";
import { turnTrouble, unknownAgent, type TurnArrival } from "./turn.ts";
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
  (respond: (state: ServerState, exchange: Exchange, request: RouteRequest) => Answer): Handle =>
  (state, request, reply) => {
    if (request.inHand !== null) answer(state, request, reply, respond(state, request.inHand.exchange, request));
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
  add("POST", `${agent}/invoke`, "invoke", routeSchemas.invoke, answerInvoke);
  add("POST", `${agent}/stream`, "stream", routeSchemas.stream, answerStream);
  add("GET", `${agent}/health`, "health", routeSchemas.health, ofAgent(health));
  add("GET", "/v1/agents", "list", routeSchemas.list, whole(listOf));
  add("GET", "/v1/usage", "usage", routeSchemas.usage, whole(usage));
  add("GET", agent, "describeAgent", otherSchemas.describe, ofAgent(describeAgent));
  add("GET", "/v1/keys/usage", "keyUsage", otherSchemas.keyUsage, whole(keyUsage));
  const operation = "/v1/operations/:operation_id";
  add("GET", operation, "checkOperation", otherSchemas.checkOperation, ofOperation(checkOperation));
  add("POST", `${agent}/batch`, "batch", otherSchemas.batch, ofAgent(submitBatch));
  add("POST", `/api${agent}/execute/:entrypoint_tag`, "execute", otherSchemas.execute, answerExecute);
  add("POST", "/v1/webhooks", "createWebhook", webhookSchemas.createWebhook, ofBody(createWebhook));
  const webhook = "/v1/webhooks/:webhook_id";
  add("GET", `${webhook}/deliveries`, "listDeliveries", webhookSchemas.listDeliveries, ofWebhook(listDeliveries));
  add("GET", `${webhook}/metrics`, "webhookMetrics", webhookSchemas.webhookMetrics, ofWebhook(webhookMetrics));
  add("POST", "/v1/alerts", "createAlert", webhookSchemas.createAlert, ofBody(createAlert));
}

type OfOne = (state: ServerState, exchange: Exchange, id: string, body: unknown) => Answer;

const ofAgent = (respond: OfOne): Handle =>
  whole((state, exchange, { params, body }) => respond(state, exchange, params.agent_id, body));
const ofOperation = (respond: OfOne): Handle =>
  whole((state, exchange, { params, body }) => respond(state, exchange, params.operation_id, body));
const ofWebhook = (respond: OfOne): Handle =>
  whole((state, exchange, { params, body }) => respond(state, exchange, params.webhook_id, body));
const ofBody = (respond: (state: ServerState, exchange: Exchange, body: unknown) => Answer): Handle =>
  whole((state, exchange, { body }) => respond(state, exchange, body));

async function answerInvoke(state: ServerState, request: RouteRequest, reply: FastifyReply): Promise<void> {
  reply.hijack();
  if (request.inHand === null) return;
  const { exchange, client } = request.inHand;
  try {
    const given = await invoke(state, exchange, client, arrivalOf(request));
    answer(state, request, reply, given);
  } catch {
    answer(state, request, reply, failed(trouble("crash", "The server failed.")));
  }
}

async function answerStream(state: ServerState, request: RouteRequest, reply: FastifyReply): Promise<void> {
  reply.hijack();
  if (request.inHand === null) return;
  const { exchange, client } = request.inHand;
  const arrival = arrivalOf(request);
  const refused = turnTrouble(state, exchange, arrival);
  const agent = state.agents.get(arrival.agentId);
  if (refused !== null || agent === undefined) {
    answer(state, request, reply, failed(refused ?? unknownAgent));
    return;
  }
  try {
    await stream(state, exchange, client, reply.raw, agent, arrival);
  } catch {
    reply.raw.destroy();
  }
}

function listOf(state: ServerState, exchange: Exchange, request: RouteRequest): Answer {
  const [breach] = breachesOf(request);
  return breach === undefined
    ? listAgents(state, exchange, request.query)
    : failed(fieldTrouble("invalid-input", breach.path.slice(1), breach.message));
}

function answerExecute(state: ServerState, request: RouteRequest, reply: FastifyReply): Promise<void> {
  const streams = request.params.entrypoint_tag?.endsWith("_stream") === true;
  return streams ? answerStream(state, request, reply) : answerInvoke(state, request, reply);
}

function arrivalOf(request: RouteRequest): TurnArrival {
  const { agent_id: agentId, entrypoint_tag: tag = null } = request.params;
  return { agentId, tag, body: request.body, breaches: breachesOf(request) };
}

function breachesOf(request: RouteRequest): readonly SchemaBreach[] {
  const found: readonly FastifySchemaValidationError[] = request.validationError?.validation ?? [];
  return found.map(({ keyword, instancePath, params, message }) => ({
    rule: keyword,
    path: instancePath,
    missing: typeof params["missingProperty"] === "string" ? params["missingProperty"] : "",
    message: message ?? keyword,
  }));
}
