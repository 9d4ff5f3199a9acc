import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { envelopeContent } from "../../evidence/envelope.ts";
import { agentIds, type DiscoveryResult, discoverTarget } from "../../run/discovery/discover-target.ts";
import type { Client } from "../../run/send/client.ts";
import { inShortSession } from "../../run/send/short-session.ts";
import { type Messages, RequestBudgetExhausted, TargetUnavailable, WaitRefused } from "../../run/skip-reason.ts";
import { healthStatuses } from "../../spec/events.ts";
import type { Target, TargetKey } from "../../target/target.ts";

export interface DiscoveredAgent {
  readonly id: string;
  readonly health: (typeof healthStatuses)[number] | null;
  /** Whether the agent's item in the list has an entrypoint whose tag ends in `_stream`. */
  readonly mentionsStream: boolean;
}

/** Facts about a target that `init` discovered. Texts from the target may contain control characters. */
export interface DiscoveredTarget {
  readonly agents: readonly DiscoveredAgent[];
  readonly total: number | null;
  /** `false` if the target's agent list has further pages. */
  readonly hasAllAgents: boolean;
  readonly tier: string | null;
  readonly shapes: Readonly<Record<"list" | "usage" | "errors", string>>;
}

export type InitDiscovery =
  | { readonly kind: "found"; readonly target: DiscoveredTarget; readonly requests: number }
  | { readonly kind: "nothing to judge"; readonly sentence: string };

const maxListedAgents = 50;
const maxHealthRequests = 20;
const maxRequests = 40;
/** Just over a minute, so that a used-up limit per minute is available again. */
const maxWaitMs = 65_000;

const interruptedResult = { kind: "nothing to judge", sentence: "Interrupted; nothing was written." } as const;

export interface InitDiscoveryOptions {
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
    if (error instanceof RequestBudgetExhausted || error instanceof WaitRefused || error instanceof TargetUnavailable)
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
