import { createHmac, timingSafeEqual } from "node:crypto";
import { addressSet, type AddressSet } from "../addresses.ts";
import type { KeyRing, ReferenceKey } from "../keys.ts";
import { isServerOwn, runsAgent, type ErrorCause, type Operation } from "../api-error.ts";

/** What an `Authorization` header presents. */
export type Credentials =
  | { readonly kind: "absent" }
  | { readonly kind: "malformed" }
  | { readonly kind: "bearer"; readonly scheme: string; readonly text: string };

/** Who asks. */
export type Identity =
  | { readonly kind: "known"; readonly key: ReferenceKey }
  | { readonly kind: "stranger"; readonly cause: ErrorCause };

/** What a request wants, as far as a key may be restricted. */
export interface AccessRequest {
  readonly operation: Operation;
  /** `null` where no agent is named. */
  readonly agentId: string | null;
  readonly address: string;
}

/** A request as its signature sees it; the headers are empty where they are absent. */
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
  /** The text of a key, for the one the server would issue. */
  keyText(text: string): string;
  credentials(authorization: string): Credentials;
  identify(credentials: Credentials, ring: KeyRing, nowMs: number, operation: Operation): Identity;
  /** The name of the account that a request is counted on. */
  accountOf(key: ReferenceKey, credentials: Credentials): string;
  /** The key whose account a refused stranger's request is counted on, or `null` for the account of the address. */
  accountChargedForInvalidKey(credentials: Credentials, ring: KeyRing): ReferenceKey | null;
  /** Whose word about where a request comes from is believed, of those who were named to be. */
  trustedProxiesOf(named: AddressSet): AddressSet;
  /** Whether a key's scope, agents and addresses allow what is wanted. */
  permits(key: ReferenceKey, wish: AccessRequest): boolean;
  /** Whether a request's signature, where it has one, holds; `signed` makes what {@link signedBytes} says. */
  acceptsSignature(request: SignedRequest, signed: () => Uint8Array, secret: string, nowMs: number): boolean;
  /** What is signed: the document's text, in bytes. */
  signedBytes(request: SignedRequest): Uint8Array;
  /** Whether a request without a valid key is refused before path, agent and body are looked at; it may name an agent that is not there. */
  authenticatesFirst(namesUnknownAgent: boolean): boolean;
}

// RFC 9110, 11.1 and 11.4: the scheme's case does not matter, and one or more blanks follow it.
const bearer = /^(bearer) +(\S+) *$/i;

/** How far a signature's timestamp may be from the server's clock. */
const signatureLifeSeconds = 300;

function writes(operation: Operation): boolean {
  return runsAgent(operation) || operation === "createWebhook" || operation === "createAlert";
}

/** In a time that does not tell how much of a signature is right. */
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
    if (credentials.kind === "absent") return { kind: "stranger", cause: "missing-key" };
    if (credentials.kind === "malformed") return { kind: "stranger", cause: "malformed-key" };
    const found = ring.find(credentials.text);
    if (found === undefined) return { kind: "stranger", cause: "wrong-key" };
    const { key, expiresAtMs } = found;
    return nowMs < expiresAtMs ? { kind: "known", key } : { kind: "stranger", cause: "expired-key" };
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
      Math.abs(nowMs / 1000 - Number(timestamp)) <= signatureLifeSeconds &&
      isSame(signature, createHmac("sha256", secret).update(signed()).digest("hex"))),
  signedBytes: ({ method, path, timestamp, body }) =>
    Buffer.concat([Buffer.from(`${method}\n${path}\n${timestamp}\n`), body]),
  authenticatesFirst: () => true,
  trustedProxiesOf: (named) => named,
};
