import type { Command } from "commander";

import { describeNotSent, type NotSentReason, UnsendableLoadError } from "../../app/load/not-sent-reason.ts";
import { UsageError } from "../../base/usage-error.ts";
import { type CommandSteps, withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { fromOutside } from "../../base/line.ts";

/** Says why no load was sent, and which flags would change that. */
export function formatNotSentReason(why: NotSentReason): string {
  switch (why.kind) {
    case "unknown scenario":
      return why.near.length === 0
        ? describeNotSent(why)
        : `${describeNotSent(why)} \`conformance load list\` shows all.`;
    case "no tier":
      return "No key has a known tier with known limits: give --tier, or `tier` and `tiers` in a target file.";
    case "several runs":
      return `--emit k6-operator writes one run, and ${why.runs} are chosen: name one scenario, and its --tier.`;
    case "unsendable agent":
      return `${why.problem}: name another agent with --agent, or in the target file. Nothing was sent.`;
    case "no engine":
    case "no keys":
    case "no key of the tier":
    case "nothing to send":
    case "lacks what it needs":
    case "nothing to load":
    case "harness limit":
    case "read only":
    case "interrupted":
    case "not agreed":
      return describeNotSent(why);
  }
}

/** Returns the exit code if no load was sent. `null` if the parameters were wrong (a usage error) or the user declined. */
export function notSentExitCode({ kind }: NotSentReason): number | null {
  if (kind === "harness limit") return exitCodes.harnessFailed;
  if (kind === "interrupted") return exitCodes.interrupted;
  return kind === "nothing to load" || kind === "unsendable agent" ? exitCodes.nothingExercised : null;
}

/** Like {@link withSteps}, for commands that send load. Turns an error in the load parameters into a usage error that names the flag. */
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
    throw error instanceof UnsendableLoadError ? new UsageError(fromOutside(formatNotSentReason(error.reason))) : error;
  }
}
