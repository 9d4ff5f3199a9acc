import { isObject } from "../../base/json.ts";
import { isoTime } from "../behaviour/health-list-usage.ts";
import { overrideErrorCode, overrideJson } from "../overrides.ts";
import { fieldsOf, renameField, setField } from "../json-edit.ts";
import { hourMs } from "../limits/windows.ts";
import { variant, variants, type Override } from "../patch.ts";
import { fieldError, apiError } from "../api-error.ts";

const envelopeMetadata = { execution_time: 0.25, tokens_used: 0 };

/** Wraps a body in the document's generic envelope, as `data.result`. */
export const wrapAsResult = (value: unknown) => ({
  status: "success",
  data: { result: value, metadata: envelopeMetadata },
});
/** Wraps a body in the document's generic envelope, as `data`. */
export const wrapAsData = (value: unknown) => ({ status: "success", data: value });
/** Wraps a body in the document's generic envelope, as `data`, to which it adds the envelope's `metadata`. */
const wrapWithMetadata = (value: unknown) => ({
  status: "success",
  data: isObject(value) ? { ...value, metadata: envelopeMetadata } : value,
});

const invokeBody = overrideJson("invokeBody");
const healthBody = overrideJson("healthBody");
const listBody = overrideJson("listBody");
const usageBody = overrideJson("usageBody");

/** Accepts any value in one field of a request. */
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

export const invokeVariants = variants("Endpoints / 1. Invoke an agent", {
  "result-alone": variant("Invoke returns `result` alone.").by(invokeBody.remove("usage", "metadata")),
  "metadata-empty": variant("`metadata` has none of its fields.").by(invokeBody.set("metadata", {})),
  "result-of-other-shape": variant("`result` has another shape.").by(() => ({
    invokeResult: ({ text, turn }) => ({ messages: [{ role: "agent", parts: [text] }], turn }),
  })),
  "temperature-out-of-range-accepted": variant("A temperature outside 0.0 to 2.0 is accepted.").by(
    acceptAnyValue("/parameters/temperature"),
  ),
  "query-number-accepted": variant("A `query` that is no string is taken as text.").by(acceptAnyValue("/query")),
  "empty-query-refused": variant("An empty `query` is refused.").by((base) => ({
    validateBody: (body, violations, endpoint) =>
      isObject(body) && body["query"] === ""
        ? fieldError("invalid-input", "query", "is empty")
        : base.validateBody(body, violations, endpoint),
  })),
  "body-before-agent": variant("The body is validated before the agent.").by(() => ({
    chooseError: (agent, body) => body ?? agent,
  })),
  "small-bodies-only": variant("Bodies of more than 16 KiB are refused.").by(() => ({ maxBodyBytes: () => 16 * 1024 })),
  "query-number-other-code": variant("A `query` that is no string counts as missing.").by((base) => ({
    validateBody: (value, violations, endpoint) => {
      const isNumber = isObject(value) && "query" in value && typeof value["query"] !== "string";
      return endpoint === "invoke" && isNumber
        ? fieldError("missing-field", "query", "missing")
        : base.validateBody(value, violations, endpoint);
    },
  })),
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

export const healthVariants = variants("Endpoints / 3. Health check", {
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
  "unhealthy-answers-503": variant("The report of an unhealthy agent has the status 503.").by((base) => ({
    successStatus: (endpoint, state) => (state === "unhealthy" ? 503 : base.successStatus(endpoint, state)),
  })),
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

export const listVariants = variants("Endpoints / 4. List agents", {
  "list-envelope": variant("The list comes in the envelope, its fields in `data`.").by(listBody(wrapWithMetadata)),
  "list-envelope-result": variant("The list comes in the envelope, its fields in `data.result`.").by(
    listBody(wrapAsResult),
  ),
  "list-items-by-id": variant("Items of the list have `id` and `name`.").by(
    overrideJson("listItem")((item) => renameField(renameField(item, "agent_id", "id"), "agent_name", "name")),
  ),
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

export const usageVariants = variants("Resources / Usage report", {
  "usage-envelope": variant("Usage comes in the envelope, its fields in `data`.").by(usageBody(wrapWithMetadata)),
  "usage-envelope-result": variant("Usage comes in the envelope, its fields in `data.result`.").by(
    usageBody(wrapAsResult),
  ),
  "usage-of-minute": variant("`requests` reports the minute.").by((base) => ({
    usageBody: (facts) => base.usageBody({ ...facts, hour: facts.minute }),
  })),
  "period-of-hour": variant("`period` is the start of the hour, with an offset.").by(
    usageBody((body, { nowMs }) =>
      setField(body, "period", isoTime(Math.floor(nowMs / hourMs) * hourMs).replace("Z", ".000+00:00")),
    ),
  ),
});
