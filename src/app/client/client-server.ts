import { randomBytes } from "node:crypto";

import { isLoopback } from "../../base/network/network.ts";
import { type Patch, realClock, type Reference, type ReferenceKey, startReference } from "../../reference/reference.ts";
import { publishedTiers } from "../../spec/tiers.ts";

/**
 * Rate limits of the reference server's key, so high that no client reaches them. A client then gets 429 only as
 * trouble that the harness makes.
 */
const unreachableLimits = { perHour: 1e9, perMinute: 1e9, concurrent: 1e6, burst: 1e9, tokensPerMonth: 1e12 };

const variantTraits = { kind: "variant", breaks: [], mayAlsoBreak: [], detectedBy: "suites" } as const;

/**
 * A legal change of the reference server: it delivers webhooks only to loopback addresses. So no client test can make
 * it send anything to another machine.
 */
const deliversToLoopback: Patch = {
  ...variantTraits,
  name: "delivers-to-loopback",
  section: "Events / Delivery security and policy",
  summary: "Only receivers on loopback get deliveries.",
  override: (base) => ({ acceptsEvent: (load) => isLoopback(load.url) && base.acceptsEvent(load) }),
};

/**
 * A legal change of the reference server: it accepts a request signature over the path with or without the query,
 * because the document allows both.
 */
const acceptsBothSignatures: Patch = {
  ...variantTraits,
  name: "signatures-with-and-without-query",
  section: "Authentication",
  summary: "A signature may cover the path with or without its query.",
  override: (base) => ({
    acceptsSignature: (request, signed, secret, nowMs) => {
      const bare = { ...request, path: request.path.replace(/[?].*/s, "") };
      return [signed, () => base.signedBytes(bare)].some((bytes) =>
        base.acceptsSignature(request, bytes, secret, nowMs),
      );
    },
  }),
};

/** Starts the reference server for testing a client. It has one enterprise key, which is generated anew each time. */
export function startClientServer(): Promise<Reference> {
  const key: ReferenceKey = {
    name: "client key",
    key: `ah_client_${randomBytes(18).toString("base64url")}`,
    tier: "enterprise",
    expiresInSeconds: null,
    scope: "full",
    agents: null,
    allowedIps: null,
    tokensUsedBefore: 0,
  };
  return startReference({
    clock: realClock(),
    patches: [deliversToLoopback, acceptsBothSignatures],
    keys: [key],
    tiers: { ...publishedTiers, enterprise: unreachableLimits },
  });
}
