import { firstRequirementSet } from "../../spec/clause.ts";
import { readPolicy } from "../../app/verify/read-inputs.ts";
import {
  isVerified,
  type SignatureState,
  type Verification,
  verifyStatement,
  type VerifyOptions,
} from "../../app/verify/verify-statement.ts";
import { line, UsageError } from "../../base/line.ts";
import { createPaint, formatCount, type Paint } from "../../base/text.ts";
import { sanitizeJson, sanitizeLine } from "../../base/sanitize.ts";
import { libraryMessages } from "../../library/scope.ts";
import type { RuleResult } from "../../report/statement/judge-policy.ts";
import { shortKeyId } from "../../report/statement/signatures.ts";
import { reportFileName } from "../../report/statement/statement.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { cliMessages } from "../messages.ts";
import { type FlagsOf, repeatable, withOptions } from "../options.ts";
import { networkFromFlags, networkOptions } from "../target-flags.ts";
import { terminalOf } from "../terminal.ts";
import { dayOf } from "../../base/duration.ts";
import { Command } from "commander";

const examples = `
Checked: the statement is of the format, and has not expired. With --keys: a key of the list has signed it. With a report: the digests of the
evidence are those of the files; the report says what the statement says; and the evidence, judged again, gives the report's rows and verdict.
With --policy: every rule of a buyer, a line each.

Examples:
  conformance run --target acme.json --out acme-report --statement acme-statement.json
  conformance verify acme-statement.json acme-report
  conformance verify acme-statement.json --keys https://acme.example/conformance-keys.json
  conformance verify acme-statement.json acme-report --policy policy.yaml --also acme-statement-of-june.json
  conformance verify acme-statement.json acme-report --json | jq .mismatches

Exit codes: 0 verified; 1 not, with a line for each mismatch and broken rule; 2 a file cannot be read, or the report contradicts itself.`;

const verifyOptions = {
  "--keys <file|url>": repeatable("the vendor's list of keys: a file, or an https URL"),
  "--policy <file>": "the rules by which you accept a statement, in JSON or YAML",
  "--also <statement>": repeatable("another statement: a newer one that is red supersedes"),
  ...networkOptions,
  "--json": "print the result as JSON",
} as const;

/** `conformance verify STATEMENT [REPORT]`: checks a statement by the report, keys and policy that the user gives. */
export const verifyCommand = (): Command =>
  withSteps(
    withOptions(
      new Command("verify")
        .argument("<statement>", "the statement: what --statement has written")
        .argument("[report]", "folder of the report, with its evidence"),
      verifyOptions,
    ).addHelpText("after", examples),
    {
      prepare,
      act: ({ options }) => verifyStatement(options),
      present: (verification, { isJson }) => {
        if (isJson) process.stdout.write(`${sanitizeJson(JSON.stringify(jsonOf(verification), null, 2))}\n`);
        else print(verification);
        return isVerified(verification) ? exitCodes.fine : exitCodes.broken;
      },
    },
  );

function prepare(statementFile: string, report: string | undefined, flags: FlagsOf<typeof verifyOptions>) {
  const { keys, policy, also, json } = flags;
  if (report === undefined && keys.length === 0 && policy === undefined)
    throw new UsageError(
      line`Give the folder of the report, --keys or --policy: without them, nothing can be checked.`,
    );
  const options: VerifyOptions = {
    statementFile,
    report: report ?? null,
    keys,
    policy: policy === undefined ? null : readPolicy(policy),
    also,
    network: networkFromFlags(flags),
    messages: [cliMessages, libraryMessages],
    now: new Date(),
  };
  return { options, isJson: json === true };
}

function jsonOf(verification: Verification) {
  const { published, signature, mismatches, rules, notes } = verification;
  const { statement, seal } = published;
  return {
    verified: isVerified(verification),
    target: statement.target.name,
    verdict: statement.verdict,
    signature: signature.kind,
    ...(signature.kind === "valid" && { signers: signature.signers.map(({ vendor, keyId }) => ({ vendor, keyId })) }),
    ...(seal !== null && {
      keyIds: seal.envelope.signatures.map(({ keyid }) => keyid),
      expires: seal.expires,
      subjects: seal.subjects,
    }),
    mismatches,
    rules,
    notes,
  };
}

const marks = { met: "✓", broken: "✗", unchecked: "✗", optional: "–" } as const;

const ruleText = ({ rule, outcome, says }: RuleResult): string =>
  `${rule}: ${outcome === "unchecked" || outcome === "optional" ? "cannot be checked: " : ""}${sanitizeLine(says, 500)}${outcome === "optional" ? " (optional)" : ""}`;

function ruleLine(result: RuleResult, paint: Paint): string {
  const mark = marks[result.outcome];
  const painted = mark === "✗" ? paint.red(mark) : mark === "✓" ? paint.green(mark) : mark;
  return `${painted} ${ruleText(result)}`;
}

const maxLines = 40;

function print(verification: Verification): void {
  const { published, signature, mismatches, rules, notes } = verification;
  const { statement, seal } = published;
  const { style, write } = terminalOf(process.stdout);
  const paint = createPaint(style.colour);
  const lines = mismatches.slice(0, maxLines).map((each) => `${paint.red("✗")} ${sanitizeLine(each, 500)}`);
  const hidden = mismatches.length - lines.length;
  const more = hidden > 0 ? [`  and ${formatCount(hidden, "more line")}`] : [];
  const result = isVerified(verification) ? paint.bold(paint.green("verified")) : paint.bold(paint.red("not verified"));
  const { target, suite, verdict, exceptions, notExercised, unselected, evidence } = statement;
  const notJudged = notExercised.length + unselected.length;
  const facts = [
    `${sanitizeLine(target.name, 80)} is ${verdict}`,
    ...(exceptions.length === 0 ? [] : [`with ${formatCount(exceptions.length, "exception")}`]),
    ...(notJudged === 0 ? [] : [`${formatCount(notJudged, "clause")} not exercised`]),
    `by version ${sanitizeLine(suite.version, 40)} (clauses ${sanitizeLine(suite.clauses, 40)}), requirement set ${sanitizeLine(suite.requirements ?? firstRequirementSet, 40)}`,
    `on ${dayOf(statement.started)}`,
    `${formatCount(evidence.filter(({ file }) => file !== reportFileName).length, "file")} of evidence`,
    signatureText(signature, seal?.envelope.signatures.map(({ keyid }) => keyid) ?? []),
  ];
  const ruleLines = rules.map((each) => ruleLine(each, paint));
  write(
    `${[...lines, ...more, ...ruleLines, ...notes.slice(0, maxLines), `${result}: ${facts.join(", ")}`].join("\n")}\n`,
  );
}

function signatureText(signature: SignatureState, keyIds: readonly string[]): string {
  switch (signature.kind) {
    case "unsigned":
      return "unsigned";
    case "unchecked":
      return `signed with the key ${keyIds.map(shortKeyId).join(" and ")}, which was not checked (--keys)`;
    case "refused":
      return "with a signature that does not count";
    case "valid":
      return `signed by ${signature.signers.map(({ vendor, keyId }) => `${sanitizeLine(vendor, 80)} (key ${shortKeyId(keyId)})`).join(" and ")}`;
  }
}
