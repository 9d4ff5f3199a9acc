import { appendFileSync, statSync } from "node:fs";

import { errorCodeOrText } from "../../base/errors.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { annotationLines } from "../../report/formats/annotations.ts";
import { renderMarkdown } from "../../report/formats/markdown.ts";
import type { FailurePolicy } from "../../report/model/failure-policy.ts";

/** What GitHub takes of a step's summary. */
const mostSummaryBytes = 1024 * 1024;

/**
 * Tells the CI system that runs us of a report, unasked: a summary where `GITHUB_STEP_SUMMARY` names a file, and annotations where
 * `GITHUB_ACTIONS` is `true`; on standard error, which a runner reads as well, where a format takes standard output.
 */
export function reportToCi(document: ReportDocument, rules: FailurePolicy, isStdoutTaken: boolean): void {
  appendStepSummary((mostBytes) => renderMarkdown(document, rules, mostBytes));
  if (process.env["GITHUB_ACTIONS"] !== "true") return;
  const lines = annotationLines(document, rules);
  const stream = isStdoutTaken ? process.stderr : process.stdout;
  if (lines.length > 0) stream.write(`${lines.join("\n")}\n`);
}

/**
 * Appends to the summary of a step where there is one. That it cannot be written is told, and costs nothing else.
 *
 * @param render Markdown of at most so many bytes
 */
export function appendStepSummary(render: (mostBytes: number) => string): void {
  const file = process.env["GITHUB_STEP_SUMMARY"] ?? "";
  if (file === "") return;
  try {
    const room = mostSummaryBytes - bytesOf(file) - 1;
    const text = `${render(room)}\n`;
    if (Buffer.byteLength(text) <= room) appendFileSync(file, text);
    else process.stderr.write("The summary of this step is full, so nothing was added to it.\n");
  } catch (error) {
    const reason = errorCodeOrText(error);
    process.stderr.write(`The summary of this step cannot be written: ${file} (${reason}).\n`);
  }
}

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
