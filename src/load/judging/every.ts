import { grouped } from "../../base/numbers.ts";
import { counted } from "../../base/text.ts";
import type { Wrong } from "../../base/wrong.ts";
import type { LoadEvidence, SlotSummary } from "../load-evidence.ts";
import { lineOf, type LoadFacts } from "./facts.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import { cellOwner, openTally } from "./seen.ts";
import type { Sent } from "./sent.ts";

/** Of so many that are broken, a person looks at the first ones. */
const mostShown = 5;

/** What is wrong with one, `null` where nothing is, `undefined` where the clause says nothing of it. */
export type SaidOfOne = Wrong | null | undefined;

/** Judges each of these answers by itself, and counts them by cell: those of which something was said. */
export function judgeEach(
  answers: Iterable<Sent>,
  say: (sample: Sent) => SaidOfOne,
  facts: LoadFacts,
  none: string,
): Says {
  const tally = openTally();
  const wrong: { readonly sample: Sent; readonly wrong: Wrong }[] = [];
  for (const sample of answers) {
    const said = say(sample);
    if (said === undefined) continue;
    tally.add(sample.cell, said !== null);
    if (said !== null) wrong.push({ sample, wrong: said });
  }
  const seen = tally.seen();
  const [first] = wrong;
  if (seen.looked === 0) return unproven(none);
  if (first === undefined) return { ...holds(counted(seen.looked, "answer")), seen };
  const { expected, actual } = first.wrong;
  const witness = wrong.slice(0, mostShown).map(({ sample }) => lineOf(sample, facts));
  return { ...breach(expected, `${shareText(wrong.length, seen.looked)}${actual}`, witness), seen };
}

/** `on 3 of 41,000 answers: `; nothing where one was looked at. */
export const shareText = (broken: number, looked: number, noun = "answers"): string =>
  looked === 1 ? "" : `on ${grouped(broken)} of ${grouped(looked)} ${noun}: `;

/** What a flow asks for. */
export type FlowEndpoint = LoadEvidence["flows"][number]["operation"]["kind"];

/** What the exact counts of a second say of a clause: how many were looked at, how many of them are broken, and how the first is. */
export interface SlotSays {
  readonly looked: number;
  readonly broken: number;
  readonly wrong: Wrong | null;
}

/** Judges a run of which exact counts were kept, and not each answer: all of them were looked at when they came. */
export function judgeSlots(
  { evidence: { summary, flows, tier } }: LoadFacts,
  say: (slot: SlotSummary, endpoint: FlowEndpoint | undefined) => SlotSays,
  none: string,
): Says {
  const endpoints = new Map(flows.map(({ name, operation }) => [name, operation.kind]));
  const cells = new Map<string, { readonly of: string; readonly kind: string }>();
  const tally = openTally();
  let first: Wrong | null = null;
  for (const slot of summary) {
    const endpoint = endpoints.get(slot.flow);
    const { looked, broken, wrong } = say(slot, endpoint);
    const of = cellOwner(endpoint ?? slot.flow, tier, slot.key);
    const cell = cells.get(of) ?? { of, kind: "all" };
    cells.set(of, cell);
    if (looked > broken) tally.add(cell, false, looked - broken);
    if (broken > 0) tally.add(cell, true, broken);
    first ??= wrong;
  }
  const seen = tally.seen();
  if (seen.looked === 0) return unproven(none);
  if (first === null) return { ...holds(counted(seen.looked, "answer")), seen };
  return { ...breach(first.expected, `${shareText(seen.broken, seen.looked)}${first.actual}`), seen };
}
