import type { Command } from "commander";

import { collect } from "./collect.ts";
import { defaultBounds } from "../run/plan/bounds.ts";
import { selectChecks, type RunScope } from "../run/plan/selection.ts";
import { suites } from "../suites/all.ts";
import { cliMessages } from "./messages.ts";
import { readCount, readDuration } from "./option-parsers.ts";

/** What every command takes that plans a run. */
export interface ScopeFlags {
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly maxRequests?: string;
  readonly maxExecutions?: string;
  readonly maxWindow?: string;
  readonly maxWait: string;
  readonly maxTime?: string;
  readonly readOnly?: boolean;
}

/** Flags that say which part of the suites runs, and within which bounds. */
export function withScopeOptions(command: Command): Command {
  return command
    .option("--only <pattern>", "only these clauses, checks or suites; globs allowed (repeatable)", collect, [])
    .option("--skip <pattern>", "all but these (repeatable)", collect, [])
    .option("--max-requests <n>", "send no more than this (default: 1000 where the target is not on loopback)")
    .option("--max-executions <n>", "let agents run no more often than this: each invoke and stream may cost money")
    .option("--max-window <n>", "use up no window of more requests than this (default: 5000)")
    .option(
      "--max-wait <duration>",
      "wait no longer than this, all in all, for rate-limit windows to pass; those of several keys pass side by side",
      "2m",
    )
    .option("--max-time <duration>", "end after this, with a report (default: three minutes more than --max-wait)")
    .option("--read-only", "send nothing but GET; what needs more is skipped");
}

/** @throws {UsageProblem} */
export const readScope = (flags: ScopeFlags): RunScope => ({
  ...defaultBounds,
  suites: selectChecks(suites, flags, { only: "--only", skip: "--skip" }),
  messages: cliMessages,
  maxWaitMs: readDuration(flags.maxWait, "--max-wait"),
  ...(flags.maxTime !== undefined && { maxTimeMs: readDuration(flags.maxTime, "--max-time") }),
  ...(flags.maxRequests !== undefined && { maxRequests: readCount(flags.maxRequests, "--max-requests") }),
  ...(flags.maxExecutions !== undefined && { maxExecutions: readCount(flags.maxExecutions, "--max-executions") }),
  ...(flags.maxWindow !== undefined && { maxWindow: readCount(flags.maxWindow, "--max-window") }),
  ...(flags.readOnly !== undefined && { isReadOnly: flags.readOnly }),
});
