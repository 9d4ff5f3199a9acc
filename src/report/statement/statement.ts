import { createHash } from "node:crypto";

import { withoutUndefined } from "../../base/json.ts";
import { groupByClause } from "../model/broken-clauses.ts";
import type { Outcome, ReportFinding } from "../model/finding.ts";
import type { ReportDocument, ProfileResult, Report } from "../model/report.ts";
import { truncate, sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { presenceReadings } from "../model/report-sections.ts";
import { clauseOutcomes, clauseCountsOf } from "../model/verdict.ts";
import {
  type Statement,
  type StatementException,
  type StatementLoad,
  type StatementProfile,
  statementFormat,
} from "./statement-schema.ts";

const exceptionOutcomes = ["fail", "error", "warning", "note"] as const satisfies Outcome[];
const maxTextCharacters = 300;

/** Creates the statement about a report. The same report and digests always give the same statement. */
export function statementOf({ report }: Pick<ReportDocument, "report">, digests: Digests): Statement {
  const { target, suite, findings } = report;
  return {
    format: statementFormat,
    kind: report.load === undefined ? "run" : "load",
    ...(report.party === undefined ? {} : { party: report.party }),
    target: {
      name: publishableText(target.name),
      baseUrl: publishableText(target.baseUrl),
      fingerprint: publishableText(target.fingerprint),
      tiers: [...new Set(Object.values(target.tiers).map(publishableText))].toSorted(),
    },
    suite: {
      version: publishableText(suite.version),
      clauses: publishableText(suite.clauses),
      requirements: publishableText(suite.requirements),
    },
    verdict: report.verdict,
    ...(report.profiles === undefined ? {} : { profiles: report.profiles.map(statementProfileOf) }),
    ...coverageOfStatement(report),
    ...(report.stopped === undefined ? {} : { stopped: publishableText(report.stopped) }),
    started: report.started,
    finished: report.finished,
    requests: report.requests,
    counts: { clauses: clauseCountsOf(findings), findings: report.totals },
    exceptions: exceptionOutcomes.flatMap((outcome) => exceptionsOf(findings, outcome)),
    notExercised: notExercised(findings),
    unselected: report.unselected.map(publishableText),
    readings: readingsOf(findings),
    ...(report.load === undefined ? {} : { load: report.load.runs.map(statementLoadOf) }),
    evidence: [reportFileName, ...evidenceFileNames(report)]
      .flatMap((file) => {
        const sha256 = digests[file];
        return sha256 === undefined ? [] : [{ file, sha256 }];
      })
      .toSorted((one, other) => (one.file < other.file ? -1 : 1)),
  };
}

export const serializeStatement = (statement: Statement): string => `${JSON.stringify(statement, null, 2)}\n`;

const publishableText = (text: string): string => sanitize(truncate(text, maxTextCharacters));

function coverageOfStatement({ pairs, limits }: Report): Pick<Statement, "pairs" | "limits"> {
  if (limits === undefined) return {};
  return {
    ...(pairs === undefined ? {} : { pairs: { covered: pairs.covered, reachable: pairs.reachable } }),
    limits: limits.map((limit) => ({ ...limit, tier: publishableText(limit.tier) })),
  };
}

function statementProfileOf(result: ProfileResult): StatementProfile {
  const { broken: _, ...profile } = result;
  return profile;
}

const exceptionsOf = (
  findings: readonly ReportFinding[],
  outcome: (typeof exceptionOutcomes)[number],
): StatementException[] =>
  groupByClause(findings, outcome).flatMap(({ clause, distinctFindings }) =>
    distinctFindings.map(({ finding: { check, level, expected, actual, reason }, instances }) => ({
      check: publishableText(check),
      clause: publishableText(clause),
      level,
      outcome,
      ...(instances.length === 0 ? {} : { instances: instances.map((instance) => sanitizeLine(instance, 40)) }),
      ...withoutUndefined({ expected: lineOf(expected), actual: lineOf(actual), reason: lineOf(reason) }),
    })),
  );

const lineOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : sanitizeLine(text, maxTextCharacters);

function notExercised(findings: readonly ReportFinding[]): Statement["notExercised"] {
  const skipped = [...clauseOutcomes(findings)]
    .filter(([, outcome]) => outcome === "skipped")
    .map(([clause]) => clause);
  return skipped.flatMap((clause) => {
    const row = findings.find((finding) => finding.clause === clause);
    if (row === undefined || (row.level !== "must" && row.level !== "should")) return [];
    return [
      {
        clause: publishableText(clause),
        level: row.level,
        reason: sanitizeLine(row.reason ?? "", maxTextCharacters),
        ...(row.needs === undefined ? {} : { needs: sanitizeLine(row.needs, maxTextCharacters) }),
      },
    ];
  });
}

function readingsOf(findings: readonly ReportFinding[]): Statement["readings"] {
  const followed = findings.filter(
    // Leaves out a clause named `__proto__`, which only a forged report contains.
    ({ clause, reading }) => reading !== undefined && !presenceReadings.has(reading) && clause !== "__proto__",
  );
  return Object.fromEntries(
    [...Map.groupBy(followed, ({ clause }) => clause)].map(([clause, members]) => [
      publishableText(clause),
      [...new Set(members.map(({ reading = "" }) => sanitizeLine(reading, 80)))],
    ]),
  );
}

const statementLoadOf = ({
  scenario,
  tier,
  engine,
  requests,
  validity,
}: NonNullable<Report["load"]>["runs"][number]): StatementLoad => ({
  scenario,
  tier,
  engine,
  sent: requests.sent,
  admitted: requests.admitted,
  refused: requests.refused,
  ...(validity.invalid === null ? {} : { invalid: sanitizeLine(validity.invalid, maxTextCharacters) }),
});

/** Returns the SHA-256 of bytes or of a UTF-8 text, in lower-case hexadecimal, as `sha256sum` prints it. */
export const sha256Of = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** Computes the SHA-256 of text chunks while a caller reads them. Call `sha256` after the last chunk. */
export function chunksWithDigest(chunksOf: () => Iterable<string>): {
  readonly chunks: () => Iterable<string>;
  readonly sha256: () => string;
} {
  let hash = createHash("sha256");
  return {
    *chunks() {
      hash = createHash("sha256");
      for (const chunk of chunksOf()) {
        hash.update(chunk);
        yield chunk;
      }
    },
    sha256: () => hash.copy().digest("hex"),
  };
}

/** SHA-256 of the files in a report's folder, by file name: `report.json`, and the evidence files. */
export type Digests = Readonly<Record<string, string>>;

export const reportFileName = "report.json";

export const evidenceFileNames = ({ load }: Pick<Report, "load">): string[] =>
  load === undefined ? ["evidence.json"] : load.runs.map(({ evidence }) => evidence);
