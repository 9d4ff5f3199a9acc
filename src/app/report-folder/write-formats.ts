import { letSignalsIn } from "../../base/let-signals-in.ts";
import { type FormatName, type FormatParts, formats } from "../../report/formats/registry.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { saveRun, type SavedRun } from "./saved-run.ts";
import { type OutputFiles, writeOutput } from "./write-output.ts";

/** How to write a report in the requested formats. */
export interface WriteOptions extends FormatParts {
  /** A run to save first, with the secrets of its webhooks, and its folder. */
  readonly save?: { readonly folder: string; readonly run: SavedRun };
  /** Whether this is the last report of the run. Before the last, no format prints to standard output. Default: `true`. */
  readonly isFinal?: boolean;
}

/** Saves a run, then writes its report in every requested format. Returns a line for each file that failed; the others are still written. */
export async function saveAndWriteFormats(
  document: ReportDocument,
  { files }: OutputFiles<FormatName>,
  { save, isFinal = true, ...parts }: WriteOptions = {},
): Promise<string[]> {
  const saved = save === undefined ? null : saveRun(save.folder, save.run);
  const savedParts =
    saved === null || save === undefined ? {} : { report: save.run.report, digests: () => saved.digests };
  const problems = [saved?.problem ?? []].flat();
  for (const output of files.filter(({ file }) => file !== null || isFinal)) {
    problems.push(...writeOutput(output, () => formats[output.name].render(document, { ...parts, ...savedParts })));
    await letSignalsIn();
  }
  return problems;
}
