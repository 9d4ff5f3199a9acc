import type { ReportDocument } from "../../report/model/report.ts";
import { renderTerminal } from "../../report/terminal/render.ts";
import { baselineText } from "../report/baseline-text.ts";
import type { FailurePolicy } from "../../report/model/failure-policy.ts";
import { terminalOf } from "../terminal.ts";
import { type ReproductionOptions, reproductionCommands } from "./reproduction.ts";

/** How a load report is shown. */
export interface LoadShowing {
  readonly stream: NodeJS.WriteStream;
  readonly rules: FailurePolicy;
  readonly isQuiet: boolean;
  /** Where the report stands; `null` where it was written nowhere. */
  readonly folder: string | null;
  readonly again: ReproductionOptions;
}

/** Shows a person a load report, and what of it a baseline excuses. */
export function showLoad({ report }: ReportDocument, { stream, rules, isQuiet, folder, again }: LoadShowing): void {
  const { look, write } = terminalOf(stream);
  write(
    renderTerminal(report, null, {
      ...look,
      quiet: isQuiet,
      folder,
      loadCommands: (load) => reproductionCommands(load, again),
    }),
  );
  write(baselineText(report.findings, rules.baseline));
}
