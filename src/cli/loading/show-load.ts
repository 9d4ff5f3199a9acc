import type { ReportDocument } from "../../report/report.ts";
import { renderLoadTerminal } from "../../report/load-terminal.ts";
import { baselineText } from "../reporting/baseline-text.ts";
import type { FormatRules } from "../../report/formats/rules.ts";
import { terminalOf } from "../terminal-of.ts";
import { type AgainParts, againLines } from "./again.ts";

/** How a load report is shown. */
export interface LoadShowing {
  readonly stream: NodeJS.WriteStream;
  readonly rules: FormatRules;
  readonly isQuiet: boolean;
  /** Where the report stands; `null` where it was written nowhere. */
  readonly folder: string | null;
  readonly again: AgainParts;
}

/** Shows a person a load report, and what of it a baseline excuses. */
export function showLoad({ report }: ReportDocument, { stream, rules, isQuiet, folder, again }: LoadShowing): void {
  const { look, write } = terminalOf(stream);
  write(
    renderLoadTerminal(report, {
      ...look,
      quiet: isQuiet,
      folder,
      againLines: (load) => againLines(load, again),
    }),
  );
  write(baselineText(report.findings, rules.baseline));
}
