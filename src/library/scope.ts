import { type RunBounds, standardBounds } from "../run/bounds.ts";
import type { RunScope } from "../run/selection.ts";
import { libraryWording } from "./wording.ts";
import { UsageProblem } from "./problems.ts";
import { type CheckSelection, selected } from "./selection.ts";

/** Which part of the suites runs, and within which bounds; everything has a default. */
export interface JudgeScope extends CheckSelection {
  /** Requests that are sent at most. Default: 1000 where the target is not on loopback, else no bound. */
  readonly maxRequests?: number;
  /** Longest waiting for rate-limit windows to pass, all in all, in milliseconds. Default: two minutes. */
  readonly maxWaitMs?: number;
  /** Nothing but GET is sent; what needs more is skipped. Default `false`. */
  readonly readOnly?: boolean;
}

/** @throws {UsageProblem} where a pattern matches nothing, or a bound is no number that can be one */
export function scopeOf({ maxRequests, maxWaitMs, readOnly = false, ...selection }: JudgeScope): RunScope {
  const bounds: RunBounds = {
    ...standardBounds,
    ...(maxRequests !== undefined && { maxRequests: atLeast(1, maxRequests, "maxRequests") }),
    ...(maxWaitMs !== undefined && { maxWaitMs: atLeast(0, maxWaitMs, "maxWaitMs") }),
    isReadOnly: readOnly,
  };
  return { ...bounds, suites: selected(selection), wording: libraryWording };
}

function atLeast(least: number, value: unknown, name: string): number {
  if (typeof value === "number" && value >= least) return value;
  throw new UsageProblem(`${name} is ${String(value)}; give a number of at least ${least}.`);
}
