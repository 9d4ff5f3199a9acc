import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import { healthStatuses, type HealthStatus } from "../../spec/events.ts";
import type { Agent } from "../agents.ts";
import { isSameSecret } from "../behaviour/authentication.ts";
import { isVirtualClock, type VirtualClock } from "../clock.ts";
import { fieldsOf } from "../json-edit.ts";
import { fieldError, apiError, type ApiError } from "../api-error.ts";
import type { Endpoint } from "../endpoint.ts";
import { sendResult, failed, ok, type RouteResult } from "./response.ts";
import { deploy, type DeploymentChange } from "./deployments.ts";
import type { ServerState } from "./state.ts";
import { unknownAgentError } from "./execution.ts";
import { addTestControlRoutes, testControlPath } from "./test-control.ts";

/** The name of the header with the control token. Requests that move the clock or change a deployment need it. */
export const controlTokenHeader = "X-Control-Token";

/**
 * Returns the error of a control request without the right token, or `null`. A server without a token accepts every
 * control request.
 */
export function validateControlToken(
  endpoint: Endpoint,
  headers: IncomingHttpHeaders,
  token: string | null,
): ApiError | null {
  if (token === null || (endpoint !== "clock" && endpoint !== "control")) return null;
  const given = headers[controlTokenHeader.toLowerCase()];
  return typeof given === "string" && isSameSecret(given, token)
    ? null
    : apiError("wrong-key", `This needs the control token of the server in the header ${controlTokenHeader}.`);
}

/**
 * Adds the control routes, which are not in the document. Those of the test control are one contract, which other
 * servers may implement. `/control` and `/clock` are older names of three of them.
 */
export function addControlRoutes(app: FastifyInstance, state: ServerState): void {
  for (const prefix of ["/control", testControlPath]) {
    const options = { schema: { hide: true }, config: { endpoint: "control" } } as const;
    app.post(`${prefix}/deployments`, options, (request, reply) =>
      sendResult(request, reply, controlDeployment(state, request.body)),
    );
    app.get(`${prefix}/keys`, options, (request, reply) => sendResult(request, reply, ok(keyUseReport(state))));
  }
  if (isVirtualClock(state.clock))
    for (const prefix of ["", testControlPath]) addClockRoute(app, state, state.clock, `${prefix}/clock/advance`);
  addTestControlRoutes(app, state);
}

/** Returns when each key was last used since this start of the server, by the key's name. */
function keyUseReport({ startId, ring, lastUsedMs }: ServerState): object {
  // The name of an account is the text of its key.
  const lastUsedAt = (account: string): string | null => {
    const ms = lastUsedMs.get(account);
    return ms === undefined ? null : new Date(ms).toISOString();
  };
  const keys = ring.keys.map(({ name, key }) => [name, { last_used_at: lastUsedAt(key) }]);
  return { start: startId, keys: Object.fromEntries(keys) };
}

/**
 * Greatest number of seconds by which a request may move the clock: ten years. This is longer than any window, and
 * short enough that every instant is a valid date.
 */
const maxMoveSeconds = 315_576_000;

/** Adds a route that moves a virtual clock: a `POST` with `{ "seconds": number }`. */
function addClockRoute(app: FastifyInstance, state: ServerState, clock: VirtualClock, path: string): void {
  const seconds = { type: "number", minimum: 0, maximum: maxMoveSeconds };
  const body = { type: "object", properties: { seconds }, required: ["seconds"] };
  app.post<{ Body: { seconds: number } }>(
    path,
    { config: { endpoint: "clock" }, schema: { hide: true, body }, attachValidation: true },
    async (request, reply) => {
      reply.hijack();
      if (request.validationError !== undefined) {
        const refused = fieldError("invalid-input", "seconds", `must be a number from 0 to ${maxMoveSeconds}`);
        return sendResult(request, reply, failed(refused));
      }
      await clock.advance(Math.round(request.body.seconds * 1000), () => state.outbox.whenIdle());
      return sendResult(request, reply, ok({ now: new Date(clock.now()).toISOString() }));
    },
  );
}

/** Handles `POST /control/deployments`: changes a deployment as the request's body says. */
function controlDeployment(state: ServerState, body: unknown): RouteResult {
  const { agent_id: agentId, event, status = null } = fieldsOf(body);
  if (typeof agentId !== "string" || agentId === "")
    return failed(fieldError("invalid-input", "agent_id", "must be a string that is not empty"));
  const before = state.agents.get(agentId);
  const change = changeOf(event, agentId, status ?? otherHealth(before));
  if (change === null) {
    const reason = `must be created, updated, deleted, or health_changed with a status of ${healthStatuses.join(", ")}`;
    return failed(fieldError("invalid-input", "event", reason));
  }
  const agent = deploy(state, change);
  if (agent === null) return failed(unknownAgentError);
  const { version, health, deployment } = agent;
  return ok({ agent_id: agentId, event, deployment_id: deployment.id, version, status: health });
}

function changeOf(event: unknown, agentId: string, status: unknown): DeploymentChange | null {
  if (event === "created" || event === "updated" || event === "deleted") return { kind: event, agentId };
  const health = healthStatuses.find((known) => known === status);
  return event === "health_changed" && health !== undefined ? { kind: event, agentId, health } : null;
}

/** Returns a health status other than the agent's current one. */
function otherHealth(agent: Agent | undefined): HealthStatus {
  return agent?.health === "healthy" ? "degraded" : "healthy";
}
