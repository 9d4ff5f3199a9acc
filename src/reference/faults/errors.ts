import { formA, formB } from "../behaviour/errors.ts";
import { overrideErrorCode, overrideErrorStatus, overrideJson } from "../overrides.ts";
import { editField, removeField, setField } from "../json-edit.ts";
import { fault, faults, type Override } from "../patch.ts";
import type { ErrorBodyInput } from "../api-error.ts";
import type { Endpoint } from "../endpoint.ts";

/** Edits matching error bodies. */
const editErrorBody = (matches: (input: ErrorBodyInput) => boolean, edit: (value: unknown) => unknown): Override =>
  overrideJson("errorBody")((value, input) => (matches(input) ? edit(value) : value));

const on =
  (...operations: readonly Endpoint[]) =>
  ({ endpoint, status }: ErrorBodyInput) =>
    operations.includes(endpoint) && status !== 429;
const every = () => true;
const isLimit = ({ detail }: ErrorBodyInput) => detail.kind === "limit";

const limitCauses = ["request-limit", "concurrency-limit", "token-quota", "address-limit"] as const;

/** Makes an error body that fits neither form A nor form B: form A without its `status`. */
const withoutForm = (value: unknown) => removeField(value, "error.status");

export const errorFaults = faults("Errors", {
  "input-answers-422": fault(["ERR-1", "ERR-10", "INV-10", "SSE-20"], "A missing field responds with 422.").by(
    overrideErrorStatus(["missing-field"], 422),
    ["REQ-11"],
  ),
  "invoke-errors-in-no-form": fault("ERR-2", "Errors of invoke have a code and a message, and fit neither form.").by(
    editErrorBody(on("invoke"), withoutForm),
  ),
  "stream-errors-in-no-form": fault("ERR-3", "Errors of stream have a code and a message, and fit neither form.").by(
    editErrorBody(on("stream"), withoutForm),
  ),
  "other-errors-in-no-form": fault(
    "ERR-4",
    "Errors of list, usage and health have a code and a message, and fit neither form.",
  ).by(editErrorBody(on("list", "usage", "health"), withoutForm)),
  "message-empty": fault("ERR-5", "Messages are empty.").by(
    editErrorBody(every, (value) => setField(value, "error.message", "")),
  ),
  "status-is-text": fault("ERR-6", "`error.status` is text.").by(
    editErrorBody(every, (value) => editField(value, "error.status", String)),
  ),
  "status-differs": fault("ERR-6", "`error.status` is not the HTTP status.").by(
    editErrorBody(every, (value) => editField(value, "error.status", (old) => Number(old) + 100)),
  ),
  "details-are-text": fault("ERR-7", "Errors have form B, and the `details` of an unknown agent are text.").by(() => ({
    errorBody: (input) =>
      input.cause === "agent-not-found" ? setField(formB(input), "error.details", "no such agent") : formB(input),
  })),
  "retry-missing": fault("ERR-8", "A 429 has no `retry_after`.").by(
    editErrorBody(isLimit, (value) => removeField(value, "error.retry_after")),
  ),
  "retry-is-text": fault("ERR-8", "`retry_after` of a 429 is text.").by(
    editErrorBody(isLimit, (value) => editField(value, "error.retry_after", String)),
  ),
  "details-without-limit": fault("ERR-8", "Errors have form B, and the `details` of a 429 have no `limit`.").by(() => ({
    errorBody: (input) => removeField(formB(input), "error.details.limit"),
  })),
  "limit-other-code": fault("ERR-9", "A 429 has the code TOO_MANY_REQUESTS.").by(
    overrideErrorCode(limitCauses, "TOO_MANY_REQUESTS"),
  ),
  "invalid-input-422": fault(["ERR-1", "ERR-10", "INV-20"], "INVALID_INPUT has the status 422.").by(
    overrideErrorStatus(["invalid-input", "malformed-json", "content-type"], 422),
    ["REQ-11"],
  ),
  "crash-answers-200": fault(
    ["ERR-13", "ERR-18", "INV-2"],
    "An agent that fails responds with 200, with the error body.",
  ).by(overrideErrorStatus(["crash"], 200)),
  "crash-without-body": fault(["ERR-2", "ERR-13"], "An agent that fails responds with an empty object.").by(
    editErrorBody(
      ({ cause }) => cause === "crash",
      () => ({}),
    ),
  ),
  "details-name-no-field": fault(
    "ERR-15",
    "Errors have form B, and the `details` of a refused input name no field.",
  ).by(() => ({
    errorBody: (input) =>
      input.detail.kind === "field" ? removeField(formB(input), "error.details.field") : formB(input),
  })),
  "reset-at-is-number": fault("ERR-16", "Errors have form B, and `reset_at` is Unix seconds.").by(() => ({
    errorBody: (input) => editField(formB(input), "error.details.reset_at", (time) => Date.parse(String(time)) / 1000),
  })),
  "reset-at-of-yesterday": fault("ERR-16", "Errors have form B, and `reset_at` is a day before the reset.").by(() => ({
    errorBody: (input) =>
      editField(formB(input), "error.details.reset_at", (time) =>
        new Date(Date.parse(String(time)) - 86_400_000).toISOString(),
      ),
  })),
  "limit-answers-503": fault(["LIM-12", "ERR-1", "ERR-10"], "Beyond a limit the status is 503.").by(
    overrideErrorStatus(limitCauses, 503),
  ),
  "limit-without-error": fault(["LIM-12", "ERR-2", "ERR-3", "ERR-4"], "A 429 has a body without `error`.").by(() => ({
    errorBody: (input) => (input.detail.kind === "limit" ? { message: input.message } : formA(input)),
  })),
});
