import type { FindingTrial } from "../../report/model/load-results.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { renderTerminal } from "../../report/terminal/render.ts";
import { reproductionCommands } from "../load/reproduction.ts";
import { terminalOf } from "../terminal.ts";

/** Shows a saved report, of a run or of load, as the command did that wrote it. */
export function showReport({ report, evidence }: ReportDocument, folder: string, isQuiet: boolean): void {
  const { look, write } = terminalOf(process.stdout);
  const parts = { target: null, targetFile: null, patchFlags: "" };
  const loadCommands = (load: FindingTrial): string[] => reproductionCommands(load, parts);
  write(renderTerminal(report, evidence, { ...look, quiet: isQuiet, folder, loadCommands }));
}
