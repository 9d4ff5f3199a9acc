import { firstRequirements } from "../../spec/requirements.ts";
import { Command } from "commander";

import type { Seal } from "../../app/verify/read-statement.ts";
import { type Verification, verify } from "../../app/verify/verify.ts";
import { createPaint } from "../../base/paint.ts";
import { sanitizeJson, sanitizeLine } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import { libraryMessages } from "../../library/messages.ts";
import { reportFileName } from "../../report/statement/statement.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { cliMessages } from "../messages.ts";
import { terminalOf } from "../terminal.ts";

const examples = `
Checked: the statement is of the format; the digests of the evidence are those of the files; the report says what the statement says;
and the evidence, judged again, gives the report's rows and verdict.

Examples:
  conformance run --target acme.json --out acme-report --statement acme-statement.json
  conformance verify acme-statement.json acme-report
  conformance verify acme-statement.json acme-report --json | jq .mismatches

Exit codes: 0 verified; 1 not, with a line for each mismatch; 2 a file cannot be read, or the report contradicts itself.`;

interface VerifyArguments {
  readonly statementFile: string;
  readonly path: string;
  readonly isJson: boolean;
}

/** `conformance verify STATEMENT REPORT`: checks a published statement against the report that it is about. */
export const verifyCommand = (): Command =>
  withSteps(
    new Command("verify")
      .argument("<statement>", "the statement: what --statement has written")
      .argument("<report>", "folder of the report, with its evidence")
      .option("--json", "print the result as JSON")
      .addHelpText("after", examples),
    {
      prepare: (statementFile: string, path: string, flags: { readonly json?: boolean }): VerifyArguments => ({
        statementFile,
        path,
        isJson: flags.json === true,
      }),
      act: ({ statementFile, path }) => verify(statementFile, path, [cliMessages, libraryMessages], new Date()),
      present: (verification, { isJson }) => {
        if (isJson) process.stdout.write(`${sanitizeJson(JSON.stringify(jsonOf(verification), null, 2))}\n`);
        else print(verification);
        return verification.mismatches.length === 0 ? exitCodes.fine : exitCodes.broken;
      },
    },
  );

const jsonOf = ({ published: { statement, seal }, mismatches, notes }: Verification) => ({
  verified: mismatches.length === 0,
  target: statement.target.name,
  verdict: statement.verdict,
  signature: seal === null ? "unsigned" : "unchecked",
  ...(seal !== null && { keyIds: keyIdsOf(seal), expires: seal.expires, subjects: seal.subjects }),
  mismatches,
  notes,
});

const maxLines = 40;

const keyIdsOf = ({ envelope }: Seal): string[] => envelope.signatures.map(({ keyid }) => keyid);

/** Characters of a key's id that are shown to people. */
const shownKeyId = 16;

function signatureText(seal: Seal | null): string {
  if (seal === null) return "unsigned";
  const ids = keyIdsOf(seal).map((id) => sanitizeLine(id.slice(0, shownKeyId), shownKeyId));
  return `signed with the key ${ids.join(" and ")}, which was not checked`;
}

function print({ published: { statement, seal }, mismatches, notes }: Verification): void {
  const { style, write } = terminalOf(process.stdout);
  const paint = createPaint(style.colour);
  const lines = mismatches.slice(0, maxLines).map((line) => `${paint.red("✗")} ${sanitizeLine(line, 500)}`);
  const hidden = mismatches.length - lines.length;
  const more = hidden > 0 ? [`  and ${formatCount(hidden, "more line")}`] : [];
  const result = mismatches.length === 0 ? paint.bold(paint.green("verified")) : paint.bold(paint.red("not verified"));
  const { target, suite, verdict, exceptions, notExercised, unselected, evidence } = statement;
  const notJudged = notExercised.length + unselected.length;
  const facts = [
    `${sanitizeLine(target.name, 80)} is ${verdict}`,
    ...(exceptions.length === 0 ? [] : [`with ${formatCount(exceptions.length, "exception")}`]),
    ...(notJudged === 0 ? [] : [`${formatCount(notJudged, "clause")} not exercised`]),
    `by version ${sanitizeLine(suite.version, 40)} (clauses ${sanitizeLine(suite.clauses, 40)}), requirement set ${sanitizeLine(suite.requirements ?? firstRequirements, 40)}`,
    `on ${statement.started.slice(0, 10)}`,
    `${formatCount(evidence.filter(({ file }) => file !== reportFileName).length, "file")} of evidence`,
    signatureText(seal),
  ];
  write(`${[...lines, ...more, ...notes.slice(0, maxLines), `${result}: ${facts.join(", ")}`].join("\n")}\n`);
}
