import { type ClauseId, clauseOf, type GapId, type JudgedId, type ReadingOf } from "../../spec/clauses.ts";
import {
  firstRequirementSet,
  isAddedAfter,
  laterSet,
  newestRequirements,
  type RequirementSet,
  requirementSets,
} from "../../spec/clause.ts";
import {
  type Breach,
  breach,
  type Cell,
  type CellCoverage,
  type Coverage,
  type CoverageMatrix,
  type Finding,
  holds,
  type Observation,
  type Proof,
} from "./finding.ts";
import type { Probe } from "../probe.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { bodyText } from "../../evidence/exchange.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";

export type ProbesByName = Readonly<Record<string, Probe>>;

export type EvidenceOf<P> =
  P extends Probe<infer E> ? E : { readonly [K in keyof P]: P[K] extends Probe<infer E> ? E : never };

/** A check of evidence against one clause. Its function `judge` is pure and synchronous. */
export interface Check {
  /** An id such as `SSE-4`, or `SSE-4/name` if several checks judge one clause. */
  readonly id: string;
  readonly clause: ClauseId;
  readonly since: RequirementSet;
  readonly on: Probe | ProbesByName;
  /** The messages to which the clause applies. `null`: the check judges only the requests of its own probes. */
  readonly matrix: CoverageMatrix | null;
  /** Additional probes whose requests the check judges, if these probes ran. */
  readonly also: readonly Probe[];
  /** Probes to run with the check even if no other check is chosen. They get the messages that this check judges. */
  readonly companions?: readonly Probe[];
  /** The check that this copy repeats, of the previous requirement set. The copy also judges newer probes' requests. */
  readonly widens?: Check;
  /** Whether the report omits this check if it finds no breach. */
  readonly reportsOnlyBreaches?: boolean;
  readonly judge: (evidence: never) => Finding | Observation;
}

export interface CheckOptions {
  readonly as?: string;
  readonly since?: RequirementSet;
  readonly also?: readonly Probe[];
}

const checkIdentity = (
  clause: ClauseId,
  { as, since = firstRequirementSet }: CheckOptions,
): Pick<Check, "id" | "clause" | "since"> => ({
  id: as === undefined ? clause : `${clause}/${as}`,
  clause,
  since: laterSet(since, clauseOf(clause).since),
});

/** Creates a check with a verdict. For an observation without a verdict, use {@link observe}. */
export const check = <const K extends JudgedId, const P extends Probe | ProbesByName>(
  clause: K,
  on: P,
  judge: (evidence: EvidenceOf<P>) => Finding<ReadingOf<K>>,
  options: CheckOptions = {},
): Check => ({ ...checkIdentity(clause, options), on, matrix: null, also: options.also ?? [], judge });

/** Creates a check for a gap in the document. The check records the target's behaviour, without a verdict. */
export const observe = <const K extends GapId, const P extends Probe | ProbesByName>(
  clause: K,
  on: P,
  describe: (evidence: EvidenceOf<P>) => Observation,
  options: CheckOptions = {},
): Check => ({ ...checkIdentity(clause, options), on, matrix: null, also: options.also ?? [], judge: describe });

const isProbe = (on: Probe | ProbesByName): on is Probe => typeof on["run"] === "function";

export const probesOf = (on: Probe | ProbesByName): ProbesByName => (isProbe(on) ? { only: on } : on);

const appliesToWholeRun = ({ on }: Check): boolean =>
  Object.values(probesOf(on)).some(({ narrow }) => narrow !== undefined);

/**
 * For each check that judges all requests of a run, adds one copy for every later requirement set, e.g. 1.1. A copy
 * also judges the requests of probes that its set added, while the original check stays as published.
 */
export const withWidened = ({ title, checks }: Suite): Suite => ({
  title,
  checks: checks.flatMap((earlier) => {
    if (clauseOf(earlier.clause).level === "gap" || !appliesToWholeRun(earlier)) return [earlier];
    return requirementSets
      .filter((each) => isAddedAfter(earlier.since, each))
      .reduce<Check[]>((chain, since) => [...chain, repeatInSet(since, earlier, chain.at(-1) ?? earlier)], [earlier]);
  }),
});

function repeatInSet(since: RequirementSet, earlier: Check, widens: Check): Check {
  const { id, clause } = earlier;
  const name = `${id}${id === clause ? "/" : " "}in requests of ${since}`;
  return { ...earlier, id: name, since, widens, reportsOnlyBreaches: since === newestRequirements };
}

/** The checks of one section of the document. */
export interface Suite {
  readonly title: string;
  readonly checks: readonly Check[];
}

export const suite = (title: string, checks: readonly Check[]): Suite => ({ title, checks });

export const filterChecks = (suites: readonly Suite[], isKept: (check: Check, title: string) => boolean): Suite[] =>
  suites.map(({ title, checks }) => ({ title, checks: checks.filter((each) => isKept(each, title)) }));

/** A case to which a clause applies, e.g. a response, an event of a stream, or two responses that must agree. */
export interface ClauseCase<T> {
  readonly cell: Cell;
  readonly proof: Proof | null;
  /** The second message, if the case is a comparison of two messages. */
  readonly comparedWith?: Proof;
  readonly subject: T;
}

interface CheckEveryOptions<E, T, R extends string> extends CheckOptions {
  readonly matrix: CoverageMatrix;
  readonly members: (evidence: E) => readonly ClauseCase<T>[];
  /**
   * Returns how `subject` breaks the clause; `null` if it conforms, `undefined` if the clause does not apply. The
   * result is cached, so it must depend on `subject` alone.
   */
  readonly judge: (subject: T) => Mismatch | null | undefined;
  readonly whenEmpty: Finding<R> | ((evidence: E) => Finding<R>);
  /**
   * Returns the finding's `actual` for all cases that break the clause. By default, `actual` describes the first of
   * these cases.
   */
  readonly summarize?: (broken: readonly T[]) => string;
  /**
   * Judges all cases together, for example whether they are consistent. `checkEvery` calls this function only if no
   * single case is a breach.
   */
  readonly judgeAcross?: (subjects: readonly T[], evidence: E) => Finding<R>;
  /** Plural noun for the judged items in the text of a finding, e.g. `deliveries`. Default: `responses`. */
  readonly noun?: string;
}

export function checkEvery<const K extends JudgedId, const P extends Probe | ProbesByName, T>(
  clause: K,
  on: P,
  options: CheckEveryOptions<EvidenceOf<P>, T, ReadingOf<K>>,
): Check {
  const { matrix, members, whenEmpty, judgeAcross } = options;
  const judge = cachedByObject(options.judge);
  return {
    ...checkIdentity(clause, options),
    on,
    matrix,
    also: options.also ?? [],
    judge: (evidence: EvidenceOf<P>): Finding => {
      const judged: JudgedCase<T>[] = [];
      for (const member of members(evidence)) {
        const mismatch = judge(member.subject);
        if (mismatch !== undefined) judged.push({ member, mismatch });
      }
      if (judged.length === 0) return typeof whenEmpty === "function" ? whenEmpty(evidence) : whenEmpty;
      const finding =
        breachOf(judged, options) ??
        judgeAcross?.(
          judged.map(({ member: { subject } }) => subject),
          evidence,
        ) ??
        holds();
      return { ...finding, seen: coverageOf(matrix, judged) };
    },
  };
}

/** Returns `judge` with a cache of its results, because the selftest judges most responses several times. */
function cachedByObject<T, V>(judge: (subject: T) => V): (subject: T) => V {
  const cached = memoizeByObject((subject: T & object) => judge(subject));
  return (subject) => (typeof subject === "object" && subject !== null ? cached(subject) : judge(subject));
}

interface JudgedCase<T> {
  readonly member: ClauseCase<T>;
  readonly mismatch: Mismatch | null;
}

function breachOf<T>(
  judged: readonly JudgedCase<T>[],
  { summarize, noun = "responses" }: Pick<CheckEveryOptions<never, T, never>, "summarize" | "noun">,
): Breach | null {
  const broken = judged.flatMap(({ member, mismatch }) => (mismatch === null ? [] : [{ ...member, mismatch }]));
  const [first] = broken;
  if (first === undefined) return null;
  const proofs = broken.flatMap(({ proof }) => proof ?? []);
  const smallest = proofs.toSorted((one, other) => sizeOf(one) - sizeOf(other)).slice(0, 1);
  const shown = new Set([
    ...(first.comparedWith === undefined ? [] : [first.comparedWith]),
    ...proofs.slice(0, 1),
    ...smallest,
  ]);
  const share = judged.length === 1 ? "" : `on ${broken.length} of ${judged.length} ${noun}: `;
  const actual = summarize?.(broken.map(({ subject }) => subject)) ?? first.mismatch.actual;
  return breach(first.mismatch.expected, `${share}${actual}`, ...shown);
}

const sizeOf = (proof: Proof): number => {
  const sent = proof.request.body.kind === "text" ? proof.request.body.text.length : 0;
  return sent + ("answer" in proof ? (bodyText(proof)?.length ?? 0) : 0);
};

function coverageOf(matrix: CoverageMatrix, judged: readonly JudgedCase<unknown>[]): Coverage {
  const counts = countCells(judged);
  const countOf = ({ of, kind }: Cell): CellCoverage | undefined => counts.byName.get(of)?.get(kind);
  const documented = matrix.cells.flatMap((cell) => countOf(cell) ?? []);
  return {
    looked: judged.length,
    broken: judged.filter(({ mismatch }) => mismatch !== null).length,
    unseen: matrix.cells.filter((cell) => countOf(cell) === undefined && !hasOtherSuccess(cell, counts)),
    cells: [...new Set([...documented, ...counts.inOrder])],
  };
}

interface CellCounts {
  readonly byName: ReadonlyMap<string, ReadonlyMap<string, CellCoverage>>;
  readonly inOrder: readonly CellCoverage[];
}

function countCells(judged: readonly JudgedCase<unknown>[]): CellCounts {
  const byName = new Map<string, Map<string, { -readonly [K in keyof CellCoverage]: CellCoverage[K] }>>();
  const inOrder: CellCoverage[] = [];
  for (const { member, mismatch } of judged) {
    const { of, kind } = member.cell;
    const byKind = byName.get(of) ?? new Map();
    let cell = byKind.get(kind);
    if (cell === undefined) {
      cell = { of, kind, looked: 0, broken: 0 };
      byName.set(of, byKind.set(kind, cell));
      inOrder.push(cell);
    }
    cell.looked += 1;
    if (mismatch !== null) cell.broken += 1;
  }
  return { byName, inOrder };
}

/** Whether the endpoint of a 200 or 201 cell answered with another 2xx status. Such a cell is not listed as unseen. */
const hasOtherSuccess = ({ of, kind }: Cell, { byName }: CellCounts): boolean =>
  /^20[01]$/.test(kind) && [...(byName.get(of)?.keys() ?? [])].some((other) => /^2\d\d$/.test(other));
