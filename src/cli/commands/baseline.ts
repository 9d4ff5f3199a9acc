import { Command } from "commander";

import { readReportWithoutEvidence } from "../../app/report-folder/saved-report.ts";
import { baselineOf } from "../../report/model/failure-policy.ts";
import { printResult, withSteps } from "../command.ts";

const example = `Examples:
  conformance baseline write reports/acme > conformance/baseline.json`;

const examples = `
Fill in the reasons. An entry may have "until": "2026-12-31", its last day, and "flaky": true, if the check passes at times.

${example}
  conformance run --target acme.json --baseline conformance/baseline.json

Exit codes: 0 printed; 2 wrong usage.`;

/** `conformance baseline write REPORT`: prints the failures of a report as a file of known failures. */
export const baselineCommand = (): Command =>
  new Command("baseline").addHelpText("after", `\n${example}`).addCommand(
    withSteps(
      new Command("write")
        .description("Print the failures of a saved report as a file for --baseline, with reasons to fill in.")
        .argument("<report>", "folder of a saved report, or its report.json")
        .addHelpText("after", examples),
      {
        prepare: (path: string) => path,
        act: (path) => {
          const known = baselineOf(readReportWithoutEvidence(path).report.findings);
          return `${JSON.stringify({ $schema: baselineSchemaUrl, known }, null, 2)}\n`;
        },
        present: printResult,
      },
    ),
  );

const baselineSchemaUrl = "./node_modules/agent-hosting-conformance/schemas/baseline.schema.json";
