import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { addressSet, type AddressSet } from "../addresses.ts";
import type { KeyRing, ReferenceKey } from "../keys.ts";
import type { ErrorCause } from "./errors.ts";
import { type Endpoint, isUndocumented, runsAgent } from "../endpoint.ts";

export type Credentials =
  | { readonly kind: "absent" }
  | { readonly kind: "malformed" }
  | { readonly kind: "bearer"; readonly scheme: string; readonly text: string };

type Identity =
  | { readonly kind: "known"; readonly key: ReferenceKey }
  | { readonly kind: "unauthenticated"; readonly cause: ErrorCause };

export interface AccessRequest {
  readonly endpoint: Endpoint;
  readonly agentId: string | null;
  readonly address: string;
  readonly isSigned: boolean;
}

/**
 * A request's signature, and the parts of the request that the signature covers. An absent header is an empty string.
 */
export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Uint8Array;
}

// Matches `Bearer KEY`, with the scheme `Bearer` in any letter case. Source: RFC 9110, sections 11.1 and 11.4.
const bearerPattern = /^(bearer) +(\S+) *$/i;

/** Maximum difference between the timestamp of a signature and the server's clock, in either direction. */
const maxSignatureAgeSeconds = 300;

function needsFullScope(endpoint: Endpoint): boolean {
  return runsAgent(endpoint) || endpoint === "createWebhook" || endpoint === "createAlert";
}

/** Whether two texts are equal, compared in constant time so that the duration reveals no secret. */
export function isSameSecret(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/**
 * The reference server's standard behaviour for API keys and signatures. Source: Authentication 1 to 4; Resources, "API
 * key".
 */
export const standardAuthentication = {
  requiresKey: (endpoint: Endpoint, _credentials: Credentials): boolean => !isUndocumented(endpoint),
  /** Returns the text of a key. Faults and variants change the usual `text`, such as `ah_fresh_free_000001`. */
  keyText: (text: string): string => text,
  /**
   * Returns `Bearer KEY` if the key is outside the `Authorization` header, e.g. in a cookie. Only faults do this; the
   * standard result is empty.
   */
  authorizationElsewhere: (_headers: IncomingHttpHeaders, _path: string, _endpoint: Endpoint): string => "",
  credentials: (authorization: string): Credentials => {
    if (authorization === "") return { kind: "absent" };
    const [, scheme, text] = bearerPattern.exec(authorization) ?? [];
    return scheme === undefined || text === undefined ? { kind: "malformed" } : { kind: "bearer", scheme, text };
  },
  identify: (
    credentials: Credentials,
    ring: KeyRing,
    nowMs: number,
    _endpoint: Endpoint,
    _isSigned = false,
  ): Identity => {
    if (credentials.kind === "absent") return { kind: "unauthenticated", cause: "missing-key" };
    if (credentials.kind === "malformed") return { kind: "unauthenticated", cause: "malformed-key" };
    const found = ring.find(credentials.text);
    if (found === undefined) return { kind: "unauthenticated", cause: "wrong-key" };
    const { key, expiresAtMs } = found;
    return nowMs < expiresAtMs ? { kind: "known", key } : { kind: "unauthenticated", cause: "expired-key" };
  },
  /** Returns the name of the account whose limits a request uses up. By default, the name is the text of the key. */
  accountOf: (key: ReferenceKey, _credentials: Credentials): string => key.key,
  /** Returns the valid key whose limits a request with an invalid key also uses up. Standard: `null`, no key. */
  accountChargedForInvalidKey: (_credentials: Credentials, _ring: KeyRing): ReferenceKey | null => null,
  trustedProxiesOf: (named: AddressSet): AddressSet => named,
  permits: ({ scope, agents, allowedIps }: ReferenceKey, { endpoint, agentId, address }: AccessRequest): boolean =>
    isUndocumented(endpoint) ||
    ((scope === "full" || !needsFullScope(endpoint)) &&
      (agents === null || agentId === null || agents.includes(agentId)) &&
      (allowedIps === null || addressSet(allowedIps).has(address))),
  acceptsSignature: (
    { signature, timestamp }: SignedRequest,
    signed: () => Uint8Array,
    secret: string,
    nowMs: number,
  ): boolean =>
    (signature === "" && timestamp === "") ||
    (/^\d+$/.test(timestamp) &&
      Math.abs(nowMs / 1000 - Number(timestamp)) <= maxSignatureAgeSeconds &&
      isSameSecret(signature, createHmac("sha256", secret).update(signed()).digest("hex"))),
  signedBytes: ({ method, path, timestamp, body }: SignedRequest): Uint8Array =>
    Buffer.concat([Buffer.from(`${method}\n${path}\n${timestamp}\n`), body]),
  /** Whether the server reports a missing or invalid key before it checks path, agent and body. */
  authenticatesFirst: (_namesUnknownAgent: boolean): boolean => true,
};
