import type { ReportDocument } from "../../document.ts";

/** Members that choose a form: another word in them is no report, and never reaches a renderer. */
const words = new Set([
  "kind",
  "outcome",
  "level",
  "verdict",
  "format",
  "ending",
  "indexes",
  "engine",
  "shape",
  "probe",
]);

/**
 * A document in which `text` stands at the end of every text that may be a target's or a person's, and of every name of a record. Equal texts
 * stay equal, so that what names something still names it.
 */
export const poisoned = (document: ReportDocument, text: string): ReportDocument => ({
  report: withText(document.report, text),
  evidence: withText(document.evidence, text),
  load: new Map([...document.load].map(([name, evidence]) => [`${name}${text}`, withText(evidence, text)])),
});

const withText = <T>(value: T, text: string): T => replaced(value, "", text) as T;

function replaced(value: unknown, member: string, text: string): unknown {
  if (typeof value === "string") return words.has(member) ? value : value + text;
  if (Array.isArray(value)) return value.map((each) => replaced(each, member, text));
  if (typeof value !== "object" || value === null) return value;
  const isRecord = member === "tiers";
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [isRecord ? name + text : name, replaced(each, name, text)]),
  );
}
