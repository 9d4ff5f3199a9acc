import type { ReportDocument } from "../../model/report.ts";

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

/** Members that hold sentences, as far as a page shows them as such: what stands between backticks in these is code. */
const sentences = new Set([
  "expected",
  "actual",
  "reason",
  "needs",
  "stopped",
  "invalid",
  "counts",
  "pace",
  "windows",
  "notes",
  "says",
  "problem",
]);

/** Reports, nights or comparisons in which `text` stands at the end of every sentence. */
export const withSentences = <T>(value: T, text: string): T =>
  replaced(value, "", text, (member) => sentences.has(member)) as T;

/**
 * A document in which `text` stands at the end of every text that may be a target's or a person's, and of every name of a record. Equal texts
 * stay equal, so that what names something still names it.
 */
export const poisoned = (document: ReportDocument, text: string): ReportDocument => ({
  report: withText(document.report, text),
  evidence: withText(document.evidence, text),
  load: new Map([...document.load].map(([name, evidence]) => [`${name}${text}`, withText(evidence, text)])),
});

const withText = <T>(value: T, text: string): T => replaced(value, "", text, (member) => !words.has(member)) as T;

function replaced(value: unknown, member: string, text: string, isText: (member: string) => boolean): unknown {
  if (typeof value === "string") return isText(member) ? value + text : value;
  if (Array.isArray(value)) return value.map((each) => replaced(each, member, text, isText));
  if (typeof value !== "object" || value === null) return value;
  const isRecord = member === "tiers" && isText(member);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [isRecord ? name + text : name, replaced(each, name, text, isText)]),
  );
}
