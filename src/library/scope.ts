import { parseRequirements } from "../app/requirements.ts";
import type { RequirementSet } from "../spec/clause.ts";
import { boundNames, boundTable, type RunBounds, withDefaultBounds, minCoverageSeed } from "../run/plan/bounds.ts";
import { readProfile, type RunScope, selectChecks, selectionIn } from "../run/plan/selection.ts";
import type { Profile } from "../spec/profiles.ts";
import type { Suite } from "../run/judge/check.ts";
import { suites } from "../suites/all.ts";
import { line, UsageError } from "../base/line.ts";
import { createMessages } from "../app/messages/messages.ts";

/** Selection of checks. A pattern is a clause id, a check id, a suite title, or a glob such as `SSE-*`. */
export interface CheckSelection {
  /** Patterns of the checks to run. Default: all checks. */
  readonly only?: readonly string[];
  /** Patterns of the checks to leave out. Default: none. */
  readonly skip?: readonly string[];
  /** The parts of the interface to judge, such as `core` and `streaming`. Default: all. */
  readonly profiles?: readonly Profile[];
}

/** Returns the suites with only the selected checks. Throws if a pattern matches nothing, or no check is left. */
export function selectSuites({ only = [], skip = [], profiles }: CheckSelection): Suite[] {
  for (const [name, patterns] of Object.entries({ only, skip, profiles: profiles ?? [] }))
    if (!isStringArray(patterns))
      throw new UsageError(line`${name} is not a list of patterns. Give it like ["Invoke", "SSE-*"].`);
  for (const name of profiles ?? []) readProfile(name, "profiles");
  return selectChecks(suites, { only, skip, ...(profiles && { profiles }) });
}

const isStringArray = (given: unknown): boolean =>
  Array.isArray(given) && given.every((each) => typeof each === "string");

/** Selection of the checks to run, and limits of the run. Every option has a default. */
export type JudgeScope = CheckSelection & {
  /**
   * The requirement set to judge by. Checks of later sets run, but cannot change the verdict. Default: the newest set.
   */
  readonly requirements?: RequirementSet;
  /** Seed of the randomly generated requests. Default: 1, or the date in a nightly run, such as 20300205. */
  readonly coverageSeed?: number;
} & { readonly [Name in keyof RunBounds]?: NonNullable<RunBounds[Name]> };

export function scopeOf(scope: JudgeScope): RunScope {
  const bounds = boundNames.flatMap((name) =>
    scope[name] === undefined ? [] : [[name, validateBound(name, scope[name])]],
  );
  return {
    ...withDefaultBounds(Object.fromEntries(bounds) as Partial<RunBounds>),
    suites: selectSuites(scope),
    ...selectionIn({
      only: scope.only ?? [],
      skip: scope.skip ?? [],
      ...(scope.profiles && { profiles: scope.profiles }),
    }),
    ...validSeed(scope),
    requirements: parseRequirements(scope.requirements, "requirements"),
    messages: libraryMessages,
  };
}

function validSeed({ coverageSeed }: JudgeScope): Pick<RunScope, "coverageSeed"> {
  if (coverageSeed === undefined) return {};
  if (Number.isSafeInteger(coverageSeed) && coverageSeed >= minCoverageSeed) return { coverageSeed };
  throw new UsageError(
    line`coverageSeed is ${String(coverageSeed)}; give a whole number of at least ${minCoverageSeed}.`,
  );
}

function validateBound(name: keyof RunBounds, value: unknown): unknown {
  const bound = boundTable[name];
  if (bound.kind === "switch" || (typeof value === "number" && value >= bound.min)) return value;
  throw new UsageError(line`${name} is ${String(value)}; give a number of at least ${bound.min}.`);
}

export const libraryMessages = createMessages({
  nameOf: (setting) => setting,
  hints: {
    agent: { give: "an agent that answers", is: "`agent` of the target, or agents.answering in a target file" },
    receiver: { give: "`webhooks` of the target", is: "where the target can reach the harness" },
    "receiver that is taken": {
      give: "`webhooks.publicUrl` of the target",
      is: "an address of the harness that the target accepts",
    },
    "receiver within reach": {
      give: "`webhooks.publicUrl` of the target",
      is: "where the target can reach the harness",
    },
    selection: { give: "a run without `only` and `skip`", is: null },
    tier: { give: "`tier` beside `apiKey`", is: null },
    // The library cannot wait for retries of deliveries after a run. Only the command line can.
    watch: { give: "`conformance run --watch`", is: null },
  },
});
