import { Command } from "commander";

import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import { paintFor } from "../../base/paint.ts";
import { reportFileName } from "../../report/statement/statement.ts";
import { exitCodes } from "../exit-codes.ts";
import { terminalOf } from "../terminal.ts";
import { verify, type Verification } from "../../app/verify/verify.ts";
import { libraryMessages } from "../../library/messages.ts";
import { cliMessages } from "../messages.ts";

const examples = `
Checked: the statement is of the format; the digests of the evidence are those of the files; the report says what the statement says;
and the evidence, judged again, gives the report's rows and verdict.

Examples:
  conformance run --target acme.json --out acme-report --statement acme-statement.json
  conformance verify acme-statement.json acme-report
  conformance verify acme-statement.json acme-report --json | jq .mismatches

Exit codes: 0 verified; 1 not, with a line for each thing that does not hold; 2 a file cannot be read.`;

/** `conformance verify STATEMENT REPORT`: checks a published statement against the report that it was made of. */
export function verifyCommand(): Command {
  return new Command("verify")
    .argument("<statement>", "the statement: what --statement has written")
    .argument("<report>", "folder of the report, with its evidence")
    .option("--json", "print what was found as JSON")
    .addHelpText("after", examples)
    .action((statementFile: string, path: string, { json }: { readonly json?: boolean }) => {
      const verification = verify(statementFile, path, [cliMessages, libraryMessages]);
      if (json === true) process.stdout.write(`${JSON.stringify(summaryOf(verification), null, 2)}\n`);
      else show(verification);
      process.exitCode = verification.mismatches.length === 0 ? exitCodes.fine : exitCodes.broken;
    });
}

const summaryOf = ({ statement, mismatches, notes }: Verification) => ({
  verified: mismatches.length === 0,
  target: statement.target.name,
  verdict: statement.verdict,
  mismatches,
  notes,
});

const mostShown = 40;

function show({ statement, mismatches, notes }: Verification): void {
  const { look, write } = terminalOf(process.stdout);
  const paint = paintFor(look.colour);
  const lines = mismatches.slice(0, mostShown).map((line) => `${paint.red("✗")} ${sanitizeLine(line, 500)}`);
  const more =
    mismatches.length > mostShown ? [`  and ${formatCount(mismatches.length - mostShown, "more line")}`] : [];
  const head = mismatches.length === 0 ? paint.bold(paint.green("verified")) : paint.bold(paint.red("not verified"));
  const { target, suite, verdict, exceptions, notExercised, unselected, evidence } = statement;
  const facts = [
    `${sanitizeLine(target.name, 80)} is ${verdict}`,
    ...(exceptions.length === 0 ? [] : [`with ${formatCount(exceptions.length, "exception")}`]),
    ...(notExercised.length + unselected.length === 0
      ? []
      : [`${formatCount(notExercised.length + unselected.length, "clause")} not exercised`]),
    `by version ${sanitizeLine(suite.version, 40)} (clauses ${sanitizeLine(suite.clauses, 40)})`,
    `on ${statement.started.slice(0, 10)}`,
    `${formatCount(evidence.filter(({ file }) => file !== reportFileName).length, "file")} of evidence`,
  ];
  write(`${[...lines, ...more, ...notes.slice(0, mostShown), `${head}: ${facts.join(", ")}`].join("\n")}\n`);
}
