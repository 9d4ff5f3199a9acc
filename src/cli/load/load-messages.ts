import type { Command } from "commander";
import { describeNotSent, type NotSentReason, UnsendableLoadError } from "../../app/load/not-sent-reason.ts";
import { safeLine, UsageError } from "../../base/line.ts";
import { type CommandSteps, withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { formatCount } from "../../base/text.ts";
import { formatDuration } from "../../base/duration.ts";
import type { LoadPreview } from "../../app/load/plan-load.ts";
import type { Estimate } from "../../load/trials.ts";

const maxListed = 40;

export function formatLoadPreview(preview: LoadPreview): string {
  const left = preview.unsendable.map((sentence) => `Not sent: ${sentence}.\n`);
  return [trialsText(preview), ...left].join("");
}

function trialsText({ baseUrl, keys, estimates, restSeconds }: LoadPreview): string {
  const requests = estimates.reduce((sum, each) => sum + each.requests, 0);
  const seconds = estimates.reduce((sum, each) => sum + each.seconds, restSeconds);
  const isOpen = estimates.some(({ openEnded }) => openEnded.length > 0);
  const total = `${formatCount(estimates.length, "run")}, ${isOpen ? "more than " : ""}${formatCount(requests, "request")}, about ${formatDuration(seconds * 1000)}`;
  if (baseUrl === null) return `Load on the embedded server: ${total}\n`;
  const beyond = estimates.filter(({ isBeyondLimit }) => isBeyondLimit).length;
  const lines = [
    `Load on ${baseUrl} with ${formatCount(keys.length, "key")} (${keys.join(", ")}): ${total}${restSeconds > 0 ? ` (${formatDuration(restSeconds * 1000)} of it waiting for the key's minute)` : ""}`,
    ...estimates.slice(0, maxListed).map(lineOf),
    ...(beyond === 0
      ? []
      : [
          `${formatCount(beyond, "run")} ${beyond === 1 ? "asks" : "ask"} for more than a key's limits admit, on purpose.`,
        ]),
  ];
  return `${lines.join("\n")}\n`;
}

function lineOf({ trial: { scenario, tier, engine }, requests, openEnded, isBeyondLimit, seconds }: Estimate): string {
  const what = [...openEnded, formatCount(requests, "request")].join(", and ");
  const beyond = isBeyondLimit ? ", beyond the limit" : "";
  return `  ${scenario.name.padEnd(23)}${tier.padEnd(11)}${engine.padEnd(11)}${what}${beyond}, ${formatDuration(seconds * 1000)}`;
}

/** Describes why no load was sent. Some reasons name flags or commands of this program. */
export function formatNotSentReason(why: NotSentReason): string {
  const text = describeNotSent(why);
  if (why.kind === "unknown scenario")
    return why.near.length === 0 ? text : `${text} \`conformance load list\` shows all.`;
  if (why.kind === "no tier")
    return "No key has a known tier with known limits: give --tier, or `tier` and `tiers` in a target file.";
  if (why.kind === "several runs")
    return `--emit k6-operator writes one run, and ${why.runs} are chosen: name one scenario, and its --tier.`;
  if (why.kind === "unsendable agent")
    return `${why.problem}: name another agent with --agent, or in the target file. Nothing was sent.`;
  return text;
}

export function notSentExitCode({ kind }: NotSentReason): number | null {
  if (kind === "harness limit") return exitCodes.harnessFailed;
  if (kind === "interrupted") return exitCodes.interrupted;
  return kind === "nothing to load" || kind === "unsendable agent" ? exitCodes.nothingExercised : null;
}

export const withLoadSteps = <Args extends readonly unknown[], Prepared, Result>(
  command: Command,
  { prepare, act, present }: CommandSteps<Args, Prepared, Result>,
): Command =>
  withSteps(command, {
    prepare: (...args: Args) => withFlagNames(async () => prepare(...args)),
    act: (prepared: Prepared) => withFlagNames(async () => act(prepared)),
    present,
  });

async function withFlagNames<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof UnsendableLoadError ? new UsageError(safeLine(formatNotSentReason(error.reason))) : error;
  }
}
