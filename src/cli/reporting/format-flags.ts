import type { Command } from "commander";

import { type FormatRules, plainRules } from "../../report/formats/rules.ts";
import { readBaseline } from "../baseline.ts";

/** Formats that a report can be written in, in the order in which they are written. */
export const formatNames = [
  "json",
  "html",
  "junit",
  "ctrf",
  "markdown",
  "badge",
  "badgeEndpoint",
  "har",
  "statement",
] as const;
export type FormatName = (typeof formatNames)[number];

/** A file for each format that is wanted; `-` prints it on standard output. */
export type FormatFlags = { readonly [name in FormatName]?: string };

/** `--badge-endpoint` of `badgeEndpoint`. */
export const flagOf = (name: FormatName): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Every format but `json`, which is an option of its own to the commands that make a report. */
const explanations: Readonly<Record<Exclude<FormatName, "json">, string>> = {
  html: "one page for people, that stands alone",
  junit: "JUnit XML, as CI systems read it",
  ctrf: "Common Test Report Format (JSON)",
  markdown: "a summary in Markdown",
  badge: "a badge of the verdict (SVG)",
  badgeEndpoint: "the same as JSON for shields.io",
  har: "the exchanges as an HTTP Archive, redacted",
  statement: "a short statement of conformance (JSON), that `conformance verify` checks",
};

/** Adds a flag for each format to a command. */
export function withFormatOptions(command: Command, leftOut: readonly FormatName[] = []): Command {
  for (const name of formatNames)
    if (name !== "json" && !leftOut.includes(name)) command.option(`${flagOf(name)} <file>`, explanations[name]);
  return command;
}

/** What decides whether a finding fails a run. */
export interface RuleFlags {
  readonly strict?: boolean;
  readonly baseline?: string;
}

export const withRuleOptions = (command: Command): Command =>
  command
    .option("--strict", "a warning fails the run as well")
    .option("--baseline <file>", "known failures, each with a reason; one that no longer fails is an error");

/** @throws {UsageProblem} where the baseline cannot be read */
export const readRules = ({ strict = false, baseline }: RuleFlags): FormatRules => ({
  strict,
  baseline: baseline === undefined ? plainRules.baseline : readBaseline(baseline),
});
