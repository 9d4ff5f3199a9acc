import { Command } from "commander";

import { errorCodeOrText } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { readHistory } from "../../app/nightly/history-store.ts";
import { formatCount } from "../../base/text.ts";
import type { DamagedNight } from "../../report/history/night.ts";
import { renderTrendPage } from "../../report/history/trend/page.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { displayPath, prepareFiles, writeOutputs } from "../output-files.ts";
import { printLine, printText } from "../print-line.ts";

const trendOptions = {
  "--history <dir>": { help: "folder of the history", isRequired: true },
  "--html <file>": { help: "the page; `-` prints it", isRequired: true },
} as const;

const examples = `
Examples:
  conformance trend --history nights --html trend.html
  conformance trend --history nights --html - > public/index.html

Exit codes: 0 the page is written; 2 usage; 3 the history holds no night that can be read; 4 the page could not be written.`;

/** `conformance trend`: writes an HTML page about a history of nightly runs. */
export const trendCommand = (): Command =>
  withSteps(withOptions(new Command("trend"), trendOptions).addHelpText("after", examples), {
    prepare: ({ history, html }: FlagsOf<typeof trendOptions>) => ({
      folder: history,
      history: read(history),
      outputs: prepareFiles(["html"], { html }),
    }),
    act: ({ history }) => (history.nights.length === 0 ? null : renderTrendPage(history, { hasReports: () => false })),
    present: (page, { folder, history, outputs }) => {
      printDamagedNights(history.damaged);
      if (page === null) {
        printLine(line`${folder} holds no night that can be read: \`conformance nightly --history\` writes them.`);
        return exitCodes.nothingExercised;
      }
      writeOutputs(outputs, () => page);
      return exitCodes.fine;
    },
  });

function read(folder: string): ReturnType<typeof readHistory> {
  try {
    const history = readHistory(folder);
    const contradictory = history.damaged.find(({ kind }) => kind === "contradictory");
    if (contradictory === undefined) return history;
    const { file, problem } = contradictory;
    throw new UsageError(line`The history is refused: ${file}: ${problem}. Take the file out of the history.`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      line`The history cannot be read: ${folder} (${errorCodeOrText(error)}). Give its folder with --history.`,
    );
  }
}

const maxDamaged = 20;

export function printDamagedNights(damaged: readonly DamagedNight[]): void {
  for (const { file, problem } of damaged.slice(0, maxDamaged))
    printLine(line`Left out of the history: ${displayPath(file)}: ${problem}. The file is kept.`);
  const more = damaged.length - maxDamaged;
  if (more > 0) printText(`Also left out of the history: ${formatCount(more, "more file")}.`);
}
