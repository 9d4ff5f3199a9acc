import { Command } from "commander";

import {
  type RecordedPart,
  type RecordedPartChoice,
  type MessagePart,
  readRecordedPart,
} from "../../app/report-folder/saved-report.ts";
import { line, UsageError } from "../../base/line.ts";
import { sanitize } from "../../base/sanitize.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { flagForSetting, type FlagsOf, withOptions } from "../options.ts";
import { terminalOf } from "../terminal.ts";

const examples = `
Examples:
  conformance evidence reports/acme x13                      both messages, as a finding shows them
  conformance evidence reports/acme x13 --body | jq          the response's body, byte by byte
  conformance evidence reports/acme d4 --headers             the headers of a delivery
  conformance evidence reports/acme d4 --body | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET"`;

const evidenceOptions = {
  "--body": "only the body, byte by byte; of an exchange, the response's",
  "--headers": "only the headers, one a line; of an exchange, the response's",
  "--request": "with --body or --headers: those of the request",
  "--secret": "only the secret of the webhook that the request creates",
} as const;

type EvidenceFlags = FlagsOf<typeof evidenceOptions>;

/** `conformance evidence REPORT ID`: prints an exchange or a delivery as the run recorded it. */
export const evidenceCommand = (): Command =>
  withSteps(
    withOptions(
      new Command("evidence")
        .argument("<report>", "folder of a run's report")
        .argument("<id>", "exchange or delivery, such as x13 or d4"),
      evidenceOptions,
    ).addHelpText("after", examples),
    {
      prepare: (path: string, id: string, flags: EvidenceFlags): RecordedPartChoice => ({
        path,
        id,
        part: partIn(flags),
        isRequest: flags.request === true,
      }),
      act: readRecordedPart,
      present: (kept) => {
        print(kept);
        return exitCodes.fine;
      },
    },
  );

function partIn(flags: EvidenceFlags): MessagePart {
  const chosen = (["body", "headers", "secret"] as const).filter((name) => flags[name] === true);
  if (chosen.length > 1)
    throw new UsageError(
      line`${chosen.map((name) => flagForSetting(name)).join(" and ")} exclude each other: give one.`,
    );
  return chosen[0] ?? "all";
}

function print(kept: RecordedPart): void {
  if (kept.kind === "lines") terminalOf(process.stdout).write(`${kept.lines.join("\n")}\n`);
  else process.stdout.write(process.stdout.isTTY ? sanitize(kept.bytes.toString("utf8")) : kept.bytes);
}
