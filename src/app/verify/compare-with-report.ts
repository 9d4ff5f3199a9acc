import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";

import { clausesHash } from "../report/assemble-report.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import { rejudgeDifferences, statementDifferences } from "../../report/statement/differences.ts";
import {
  type Digests,
  evidenceFileNames,
  reportFileName,
  sha256Of,
  statementOf,
} from "../../report/statement/statement.ts";
import type { Statement } from "../../report/statement/statement-schema.ts";
import { partyOf, type Report } from "../../report/model/report.ts";
import { packageVersion } from "../../base/package-root.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { folderOf } from "../report-folder/saved-run.ts";
import { readReportDocument } from "../report-folder/read-report-document.ts";
import { rejudgeReport, type PossibleMessages } from "./rejudge-report.ts";

/** The result of comparing a statement with its report and evidence. */
export interface ReportComparison {
  /** A line of text for each contradiction between statement, report and evidence. */
  readonly mismatches: readonly string[];
  /** Sentences on how the evidence was judged again, and how the judgement of another version differs. */
  readonly notes: readonly string[];
}

/**
 * Compares a statement with its report: its digests must be those of the evidence, and judging the evidence again must give the same verdict.
 *
 * @param path folder of the report, or the `report.json` in it
 * @param wordings messages of the command line and of the library
 * @throws {UsageError} if one of the files cannot be read
 */
export function compareWithReport(statement: Statement, path: string, wordings: PossibleMessages): ReportComparison {
  const document = readReportDocument(path);
  const folder = folderOf(path);
  if (folder !== path && basename(path) !== reportFileName)
    throw new UsageError(
      line`${path} is not ${reportFileName}, so the files beside it are not its evidence. Give the folder that a run has written.`,
    );
  const digests = digestsIn(folder, document.report);
  const differences = statementDifferences(statement, statementOf(document, digests));
  const files = evidenceFileNames(document.report);
  const missing = files.filter((file) => digests[file] === undefined);
  if (files.length === 0 || missing.length > 0) {
    const what = files.length === 0 ? "the report names no evidence" : `${missing.join(", ")} is missing`;
    return { mismatches: [...differences, `The evidence could not be judged: ${what}`], notes: [] };
  }
  const judged = compareWithEvidence(folder, document.report, wordings);
  return { mismatches: [...differences, ...judged.mismatches], notes: judged.notes };
}

function compareWithEvidence(folder: string, kept: Report, wordings: PossibleMessages): ReportComparison {
  const { report, again, unselected, mismatches: occasion } = rejudgeReport(folder, kept, wordings);
  const { differences, leftOut } = rejudgeDifferences(report, again, unselected);
  const left =
    leftOut.length === 0
      ? []
      : [`In the evidence and not in the report, as a selection leaves it out: ${joinFirst(leftOut, 12)}.`];
  if (report.suite.version === packageVersion() && report.suite.clauses === clausesHash(partyOf(report))) {
    const how = "The evidence was judged again, by the same version of the suites.";
    return { mismatches: [...occasion, ...differences], notes: [how, ...left] };
  }
  const { mismatches, notes } = compareWithOtherVersion(report, again, differences);
  return { mismatches: [...occasion, ...mismatches], notes: [...notes, ...left] };
}

/**
 * Compares a report that another version of the harness made with this version's judgement. A different verdict is a
 * mismatch; different findings become notes.
 */
function compareWithOtherVersion(
  { suite, verdict }: Report,
  again: Report,
  differences: readonly string[],
): ReportComparison {
  const [theirs, ours] = [suite, again.suite].map(
    ({ version, clauses }) => `version ${sanitizeLine(version, 40)} (clauses ${sanitizeLine(clauses, 40)})`,
  );
  const notes =
    differences.length === 0
      ? [`Judged by ${theirs}; this is ${ours}, which finds the same in every row.`]
      : [`Judged by ${theirs}; this is ${ours}, which differs:`, ...differences.map((each) => `  ${each}`)];
  if (verdict === again.verdict) return { mismatches: [], notes };
  const advice = "verify it with the version that judged";
  return { mismatches: [`verdict: the report says ${verdict}, this version ${again.verdict}: ${advice}`], notes };
}

/**
 * Returns SHA-256 digests of a report and of its evidence files. Ignores paths outside the folder, because a forged
 * report must not make the harness read other files.
 */
function digestsIn(folder: string, report: Report): Digests {
  const files = [reportFileName, ...evidenceFileNames(report)].filter(
    (file) => !relative(resolve(folder), resolve(folder, file)).startsWith(".."),
  );
  return Object.fromEntries(
    files.flatMap((file) => {
      const path = join(folder, file);
      return existsSync(path) ? [[file, sha256Of(readFileSync(path))]] : [];
    }),
  );
}
