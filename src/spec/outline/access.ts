import type { ClauseId } from "../clauses.ts";
import { rateHeaders, rateValues } from "../headers.ts";
import { type Section, stated } from "./item.ts";

export const authenticationSections: readonly Section[] = [
  {
    heading: "Authentication",
    items: [
      stated("1", "every request carries the key as a bearer", "AUTH-1", "AUTH-6", "AUTH-7", "REQ-2", "CLI-2"),
      stated("1", "how keys are issued", "AUTH-15"),
      stated("2", "restriction by scope", "KEY-5"),
      stated("2", "restriction by agent", "KEY-6"),
      stated("2", "restriction by source address", "KEY-7"),
      stated("3", "missing key: 401", "AUTH-2", "AUTH-8", "AUTH-9"),
      stated("3", "wrong key: 401 `INVALID_API_KEY`", "AUTH-3", "AUTH-5", "AUTH-8", "AUTH-16", "AUTH-17"),
      stated("3", "expired key: 401 `EXPIRED_API_KEY`", "AUTH-4", "AUTH-8", "KEY-3"),
      stated("4", "signing is optional; its two headers", "AUTH-10", "CLI-10"),
      stated("4", "`X-Timestamp`: Unix seconds, a decimal string", "AUTH-10", "CLI-11"),
      stated("4", "`X-Signature`: digest and the text that is signed", "AUTH-10", "CLI-10"),
      stated("5", "OAuth 2.0 is announced, not available", "AUTH-12"),
      stated("5", "examples of scopes", "AUTH-12"),
      stated("6", "deliveries are signed", "HOOK-21"),
      stated("7", "not shown: status without permission", "AUTH-13"),
      stated("8", "not shown: enabling signing; a bad signature", "AUTH-11"),
      stated("9", "not shown: managing keys over HTTP", "AUTH-14"),
    ],
  },
];

const rateClauses = ["LIM-1", "LIM-2", "LIM-3", "LIM-4", "LIM-5", "LIM-6"] as const satisfies readonly ClauseId[];

export const limitSections: readonly Section[] = [
  {
    heading: "Limits / Request rate (per API key)",
    items: [
      stated("text", "the rate is per API key", "LIM-9", "LIM-23", "LIM-25"),
      stated("Requests per hour", "column", "LIM-3", "LIM-4", "HDR-16"),
      stated("Requests per minute", "column", "LIM-1", "LIM-2", "LIM-15", "HDR-16"),
      stated("Concurrent requests", "column", "LIM-5", "LIM-6", "LIM-17", "LIM-18"),
      stated("Free", "100, 10, 2", ...rateClauses, "HDR-10"),
      stated("Pro", "1,000, 100, 10", ...rateClauses, "HDR-10"),
      stated("Team", "5,000, 500, 25", ...rateClauses, "HDR-10"),
      stated("Enterprise", "custom", "LIM-24"),
      stated("text", "burst of free and pro", "LIM-7", "LIM-8"),
      stated("text", "burst of enterprise: custom", "LIM-24"),
      stated("text", "not shown: burst of team", "LIM-8"),
    ],
  },
  {
    heading: "Limits / Token quota per month",
    items: [
      stated("Free", "100,000", "LIM-19", "LIM-20", "USE-6"),
      stated("Pro", "2,000,000", "LIM-19", "LIM-20", "USE-6"),
      stated("Team", "10,000,000", "LIM-19", "LIM-20", "USE-6"),
      stated("Enterprise", "custom", "LIM-24"),
    ],
  },
  {
    heading: "Limits / Scope of limits",
    items: [
      stated("1", "invoke is limited", "LIM-10", "LIM-16", "LIM-26"),
      stated("1", "a stream is a single request", "LIM-11", "LIM-18"),
      stated("1", "health is not limited", "HLT-15", "HLT-16"),
      stated("2", "on every response", "HDR-1", "HDR-2", "HDR-3", "HDR-4", "HDR-5", "HDR-6", "HDR-7", "HDR-8"),
      ...rateValues.map((name) => {
        const [first, ...others] = rateHeaders[name].clauses;
        return stated("2", `\`${rateHeaders[name].header}\``, first, ...others);
      }),
      stated("3", "429 with the error body", "LIM-12", "ERR-8", "ERR-9", "HDR-17", "HDR-19"),
      stated("3", "`retry_after` seconds", "LIM-13", "LIM-14", "HDR-18", "ERR-8"),
      stated("4", "defaults of timeout and memory", "LIM-21", "LIM-27", "CFG-9"),
      stated("5", "not shown: a fixed or rolling hour", "LIM-15"),
      stated("6", "not shown: largest body, longest query", "LIM-22"),
      stated("7", "not shown: longest stream", "SSE-32"),
    ],
  },
];

export const versioningSections: readonly Section[] = [
  {
    heading: "Versioning",
    items: [
      stated("1", "`v1` in the path", "VER-1", "SVC-3"),
      stated("2", "12 months of support", "VER-2"),
      stated("3", "deprecation announced 6 months before", "VER-3"),
      stated("4", "each agent has a version", "VER-4"),
      stated("4", "in `metadata.agent_version` of invoke", "VER-4", "INV-5"),
      stated("4", "in `version` of the health report", "VER-4", "HLT-7"),
    ],
  },
];
