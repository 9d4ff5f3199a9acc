import type { ClauseTable } from "../clause.ts";

const section = "What the service does";

export const serviceClauses = {
  "SVC-1": { section: `${section} 1`, level: "must", says: "Bodies of requests and responses are JSON." },
  "SVC-2": { section: `${section} 1`, level: "must", says: "Streaming uses Server-Sent Events." },
  "SVC-3": {
    section: `${section} 2`,
    level: "must",
    says: "Every path starts with `/v1`, and the published base address already ends in it.",
  },
  "SVC-4": {
    section: `${section} 2`,
    level: "policy",
    says: "A client must not send the version segment twice.",
    untestable:
      "A rule for clients. The harness keeps it: a base address works with and without `/v1` and a trailing slash.",
  },
  "SVC-5": {
    section: `${section} 2`,
    level: "policy",
    says: "A local development server is reachable at a local address.",
    untestable: "The document leaves the address out; the harness judges whichever address it is given.",
  },
  "SVC-6": {
    section: `${section} 3`,
    level: "policy",
    says: "The service offers invocation, streaming, health, listing, usage, webhooks, alerts, key usage, operations and batches.",
    untestable: "A summary: each capability has its own clauses (INV, SSE, HLT, LST, USE, WHK, ALR, KEY, OPS, BAT).",
  },
  "SVC-7": {
    section: `${section} 4`,
    level: "policy",
    says: "An agent is defined by a configuration file that lists entrypoints, each a function with a tag.",
    untestable: "The file is the vendor's own; no endpoint shows it.",
  },
  "SVC-8": {
    section: `${section} 5`,
    level: "policy",
    says: "An agent can run locally or in the cloud.",
    untestable: "A deployment choice; the same clauses hold for both.",
  },
  "SVC-9": {
    section: `${section} 6`,
    level: "gap",
    says: "Creating, deploying, updating and deleting agents over HTTP is not shown.",
    untestable: "Trying it could create or delete agents of the target, so the harness never does.",
  },
} as const satisfies ClauseTable;
