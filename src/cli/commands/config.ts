import { Command } from "commander";

import {
  judgeConfigurations,
  observeHostedAgents,
  readAgentConfigurationFile,
} from "../../app/configuration/judge-configurations.ts";
import { safeLine, type Line } from "../../base/line.ts";
import type { Report } from "../../report/model/report.ts";
import { withSteps } from "../command.ts";
import { printLines } from "../print-line.ts";
import { readTarget } from "../target-flags.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { type FormatFlags, formatOptions, prepareFormats } from "../report/report-flags.ts";
import { presentReport, reportExitCode } from "../report/present-report.ts";

const configOptions = {
  "--json <file>": "report.json",
  "--target <file>":
    "target file: also show what its list, health and one invoke say of the same agents, without judging it",
  "-q, --quiet": "only what is broken, and the verdict",
} as const;

type ConfigFlags = FlagsOf<typeof configOptions> & FormatFlags;

const examples = `
A file is JSON or YAML, by its ending: .json, .yaml or .yml. A FILE of - prints that format, and nothing else. Nothing is sent without --target.

Examples:
  conformance config weather.yaml
  conformance config agents/*.json --junit junit.xml
  conformance config weather.yaml --target target.json
  conformance config weather.yaml --json - | jq '.findings[] | select(.where) | .where'

Exit codes: 0 nothing that must hold is broken; 1 a must is broken; 2 wrong usage, or a file that cannot be read or parsed;
4 a format could not be written.`;

const observedIn = ({ findings }: Report): Line[] =>
  findings.flatMap(({ check, suite, reason = "" }) =>
    check.includes("/hosted") ? [safeLine(`observed  ${suite}  ${reason}`)] : [],
  );

/** `conformance config FILE…`: judges agent configuration files. */
export const configCommand = (): Command =>
  withSteps(
    withOptions(
      new Command("config").argument("<file...>", "agent configuration files, in JSON or YAML"),
      formatOptions(["report"]),
      configOptions,
    ).addHelpText("after", examples),
    {
      prepare: (names: readonly string[], flags: ConfigFlags) => ({
        files: names.map(readAgentConfigurationFile),
        formats: prepareFormats(flags),
        isQuiet: flags.quiet === true,
        target: flags.target === undefined ? null : readTarget({ target: flags.target }),
      }),
      act: async ({ files, target }) => {
        const started = new Date();
        const hosted =
          target === null ? undefined : await observeHostedAgents(files, target, new AbortController().signal);
        return judgeConfigurations(files, started, hosted);
      },
      present: async (report: Report, { formats, isQuiet }) => {
        await presentReport(
          { report, evidence: null, load: new Map() },
          { isQuiet, folder: null, formats, reportsToCi: true },
        );
        if (!isQuiet) printLines(observedIn(report));
        return reportExitCode(report);
      },
    },
  );
