import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { healthStatuses, type HealthStatus } from "../../spec/events-and-errors.ts";
import { tierNames } from "../../spec/tiers.ts";
import { agentsByRole, type Agent } from "../agents.ts";
import { apiError, fieldError, type ApiError } from "../behaviour/errors.ts";
import { isSameSecret } from "../behaviour/authentication.ts";
import { isVirtualClock, type VirtualClock } from "../clock.ts";
import type { Endpoint } from "../endpoint.ts";
import { fieldsOf } from "../json-edit.ts";
import type { KeyTraits } from "../keys.ts";
import { loopbackNetworks } from "../webhooks/address-guard.ts";
import { deploy, type DeploymentChange } from "./deployments.ts";
import { unknownAgentError } from "./execution.ts";
import { failed, ok, sendResult, type RouteResult } from "./http.ts";
import { readTrouble, type ServerState } from "./state.ts";

/**
 * Path of the test control: calls by which tests advance the clock, issue keys or cause failures.
 * `schemas/test-control.openapi.json` describes these calls.
 */
const testControlPath = "/test-control";

/** Request header for the control token. A server with a control token refuses control calls without that token. */
export const controlTokenHeader = "X-Control-Token";

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

export function addControlRoutes(app: FastifyInstance, state: ServerState): void {
  const add = (method: "GET" | "POST", url: string, respond: (body: unknown) => RouteResult) =>
    app.route({
      method,
      url,
      schema: { hide: true },
      config: { endpoint: "control" },
      handler: (request, reply) => sendResult(request, reply, respond(request.body)),
    });
  for (const prefix of ["/control", testControlPath]) {
    add("POST", `${prefix}/deployments`, (body) => controlDeployment(state, body));
    add("GET", `${prefix}/keys`, () => ok(keyUseReport(state)));
  }
  if (isVirtualClock(state.clock))
    for (const prefix of ["", testControlPath]) addClockRoute(app, state, state.clock, `${prefix}/clock/advance`);
  add("GET", testControlPath, () => ok(discoveryDocument(state)));
  add("POST", `${testControlPath}/trouble`, (body) => planTrouble(state, body));
  add("POST", `${testControlPath}/keys`, (body) => issueKey(state, body));
  add("GET", `${testControlPath}/agents`, () => ok({ agents: agentsForRoles() }));
}

function keyUseReport({ startId, ring, lastUsedMs }: ServerState): object {
  // The name of a key's account is the text of the key, unless a fault or variant changes that.
  const lastUsedAt = (account: string): string | null => {
    const ms = lastUsedMs.get(account);
    return ms === undefined ? null : new Date(ms).toISOString();
  };
  const keys = ring.keys.map(({ name, key }) => [name, { last_used_at: lastUsedAt(key) }]);
  return { start: startId, keys: Object.fromEntries(keys) };
}

/** Maximum seconds by which one request may advance the virtual clock: ten years. More could make dates invalid. */
const maxAdvanceSeconds = 315_576_000;

function addClockRoute(app: FastifyInstance, state: ServerState, clock: VirtualClock, path: string): void {
  const seconds = { type: "number", minimum: 0, maximum: maxAdvanceSeconds };
  const body = { type: "object", properties: { seconds }, required: ["seconds"] };
  app.post<{ Body: { seconds: number } }>(
    path,
    { config: { endpoint: "clock" }, schema: { hide: true, body }, attachValidation: true },
    async (request, reply) => {
      reply.hijack();
      if (request.validationError !== undefined) {
        const refused = fieldError("invalid-input", "seconds", `must be a number from 0 to ${maxAdvanceSeconds}`);
        return sendResult(request, reply, failed(refused));
      }
      await clock.advance(Math.round(request.body.seconds * 1000), () => state.outbox.whenIdle());
      return sendResult(request, reply, ok({ now: new Date(clock.now()).toISOString() }));
    },
  );
}

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

function otherHealth(agent: Agent | undefined): HealthStatus {
  return agent?.health === "healthy" ? "degraded" : "healthy";
}

const loopbackNames: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]", "::1"]);

/**
 * Whether a request may use `/test-control`. Without a control token, none may. Accepts only known host names, because
 * a web page could reach a loopback address by DNS rebinding.
 */
function isTestControlOn({ controlToken, controlHosts }: ServerState, { hostname, socket }: FastifyRequest): boolean {
  const isLocal = loopbackNetworks.has(socket.localAddress ?? "") && loopbackNames.has(hostname);
  return controlToken !== null && (isLocal || controlHosts.includes(hostname.toLowerCase()));
}

export const testControlOffError = (state: ServerState, request: FastifyRequest): ApiError | null =>
  isControlPath(request) && (request.is404 || !isTestControlOn(state, request))
    ? apiError("unknown-path", "This path is not defined.")
    : null;

const isControlPath = ({ url }: FastifyRequest): boolean => /^\/test-control(?:[/?]|$)/.test(url);

function discoveryDocument({ clock }: ServerState): object {
  const always = ["deployments", "trouble", "keys", "key-use", "agents"];
  const hasClock = isVirtualClock(clock);
  return {
    contract: "agent-hosting-test-control",
    version: 1,
    calls: hasClock ? ["clock", ...always] : always,
    ...(hasClock && { agents_follow_clock: true }),
  };
}

function planTrouble(state: ServerState, body: unknown): RouteResult {
  const planned = readTrouble(body);
  if ("cause" in planned) return failed(planned);
  state.trouble.plan(planned);
  const { kind, seconds, requests, agentId } = planned;
  return ok({ kind, seconds, requests, agent_id: agentId });
}

function issueKey({ ring, clock }: ServerState, body: unknown): RouteResult {
  const fields = fieldsOf(body);
  const tier = tierNames.find((each) => each === fields["tier"]);
  if (tier === undefined) return failed(fieldError("invalid-input", "tier", `must be ${tierNames.join(", ")}`));
  const traits = traitsOf(fields);
  if ("cause" in traits) return failed(traits);
  const { name, key } = ring.issue(tier, traits, clock.now());
  return ok({ name, key, tier });
}

/** For each field that limits a key: the trait that it sets, and the values that it may have. */
const traitRules = {
  scope: { trait: "scope", isValid: (value: unknown) => value === "read-only", reason: "must be read-only" },
  agents: { trait: "agents", isValid: isTextList, reason: "must be a list of strings" },
  allowed_ips: { trait: "allowedIps", isValid: isTextList, reason: "must be a list of strings" },
  expires_in_seconds: { trait: "expiresInSeconds", isValid: isCount, reason: "must be an integer of 0 or more" },
  tokens_used: { trait: "tokensUsedBefore", isValid: isCount, reason: "must be an integer of 0 or more" },
} as const;

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function traitsOf(fields: Readonly<Record<string, unknown>>): Partial<KeyTraits> | ApiError {
  const given = Object.entries(traitRules).filter(([name]) => fields[name] !== undefined);
  for (const [name, { isValid, reason }] of given)
    if (!isValid(fields[name])) return fieldError("invalid-input", name, reason);
  return Object.fromEntries(given.map(([name, { trait }]) => [trait, fields[name]]));
}

function agentsForRoles(): object {
  const { longStream: _long, slowStream, multiByte: _multi, otherVersion: _other, ...roles } = agentsByRole;
  return { ...roles, slowStreaming: slowStream };
}
