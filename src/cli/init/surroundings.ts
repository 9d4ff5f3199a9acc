import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { getPath } from "../../base/json.ts";
import { healthStatuses } from "../../spec/events.ts";
import { agentIds } from "../../run/discovery/discover-target.ts";
import { envelopeContent } from "../../evidence/envelope.ts";

/** A listed agent, and what its health says. */
export interface FoundAgent {
  readonly id: string;
  /** `null` where its health was not asked, or is none of the document's. */
  readonly health: (typeof healthStatuses)[number] | null;
  /** Whether its list item speaks of an entrypoint whose tag ends in `_stream`. */
  readonly showsStream: boolean;
}

/** What a look around a target has found. Texts of the target are as it sent them. */
export interface DiscoveredTarget {
  readonly agents: readonly FoundAgent[];
  /** How many agents there are, as the list says. */
  readonly total: number | null;
  /** Whether `agents` are all that there are. */
  readonly isWhole: boolean;
  /** Tier that the rate-limit headers show. */
  readonly tier: string | null;
  /** What the answers look like, by what was asked. */
  readonly shapes: Readonly<Record<"list" | "usage" | "errors", string>>;
}

export interface DiscoveryResponses {
  readonly listing: Exchange;
  readonly usage: Exchange;
  /** `GET` of a path that the document does not define. */
  readonly unknownPathResponse: Exchange;
  /** Health by agent. */
  readonly health: ReadonlyMap<string, Exchange>;
  readonly tier: string | null;
}

export function summarizeDiscovery({
  listing,
  usage,
  unknownPathResponse,
  health,
  tier,
}: DiscoveryResponses): DiscoveredTarget {
  const items = itemsOf(bodyJson(listing));
  const total = getPath(envelopeContent(bodyJson(listing)), "pagination", "total");
  const ids = agentIds(bodyJson(listing));
  return {
    agents: ids.map((id, at) => ({
      id,
      health: healthOf(health.get(id)),
      showsStream: /"[^"]*_stream"/.test(JSON.stringify(items[at] ?? null)),
    })),
    total: typeof total === "number" ? total : null,
    isWhole: ids.length === items.length && total === ids.length,
    tier,
    shapes: { list: successShape(listing), usage: successShape(usage), errors: errorShape(unknownPathResponse) },
  };
}

function itemsOf(body: unknown): readonly unknown[] {
  const inner = envelopeContent(body);
  return [getPath(inner, "data"), getPath(inner, "agents"), inner].find(Array.isArray) ?? [];
}

function healthOf(exchange: Exchange | undefined): FoundAgent["health"] {
  if (exchange === undefined || statusOf(exchange) !== 200) return null;
  const status = getPath(envelopeContent(bodyJson(exchange)), "status");
  return healthStatuses.find((each) => each === status) ?? null;
}

function successShape(exchange: Exchange): string {
  const status = statusOf(exchange);
  if (status !== 200) return `${status ?? "no answer"}`;
  const body = bodyJson(exchange);
  if (typeof body !== "object" || body === null) return "200, no JSON object";
  const fields = Object.keys(envelopeContent(body) as object).slice(0, mostFields);
  return `${envelopeContent(body) === body ? "fields at the top" : "inside the envelope"} (${fields.join(", ")})`;
}

const mostFields = 6;

function errorShape(exchange: Exchange): string {
  const body = bodyJson(exchange);
  const [code, status] = [getPath(body, "error", "code"), getPath(body, "error", "status")];
  const isFormA = typeof code === "string" && typeof status === "number";
  const isFormB = typeof code === "string" && getPath(body, "status") === "error";
  const form =
    isFormA && isFormB
      ? "form A and form B at once"
      : isFormA
        ? "form A"
        : isFormB
          ? "form B"
          : "neither documented form";
  return `${form}; an unknown path answers ${statusOf(exchange) ?? "nothing"}${typeof code === "string" ? ` ${code}` : ""}`;
}
