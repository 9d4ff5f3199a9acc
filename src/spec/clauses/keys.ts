import { gap, must, policy, type ClauseTable } from "../clause.ts";

const resource = "Resources and their fields / API key";
const usage = "Endpoints / 9. Read key usage";

export const keyClauses = {
  "KEY-1": policy(`${resource} 1`, "A personal key is tied to a user and has full access to that user's resources.", {
    untestable: "The interface shows neither users nor owners of resources.",
  }),
  "KEY-2": policy(
    `${resource} 1`,
    "A service key is for production, has a limited scope and can be revoked on its own.",
    { untestable: "The interface has no operation that revokes a key." },
  ),
  "KEY-3": must(
    `${resource} 1`,
    "A temporary key expires by itself after its set time, and then answers 401 `EXPIRED_API_KEY`, on every endpoint.",
  ),
  "KEY-4": must(
    `${resource} 2`,
    "A key starts with two letters and an underscore, the same for every key of the service.",
  ),
  "KEY-5": must(`${resource} 3`, "A key with a read-only scope does not succeed in writing."),
  "KEY-6": must(`${resource} 3`, "A key restricted to one agent does not succeed with another."),
  "KEY-7": must(`${resource} 3`, "A key with a list of allowed addresses does not succeed from another address."),
  "KEY-8": policy(`${resource} 3`, "A key can carry a usage alert threshold, a percentage.", {
    untestable: "Only the dashboard sets it; the interface does not show it.",
  }),
  "KEY-9": must(usage, "`GET /v1/keys/usage` answers 200."),
  "KEY-10": gap(usage, "Parameters and response of key usage are not shown."),
  "KEY-11": gap(
    "Resources and their fields / Gaps in the resource fields",
    "Fields of a stored key record are not shown.",
  ),
} as const satisfies ClauseTable;
