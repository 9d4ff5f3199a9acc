import type { Behaviour } from "../behaviour/behaviour.ts";
import { faults } from "../patch.ts";
import type { Cause } from "../trouble.ts";

type Change = (base: Behaviour) => Partial<Behaviour>;

const answered =
  (cause: Cause, status: number, code: string): Change =>
  (base) => ({
    errorStatus: (given, operation) => (given === cause ? status : base.errorStatus(given, operation)),
    errorCode: (given, operation) => (given === cause ? code : base.errorCode(given, operation)),
  });

/** A scheme and anything after it. */
const anyScheme = /^(\S+) +(\S+) *$/;

export const authenticationFaults = faults("Authentication", {
  "valid-key-locked-out": [
    ["AUTH-1"],
    "Keys of the published tiers are not let in to health.",
    (base) => ({
      permits: (key, wish) => (key.tier === "enterprise" || wish.operation !== "health") && base.permits(key, wish),
    }),
  ],
  "missing-key-403": [["AUTH-2"], "A missing key answers 403.", answered("missing-key", 403, "FORBIDDEN")],
  "missing-key-let-in": [
    ["AUTH-2", "REQ-2"],
    "A request without a key is let in.",
    (base) => ({
      identify: (credentials, ring, nowMs, operation) => {
        const [key] = ring.keys;
        return credentials.kind === "absent" && key !== undefined
          ? { kind: "known", key }
          : base.identify(credentials, ring, nowMs, operation);
      },
    }),
  ],
  "wrong-key-other-code": [
    ["AUTH-3"],
    "A wrong key has the code UNAUTHORIZED.",
    answered("wrong-key", 401, "UNAUTHORIZED"),
  ],
  "wrong-key-403": [["AUTH-3"], "A wrong key answers 403.", answered("wrong-key", 403, "FORBIDDEN")],
  "expired-key-other-code": [
    ["AUTH-4"],
    "An expired key has the code INVALID_API_KEY.",
    answered("expired-key", 401, "INVALID_API_KEY"),
  ],
  "expired-key-let-in": [
    ["AUTH-4"],
    "A key that was issued expired is let in.",
    (base) => ({
      identify: (credentials, ring, nowMs, operation) => {
        const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
        return found?.key.expiresInSeconds === 0
          ? { kind: "known", key: found.key }
          : base.identify(credentials, ring, nowMs, operation);
      },
    }),
  ],
  "near-miss-let-in": [
    ["AUTH-5"],
    "The last character of a key does not matter.",
    (base) => ({
      identify: (credentials, ring, nowMs, operation) => {
        const stem = credentials.kind === "bearer" ? credentials.text.slice(0, -1) : null;
        const key = ring.keys.find(({ key: text }) => text.slice(0, -1) === stem);
        const text = key?.key ?? (credentials.kind === "bearer" ? credentials.text : "");
        return credentials.kind === "bearer"
          ? base.identify({ ...credentials, text }, ring, nowMs, operation)
          : base.identify(credentials, ring, nowMs, operation);
      },
    }),
  ],
  "any-scheme": [
    ["AUTH-6"],
    "The key is read from any scheme.",
    (base) => ({
      credentials: (authorization) => {
        const [, scheme, text] = anyScheme.exec(authorization) ?? [];
        return scheme === undefined || text === undefined
          ? base.credentials(authorization)
          : { kind: "bearer", scheme, text };
      },
    }),
  ],
  "list-lets-wrong-keys-in": [
    ["AUTH-8"],
    "The list answers with a wrong key; without one it does not.",
    (base) => ({
      requiresKey: (operation, credentials) =>
        (operation !== "list" || credentials.kind === "absent") && base.requiresKey(operation, credentials),
    }),
  ],
  "usage-lets-wrong-keys-in": [
    ["AUTH-8"],
    "Usage answers with a wrong key; without one it does not.",
    (base) => ({
      requiresKey: (operation, credentials) =>
        (operation !== "usage" || credentials.kind === "absent") && base.requiresKey(operation, credentials),
    }),
  ],
  "signed-request-refused": [
    ["AUTH-10"],
    "A request that is signed is refused.",
    () => ({ acceptsSignature: ({ signature }) => signature === "" }),
  ],
  "signature-of-upper-case": [
    ["AUTH-10"],
    "The signature is expected in upper case.",
    (base) => ({
      acceptsSignature: (request, signedText, secret, nowMs) =>
        request.signature === request.signature.toUpperCase() &&
        base.acceptsSignature({ ...request, signature: request.signature.toLowerCase() }, signedText, secret, nowMs),
    }),
  ],
  "signature-without-body": [
    ["AUTH-10"],
    "The signature is expected over everything but the body.",
    (base) => ({ signedText: (request) => base.signedText({ ...request, body: "" }) }),
  ],
  "key-looked-at-last": [
    ["AUTH-16"],
    "Path, agent and body are looked at before the key.",
    () => ({ refusesStrangersFirst: () => false }),
  ],
});

export const keyFaults = faults("Resources / API key", {
  "temporary-key-stays": [
    ["KEY-3"],
    "A temporary key does not expire.",
    (base) => ({
      identify: (credentials, ring, nowMs, operation) => {
        const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
        return found !== undefined && (found.key.expiresInSeconds ?? 0) > 0
          ? { kind: "known", key: found.key }
          : base.identify(credentials, ring, nowMs, operation);
      },
    }),
  ],
  "key-without-prefix": [["KEY-4"], "Keys have no prefix.", () => ({ keyText: (text) => text.replace(/^.._/, "") })],
  "reader-may-write": [
    ["KEY-5"],
    "A read-only key may invoke.",
    (base) => ({ permits: (key, wish) => base.permits({ ...key, scope: "full" }, wish) }),
  ],
  "any-agent": [
    ["KEY-6"],
    "A key of one agent may call the others.",
    (base) => ({ permits: (key, wish) => base.permits({ ...key, agents: null }, wish) }),
  ],
  "any-address": [
    ["KEY-7"],
    "A key may be used from anywhere.",
    (base) => ({ permits: (key, wish) => base.permits({ ...key, allowedIps: null }, wish) }),
  ],
});
