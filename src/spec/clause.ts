/** All requirement sets, the oldest first. Each set contains all earlier sets. */
export const requirementSets = ["1.0", "1.1", "1.2"] as const;

export type RequirementSet = (typeof requirementSets)[number];

/**
 * The default set for servers: the last that added a requirement for servers. `newestRequirementsOfAnyParty` may be
 * newer.
 */
export const newestRequirements: RequirementSet = "1.2";

/** The newest requirement set. Clients, webhook receivers and configuration files are always judged by this set. */
export const newestRequirementsOfAnyParty: RequirementSet = "1.2";

/** The oldest requirement set. A saved file that names no set was written when this was the only set. */
export const firstRequirementSet: RequirementSet = "1.0";

export const isRequirementSet = (name: string): name is RequirementSet => requirementSets.some((each) => each === name);

/**
 * Whether a requirement added in set `since` is part of set `requirements`. An unknown set counts as later than all
 * known sets.
 */
export const countsIn = (since: string, requirements: string): boolean => ageOf(since) <= ageOf(requirements);

function ageOf(name: string): number {
  const at = requirementSets.findIndex((each) => each === name);
  return at === -1 ? requirementSets.length : at;
}

export const isAddedAfter = (requirements: string, since: string = firstRequirementSet): boolean =>
  !countsIn(since, requirements);

export const laterSet = (one: RequirementSet, other: RequirementSet): RequirementSet =>
  countsIn(one, other) ? other : one;

/**
 * The binding force of a clause.
 *
 * - `must`: the document requires the behaviour; a breach fails the run.
 * - `should`: the document advises the behaviour; a breach is a warning.
 * - `advisory`: the document does not state the behaviour, but any other would surprise; a breach is a note.
 * - `gap`: the document leaves the behaviour open; it is observed and never judged.
 * - `policy`: no request can test the clause. `conformance config` judges policy clauses on configuration files.
 */
export type Level = "must" | "should" | "advisory" | "gap" | "policy";

export const breachOutcomeByLevel = {
  must: "fail",
  should: "warning",
  advisory: "note",
  gap: "observed",
  policy: "error",
} as const satisfies Readonly<Record<Level, string>>;

/** The parties that clauses bind. `file` is a configuration file. Promises of `people` cannot be tested. */
export const parties = ["server", "client", "receiver", "file", "people"] as const;

export type Party = (typeof parties)[number];

/** One statement of the interface document. The id of a clause is never reused or renumbered. */
export interface Clause {
  /** The document heading of the clause, followed by the number of a numbered item, e.g. `Authentication 3`. */
  readonly section: string;
  readonly level: Level;
  readonly party: Party;
  /** The first requirement set that contains the clause. */
  readonly since: RequirementSet;
  /** The statement, in our own words. */
  readonly says: string;
  /** Behaviours that the document's words allow, by name. Any of them passes. */
  readonly readings?: Readonly<Record<string, string>>;
  readonly untestable?: string;
}

export type ClauseTable = Readonly<Record<string, Clause>>;

type Extras = Partial<Pick<Clause, "party" | "since" | "readings" | "untestable">>;

/**
 * Returns a function that makes clauses of one level. By default, a clause binds servers and counts from requirement
 * set 1.0 on.
 */
const ofLevel =
  <L extends Level>(level: L) =>
  <const E extends Extras = { readonly readings?: never }>(section: string, says: string, extras?: E) => ({
    section,
    level,
    party: "server" as Party,
    since: firstRequirementSet as RequirementSet,
    says,
    ...(extras as E),
  });

export const must = ofLevel("must");
export const should = ofLevel("should");
export const advisory = ofLevel("advisory");
export const gap = ofLevel("gap");
export const policy = ofLevel("policy");

/** The readings of a clause on a field that may be left out. */
export const optionalFieldReadings = { absent: "it is left out", present: "it is there" };

/** Adds the same properties to every clause of a table. */
export const withExtras = <const E extends Extras, T extends ClauseTable>(extras: E, table: T) =>
  Object.fromEntries<unknown>(Object.entries(table).map(([id, clause]) => [id, { ...clause, ...extras }])) as {
    readonly [K in keyof T]: Omit<T[K], keyof E> & E;
  };
