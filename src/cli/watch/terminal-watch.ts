import { watchAndRejudge, type WatchResult, type WatchAndRejudgeOptions } from "../../app/watch/watch-and-rejudge.ts";
import { onInterruption } from "../interruption.ts";
import { cliMessages } from "../messages.ts";
import { formatRetryProgress, startProgressLine } from "./progress-line.ts";

/** Watches at a person's terminal, until the retry schedule is over or the person stops it. */
export async function watchInTerminal(
  watching: Omit<WatchAndRejudgeOptions, "signal" | "onOutlook" | "messages">,
  { isQuiet }: { readonly isQuiet: boolean },
): Promise<WatchResult> {
  const { epochMs } = watching.state;
  const interruption = onInterruption();
  const line = startProgressLine(process.stderr, epochMs, isQuiet);
  try {
    const { signal } = interruption;
    const watched = await watchAndRejudge({ ...watching, messages: cliMessages, signal, onOutlook: line.show });
    line.done();
    if (watched.kind === "over" && !isQuiet)
      process.stderr.write(`${formatRetryProgress(watched.outlook, epochMs)}\n\n`);
    return watched;
  } finally {
    interruption.release();
  }
}

/** What to type after a watch was stopped. */
export const formatResumeHint = (folder: string): string =>
  `Stopped. What came is kept; to go on before too much is missed: conformance watch ${folder}\n`;
