import { type ApiError, fieldError } from "./errors.ts";
import { fieldsOf, isoTime } from "../json-edit.ts";
import type { ReferenceKey } from "../keys.ts";
import { isObject } from "../../base/json.ts";

/** State of an asynchronous operation. The document shows only `pending`. Source: Resources, "Operation handle". */
type OperationStatus = "pending" | "running" | "completed" | "failed";

export type EntryResult =
  | { readonly kind: "success"; readonly index: number; readonly body: unknown }
  | { readonly kind: "error"; readonly index: number; readonly code: string; readonly message: string };

/** A batch, or an operation with one query. The server responds before it runs. Times are Unix milliseconds. */
export interface AsyncOperation {
  readonly id: string;
  readonly owner: string;
  readonly agentId: string;
  readonly status: OperationStatus;
  readonly createdMs: number;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly total: number;
  readonly results: readonly EntryResult[];
}

const maxBatchEntries = 100;

/** The reference server's standard behaviour for batches and operations. Source: Endpoints 10 and 11. */
export const standardBatches = {
  validateBatch: (body: unknown): ApiError | null => {
    const batch = fieldsOf(body)["batch"];
    if (batch === undefined) return fieldError("missing-field", "batch", "missing");
    if (!Array.isArray(batch)) return fieldError("invalid-input", "batch", "must be an array");
    if (batch.length === 0) return fieldError("invalid-input", "batch", "must not be empty");
    if (batch.length > maxBatchEntries) {
      return fieldError("invalid-input", "batch", `must not have more than ${maxBatchEntries} entries`);
    }
    return batch.reduce<ApiError | null>((found, entry, at) => found ?? validateEntry(entry, `batch.${at}`), null);
  },
  validateOperation: (body: unknown): ApiError | null => validateEntry(body, ""),
  operationId: (number: number): string => `op_${String(number).padStart(8, "0")}`,
  showsOperation: ({ owner }: AsyncOperation, accountName: string, _key: ReferenceKey | null): boolean =>
    owner === accountName,
  handleBody: ({ id, status }: AsyncOperation): unknown => ({
    operation_id: id,
    status,
    check_url: `/v1/operations/${id}`,
  }),
  operationBody: ({ id, status, agentId, createdMs, startedMs, endedMs, total, results }: AsyncOperation): unknown => ({
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
  /** Returns the delay from the response to the start of an operation's first entry, in ms of the server's clock. */
  pendingMs: (): number => 250,
  /** Returns the delay after each entry of an operation, in ms of the server's clock. The agent's own time is extra. */
  entryMs: (): number => 250,
};

function validateEntry(entry: unknown, path: string): ApiError | null {
  const nameOf = (field: string): string => (path === "" ? field : `${path}.${field}`);
  if (!isObject(entry)) return fieldError("invalid-input", path || "body", "must be an object");
  const { query, parameters, session_id: session } = entry;
  if (query === undefined) return fieldError("missing-field", nameOf("query"), "missing");
  if (typeof query !== "string") return fieldError("invalid-input", nameOf("query"), "must be a string");
  if (parameters !== undefined && !isObject(parameters)) {
    return fieldError("invalid-input", nameOf("parameters"), "must be an object");
  }
  if (session !== undefined && typeof session !== "string") {
    return fieldError("invalid-input", nameOf("session_id"), "must be a string");
  }
  return null;
}

function resultBody(result: EntryResult): unknown {
  if (result.kind === "success") return { index: result.index, status: "success", ...fieldsOf(result.body) };
  const { index, code, message } = result;
  return { index, status: "error", error: { code, message } };
}
