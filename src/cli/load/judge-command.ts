import { Command } from "commander";

import { invalidText } from "../../app/load/invalid-text.ts";
import { judgeSavedLoad } from "../../app/load/judge-saved-load.ts";
import { readDuration } from "../option-parsers.ts";
import { exitCodes } from "../exit-codes.ts";
import {
  type FormatFlags,
  readRules,
  type RuleFlags,
  withFormatOptions,
  withRuleOptions,
} from "../report/format-flags.ts";
import { prepareFormats, writeFormats } from "../report/write-formats.ts";
import { unknownTarget } from "./reproduction.ts";
import { loadExitCode } from "./exit-code.ts";
import { showLoad } from "./show-load.ts";

interface JudgeFlags extends Omit<FormatFlags, "json">, RuleFlags {
  /** Print the report as JSON, and nothing else. */
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly clocksApart: string;
}

const examples = `
Examples:
  conformance load judge reports/2026-01-31T02-00-00-000Z-acme-load
  conformance load judge pod-1.log pod-2.log --html load.html`;

/** `conformance load judge EVIDENCE`: a verdict on load that was sent before. */
export function judgeCommand(): Command {
  const command = new Command("judge")
    .argument("<evidence...>", "files of load evidence, logs of k6 pods, or the folder of a load report")
    .description("Judge kept load evidence again. What is of one scenario, tier and engine is merged as segments.")
    .option("--json", "print the report")
    .option("--clocks-apart <t>", "how far the clocks of the machines that sent segments may be apart", "250ms")
    .option("-q, --quiet", "only what is broken, and the verdict")
    .addHelpText("after", examples);
  return withFormatOptions(withRuleOptions(command), ["report"]).action((paths: string[], flags: JudgeFlags) => {
    process.exitCode = judge(paths, flags);
  });
}

function judge(paths: readonly string[], { json, quiet, clocksApart, ...flags }: JudgeFlags): number {
  const rules = readRules(flags);
  const formats = prepareFormats(json === true ? { ...flags, json: "-" } : flags);
  const document = judgeSavedLoad(paths, readDuration(clocksApart, "--clocks-apart"));
  const problems = writeFormats(document, formats, { rules });
  const showing = { stream: process.stdout, rules, isQuiet: quiet === true, folder: null, again: unknownTarget };
  if (!formats.isStdoutTaken) showLoad(document, showing);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  const code = loadExitCode(document.report, rules);
  if (code === exitCodes.nothingExercised)
    process.stderr.write(`${invalidText(document.report) ?? "Nothing was exercised."}\n`);
  return code;
}
