import type { ReportDocument } from "../../report/document.ts";
import { badgeEndpoint, renderBadge } from "../../report/formats/badge.ts";
import { renderCtrf } from "../../report/formats/ctrf.ts";
import { renderHar } from "../../report/formats/har.ts";
import { renderJunit } from "../../report/formats/junit.ts";
import { renderMarkdown } from "../../report/formats/markdown.ts";
import { type FormatRules, plainRules } from "../../report/formats/rules.ts";
import { renderHtml } from "../../report/html/render.ts";
import { reportText } from "../../report/json.ts";
import type { Report } from "../../report/report.ts";
import { type Digests, reportFile, sha256Of } from "../../report/statement/digests.ts";
import { statementOf, statementText } from "../../report/statement/statement.ts";
import { UsageProblem } from "../../target/problem.ts";
import { type OutputFiles, prepareFiles, writeOutput } from "../output-files.ts";
import { type FormatFlags, type FormatName, flagOf, formatNames } from "./format-flags.ts";

/** Which formats go where; every file has been made sure of. */
export type PreparedFormats = OutputFiles<FormatName>;

/**
 * Makes sure, before anything is sent, that every format has a file of its own that can be written.
 *
 * @throws {UsageProblem}
 */
export const prepareFormats = (flags: FormatFlags): PreparedFormats =>
  prepareFiles(
    formatNames.flatMap((name) => {
      const path = flags[name];
      return path === undefined ? [] : [{ name, flag: flagOf(name), path }];
    }),
  );

/** What the formats are made of, besides the document. */
export interface FormatParts {
  readonly rules?: FormatRules;
  /** The report as it is kept: what `--json` is a copy of. By default that of the document. */
  readonly report?: Report;
  /** Digests of the evidence, and of a report that was kept, for a statement. */
  readonly digests?: () => Digests;
  /** Whether this is the last time that the formats are written: only then is one printed. */
  readonly isLast?: boolean;
}

/** Writes every format. One that fails costs none of the others; gives a line for each of those. */
export function writeFormats(document: ReportDocument, prepared: PreparedFormats, parts: FormatParts = {}): string[] {
  const { isLast = true } = parts;
  return prepared.files
    .filter(({ file }) => file !== null || isLast)
    .flatMap((output) => writeOutput(output, () => renderers[output.name](document, parts)));
}

type Renderer = (document: ReportDocument, parts: FormatParts) => string;

/** GitHub takes 65,536 characters of a comment, and a wrapper may add some of its own. */
const mostCommentBytes = 65_000;

const renderers: Readonly<Record<FormatName, Renderer>> = {
  json: ({ report }, parts) => reportText(parts.report ?? report),
  html: (document) => renderHtml(document),
  junit: (document, { rules = plainRules }) => renderJunit(document, rules),
  ctrf: (document, { rules = plainRules }) => renderCtrf(document, rules),
  markdown: (document, { rules = plainRules }) => renderMarkdown(document, rules, mostCommentBytes),
  badge: (document) => renderBadge(document),
  badgeEndpoint: (document) => badgeEndpoint(document),
  har: ({ report, evidence }) => {
    if (evidence === null) throw new Error(lacks.har);
    return renderHar({ report, evidence });
  },
  statement: (document, { digests, report = document.report }) => {
    const known = digests?.() ?? {};
    if (Object.keys(known).length === 0) throw new Error(lacks.statement);
    // A report that was written just now has these bytes; of one that was kept they are among the digests.
    return statementText(statementOf(document, { [reportFile]: sha256Of(reportText(report)), ...known }));
  },
};

const lacks = {
  har: "an archive is made of exchanges: there are none of load, and of a run they are in evidence.json, beside the report",
  statement: "a statement names the digest of the evidence, which does not stand beside the report",
} as const;

/**
 * Makes sure, before a file is touched, that a kept report has what the formats are made of.
 *
 * @throws {UsageProblem}
 */
export function demandSources({ evidence, load }: ReportDocument, flags: FormatFlags): void {
  if (flags.har !== undefined && evidence === null) throw new UsageProblem(`--har cannot be written: ${lacks.har}.`);
  if (flags.statement !== undefined && evidence === null && load.size === 0)
    throw new UsageProblem(`--statement cannot be written: ${lacks.statement}.`);
}
