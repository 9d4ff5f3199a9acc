import type { Behaviour } from "../behaviour/behaviour.ts";
import { hourMs } from "../limits/windows.ts";
import { isoTime } from "../behaviour/reading.ts";
import { isFields, renamed, set, without } from "../edit.ts";
import { variants } from "../patch.ts";
import { fieldTrouble, trouble } from "../trouble.ts";

type Change = (base: Behaviour) => Partial<Behaviour>;

const metadata = { execution_time: 0.25, tokens_used: 0 };

/** The envelope with the endpoint's own fields in `data.result`. */
const inResult = (value: unknown) => ({ status: "success", data: { result: value, metadata } });
/** The envelope with the endpoint's own fields in `data`. */
const inData = (value: unknown) => ({ status: "success", data: isFields(value) ? { ...value, metadata } : value });

const invoke =
  (edit: (value: unknown) => unknown): Change =>
  (base) => ({
    invokeBody: (facts, result, version) => edit(base.invokeBody(facts, result, version)),
  });
const health =
  (edit: (value: unknown) => unknown): Change =>
  (base) => ({
    healthBody: (facts) => edit(base.healthBody(facts)),
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
    (base) => ({
      bodyTrouble: (body, breaches, operation) =>
        base.bodyTrouble(
          body,
          breaches.filter(({ path }) => path !== "/parameters/temperature"),
          operation,
        ),
    }),
  ],
  "query-number-accepted": [
    "A `query` that is no string is taken as text.",
    (base) => ({
      bodyTrouble: (body, breaches, operation) =>
        base.bodyTrouble(
          body,
          breaches.filter(({ path }) => path !== "/query"),
          operation,
        ),
    }),
  ],
  "empty-query-refused": [
    "An empty `query` is refused.",
    (base) => ({
      bodyTrouble: (body, breaches, operation) =>
        isFields(body) && body["query"] === ""
          ? fieldTrouble("invalid-input", "query", "is empty")
          : base.bodyTrouble(body, breaches, operation),
    }),
  ],
  "body-before-agent": [
    "A body is looked at before its agent.",
    () => ({ firstTrouble: (agent, body) => body ?? agent }),
  ],
  "small-bodies-only": ["Bodies of more than 16 KiB are refused.", () => ({ maxBodyBytes: () => 16 * 1024 })],
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
  "unknown-agent-health-other-code": [
    "Health of an unknown agent has the code NOT_FOUND.",
    (base) => ({
      errorCode: (cause, operation) =>
        cause === "agent-not-found" && operation === "health" ? "NOT_FOUND" : base.errorCode(cause, operation),
    }),
  ],
});

export const listingVariants = variants("Endpoints / 4. List agents", {
  "list-envelope": [
    "The list comes in the envelope, its fields in `data`.",
    (base) => ({ listBody: (facts) => inData(base.listBody(facts)) }),
  ],
  "list-envelope-result": [
    "The list comes in the envelope, its fields in `data.result`.",
    (base) => ({ listBody: (facts) => inResult(base.listBody(facts)) }),
  ],
  "list-items-by-id": [
    "Items of the list have `id` and `name`.",
    (base) => ({
      listItem: (agent, version) =>
        renamed(renamed(base.listItem(agent, version), "agent_id", "id"), "agent_name", "name"),
    }),
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
  "usage-envelope": [
    "Usage comes in the envelope, its fields in `data`.",
    (base) => ({ usageBody: (facts) => inData(base.usageBody(facts)) }),
  ],
  "usage-envelope-result": [
    "Usage comes in the envelope, its fields in `data.result`.",
    (base) => ({ usageBody: (facts) => inResult(base.usageBody(facts)) }),
  ],
  "usage-of-minute": [
    "`requests` speaks of the minute.",
    (base) => ({ usageBody: (facts) => base.usageBody({ ...facts, hour: facts.minute }) }),
  ],
  "period-of-hour": [
    "`period` is the start of the hour, with an offset.",
    (base) => ({
      usageBody: (facts) =>
        set(
          base.usageBody(facts),
          "period",
          isoTime(Math.floor(facts.nowMs / hourMs) * hourMs).replace("Z", ".000+00:00"),
        ),
    }),
  ],
});
