import { type Section, stated, withoutClause } from "./item.ts";

const states = "States and transitions";

export const stateSections: readonly Section[] = [
  {
    heading: `${states} / Health status of an agent`,
    items: [
      stated("healthy", "all checks pass", "HLT-13"),
      stated("degraded", "warnings, yet functional", "HLT-11"),
      stated("unhealthy", "critical checks fail", "HLT-12"),
      stated("text", "recomputed on each request", "HLT-19"),
      stated("text", "no operation moves an agent", "HLT-19"),
    ],
  },
  {
    heading: `${states} / Stream sequence`,
    items: [
      stated("request accepted", "`start` is sent", "SSE-4"),
      stated("start", "`chunk` is sent, and again", "SSE-6", "SSE-29"),
      stated("chunk", "`done` ends it", "SSE-5", "SSE-28"),
      stated("chunk", "`done` carries usage and execution time", "SSE-13", "SSE-14"),
      stated("start or chunk", "a failure sends `error`", "SSE-17", "SSE-5"),
    ],
  },
  {
    heading: `${states} / Webhook delivery`,
    items: [
      stated("pending delivery", "2xx: delivered", "HOOK-25", "HOOK-38"),
      stated("pending delivery", "a failure: retried on the schedule", "HOOK-26", "HOOK-27", "HOOK-22"),
      stated("retried", "the fifth failure: marked failed", "HOOK-28", "HOOK-29"),
    ],
  },
  {
    heading: `${states} / Operation status`,
    items: [
      stated("text", "`pending` at the start", "OPS-2"),
      stated("text", "not shown: other values and moves", "OPS-5"),
    ],
  },
  {
    heading: `${states} / Agent lifecycle`,
    items: [
      withoutClause("text", "`ready` in a start-up report", "A local server prints it; no answer over HTTP shows it."),
      stated("text", "not shown: other states and transitions", "OTH-3"),
    ],
  },
];
