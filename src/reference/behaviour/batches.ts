import { isObject } from "../../base/json.ts";
import { fieldsOf } from "../json-edit.ts";
import { fieldError, type ApiError } from "../api-error.ts";
import { isoTime } from "./health-list-usage.ts";

/** How far an operation is. Source: Resources, "Operation handle"; beyond `pending` the document shows none. */
export type OperationStatus = "pending" | "running" | "completed" | "failed";

/** How an entry of a batch ended: with an invoke's body, or with an error. */
export type EntryResult =
  | { readonly kind: "success"; readonly index: number; readonly body: unknown }
  | { readonly kind: "error"; readonly index: number; readonly code: string; readonly message: string };

/** Work that goes on after its request was answered. Instants are Unix milliseconds. */
export interface AsyncOperation {
  readonly id: string;
  /** Account that may look at it. */
  readonly owner: string;
  readonly agentId: string;
  readonly status: OperationStatus;
  readonly createdMs: number;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  /** Entries it has to do. */
  readonly total: number;
  readonly results: readonly EntryResult[];
}

/** Decisions about batches and asynchronous operations. Source: Endpoints 10 and 11; Resources, "Operation handle". */
export interface BatchBehaviour {
  /** What is wrong with the body of a batch, or `null`. */
  validateBatch(body: unknown): ApiError | null;
  operationId(number: number): string;
  handleBody(operation: AsyncOperation): unknown;
  operationBody(operation: AsyncOperation): unknown;
  /** Milliseconds on the clock from acceptance until the first entry is begun. */
  pendingMs(): number;
  /** Milliseconds on the clock that each entry takes beyond what its agent takes. */
  entryMs(): number;
}

const mostEntries = 100;

export const standardBatches: BatchBehaviour = {
  validateBatch: (body) => {
    const batch = fieldsOf(body)["batch"];
    if (batch === undefined) return fieldError("missing-field", "batch", "missing");
    if (!Array.isArray(batch)) return fieldError("invalid-input", "batch", "must be an array");
    if (batch.length === 0) return fieldError("invalid-input", "batch", "must not be empty");
    if (batch.length > mostEntries) {
      return fieldError("invalid-input", "batch", `must not have more than ${mostEntries} entries`);
    }
    return batch.reduce<ApiError | null>((found, entry, at) => found ?? entryTrouble(entry, at), null);
  },
  operationId: (number) => `op_${String(number).padStart(8, "0")}`,
  handleBody: ({ id, status }) => ({ operation_id: id, status, check_url: `/v1/operations/${id}` }),
  operationBody: ({ id, status, agentId, createdMs, startedMs, endedMs, total, results }) => ({
    operation_id: id,
    status,
    check_url: `/v1/operations/${id}`,
    agent_id: agentId,
    created_at: isoTime(createdMs),
    ...(startedMs === null ? {} : { started_at: isoTime(startedMs) }),
    ...(endedMs === null ? {} : { completed_at: isoTime(endedMs) }),
    progress: { completed: results.length, total },
    ...(endedMs === null ? {} : { results: results.map(resultBody) }),
  }),
  pendingMs: () => 250,
  entryMs: () => 250,
};

function entryTrouble(entry: unknown, at: number): ApiError | null {
  if (!isObject(entry)) return fieldError("invalid-input", `batch.${at}`, "must be an object");
  const { query, parameters, session_id: session } = entry;
  if (query === undefined) return fieldError("missing-field", `batch.${at}.query`, "missing");
  if (typeof query !== "string") return fieldError("invalid-input", `batch.${at}.query`, "must be a string");
  if (parameters !== undefined && !isObject(parameters)) {
    return fieldError("invalid-input", `batch.${at}.parameters`, "must be an object");
  }
  if (session !== undefined && typeof session !== "string") {
    return fieldError("invalid-input", `batch.${at}.session_id`, "must be a string");
  }
  return null;
}

function resultBody(result: EntryResult): unknown {
  if (result.kind === "success") return { index: result.index, status: "success", ...fieldsOf(result.body) };
  const { index, code, message } = result;
  return { index, status: "error", error: { code, message } };
}
