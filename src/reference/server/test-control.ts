import type { FastifyInstance, FastifyRequest } from "fastify";
import { tierNames } from "../../spec/tiers.ts";
import { agentsByRole } from "../agents.ts";
import { apiError, type ApiError, fieldError } from "../api-error.ts";
import { isVirtualClock } from "../clock.ts";
import { fieldsOf } from "../json-edit.ts";
import type { KeyTraits } from "../keys.ts";
import { failed, ok, type RouteResult, sendResult } from "./response.ts";
import type { ServerState } from "./state.ts";
import { readTrouble } from "./trouble.ts";

/** The path of the test control, from the origin. `schemas/test-control.openapi.json` describes its calls. */
export const testControlPath = "/test-control";

const loopbackNames: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]", "::1"]);
const isLoopbackAddress = (address: string): boolean => /^(::ffff:)?127\./.test(address) || address === "::1";

/**
 * Whether the test control is on for a request. It is on at a named host. It is also on at a loopback address under a
 * loopback name: a web page cannot reach it there by a host name of its own.
 */
function isTestControlOn({ controlToken, controlHosts }: ServerState, { hostname, socket }: FastifyRequest): boolean {
  const isLocal = isLoopbackAddress(socket.localAddress ?? "") && loopbackNames.has(hostname);
  return controlToken !== null && (isLocal || controlHosts.includes(hostname.toLowerCase()));
}

/** Refuses a control request as an unknown path if the test control is off for it, or lacks the call. */
export const testControlOffError = (state: ServerState, request: FastifyRequest): ApiError | null =>
  isControlPath(request) && (request.is404 || !isTestControlOn(state, request))
    ? apiError("unknown-path", "This path is not defined.")
    : null;

/** Whether a request is for a path of the test control, which may exist or not. */
const isControlPath = ({ url }: FastifyRequest): boolean => /^\/test-control(?:[/?]|$)/.test(url);

/** Adds the calls of the test control that have no other path: what it offers, trouble, keys and agents. */
export function addTestControlRoutes(app: FastifyInstance, state: ServerState): void {
  const add = (method: "GET" | "POST", path: string, respond: (body: unknown) => RouteResult) =>
    app.route({
      method,
      url: testControlPath + path,
      schema: { hide: true },
      config: { endpoint: "control" },
      handler: (request, reply) => sendResult(request, reply, respond(request.body)),
    });
  add("GET", "", () => ok(discoveryDocument(state)));
  add("POST", "/trouble", (body) => planTrouble(state, body));
  add("POST", "/keys", (body) => issueKey(state, body));
  add("GET", "/agents", () => ok({ agents: agentsForRoles() }));
}

/** Makes the discovery document of the test control, which lists its calls. */
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

/**
 * The fields of a request for a key: whether a value is valid, and the reason that the error gives for an invalid one.
 */
const traitRules = {
  scope: { isRight: (value: unknown) => value === "read-only", reason: "must be read-only" },
  agents: { isRight: isTextList, reason: "must be a list of strings" },
  allowed_ips: { isRight: isTextList, reason: "must be a list of strings" },
  expires_in_seconds: { isRight: isCount, reason: "must be an integer of 0 or more" },
  tokens_used: { isRight: isCount, reason: "must be an integer of 0 or more" },
} as const;

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function traitsOf(fields: Readonly<Record<string, unknown>>): Partial<KeyTraits> | ApiError {
  for (const [name, { isRight, reason }] of Object.entries(traitRules))
    if (fields[name] !== undefined && !isRight(fields[name])) return fieldError("invalid-input", name, reason);
  const given = {
    scope: fields["scope"],
    agents: fields["agents"],
    allowedIps: fields["allowed_ips"],
    expiresInSeconds: fields["expires_in_seconds"],
    tokensUsedBefore: fields["tokens_used"],
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Returns the id of the agent for each role, under the names that a target file uses. */
function agentsForRoles(): object {
  const { longStream: _long, slowStream, multiByte: _multi, otherVersion: _other, ...roles } = agentsByRole;
  return { ...roles, slowStreaming: slowStream };
}
