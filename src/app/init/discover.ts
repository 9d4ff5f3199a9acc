import { getPath } from "../../base/json.ts";
import { bodyJson, envelopeContent, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { agentIds, discoverTarget, type DiscoveryResult } from "../../run/discovery/discover-target.ts";
import type { Client } from "../../run/send/client.ts";
import { inShortSession } from "../../run/run-context.ts";
import { isBudgetExhausted, type Messages, TargetUnavailable } from "../../run/skip-reason.ts";
import { deploymentEvents, healthStatuses } from "../../spec/events-and-errors.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import type { Network } from "../../base/network/network.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { HttpCall, ParsedTargetFile } from "../../target/target-file-schema.ts";
import { type ControlOffer, controlTokenHeader, readOffer } from "../../target/test-control.ts";

interface DiscoveredAgent {
  readonly id: string;
  readonly health: (typeof healthStatuses)[number] | null;
  /** Whether the agent's item in the list contains a text that ends in `_stream`, such as the tag of an entrypoint. */
  readonly mentionsStream: boolean;
}

/** Facts about a target that `init` discovered. Texts from the target may contain control characters. */
export interface DiscoveredTarget {
  readonly agents: readonly DiscoveredAgent[];
  readonly total: number | null;
  /** `false` if the target's agent list has further pages, states no total, or contains items without an id. */
  readonly hasAllAgents: boolean;
  readonly tier: string | null;
  readonly shapes: Readonly<Record<"list" | "usage" | "errors", string>>;
}

type InitDiscovery =
  | { readonly kind: "found"; readonly target: DiscoveredTarget; readonly requests: number }
  | { readonly kind: "nothing to judge"; readonly sentence: string };

const maxListedAgents = 50;
const maxHealthRequests = 20;
const maxRequests = 40;
/** Maximum wait in all: just over a minute, so that a used-up limit per minute is available again. */
const maxWaitMs = 65_000;

const interruptedResult = { kind: "nothing to judge", sentence: "Interrupted; nothing was written." } as const;

interface InitDiscoveryOptions {
  readonly target: Target;
  readonly key: TargetKey;
  readonly messages: Messages;
  readonly signal: AbortSignal;
  readonly onWait: (ms: number, why: string) => void;
}

export async function discoverForInit({ messages, ...options }: InitDiscoveryOptions): Promise<InitDiscovery> {
  const { target, key, signal } = options;
  try {
    const session = { ...options, maxRequests, maxWaitMs, readOnly: true };
    return await inShortSession(session, async ({ client, pacer, recorder }): Promise<InitDiscovery> => {
      const discovered = await discoverTarget(client, target, true);
      if (discovered.kind !== "ready")
        return signal.aborted ? interruptedResult : { ...discovered, sentence: messages.reason(discovered.sentence) };
      const responses = await requestDetails(client, discovered);
      const found = describeResponses(responses, pacer.detectedTier(key));
      return { kind: "found", target: found, requests: recorder.sent() };
    });
  } catch (error) {
    if (signal.aborted) return interruptedResult;
    if (isBudgetExhausted(error) || error instanceof TargetUnavailable)
      return {
        kind: "nothing to judge",
        sentence: `Discovery was not completed: ${messages.reason(error.skipReason.reason)}.`,
      };
    throw error;
  }
}

async function requestDetails(client: Client, { discovery }: Extract<DiscoveryResult, { kind: "ready" }>) {
  const list = await client.send("GET", `/agents?page=1&limit=${maxListedAgents}`);
  // The response to an unknown path shows how the target formats errors.
  const unknownPath = await client.send("GET", "/no-such-path");
  const health = new Map<string, Exchange>();
  for (const id of agentIds(bodyJson(list)).slice(0, maxHealthRequests)) health.set(id, await client.health(id));
  return { list, usage: discovery.usage, unknownPath, health };
}

function describeResponses(
  { list, usage, unknownPath, health }: Awaited<ReturnType<typeof requestDetails>>,
  tier: string | null,
): DiscoveredTarget {
  const items = itemsOf(bodyJson(list));
  const total = getPath(envelopeContent(bodyJson(list)), "pagination", "total");
  const ids = agentIds(bodyJson(list));
  return {
    agents: ids.map((id, index) => ({
      id,
      health: healthOf(health.get(id)),
      mentionsStream: /"[^"]*_stream"/.test(JSON.stringify(items[index] ?? null)),
    })),
    total: typeof total === "number" ? total : null,
    hasAllAgents: ids.length === items.length && total === ids.length,
    tier,
    shapes: { list: successShape(list), usage: successShape(usage), errors: errorShape(unknownPath) },
  };
}

function itemsOf(body: unknown): readonly unknown[] {
  const inner = envelopeContent(body);
  return [getPath(inner, "data"), getPath(inner, "agents"), inner].find(Array.isArray) ?? [];
}

function healthOf(exchange: Exchange | undefined): DiscoveredAgent["health"] {
  if (exchange === undefined || statusOf(exchange) !== 200) return null;
  const status = getPath(envelopeContent(bodyJson(exchange)), "status");
  return healthStatuses.find((each) => each === status) ?? null;
}

const maxListedFields = 6;

function successShape(exchange: Exchange): string {
  const status = statusOf(exchange);
  if (status !== 200) return `${status ?? "no response"}`;
  const body = bodyJson(exchange);
  if (typeof body !== "object" || body === null) return "200, not a JSON object";
  const content = envelopeContent(body);
  const fields = Object.keys(content as object).slice(0, maxListedFields);
  return `${content === body ? "fields at the top level" : "inside the envelope"} (${fields.join(", ")})`;
}

function errorShape(exchange: Exchange): string {
  const body = bodyJson(exchange);
  const [code, status] = [getPath(body, "error", "code"), getPath(body, "error", "status")];
  const isFormA = typeof code === "string" && typeof status === "number";
  const isFormB = typeof code === "string" && getPath(body, "status") === "error";
  const forms = [...(isFormA ? ["form A"] : []), ...(isFormB ? ["form B"] : [])];
  const form =
    forms.length === 0 ? "neither documented form" : `${forms.join(" and ")}${forms.length > 1 ? " at once" : ""}`;
  return `${form}; an unknown path answers ${statusOf(exchange) ?? "nothing"}${typeof code === "string" ? ` ${code}` : ""}`;
}

interface ControlAccess {
  readonly baseUrl: string;
  readonly token: string;
  /** Environment variable that holds the token. The target file contains this name, and never the token. */
  readonly variable: string;
  readonly network: Network;
}

export type ControlParts = Pick<ParsedTargetFile, "agents" | "clock" | "control" | "triggers">;

export type DetectedControl =
  | { readonly kind: "found"; readonly calls: readonly string[]; readonly parts: ControlParts }
  | { readonly kind: "absent"; readonly why: string };

/** Detects by GET requests whether the target has a test control. If so, returns the parts of a target file for it. */
export async function detectControl({ baseUrl, token, variable, network }: ControlAccess): Promise<DetectedControl> {
  const url = new URL("/test-control", baseUrl).href;
  try {
    const offer = await readOffer({ url, token }, network);
    return { kind: "found", calls: offer.calls, parts: controlPartsOf(offer, url, `\${${variable}}`) };
  } catch (error) {
    if (error instanceof ControlCallFailed) return { kind: "absent", why: error.message };
    throw error;
  }
}

function controlPartsOf({ calls, agents, agentsFollowClock }: ControlOffer, url: string, token: string): ControlParts {
  const callOf = (path: string, body: HttpCall["body"]): HttpCall => ({
    method: "POST",
    url: url + path,
    headers: { [controlTokenHeader]: token },
    body,
  });
  return {
    ...(Object.keys(agents).length > 0 && { agents }),
    ...(calls.includes("clock") && {
      clock: {
        advance: callOf("/clock/advance", { seconds: "${seconds}" }),
        ...(agentsFollowClock && { agentsFollow: true }),
      },
    }),
    ...(calls.includes("keys") && { control: { url, token } }),
    ...(calls.includes("deployments") && { triggers: deploymentTriggers(callOf, agents) }),
  };
}

/** Id of the agent that the triggers create and delete. The id is new, so that no existing agent is deleted. */
const deployedAgentId = "newcomer";

function deploymentTriggers(
  callOf: (path: string, body: HttpCall["body"]) => HttpCall,
  agents: ControlOffer["agents"],
): NonNullable<ParsedTargetFile["triggers"]> {
  const existing = agents.webhooked ?? agents.answering;
  const calls = deploymentEvents.flatMap((event) => {
    const kind = event.replace("deployment.", "");
    const agent = kind === "created" || kind === "deleted" ? deployedAgentId : existing;
    return agent === undefined ? [] : [[event, callOf("/deployments", { agent_id: agent, event: kind })]];
  });
  return Object.fromEntries(calls) as NonNullable<ParsedTargetFile["triggers"]>;
}
