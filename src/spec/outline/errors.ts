import { type Section, stated } from "./item.ts";

export const errorSections: readonly Section[] = [
  {
    heading: "Errors / Status codes",
    items: [
      stated("status 200", "success", "ERR-1"),
      stated("status 201", "created", "ERR-1"),
      stated("status 400", "bad request", "ERR-1"),
      stated("status 401", "unauthorized", "ERR-1", "AUTH-2"),
      stated("status 404", "not found", "ERR-1", "ERR-17"),
      stated("status 429", "rate limited", "ERR-1", "LIM-12"),
      stated("status 500", "internal error", "ERR-1", "ERR-13"),
    ],
  },
  {
    heading: "Errors / Error bodies",
    items: [
      stated("Form A", "its shape", "ERR-2", "ERR-3", "ERR-4", "ERR-5"),
      stated("Form A", "`status` is an integer", "ERR-6"),
      stated("Form A", "`retry_after` of a 429", "ERR-8"),
      stated("Form B", "its shape", "ERR-2", "ERR-3", "ERR-4", "ERR-5"),
      stated("Form B", "`details` is an object", "ERR-7"),
      stated("Form B", "example: `field` and `reason`", "ERR-15"),
      stated("Form B", "details of rate limits", "ERR-8", "ERR-16"),
      stated("text", "not shown: which form where", "ERR-12"),
    ],
  },
  {
    heading: "Errors / Error codes",
    items: [
      stated("INVALID_API_KEY", "401: the key is invalid", "ERR-10", "AUTH-3"),
      stated("EXPIRED_API_KEY", "401: the key has expired", "ERR-10", "AUTH-4", "KEY-3"),
      stated("MISSING_REQUIRED_FIELD", "400: a required field is absent", "ERR-10", "INV-10", "SSE-20"),
      stated("INVALID_INPUT", "400: the input is invalid", "ERR-10", "INV-20", "SSE-20", "WHK-2"),
      stated("INVALID_INPUT", "details name the field and a reason", "ERR-15"),
      stated("INVALID_INPUT", "example: the reason `missing`", "ERR-15"),
      stated("AGENT_NOT_FOUND", "404: no such agent", "ERR-10", "INV-11", "SSE-21", "HLT-18"),
      stated("RATE_LIMIT_EXCEEDED", "429", "ERR-10", "ERR-9"),
      stated("RATE_LIMITED", "429, its other name", "ERR-10", "ERR-9"),
      stated("STREAM_ERROR", "processing failed in a stream", "SSE-18"),
      stated("CAPACITY_ERROR", "overloaded, with `retry_after`", "SSE-19"),
      stated("EXECUTION_ERROR", "the agent failed, in a webhook", "HOOK-20"),
      stated("text", "not shown: the complete list; codes of 500", "ERR-11"),
      stated("text", "clients retry 5xx, and wait on 429", "ERR-14", "LIM-13"),
    ],
  },
];
