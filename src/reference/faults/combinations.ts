import { getPath, isObject } from "../../base/json.ts";
import { apiError } from "../api-error.ts";
import type { Endpoint } from "../endpoint.ts";
import { fault, faults, type Override } from "../patch.ts";
import { withPath } from "./edge-cases.ts";
import { refuseBody } from "./invoke.ts";

/** Takes the key from another header if a request has no `Authorization`. */
const readKeyFromHeaders = (find: (name: string, value: string) => string | undefined, on: Endpoint): Override => {
  return () => ({
    authorizationElsewhere: (headers, _path, endpoint) => {
      const found = Object.entries(headers).flatMap(([name, value]) => find(name, String(value)) ?? []);
      return endpoint === on && found[0] !== undefined ? `Bearer ${found[0]}` : "";
    },
  });
};

const isDigits = (value: unknown): boolean => typeof value === "string" && /^\d+$/.test(value);

const isWord = (value: unknown): boolean => typeof value === "string" && /^[\w+/=]+$/.test(value);

/** Changes the error code for an unknown agent on one endpoint, but only for the Enterprise key. */
const changeUnknownAgentCode =
  (on: Endpoint): Override =>
  (base) => {
    let isEnterprise = false;
    return {
      identify: (...asked) => {
        const identity = base.identify(...asked);
        isEnterprise = identity.kind === "known" && identity.key.tier === "enterprise";
        return identity;
      },
      errorCode: (cause, endpoint) =>
        cause === "agent-not-found" && endpoint === on && isEnterprise ? "NOT_FOUND" : base.errorCode(cause, endpoint),
    };
  };

/** Faults that only show in requests with several properties at once, such as one endpoint and one kind of key. */
export const combinationFaults = faults("Errors / Error codes", {
  "key-in-cookie-let-in": fault("AUTH-2", "Usage takes the key from a cookie.").by(
    readKeyFromHeaders((name, value) => (name === "cookie" ? /api_key=([^;]+)/.exec(value)?.[1] : undefined), "usage"),
  ),
  "key-in-other-header-let-in": fault("AUTH-2", "Key usage takes the key from `X-API-Key`.").by(
    readKeyFromHeaders((name, value) => (name === "x-api-key" ? value : undefined), "keyUsage"),
  ),
  "key-in-query-let-in": fault("AUTH-2", "Health takes the key from the query string.").by(() => ({
    authorizationElsewhere: (_headers, path, endpoint) => {
      const key = new URL(path, "http://localhost").searchParams.get("api_key");
      return endpoint === "health" && key !== null ? `Bearer ${key}` : "";
    },
  })),
  "basic-credentials-let-in": fault("AUTH-6", "The user name of Basic credentials is taken as a key.").by((base) => ({
    credentials: (authorization) => {
      const [, encoded] = /^Basic (\S+)$/.exec(authorization) ?? [];
      const [user = ""] = Buffer.from(encoded ?? "", "base64")
        .toString()
        .split(":");
      return base.credentials(encoded === undefined ? authorization : `Bearer ${user}`);
    },
  })),
  "second-page-answers-wrong-keys-403": fault("AUTH-3", "Page 2 of the list responds with 403 to a wrong key.").by(
    withPath((path) => (base) => ({
      errorStatus: (cause, endpoint) =>
        cause === "wrong-key" && endpoint === "list" && /[?&]page=2/.test(path())
          ? 403
          : base.errorStatus(cause, endpoint),
    })),
    ["AUTH-2", "AUTH-5", "AUTH-8", "AUTH-16", "ERR-1", "ERR-10"],
  ),
  "second-page-calls-wrong-keys-expired": fault("AUTH-3", "Page 2 of the list calls a wrong key expired.").by(
    withPath((path) => (base) => ({
      errorCode: (cause, endpoint) =>
        cause === "wrong-key" && endpoint === "list" && /[?&]page=2/.test(path())
          ? "EXPIRED_API_KEY"
          : base.errorCode(cause, endpoint),
    })),
    ["AUTH-5"],
  ),
  "second-page-takes-near-miss": fault("AUTH-5", "Page 2 of the list does not look at the last character of a key.").by(
    withPath((path) => (base) => ({
      identify: (credentials, ring, nowMs, endpoint) => {
        const isMeant = credentials.kind === "bearer" && endpoint === "list" && /[?&]page=2/.test(path());
        const stem = isMeant ? credentials.text.slice(0, -1) : null;
        const key = ring.keys.find(({ key: text }) => text.slice(0, -1) === stem);
        return key !== undefined && credentials.kind === "bearer"
          ? base.identify({ ...credentials, text: key.key }, ring, nowMs, endpoint)
          : base.identify(credentials, ring, nowMs, endpoint);
      },
    })),
    ["AUTH-16"],
  ),
  "batch-looked-at-before-key": fault("AUTH-16", "A batch checks the body before the key.").by(
    withPath((path) => () => ({ authenticatesFirst: () => !path().endsWith("/batch") })),
  ),
  "array-crashes-invoke": fault("REQ-11", "A body that is an array makes invoke fail with 500.").by((base) => ({
    validateBody: (body, violations, endpoint) =>
      endpoint === "invoke" && Array.isArray(body)
        ? apiError("crash", "The server failed.")
        : base.validateBody(body, violations, endpoint),
  })),
  "unhealthy-health-limited": fault(
    "HLT-15",
    "Health of an agent that is not healthy is refused when limits are used up.",
  ).by(
    withPath((path) => (base) => ({
      isLimited: (endpoint) => base.isLimited(endpoint) || (endpoint === "health" && /down|worn/.test(path())),
    })),
  ),
  "digits-as-session-refused": fault("INV-17", "Invoke refuses a `session_id` of digits.").by(
    refuseBody("invoke", "body", (body) => isDigits(getPath(body, "session_id"))),
  ),
  "one-word-with-context-refused": fault("INV-1", "Invoke refuses a query of one word beside a context.").by(
    refuseBody(
      "invoke",
      "body",
      (body) => isWord(getPath(body, "query")) && isObject(getPath(body, "parameters", "context")),
    ),
  ),
  "unknown-agent-other-code-for-one-key": fault("INV-11", "Invoke gives one key another code for an unknown agent.").by(
    changeUnknownAgentCode("invoke"),
  ),
  "unknown-stream-other-code-for-one-key": fault(
    "SSE-21",
    "Stream gives one key another code for an unknown agent.",
  ).by(changeUnknownAgentCode("stream")),
  "unknown-health-other-code-for-one-key": fault(
    "HLT-18",
    "Health gives one key another code for an unknown agent.",
  ).by(changeUnknownAgentCode("health")),
  "stream-refuses-word-as-session-with-parameters": fault(
    "SSE-1",
    "Stream refuses a `session_id` of one word beside some parameters.",
  ).by(
    refuseBody("stream", "body", (body) => {
      const parameters = getPath(body, "parameters");
      const isRare = getPath(parameters, "max_tokens") === 100 || getPath(parameters, "temperature") === 0.7;
      return isRare && isWord(getPath(body, "session_id"));
    }),
  ),
});
