import type { ReportDocument, Report } from "../model/report.ts";
import { renderHtml } from "../html/render-html.ts";
import { serializeReport } from "../model/report-file.ts";
import {
  type Digests,
  evidenceFileNames,
  reportFileName,
  sha256Of,
  statementOf,
  serializeStatement,
} from "../statement/statement.ts";
import { renderStatementPage } from "../statement/page.ts";
import type { Statement } from "../statement/statement-schema.ts";
import { pageSignatureOf, serializeSigned, type StatementSigning } from "../statement/attestation.ts";
import { badgeEndpoint, renderBadge } from "./badge.ts";
import { renderCtrf } from "./ctrf.ts";
import { harChunks } from "./har.ts";
import { renderJunit } from "./junit.ts";
import { renderMarkdown } from "./markdown.ts";
import { type FailurePolicy, defaultPolicy } from "../model/failure-policy.ts";

/** Inputs that only some formats need, in addition to the {@link ReportDocument}. */
export interface FormatParts {
  readonly rules?: FailurePolicy;
  /** The saved report: `json` writes it, a statement has its hash. Default: `report` of the {@link ReportDocument}. */
  readonly report?: Report;
  /** Returns digests for a statement: of the evidence files and, if the report was read from a file, of that file. */
  readonly digests?: () => Digests;
  /** Key, subjects and validity for signing a statement. Default: the statement is not signed. */
  readonly signing?: StatementSigning;
}

/** An input that a format needs. `files` are the saved evidence files. */
export type RequiredInput = "report" | "exchanges" | "files";

export interface ReportFormat {
  readonly says: string;
  readonly extension: string;
  readonly contentType: string;
  readonly source: RequiredInput;
  readonly render: (document: ReportDocument, parts: FormatParts) => string | Generator<string>;
}

/** Maximum size of a Markdown summary. A comment on GitHub holds 65,536 characters. */
const maxCommentBytes = 65_000;

const jsonFile = { extension: "json", contentType: "application/json" } as const;

export const formats = {
  json: {
    ...jsonFile,
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
    ...jsonFile,
    says: "Common Test Report Format (JSON)",
    source: "report",
    render: (document, { rules = defaultPolicy }) => renderCtrf(document, rules),
  },
  markdown: {
    says: "a summary in Markdown",
    extension: "md",
    contentType: "text/markdown; charset=utf-8",
    source: "report",
    render: (document, { rules = defaultPolicy }) => renderMarkdown(document, rules, maxCommentBytes),
  },
  badge: {
    says: "a badge of the verdict (SVG)",
    extension: "svg",
    contentType: "image/svg+xml",
    source: "report",
    render: renderBadge,
  },
  badgeEndpoint: { ...jsonFile, says: "the same as JSON for shields.io", source: "report", render: badgeEndpoint },
  har: {
    ...jsonFile,
    says: "the exchanges as an HTTP Archive, redacted",
    extension: "har",
    source: "exchanges",
    render: ({ report, evidence }) => {
      if (evidence === null) throw new Error(missingInputTexts.exchanges);
      return harChunks({ report, evidence });
    },
  },
  statement: {
    ...jsonFile,
    says: "a short statement of conformance (JSON), that `conformance verify` checks",
    source: "files",
    render: (document, parts) => {
      const statement = statementWith(document, parts);
      return parts.signing === undefined ? serializeStatement(statement) : serializeSigned(statement, parts.signing);
    },
  },
  statementHtml: {
    says: "the statement as one page for people",
    extension: "html",
    contentType: "text/html; charset=utf-8",
    source: "files",
    render: (document, parts) => {
      const statement = statementWith(document, parts);
      return renderStatementPage(
        statement,
        parts.signing === undefined ? null : pageSignatureOf(statement, parts.signing),
      );
    },
  },
} as const satisfies Readonly<Record<string, ReportFormat>>;

function statementWith(document: ReportDocument, { digests, report = document.report }: FormatParts): Statement {
  const known = digests?.() ?? {};
  if (Object.keys(known).length === 0 && evidenceFileNames(report).length > 0) throw new Error(missingInputTexts.files);
  // If `known` has a digest of the saved report, that digest replaces the computed one.
  return statementOf(document, { [reportFileName]: sha256Of(serializeReport(report)), ...known });
}

export type FormatName = keyof typeof formats;
export const formatNames = Object.keys(formats) as FormatName[];

const missingInputTexts = {
  exchanges:
    "an archive is made of exchanges: there are none of load, and of a run they are in evidence.json, beside the report",
  files: "a statement names the digest of the evidence, which does not stand beside the report",
} as const satisfies Partial<Record<RequiredInput, string>>;

export function unavailableReason(
  name: FormatName,
  { evidence, load }: Pick<ReportDocument, "evidence" | "load">,
): string | null {
  switch (formats[name].source) {
    case "report":
      return null;
    case "exchanges":
      return evidence === null ? missingInputTexts.exchanges : null;
    case "files":
      return evidence === null && load.size === 0 ? missingInputTexts.files : null;
  }
}
