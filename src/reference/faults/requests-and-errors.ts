import { isObject } from "../../base/json.ts";
import { getOrAdd } from "../../base/memoize.ts";
import { type ErrorBodyInput, fieldError, formA } from "../behaviour/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import { editField, removeField, setField } from "../json-edit.ts";
import {
  editFormB,
  fault,
  faults,
  overrideByCount,
  overrideError,
  overrideErrorCode,
  overrideErrorStatus,
  overrideJson,
  overrideResult,
  type Override,
} from "../patch.ts";

const serviceFaults = faults("What the service does", {
  "usage-not-json": fault("SVC-1", "The usage report has a comma after its last field.").by(
    overrideResult("jsonText")((text, _value, { endpoint, status }) =>
      endpoint === "usage" && status === 200 ? text.replace(/\}$/, ",}") : text,
    ),
  ),
  "gzip-in-name-only": fault("SVC-1", "JSON is declared as gzipped where the client offers it, and is not.").by(
    overrideResult("encodeBody")((encoded, _text, acceptEncoding) =>
      /\bgzip\b/.test(acceptEncoding) ? { ...encoded, headers: [["Content-Encoding", "gzip"]] } : encoded,
    ),
  ),
  "stream-declared-json": fault(["SVC-2", "REQ-4", "SSE-1"], "A stream is declared as application/json.").by(
    (base) => ({
      contentType: (_kind, facts) => base.contentType("json", facts),
    }),
  ),
  "usage-not-below-v1": fault(["SVC-3", "USE-1"], "Usage is served below `/v2` only.").by(
    () => ({
      servedPath: (path) => path.replace(/^\/v1\/usage/, "/gone").replace(/^\/v2\/usage/, "/v1/usage"),
    }),
    // The server counts a GET of `/v2/usage`, but the harness does not. To the harness, a usage alert (ALR-3) can then
    // seem to come one request too early.
    ["ALR-3"],
  ),
  "sends-to-v2": fault(["VER-1", "HLT-18"], "Health of an unknown agent sends the client to `/v2`.").by((base) => ({
    ...overrideError(["agent-not-found"], 308, "MOVED", "health")(base),
    finalHeaders: (headers, facts) => {
      const own = base.finalHeaders(headers, facts);
      return facts.status === 308 ? [...own, ["Location", "/v2/agents/nobody/health"]] : own;
    },
  })),
  "health-version-differs": fault("VER-4", "Health reports another version than invoke.").by((base) => ({
    healthBody: (facts) => base.healthBody({ ...facts, version: `${facts.version}-1` }),
  })),
  "version-of-invoke-stays": fault(
    "VER-4",
    "After an update, an invoke still has the old version; health has the new one.",
  ).by((base) => {
    const first = new Map<string, string>();
    return {
      agentVersion: (agent) => getOrAdd(first, agent.id, () => base.agentVersion(agent)),
      healthBody: (facts) => base.healthBody({ ...facts, version: facts.agent.version }),
    };
  }),
});

const envelope = (result: unknown, metadata: object = { execution_time: 0, tokens_used: 0 }, status = "success") => ({
  status,
  data: { result, metadata },
});

const requestEndpointFaults = faults("Endpoints / Common request rules", {
  "health-needs-no-key": fault(["REQ-2", "AUTH-8"], "Health needs no key and accepts a wrong one.").by(
    overrideResult("requiresKey")((requires, endpoint) => requires && endpoint !== "health"),
  ),
  "json-declared-html": fault("REQ-4", "JSON responses are declared as HTML.").by(
    overrideResult("contentType")((type, kind, { status }) =>
      kind === "json" && status === 200 ? "text/html; charset=utf-8" : type,
    ),
  ),
  "white-space-refused": fault("REQ-5", "A body with white space between its tokens is refused.").by(() => ({
    acceptsBodyText: (text) => !/^\s|[{,]\s|\s\}$/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')),
  })),
  "key-order-matters": fault("REQ-5", "A body is refused unless `query` is its first key.").by(
    overrideResult("validateBody")((error, body) =>
      isObject(body) && "query" in body && Object.keys(body)[0] !== "query"
        ? fieldError("invalid-input", "query", "must come first")
        : error,
    ),
    ["INV-1", "INV-13", "SSE-1"],
  ),
  "usage-in-another-shape": fault(
    ["REQ-7", "USE-2", "USE-3", "USE-4"],
    "The usage report is wrapped in neither of the published shapes.",
  ).by(overrideJson("usageBody")((payload) => ({ payload }))),
  "list-in-another-shape": fault(
    ["REQ-7", "LST-2", "LST-3"],
    "The list is wrapped in neither of the published shapes.",
  ).by(overrideJson("listBody")((payload) => ({ payload }))),
  "list-shape-wavers": fault("REQ-7", "The list alternates between the top level and the envelope.").by(
    overrideByCount("listBody")((body, count) => (count % 2 === 1 ? body : envelope(body))),
  ),
  "envelope-status-ok": fault(
    "REQ-8",
    "Usage is in an envelope whose `status` is `ok` and whose `tokens_used` is text.",
  ).by(overrideJson("usageBody")((body) => envelope(body, { execution_time: "0", tokens_used: "0" }, "ok"))),
  "envelope-metadata-text": fault("REQ-8", "Usage is in an envelope whose `execution_time` is text.").by(
    overrideJson("usageBody")((body) => envelope(body, { execution_time: "fast", tokens_used: 0 })),
  ),
  "json-of-alerts-refused": fault(["REQ-3", "ALR-1"], "`application/json` is refused where an alert is created.").by(
    (base) => ({
      acceptsContentType: (type, endpoint) => endpoint !== "createAlert" && base.acceptsContentType(type, endpoint),
      ...overrideError(["content-type"], 415, "UNSUPPORTED_MEDIA_TYPE")(base),
    }),
  ),
});

const errorBody = overrideJson("errorBody");

const isLimit = ({ detail }: ErrorBodyInput) => detail.kind === "limit";

const limitCauses = ["request-limit", "concurrency-limit", "token-quota", "address-limit"] as const;

const withoutForm = (...operations: readonly Endpoint[]): Override =>
  errorBody.when(({ endpoint, status }) => operations.includes(endpoint) && status !== 429).remove("error.status");

const errorFaults = faults("Errors", {
  "input-answers-422": fault(["ERR-1", "ERR-10", "INV-10", "SSE-20"], "A missing field responds with 422.").by(
    overrideErrorStatus(["missing-field"], 422),
    ["REQ-11"],
  ),
  "invoke-errors-in-no-form": fault("ERR-2", "Errors of invoke have a code and a message, and fit neither form.").by(
    withoutForm("invoke"),
  ),
  "stream-errors-in-no-form": fault("ERR-3", "Errors of stream have a code and a message, and fit neither form.").by(
    withoutForm("stream"),
  ),
  "other-errors-in-no-form": fault(
    "ERR-4",
    "Errors of list, usage and health have a code and a message, and fit neither form.",
  ).by(withoutForm("list", "usage", "health")),
  "message-empty": fault("ERR-5", "Messages are empty.").by(errorBody.set("error.message", "")),
  "status-is-text": fault("ERR-6", "`error.status` is text.").by(errorBody.change("error.status", String)),
  "status-differs": fault("ERR-6", "`error.status` is not the HTTP status.").by(
    errorBody.change("error.status", (old) => Number(old) + 100),
  ),
  "details-are-text": fault("ERR-7", "Errors have form B, and the `details` of an unknown agent are text.").by(
    editFormB((body, { cause }) =>
      cause === "agent-not-found" ? setField(body, "error.details", "no such agent") : body,
    ),
  ),
  "retry-missing": fault("ERR-8", "A 429 has no `retry_after`.").by(
    errorBody.when(isLimit).remove("error.retry_after"),
  ),
  "retry-is-text": fault("ERR-8", "`retry_after` of a 429 is text.").by(
    errorBody.when(isLimit).change("error.retry_after", String),
  ),
  "details-remaining-one-too-many": fault("ERR-8", "`details.remaining` counts the refused request as left.").by(
    editFormB((body) => editField(body, "error.details.remaining", (left) => Number(left) + 1)),
  ),
  "details-without-limit": fault("ERR-8", "Errors have form B, and the `details` of a 429 have no `limit`.").by(
    editFormB((body) => removeField(body, "error.details.limit")),
  ),
  "limit-other-code": fault("ERR-9", "A 429 has the code TOO_MANY_REQUESTS.").by(
    overrideErrorCode(limitCauses, "TOO_MANY_REQUESTS"),
  ),
  "invalid-input-422": fault(["ERR-1", "ERR-10", "INV-20"], "INVALID_INPUT has the status 422.").by(
    overrideErrorStatus(["invalid-input", "malformed-json", "content-type"], 422),
    ["REQ-11"],
  ),
  "crash-answers-200": fault(
    ["ERR-13", "ERR-18", "INV-2"],
    "An agent that fails responds with 200, with the error body.",
  ).by(overrideErrorStatus(["crash"], 200)),
  "crash-without-body": fault(["ERR-2", "ERR-13"], "An agent that fails responds with an empty object.").by(
    errorBody((body, { cause }) => (cause === "crash" ? {} : body)),
  ),
  "details-name-no-field": fault(
    "ERR-15",
    "Errors have form B, and the `details` of a refused input name no field.",
  ).by(editFormB((body) => removeField(body, "error.details.field"))),
  "reset-at-is-number": fault("ERR-16", "Errors have form B, and `reset_at` is Unix seconds.").by(
    editFormB((body) => editField(body, "error.details.reset_at", (time) => Date.parse(String(time)) / 1000)),
  ),
  "reset-at-of-yesterday": fault("ERR-16", "Errors have form B, and `reset_at` is a day before the reset.").by(
    editFormB((body) =>
      editField(body, "error.details.reset_at", (time) =>
        new Date(Date.parse(String(time)) - 86_400_000).toISOString(),
      ),
    ),
  ),
  "limit-answers-503": fault(["LIM-12", "ERR-1", "ERR-10"], "Beyond a limit the status is 503.").by(
    overrideErrorStatus(limitCauses, 503),
  ),
  "limit-without-error": fault(["LIM-12", "ERR-2", "ERR-3", "ERR-4"], "A 429 has a body without `error`.").by(() => ({
    errorBody: (input) => (input.detail.kind === "limit" ? { message: input.message } : formA(input)),
  })),
});

export const requestFaults = [...serviceFaults, ...requestEndpointFaults, ...errorFaults];
