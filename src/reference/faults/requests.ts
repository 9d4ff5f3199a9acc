import { isObject } from "../../base/json.ts";
import { overrideJson } from "../overrides.ts";
import { setField } from "../json-edit.ts";
import { faults } from "../patch.ts";
import { fieldError } from "../api-error.ts";

const envelopeMetadata = { execution_time: 0, tokens_used: 0 };

export const requestFaults = faults("Endpoints / Common request rules", {
  "health-needs-no-key": [
    ["REQ-2", "AUTH-8"],
    "Health answers without a key, and with a wrong one.",
    (base) => ({
      requiresKey: (operation, credentials) => operation !== "health" && base.requiresKey(operation, credentials),
    }),
  ],
  "json-declared-html": [
    ["REQ-4"],
    "JSON answers are declared as HTML.",
    (base) => ({
      contentType: (kind, facts) =>
        kind === "json" && facts.status === 200 ? "text/html; charset=utf-8" : base.contentType(kind, facts),
    }),
  ],
  "white-space-refused": [
    ["REQ-5"],
    "A body with white space between its tokens is refused.",
    () => ({ readsText: (text) => !/^\s|[{,]\s|\s\}$/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')) }),
  ],
  "key-order-matters": [
    ["REQ-5"],
    "A body is refused unless `query` is its first key.",
    (base) => ({
      validateBody: (body, violations, operation) =>
        isObject(body) && "query" in body && Object.keys(body)[0] !== "query"
          ? fieldError("invalid-input", "query", "must come first")
          : base.validateBody(body, violations, operation),
    }),
  ],
  "usage-in-another-shape": [
    ["REQ-7", "USE-2", "USE-3", "USE-4"],
    "The usage report is wrapped in neither of the published shapes.",
    overrideJson("usageBody")((payload) => ({ payload })),
  ],
  "list-in-another-shape": [
    ["REQ-7", "LST-2", "LST-3"],
    "The list is wrapped in neither of the published shapes.",
    overrideJson("listBody")((payload) => ({ payload })),
  ],
  "list-shape-wavers": [
    ["REQ-7"],
    "The list comes at the top level and in the envelope by turns.",
    (base) => {
      let lists = 0;
      return {
        listBody: (facts) => {
          lists += 1;
          const own = base.listBody(facts);
          return lists % 2 === 1 ? own : { status: "success", data: { result: own, metadata: envelopeMetadata } };
        },
      };
    },
  ],
  "envelope-status-ok": [
    ["REQ-8"],
    "Usage comes in the envelope, whose `status` is `ok` and whose `tokens_used` is text.",
    (base) => ({
      usageBody: (facts) => ({
        status: "ok",
        data: { result: base.usageBody(facts), metadata: { execution_time: "0", tokens_used: "0" } },
      }),
    }),
  ],
  "envelope-metadata-text": [
    ["REQ-8"],
    "Usage comes in the envelope, whose `execution_time` is text.",
    (base) => ({
      usageBody: (facts) =>
        setField({ status: "success", data: { result: base.usageBody(facts) } }, "data.metadata", {
          execution_time: "fast",
          tokens_used: 0,
        }),
    }),
  ],
  "json-of-alerts-refused": [
    ["REQ-3", "ALR-1"],
    "`application/json` is refused where an alert is created.",
    (base) => ({
      acceptsContentType: (contentType, operation) =>
        operation !== "createAlert" && base.acceptsContentType(contentType, operation),
      errorStatus: (cause, operation) => (cause === "content-type" ? 415 : base.errorStatus(cause, operation)),
      errorCode: (cause, operation) =>
        cause === "content-type" ? "UNSUPPORTED_MEDIA_TYPE" : base.errorCode(cause, operation),
    }),
  ],
});
