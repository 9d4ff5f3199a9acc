import { createHash } from "node:crypto";

import { truncate } from "../../base/sanitize.ts";
import type { ReportFinding } from "../model/report.ts";

export const findingAnchor = ({ check, instance }: Pick<ReportFinding, "check" | "instance">): string =>
  instance === undefined
    ? `finding-${encodeFragment(check)}`
    : `finding-${encodeFragment(check)}:${encodeFragment(instance)}`;

/** Returns a URL fragment for each finding, with a number if several have the same check and instance. */
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

export const runAnchor = (evidence: string): string => `run-${encodeFragment(evidence)}`;

export const clauseAnchor = (clause: string): string => `clause-${encodeFragment(clause)}`;

/** Encodes a text for a URL fragment. Different texts stay different. */
const encodeFragment = (text: string): string =>
  text.length > maxEncodedCharacters
    ? `${encodeFragment(truncate(text, 60))}~${shortHash(text)}`
    : encodeCharacters(text);

/** Maximum length of a text that a URL fragment contains in full. A longer text is cut and gets a hash. */
const maxEncodedCharacters = 160;

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

const encodeCharacters = (text: string): string =>
  Array.from(text, (character) => (/^[A-Za-z0-9./,-]$/.test(character) ? character : encodeCharacter(character))).join(
    "",
  );

const encodeCharacter = (character: string): string =>
  character === " " ? "+" : `_${(character.codePointAt(0) ?? 0).toString(16)}_`;
