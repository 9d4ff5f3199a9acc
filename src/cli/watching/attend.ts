import { watchOn, type WatchedOn, type WatchingOn } from "../../app/watch/watch-on.ts";
import { onInterruption } from "../interruption.ts";
import { cliWording } from "../wording.ts";
import { outlookText, startOutlookLine } from "./outlook-line.ts";

/** Watches at a person's terminal, until the retry schedule is over or the person stops it. */
export async function attend(
  watching: Omit<WatchingOn, "signal" | "onOutlook" | "wording">,
  { isQuiet }: { readonly isQuiet: boolean },
): Promise<WatchedOn> {
  const { epochMs } = watching.state;
  const interruption = onInterruption();
  const line = startOutlookLine(process.stderr, epochMs, isQuiet);
  try {
    const { signal } = interruption;
    const watched = await watchOn({ ...watching, wording: cliWording, signal, onOutlook: line.show });
    line.done();
    if (watched.kind === "over" && !isQuiet) process.stderr.write(`${outlookText(watched.outlook, epochMs)}\n\n`);
    return watched;
  } finally {
    interruption.release();
  }
}

/** What to type after a watch was stopped. */
export const goOnText = (folder: string): string =>
  `Stopped. What came is kept; to go on before too much is missed: conformance watch ${folder}\n`;
