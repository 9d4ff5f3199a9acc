import { tryParseJson } from "../../base/json.ts";
import type { ErrorCause } from "../behaviour/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ReferenceKey } from "../keys.ts";
import type { SignedRequest } from "../behaviour/authentication.ts";
import {
  acceptExpiredKeys,
  always,
  fault,
  faults,
  acceptAsKey,
  namedKey,
  overrideError,
  overrideErrorStatus,
  overrideResult,
  wasIssuedExpired,
  withPath,
  type Override,
} from "../patch.ts";

const respond403 = (where: Endpoint) => overrideErrorStatus(["wrong-key"], 403, where);

const acceptWrongKeys = (where: Endpoint): Override =>
  overrideResult("requiresKey")(
    (requires, endpoint, { kind }) => requires && (endpoint !== where || kind === "absent"),
  );

const anyScheme = /^(\S+) +(\S+) *$/;

/** Makes the server treat an unknown key as the first known key for which `resembles` returns `true`. */
export const acceptSimilar =
  (resembles: (text: string, key: string, endpoint: Endpoint) => boolean): Override =>
  (base) => ({
    identify: (credentials, ring, nowMs, endpoint) => {
      if (credentials.kind !== "bearer" || ring.find(credentials.text) !== undefined)
        return base.identify(credentials, ring, nowMs, endpoint);
      const key = ring.keys.find(({ key: known }) => resembles(credentials.text, known, endpoint));
      return base.identify({ ...credentials, text: key?.key ?? credentials.text }, ring, nowMs, endpoint);
    },
  });

export const differsAtMostInLastCharacter = (text: string, key: string): boolean =>
  text.slice(0, -1) === key.slice(0, -1);

/**
 * Makes an endpoint accept a key that is invalid for one cause, e.g. `expired-key`, if the previous request had the
 * same path and a valid key. This imitates a faulty cache.
 */
const acceptPreviousKey = (where: Endpoint, invalid: ErrorCause): Override =>
  withPath((path) => (base) => {
    let last: { readonly path: string; readonly key: ReferenceKey } | null = null;
    return overrideResult("identify")((identity, _credentials, _ring, _nowMs, endpoint) => {
      const before = last;
      last = identity.kind === "known" ? { path: path(), key: identity.key } : null;
      const isCached = identity.kind === "unauthenticated" && identity.cause === invalid && endpoint === where;
      return isCached && before?.path === path() ? { kind: "known", key: before.key } : identity;
    })(base);
  });

/** Makes the server compute the expected signature from a changed request, for example with another path. */
const signOther =
  (change: (request: SignedRequest) => Partial<SignedRequest>): Override =>
  (base) => ({ signedBytes: (request) => base.signedBytes({ ...request, ...change(request) }) });

export const signOtherBody = (change: (body: string) => string | Uint8Array): Override =>
  signOther(({ body }) => ({ body: Buffer.from(change(Buffer.from(body).toString())) }));

const errorsOf403 = ["AUTH-8", "ERR-1", "ERR-10"] as const;

export const authenticationFaults = faults("Authentication", {
  "valid-key-locked-out": fault("AUTH-1", "Keys of the published tiers are not let in to health.").by(
    overrideResult("permits")(
      (permits, { tier }, { endpoint }) => permits && (tier === "enterprise" || endpoint !== "health"),
    ),
  ),
  "missing-key-403": fault("AUTH-2", "A missing key responds with 403.").by(
    overrideError(["missing-key"], 403, "FORBIDDEN"),
  ),
  "missing-key-let-in": fault(["AUTH-2", "REQ-2"], "A request without a key is let in.").by(
    acceptAsKey(({ kind }, { keys }) => (kind === "absent" ? keys[0] : undefined)),
  ),
  "wrong-key-other-code": fault("AUTH-3", "A wrong key has the code UNAUTHORIZED.").by(
    overrideError(["wrong-key"], 401, "UNAUTHORIZED"),
  ),
  "wrong-key-403": fault("AUTH-3", "A wrong key responds with 403.").by(overrideError(["wrong-key"], 403, "FORBIDDEN")),
  "expired-key-other-code": fault(["AUTH-4", "KEY-3"], "An expired key has the code INVALID_API_KEY.").by(
    overrideError(["expired-key"], 401, "INVALID_API_KEY"),
  ),
  "expired-key-let-in": fault("AUTH-4", "A key that was issued expired is let in.").by(
    acceptExpiredKeys(wasIssuedExpired),
  ),
  "near-miss-let-in": fault("AUTH-5", "The last character of a key does not matter.").by(
    acceptSimilar(differsAtMostInLastCharacter),
  ),
  "near-miss-is-expired": fault("AUTH-5", "A key that begins like a known one counts as expired.").by(
    overrideResult("identify")((identity, credentials, ring) => {
      const begin = credentials.kind === "bearer" ? credentials.text.slice(0, 16) : null;
      const resembles = ring.keys.some(({ key }) => key.slice(0, 16) === begin);
      return identity.kind === "unauthenticated" && identity.cause === "wrong-key" && resembles
        ? { kind: "unauthenticated", cause: "expired-key" }
        : identity;
    }),
  ),
  "key-prefix-compared-on-list": fault("AUTH-5", "The list looks at the first 24 characters of a key alone.").by(
    acceptSimilar((text, key, endpoint) => endpoint === "list" && text.slice(0, 24) === key.slice(0, 24)),
  ),
  "longer-key-let-in": fault("AUTH-5", "A key may be followed by anything.").by(
    acceptSimilar((text, key) => text.startsWith(key)),
  ),
  "shorter-key-let-in": fault("AUTH-5", "The beginning of a key is enough.").by(
    acceptSimilar((text, key) => text.length > 8 && key.startsWith(text)),
  ),
  "case-ignored": fault("AUTH-5", "The letter case of a key does not matter.").by(
    acceptSimilar((text, key) => text.toLowerCase() === key.toLowerCase()),
  ),
  "case-ignored-on-list": fault("AUTH-5", "The list does not look at the letter case of a key.").by(
    acceptSimilar((text, key, endpoint) => endpoint === "list" && text.toLowerCase() === key.toLowerCase()),
  ),
  "scheme-alone-let-in": fault("AUTH-6", "`Bearer` without a key lets in to reading usage.").by(
    acceptAsKey(({ kind }, { keys }, endpoint) => (kind === "malformed" && endpoint === "usage" ? keys[0] : undefined)),
  ),
  "expired-key-served-elsewhere": fault(
    "AUTH-4",
    "A key that was issued expired is refused on invoke, and let in elsewhere.",
  ).by(
    acceptExpiredKeys(wasIssuedExpired, (endpoint) => endpoint !== "invoke"),
    ["LIM-11"],
  ),
  "expired-key-served-on-key-usage": fault("AUTH-4", "Key usage accepts a key that was issued expired.").by(
    acceptExpiredKeys(wasIssuedExpired, (endpoint) => endpoint === "keyUsage"),
  ),
  "no-key-for-two-slashes": fault("AUTH-2", "A path with two slashes needs no key.").by(
    withPath((path) => (base) => ({
      servedPath: (sent) => sent.replace("//", "/"),
      ...acceptAsKey(({ kind }, { keys }) => (kind === "absent" && path().includes("//") ? keys[0] : undefined))(base),
    })),
  ),
  "expired-key-served-for-upper-case": fault("AUTH-4", "A path in upper case accepts an expired key.").by(
    withPath((path) => (base) => ({
      servedPath: (sent) => sent.replace(/INVOKE$/, "invoke"),
      ...acceptExpiredKeys(wasIssuedExpired, () => path().endsWith("INVOKE"))(base),
    })),
  ),
  "signature-replaces-expiry": fault("AUTH-4", "A signed request is accepted with an expired key.").by(
    overrideResult("identify")((identity, credentials, ring, _nowMs, _endpoint, isSigned) => {
      const expired = namedKey(credentials, ring);
      return isSigned === true && expired !== undefined ? { kind: "known", key: expired.key } : identity;
    }),
  ),
  "long-wrong-key-500": fault("AUTH-3", "A wrong key of more than 255 characters responds with 500.").by(
    overrideResult("identify")((identity, credentials) =>
      identity.kind === "unauthenticated" && credentials.kind === "bearer" && credentials.text.length > 255
        ? { kind: "unauthenticated", cause: "crash" }
        : identity,
    ),
  ),
  "reader-cannot-list": fault("AUTH-1", "A read-only key may read usage and health, and not the list.").by(
    overrideResult("permits")(
      (permits, { scope }, { endpoint }) => permits && (scope === "full" || endpoint !== "list"),
    ),
  ),
  "signed-batches-refused": fault("AUTH-10", "A signed batch is refused.").by(
    withPath((path) => (base) => ({
      acceptsSignature: (request, signed, secret, nowMs) =>
        (request.signature === "" || !path().endsWith("/batch")) &&
        base.acceptsSignature(request, signed, secret, nowMs),
    })),
  ),
  "signature-of-decoded-path": fault("AUTH-10", "The path is expected in the signature as it is after decoding.").by(
    signOther(({ path }) => ({ path: decodeURIComponent(path) })),
  ),
  "expired-key-starts-operations": fault("AUTH-4", "A key that was issued expired may start an operation.").by(
    acceptExpiredKeys(wasIssuedExpired, (endpoint) => endpoint === "startOperation"),
  ),
  "wrong-key-starts-operations": fault("AUTH-3", "A wrong key may start an operation.").by(
    acceptWrongKeys("startOperation"),
  ),
  "missing-key-starts-operations": fault("AUTH-2", "A request without a key may start an operation.").by(
    acceptAsKey(({ kind }, { keys }, endpoint) =>
      kind === "absent" && endpoint === "startOperation" ? keys[0] : undefined,
    ),
  ),
  "expired-key-other-code-on-list": fault(
    ["AUTH-4", "KEY-3"],
    "The list responds to an expired key as to a wrong one.",
  ).by(overrideError(["expired-key"], 401, "INVALID_API_KEY", "list")),
  "unknown-key-served-on-health": fault("AUTH-8", "Health takes any key that begins as the service's keys do.").by(
    acceptSimilar((text, key, endpoint) => endpoint === "health" && text.slice(0, 3) === key.slice(0, 3)),
  ),
  "deliveries-answer-wrong-keys-403": fault(errorsOf403, "Listing deliveries responds to a wrong key with 403.").by(
    respond403("listDeliveries"),
  ),
  "operations-answer-wrong-keys-403": fault(errorsOf403, "Checking an operation responds to a wrong key with 403.").by(
    respond403("checkOperation"),
  ),
  "batch-answers-wrong-keys-403": fault(errorsOf403, "A batch responds to a wrong key with 403.").by(
    respond403("batch"),
    ["AUTH-16"],
  ),
  "any-scheme": fault("AUTH-6", "The key is read from any scheme.").by((base) => ({
    credentials: (authorization) => {
      const [, scheme, text] = anyScheme.exec(authorization) ?? [];
      return scheme === undefined || text === undefined
        ? base.credentials(authorization)
        : { kind: "bearer", scheme, text };
    },
  })),
  "list-lets-wrong-keys-in": fault("AUTH-8", "The list accepts a wrong key, but not a missing one.").by(
    acceptWrongKeys("list"),
    ["HDR-12"],
  ),
  "usage-lets-wrong-keys-in": fault("AUTH-8", "Usage accepts a wrong key, but not a missing one.").by(
    acceptWrongKeys("usage"),
  ),
  "key-usage-answers-wrong-keys-403": fault(errorsOf403, "Key usage responds to a wrong key with 403.").by(
    respond403("keyUsage"),
  ),
  "webhooks-answer-wrong-keys-403": fault(errorsOf403, "Creating a webhook responds to a wrong key with 403.").by(
    respond403("createWebhook"),
    ["AUTH-16"],
  ),
  "alerts-answer-wrong-keys-403": fault(errorsOf403, "Creating an alert responds to a wrong key with 403.").by(
    respond403("createAlert"),
    ["AUTH-16"],
  ),
  "signed-request-refused": fault("AUTH-10", "A request that is signed is refused.").by(() => ({
    acceptsSignature: ({ signature }) => signature === "",
  })),
  "signature-of-upper-case": fault("AUTH-10", "The signature is expected in upper case.").by((base) => ({
    acceptsSignature: (request, signed, secret, nowMs) =>
      request.signature === request.signature.toUpperCase() &&
      base.acceptsSignature({ ...request, signature: request.signature.toLowerCase() }, signed, secret, nowMs),
  })),
  "signature-without-body": fault("AUTH-10", "The signature is expected over everything but the body.").by(
    signOther(() => ({ body: new Uint8Array() })),
  ),
  "signature-without-version": fault("AUTH-10", "The path is expected in the signature without its leading /v1.").by(
    signOther(({ path }) => ({ path: path.replace(/^\/v1/, "") })),
  ),
  "signature-in-milliseconds": fault("AUTH-10", "The timestamp is expected in milliseconds.").by((base) => ({
    acceptsSignature: (request, signed, secret, nowMs) =>
      base.acceptsSignature(request, signed, secret, request.timestamp === "" ? nowMs : nowMs * 1000),
  })),
  "signature-without-separators": fault("AUTH-10", "The signature is expected over a text without line feeds.").by(
    () => ({
      signedBytes: ({ method, path, timestamp, body }) =>
        Buffer.concat([Buffer.from(`${method}${path}${timestamp}`), body]),
    }),
  ),
  "signature-in-another-order": fault("AUTH-10", "The signature is expected over timestamp, method, path and body.").by(
    () => ({
      signedBytes: ({ method, path, timestamp, body }) =>
        Buffer.concat([Buffer.from(`${timestamp}\n${method}\n${path}\n`), body]),
    }),
  ),
  "signature-of-lower-case-method": fault("AUTH-10", "The method is expected in lower case in the signature.").by(
    signOther(({ method }) => ({ method: method.toLowerCase() })),
  ),
  "signature-in-base64": fault("AUTH-10", "The signature is expected in base64.").by((base) => ({
    acceptsSignature: (request, signed, secret, nowMs) => {
      if (/^[0-9a-f]{64}$/i.test(request.signature)) return false;
      const signature = Buffer.from(request.signature, "base64").toString("hex");
      return base.acceptsSignature({ ...request, signature }, signed, secret, nowMs);
    },
  })),
  "signature-of-latin1": fault("AUTH-10", "The signature is expected over the body in Latin-1.").by(
    signOtherBody((body) => Buffer.from(body, "latin1")),
  ),
  "request-signature-of-reprinted-body": fault(
    "AUTH-10",
    "The signature is expected over the body as the server would print it, not as it arrived.",
  ).by(signOtherBody(reformatJson)),
  "request-signature-of-compact-body": fault(
    "AUTH-10",
    "The signature is expected over the body as `JSON.stringify` prints it, not as it arrived.",
  ).by(signOtherBody(compactJson)),
  "request-signature-of-trimmed-body": fault(
    "AUTH-10",
    "The signature is expected over the body without white space at its ends.",
  ).by(signOtherBody((body) => body.trim())),
  "request-signature-of-line-feeds": fault(
    "AUTH-10",
    "The signature is expected over the body with LF for each CR LF.",
  ).by(signOtherBody((body) => body.replaceAll("\r\n", "\n"))),
  "health-cached-for-expired-keys": fault(
    "AUTH-4",
    "Health responds to an expired key from a cache, right after a good call of the same path.",
  ).by(acceptPreviousKey("health", "expired-key")),
  "list-cached-for-wrong-keys": fault(
    "AUTH-3",
    "The list responds to a wrong key from a cache, right after a good call of the same path.",
  ).by(acceptPreviousKey("list", "wrong-key")),
  "keys-known-by-both-ends": fault(
    "AUTH-3",
    "Keys of the right length are known by 3 and 12 characters at their ends.",
  ).by(
    acceptSimilar((text, key) => {
      const ends = (each: string) => `${each.slice(0, 3)} ${each.length} ${each.slice(-12)}`;
      return ends(text) === ends(key);
    }),
  ),
  "key-looked-at-last": fault("AUTH-16", "Path, agent and body are checked before the key.").by(
    always("authenticatesFirst", false),
  ),
});

function compactJson(body: string): string {
  const value = tryParseJson(body);
  return value === undefined ? body : JSON.stringify(value);
}

function reformatJson(body: string): string {
  const value = tryParseJson(body);
  return value === undefined ? body : JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ");
}
