import { overrideError } from "../overrides.ts";
import { faults } from "../patch.ts";

/** Faults of the service as a whole, its transport and its version. */
export const serviceFaults = faults("What the service does", {
  "usage-not-json": [
    ["SVC-1"],
    "The usage report has a comma after its last field.",
    (base) => ({
      jsonText: (value, facts) => {
        const text = base.jsonText(value, facts);
        return facts.operation === "usage" && facts.status === 200 ? text.replace(/\}$/, ",}") : text;
      },
    }),
  ],
  "gzip-in-name-only": [
    ["SVC-1"],
    "JSON is declared as gzipped where the client offers it, and is not.",
    (base) => ({
      encode: (text, acceptEncoding) =>
        /\bgzip\b/.test(acceptEncoding)
          ? { bytes: Buffer.from(text), headers: [["Content-Encoding", "gzip"]] }
          : base.encode(text, acceptEncoding),
    }),
  ],
  "stream-declared-json": [
    ["SVC-2", "REQ-4", "SSE-1"],
    "A stream is declared as application/json.",
    (base) => ({ contentType: (_kind, facts) => base.contentType("json", facts) }),
  ],
  "usage-not-below-v1": [
    ["SVC-3", "USE-1"],
    "Usage is served below `/v2` only.",
    () => ({ servedPath: (path) => path.replace(/^\/v1\/usage/, "/gone").replace(/^\/v2\/usage/, "/v1/usage") }),
  ],
  "sends-to-v2": [
    ["VER-1", "HLT-18"],
    "Health of an unknown agent sends the client to `/v2`.",
    (base) => ({
      ...overrideError(["agent-not-found"], 308, "MOVED", "health")(base),
      headers: (headers, facts) => {
        const own = base.headers(headers, facts);
        return facts.status === 308 ? [...own, ["Location", "/v2/agents/nobody/health"]] : own;
      },
    }),
  ],
  "health-version-differs": [
    ["VER-4"],
    "Health reports another version than invoke.",
    (base) => ({ healthBody: (facts) => base.healthBody({ ...facts, version: `${facts.version}-1` }) }),
  ],
  "version-of-invoke-stays": [
    ["VER-4"],
    "An invoke goes on naming the version of before an update, which health names.",
    (base) => {
      const first = new Map<string, string>();
      return {
        agentVersion: (agent) => {
          const known = first.get(agent.id) ?? base.agentVersion(agent);
          first.set(agent.id, known);
          return known;
        },
        healthBody: (facts) => base.healthBody({ ...facts, version: facts.agent.version }),
      };
    },
  ],
});
