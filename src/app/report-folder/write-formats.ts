import { handlePendingSignals } from "../../base/process-end.ts";
import { type FormatName, type FormatParts, formats } from "../../report/formats/registry.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { saveRun, type SavedRun } from "./saved-report.ts";
import { type OutputFiles, writeOutput } from "./write-files.ts";

export interface WriteOptions extends FormatParts {
  /** A run to save before the other formats are written. Unlike `document`, the run contains webhook secrets. */
  readonly save?: { readonly folder: string; readonly run: SavedRun };
  /** Whether this is the last version of the report. Only the last version goes to standard output. Default: `true`. */
  readonly isFinal?: boolean;
}

export interface RequestedFormats extends OutputFiles<FormatName>, Pick<FormatParts, "signing"> {}

export async function saveAndWriteFormats(
  document: ReportDocument,
  { files, signing }: RequestedFormats,
  { save, isFinal = true, ...parts }: WriteOptions = {},
): Promise<string[]> {
  const saved = save && saveRun(save.folder, save.run);
  const savedParts = save && saved ? { report: save.run.report, digests: () => saved.digests } : {};
  const allParts = { ...parts, ...savedParts, ...(signing && { signing }) };
  const problems = [saved?.problem ?? []].flat();
  for (const output of files.filter(({ file }) => file !== null || isFinal)) {
    problems.push(...writeOutput(output, () => formats[output.name].render(document, allParts)));
    await handlePendingSignals();
  }
  return problems;
}
