import { getPath, isObject } from "../../base/json.ts";
import { apiError, type ErrorCause } from "../behaviour/errors.ts";
import type { ResponseHead } from "../behaviour/transport.ts";
import type { Endpoint } from "../endpoint.ts";
import { setField } from "../json-edit.ts";
import {
  acceptExpiredKeys,
  fault,
  faults,
  overrideJson,
  overrideResult,
  wasIssuedExpired,
  withLast,
  withoutRateHeaders,
  withPath,
  type Override,
} from "../patch.ts";
import { acceptSimilar, differsAtMostInLastCharacter } from "./authentication.ts";
import { refuseBody } from "./invoke.ts";

const otherEndpoints: ReadonlySet<Endpoint> = new Set([
  "createWebhook",
  "listDeliveries",
  "createAlert",
  "keyUsage",
  "checkOperation",
]);

const respondWithHtml = (matches: (input: ResponseHead) => boolean): Override =>
  overrideResult("jsonText")((text, _value, input) => (matches(input) ? "<h1>nope</h1>" : text));

const edgeCaseFaults = faults("What the service does 1", {
  "key-usage-is-html": fault("SVC-1", "Key usage is HTML.").by(
    respondWithHtml(({ endpoint, status }) => endpoint === "keyUsage" && status === 200),
  ),
  "errors-elsewhere-are-html": fault("SVC-1", "Errors of webhooks, alerts, keys and operations are HTML.").by(
    respondWithHtml(({ endpoint, status }) => otherEndpoints.has(endpoint) && status >= 400),
  ),
  "errors-declared-html": fault("REQ-4", "Errors are declared as HTML.").by(
    overrideResult("contentType")((type, _kind, { status }) => (status >= 400 ? "text/html" : type)),
  ),
  "errors-elsewhere-in-no-form": fault("ERR-4", "Errors of webhooks, alerts, keys and operations fit neither form.").by(
    overrideJson("errorBody")
      .when(({ endpoint, status }) => otherEndpoints.has(endpoint) && status !== 429)
      .remove("error.status"),
  ),
  "headers-missing-on-403": fault("HDR-2", "A 403 has no rate-limit headers.").by(
    withoutRateHeaders(({ status }) => status === 403),
  ),
  "headers-missing-on-refused-list": fault("HDR-4", "A list that is refused with 429 has no rate-limit headers.").by(
    withoutRateHeaders(({ endpoint, status }) => endpoint === "list" && status === 429),
  ),
  "headers-missing-on-unknown-health": fault(
    "HDR-7",
    "Health of an agent that does not exist has no rate-limit headers.",
  ).by(withoutRateHeaders(({ endpoint, status }) => endpoint === "health" && status === 404)),
  "headers-missing-on-413": fault("HDR-2", "A refusal of a body that is too long has no rate-limit headers.").by(
    withoutRateHeaders(({ status }) => status === 413),
  ),
  "last-page-without-pagination": fault("LST-3", "The last of several pages has no `pagination`.").by(
    overrideJson("listBody")
      .when(({ page, limit, total }) => page > 2 && page === Math.ceil(total / limit))
      .remove("pagination"),
  ),
  "storyteller-without-checks": fault("HLT-3", "The health of one agent has no `checks`.").by(
    overrideJson("healthBody")
      .when(({ agent }) => agent.id === "storyteller")
      .remove("checks"),
  ),
  "uptime-in-milliseconds": fault("HLT-8", "`uptime` is in milliseconds.").by(
    overrideJson("healthBody")((body, { uptimeMs }) => setField(body, "uptime", uptimeMs)),
  ),
  "failure-told-without-agent": fault("HOOK-5", "`agent.failed` has no `agent_id`.").by(
    overrideJson("eventBody")
      .when(({ type }) => type === "agent.failed")
      .remove("agent_id"),
  ),
  "last-usage-in-text": fault("USE-4", "`tokens.used` is text once a key has used more than a thousand tokens.").by(
    overrideJson("usageBody")
      .when(({ tokens }) => tokens.used > 1000)
      .change("tokens.used", String),
  ),
  "expired-key-served-on-second-page": fault(
    "AUTH-4",
    "The list accepts a key that was issued expired from its second page on.",
  ).by(
    withPath((path) =>
      acceptExpiredKeys(wasIssuedExpired, (endpoint) => endpoint === "list" && /[?&]page=[2-9]/.test(path())),
    ),
  ),
  "key-looked-at-last-on-webhooks": fault("AUTH-16", "Creating a webhook checks the body before the key.").by(
    withPath((path) => () => ({ authenticatesFirst: () => path() !== "/v1/webhooks" })),
  ),
});

const readKeyFromHeaders =
  (on: Endpoint, find: (name: string, value: string) => string | undefined): Override =>
  () => ({
    authorizationElsewhere: (headers, _path, endpoint) => {
      const [found] = Object.entries(headers).flatMap(([name, value]) => find(name, String(value)) ?? []);
      return endpoint === on && found !== undefined ? `Bearer ${found}` : "";
    },
  });

const isDigits = (value: unknown): boolean => typeof value === "string" && /^\d+$/.test(value);

const isWord = (value: unknown): boolean => typeof value === "string" && /^[\w+/=]+$/.test(value);

const changeUnknownAgentCode = (on: Endpoint): Override =>
  withLast("permits", (last) =>
    overrideResult("errorCode")((code, cause, endpoint) =>
      cause === "agent-not-found" && endpoint === on && last()?.[0].tier === "enterprise" ? "NOT_FOUND" : code,
    ),
  );

const isOnSecondPage = (path: string, cause: ErrorCause, endpoint: Endpoint): boolean =>
  cause === "wrong-key" && endpoint === "list" && /[?&]page=2/.test(path);

const combinationFaults = faults("Errors / Error codes", {
  "key-in-cookie-let-in": fault("AUTH-2", "Usage takes the key from a cookie.").by(
    readKeyFromHeaders("usage", (name, value) => (name === "cookie" ? /api_key=([^;]+)/.exec(value)?.[1] : undefined)),
  ),
  "key-in-other-header-let-in": fault("AUTH-2", "Key usage takes the key from `X-API-Key`.").by(
    readKeyFromHeaders("keyUsage", (name, value) => (name === "x-api-key" ? value : undefined)),
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
    withPath((path) =>
      overrideResult("errorStatus")((status, ...error) => (isOnSecondPage(path(), ...error) ? 403 : status)),
    ),
    ["AUTH-2", "AUTH-5", "AUTH-8", "AUTH-16", "ERR-1", "ERR-10"],
  ),
  "second-page-calls-wrong-keys-expired": fault("AUTH-3", "Page 2 of the list calls a wrong key expired.").by(
    withPath((path) =>
      overrideResult("errorCode")((code, ...error) => (isOnSecondPage(path(), ...error) ? "EXPIRED_API_KEY" : code)),
    ),
    ["AUTH-5"],
  ),
  "second-page-takes-near-miss": fault("AUTH-5", "Page 2 of the list does not look at the last character of a key.").by(
    withPath((path) =>
      acceptSimilar(
        (text, key, endpoint) =>
          endpoint === "list" && /[?&]page=2/.test(path()) && differsAtMostInLastCharacter(text, key),
      ),
    ),
    ["AUTH-16"],
  ),
  "batch-looked-at-before-key": fault("AUTH-16", "A batch checks the body before the key.").by(
    withPath((path) => () => ({ authenticatesFirst: () => !path().endsWith("/batch") })),
  ),
  "array-crashes-invoke": fault("REQ-11", "A body that is an array makes invoke fail with 500.").by(
    overrideResult("validateBody")((error, body, _violations, endpoint) =>
      endpoint === "invoke" && Array.isArray(body) ? apiError("crash", "The server failed.") : error,
    ),
  ),
  "unhealthy-health-limited": fault(
    "HLT-15",
    "Health of an agent that is not healthy is refused when limits are used up.",
  ).by(
    withPath((path) =>
      overrideResult("isLimited")((is, endpoint) => is || (endpoint === "health" && /down|worn/.test(path()))),
    ),
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

export const rareCaseFaults = [...edgeCaseFaults, ...combinationFaults];
