import { faults } from "../patch.ts";

/** Faults of the service as a whole, its transport and its version. */
export const serviceFaults = faults("What the service does", {
  "usage-not-json": [
    ["SVC-1", "REQ-7", "USE-2", "USE-3", "USE-4"],
    "The usage report has a comma after its last field.",
    (base) => ({
      jsonText: (value, facts) => {
        const text = base.jsonText(value, facts);
        return facts.operation === "usage" && facts.status === 200 ? text.replace(/\}$/, ",}") : text;
      },
    }),
  ],
  "stream-declared-json": [
    ["SVC-2", "REQ-4", "SSE-1"],
    "A stream is declared as application/json.",
    (base) => ({ contentType: (_kind, facts) => base.contentType("json", facts) }),
  ],
  "unversioned-paths": [
    ["SVC-3"],
    "The paths are served without their version too.",
    () => ({ servedPath: (path) => (/^\/(agents|usage)\b/.test(path) ? `/v1${path}` : path) }),
  ],
  "any-version": [
    ["VER-1"],
    "Whatever version a path names, v1 answers.",
    () => ({ servedPath: (path) => path.replace(/^\/v\d+\//, "/v1/") }),
  ],
  "health-version-differs": [
    ["VER-4"],
    "Health reports another version than invoke.",
    (base) => ({ healthBody: (facts) => base.healthBody({ ...facts, version: `${facts.version}-1` }) }),
  ],
});
