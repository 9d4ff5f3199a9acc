import { beforeAll, describe, type TestContext, test } from "vitest";

import type { KnownFailure } from "../../report/model/failure-policy.ts";
import { defaultBounds } from "../../run/plan/bounds.ts";
import { type CheckEntry, listChecks } from "../catalogue.ts";
import { judge, type Judged, type JudgeOptions } from "../judge.ts";
import type { TargetDescription } from "../target.ts";
import { testResultOf, type TestRules } from "./test-result.ts";

export type { KnownFailure } from "../../report/model/failure-policy.ts";
export type { Judged, JudgeOptions } from "../judge.ts";
export type { EmbeddedTarget, PlainTarget, TargetDescription, TargetFile } from "../target.ts";

export interface ConformanceTestOptions extends JudgeOptions {
  /**
   * The target, or a function that returns the target. The function runs after your earlier `beforeAll` hooks, which
   * may start a server.
   */
  readonly target: TargetDescription | (() => TargetDescription | Promise<TargetDescription>);
  /** Name of the `describe` group around all tests. Default: `Agent Hosting conformance`. */
  readonly title?: string;
  /** Whether a warning (a broken `should` clause) fails its test. Default: `false`. */
  readonly strict?: boolean;
  /**
   * Known failures. A test is skipped if this list has all failures of its check. If a listed check passes, its test
   * fails until you remove the entry; an entry with `flaky: true` may stay.
   */
  readonly baseline?: readonly KnownFailure[];
  /** Time limit of the run in milliseconds. Default: five minutes more than `maxWaitMs`. */
  readonly timeoutMs?: number;
  /** Called with the result of the run, for example to write its report. */
  readonly onJudged?: (judged: Judged) => void | Promise<void>;
}

const defaultTimeoutMs = 300_000;

/** Registers a vitest test for each check. A `beforeAll` hook runs all selected checks once; the tests only report. */
export function conformanceTests(options: ConformanceTestOptions): void {
  const {
    title = "Agent Hosting conformance",
    strict = false,
    baseline = [],
    maxWaitMs = defaultBounds.maxWaitMs,
  } = options;
  const checks = Map.groupBy(listChecks(options), ({ suite }) => suite);
  const rules: TestRules = { strict, baseline };
  describe(title, () => {
    let judged: Judged | null = null;
    beforeAll(
      // The first parameter must be a destructuring pattern, because vitest rejects hooks with any other parameter.
      async ({}, group: unknown) => {
        judged = await judgeSelected(options, selectedTests(group));
        await options.onJudged?.(judged);
      },
      options.timeoutMs ?? defaultTimeoutMs + maxWaitMs,
    );
    for (const [suite, entries] of checks)
      describe(suite, () => {
        for (const entry of entries)
          test(testNameOf(entry), (context) => reportTestResult(entry, judged, rules, context));
      });
  });
}

const testNameOf = ({ id, says }: CheckEntry): string => `${id} ${says.replaceAll("`", "")}`;

async function judgeSelected(options: ConformanceTestOptions, names: ReadonlySet<string> | null): Promise<Judged> {
  const target = typeof options.target === "function" ? await options.target() : options.target;
  const chosen = listChecks(options).filter((entry) => names === null || names.has(testNameOf(entry)));
  return judge(target, { ...options, only: chosen.map(({ id }) => id), skip: [] });
}

async function reportTestResult(
  { id }: CheckEntry,
  judged: Judged | null,
  rules: TestRules,
  context: TestContext,
): Promise<void> {
  if (judged === null) throw new Error("The run before the tests did not happen.");
  const result = testResultOf(id, judged, rules);
  switch (result.kind) {
    case "failed":
      throw new CheckFailed(result.message);
    case "skipped":
      return context.skip(result.reason);
    case "passed":
      for (const note of result.notes) await context.annotate(note);
  }
}

/** An error without a stack trace. Its stack trace would show only this file. */
class CheckFailed extends Error {
  override readonly name = "CheckFailed";

  constructor(message: string) {
    super(message);
    this.stack = `${this.name}: ${message}`;
  }
}

interface VitestTask {
  readonly name: string;
  readonly mode: string;
  readonly tasks?: readonly VitestTask[];
}

const isVitestTask = (value: unknown): value is VitestTask =>
  typeof value === "object" && value !== null && "mode" in value && "name" in value && typeof value.name === "string";

/** Returns the names of the tests that vitest will run in a group; `null` if an older vitest does not provide them. */
export const selectedTests = (group: unknown): ReadonlySet<string> | null =>
  isVitestTask(group) && group.tasks !== undefined ? new Set(testsIn(group)) : null;

const testsIn = ({ name, mode, tasks }: VitestTask): string[] => {
  if (tasks !== undefined) return tasks.flatMap(testsIn);
  return mode === "run" || mode === "queued" ? [name] : [];
};
