import { memoizeByObject } from "../../base/memoize.ts";
import { bodyText } from "../../evidence/exchange.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";
import { type Check, type CheckOptions, type EvidenceOf, idOf, type Probes } from "./check.ts";
import { type Breach, breach, type Finding, holds, type Proof } from "./finding.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import type { Probe } from "../probe.ts";
import type { Cell, Coverage, CellCoverage, CoverageMatrix } from "./coverage.ts";

/** One case that a clause covers. */
export interface Member<T> {
  readonly cell: Cell;
  /** The exchange or delivery that shows the case. `null` if too little of it was recorded. */
  readonly proof: Proof | null;
  readonly subject: T;
}

interface CheckEveryOptions<E, T, R extends string> extends CheckOptions {
  readonly matrix: CoverageMatrix;
  /** All cases in the evidence. */
  readonly members: (evidence: E) => readonly Member<T>[];
  /**
   * Judges one case: what is wrong, `null` if nothing, `undefined` if the clause does not apply. Depends on the
   * subject alone, because results are cached per subject.
   */
  readonly judge: (subject: T) => Mismatch | null | undefined;
  /** The finding if the evidence has no case that the clause applies to. */
  readonly whenEmpty: Finding<R> | ((evidence: E) => Finding<R>);
  /** Describes all broken cases together. Default: the `actual` of the first one. */
  readonly summarize?: (broken: readonly T[]) => string;
  /** Judges all cases together once none is broken by itself. */
  readonly judgeAcross?: (subjects: readonly T[], evidence: E) => Finding<R>;
  /** The plural noun for the cases. Default: `responses`. */
  readonly noun?: string;
}

/**
 * Creates a check of a clause that covers many cases. It judges every case that the run recorded, whichever probe
 * caused it.
 */
export const checkEvery = <const K extends JudgedId, const P extends Probe | Probes, T>(
  clause: K,
  on: P,
  parts: CheckEveryOptions<EvidenceOf<P>, T, ReadingOf<K>>,
): Check => {
  const said = saidOnce(parts.judge);
  return {
    id: idOf(clause, parts),
    clause,
    on,
    matrix: parts.matrix,
    also: parts.also ?? [],
    judge: (evidence: EvidenceOf<P>): Finding => judgeUniverse(evidence, { ...parts, judge: said }),
  };
};

/**
 * Caches the result per object. A mutant changes one response of hundreds, so the others need no second judgement.
 */
function saidOnce<T, V>(say: (subject: T) => V): (subject: T) => V {
  const known = memoizeByObject((subject: T & object) => say(subject));
  return (subject) => (typeof subject === "object" && subject !== null ? known(subject) : say(subject));
}

interface Looked<T> {
  readonly member: Member<T>;
  readonly wrong: Mismatch | null;
}

function judgeUniverse<E, T, R extends string>(evidence: E, parts: CheckEveryOptions<E, T, R>): Finding<R> {
  const { matrix, members, judge, whenEmpty, judgeAcross } = parts;
  const looked: Looked<T>[] = [];
  for (const member of members(evidence)) {
    const wrong = judge(member.subject);
    if (wrong !== undefined) looked.push({ member, wrong });
  }
  if (looked.length === 0) return typeof whenEmpty === "function" ? whenEmpty(evidence) : whenEmpty;
  const seen = seenOf(matrix, looked);
  const broken = brokenOf(looked, parts);
  if (broken !== null) return { ...broken, seen };
  const agreed = judgeAcross?.(
    looked.map(({ member: { subject } }) => subject),
    evidence,
  );
  return { ...(agreed ?? holds()), seen };
}

/** One breach for all broken cases, shown by the first and the smallest of them. `null` if none is broken. */
function brokenOf<T>(
  looked: readonly Looked<T>[],
  { summarize, noun = "answers" }: Pick<CheckEveryOptions<never, T, never>, "summarize" | "noun">,
): Breach | null {
  const broken = looked.flatMap(({ member, wrong }) => (wrong === null ? [] : [{ ...member, wrong }]));
  const [first] = broken;
  if (first === undefined) return null;
  const proofs = broken.flatMap(({ proof }) => proof ?? []);
  const smallest = proofs.toSorted((one, other) => sizeOf(one) - sizeOf(other)).slice(0, 1);
  const share = looked.length === 1 ? "" : `on ${broken.length} of ${looked.length} ${noun}: `;
  const said = summarize?.(broken.map(({ subject }) => subject)) ?? first.wrong.actual;
  return breach(first.wrong.expected, `${share}${said}`, ...new Set([...proofs.slice(0, 1), ...smallest]));
}

const sizeOf = (proof: Proof): number => {
  const sent = proof.request.body.kind === "text" ? proof.request.body.text.length : 0;
  return sent + ("answer" in proof ? (bodyText(proof)?.length ?? 0) : 0);
};

function seenOf(universe: CoverageMatrix, looked: readonly Looked<unknown>[]): Coverage {
  const counted = countedIn(looked);
  const countOf = ({ of, kind }: Cell): CellCoverage | undefined => counted.byName.get(of)?.get(kind);
  const known = universe.cells.flatMap((cell) => countOf(cell) ?? []);
  return {
    looked: looked.length,
    broken: looked.filter(({ wrong }) => wrong !== null).length,
    unseen: universe.cells.filter((each) => countOf(each) === undefined && !hasOtherSuccess(each, counted)),
    cells: [...new Set([...known, ...counted.inOrder])],
  };
}

/** Counts of each cell, in a map by endpoint and kind: responses come by the thousand. */
interface Counted {
  readonly byName: ReadonlyMap<string, ReadonlyMap<string, CellCoverage>>;
  /** In the order of the first case of each cell. */
  readonly inOrder: readonly CellCoverage[];
}

function countedIn(looked: readonly Looked<unknown>[]): Counted {
  const byName = new Map<string, Map<string, { -readonly [K in keyof CellCoverage]: CellCoverage[K] }>>();
  const inOrder: CellCoverage[] = [];
  for (const { member, wrong } of looked) {
    const { of, kind } = member.cell;
    const ofName = byName.get(of) ?? new Map();
    let cell = ofName.get(kind);
    if (cell === undefined) {
      cell = { of, kind, looked: 0, broken: 0 };
      byName.set(of, ofName.set(kind, cell));
      inOrder.push(cell);
    }
    cell.looked += 1;
    if (wrong !== null) cell.broken += 1;
  }
  return { byName, inOrder };
}

/** Whether another 2xx of the endpoint was covered. A creation returns 200 or 201, never both. */
const hasOtherSuccess = ({ of, kind }: Cell, { byName }: Counted): boolean =>
  /^20[01]$/.test(kind) && [...(byName.get(of)?.keys() ?? [])].some((other) => /^2\d\d$/.test(other));
