import { Command } from "commander";

import { errorCodeOrText } from "../../base/errors.ts";
import { readHistory } from "../../app/nightly/history-store.ts";
import { renderTrendPage } from "../../report/history/trend/page.ts";
import { UsageError } from "../../base/usage-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { printDamaged } from "../nightly/tell.ts";
import { replaceFile } from "../../app/report-folder/write-files.ts";
import { prepareFile } from "../output.ts";

interface TrendFlags {
  readonly history: string;
  readonly html: string;
}

const examples = `
Examples:
  conformance trend --history nights --html trend.html
  conformance trend --history nights --html - > public/index.html

Exit codes: 0 the page is written; 2 usage; 3 the history holds no night that can be read.`;

/** `conformance trend`: the page over a history. Nothing is sent. */
export function trendCommand(): Command {
  return new Command("trend")
    .requiredOption("--history <dir>", "folder of the history")
    .requiredOption("--html <file>", "the page; `-` prints it")
    .addHelpText("after", examples)
    .action((flags: TrendFlags) => {
      process.exitCode = trend(flags);
    });
}

function trend({ history: folder, html }: TrendFlags): number {
  const history = read(folder);
  printDamaged(history.damaged);
  if (history.nights.length === 0) {
    process.stderr.write(`${folder} holds no night that can be read: \`conformance nightly --history\` writes them.\n`);
    return exitCodes.nothingExercised;
  }
  const file = html === "-" ? null : prepareFile(html, "--html");
  const page = renderTrendPage(history, { hasReports: () => false });
  if (file === null) process.stdout.write(page);
  else replaceFile(file, page);
  return exitCodes.fine;
}

function read(folder: string): ReturnType<typeof readHistory> {
  try {
    return readHistory(folder);
  } catch (error) {
    const reason = errorCodeOrText(error);
    throw new UsageError(`The history cannot be read: ${folder} (${reason}). Give its folder with --history.`);
  }
}
