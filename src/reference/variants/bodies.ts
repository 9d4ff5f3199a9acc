import { isObject } from "../../base/json.ts";
import { isoTime } from "../behaviour/reading.ts";
import { editing, refusalCode } from "../changes.ts";
import { fieldsOf, renamed, set, without } from "../edit.ts";
import { hourMs } from "../limits/windows.ts";
import { variants, type Change } from "../patch.ts";
import { fieldTrouble, trouble } from "../trouble.ts";

const metadata = { execution_time: 0.25, tokens_used: 0 };

/** The envelope with the endpoint's own fields in `data.result`. */
const inResult = (value: unknown) => ({ status: "success", data: { result: value, metadata } });
/** The envelope with the endpoint's own fields in `data`. */
const inData = (value: unknown) => ({ status: "success", data: isObject(value) ? { ...value, metadata } : value });

const invoke = editing("invokeBody");
const health = editing("healthBody");
const list = editing("listBody");
const usage = editing("usageBody");

/** Lets a value of a request break its schema. */
const allowing =
  (allowed: string): Change =>
  (base) => ({
    bodyTrouble: (body, breaches, operation) =>
      base.bodyTrouble(
        body,
        breaches.filter(({ path }) => path !== allowed),
        operation,
      ),
  });

export const invokeVariants = variants("Endpoints / 1. Invoke an agent", {
  "result-alone": [
    "Invoke answers with `result` alone.",
    invoke((value) => without(without(value, "usage"), "metadata")),
  ],
  "metadata-empty": ["`metadata` has none of its fields.", invoke((value) => set(value, "metadata", {}))],
  "result-of-other-shape": [
    "`result` has another shape.",
    () => ({ result: ({ text, turn }) => ({ messages: [{ role: "agent", parts: [text] }], turn }) }),
  ],
  "temperature-out-of-range-accepted": [
    "A temperature outside 0.0 to 2.0 is accepted.",
    allowing("/parameters/temperature"),
  ],
  "query-number-accepted": ["A `query` that is no string is taken as text.", allowing("/query")],
  "empty-query-refused": [
    "An empty `query` is refused.",
    (base) => ({
      bodyTrouble: (body, breaches, operation) =>
        isObject(body) && body["query"] === ""
          ? fieldTrouble("invalid-input", "query", "is empty")
          : base.bodyTrouble(body, breaches, operation),
    }),
  ],
  "body-before-agent": [
    "A body is looked at before its agent.",
    () => ({ firstTrouble: (agent, body) => body ?? agent }),
  ],
  "small-bodies-only": ["Bodies of more than 16 KiB are refused.", () => ({ maxBodyBytes: () => 16 * 1024 })],
  "query-number-other-code": [
    "A `query` that is no string is said to be missing.",
    (base) => ({
      bodyTrouble: (value, breaches, operation) => {
        const isNumber = isObject(value) && "query" in value && typeof value["query"] !== "string";
        return operation === "invoke" && isNumber
          ? fieldTrouble("missing-field", "query", "missing")
          : base.bodyTrouble(value, breaches, operation);
      },
    }),
  ],
  "query-number-own-code": [
    "Input that is invalid has the code VALIDATION_ERROR.",
    refusalCode(["invalid-input"], "VALIDATION_ERROR"),
  ],
  "usage-total-only": [
    "`usage` has `total_tokens` alone.",
    invoke((value, { usage: { prompt, completion } }) => set(value, "usage", { total_tokens: prompt + completion })),
  ],
  "usage-null": ["`usage` is `null`, as nothing was counted.", invoke((value) => set(value, "usage", null))],
  "metadata-null": ["`metadata` is `null`.", invoke((value) => set(value, "metadata", null))],
  "metadata-fields-null": [
    "The fields of `metadata` are `null`.",
    invoke((value) => set(value, "metadata", { execution_time: null, agent_version: null, request_id: null })),
  ],
});

export const healthVariants = variants("Endpoints / 3. Health check", {
  "checks-empty": [
    "Health has only what is required, and `checks` is empty.",
    () => ({
      healthBody: ({ agent }) => ({
        status: agent.health,
        checks: {},
        ...(agent.health === "degraded" ? { warnings: agent.warnings } : {}),
      }),
    }),
  ],
  "checks-in-part": [
    "`checks` has only the agent.",
    health((value) => without(without(value, "checks.dependencies"), "checks.resources")),
  ],
  "unhealthy-answers-503": [
    "The report of an unhealthy agent comes with 503.",
    (base) => ({
      successStatus: (operation, state) => (state === "unhealthy" ? 503 : base.successStatus(operation, state)),
    }),
  ],
  "checks-with-part-of-their-fields": [
    "`checks.agent` has no `status`, and `checks.resources` no `cpu_usage_percent`.",
    health((value) => without(without(value, "checks.agent.status"), "checks.resources.cpu_usage_percent")),
  ],
  "health-nulls": [
    "What a report does not know is `null`.",
    health((value, { agent }) => ({
      ...fieldsOf(value),
      uptime: null,
      version: null,
      last_request: null,
      ...(agent.health === "degraded" ? {} : { warnings: null }),
    })),
  ],
});

export const listingVariants = variants("Endpoints / 4. List agents", {
  "list-envelope": ["The list comes in the envelope, its fields in `data`.", list(inData)],
  "list-envelope-result": ["The list comes in the envelope, its fields in `data.result`.", list(inResult)],
  "list-items-by-id": [
    "Items of the list have `id` and `name`.",
    editing("listItem")((item) => renamed(renamed(item, "agent_id", "id"), "agent_name", "name")),
  ],
  "limit-below-1-refused": [
    "A `page` or `limit` of 0 or below is refused.",
    () => ({
      pageTrouble: (page = 1, limit = 1) =>
        page < 1 || limit < 1 ? fieldTrouble("invalid-input", page < 1 ? "page" : "limit", "must be 1 or more") : null,
    }),
  ],
  "page-past-the-end-404": [
    "A page past the end answers 404.",
    () => ({
      pageTrouble: (page = 1, limit = 20, total) =>
        limit > 0 && page > Math.ceil(total / limit) ? trouble("unknown-path", "There is no such page.") : null,
    }),
  ],
  "list-of-ten": [
    "The default of `limit` is 10.",
    (base) => ({ pageOf: (page, limit) => base.pageOf(page, limit ?? 10) }),
  ],
});

export const usageVariants = variants("Resources / Usage report", {
  "usage-envelope": ["Usage comes in the envelope, its fields in `data`.", usage(inData)],
  "usage-envelope-result": ["Usage comes in the envelope, its fields in `data.result`.", usage(inResult)],
  "usage-of-minute": [
    "`requests` speaks of the minute.",
    (base) => ({ usageBody: (facts) => base.usageBody({ ...facts, hour: facts.minute }) }),
  ],
  "period-of-hour": [
    "`period` is the start of the hour, with an offset.",
    usage((body, { nowMs }) =>
      set(body, "period", isoTime(Math.floor(nowMs / hourMs) * hourMs).replace("Z", ".000+00:00")),
    ),
  ],
});
