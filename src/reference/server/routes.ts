import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaValidationError } from "fastify";
import type { SchemaBreach } from "../behaviour/invoking.ts";
import { fieldTrouble, trouble } from "../trouble.ts";
import { failed } from "./answer.ts";
import { health, invoke, listAgents, usage, type ListQuery } from "./operations.ts";
import { routeSchemas } from "./schemas.ts";
import { answer } from "./respond.ts";
import type { ServerState } from "./state.ts";
import { stream } from "./stream.ts";
import { turnTrouble, type TurnArrival } from "./turn.ts";

interface AgentRoute {
  Params: { agent_id: string };
}

/** A route that runs an agent: by the tag of an entrypoint, where its path has one. */
export interface TurnRoute {
  Params: { agent_id: string; entrypoint_tag?: string };
}

/** Adds the endpoints of the document that this server has. Source: Endpoints 1 to 5. */
export function addRoutes(app: FastifyInstance, state: ServerState): void {
  const attachValidation = true;
  app.post<AgentRoute>(
    "/v1/agents/:agent_id/invoke",
    { schema: routeSchemas.invoke, attachValidation, config: { operation: "invoke" } },
    (request, reply) => void answerInvoke(state, request, reply),
  );
  app.post<AgentRoute>(
    "/v1/agents/:agent_id/stream",
    { schema: routeSchemas.stream, attachValidation, config: { operation: "stream" } },
    (request, reply) => void answerStream(state, request, reply),
  );
  app.get<AgentRoute>(
    "/v1/agents/:agent_id/health",
    { schema: routeSchemas.health, attachValidation, config: { operation: "health" } },
    (request, reply) => {
      if (request.inHand === null) return;
      answer(state, request, reply, health(state, request.inHand.exchange, request.params.agent_id));
    },
  );
  app.get<{ Querystring: ListQuery }>(
    "/v1/agents",
    { schema: routeSchemas.list, attachValidation, config: { operation: "list" } },
    (request, reply) => answerList(state, request, reply),
  );
  app.get("/v1/usage", { schema: routeSchemas.usage, config: { operation: "usage" } }, (request, reply) => {
    if (request.inHand !== null) answer(state, request, reply, usage(state, request.inHand.exchange));
  });
}

export async function answerInvoke(
  state: ServerState,
  request: FastifyRequest<TurnRoute>,
  reply: FastifyReply,
): Promise<void> {
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

export async function answerStream(
  state: ServerState,
  request: FastifyRequest<TurnRoute>,
  reply: FastifyReply,
): Promise<void> {
  reply.hijack();
  if (request.inHand === null) return;
  const { exchange, client } = request.inHand;
  const arrival = arrivalOf(request);
  const refused = turnTrouble(state, exchange, arrival);
  const agent = state.agents.get(arrival.agentId);
  if (refused !== null || agent === undefined) {
    answer(state, request, reply, failed(refused ?? trouble("agent-not-found", "No such agent.")));
    return;
  }
  try {
    await stream(state, exchange, client, reply.raw, agent, arrival);
  } catch {
    reply.raw.destroy();
  }
}

function answerList(
  state: ServerState,
  request: FastifyRequest<{ Querystring: ListQuery }>,
  reply: FastifyReply,
): void {
  if (request.inHand === null) return;
  const [breach] = breachesOf(request);
  const given =
    breach === undefined
      ? listAgents(state, request.inHand.exchange, request.query)
      : failed(fieldTrouble("invalid-input", breach.path.slice(1), breach.message));
  answer(state, request, reply, given);
}

function arrivalOf(request: FastifyRequest<TurnRoute>): TurnArrival {
  const { agent_id: agentId, entrypoint_tag: tag = null } = request.params;
  return { agentId, tag, body: request.body, breaches: breachesOf(request) };
}

function breachesOf(request: {
  readonly validationError?: FastifyRequest["validationError"] | undefined;
}): readonly SchemaBreach[] {
  const found: readonly FastifySchemaValidationError[] = request.validationError?.validation ?? [];
  return found.map(({ keyword, instancePath, params, message }) => ({
    rule: keyword,
    path: instancePath,
    missing: typeof params["missingProperty"] === "string" ? params["missingProperty"] : "",
    message: message ?? keyword,
  }));
}
