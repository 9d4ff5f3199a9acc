import type { Exchange } from "../../evidence/exchange.ts";
import { clauseOf } from "../../interface/clauses.ts";
import type { Judgement } from "../../run/judge.ts";
import type { RunResult } from "../../run/run.ts";
import type { Report, ReportFinding } from "../report.ts";
import { assemble, shortHash, tiersOfKeys } from "./assemble.ts";
import { createdOf } from "./created.ts";
import { detailsOf } from "./row-details.ts";

/** What a report needs beside the result of the run itself. */
export interface Occasion {
  readonly version: string;
  readonly started: Date;
  readonly finished: Date;
  /** Must clauses that have checks, and that the selection left out. */
  readonly unselected: readonly string[];
}

type Judged = Extract<RunResult, { kind: "judged" }>;

/** Makes the report of a run. */
export function assembleReport(result: Judged, { version, started, finished, unselected }: Occasion): Report {
  const { target, durationMs, requests, waitedMs, stopped, judgements, exchanges } = result;
  const { name, baseUrl, keys } = target;
  return assemble({
    judging: { version, stopped, unselected, load: null },
    target: { name, baseUrl, fingerprint: fingerprintOf(result), tiers: tiersOfKeys(keys) },
    started,
    finished,
    durationMs,
    requests,
    waitedMs,
    findings: judgements.map(rowOf),
    created: createdOf(exchanges, started),
  });
}

/** A judgement as a row. */
export function rowOf({ check, suite, instance, finding, exchanges }: Judgement): ReportFinding {
  const { level } = clauseOf(check.clause);
  return {
    check: check.id,
    clause: check.clause,
    suite,
    level,
    ...(instance === null ? {} : { instance }),
    ...detailsOf(finding, level),
    ...(exchanges.length === 0 ? {} : { evidence: exchanges }),
  };
}

function fingerprintOf({ target, exchanges }: Judged): string {
  const server = exchanges.map(serverHeader).find((value) => value !== null) ?? "";
  return shortHash(JSON.stringify([target.baseUrl, server]));
}

function serverHeader({ answer }: Exchange): string | null {
  if (answer.kind !== "answered") return null;
  return answer.headers.find(([name]) => name.toLowerCase() === "server")?.[1] ?? null;
}
