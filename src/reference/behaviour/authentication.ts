import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { addressSet, type AddressSet } from "../addresses.ts";
import type { KeyRing, ReferenceKey } from "../keys.ts";
import type { ErrorCause } from "../api-error.ts";
import { isServerOwn, runsAgent, type Endpoint } from "../endpoint.ts";

/** The content of an `Authorization` header. */
export type Credentials =
  | { readonly kind: "absent" }
  | { readonly kind: "malformed" }
  | { readonly kind: "bearer"; readonly scheme: string; readonly text: string };

/** The key of a request, or the reason why the request has no valid key. */
export type Identity =
  | { readonly kind: "known"; readonly key: ReferenceKey }
  | { readonly kind: "unauthenticated"; readonly cause: ErrorCause };

/** The properties of a request that decide whether a key may make it. */
export interface AccessRequest {
  readonly endpoint: Endpoint;
  /** Id of the agent that the request names; `null` if it names none. */
  readonly agentId: string | null;
  readonly address: string;
  /** Whether the request has a signature, valid or invalid. */
  readonly isSigned: boolean;
}

/** The signature of a request, and the parts of the request that it covers. Absent headers are empty texts. */
export interface SignedRequest {
  readonly method: string;
  /** The request's path as sent, with its query string. */
  readonly path: string;
  readonly timestamp: string;
  readonly signature: string;
  /** The request body as received. */
  readonly body: Uint8Array;
}

// Matches `Bearer KEY` in any letter case. Source: RFC 9110, sections 11.1 and 11.4.
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

/** The server's decisions about keys. Source: Authentication 1 to 4; Resources, "API key". */
export const standardAuthentication = {
  requiresKey: (endpoint: Endpoint, _credentials: Credentials): boolean => !isServerOwn(endpoint),
  /** Returns the text of a new key. `text` is the default, such as `ah_free_4mJ9`. */
  keyText: (text: string): string => text,
  /** Returns `Bearer KEY` for a key outside the `Authorization` header, such as in a cookie; empty for none. */
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
  /** Returns the name of the account whose limits a request uses up. Default: the text of the key. */
  accountOf: (key: ReferenceKey, _credentials: Credentials): string => key.key,
  /** Returns the valid key whose limits a request with an invalid key uses up; `null` for none. */
  accountChargedForInvalidKey: (_credentials: Credentials, _ring: KeyRing): ReferenceKey | null => null,
  /** Returns the proxies whose forwarding headers the server trusts, given the option `trustedProxies`. */
  trustedProxiesOf: (named: AddressSet): AddressSet => named,
  /** Whether a key may make a request. */
  permits: ({ scope, agents, allowedIps }: ReferenceKey, { endpoint, agentId, address }: AccessRequest): boolean =>
    isServerOwn(endpoint) ||
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
  /** Returns the bytes over which the signature is computed. */
  signedBytes: ({ method, path, timestamp, body }: SignedRequest): Uint8Array =>
    Buffer.concat([Buffer.from(`${method}\n${path}\n${timestamp}\n`), body]),
  /** Whether the server reports a missing or invalid key before it checks path, agent and body. */
  authenticatesFirst: (_namesUnknownAgent: boolean): boolean => true,
};
