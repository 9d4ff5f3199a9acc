import type { Exchange } from "../../evidence/exchange.ts";
import { clauseOf } from "../../spec/clauses.ts";
import type { Judgement } from "../../run/judge/judge.ts";
import type { Messages } from "../../run/skip-reason.ts";
import type { RunResult } from "../../run/run.ts";
import type { Coverage } from "../../run/judge/coverage.ts";
import type { Report, ReportFinding } from "../../report/model/report.ts";
import { runEndFor, type RunEnd } from "../../report/model/verdict.ts";
import { assemble, shortHash, tiersOfKeys, detailsOf, type WordedFinding } from "./assemble.ts";
import { createdResources } from "./created.ts";
import { connectionOf } from "./way.ts";

/** What a report needs beside the result of the run itself. */
export interface RunReportInput {
  readonly version: string;
  readonly started: Date;
  readonly finished: Date;
  /** Must clauses that have checks, and that the selection left out. */
  readonly unselected: readonly string[];
  /** Which agent played which role, and what it was asked so that it did. */
  readonly roles: Readonly<Record<string, string>>;
  readonly messages: Messages;
}

/** Makes the report of a run. */
export function assembleReport(
  result: RunResult,
  { version, started, finished, unselected, roles, messages }: RunReportInput,
): Report {
  const { target, durationMs, requests, executions, lost, waitedMs, judgements, exchanges } = result;
  const { name, baseUrl, keys, network } = target;
  return assemble({
    judging: { version, end: endOfRun(result, messages), unselected, load: null },
    target: {
      name,
      baseUrl,
      fingerprint: fingerprintOf(result),
      tiers: tiersOfKeys(keys),
      roles,
      ...connectionOf(network, baseUrl),
    },
    started,
    finished,
    durationMs,
    requests,
    executions,
    lost,
    waitedMs,
    findings: judgements.map((each) => findingRowOf(each, messages)),
    created: createdResources(exchanges, started),
  });
}

function endOfRun(result: RunResult, { reason }: Messages): RunEnd {
  if (result.kind === "judged") return runEndFor(result.stopped);
  return { kind: result.why, why: reason(result.sentence) };
}

/** A judgement as a row. */
export function findingRowOf(
  { check, suite, instance, finding, exchanges }: Judgement,
  messages: Messages,
): ReportFinding {
  const { level } = clauseOf(check.clause);
  return {
    check: check.id,
    clause: check.clause,
    suite,
    level,
    ...(instance === null ? {} : { instance }),
    ...detailsOf(inWords(finding, messages), level),
    ...("seen" in finding && finding.seen !== undefined ? { seen: seenInWords(finding.seen, messages) } : {}),
    ...(exchanges.length === 0 ? {} : { evidence: exchanges }),
  };
}

const inWords = (finding: Judgement["finding"], { reason, needs }: Messages): WordedFinding =>
  finding.kind === "unproven"
    ? { ...finding, reason: reason(finding.reason), needs: finding.needs === null ? null : needs(finding.needs) }
    : finding;

const seenInWords = ({ unseen, ...seen }: Coverage, { needs }: Messages): NonNullable<ReportFinding["seen"]> => ({
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
