import { Command } from "commander";

import { errorCodeOrText } from "../../base/errors.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { readHistory } from "../../app/nightly/history-store.ts";
import { renderTrendPage } from "../../report/history/trend/page.ts";
import { replaceFile } from "../../app/report-folder/write-files.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { printDamaged } from "../nightly/present-night.ts";
import { prepareFile } from "../output-files.ts";
import { printLine } from "../print-line.ts";

interface TrendFlags {
  readonly history: string;
  readonly html: string;
}

const examples = `
Examples:
  conformance trend --history nights --html trend.html
  conformance trend --history nights --html - > public/index.html

Exit codes: 0 the page is written; 2 usage; 3 the history holds no night that can be read.`;

/** `conformance trend`: writes the trend page of a history. */
export const trendCommand = (): Command =>
  withSteps(
    new Command("trend")
      .requiredOption("--history <dir>", "folder of the history")
      .requiredOption("--html <file>", "the page; `-` prints it")
      .addHelpText("after", examples),
    {
      prepare: ({ history, html }: TrendFlags) => ({ folder: history, history: read(history), html }),
      act: ({ history }) =>
        history.nights.length === 0 ? null : renderTrendPage(history, { hasReports: () => false }),
      present: (page, { folder, history, html }) => {
        printDamaged(history.damaged);
        if (page === null) {
          printLine(line`${folder} holds no night that can be read: \`conformance nightly --history\` writes them.`);
          return exitCodes.nothingExercised;
        }
        if (html === "-") process.stdout.write(page);
        else replaceFile(prepareFile(html, "--html"), page);
        return exitCodes.fine;
      },
    },
  );

function read(folder: string): ReturnType<typeof readHistory> {
  try {
    return readHistory(folder);
  } catch (error) {
    throw new UsageError(
      line`The history cannot be read: ${folder} (${errorCodeOrText(error)}). Give its folder with --history.`,
    );
  }
}
