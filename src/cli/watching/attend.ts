import type { Secret } from "../../evidence/redaction.ts";
import type { Receiver } from "../../receiver/receiver.ts";
import { onInterruption } from "../interruption.ts";
import type { KeptRun } from "../../app/folder/kept-run.ts";
import { endWatching, judgeWatched, keepWatched } from "../../app/watch/finish.ts";
import { outlookText, startOutlookLine } from "./outlook-line.ts";
import type { WatchState } from "../../app/watch/state.ts";
import { startWatch } from "../../app/watch/watch.ts";

export interface Attending {
  readonly folder: string;
  readonly state: WatchState;
  /** The run's own receiver, where it listens still. It is the caller's to close. */
  readonly live?: Receiver | null;
  readonly kept: KeptRun;
  readonly secrets: readonly Secret[];
  readonly isQuiet: boolean;
  /** Called once the receiver listens. */
  readonly onListening?: () => void;
}

/** How it ended, and what the report has become. */
export interface Attended {
  readonly kind: "over" | "interrupted";
  readonly kept: KeptRun;
}

/**
 * Watches at a person's terminal, until the retry schedule is over or the person stops it, and rewrites the report in the folder.
 * What was stopped can be taken up again.
 *
 * @throws {UsageProblem}
 */
export async function attend({
  folder,
  state,
  live,
  kept,
  secrets,
  isQuiet,
  onListening,
}: Attending): Promise<Attended> {
  const interruption = onInterruption();
  const line = startOutlookLine(process.stderr, state.epochMs, isQuiet);
  try {
    const watch = await startWatch({
      folder,
      state,
      live: live ?? null,
      seen: { deliveries: kept.evidence.deliveries, probes: kept.evidence.probes },
      secrets,
      signal: interruption.signal,
      onOutlook: line.show,
    });
    if (watch.isListening) onListening?.();
    const end = await watch.ended;
    line.done();
    const judged = end.outlook.kind === "nothing" ? kept : judgeWatched(kept, state, end.watched);
    keepWatched(folder, judged);
    if (end.kind === "interrupted") return { kind: end.kind, kept: judged };
    endWatching(folder);
    if (!isQuiet) process.stderr.write(`${outlookText(end.outlook, state.epochMs)}\n\n`);
    return { kind: end.kind, kept: judged };
  } finally {
    interruption.release();
  }
}

/** What to type after a watch was stopped. */
export const goOnText = (folder: string): string =>
  `Stopped. What came is kept; to go on before too much is missed: conformance watch ${folder}\n`;
