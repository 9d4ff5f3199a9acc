import { getPath, isObject } from "../../base/json.ts";
import { apiError, type ErrorCause, fieldError } from "../behaviour/errors.ts";
import { editField, removeField, setField } from "../json-edit.ts";
import {
  editFormB,
  fault,
  faults,
  overrideJson,
  overrideResult,
  type Override,
  withLast,
  withoutRateHeaders,
} from "../patch.ts";

const fieldNames = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : []);

const isUnusual = (name: string): boolean => name === "" || /[$.]/.test(name);

const rejectBodies = (matches: (body: unknown) => boolean, cause: ErrorCause = "invalid-input"): Override =>
  overrideResult("validateBody")((error, body) => {
    if (error !== null || !matches(body)) return error;
    return cause === "crash" ? apiError(cause, "The server failed.") : fieldError(cause, "body", "is not accepted");
  });

const textOf = (body: unknown, name: string): string => {
  const value = getPath(body, name);
  return typeof value === "string" ? value : "";
};

const isInvalidUtf8 = (text: string): boolean => text.includes("\uFFFD");

/** Splits a text into pieces of 48 bytes of UTF-8. A split within a character makes the character invalid. */
const bytePieces = (text: string): string[] => {
  const bytes = Buffer.from(text, "utf8");
  const count = Math.ceil(bytes.length / 48);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * 48, (at + 1) * 48).toString("utf8"));
};

const withSeparator = (total: unknown): unknown =>
  typeof total === "number" && total > 999 ? total.toLocaleString("en") : total;

export const unusualBodyFaults = faults("Endpoints / 1. Invoke an agent", {
  "unusual-parameters-refused": fault(
    ["INV-12", "SSE-22"],
    "Unknown keys inside `parameters` that are empty, or have `$` or `.`, are refused.",
  ).by(rejectBodies((body) => fieldNames(getPath(body, "parameters")).some(isUnusual))),
  "unusual-context-refused": fault(["INV-16", "SSE-34"], "A `context` whose keys have `$` or `.` is refused.").by(
    rejectBodies((body) => fieldNames(getPath(body, "parameters", "context")).some(isUnusual)),
  ),
  "temperature-with-two-decimals-refused": fault(
    ["INV-13", "SSE-34"],
    "A `temperature` with two decimals is refused.",
  ).by(
    rejectBodies((body) => {
      const temperature = getPath(body, "parameters", "temperature");
      return typeof temperature === "number" && !Number.isInteger(temperature * 10);
    }),
  ),
  "format-in-query-crashes": fault(["INV-1", "SSE-1"], "A query with `%s` responds with 500.").by(
    rejectBodies((body) => textOf(body, "query").includes("%s"), "crash"),
  ),
  "zero-counts-as-no-query": fault(["INV-1", "SSE-1"], "The query `0` counts as absent.").by(
    rejectBodies((body) => textOf(body, "query") === "0", "missing-field"),
  ),
  "empty-context-refused": fault("INV-1", "An empty `context` is refused.").by(
    rejectBodies((body) => {
      const context = getPath(body, "parameters", "context");
      return isObject(context) && fieldNames(context).length === 0;
    }),
  ),
  "batch-refuses-text-that-is-not-ascii": fault("BAT-1", "A batch with a query that is not ASCII is refused.").by(
    overrideResult("validateBatch")((error, body) => {
      const entries = getPath(body, "batch");
      const isRefused = Array.isArray(entries) && entries.some((entry) => /[^\0-\x7f]/.test(textOf(entry, "query")));
      return error === null && isRefused ? fieldError("invalid-input", "batch", "must be ASCII") : error;
    }),
  ),
  "batch-entries-with-parameters-fail": fault("BAT-1", "An entry of a batch with `parameters` is not executed.").by(
    overrideResult("validateBody")((error, body, _violations, endpoint) =>
      endpoint === "batch" && getPath(body, "parameters") !== undefined
        ? fieldError("invalid-input", "parameters", "is not accepted")
        : error,
    ),
  ),
  "long-query-crashes": fault(
    ["INV-1", "SSE-1"],
    "A query of more than 2000 characters, or a session whose name is not ASCII, responds with 500.",
  ).by(
    rejectBodies(
      (body) => textOf(body, "query").length > 2000 || /[^\0-\x7f]/.test(textOf(body, "session_id")),
      "crash",
    ),
  ),
  "details-of-two-fields-are-a-list": fault(
    "ERR-7",
    "Errors have form B, and `details` is an array if two fields of `parameters` are wrong.",
  ).by(
    withLast("validateBody", (last) =>
      editFormB((body, { cause }) => {
        const [sent] = last() ?? [];
        const areWrong =
          Number(getPath(sent, "parameters", "temperature")) > 2 &&
          Number(getPath(sent, "parameters", "max_tokens")) < 1;
        return cause === "invalid-input" && areWrong ? editField(body, "error.details", (details) => [details]) : body;
      }),
    ),
  ),
  "headers-missing-on-invalid-utf8": fault(
    "HDR-2",
    "A body that is not UTF-8 is refused with a 400 without rate-limit headers.",
  ).by(
    withLast("acceptsBodyText", (last) => (base) => ({
      acceptsBodyText: (text) => !isInvalidUtf8(text),
      ...withoutRateHeaders(({ status }) => status === 400 && isInvalidUtf8(last()?.[0] ?? ""))(base),
    })),
  ),
  "long-words-cut-in-bytes": fault(
    "SSE-30",
    "Without `chunk_size`, words of more than 48 bytes are cut between the bytes of a character.",
  ).by((base) => ({
    splitText: (text, chunkSize) => {
      const pieces = base.splitText(text, chunkSize);
      return chunkSize === null ? pieces.flatMap(bytePieces) : pieces;
    },
  })),
  "null-query-crashes": fault("INV-20", "A `query` of `null` responds with 500.").by(
    overrideResult("validateBody")((error, body) =>
      getPath(body, "query") === null ? apiError("crash", "The server failed.") : error,
    ),
  ),
  "stream-without-query-accepted-with-parameters": fault(
    "SSE-20",
    "A stream without `query` is accepted if it has `parameters`.",
  ).by(
    overrideResult("validateBody")((error, body, _violations, endpoint) =>
      endpoint === "stream" && error?.cause === "missing-field" && getPath(body, "parameters") !== undefined
        ? null
        : error,
    ),
  ),
  "nul-in-session-crashes": fault(["INV-1", "SSE-1"], "A query with NUL in a session responds with 500.").by(
    rejectBodies((body) => textOf(body, "query").includes("\0") && textOf(body, "session_id") !== "", "crash"),
  ),
  "unusual-keys-and-session-exclude-each-other": fault(
    ["INV-1", "SSE-1"],
    "Unusual keys of `parameters` are refused in a session.",
  ).by(
    rejectBodies(
      (body) => textOf(body, "session_id") !== "" && fieldNames(getPath(body, "parameters")).some(isUnusual),
    ),
  ),
  "execution-time-in-milliseconds-in-a-session": fault(
    "INV-4",
    "`metadata.execution_time` is in milliseconds if the request has a `session_id`.",
  ).by((base) => {
    const inSession = new Set<string>();
    return {
      executionEventData: (event) => {
        if (textOf(event.input, "session_id") !== "") inSession.add(event.requestId);
        return base.executionEventData(event);
      },
      invokeBody: (input, ...rest) => {
        const body = base.invokeBody(input, ...rest);
        return inSession.has(input.requestId) ? setField(body, "metadata.execution_time", input.elapsedMs) : body;
      },
    };
  }),
  "done-time-in-milliseconds-with-a-delay": fault(
    "SSE-14",
    "`execution_time` of `done` is in milliseconds if the request has a `stream_delay_ms`.",
  ).by((base) => ({
    doneData: (usage, elapsedMs, input) => {
      const data = base.doneData(usage, elapsedMs, input);
      // An interval between 0 and 1 s comes from the request's `stream_delay_ms`. The server's own agents wait exactly
      // 0 or 1 s between chunks.
      return input.chunkIntervalMs > 0 && input.chunkIntervalMs < 1000
        ? setField(data, "execution_time", elapsedMs)
        : data;
    },
  })),
  "totals-above-999-are-text": fault(["INV-3", "SSE-13"], "`total_tokens` above 999 is text, with a separator.").by(
    (base) => ({
      invokeBody: (...input) => editField(base.invokeBody(...input), "usage.total_tokens", withSeparator),
      doneData: (...input) => editField(base.doneData(...input), "usage.total_tokens", withSeparator),
    }),
  ),
  "failure-code-is-number-in-a-session": fault(
    "ERR-5",
    "The error of an agent that fails in a session has a number as its code.",
  ).by(
    withLast("executionEventData", (last) =>
      overrideJson("errorBody")
        .when(({ cause }) => cause === "crash" && textOf(last()?.[0].input, "session_id") !== "")
        .set("error.code", 500),
    ),
  ),
  "stream-failure-without-code-in-a-session": fault("SSE-15", "The `error` event has no `code` in a session.").by(
    (base) => {
      const inSession = new WeakSet<object>();
      let isInSession = false;
      return {
        executionEventData: (event) => {
          isInSession = textOf(event.input, "session_id") !== "";
          return base.executionEventData(event);
        },
        planSteps: (input) => {
          if (isInSession) inSession.add(input.ending);
          return base.planSteps(input);
        },
        streamErrorData: (ending) => {
          const data = base.streamErrorData(ending);
          return inSession.has(ending) ? removeField(data, "code") : data;
        },
      };
    },
  ),
  "operation-envelope-has-text": fault("REQ-8", "An operation comes in the envelope, with text in its metadata.").by(
    overrideJson("operationBody")((body) => ({
      status: "success",
      data: { result: body, metadata: { execution_time: "1.2 s", tokens_used: "7" } },
    })),
  ),
});
