import { createHash } from "node:crypto";

import type { Exchange } from "../../evidence/exchange.ts";
import { clauseIds, clauseOf, clauses } from "../../interface/clauses.ts";
import type { Judgement } from "../../run/judge.ts";
import type { RunResult } from "../../run/run.ts";
import { createdOf } from "./created.ts";
import type { Outcome, Report, ReportFinding, RowLevel } from "../report.ts";
import { totalsOf, verdictOf } from "../verdict.ts";

/** What a report needs beside the result of the run itself. */
export interface Occasion {
  readonly version: string;
  readonly started: Date;
  readonly finished: Date;
  /** Must clauses that have checks, and that the selection left out. */
  readonly unselected: readonly string[];
}

type Judged = Extract<RunResult, { kind: "judged" }>;

/** Makes the report of a run. Its texts are still as the target sent them: redact before it leaves the process. */
export function assembleReport(result: Judged, { version, started, finished, unselected }: Occasion): Report {
  return {
    format: "agent-hosting-conformance/report/1",
    suite: { version, clauses: clausesHash() },
    target: {
      name: result.target.name,
      baseUrl: result.target.baseUrl,
      fingerprint: fingerprintOf(result),
      tiers: Object.fromEntries(
        Object.values(result.target.keys).flatMap(({ name, tier }) => (tier === null ? [] : [[name, tier]])),
      ),
    },
    started: started.toISOString(),
    finished: finished.toISOString(),
    durationMs: Math.round(result.durationMs),
    requests: result.requests,
    waitedMs: Math.round(result.waitedMs),
    ...(result.stopped === null ? {} : { stopped: result.stopped }),
    ...assembleFindings(result.judgements, result.stopped, unselected),
    created: createdOf(result.exchanges, started),
    unselected,
    untestable: untestableRows(),
  };
}

/** The part of a report that judging makes: its rows, and what they come to. */
export function assembleFindings(
  judgements: readonly Judgement[],
  stopped: string | null,
  unselected: readonly string[],
): Pick<Report, "verdict" | "totals" | "findings"> {
  const findings = judgements.map(toFinding);
  return { verdict: verdictOf(findings, stopped, unselected), totals: totalsOf(findings), findings };
}

function toFinding({ check, suite, instance, finding, exchanges }: Judgement): ReportFinding {
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

const breachOutcomes: Readonly<Record<RowLevel, Outcome>> = {
  must: "fail",
  should: "warning",
  advisory: "note",
  gap: "observed",
  policy: "error",
  load: "fail",
};

/** What a row says besides its place. */
export type Details = Pick<ReportFinding, "outcome"> & Partial<ReportFinding>;

/** A finding in the words of a row; its level tells how much a breach weighs. */
export function detailsOf(finding: Judgement["finding"], level: RowLevel): Details {
  switch (finding.kind) {
    case "holds":
      return { outcome: "pass" };
    case "follows":
      return { outcome: "pass", reading: finding.reading };
    case "breach":
      return { outcome: breachOutcomes[level], expected: finding.expected, actual: finding.actual };
    case "observed":
      return { outcome: "observed", reason: finding.text };
    case "error":
      return { outcome: "error", reason: finding.reason };
    case "inapplicable":
      return { outcome: "skipped", reason: finding.reason };
    case "unproven":
      return {
        outcome: "skipped",
        reason: finding.reason,
        ...(finding.needs === null ? {} : { needs: finding.needs }),
      };
  }
}

/** A hash of the clauses: two reports with the same one were judged by the same sentences. */
export const clausesHash = (): string => hash(JSON.stringify(clauses));

function fingerprintOf({ target, exchanges }: Judged): string {
  const server = exchanges.map(serverHeader).find((value) => value !== null) ?? "";
  return hash(JSON.stringify([target.baseUrl, server]));
}

function serverHeader({ answer }: Exchange): string | null {
  if (answer.kind !== "answered") return null;
  return answer.headers.find(([name]) => name.toLowerCase() === "server")?.[1] ?? null;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Clauses that no request can show, each with why. */
export const untestableRows = (): Report["untestable"] =>
  clauseIds.flatMap((clause) => {
    const { level, untestable } = clauseOf(clause);
    return untestable === undefined ? [] : [{ clause, level, reason: untestable }];
  });
