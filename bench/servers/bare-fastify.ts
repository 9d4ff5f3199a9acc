import fastify from "fastify";
import { z } from "zod";

import { agentSchemas } from "../../src/reference/server/agent-schemas.ts";

const optionsSchema = z.object({ invoke: z.unknown(), health: z.unknown(), list: z.unknown() });

/** Starts fastify with three routes of the reference server and fixed responses, but without keys and rate limits. */
export async function start(options: unknown): Promise<{ readonly url: string; readonly key: string }> {
  const { invoke, health, list } = optionsSchema.parse(options);
  const app = fastify();
  const { params, body } = agentSchemas.invoke;
  app.post("/v1/agents/:agent_id/invoke", { schema: { params, body } }, (_request, reply) => reply.send(invoke));
  app.get("/v1/agents/:agent_id/health", { schema: { params } }, (_request, reply) => reply.send(health));
  const { querystring } = agentSchemas.list;
  app.get("/v1/agents", { schema: { querystring } }, (_request, reply) => reply.send(list));
  return { url: `${await app.listen({ host: "127.0.0.1", port: 0 })}/v1`, key: "" };
}
