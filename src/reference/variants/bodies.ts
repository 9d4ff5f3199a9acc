import { gzipSync } from "node:zlib";
import { dayMs, hourMs } from "../../base/duration.ts";
import { isObject } from "../../base/json.ts";
import { apiError, fieldError } from "../behaviour/errors.ts";
import type { Header } from "../behaviour/transport.ts";
import { escapeNonAscii, fieldsOf, isoTime, renameField, setField } from "../json-edit.ts";
import {
  always,
  overrideError,
  overrideErrorCode,
  overrideJson,
  overrideResult,
  variant,
  variants,
  type Override,
} from "../patch.ts";

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, part]) => [key, reverseKeys(part)]),
  );
}

/** Serializes a value as JSON in which every integer has a fraction, such as `1.0`. */
function withFractions(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? `${value}.0` : String(value);
  if (Array.isArray(value)) return `[${value.map(withFractions).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, part]) => part !== undefined);
  return `{${fields.map(([key, part]) => `${JSON.stringify(key)}:${withFractions(part)}`).join(",")}}`;
}

/**
 * Adds an extra field to every object except `dependencies` and `checks`. In these two objects, the field would count as
 * another dependency or check.
 */
function addFields(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((part) => addFields(part));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([key, part]) => [key, addFields(part, key)] as const);
  const isMap = name === "dependencies" || name === "checks";
  return { ...Object.fromEntries(fields), ...(isMap ? {} : { x_vendor: { note: "more", list: [1, null] } }) };
}

const wireVariants = variants("Endpoints / Common request rules", {
  "keys-reversed": variant("JSON objects have their keys in another order.").by((base) => ({
    jsonText: (value, facts) => base.jsonText(reverseKeys(value), facts),
    eventText: (data) => base.eventText(reverseKeys(data)),
  })),
  "json-indented": variant("JSON has white space.").by(() => ({
    jsonText: (value) => `\n${JSON.stringify(value, null, 2)}\n`,
  })),
  "json-escaped": variant("Characters beyond ASCII are escaped in JSON.").by((base) => ({
    jsonText: (value, facts) => escapeNonAscii(base.jsonText(value, facts)),
    eventText: (data) => escapeNonAscii(base.eventText(data)),
  })),
  "integers-with-fraction": variant("Integers are written as `1.0`.").by(() => ({
    jsonText: withFractions,
    eventText: withFractions,
  })),
  "extra-fields": variant("Every object has a field that the document does not know.").by((base) => ({
    jsonText: (value, facts) => base.jsonText(addFields(value), facts),
    eventText: (data) => base.eventText(addFields(data)),
  })),
  "extra-headers": variant("Responses have headers that the document does not know.").by(
    overrideResult("finalHeaders")((headers) => [
      ...headers,
      ["X-Request-Id", "abc"],
      ["Vary", "Accept, Accept-Encoding"],
      ["Server", "other/1.0"],
    ]),
  ),
  "headers-lower-case": variant("Header names are in lower case.").by(
    overrideResult("finalHeaders")((headers) => headers.map(([name, value]) => [name.toLowerCase(), value])),
  ),
  "headers-upper-case": variant("Header names are in upper case.").by(
    overrideResult("finalHeaders")((headers) => headers.map(([name, value]) => [name.toUpperCase(), value])),
  ),
  "no-date": variant("Responses have no `Date` header.").by(
    overrideResult("finalHeaders")((headers) => headers.filter(([name]) => name.toLowerCase() !== "date")),
  ),
  gzip: variant("JSON is sent gzipped where the client offers it.").by(
    overrideResult("encodeBody")((encoded, text, acceptEncoding) =>
      /\bgzip\b/.test(acceptEncoding) ? { bytes: gzipSync(text), headers: [["Content-Encoding", "gzip"]] } : encoded,
    ),
  ),
  "bodies-chunked": variant("Bodies are sent chunked, without a length.").by(always("bodyFraming", "chunked")),
  "connection-close": variant("The connection is closed after every response.").by(
    overrideResult("finalHeaders")((headers) => [...headers, ["Connection", "close"]]),
  ),
  "content-type-bare": variant("Content types have no charset.").by(() => ({
    contentType: (kind) => (kind === "json" ? "application/json" : "text/event-stream"),
  })),
  "content-type-upper-case": variant("Content types are in other letter case.").by(() => ({
    contentType: (kind) => (kind === "json" ? "Application/JSON;charset=UTF-8" : "Text/Event-Stream;charset=UTF-8"),
  })),
  "answers-late": variant("Responses are delayed and overtake each other.").by(always("turnsBeforeResponse", 30)),
  "stream-needs-accept": variant("A stream is refused with 406 unless `text/event-stream` is accepted.").by(() => ({
    supportsAccept: (endpoint, accept) =>
      endpoint !== "stream" || accept === "" || /text\/event-stream|\*\/\*/.test(accept),
  })),
  "content-type-ignored": variant("A body is read as JSON with any `Content-Type`.").by(
    always("acceptsContentType", true),
  ),
  "content-type-415": variant("A body that is not declared as JSON responds with 415.").by(
    overrideError(["content-type"], 415, "UNSUPPORTED_MEDIA_TYPE"),
  ),
  "long-agent-ids-unrouted": variant("No path has an agent's id of more than 16 characters.").by((base) => ({
    servedPath: (path) => base.servedPath(path).replace(/^\/v1\/agents\/[^/?]{17,}(?=\/)/, "/v1/nothing"),
  })),
  "date-late": variant("`Date` is two seconds late.").by(
    overrideResult("finalHeaders")((headers) =>
      headers.map(([name, value]): Header => [
        name,
        name === "Date" ? new Date(Date.parse(value) - 2000).toUTCString() : value,
      ]),
    ),
  ),
  "json-with-charset-refused": variant("`application/json` is refused where a charset follows.").by(() => ({
    acceptsContentType: (contentType) => contentType === "application/json",
  })),
});

const envelopeMetadata = { execution_time: 0.25, tokens_used: 0 };

export const wrapAsResult = (value: unknown) => ({
  status: "success",
  data: { result: value, metadata: envelopeMetadata },
});
export const wrapAsData = (value: unknown) => ({ status: "success", data: value });
const wrapWithMetadata = (value: unknown) => ({
  status: "success",
  data: isObject(value) ? { ...value, metadata: envelopeMetadata } : value,
});

const invokeBody = overrideJson("invokeBody");
const healthBody = overrideJson("healthBody");
const listBody = overrideJson("listBody");
const usageBody = overrideJson("usageBody");

const acceptAnyValue =
  (field: string): Override =>
  (base) => ({
    validateBody: (body, violations, endpoint) =>
      base.validateBody(
        body,
        violations.filter(({ path }) => path !== field),
        endpoint,
      ),
  });

const invokeVariants = variants("Endpoints / 1. Invoke an agent", {
  "result-alone": variant("Invoke returns `result` alone.").by(invokeBody.remove("usage", "metadata")),
  "metadata-empty": variant("`metadata` has none of its fields.").by(invokeBody.set("metadata", {})),
  "result-of-other-shape": variant("`result` has another shape.").by(() => ({
    invokeResult: ({ text, turn }) => ({ messages: [{ role: "agent", parts: [text] }], turn }),
  })),
  "temperature-out-of-range-accepted": variant("A temperature outside 0.0 to 2.0 is accepted.").by(
    acceptAnyValue("/parameters/temperature"),
  ),
  "query-number-accepted": variant("A `query` that is no string is taken as text.").by(acceptAnyValue("/query")),
  "empty-query-refused": variant("An empty `query` is refused.").by(
    overrideResult("validateBody")((error, body) =>
      isObject(body) && body["query"] === "" ? fieldError("invalid-input", "query", "is empty") : error,
    ),
  ),
  "nul-refused": variant("A query with the character NUL is refused.").by(
    overrideResult("validateBody")((error, body) =>
      String(fieldsOf(body)["query"]).includes("\0")
        ? fieldError("invalid-input", "query", "must not have NUL")
        : error,
    ),
  ),
  "body-before-agent": variant("The body is validated before the agent.").by(() => ({
    chooseError: (agent, body) => body ?? agent,
  })),
  "small-bodies-only": variant("Bodies of more than 16 KiB are refused.").by(always("maxBodyBytes", 16 * 1024)),
  "query-number-other-code": variant("A `query` that is no string counts as missing.").by(
    overrideResult("validateBody")((error, body, _violations, endpoint) =>
      endpoint === "invoke" && isObject(body) && "query" in body && typeof body["query"] !== "string"
        ? fieldError("missing-field", "query", "missing")
        : error,
    ),
  ),
  "query-number-own-code": variant("Input that is invalid has the code VALIDATION_ERROR.").by(
    overrideErrorCode(["invalid-input"], "VALIDATION_ERROR"),
  ),
  "usage-total-only": variant("`usage` has `total_tokens` alone.").by(
    invokeBody((value, { usage: { prompt, completion } }) =>
      setField(value, "usage", { total_tokens: prompt + completion }),
    ),
  ),
  "usage-null": variant("`usage` is `null`.").by(invokeBody.set("usage", null)),
  "metadata-null": variant("`metadata` is `null`.").by(invokeBody.set("metadata", null)),
  "metadata-fields-null": variant("The fields of `metadata` are `null`.").by(
    invokeBody.set("metadata", { execution_time: null, agent_version: null, request_id: null }),
  ),
});

const healthVariants = variants("Endpoints / 3. Health check", {
  "checks-empty": variant("Health has only what is required, and `checks` is empty.").by(() => ({
    healthBody: ({ agent }) => ({
      status: agent.health,
      checks: {},
      ...(agent.health === "degraded" ? { warnings: agent.warnings } : {}),
    }),
  })),
  "checks-in-part": variant("`checks` has only the agent.").by(
    healthBody.remove("checks.dependencies", "checks.resources"),
  ),
  "unhealthy-answers-503": variant("The report of an unhealthy agent has the status 503.").by(
    overrideResult("successStatus")((status, _endpoint, health) => (health === "unhealthy" ? 503 : status)),
  ),
  "checks-with-part-of-their-fields": variant(
    "`checks.agent` has no `status`, and `checks.resources` no `cpu_usage_percent`.",
  ).by(healthBody.remove("checks.agent.status", "checks.resources.cpu_usage_percent")),
  "health-nulls": variant("Unknown fields of a report are `null`.").by(
    healthBody((value, { agent }) => ({
      ...fieldsOf(value),
      uptime: null,
      version: null,
      last_request: null,
      ...(agent.health === "degraded" ? {} : { warnings: null }),
    })),
  ),
});

const listVariants = variants("Endpoints / 4. List agents", {
  "list-envelope": variant("The list comes in the envelope, its fields in `data`.").by(listBody(wrapWithMetadata)),
  "list-envelope-result": variant("The list comes in the envelope, its fields in `data.result`.").by(
    listBody(wrapAsResult),
  ),
  "list-items-by-id": variant("Items of the list have `id` and `name`.").by(
    overrideJson("listItem")((item) => renameField(renameField(item, "agent_id", "id"), "agent_name", "name")),
  ),
  "list-by-last-use": variant("The list starts with the agents that ran last.").by((base) => {
    const lastUses = new Map<string, number>();
    let count = 0;
    return {
      endStages: (end, agentId) => {
        lastUses.set(agentId, (count += 1));
        return base.endStages(end, agentId);
      },
      pageItems: (agents, page) => {
        const lastUse = ({ id }: { readonly id: string }): number => lastUses.get(id) ?? 0;
        return base.pageItems(
          agents.toSorted((one, other) => lastUse(other) - lastUse(one)),
          page,
        );
      },
    };
  }),
  "limit-below-1-refused": variant("A `page` or `limit` of 0 or below is refused.").by(() => ({
    validatePage: (page = 1, limit = 1) =>
      page < 1 || limit < 1 ? fieldError("invalid-input", page < 1 ? "page" : "limit", "must be 1 or more") : null,
  })),
  "page-past-the-end-404": variant("A page past the end responds with 404.").by(() => ({
    validatePage: (page = 1, limit = 20, total) =>
      limit > 0 && page > Math.ceil(total / limit) ? apiError("unknown-path", "There is no such page.") : null,
  })),
  "list-of-ten": variant("The default of `limit` is 10.").by((base) => ({
    effectivePage: (page, limit) => base.effectivePage(page, limit ?? 10),
  })),
});

const usageVariants = variants("Resources / Usage report", {
  "usage-envelope": variant("Usage comes in the envelope, its fields in `data`.").by(usageBody(wrapWithMetadata)),
  "usage-envelope-result": variant("Usage comes in the envelope, its fields in `data.result`.").by(
    usageBody(wrapAsResult),
  ),
  "usage-of-minute": variant("`requests` reports the minute.").by((base) => ({
    usageBody: (facts) => base.usageBody({ ...facts, hour: facts.minute }),
  })),
  "period-as-ordinal-date": variant("`period` is a day by its number in the year.").by(
    usageBody.change("period", (time) => {
      const [year = ""] = String(time).split("-", 1);
      const day = 1 + Math.floor((Date.parse(String(time)) - Date.parse(year)) / dayMs);
      return `${year}-${String(day).padStart(3, "0")}T00:00:00Z`;
    }),
  ),
  "period-of-hour": variant("`period` is the start of the hour, with an offset.").by(
    usageBody((body, { nowMs }) =>
      setField(body, "period", isoTime(Math.floor(nowMs / hourMs) * hourMs).replace("Z", ".000+00:00")),
    ),
  ),
});

export const bodyVariants = [...wireVariants, ...invokeVariants, ...healthVariants, ...listVariants, ...usageVariants];
