import type { Exchange } from "../../evidence/exchange.ts";
import { clauseOf } from "../../interface/clauses.ts";
import type { Judgement } from "../../run/judge.ts";
import type { Wording } from "../../run/lack.ts";
import type { RunResult } from "../../run/run.ts";
import type { Seen } from "../../run/universe.ts";
import type { Report, ReportFinding } from "../report.ts";
import { endFor, type RunEnd } from "../verdict.ts";
import { assemble, shortHash, tiersOfKeys, detailsOf, type SaidFinding } from "./assemble.ts";
import { createdOf } from "./created.ts";
import { wayOf } from "./way.ts";

/** What a report needs beside the result of the run itself. */
export interface RunOccasion {
  readonly version: string;
  readonly started: Date;
  readonly finished: Date;
  /** Must clauses that have checks, and that the selection left out. */
  readonly unselected: readonly string[];
  /** Which agent played which role, and what it was asked so that it did. */
  readonly roles: Readonly<Record<string, string>>;
  readonly wording: Wording;
}

/** Makes the report of a run. */
export function assembleReport(
  result: RunResult,
  { version, started, finished, unselected, roles, wording }: RunOccasion,
): Report {
  const { target, durationMs, requests, executions, lost, waitedMs, judgements, exchanges } = result;
  const { name, baseUrl, keys, network } = target;
  return assemble({
    judging: { version, end: endOfRun(result, wording), unselected, load: null },
    target: {
      name,
      baseUrl,
      fingerprint: fingerprintOf(result),
      tiers: tiersOfKeys(keys),
      roles,
      ...wayOf(network, baseUrl),
    },
    started,
    finished,
    durationMs,
    requests,
    executions,
    lost,
    waitedMs,
    findings: judgements.map((each) => rowOf(each, wording)),
    created: createdOf(exchanges, started),
  });
}

function endOfRun(result: RunResult, { reason }: Wording): RunEnd {
  if (result.kind === "judged") return endFor(result.stopped);
  return { kind: result.why, why: reason(result.sentence) };
}

/** A judgement as a row. */
export function rowOf({ check, suite, instance, finding, exchanges }: Judgement, wording: Wording): ReportFinding {
  const { level } = clauseOf(check.clause);
  return {
    check: check.id,
    clause: check.clause,
    suite,
    level,
    ...(instance === null ? {} : { instance }),
    ...detailsOf(inWords(finding, wording), level),
    ...("seen" in finding && finding.seen !== undefined ? { seen: seenInWords(finding.seen, wording) } : {}),
    ...(exchanges.length === 0 ? {} : { evidence: exchanges }),
  };
}

const inWords = (finding: Judgement["finding"], { reason, needs }: Wording): SaidFinding =>
  finding.kind === "unproven"
    ? { ...finding, reason: reason(finding.reason), needs: finding.needs === null ? null : needs(finding.needs) }
    : finding;

const seenInWords = ({ unseen, ...seen }: Seen, { needs }: Wording): NonNullable<ReportFinding["seen"]> => ({
  ...seen,
  unseen: unseen.map(({ of, kind, reach }) => ({ of, kind, ...(reach === null ? {} : { needs: needs(reach) }) })),
});

function fingerprintOf({ target, exchanges }: RunResult): string {
  const server = exchanges.map(serverHeader).find((value) => value !== null) ?? "";
  return shortHash(JSON.stringify([target.baseUrl, server]));
}

function serverHeader({ answer }: Exchange): string | null {
  if (answer.kind !== "answered") return null;
  return answer.headers.find(([name]) => name.toLowerCase() === "server")?.[1] ?? null;
}
