import type { ClauseId } from "./clauses.ts";
import type { EndpointName } from "./endpoints.ts";
import { healthStatuses, webhookEvents } from "./events-and-errors.ts";

/** Type of a field. JSON may write an `integer` as `1.0`, and a `UTC timestamp` may omit its zone. */
export type FieldType =
  | "string"
  | "integer"
  | "number"
  | "object"
  | "array"
  | "timestamp"
  | "UTC timestamp"
  | "operation path";

type Unit = "seconds" | "milliseconds" | "percent";

/** Splits a path into steps: a name, `[]` for each item of an array, or `*` for each value of a map. */
export const stepsOfPath = (path: string): readonly string[] => path.replaceAll("[]", ".[]").split(".");

export interface FieldRow {
  readonly clause: ClauseId;
  /** Path of the field, e.g. `usage.total_tokens`. `[]` stands for each array item, `*` for each value of a map. */
  readonly path: string;
  readonly type: FieldType;
  /** Whether the field must be present. All fields inside an optional object count as optional. */
  readonly isRequired: boolean;
  readonly unit: Unit | null;
  readonly oneOf: readonly string[] | null;
}

/** The message that contains the fields, such as a response, a stream event or a delivery. */
export type MessageKind =
  | { readonly kind: "answer"; readonly endpoint: EndpointName; readonly statuses: readonly number[] }
  | { readonly kind: "stream event"; readonly event: "start" | "chunk" | "error" | "done" }
  | { readonly kind: "delivery"; readonly type: string | null }
  /** The body of an error response on any endpoint. `status: null` stands for any status. */
  | { readonly kind: "error"; readonly form: "form-a" | "form-b"; readonly status: number | null }
  /** An object that the document assigns to no particular endpoint, e.g. an operation handle. */
  | { readonly kind: "anywhere" };

/** A table of fields in the document. `fields` is `null` if the document omits the table. */
export interface FieldTable {
  readonly section: string;
  readonly message: MessageKind;
  readonly fields: readonly FieldRow[] | null;
}

type OptionalColumns = Partial<Pick<FieldRow, "unit" | "oneOf">>;

const row =
  (isRequired: boolean) =>
  (clause: ClauseId, path: string, type: FieldType, { unit = null, oneOf = null }: OptionalColumns = {}): FieldRow => ({
    clause,
    path,
    type,
    isRequired,
    unit,
    oneOf,
  });
const required = row(true);
const optional = row(false);

const seconds = { unit: "seconds" } as const;
const percent = { unit: "percent" } as const;

const answer = (endpoint: EndpointName, ...statuses: readonly number[]): MessageKind => ({
  kind: "answer",
  endpoint,
  statuses: statuses.length > 0 ? statuses : [200],
});

const counted = (clause: ClauseId, name: string): FieldRow[] => [
  required(clause, name, "object"),
  ...["used", "limit", "remaining"].map((each) => required(clause, `${name}.${each}`, "integer")),
];

const errorText = [
  required("ERR-2", "error", "object"),
  required("ERR-5", "error.code", "string"),
  required("ERR-5", "error.message", "string"),
] as const;

const tableNotShown = (section: string, message: MessageKind): FieldTable => ({ section, message, fields: null });

export const fieldTables = {
  invoke: {
    section: "Endpoints / 1. Invoke an agent",
    message: answer("invoke"),
    fields: [
      required("INV-2", "result", "object"),
      optional("INV-3", "usage", "object"),
      optional("INV-3", "usage.prompt_tokens", "integer"),
      optional("INV-3", "usage.completion_tokens", "integer"),
      optional("INV-3", "usage.total_tokens", "integer"),
      optional("INV-4", "metadata", "object"),
      optional("INV-4", "metadata.execution_time", "number", seconds),
      optional("INV-5", "metadata.agent_version", "string"),
      optional("INV-6", "metadata.request_id", "string"),
    ],
  },
  health: {
    section: "Endpoints / 3. Health check",
    message: answer("health"),
    fields: [
      required("HLT-2", "status", "string", { oneOf: healthStatuses }),
      required("HLT-3", "checks", "object"),
      optional("HLT-4", "checks.agent", "object"),
      optional("HLT-4", "checks.agent.status", "string"),
      optional("HLT-4", "checks.agent.response_time_ms", "number", { unit: "milliseconds" }),
      optional("HLT-5", "checks.dependencies", "object"),
      optional("HLT-5", "checks.dependencies.*", "string"),
      optional("HLT-6", "checks.resources", "object"),
      optional("HLT-6", "checks.resources.memory_usage_percent", "number", percent),
      optional("HLT-6", "checks.resources.cpu_usage_percent", "number", percent),
      optional("HLT-7", "version", "string"),
      optional("HLT-8", "uptime", "number", seconds),
      optional("HLT-9", "last_request", "timestamp"),
      optional("HLT-10", "warnings", "array"),
      optional("HLT-10", "warnings[]", "string"),
    ],
  },
  list: {
    section: "Endpoints / 4. List agents",
    message: answer("list"),
    fields: [
      required("LST-2", "data", "array"),
      required("LST-3", "pagination", "object"),
      required("LST-3", "pagination.page", "integer"),
      required("LST-3", "pagination.limit", "integer"),
      required("LST-3", "pagination.total", "integer"),
      required("LST-3", "pagination.pages", "integer"),
    ],
  },
  usage: {
    section: "Resources and their fields / Usage report",
    message: answer("usage"),
    fields: [required("USE-2", "period", "timestamp"), ...counted("USE-3", "requests"), ...counted("USE-4", "tokens")],
  },
  operation: {
    section: "Resources and their fields / Operation handle (asynchronous work)",
    message: { kind: "anywhere" },
    fields: [
      required("OPS-1", "operation_id", "string"),
      required("OPS-2", "status", "string", { oneOf: ["pending"] }),
      required("OPS-3", "check_url", "operation path"),
    ],
  },
  webhookMetrics: {
    section: "Resources and their fields / Webhook metrics",
    message: { kind: "anywhere" },
    fields: [
      required("WHK-9", "webhook_id", "string"),
      required("WHK-9", "total_deliveries", "integer"),
      required("WHK-9", "successful", "integer"),
      required("WHK-9", "failed", "integer"),
      required("WHK-9", "average_response_time", "number"),
      required("WHK-9", "last_delivery", "timestamp"),
    ],
  },
  envelope: {
    section: "Endpoints / Common request rules",
    message: { kind: "anywhere" },
    fields: [
      required("REQ-8", "status", "string", { oneOf: ["success", "error"] }),
      required("REQ-8", "data.metadata.execution_time", "number"),
      required("REQ-8", "data.metadata.tokens_used", "integer"),
    ],
  },
  webhooks: tableNotShown("Endpoints / 6. Create a webhook", answer("webhooks", 200, 201)),
  deliveries: tableNotShown("Endpoints / 7. List webhook deliveries", answer("deliveries")),
  alerts: tableNotShown("Endpoints / 8. Create a usage alert", answer("alerts", 200, 201)),
  keyUsage: tableNotShown("Endpoints / 9. Read key usage", answer("keyUsage")),
  operations: tableNotShown("Endpoints / 10. Check an asynchronous operation", answer("operations")),
  batch: tableNotShown("Endpoints / 11. Batch submission", answer("batch", 200, 201)),
  start: {
    section: "Events / Stream events (SSE)",
    message: { kind: "stream event", event: "start" },
    fields: [required("SSE-7", "message", "string"), optional("SSE-8", "session_id", "string")],
  },
  chunk: {
    section: "Events / Stream events (SSE)",
    message: { kind: "stream event", event: "chunk" },
    fields: [required("SSE-9", "content", "string"), optional("SSE-10", "index", "integer")],
  },
  streamError: {
    section: "Events / Stream events (SSE)",
    message: { kind: "stream event", event: "error" },
    fields: [
      required("SSE-15", "error", "string"),
      required("SSE-15", "code", "string"),
      optional("SSE-16", "retry_after", "number", seconds),
    ],
  },
  done: {
    section: "Events / Stream events (SSE)",
    message: { kind: "stream event", event: "done" },
    fields: [
      required("SSE-12", "message", "string"),
      required("SSE-13", "usage", "object"),
      required("SSE-13", "usage.total_tokens", "integer"),
      required("SSE-14", "execution_time", "number", seconds),
    ],
  },
  delivery: {
    section: "Resources and their fields / Webhook delivery event",
    message: { kind: "delivery", type: null },
    fields: [
      required("HOOK-1", "id", "string"),
      required("HOOK-2", "type", "string", { oneOf: webhookEvents }),
      required("HOOK-3", "created", "UTC timestamp"),
      required("HOOK-4", "data", "object"),
      required("HOOK-5", "agent_id", "string"),
      optional("HOOK-6", "deployment_id", "string"),
    ],
  },
  completed: {
    section: "Events / Webhook events",
    message: { kind: "delivery", type: "agent.completed" },
    fields: [
      required("HOOK-17", "data.request_id", "string"),
      required("HOOK-17", "data.input", "object"),
      required("HOOK-17", "data.result", "object"),
      required("HOOK-17", "data.execution_time", "number", seconds),
      required("HOOK-17", "data.tokens_used", "integer"),
    ],
  },
  failed: {
    section: "Events / Webhook events",
    message: { kind: "delivery", type: "agent.failed" },
    fields: [
      required("HOOK-18", "data.request_id", "string"),
      required("HOOK-18", "data.error", "object"),
      required("HOOK-18", "data.error.code", "string"),
      required("HOOK-18", "data.error.message", "string"),
      required("HOOK-18", "data.error.details", "string"),
      required("HOOK-18", "data.input", "object"),
    ],
  },
  formA: {
    section: "Errors / Error bodies",
    message: { kind: "error", form: "form-a", status: null },
    fields: [...errorText, required("ERR-6", "error.status", "integer")],
  },
  formALimited: {
    section: "Errors / Error bodies",
    message: { kind: "error", form: "form-a", status: 429 },
    fields: [required("ERR-8", "error.retry_after", "number", seconds)],
  },
  formB: {
    section: "Errors / Error bodies",
    message: { kind: "error", form: "form-b", status: null },
    fields: [
      required("ERR-2", "status", "string", { oneOf: ["error"] }),
      ...errorText,
      optional("ERR-7", "error.details", "object"),
    ],
  },
  formBLimited: {
    section: "Errors / Error bodies",
    message: { kind: "error", form: "form-b", status: 429 },
    fields: [
      required("ERR-8", "error.details", "object"),
      required("ERR-8", "error.details.limit", "integer"),
      required("ERR-8", "error.details.remaining", "integer"),
      required("ERR-16", "error.details.reset_at", "timestamp"),
      required("ERR-8", "error.details.retry_after", "number", seconds),
    ],
  },
} as const satisfies Record<string, FieldTable>;

export type FieldTableName = keyof typeof fieldTables;

export const fieldTableNames = Object.keys(fieldTables) as readonly FieldTableName[];

export const fieldTableOf = (name: FieldTableName): FieldTable => fieldTables[name];

export const rowsOf = (name: FieldTableName, clause: ClauseId): readonly FieldRow[] =>
  (fieldTableOf(name).fields ?? []).filter((each) => each.clause === clause);
