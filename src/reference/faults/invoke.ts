import { isObject } from "../../base/json.ts";
import { editField, fieldsOf, setField } from "../json-edit.ts";
import {
  fault,
  faults,
  overrideByCount,
  overrideErrorCode,
  overrideErrorStatus,
  overrideJson,
  overrideResult,
  overrideSuccessStatus,
  type Override,
} from "../patch.ts";
import { fieldError } from "../behaviour/errors.ts";
import type { Endpoint } from "../endpoint.ts";

const invokeBody = overrideJson("invokeBody");

export function refuseBody(
  endpoint: Endpoint,
  field: string,
  matches: (fields: Readonly<Record<string, unknown>>) => boolean,
): Override {
  return overrideResult("validateBody")((error, body, _violations, called) =>
    called === endpoint && isObject(body) && matches(body)
      ? fieldError("invalid-input", field, "is not accepted")
      : error,
  );
}

export function refuseParameter(endpoint: Endpoint, name: string, matches = (_value: unknown) => true): Override {
  return refuseBody(endpoint, `parameters.${name}`, ({ parameters }) => {
    return isObject(parameters) && name in parameters && matches(parameters[name]);
  });
}

export function refuseUnknownParameters(endpoint: Endpoint): Override {
  const known = new Set(["temperature", "max_tokens", "context", "resume_from_index", "stream_delay_ms", "chunk_size"]);
  return refuseBody(endpoint, "parameters", ({ parameters }) => {
    return isObject(parameters) && Object.keys(parameters).some((name) => !known.has(name));
  });
}

export function refuseManyParameters(endpoint: Endpoint): Override {
  return refuseBody(endpoint, "parameters", ({ parameters }) => {
    return isObject(parameters) && Object.keys(parameters).length > 2;
  });
}

const acceptMissingQuery = (matches: (body: unknown) => boolean): Override =>
  overrideResult("validateBody")((error, body, _violations, endpoint) =>
    endpoint === "invoke" && error?.cause === "missing-field" && matches(body) ? null : error,
  );

const hasWrongQuery = (body: unknown): boolean =>
  isObject(body) && "query" in body && typeof body["query"] !== "string";

export const invokeFaults = faults("Endpoints / 1. Invoke an agent", {
  "invoke-answers-202": fault("INV-1", "Invoke responds with 202.").by(overrideSuccessStatus("invoke", 202)),
  "invoke-answers-201-at-times": fault("INV-1", "Each third invoke responds with 201.").by(
    overrideSuccessStatus("invoke", 201, 3),
  ),
  "result-is-text": fault("INV-2", "`result` is text.").by(
    invokeBody.change("result", (result) => (isObject(result) ? result["output"] : "")),
  ),
  "result-is-array": fault("INV-2", "`result` is an array.").by(invokeBody.change("result", (old) => [old])),
  "result-missing": fault("INV-2", "`result` is missing.").by(invokeBody.remove("result")),
  "usage-is-text": fault("INV-3", "`usage.prompt_tokens` is text.").by(
    invokeBody.change("usage.prompt_tokens", String),
  ),
  "usage-fractional": fault("INV-3", "The tokens of `usage` are fractions, and still add up.").by(
    invokeBody((value) =>
      editField(
        editField(value, "usage.prompt_tokens", (tokens) => Number(tokens) - 0.5),
        "usage.completion_tokens",
        (tokens) => Number(tokens) + 0.5,
      ),
    ),
  ),
  "execution-time-is-text": fault("INV-4", "`metadata.execution_time` is text with a unit.").by(
    invokeBody.change("metadata.execution_time", (seconds) => `${String(seconds)}s`),
  ),
  "agent-version-is-number": fault("INV-5", "`metadata.agent_version` is a number.").by(
    invokeBody.change("metadata.agent_version", (version) => Number.parseFloat(String(version))),
  ),
  "request-id-is-number": fault("INV-6", "`metadata.request_id` is a number.").by(
    invokeBody.change("metadata.request_id", (id) => Number(String(id).replace(/\D/g, ""))),
  ),
  "tokens-do-not-add-up": fault("INV-7", "`prompt_tokens` is one more than was counted; the total is right.").by(
    invokeBody.change("usage.prompt_tokens", (tokens) => Number(tokens) + 1),
  ),
  "request-id-repeats": fault("INV-8", "Every request has the same id.").by(() => ({ requestId: () => "req_same" })),
  "execution-time-is-text-out-of-a-cache": fault(
    "INV-4",
    "A repeated request at temperature 0 gets a cached response with `execution_time` as text.",
  ).by((base) => {
    const known = new Set<string>();
    let isKnown = false;
    return {
      validateBody: (request, ...rest) => {
        const isCold = fieldsOf(fieldsOf(request)["parameters"])["temperature"] === 0;
        isKnown = isCold && known.has(JSON.stringify(request));
        if (isCold) known.add(JSON.stringify(request));
        return base.validateBody(request, ...rest);
      },
      invokeBody: (...input) =>
        isKnown
          ? editField(base.invokeBody(...input), "metadata.execution_time", (seconds) => `${String(seconds)}s`)
          : base.invokeBody(...input),
    };
  }),
  "missing-query-accepted-in-a-begun-session": fault(
    "INV-10",
    "A session that has begun accepts requests without a `query`.",
  ).by(
    (base) => {
      const begun = new Set<unknown>();
      return {
        validateBody: (request, ...rest) => {
          const { query, session_id: session } = fieldsOf(request);
          if (query !== undefined) begun.add(session);
          const isBegun = query === undefined && session !== undefined && begun.has(session);
          return isBegun ? null : base.validateBody(request, ...rest);
        },
      };
    },
    ["SSE-20"],
  ),
  "execution-time-negative": fault("INV-9", "`execution_time` is negative.").by(
    invokeBody((value, { elapsedMs }) => setField(value, "metadata.execution_time", -1 - elapsedMs / 1000)),
  ),
  "execution-time-too-long": fault(["INV-4", "INV-9"], "`execution_time` is an hour more than the request took.").by(
    invokeBody((value, { elapsedMs }) => setField(value, "metadata.execution_time", 3600 + elapsedMs / 1000)),
  ),
  // Read as seconds, the value is usually longer than the request took, which also breaks INV-4. If the test clock
  // advances far during the request, the value fits.
  "execution-time-in-milliseconds": fault("INV-9", "`execution_time` is in milliseconds.").by(
    invokeBody((value, { elapsedMs }) => setField(value, "metadata.execution_time", elapsedMs)),
    ["INV-4"],
  ),
  "execution-time-in-microseconds": fault(["INV-4", "INV-9"], "`execution_time` is in microseconds.").by(
    invokeBody((value, { elapsedMs }) => setField(value, "metadata.execution_time", elapsedMs * 1000)),
  ),
  "missing-query-other-code": fault("INV-10", "An absent `query` has the code INVALID_INPUT.").by(
    overrideErrorCode(["missing-field"], "INVALID_INPUT", "invoke"),
  ),
  "missing-query-other-code-beside-parameters": fault(
    "INV-10",
    "An absent `query` beside `parameters` has the code INVALID_INPUT.",
  ).by(refuseBody("invoke", "query", (fields) => !("query" in fields) && "parameters" in fields)),
  "missing-query-422": fault(["INV-10", "ERR-1", "ERR-10"], "An absent `query` responds with 422.").by(
    overrideErrorStatus(["missing-field"], 422, "invoke"),
    ["REQ-11"],
  ),
  "missing-query-accepted-in-a-session": fault(
    "INV-10",
    "An absent `query` is taken as an empty one where there is a `session_id`.",
  ).by(acceptMissingQuery((body) => isObject(body) && "session_id" in body)),
  "missing-query-accepted": fault("INV-10", "An absent `query` is taken as an empty one.").by(
    acceptMissingQuery(() => true),
    ["REQ-11", "HOOK-17", "HOOK-18"],
  ),
  "unknown-agent-other-code": fault("INV-11", "An agent that does not exist has the code NOT_FOUND.").by(
    overrideErrorCode(["agent-not-found"], "NOT_FOUND", "invoke"),
  ),
  "unknown-agent-400": fault(["INV-11", "ERR-10"], "An agent that does not exist responds with 400.").by(
    overrideErrorStatus(["agent-not-found"], 400, "invoke"),
  ),
  "unknown-parameters-refused": fault("INV-12", "Unknown keys inside `parameters` are refused.").by(
    refuseUnknownParameters("invoke"),
  ),
  "parameters-together-refused": fault("INV-1", "More than two keys inside `parameters` are refused.").by(
    refuseManyParameters("invoke"),
    ["INV-12"],
  ),
  "temperature-with-max-tokens-refused": fault("INV-1", "`temperature` and `max_tokens` exclude each other.").by(
    refuseBody("invoke", "parameters", ({ parameters }) => {
      return isObject(parameters) && "temperature" in parameters && "max_tokens" in parameters;
    }),
  ),
  "temperature-2-refused": fault("INV-13", "A temperature of 2.0 is refused.").by(
    refuseParameter("invoke", "temperature", (value) => value === 2),
  ),
  "temperature-0-refused": fault("INV-13", "A temperature of 0.0 is refused.").by(
    refuseParameter("invoke", "temperature", (value) => value === 0),
  ),
  "temperature-between-refused": fault("INV-13", "A temperature between 0.0 and 2.0 is refused.").by(
    refuseParameter("invoke", "temperature", (value) => value !== 0 && value !== 2),
    ["INV-1"],
  ),
  "max-tokens-refused": fault("INV-14", "`max_tokens` is refused.").by(refuseParameter("invoke", "max_tokens")),
  "max-tokens-ignored": fault("INV-15", "`max_tokens` is ignored.").by(() => ({ truncateText: (whole) => whole })),
  "context-refused": fault("INV-16", "`context` is refused.").by(refuseParameter("invoke", "context")),
  "session-refused": fault("INV-17", "`session_id` is refused.").by(
    refuseBody("invoke", "session_id", (fields) => "session_id" in fields),
  ),
  "session-required": fault("INV-17", "A request without `session_id` is refused.").by(
    refuseBody("invoke", "session_id", (fields) => "query" in fields && !("session_id" in fields)),
  ),
  "session-forgotten": fault(["INV-18", "SSE-36"], "No call remembers the one before it.").by(
    overrideByCount("conversationKey")((_, count) => String(count)),
  ),
  "session-forgotten-at-the-third-call": fault("INV-18", "A session loses its context at its third call.").by(
    (base) => {
      const calls = new Map<string, number>();
      return overrideResult("conversationKey")((conversation) => {
        const count = (calls.get(conversation) ?? 0) + 1;
        calls.set(conversation, count);
        return count < 3 ? conversation : `${conversation} from call ${count}`;
      })(base);
    },
  ),
  "session-forgotten-after-a-stream": fault(
    "INV-18",
    "An agent forgets the invokes of a session after a stream of it.",
  ).by((base) => {
    const streams = new Map<string, number>();
    return overrideResult("conversationKey")((conversation, { endpoint }) => {
      const streamCount = streams.get(conversation) ?? 0;
      if (endpoint !== "stream") return `${conversation} after ${streamCount}`;
      streams.set(conversation, streamCount + 1);
      return conversation;
    })(base);
  }),
  "session-forgotten-after-a-refused-call": fault(
    "INV-18",
    "A call that is refused ends the context of its session.",
  ).by((base) => {
    const refused = new Set<unknown>();
    return {
      validateBody: (request, ...rest) => {
        const error = base.validateBody(request, ...rest);
        if (error !== null) refused.add(fieldsOf(request)["session_id"]);
        return error;
      },
      conversationKey: (input) => `${base.conversationKey(input)} ${refused.has(input.session)}`,
    };
  }),
  "query-number-crashes": fault("INV-20", "A `query` that is no string responds with 500.").by(
    overrideResult("validateBody")((error, body, _violations, endpoint) =>
      endpoint === "invoke" && hasWrongQuery(body) ? fieldError("crash", "query", "made the server fail") : error,
    ),
  ),
  "text-mangled": fault(["INV-22", "HOOK-42"], "UTF-8 of a response is read as if it were Latin-1.").by((base) => ({
    invokeResult: (input) => base.invokeResult({ ...input, text: Buffer.from(input.text, "utf8").toString("latin1") }),
  })),
});
