import { countsIn, newestRequirements, type RequirementSet } from "../../spec/clause.ts";
import { type ClauseId, clauseOf, isClauseId } from "../../spec/clauses.ts";
import { isProfile, type Profile, profileNames, profileOf, profileOfSource } from "../../spec/profiles.ts";
import { line, UsageError } from "../../base/line.ts";
import type { RunBounds } from "./bounds.ts";
import { type Check, type Suite, filterChecks } from "../judge/check.ts";
import type { Messages } from "../skip-reason.ts";
import { globMatcher } from "../../base/text.ts";
import { exempt } from "../judge/finding.ts";
import type { Target } from "../../target/target.ts";

/** Patterns that select checks: clause ids, check ids, suite titles, or globs such as `SSE-*`. */
export interface Selection {
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly profiles?: readonly Profile[];
}

export interface RunScope extends RunBounds {
  readonly suites: readonly Suite[];
  /** The requirement set to judge by. Checks of later sets also run, but do not count. */
  readonly requirements: RequirementSet;
  /** The patterns or profiles that selected the checks. Absent if all checks run. */
  readonly selection?: Selection;
  /** Seed of the random requests in the stage `coverage`. Default: 1. */
  readonly coverageSeed?: number;
  readonly messages: Messages;
}

type SelectionNames = Readonly<Record<"only" | "skip", string>>;

const defaultNames: SelectionNames = { only: "only", skip: "skip" };

/**
 * Returns the suites with only the selected checks. Throws {@link UsageError} if a pattern matches no check, or if no
 * check is selected.
 */
export function selectChecks(
  suites: readonly Suite[],
  selection: Selection,
  names: SelectionNames = defaultNames,
): Suite[] {
  for (const pattern of selection.only) requireMatch(pattern, names.only, suites);
  for (const pattern of selection.skip) requireMatch(pattern, names.skip, suites);
  const selected = filterChecks(suites, selectionMatcher(selection)).filter(({ checks }) => checks.length > 0);
  if (selected.length > 0) return selected;
  throw new UsageError(
    line`No check is left: ${names.skip} takes all that there is to take. Skip less, or give ${names.only} something else.`,
  );
}

/** Returns the `must` clauses without a selected check. */
export function unselectedMusts(
  all: readonly Suite[],
  selected: readonly Suite[],
  requirements: RequirementSet = newestRequirements,
): ClauseId[] {
  const mustsOf = (suites: readonly Suite[]): Set<ClauseId> =>
    new Set(
      suites
        .flatMap(({ checks }) => checks.filter(({ since }) => countsIn(since, requirements)))
        .map(({ clause }) => clause)
        .filter((id) => clauseOf(id).level === "must"),
    );
  return [...mustsOf(all).difference(mustsOf(selected))];
}

export const selectionIn = ({ only, skip, profiles }: Selection): Pick<RunScope, "selection"> =>
  only.length + skip.length === 0 && profiles === undefined
    ? {}
    : { selection: { only, skip, ...(profiles && { profiles }) } };

/**
 * Reads the name of a profile.
 *
 * @throws {UsageError} if there is no such profile
 */
export function readProfile(name: string, option: string): Profile {
  if (isProfile(name)) return name;
  throw new UsageError(line`${option} is ${JSON.stringify(name)}; the profiles are ${profileNames.join(", ")}.`);
}

type Matcher = (check: Check, title: string) => boolean;

export function selectionMatcher({ only, skip, profiles }: Selection): Matcher {
  const [wanted, unwanted] = [only.map(matcherOf), skip.map(matcherOf)];
  return (check, title) =>
    (profiles === undefined || belongsToAny(check, profiles)) &&
    (wanted.length === 0 || wanted.some((matches) => matches(check, title))) &&
    !unwanted.some((matches) => matches(check, title));
}

/**
 * Whether a check belongs to a chosen profile. A `core` check with a `matrix` also belongs to the profiles of the
 * endpoints in this matrix.
 */
function belongsToAny({ clause, matrix }: Check, chosen: readonly Profile[]): boolean {
  const profile = profileOf(clause);
  if (profile === null || chosen.includes(profile)) return profile !== null;
  return profile === "core" && (matrix?.cells ?? []).some(({ of }) => chosen.includes(profileOfSource(of)));
}

function matcherOf(pattern: string): Matcher {
  const glob = globMatcher(pattern);
  return (check, title) => [check.id, check.clause, title].some((name) => glob(name));
}

function requireMatch(pattern: string, selection: string, suites: readonly Suite[]): void {
  const matches = matcherOf(pattern);
  if (suites.some(({ title, checks }) => checks.some((check) => matches(check, title)))) return;
  const named = `${selection} ${JSON.stringify(pattern)}`;
  const clause = pattern.toUpperCase();
  if (isClauseId(clause)) {
    const { says, untestable = `\`conformance explain ${clause}\` says more.` } = clauseOf(clause);
    throw new UsageError(line`${named} names a clause that has no check here: ${says} ${untestable}`);
  }
  throw new UsageError(
    line`${named} matches no clause, check or suite. \`conformance list\` shows them; suites: ${suites.map(({ title }) => title).join(", ")}.`,
  );
}

/** Whether a clause is about API keys. Such a clause does not apply to a server that asks for no keys. */
export const isAboutKeys = (clause: string): boolean => /^(AUTH|KEY)-/.test(clause) || otherKeyClauses.includes(clause);

const otherKeyClauses: readonly string[] = ["REQ-2", "HDR-3", "LIM-9", "LIM-23", "LIM-25"];

const reason = "the target file says `auth: none`: the server asks for no keys";

/** Returns the suites for a target. With `auth: none`, checks about keys report that their clause does not apply. */
export const suitesFor = (suites: readonly Suite[], { auth }: Pick<Target, "auth">): readonly Suite[] =>
  auth === "keys" ? suites : suites.map((suite) => ({ ...suite, checks: suite.checks.map(exempted) }));

function exempted(check: Check): Check {
  if (!isAboutKeys(check.clause)) return check;
  const { id, clause, since } = check;
  return { id, clause, since, on: {}, matrix: null, also: [], judge: () => exempt(reason) };
}
