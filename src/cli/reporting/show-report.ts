import type { ReportDocument } from "../../report/report.ts";
import { keyVariable } from "../../report/key-variable.ts";
import { renderLoadTerminal } from "../../report/load-terminal.ts";
import { renderTerminal } from "../../report/terminal.ts";
import { againLines } from "../loading/again.ts";
import { terminalOf } from "../terminal-of.ts";

/** Shows a person a kept report, of a run or of load, as the command did that wrote it. */
export function showReport({ report, evidence }: ReportDocument, folder: string, isQuiet: boolean): void {
  const { look, write } = terminalOf(process.stdout);
  if (report.load === undefined) {
    const known = evidence ?? { exchanges: [], deliveries: [] };
    write(renderTerminal(report, known, { ...look, quiet: isQuiet, folder, variableOf: keyVariable }));
    return;
  }
  const parts = { target: null, targetFile: null, patchFlags: "" };
  write(
    renderLoadTerminal(report, {
      ...look,
      quiet: isQuiet,
      folder,
      againLines: (row) => againLines(row, parts),
    }),
  );
}
