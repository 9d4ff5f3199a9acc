import type { ClauseTable } from "../clause.ts";

const handle = "Resources and their fields / Operation handle (asynchronous work)";
const check = "Endpoints / 10. Check an asynchronous operation";
const batch = "Endpoints / 11. Batch submission";

export const operationClauses = {
  "OPS-1": {
    section: handle,
    level: "must",
    says: "A long-running operation returns at once with the string `operation_id`.",
  },
  "OPS-2": { section: handle, level: "must", says: "`status` of a new operation is `pending`." },
  "OPS-3": { section: handle, level: "must", says: "`check_url` is the path `/v1/operations/<operation_id>`." },
  "OPS-4": { section: check, level: "gap", says: "Method and response of `check_url` are not shown." },
  "OPS-5": {
    section: "States and transitions / Operation status",
    level: "gap",
    says: "Status values other than `pending`, and the moves between them, are not shown.",
  },
  "OPS-6": { section: check, level: "gap", says: "Which requests start a long-running operation is not shown." },
  "BAT-1": {
    section: batch,
    level: "must",
    says: "A batch is an array `batch` of objects shaped like an invoke body, and is accepted where the target says it takes one.",
  },
  "BAT-2": { section: batch, level: "gap", says: "The path that accepts a batch is not shown." },
  "BAT-3": { section: batch, level: "gap", says: "The answer to a batch is not shown." },
  "OTH-1": {
    section: "Endpoints / 12. Other endpoints",
    level: "gap",
    says: "Exact path and payload of the local execution path of an entrypoint are not shown.",
  },
  "OTH-2": {
    section: "Endpoints / 12. Other endpoints",
    level: "gap",
    says: "Path and shape of the detailed agent information endpoint are not shown.",
  },
  "OTH-3": {
    section: "States and transitions / Agent lifecycle",
    level: "gap",
    says: "Lifecycle states of an agent other than the local `ready`, and their transitions, are not shown.",
  },
  "OTH-4": {
    section: "Resources and their fields / Gaps in the resource fields",
    level: "gap",
    says: "Fields of a deployment record are not shown.",
  },
} as const satisfies ClauseTable;
