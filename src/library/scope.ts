import { type RunBounds, defaultBounds } from "../run/plan/bounds.ts";
import { type RunScope, selectChecks } from "../run/plan/selection.ts";
import { libraryMessages } from "./messages.ts";
import type { Suite } from "../run/judge/check.ts";
import { suites } from "../suites/all.ts";
import { UsageError } from "../base/usage-error.ts";

/** Which checks are meant. Patterns are clause ids, check ids, suites, or globs of them (`SSE-*`). */
export interface CheckSelection {
  /** Only these. Default: all. */
  readonly only?: readonly string[];
  /** All but these. */
  readonly skip?: readonly string[];
}

/**
 * The suites with the selected checks alone.
 *
 * @throws {UsageError} where a pattern matches nothing, or no check is left.
 */
export function selected({ only = [], skip = [] }: CheckSelection): Suite[] {
  for (const [name, given] of Object.entries({ only, skip }))
    if (!isListOfTexts(given))
      throw new UsageError(`${name} is no list of patterns. Give it like ["Invoke", "SSE-*"].`);
  return selectChecks(suites, { only, skip });
}

const isListOfTexts = (given: unknown): boolean =>
  Array.isArray(given) && given.every((each) => typeof each === "string");

/** Which part of the suites runs, and within which bounds; everything has a default. */
export interface JudgeScope extends CheckSelection {
  /** Requests that are sent at most. Default: 1000 where the target is not on loopback, else no bound. */
  readonly maxRequests?: number;
  /** Agent executions that are caused at most: invokes and streams that an agent really runs. Default: no bound. */
  readonly maxExecutions?: number;
  /** Windows of more requests than this are not used up. Default: 5000. */
  readonly maxWindow?: number;
  /** Longest waiting for rate-limit windows to pass, all in all, in milliseconds. Default: two minutes. */
  readonly maxWaitMs?: number;
  /** Longest time that the run takes, in milliseconds; then what was seen is judged. Default: three minutes more than `maxWaitMs`. */
  readonly maxTimeMs?: number;
  /** Nothing but GET is sent; what needs more is skipped. Default `false`. */
  readonly readOnly?: boolean;
}

/** @throws {UsageError} where a pattern matches nothing, or a bound is no number that can be one */
export function scopeOf({
  maxRequests,
  maxExecutions,
  maxWindow,
  maxWaitMs,
  maxTimeMs,
  readOnly = false,
  ...selection
}: JudgeScope): RunScope {
  const bounds: RunBounds = {
    ...defaultBounds,
    ...(maxRequests !== undefined && { maxRequests: atLeast(1, maxRequests, "maxRequests") }),
    ...(maxExecutions !== undefined && { maxExecutions: atLeast(0, maxExecutions, "maxExecutions") }),
    ...(maxWindow !== undefined && { maxWindow: atLeast(1, maxWindow, "maxWindow") }),
    ...(maxWaitMs !== undefined && { maxWaitMs: atLeast(0, maxWaitMs, "maxWaitMs") }),
    ...(maxTimeMs !== undefined && { maxTimeMs: atLeast(1, maxTimeMs, "maxTimeMs") }),
    isReadOnly: readOnly,
  };
  return { ...bounds, suites: selected(selection), messages: libraryMessages };
}

function atLeast(least: number, value: unknown, name: string): number {
  if (typeof value === "number" && value >= least) return value;
  throw new UsageError(`${name} is ${String(value)}; give a number of at least ${least}.`);
}
