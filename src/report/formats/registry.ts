import type { ReportDocument, Report } from "../model/report.ts";
import { renderHtml } from "../html/render.ts";
import { serializeReport } from "../model/report-file.ts";
import {
  type Digests,
  evidenceFileNames,
  reportFileName,
  sha256Of,
  statementOf,
  serializeStatement,
} from "../statement/statement.ts";
import { badgeEndpoint, renderBadge } from "./badge.ts";
import { renderCtrf } from "./ctrf.ts";
import { harPieces } from "./har.ts";
import { renderJunit } from "./junit.ts";
import { renderMarkdown } from "./markdown.ts";
import { type FailurePolicy, defaultPolicy } from "../model/failure-policy.ts";

/** What the formats are made of, besides the document. */
export interface FormatParts {
  readonly rules?: FailurePolicy;
  /** The report as it is kept: what `json` is a copy of. By default that of the document. */
  readonly report?: Report;
  /** Digests of the evidence, and of a report that was kept, for a statement. */
  readonly digests?: () => Digests;
}

/** What a format is made of, and so when it can be written: of any report; of a run with its evidence; of any report with its evidence. */
export type FormatInput = "report" | "exchanges" | "files";

export interface Format {
  /** What it is, in a few words: the help of its flag. */
  readonly says: string;
  /** What the name of its file ends with, after the dot. */
  readonly extension: string;
  readonly contentType: string;
  readonly source: FormatInput;
  /** Its text, or what gives it piece by piece, where it may be longer than all else that a run holds. */
  readonly render: (document: ReportDocument, parts: FormatParts) => string | Generator<string>;
}

/** GitHub takes 65,536 characters of a comment, and a wrapper may add some of its own. */
const mostCommentBytes = 65_000;

const json = { extension: "json", contentType: "application/json" } as const;

/** Every format that a report can be written in, in the order in which they are written. */
export const formats = {
  json: {
    ...json,
    says: "report.json",
    source: "report",
    render: ({ report }, parts) => serializeReport(parts.report ?? report),
  },
  html: {
    says: "one page for people, that stands alone",
    extension: "html",
    contentType: "text/html; charset=utf-8",
    source: "report",
    render: (document) => renderHtml(document),
  },
  junit: {
    says: "JUnit XML, as CI systems read it",
    extension: "xml",
    contentType: "application/xml",
    source: "report",
    render: (document, { rules = defaultPolicy }) => renderJunit(document, rules),
  },
  ctrf: {
    ...json,
    says: "Common Test Report Format (JSON)",
    source: "report",
    render: (document, { rules = defaultPolicy }) => renderCtrf(document, rules),
  },
  markdown: {
    says: "a summary in Markdown",
    extension: "md",
    contentType: "text/markdown; charset=utf-8",
    source: "report",
    render: (document, { rules = defaultPolicy }) => renderMarkdown(document, rules, mostCommentBytes),
  },
  badge: {
    says: "a badge of the verdict (SVG)",
    extension: "svg",
    contentType: "image/svg+xml",
    source: "report",
    render: renderBadge,
  },
  badgeEndpoint: { ...json, says: "the same as JSON for shields.io", source: "report", render: badgeEndpoint },
  har: {
    ...json,
    says: "the exchanges as an HTTP Archive, redacted",
    extension: "har",
    source: "exchanges",
    render: ({ report, evidence }) => {
      if (evidence === null) throw new Error(lacks.exchanges);
      return harPieces({ report, evidence });
    },
  },
  statement: {
    ...json,
    says: "a short statement of conformance (JSON), that `conformance verify` checks",
    source: "files",
    render: (document, { digests, report = document.report }) => {
      const known = digests?.() ?? {};
      if (Object.keys(known).length === 0 && evidenceFileNames(report).length > 0) throw new Error(lacks.files);
      // A report that was written just now has these bytes; of one that was kept they are among the digests.
      return serializeStatement(
        statementOf(document, { [reportFileName]: sha256Of(serializeReport(report)), ...known }),
      );
    },
  },
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof formats;
export const formatNames = Object.keys(formats) as FormatName[];

const lacks = {
  exchanges:
    "an archive is made of exchanges: there are none of load, and of a run they are in evidence.json, beside the report",
  files: "a statement names the digest of the evidence, which does not stand beside the report",
} as const satisfies Partial<Record<FormatInput, string>>;

/** Why a format cannot be made of a kept report; `null` where it can. */
export function unavailableReason(
  name: FormatName,
  { evidence, load }: Pick<ReportDocument, "evidence" | "load">,
): string | null {
  switch (formats[name].source) {
    case "report":
      return null;
    case "exchanges":
      return evidence === null ? lacks.exchanges : null;
    case "files":
      return evidence === null && load.size === 0 ? lacks.files : null;
  }
}
