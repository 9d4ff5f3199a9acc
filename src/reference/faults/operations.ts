import { overrideJson } from "../overrides.ts";
import { editField, fieldsOf } from "../json-edit.ts";
import { fault, faults } from "../patch.ts";
import { fieldError } from "../api-error.ts";

const handleBody = overrideJson("handleBody");
const withoutVersion = (path: unknown): string => String(path).replace("/v1/", "/");

export const operationFaults = faults("Resources / Operation handle", {
  "operation-without-id": fault("OPS-1", "The handle of an operation has no `operation_id`.").by(
    handleBody.remove("operation_id"),
  ),
  "operation-id-renamed": fault("OPS-1", "The handle of an operation calls its id `id`.").by(
    handleBody.rename("operation_id", "id"),
  ),
  "operation-id-number": fault("OPS-1", "The id of an operation is a number.").by(
    handleBody.change("operation_id", (id) => Number(String(id).replace(/\D/g, ""))),
  ),
  "operation-begins-running": fault("OPS-2", "A new operation has the status `running`.").by(
    handleBody.change("status", () => "running"),
  ),
  "operation-status-upper-case": fault("OPS-2", "The status of a new operation is in upper case.").by(
    handleBody.change("status", (status) => String(status).toUpperCase()),
  ),
  "operation-without-status": fault("OPS-2", "The handle of an operation has no `status`.").by(
    handleBody.remove("status"),
  ),
  "check-url-without-version": fault("OPS-3", "`check_url` lacks the version.").by(
    handleBody.change("check_url", withoutVersion),
  ),
  "check-url-without-version-later": fault(
    "OPS-3",
    "`check_url` lacks the version, from a key's second operation on.",
  ).by((base) => {
    const ids = new Map<string, Set<string>>();
    return {
      handleBody: (operation) => {
        const own = (ids.get(operation.owner) ?? new Set<string>()).add(operation.id);
        ids.set(operation.owner, own);
        const body = base.handleBody(operation);
        return own.size > 1 ? editField(body, "check_url", withoutVersion) : body;
      },
    };
  }),
  "check-url-without-version-of-three": fault(
    "OPS-3",
    "`check_url` lacks the version for a batch of three or more.",
  ).by((base) => ({
    handleBody: (operation) => {
      const body = base.handleBody(operation);
      return operation.total < 3 ? body : editField(body, "check_url", withoutVersion);
    },
  })),
  "check-url-absolute": fault("OPS-3", "`check_url` is a whole URL.").by(
    handleBody.change("check_url", (path) => `https://agents.example${String(path)}`),
  ),
  "check-url-of-another": fault("OPS-3", "`check_url` names another operation.").by(
    handleBody.change("check_url", (path) => `${String(path)}0`),
  ),
  "operation-without-check-url": fault("OPS-3", "The handle of an operation has no `check_url`.").by(
    handleBody.remove("check_url"),
  ),
});

export const batchFaults = faults("Endpoints / 11. Batch submission", {
  "batch-refused": fault("BAT-1", "Every batch is refused.").by(() => ({
    validateBatch: () => fieldError("invalid-input", "batch", "is not supported"),
  })),
  "batch-of-one": fault("BAT-1", "A batch of more than one entry is refused.").by((base) => ({
    validateBatch: (body) => {
      const found = base.validateBatch(body);
      const { batch } = fieldsOf(body);
      return (
        found ??
        (Array.isArray(batch) && batch.length > 1 ? fieldError("invalid-input", "batch", "must have one entry") : null)
      );
    },
  })),
  "batch-under-another-name": fault("BAT-1", "A batch is expected under the name `requests`.").by(() => ({
    validateBatch: (body) => ("requests" in fieldsOf(body) ? null : fieldError("missing-field", "requests", "missing")),
  })),
});
