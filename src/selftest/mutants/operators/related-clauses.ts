import { getPath } from "../../../base/json.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import type { FieldTableName } from "../../../spec/fields.ts";

const forms = ["ERR-3", "ERR-4"] as const;
const limited = ["HDR-18", "ERR-16"] as const;

/** Clauses that speak of a field besides the one of its row, by table and path. */
export const relatedClauses: Readonly<Record<string, readonly ClauseId[]>> = {
  "invoke.metadata.execution_time": ["INV-9"],
  "invoke.result": ["REQ-7"],
  "health.uptime": ["HLT-17"],
  "health.checks.agent.response_time_ms": ["HLT-17"],
  "health.checks.resources.memory_usage_percent": ["HLT-17"],
  "health.checks.resources.cpu_usage_percent": ["HLT-17"],
  "done.execution_time": ["SSE-31"],
  "completed.data.execution_time": ["HOOK-41"],
  "formA.error": [...forms, "ERR-5", "ERR-6"],
  "formA.error.status": ["ERR-2", ...forms],
  "envelope.status": ["REQ-7"],
  "formB.status": forms,
  "formB.error": [...forms, "ERR-5"],
  "formALimited.error.retry_after": limited,
  "formBLimited.error.details": limited,
  "formBLimited.error.details.retry_after": limited,
  "formBLimited.error.details.reset_at": ["ERR-8", ...limited],
};

/** What is optional in its table, and asked for where something else is so. */
interface AskedFor {
  readonly table: FieldTableName;
  readonly path: string;
  /** @param root what holds the table's fields */
  readonly where: (root: unknown) => boolean;
  readonly clause: ClauseId;
}

const askedFor: readonly AskedFor[] = [
  { table: "health", path: "warnings", where: (root) => getPath(root, "status") === "degraded", clause: "HLT-14" },
  {
    table: "streamError",
    path: "retry_after",
    where: (root) => getPath(root, "code") === "CAPACITY_ERROR",
    clause: "SSE-19",
  },
  {
    table: "formB",
    path: "error.details",
    where: (root) => getPath(root, "error", "code") === "INVALID_INPUT",
    clause: "ERR-15",
  },
  {
    table: "formB",
    path: "error.details",
    where: (root) => String(getPath(root, "error", "code")).startsWith("RATE_LIMIT"),
    clause: "ERR-8",
  },
];

/** The clause that asks for an optional field in this place; `null` where none does. */
export const requiringClause = (table: FieldTableName, path: string, root: unknown): ClauseId | null =>
  askedFor.find((each) => each.table === table && each.path === path && each.where(root))?.clause ?? null;

/** Required fields that may be `null` as long as nothing is known of them. */
export const maybeUnknown: ReadonlySet<string> = new Set([
  "webhookMetrics.average_response_time",
  "webhookMetrics.last_delivery",
]);
