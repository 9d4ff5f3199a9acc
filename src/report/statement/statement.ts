import { createHash } from "node:crypto";

import { groupByClause } from "../model/broken-clauses.ts";
import type { ReportDocument, Outcome, Report, ReportFinding } from "../model/report.ts";
import { truncate, sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { presenceReadings } from "../model/report-sections.ts";
import { clauseOutcomes } from "../model/verdict.ts";
import { type Statement, type StatementException, type StatementLoad, statementFormat } from "./statement-schema.ts";

const exceptional = ["fail", "error", "warning", "note"] as const satisfies Outcome[];
const mostText = 300;

/**
 * What a vendor can publish of a report: who was judged, by what, with which verdict, every exception with its reason, and what was not
 * exercised. It follows from the report and its files alone, so that whoever has them can make it again and compare.
 *
 * @param digests of the report and of the evidence that is there; others than those that the verdict rests on are left out
 */
export function statementOf({ report }: Pick<ReportDocument, "report">, digests: Digests): Statement {
  const { target, suite, findings } = report;
  return {
    format: statementFormat,
    kind: report.load === undefined ? "run" : "load",
    target: {
      name: shown(target.name),
      baseUrl: shown(target.baseUrl),
      fingerprint: shown(target.fingerprint),
      tiers: [...new Set(Object.values(target.tiers).map(shown))].toSorted(),
    },
    suite: { version: shown(suite.version), clauses: shown(suite.clauses) },
    verdict: report.verdict,
    ...(report.stopped === undefined ? {} : { stopped: shown(report.stopped) }),
    started: report.started,
    finished: report.finished,
    requests: report.requests,
    counts: { clauses: clauseCounts(report), findings: report.totals },
    exceptions: exceptional.flatMap((outcome) => exceptionsOf(findings, outcome)),
    notExercised: notExercised(findings),
    unselected: report.unselected.map(shown),
    readings: readingsOf(findings),
    ...(report.load === undefined ? {} : { load: report.load.runs.map(loadOf) }),
    evidence: [reportFileName, ...evidenceFileNames(report)]
      .flatMap((file) => {
        const sha256 = digests[file];
        return sha256 === undefined ? [] : [{ file, sha256 }];
      })
      .toSorted((one, other) => (one.file < other.file ? -1 : 1)),
  };
}

/** `statement.json`: two spaces a level, and a line feed at the end. */
export const serializeStatement = (statement: Statement): string => `${JSON.stringify(statement, null, 2)}\n`;

/** A statement is published and read in places of all kinds: control characters of a target are made visible in it. */
const shown = (text: string): string => sanitize(truncate(text, mostText));

function clauseCounts({ findings }: Report): Statement["counts"]["clauses"] {
  const outcomes = [...clauseOutcomes(findings).values()];
  const count = (...wanted: readonly Outcome[]): number => outcomes.filter((each) => wanted.includes(each)).length;
  return {
    passed: count("pass"),
    broken: count("fail"),
    warned: count("warning"),
    noted: count("note"),
    observed: count("observed"),
    notExercised: count("skipped", "error"),
  };
}

const exceptionsOf = (
  findings: readonly ReportFinding[],
  outcome: (typeof exceptional)[number],
): StatementException[] =>
  groupByClause(findings, outcome).flatMap(({ clause, distinctFindings }) =>
    distinctFindings.map(({ finding: { check, level, expected, actual, reason }, instances }) => ({
      check: shown(check),
      clause: shown(clause),
      level,
      outcome,
      ...(instances.length === 0 ? {} : { instances: instances.map((instance) => sanitizeLine(instance, 40)) }),
      ...(expected === undefined ? {} : { expected: sanitizeLine(expected, mostText) }),
      ...(actual === undefined ? {} : { actual: sanitizeLine(actual, mostText) }),
      ...(reason === undefined ? {} : { reason: sanitizeLine(reason, mostText) }),
    })),
  );

/** Must and should clauses of which nothing was exercised, each with the first reason. */
function notExercised(findings: readonly ReportFinding[]): Statement["notExercised"] {
  const skipped = [...clauseOutcomes(findings)]
    .filter(([, outcome]) => outcome === "skipped")
    .map(([clause]) => clause);
  return skipped.flatMap((clause) => {
    const row = findings.find((finding) => finding.clause === clause);
    if (row === undefined || (row.level !== "must" && row.level !== "should")) return [];
    return [
      {
        clause: shown(clause),
        level: row.level,
        reason: sanitizeLine(row.reason ?? "", mostText),
        ...(row.needs === undefined ? {} : { needs: sanitizeLine(row.needs, mostText) }),
      },
    ];
  });
}

function readingsOf(findings: readonly ReportFinding[]): Statement["readings"] {
  const followed = findings.filter(
    // No clause of ours has this name, and whoever reads the JSON again loses it.
    ({ clause, reading }) => reading !== undefined && !presenceReadings.has(reading) && clause !== "__proto__",
  );
  return Object.fromEntries(
    [...Map.groupBy(followed, ({ clause }) => clause)].map(([clause, members]) => [
      shown(clause),
      [...new Set(members.map(({ reading = "" }) => sanitizeLine(reading, 80)))],
    ]),
  );
}

const loadOf = ({
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
  ...(validity.invalid === null ? {} : { invalid: sanitizeLine(validity.invalid, mostText) }),
});

/** SHA-256 of bytes, or of a text's UTF-8, as lower-case hex: what `sha256sum` prints of a file. */
export const sha256Of = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** A text that comes in pieces, and the same digest of what was taken of it last, from its beginning to its end. */
export function digestingChunks(piecesOf: () => Iterable<string>): {
  readonly pieces: () => Iterable<string>;
  readonly sha256: () => string;
} {
  let hash = createHash("sha256");
  return {
    *pieces() {
      hash = createHash("sha256");
      for (const piece of piecesOf()) {
        hash.update(piece);
        yield piece;
      }
    },
    sha256: () => hash.copy().digest("hex"),
  };
}

/** Digests of files by the names they have in a report's folder: `report.json`, and `evidence.json` or the files of load under `load/`. */
export type Digests = Readonly<Record<string, string>>;

/** The report itself: what a statement does not repeat of it must not change either. */
export const reportFileName = "report.json";

/** The files that the verdict of a report rests on, by the names they have beside it. */
export const evidenceFileNames = ({ load }: Pick<Report, "load">): string[] =>
  load === undefined ? ["evidence.json"] : load.runs.map(({ evidence }) => evidence);
