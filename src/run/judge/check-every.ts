import { memoizeByObject } from "../../base/memoize.ts";
import { bodyText } from "../../evidence/exchange.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";
import type { Probe } from "../probe.ts";
import { type Check, type CheckOptions, type EvidenceOf, checkIdentity, type ProbesByName } from "./check.ts";
import type { Cell, CellCoverage, Coverage, CoverageMatrix } from "./coverage.ts";
import { type Breach, breach, type Finding, holds, type Proof } from "./finding.ts";

/** A case to which a clause applies: a response, an event of a stream, or a delivery. */
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
   * Returns the mismatch; `undefined` if the clause does not apply. The result is cached, so it must depend on
   * `subject` alone.
   */
  readonly judge: (subject: T) => Mismatch | null | undefined;
  readonly whenEmpty: Finding<R> | ((evidence: E) => Finding<R>);
  /**
   * Returns the finding's `actual` from all cases that broke the clause. By default, `actual` comes from the first of
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

/** Caches a result for each object that is judged: the selftest judges most responses several times. */
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

/** Whether the cell is for 200 or 201 and its endpoint sent any 2xx status. */
const hasOtherSuccess = ({ of, kind }: Cell, { byName }: CellCounts): boolean =>
  /^20[01]$/.test(kind) && [...(byName.get(of)?.keys() ?? [])].some((other) => /^2\d\d$/.test(other));
