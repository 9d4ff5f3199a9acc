import type { ReportDocument } from "../../model/report.ts";

/** Properties whose values are fixed or have a fixed format. A report with another value is rejected before it reaches a renderer. */
const fixedValueProperties = new Set([
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

/** Properties that a page shows as sentences, in which backticks mark code. */
const sentenceProperties = new Set([
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

/** Appends `text` to every sentence of a report, a night or a comparison. */
export const withSentences = <T>(value: T, text: string): T =>
  replaceTexts(value, "", text, (member) => sentenceProperties.has(member)) as T;

/** Appends `text` to every text of a document that may come from outside. Equal texts stay equal, so that references still match. */
export const withHostileText = (document: ReportDocument, text: string): ReportDocument => ({
  report: withFreeText(document.report, text),
  evidence: withFreeText(document.evidence, text),
  load: new Map([...document.load].map(([name, evidence]) => [`${name}${text}`, withFreeText(evidence, text)])),
});

const withFreeText = <T>(value: T, text: string): T =>
  replaceTexts(value, "", text, (member) => !fixedValueProperties.has(member)) as T;

function replaceTexts(value: unknown, member: string, text: string, isText: (member: string) => boolean): unknown {
  if (typeof value === "string") return isText(member) ? value + text : value;
  if (Array.isArray(value)) return value.map((each) => replaceTexts(each, member, text, isText));
  if (typeof value !== "object" || value === null) return value;
  const isRecord = member === "tiers" && isText(member);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      isRecord ? name + text : name,
      replaceTexts(each, name, text, isText),
    ]),
  );
}
