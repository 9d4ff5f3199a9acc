import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { checkOperation, submitBatch } from "./batch.ts";
import { describeAgent, keyUsage } from "./describe.ts";
import { otherSchemas } from "./other-schemas.ts";
import { answer } from "./respond.ts";
import { answerInvoke, answerStream, type TurnRoute } from "./routes.ts";
import type { ServerState } from "./state.ts";

interface AgentRoute {
  Params: { agent_id: string };
}

interface ExecuteRoute {
  Params: { agent_id: string; entrypoint_tag: string };
}

/** Adds the endpoints whose path or answer the document leaves open. Source: Endpoints 9 to 12. */
export function addOtherRoutes(app: FastifyInstance, state: ServerState): void {
  app.get<AgentRoute>(
    "/v1/agents/:agent_id",
    { schema: otherSchemas.describe, config: { operation: "describeAgent" } },
    (request, reply) => {
      if (request.inHand === null) return;
      answer(state, request, reply, describeAgent(state, request.inHand.exchange, request.params.agent_id));
    },
  );
  app.get("/v1/keys/usage", { schema: otherSchemas.keyUsage, config: { operation: "keyUsage" } }, (request, reply) => {
    if (request.inHand !== null) answer(state, request, reply, keyUsage(state, request.inHand.exchange));
  });
  app.get<{ Params: { operation_id: string } }>(
    "/v1/operations/:operation_id",
    { schema: otherSchemas.checkOperation, config: { operation: "checkOperation" } },
    (request, reply) => {
      if (request.inHand === null) return;
      answer(state, request, reply, checkOperation(state, request.inHand.exchange, request.params.operation_id));
    },
  );
  app.post<AgentRoute>(
    "/v1/agents/:agent_id/batch",
    { schema: otherSchemas.batch, attachValidation: true, config: { operation: "batch" } },
    (request, reply) => {
      if (request.inHand === null) return;
      const { body, params } = request;
      answer(state, request, reply, submitBatch(state, request.inHand.exchange, params.agent_id, body));
    },
  );
  app.post<ExecuteRoute>(
    "/api/v1/agents/:agent_id/execute/:entrypoint_tag",
    { schema: otherSchemas.execute, attachValidation: true, config: { operation: "execute" } },
    (request, reply) => void answerExecute(state, request, reply),
  );
}

function answerExecute(state: ServerState, request: FastifyRequest<TurnRoute>, reply: FastifyReply): Promise<void> {
  const streams = request.params.entrypoint_tag?.endsWith("_stream") === true;
  return streams ? answerStream(state, request, reply) : answerInvoke(state, request, reply);
}
