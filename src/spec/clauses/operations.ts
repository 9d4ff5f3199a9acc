import { gap, must, type ClauseTable } from "../clause.ts";

const handle = "Resources and their fields / Operation handle (asynchronous work)";
const check = "Endpoints / 10. Check an asynchronous operation";
const batch = "Endpoints / 11. Batch submission";

export const operationClauses = {
  "OPS-1": must(handle, "A long-running operation returns at once with the string `operation_id`."),
  "OPS-2": must(handle, "`status` of a new operation is `pending`."),
  "OPS-3": must(handle, "`check_url` is the path `/v1/operations/<operation_id>`."),
  "OPS-4": gap(check, "Method and response of `check_url` are not shown."),
  "OPS-5": gap(
    "States and transitions / Operation status",
    "Status values other than `pending`, and the moves between them, are not shown.",
  ),
  "OPS-6": gap(check, "Which requests start a long-running operation is not shown."),
  "BAT-1": must(
    batch,
    "A batch is an array `batch` of objects shaped like an invoke body, and is accepted where the target says it takes one.",
  ),
  "BAT-2": gap(batch, "The path that accepts a batch is not shown."),
  "BAT-3": gap(batch, "The answer to a batch is not shown."),
  "OTH-1": gap(
    "Endpoints / 12. Other endpoints",
    "Exact path and payload of the local execution path of an entrypoint are not shown.",
  ),
  "OTH-2": gap(
    "Endpoints / 12. Other endpoints",
    "Path and shape of the detailed agent information endpoint are not shown.",
  ),
  "OTH-3": gap(
    "States and transitions / Agent lifecycle",
    "Lifecycle states of an agent other than the local `ready`, and their transitions, are not shown.",
  ),
  "OTH-4": gap(
    "Resources and their fields / Gaps in the resource fields",
    "Fields of a deployment record are not shown.",
  ),
} as const satisfies ClauseTable;
