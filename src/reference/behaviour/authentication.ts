import { createHmac, timingSafeEqual } from "node:crypto";
import { addressSet, type AddressSet } from "../addresses.ts";
import type { KeyRing, ReferenceKey } from "../keys.ts";
import { isServerOwn, runsAgent, type ErrorCause, type Operation } from "../api-error.ts";

/** The content of an `Authorization` header. */
export type Credentials =
  | { readonly kind: "absent" }
  | { readonly kind: "malformed" }
  | { readonly kind: "bearer"; readonly scheme: string; readonly text: string };

/** The key of a request, or the reason why it has no valid one. */
export type Identity =
  | { readonly kind: "known"; readonly key: ReferenceKey }
  | { readonly kind: "unauthenticated"; readonly cause: ErrorCause };

/** The parts of a request that a key's restrictions concern. */
export interface AccessRequest {
  readonly operation: Operation;
  /** `null` if the request names no agent. */
  readonly agentId: string | null;
  readonly address: string;
}

/** The parts of a request that its signature covers. An absent header is an empty text. */
export interface SignedRequest {
  readonly method: string;
  /** The path as sent, with its query string. */
  readonly path: string;
  readonly timestamp: string;
  readonly signature: string;
  /** The bytes as received. */
  readonly body: Uint8Array;
}

/** Decisions about keys. Source: Authentication 1 to 4; Resources, "API key". */
export interface AuthenticationBehaviour {
  requiresKey(operation: Operation, credentials: Credentials): boolean;
  /** Makes the text of a key from the standard text. */
  keyText(text: string): string;
  credentials(authorization: string): Credentials;
  identify(credentials: Credentials, ring: KeyRing, nowMs: number, operation: Operation): Identity;
  /** The name of the account that counts a request. */
  accountOf(key: ReferenceKey, credentials: Credentials): string;
  /** The key whose account also counts a request with an invalid key, or `null`. */
  accountChargedForInvalidKey(credentials: Credentials, ring: KeyRing): ReferenceKey | null;
  /** The proxies whose forwarding headers are trusted, out of the configured ones. */
  trustedProxiesOf(named: AddressSet): AddressSet;
  /** Whether the scope, agents and addresses of a key allow a request. */
  permits(key: ReferenceKey, request: AccessRequest): boolean;
  /** Whether a request is unsigned or its signature is valid. `signed` returns the result of {@link signedBytes}. */
  acceptsSignature(request: SignedRequest, signed: () => Uint8Array, secret: string, nowMs: number): boolean;
  /** The bytes that are signed. */
  signedBytes(request: SignedRequest): Uint8Array;
  /** Whether a request without a valid key gets 401 before its path, agent and body are checked. */
  authenticatesFirst(namesUnknownAgent: boolean): boolean;
}

// RFC 9110, 11.1 and 11.4: the case of the scheme does not matter, and one or more blanks follow it.
const bearer = /^(bearer) +(\S+) *$/i;

/** How far the timestamp of a signature may differ from the server's clock. */
const maxSignatureAgeSeconds = 300;

function writes(operation: Operation): boolean {
  return runsAgent(operation) || operation === "createWebhook" || operation === "createAlert";
}

/** Compares in constant time, so that the time does not reveal how much of a signature is right. */
function isSame(one: string, other: string): boolean {
  const [given, right] = [Buffer.from(one), Buffer.from(other)];
  return given.length === right.length && timingSafeEqual(given, right);
}

export const standardAuthentication: AuthenticationBehaviour = {
  requiresKey: (operation) => !isServerOwn(operation),
  keyText: (text) => text,
  credentials: (authorization) => {
    if (authorization === "") return { kind: "absent" };
    const [, scheme, text] = bearer.exec(authorization) ?? [];
    return scheme === undefined || text === undefined ? { kind: "malformed" } : { kind: "bearer", scheme, text };
  },
  identify: (credentials, ring, nowMs) => {
    if (credentials.kind === "absent") return { kind: "unauthenticated", cause: "missing-key" };
    if (credentials.kind === "malformed") return { kind: "unauthenticated", cause: "malformed-key" };
    const found = ring.find(credentials.text);
    if (found === undefined) return { kind: "unauthenticated", cause: "wrong-key" };
    const { key, expiresAtMs } = found;
    return nowMs < expiresAtMs ? { kind: "known", key } : { kind: "unauthenticated", cause: "expired-key" };
  },
  accountOf: (key) => key.key,
  accountChargedForInvalidKey: () => null,
  permits: ({ scope, agents, allowedIps }, { operation, agentId, address }) =>
    isServerOwn(operation) ||
    ((scope === "full" || !writes(operation)) &&
      (agents === null || agentId === null || agents.includes(agentId)) &&
      (allowedIps === null || addressSet(allowedIps).has(address))),
  acceptsSignature: ({ signature, timestamp }, signed, secret, nowMs) =>
    (signature === "" && timestamp === "") ||
    (/^\d+$/.test(timestamp) &&
      Math.abs(nowMs / 1000 - Number(timestamp)) <= maxSignatureAgeSeconds &&
      isSame(signature, createHmac("sha256", secret).update(signed()).digest("hex"))),
  signedBytes: ({ method, path, timestamp, body }) =>
    Buffer.concat([Buffer.from(`${method}\n${path}\n${timestamp}\n`), body]),
  authenticatesFirst: () => true,
  trustedProxiesOf: (named) => named,
};
