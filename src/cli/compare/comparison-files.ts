import { renderComparisonMarkdown } from "../../report/compare/markdown.ts";
import { renderComparisonPage } from "../../report/compare/page.ts";
import type { Comparison } from "../../report/compare/comparison.ts";
import { type OutputFiles, prepareFiles, writeOutput } from "../output-files.ts";

/** Where a comparison goes besides the terminal; `-` is standard output. */
export interface ComparisonFlags {
  readonly json?: string;
  readonly markdown?: string;
  readonly html?: string;
}

const renderers = {
  json: (found) => `${JSON.stringify(found, null, 2)}\n`,
  markdown: renderComparisonMarkdown,
  html: renderComparisonPage,
} as const satisfies Record<keyof ComparisonFlags, (found: Comparison) => string>;

const names = Object.keys(renderers) as (keyof ComparisonFlags)[];

export type PreparedComparison = OutputFiles<keyof ComparisonFlags>;

/**
 * Makes sure that every format has a file of its own that can be written.
 *
 * @throws {UsageProblem}
 */
export const prepareComparisonFiles = (flags: ComparisonFlags): PreparedComparison =>
  prepareFiles(
    names.flatMap((name) => {
      const path = flags[name];
      return path === undefined ? [] : [{ name, flag: `--${name}`, path }];
    }),
  );

/** Writes every format; gives a line for each that failed. */
export const writeComparison = (found: Comparison, { files }: PreparedComparison): string[] =>
  files.flatMap((output) => writeOutput(output, () => renderers[output.name](found)));
