import { isObject } from "../../base/json.ts";
import { fieldError } from "../api-error.ts";
import { setField } from "../json-edit.ts";
import { overrideJson, overrideError } from "../overrides.ts";
import { fault, faults } from "../patch.ts";

/** Faults of the whole service, its transport and its version. */
export const serviceFaults = faults("What the service does", {
  "usage-not-json": fault("SVC-1", "The usage report has a comma after its last field.").by((base) => ({
    jsonText: (value, facts) => {
      const text = base.jsonText(value, facts);
      return facts.endpoint === "usage" && facts.status === 200 ? text.replace(/\}$/, ",}") : text;
    },
  })),
  "gzip-in-name-only": fault("SVC-1", "JSON is declared as gzipped where the client offers it, and is not.").by(
    (base) => ({
      encodeBody: (text, acceptEncoding) =>
        /\bgzip\b/.test(acceptEncoding)
          ? { bytes: Buffer.from(text), headers: [["Content-Encoding", "gzip"]] }
          : base.encodeBody(text, acceptEncoding),
    }),
  ),
  "stream-declared-json": fault(["SVC-2", "REQ-4", "SSE-1"], "A stream is declared as application/json.").by(
    (base) => ({
      contentType: (_kind, facts) => base.contentType("json", facts),
    }),
  ),
  "usage-not-below-v1": fault(["SVC-3", "USE-1"], "Usage is served below `/v2` only.").by(
    () => ({
      servedPath: (path) => path.replace(/^\/v1\/usage/, "/gone").replace(/^\/v2\/usage/, "/v1/usage"),
      // A run that reads `/v2/usage` does not know that the read is counted, too. An alert may therefore come one
      // request before the run expects it.
    }),
    ["ALR-3"],
  ),
  "sends-to-v2": fault(["VER-1", "HLT-18"], "Health of an unknown agent sends the client to `/v2`.").by((base) => ({
    ...overrideError(["agent-not-found"], 308, "MOVED", "health")(base),
    finalHeaders: (headers, facts) => {
      const own = base.finalHeaders(headers, facts);
      return facts.status === 308 ? [...own, ["Location", "/v2/agents/nobody/health"]] : own;
    },
  })),
  "health-version-differs": fault("VER-4", "Health reports another version than invoke.").by((base) => ({
    healthBody: (facts) => base.healthBody({ ...facts, version: `${facts.version}-1` }),
  })),
  "version-of-invoke-stays": fault(
    "VER-4",
    "After an update, an invoke still has the old version; health has the new one.",
  ).by((base) => {
    const first = new Map<string, string>();
    return {
      agentVersion: (agent) => {
        const known = first.get(agent.id) ?? base.agentVersion(agent);
        first.set(agent.id, known);
        return known;
      },
      healthBody: (facts) => base.healthBody({ ...facts, version: facts.agent.version }),
    };
  }),
});

const envelopeMetadata = { execution_time: 0, tokens_used: 0 };

export const requestFaults = faults("Endpoints / Common request rules", {
  "health-needs-no-key": fault(["REQ-2", "AUTH-8"], "Health needs no key and accepts a wrong one.").by((base) => ({
    requiresKey: (endpoint, credentials) => endpoint !== "health" && base.requiresKey(endpoint, credentials),
  })),
  "json-declared-html": fault("REQ-4", "JSON responses are declared as HTML.").by((base) => ({
    contentType: (kind, facts) =>
      kind === "json" && facts.status === 200 ? "text/html; charset=utf-8" : base.contentType(kind, facts),
  })),
  "white-space-refused": fault("REQ-5", "A body with white space between its tokens is refused.").by(() => ({
    acceptsBodyText: (text) => !/^\s|[{,]\s|\s\}$/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')),
  })),
  "key-order-matters": fault("REQ-5", "A body is refused unless `query` is its first key.").by(
    (base) => ({
      validateBody: (body, violations, endpoint) =>
        isObject(body) && "query" in body && Object.keys(body)[0] !== "query"
          ? fieldError("invalid-input", "query", "must come first")
          : base.validateBody(body, violations, endpoint),
    }),
    ["INV-1", "INV-13", "SSE-1"],
  ),
  "usage-in-another-shape": fault(
    ["REQ-7", "USE-2", "USE-3", "USE-4"],
    "The usage report is wrapped in neither of the published shapes.",
  ).by(overrideJson("usageBody")((payload) => ({ payload }))),
  "list-in-another-shape": fault(
    ["REQ-7", "LST-2", "LST-3"],
    "The list is wrapped in neither of the published shapes.",
  ).by(overrideJson("listBody")((payload) => ({ payload }))),
  "list-shape-wavers": fault("REQ-7", "The list alternates between the top level and the envelope.").by((base) => {
    let listCount = 0;
    return {
      listBody: (facts) => {
        listCount += 1;
        const own = base.listBody(facts);
        return listCount % 2 === 1 ? own : { status: "success", data: { result: own, metadata: envelopeMetadata } };
      },
    };
  }),
  "envelope-status-ok": fault(
    "REQ-8",
    "Usage is in an envelope whose `status` is `ok` and whose `tokens_used` is text.",
  ).by((base) => ({
    usageBody: (facts) => ({
      status: "ok",
      data: { result: base.usageBody(facts), metadata: { execution_time: "0", tokens_used: "0" } },
    }),
  })),
  "envelope-metadata-text": fault("REQ-8", "Usage is in an envelope whose `execution_time` is text.").by((base) => ({
    usageBody: (facts) =>
      setField({ status: "success", data: { result: base.usageBody(facts) } }, "data.metadata", {
        execution_time: "fast",
        tokens_used: 0,
      }),
  })),
  "json-of-alerts-refused": fault(["REQ-3", "ALR-1"], "`application/json` is refused where an alert is created.").by(
    (base) => ({
      acceptsContentType: (contentType, endpoint) =>
        endpoint !== "createAlert" && base.acceptsContentType(contentType, endpoint),
      errorStatus: (cause, endpoint) => (cause === "content-type" ? 415 : base.errorStatus(cause, endpoint)),
      errorCode: (cause, endpoint) =>
        cause === "content-type" ? "UNSUPPORTED_MEDIA_TYPE" : base.errorCode(cause, endpoint),
    }),
  ),
});
