import { type ClauseId, clauseOf, isClauseId } from "./clauses.ts";
import type { EndpointName } from "./endpoints.ts";

/** Parts of the interface that are judged separately. A vendor may leave out every profile except `core`. */
export const profileNames = ["core", "streaming", "webhooks", "limits", "operations", "signing", "access"] as const;
export type Profile = (typeof profileNames)[number];

interface ProfileContent {
  readonly summary: string;
  /** Beginnings of `Clause.section`. The longest match decides: `Authentication 4` belongs to `signing`. */
  readonly sections: readonly string[];
  /** Clauses that belong to the profile whatever their section. */
  readonly clauses: readonly ClauseId[];
  readonly sources: readonly (EndpointName | "other paths" | "stream events" | "deliveries received")[];
}

/** The content of each profile. Every clause about servers belongs to exactly one profile. */
export const profiles: Readonly<Record<Profile, ProfileContent>> = {
  core: {
    summary: "service, requests, authentication, errors, invoke, health, list, usage, versioning",
    sections: [
      "What the service does",
      "Resources and their fields / Usage report",
      "Endpoints / Common request rules",
      "Endpoints / 1. Invoke an agent",
      "Endpoints / 3. Health check",
      "Endpoints / 4. List agents",
      "Endpoints / 5. Read usage",
      "Endpoints / 12. Other endpoints",
      "Errors",
      "States and transitions / Agent lifecycle",
      "States and transitions / Health status of an agent",
      "Authentication",
      "Versioning",
    ],
    clauses: ["LST-9", "OTH-4", "KEY-4", "LIM-21"],
    sources: ["invoke", "health", "list", "usage", "other paths"],
  },
  streaming: {
    summary: "streams, their events and their sequence",
    sections: [
      "Endpoints / 2. Stream an agent response",
      "Events / Stream events (SSE)",
      "States and transitions / Stream sequence",
    ],
    clauses: ["SVC-2", "SSE-30", "SSE-32"],
    sources: ["stream", "stream events"],
  },
  webhooks: {
    summary: "webhooks, their deliveries, and usage alerts",
    sections: [
      "Resources and their fields / Webhook",
      "Endpoints / 6. Create a webhook",
      "Endpoints / 7. List webhook deliveries",
      "Endpoints / 8. Create a usage alert",
      "Events / Webhook events",
      "Events / Delivery security and policy",
      "States and transitions / Webhook delivery",
    ],
    clauses: ["WHK-12", "KEY-8", "HOOK-20"],
    sources: ["webhooks", "deliveries", "alerts", "deliveries received"],
  },
  limits: {
    summary: "rates, slots and tokens of each tier, rate-limit headers, key usage",
    sections: ["Limits", "Endpoints / 9. Read key usage"],
    // Most of these clauses can be tested only once a limit has refused a request.
    clauses: ["HLT-15", "HLT-16", "ERR-8", "ERR-9", "ERR-16", "SSE-27", "KEY-11"],
    sources: ["keyUsage"],
  },
  operations: {
    summary: "operations and batches",
    sections: [
      "Resources and their fields / Operation handle",
      "Endpoints / 10. Check an asynchronous operation",
      "Endpoints / 11. Batch submission",
      "States and transitions / Operation status",
    ],
    clauses: [],
    sources: ["operations", "batch"],
  },
  signing: {
    summary: "signed requests",
    sections: ["Authentication 4", "Authentication 8"],
    clauses: [],
    sources: [],
  },
  access: {
    summary: "keys with a scope, for one agent, for some addresses, or that expire",
    sections: ["Resources and their fields / API key", "Authentication 7", "Authentication 9"],
    clauses: ["AUTH-4"],
    sources: [],
  },
};

export function profileOf(id: string): Profile | null {
  if (!isClauseId(id) || clauseOf(id).party !== "server") return null;
  const named = profileNames.find((name) => profiles[name].clauses.includes(id));
  if (named !== undefined) return named;
  const { section } = clauseOf(id);
  const [best] = profileNames
    .flatMap((name) => profiles[name].sections.map((start) => ({ name, start })))
    .filter(({ start }) => section.startsWith(start))
    .toSorted((one, other) => other.start.length - one.start.length);
  return best?.name ?? null;
}

export const profileOfSource = (source: string): Profile =>
  profileNames.find((name) => profiles[name].sources.some((each) => each === source)) ?? "core";

export const isProfile = (name: string): name is Profile => profileNames.some((each) => each === name);

/** Whether a target offers a profile. `offers` is `null` for a target that offers all. Every target offers `core`. */
export const isOffered = (profile: Profile, offers: readonly Profile[] | null): boolean =>
  offers === null || profile === "core" || offers.includes(profile);
