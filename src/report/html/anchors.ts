import { createHash } from "node:crypto";

import { truncate } from "../../base/sanitize.ts";
import type { ReportFinding } from "../model/report.ts";

/** The URL fragment of a finding: the same in every report, so that a link to it also works in a newer report. */
export const findingAnchor = ({ check, instance }: Pick<ReportFinding, "check" | "instance">): string =>
  instance === undefined ? `finding-${slug(check)}` : `finding-${slug(check)}:${slug(instance)}`;

/** A URL fragment for each finding. If several findings share a check and an instance, the later ones get a number. */
export function anchorsOf(findings: readonly ReportFinding[]): ReadonlyMap<ReportFinding, string> {
  const used = new Map<string, number>();
  return new Map(
    findings.map((finding) => {
      const anchor = findingAnchor(finding);
      const count = (used.get(anchor) ?? 0) + 1;
      used.set(anchor, count);
      return [finding, count === 1 ? anchor : `${anchor}~${count}`];
    }),
  );
}

/** The URL fragment of a load run, made from the name of its evidence file. */
export const runAnchor = (evidence: string): string => `run-${slug(evidence)}`;

export const clauseAnchor = (clause: string): string => `clause-${slug(clause)}`;

/** Encodes a text for a fragment: blanks as `+`, other special characters as codes, so that different texts stay different. */
const slug = (text: string): string =>
  text.length > maxCharacters ? `${slug(truncate(text, 60))}~${hashOf(text)}` : coded(text);

/** Longest name to encode in full. Only a report that the harness did not write has longer names. */
const maxCharacters = 160;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

const coded = (text: string): string =>
  Array.from(text, (character) => (/^[A-Za-z0-9./,-]$/.test(character) ? character : codeOf(character))).join("");

const codeOf = (character: string): string =>
  character === " " ? "+" : `_${(character.codePointAt(0) ?? 0).toString(16)}_`;
