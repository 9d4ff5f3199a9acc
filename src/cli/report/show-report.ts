import type { ReportDocument } from "../../report/model/report.ts";
import { shellVariableOfKey } from "../../report/reproduce/key-variable.ts";
import { renderLoadTerminal } from "../../report/terminal/load.ts";
import { renderTerminal } from "../../report/terminal/run.ts";
import { reproductionCommands } from "../load/reproduction.ts";
import { terminalOf } from "../terminal.ts";

/** Shows a person a kept report, of a run or of load, as the command did that wrote it. */
export function showReport({ report, evidence }: ReportDocument, folder: string, isQuiet: boolean): void {
  const { look, write } = terminalOf(process.stdout);
  if (report.load === undefined) {
    const known = evidence ?? { exchanges: [], deliveries: [] };
    write(renderTerminal(report, known, { ...look, quiet: isQuiet, folder, variableOf: shellVariableOfKey }));
    return;
  }
  const parts = { target: null, targetFile: null, patchFlags: "" };
  write(
    renderLoadTerminal(report, {
      ...look,
      quiet: isQuiet,
      folder,
      reproductionCommands: (row) => reproductionCommands(row, parts),
    }),
  );
}
