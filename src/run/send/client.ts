import { encodedSegment } from "../../base/http.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { firstRequirementSet, type RequirementSet } from "../../spec/clause.ts";
import { withOwnFields } from "../../target/own-request.ts";
import type { RoleAssignment, TargetKey } from "../../target/target.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { type ClientContext, openAndRecord, sendAndRetry, type SharedClientState, takeSample } from "./send-request.ts";
import { openGuard, type SendOptions } from "./send-guard.ts";

/** A client that sends requests with one key of the target, and records them. */
export interface Client {
  readonly key: TargetKey;
  readonly as: (key: TargetKey) => Client;
  /**
   * Returns a copy of the client for one probe. After the next outage, the copy's requests throw {@link TargetLost}.
   * Before each request, it calls `onAdmitted` with the number of agent runs to expect, or 0 without `maxExecutions`.
   */
  readonly begin: (onAdmitted?: (executions: number) => void) => Client;
  /** Returns a copy of the client. Checks of requirement sets older than `requirements` ignore the copy's requests. */
  readonly since: (requirements: RequirementSet) => Client;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Exchange>;
  /** Starts a request at once, even if the key has no requests left. Returns before the response arrives. */
  readonly open: (method: string, path: string, options?: SendOptions) => PendingExchange;
  /** Sends a request at once. Records only the status, the times and the rate-limit values of the response. */
  readonly sample: (method: string, path: string, options?: SendOptions) => Promise<Sample>;
  /** Invokes an agent. If `agent` is a role assignment, `agent.body` overrides fields of `body`. */
  readonly invoke: (agent: string | RoleAssignment, body: object, options?: SendOptions) => Promise<Exchange>;
  readonly stream: (agent: string | RoleAssignment, body: object, options?: SendOptions) => Promise<Exchange>;
  readonly health: (agent: string, options?: SendOptions) => Promise<Exchange>;
  /**
   * Returns the body that the client would send for a POST of `text`, including fields that the target file adds for
   * the agent. A signature must cover this body.
   */
  readonly bodyToSend: (path: string, text: string) => string;
}

export function agentPath(who: string | RoleAssignment, endpoint: "invoke" | "stream" | "health"): string {
  const { agent, path } = typeof who === "string" ? { agent: who, path: null } : who;
  const template = path ?? "/agents/{agent_id}/{endpoint}";
  return template.replaceAll("{agent_id}", () => encodedSegment(agent)).replaceAll("{endpoint}", endpoint);
}

export const bodyFor = (who: string | RoleAssignment, body: object): object =>
  typeof who === "string" ? body : { ...body, ...who.body };

export const openClient = (context: ClientContext, key: TargetKey): Client =>
  clientWith(
    { ...context, guard: openGuard(context), outagesBefore: context.outages.count(), since: firstRequirementSet },
    key,
  );

function clientWith(shared: SharedClientState, key: TargetKey): Client {
  const send: Client["send"] = (method, path, options = {}) => sendAndRetry(shared, key, { method, path, options });
  return {
    key,
    as: (other) => clientWith(shared, other),
    begin: (onAdmitted) => clientWith({ ...shared, onAdmitted, outagesBefore: shared.outages.count() }, key),
    since: (requirements) => clientWith({ ...shared, since: requirements }, key),
    send,
    open: (method, path, options = {}) => openAndRecord(shared, key, { method, path, options }),
    sample: (method, path, options = {}) => takeSample(shared, key, { method, path, options }),
    invoke: (agent, body, options = {}) =>
      send("POST", agentPath(agent, "invoke"), { json: bodyFor(agent, body), ...options }),
    stream: (agent, body, options = {}) =>
      send("POST", agentPath(agent, "stream"), { json: bodyFor(agent, body), accept: "text/event-stream", ...options }),
    health: (agent, options = {}) => send("GET", agentPath(agent, "health"), options),
    bodyToSend: (path, text) => withOwnFields(shared.requestTarget, path, text),
  };
}
