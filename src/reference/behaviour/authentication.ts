import { createHmac } from "node:crypto";
import type { KeyRing, ReferenceKey } from "../keys.ts";
import { isOutside, type Cause, type Operation } from "../trouble.ts";

/** What an `Authorization` header presents. */
export type Credentials =
  | { readonly kind: "absent" }
  | { readonly kind: "malformed" }
  | { readonly kind: "bearer"; readonly scheme: string; readonly text: string };

/** Who asks. */
export type Identity =
  | { readonly kind: "known"; readonly key: ReferenceKey }
  | { readonly kind: "stranger"; readonly cause: Cause };

/** What a request wants, as far as a key may be restricted. */
export interface Wish {
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
  readonly body: string;
}

/** Decisions about keys. Source: Authentication 1 to 4; Resources, "API key". */
export interface Authentication {
  requiresKey(operation: Operation, credentials: Credentials): boolean;
  /** The text of a key, for the one the server would issue. */
  keyText(text: string): string;
  credentials(authorization: string): Credentials;
  identify(credentials: Credentials, ring: KeyRing, nowMs: number, operation: Operation): Identity;
  /** The name of the account that a request is counted on. */
  accountOf(key: ReferenceKey, credentials: Credentials): string;
  /** The key whose account a refused stranger's request is counted on, or `null` for the account of the address. */
  chargedForStranger(credentials: Credentials, ring: KeyRing): ReferenceKey | null;
  /** Whether a key's scope, agents and addresses allow what is wanted. */
  permits(key: ReferenceKey, wish: Wish): boolean;
  /** Whether a request's signature, where it has one, holds. */
  acceptsSignature(request: SignedRequest, signedText: string, secret: string, nowMs: number): boolean;
  /** The text that is signed. */
  signedText(request: SignedRequest): string;
  /** Whether a request without a valid key is refused before path, agent and body are looked at. */
  refusesStrangersFirst(): boolean;
}

// RFC 9110, 11.1 and 11.4: the scheme's case does not matter, and one or more blanks follow it.
const bearer = /^(bearer) +(\S+) *$/i;

/** How far a signature's timestamp may be from the server's clock. */
const signatureLifeSeconds = 300;

function writes(operation: Operation): boolean {
  return operation === "invoke" || operation === "stream";
}

export const standardAuthentication: Authentication = {
  requiresKey: (operation) => !isOutside(operation),
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
  chargedForStranger: () => null,
  permits: ({ scope, agents, allowedIps }, { operation, agentId, address }) =>
    (scope === "full" || !writes(operation)) &&
    (agents === null || agentId === null || agents.includes(agentId)) &&
    (allowedIps === null || allowedIps.includes(address)),
  acceptsSignature: ({ signature, timestamp }, signedText, secret, nowMs) =>
    (signature === "" && timestamp === "") ||
    (/^\d+$/.test(timestamp) &&
      Math.abs(nowMs / 1000 - Number(timestamp)) <= signatureLifeSeconds &&
      signature === createHmac("sha256", secret).update(signedText).digest("hex")),
  signedText: ({ method, path, timestamp, body }) => [method, path, timestamp, body].join("\n"),
  refusesStrangersFirst: () => true,
};
