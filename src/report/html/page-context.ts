import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import type { Report, ReportDocument, ReportFinding } from "../model/report.ts";
import { type EvidenceContext, evidenceContextOf } from "../reproduce/finding-evidence.ts";
import { anchorsOf } from "./anchors.ts";

/** Data that all sections of a page share. */
export interface PageContext extends EvidenceContext {
  readonly report: Report;
  /** Load evidence, by the name of its file. */
  readonly load: ReadonlyMap<string, LoadEvidence>;
  readonly anchors: ReadonlyMap<ReportFinding, string>;
  /** Reserves room for an exchange of this many characters. Returns `false` if the page has no room left. */
  readonly tryReserve: (characters: number) => boolean;
}

/** Maximum number of characters of exchanges on a page, so that it opens fast. Further exchanges are listed by id. */
const maxExchangeCharacters = 1_000_000;

export function pageContextOf(document: ReportDocument): PageContext {
  const { report, load } = document;
  let left = maxExchangeCharacters;
  return {
    ...evidenceContextOf(document),
    report,
    load,
    anchors: anchorsOf(report.findings),
    tryReserve: (characters) => {
      if (characters > left) return false;
      left -= characters;
      return true;
    },
  };
}
