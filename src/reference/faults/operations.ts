import { editing } from "../changes.ts";
import { changed, fieldsOf, renamed, without } from "../edit.ts";
import { faults } from "../patch.ts";
import { fieldTrouble } from "../trouble.ts";

const handle = editing("handleBody");

export const operationFaults = faults("Resources / Operation handle", {
  "operation-without-id": [
    ["OPS-1"],
    "The handle of an operation has no `operation_id`.",
    handle((body) => without(body, "operation_id")),
  ],
  "operation-id-renamed": [
    ["OPS-1"],
    "The handle of an operation calls its id `id`.",
    handle((body) => renamed(body, "operation_id", "id")),
  ],
  "operation-id-number": [
    ["OPS-1"],
    "The id of an operation is a number.",
    handle((body) => changed(body, "operation_id", (id) => Number(String(id).replace(/\D/g, "")))),
  ],
  "operation-begins-running": [
    ["OPS-2"],
    "A new operation has the status `running`.",
    handle((body) => changed(body, "status", () => "running")),
  ],
  "operation-status-upper-case": [
    ["OPS-2"],
    "The status of a new operation is in upper case.",
    handle((body) => changed(body, "status", (status) => String(status).toUpperCase())),
  ],
  "operation-without-status": [
    ["OPS-2"],
    "The handle of an operation has no `status`.",
    handle((body) => without(body, "status")),
  ],
  "check-url-without-version": [
    ["OPS-3"],
    "`check_url` lacks the version.",
    handle((body) => changed(body, "check_url", (path) => String(path).replace("/v1/", "/"))),
  ],
  "check-url-without-version-later": [
    ["OPS-3"],
    "`check_url` lacks the version, from a key's second operation on.",
    (base) => {
      const ids = new Map<string, Set<string>>();
      return {
        handleBody: (operation) => {
          const own = (ids.get(operation.owner) ?? new Set<string>()).add(operation.id);
          ids.set(operation.owner, own);
          const cut = (path: unknown): string => String(path).replace("/v1/", "/");
          return own.size > 1 ? changed(base.handleBody(operation), "check_url", cut) : base.handleBody(operation);
        },
      };
    },
  ],
  "check-url-absolute": [
    ["OPS-3"],
    "`check_url` is a whole URL.",
    handle((body) => changed(body, "check_url", (path) => `https://agents.example${String(path)}`)),
  ],
  "check-url-of-another": [
    ["OPS-3"],
    "`check_url` names another operation.",
    handle((body) => changed(body, "check_url", (path) => `${String(path)}0`)),
  ],
  "operation-without-check-url": [
    ["OPS-3"],
    "The handle of an operation has no `check_url`.",
    handle((body) => without(body, "check_url")),
  ],
});

export const batchFaults = faults("Endpoints / 11. Batch submission", {
  "batch-refused": [
    ["BAT-1"],
    "A batch is refused, whatever is in it.",
    () => ({ batchTrouble: () => fieldTrouble("invalid-input", "batch", "is not supported") }),
  ],
  "batch-of-one": [
    ["BAT-1"],
    "A batch of more than one entry is refused.",
    (base) => ({
      batchTrouble: (body) => {
        const found = base.batchTrouble(body);
        const { batch } = fieldsOf(body);
        return (
          found ??
          (Array.isArray(batch) && batch.length > 1
            ? fieldTrouble("invalid-input", "batch", "must have one entry")
            : null)
        );
      },
    }),
  ],
  "batch-under-another-name": [
    ["BAT-1"],
    "A batch is expected under the name `requests`.",
    () => ({
      batchTrouble: (body) =>
        "requests" in fieldsOf(body) ? null : fieldTrouble("missing-field", "requests", "missing"),
    }),
  ],
});
