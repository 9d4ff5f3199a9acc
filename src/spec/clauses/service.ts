import { gap, must, policy, type ClauseTable } from "../clause.ts";

const section = "What the service does";

export const serviceClauses = {
  "SVC-1": must(`${section} 1`, "Bodies of requests and responses are JSON."),
  "SVC-2": must(`${section} 1`, "Streaming uses Server-Sent Events."),
  "SVC-3": must(`${section} 2`, "Every path starts with `/v1`, and the published base address already ends in it."),
  "SVC-4": policy(`${section} 2`, "A client must not send the version segment twice.", {
    untestable:
      "A rule for clients. The harness keeps it: a base address works with and without `/v1` and a trailing slash.",
  }),
  "SVC-5": policy(`${section} 2`, "A local development server is reachable at a local address.", {
    untestable: "The document leaves the address out; the harness judges whichever address it is given.",
  }),
  "SVC-6": policy(
    `${section} 3`,
    "The service offers invocation, streaming, health, listing, usage, webhooks, alerts, key usage, operations and batches.",
    {
      untestable: "A summary: each capability has its own clauses (INV, SSE, HLT, LST, USE, WHK, ALR, KEY, OPS, BAT).",
    },
  ),
  "SVC-7": policy(
    `${section} 4`,
    "An agent is defined by a configuration file that lists entrypoints, each a function with a tag.",
    { untestable: "The file is the vendor's own; no endpoint shows it." },
  ),
  "SVC-8": policy(`${section} 5`, "An agent can run locally or in the cloud.", {
    untestable: "A deployment choice; the same clauses hold for both.",
  }),
  "SVC-9": gap(`${section} 6`, "Creating, deploying, updating and deleting agents over HTTP is not shown.", {
    untestable: "Trying it could create or delete agents of the target, so the harness never does.",
  }),
} as const satisfies ClauseTable;
