import { Command } from "commander";

import { judgeConfigurations } from "../../app/configuration/judge-configurations.ts";
import { readConfiguration } from "../../app/configuration/read-configuration.ts";
import type { Report } from "../../report/model/report.ts";
import { withSteps } from "../command.ts";
import { type FormatFlags, prepareFormats, withFormatOptions } from "../report/format-flags.ts";
import { presentReport, reportExitCode } from "../report/present-report.ts";

interface ConfigFlags extends FormatFlags {
  readonly quiet?: boolean;
}

const examples = `
A file is JSON or YAML, by its ending: .json, .yaml or .yml. A FILE of - prints that format, and nothing else. Nothing is sent.

Examples:
  conformance config weather.yaml
  conformance config agents/*.json --junit junit.xml
  conformance config weather.yaml --json - | jq '.findings[] | select(.where) | .where'

Exit codes: 0 nothing that must hold is broken; 1 a must is broken; 2 wrong usage, or a file that cannot be read or parsed;
4 a format could not be written.`;

/** `conformance config FILE…`: judges agent configuration files. */
export const configCommand = (): Command =>
  withSteps(
    withFormatOptions(new Command("config").argument("<file...>", "agent configuration files, in JSON or YAML"), [
      "report",
    ])
      .option("--json <file>", "report.json")
      .option("-q, --quiet", "only what is broken, and the verdict")
      .addHelpText("after", examples),
    {
      prepare: (names: readonly string[], flags: ConfigFlags) => ({
        files: names.map(readConfiguration),
        formats: prepareFormats(flags),
        isQuiet: flags.quiet === true,
      }),
      act: ({ files }) => judgeConfigurations(files, new Date()),
      present: async (report: Report, { formats, isQuiet }) => {
        await presentReport(
          { report, evidence: null, load: new Map() },
          { isQuiet, folder: null, formats, reportsToCi: true },
        );
        return reportExitCode(report);
      },
    },
  );
