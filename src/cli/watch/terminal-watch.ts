import { watchAndRejudge, type WatchResult, type WatchAndRejudgeOptions } from "../../app/watch/watch.ts";
import { formatCount } from "../../base/text.ts";
import type { RemainingRetries } from "../../suites/deliveries/retry-evidence.ts";
import { untilInterrupted } from "../interruption.ts";
import { reportUnwrittenOutput } from "../print-line.ts";
import { cliMessages } from "../messages.ts";
import { eraseLine, type ProgressStream } from "../progress.ts";
import { line, type Line } from "../../base/line.ts";

export const watchInTerminal = (
  options: Omit<WatchAndRejudgeOptions, "signal" | "onOutlook" | "onLoss" | "messages">,
  { isQuiet }: { readonly isQuiet: boolean },
): Promise<WatchResult> =>
  untilInterrupted(async ({ signal }) => {
    const { epochMs } = options.state;
    const progress = startProgressLine(process.stderr, epochMs, isQuiet);
    const result = await watchAndRejudge({
      ...options,
      messages: cliMessages,
      signal,
      onOutlook: progress.show,
      onLoss: reportUnwrittenOutput,
    });
    progress.done();
    if (result.kind === "over" && !isQuiet) process.stderr.write(`${formatRetryProgress(result.outlook, epochMs)}\n\n`);
    return result;
  });

export const formatResumeHint = (folder: string): Line =>
  line`Stopped. Received deliveries are saved; resume before too many are missed: conformance watch ${folder}`;

interface ProgressLine {
  readonly show: (outlook: RemainingRetries) => void;
  readonly done: () => void;
}

export function startProgressLine(stream: ProgressStream, epochMs: number, isQuiet: boolean): ProgressLine {
  if (isQuiet) return { show() {}, done() {} };
  const isLive = stream.isTTY === true;
  let last = "";
  return {
    show: (outlook) => {
      const text = formatRetryProgress(outlook, epochMs);
      if (text === last) return;
      last = text;
      stream.write(isLive ? `${eraseLine}${text.slice(0, Math.max(10, (stream.columns ?? 80) - 1))}` : `${text}\n`);
    },
    done: () => {
      if (isLive) stream.write(eraseLine);
    },
  };
}

/**
 * Formats the progress of a webhook's retries, such as `watching: attempt 2 came at 10:04:12, the next is due about
 * 10:09:12`.
 */
export function formatRetryProgress(outlook: RemainingRetries, epochMs: number): string {
  const at = (ms: number): string => new Date(epochMs + ms).toTimeString().slice(0, 8);
  switch (outlook.kind) {
    case "nothing":
      return `nothing to watch: ${outlook.reason}`;
    case "over":
      return `watched: ${formatCount(outlook.attempts, "attempt")} came, and no more are due`;
    case "quiet":
      return `watching: attempt ${outlook.attempts} came at ${at(outlook.lastMs)}, and none must follow (until ${at(outlook.untilMs)})`;
    case "awaited": {
      const { attempts, lastMs, nextMs, latestMs } = outlook;
      return `watching: attempt ${attempts} came at ${at(lastMs)}, the next is due about ${at(nextMs)} (the last by ${at(latestMs)})`;
    }
  }
}
