import { randomBytes } from "node:crypto";

import { isLoopback } from "../../base/network/network.ts";
import { type Patch, realClock, type Reference, type ReferenceKey, startReference } from "../../reference/reference.ts";
import { publishedTiers } from "../../spec/tiers.ts";

/** Limits that no client reaches, so that all trouble is made on purpose. */
const wideLimits = { perHour: 1e9, perMinute: 1e9, concurrent: 1e6, burst: 1e9, tokensPerMonth: 1e12 };

const ofClients = { kind: "variant", breaks: [], mayAlsoBreak: [], detectedBy: "suites" } as const;

/** Tests of clients may create webhooks for any address. Nothing is sent to another machine because of it. */
const deliversToLoopback: Patch = {
  ...ofClients,
  name: "delivers-to-loopback",
  section: "Events / Delivery security and policy",
  summary: "Only receivers on loopback get deliveries.",
  override: (base) => ({ acceptsEvent: (load) => isLoopback(load.url) && base.acceptsEvent(load) }),
};

/** The document leaves open whether the signed path has the query. A client may do either. */
const acceptsBothSignatures: Patch = {
  ...ofClients,
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

/** Starts the reference server for a client, with one key, which is new each time. */
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
    tiers: { ...publishedTiers, enterprise: wideLimits },
  });
}
