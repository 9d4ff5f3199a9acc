import { bodyText } from "../evidence/exchange.ts";
import type { JudgedId, ReadingOf } from "../interface/clauses.ts";
import { type Check, type CheckOptions, type EvidenceOf, idOf, type Probes } from "./check.ts";
import { type Breach, breach, type Finding, holds, type Proof } from "./finding.ts";
import type { Wrong } from "../base/wrong.ts";
import type { Probe } from "./probe.ts";
import { type Cell, cellName, type Seen, type SeenCell, type Universe } from "./universe.ts";

/** One of the things that a sentence speaks of. */
export interface Member<T> {
  readonly cell: Cell;
  /** What shows it; `null` where so little of it was kept that nothing can. */
  readonly proof: Proof | null;
  readonly subject: T;
}

interface UniversalParts<E, T, R extends string> extends CheckOptions {
  readonly universe: Universe;
  /** All that the run saw of it. */
  readonly members: (evidence: E) => readonly Member<T>[];
  /** What is wrong with one, `null` where nothing is, `undefined` where the clause says nothing of it. */
  readonly say: (subject: T, evidence: E) => Wrong | null | undefined;
  /** Where there was none to look at. */
  readonly none: Finding<R> | ((evidence: E) => Finding<R>);
  /** What is said of all that are broken: of the first unless told. */
  readonly together?: (broken: readonly T[]) => string;
  /** What sound members have in common. */
  readonly agree?: (subjects: readonly T[], evidence: E) => Finding<R>;
  /** What members are called: `answers` unless told. */
  readonly noun?: string;
}

/** A check of a sentence that speaks of a whole set: judged on every member of it that the run saw, whichever probe asked. */
export const universal = <const K extends JudgedId, const P extends Probe | Probes, T>(
  clause: K,
  on: P,
  parts: UniversalParts<EvidenceOf<P>, T, ReadingOf<K>>,
): Check => ({
  id: idOf(clause, parts),
  clause,
  on,
  universe: parts.universe,
  also: parts.also ?? [],
  judge: (evidence: EvidenceOf<P>): Finding => judgeUniverse(evidence, parts),
});

interface Looked<T> extends Member<T> {
  readonly wrong: Wrong | null;
}

function judgeUniverse<E, T, R extends string>(evidence: E, parts: UniversalParts<E, T, R>): Finding<R> {
  const { universe, members, say, none, agree } = parts;
  const looked = members(evidence).flatMap((member): Looked<T>[] => {
    const wrong = say(member.subject, evidence);
    return wrong === undefined ? [] : [{ ...member, wrong }];
  });
  if (looked.length === 0) return typeof none === "function" ? none(evidence) : none;
  const seen = seenOf(universe, looked);
  const broken = brokenOf(looked, parts);
  if (broken !== null) return { ...broken, seen };
  const agreed = agree?.(
    looked.map(({ subject }) => subject),
    evidence,
  );
  return { ...(agreed ?? holds()), seen };
}

/** One breach for all that are broken, shown by the first and by the smallest; `null` where none is. */
function brokenOf<T>(
  looked: readonly Looked<T>[],
  { together, noun = "answers" }: Pick<UniversalParts<never, T, never>, "together" | "noun">,
): Breach | null {
  const broken = looked.flatMap(({ subject, proof, wrong }) => (wrong === null ? [] : [{ subject, proof, wrong }]));
  const [first] = broken;
  if (first === undefined) return null;
  const proofs = broken.flatMap(({ proof }) => proof ?? []);
  const smallest = proofs.toSorted((one, other) => sizeOf(one) - sizeOf(other)).slice(0, 1);
  const share = looked.length === 1 ? "" : `on ${broken.length} of ${looked.length} ${noun}: `;
  const said = together?.(broken.map(({ subject }) => subject)) ?? first.wrong.actual;
  return breach(first.wrong.expected, `${share}${said}`, ...new Set([...proofs.slice(0, 1), ...smallest]));
}

const sizeOf = (proof: Proof): number => {
  const sent = proof.request.body.kind === "text" ? proof.request.body.text.length : 0;
  return sent + ("answer" in proof ? (bodyText(proof)?.length ?? 0) : 0);
};

function seenOf(universe: Universe, looked: readonly Looked<unknown>[]): Seen {
  const byName = Map.groupBy(looked, ({ cell }) => cellName(cell));
  const known = universe.cells.map(cellName);
  const names = [
    ...known.filter((name) => byName.has(name)),
    ...[...byName.keys()].filter((each) => !known.includes(each)),
  ];
  return {
    ...countOf(looked),
    unseen: universe.cells.filter((each) => !byName.has(cellName(each)) && !hasOtherSuccess(each, looked)),
    cells: names.flatMap((name): SeenCell[] => {
      const those = byName.get(name) ?? [];
      const [first] = those;
      return first === undefined ? [] : [{ ...first.cell, ...countOf(those) }];
    }),
  };
}

/** A creation answers 200 or 201, and whoever has seen one will not see the other. */
const hasOtherSuccess = ({ of, kind }: Cell, looked: readonly Looked<unknown>[]): boolean =>
  /^20[01]$/.test(kind) && looked.some(({ cell }) => cell.of === of && /^2\d\d$/.test(cell.kind));

const countOf = (looked: readonly Looked<unknown>[]): Pick<Seen, "looked" | "broken"> => ({
  looked: looked.length,
  broken: looked.filter(({ wrong }) => wrong !== null).length,
});
