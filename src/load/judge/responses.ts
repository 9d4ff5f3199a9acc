import { formatNumber } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import type { LoadEvidence, SecondCounts } from "../load-evidence.ts";
import { describeRequest, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { matrixRow, createCoverageCounter } from "./coverage.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** Of so many that are broken, a person looks at the first ones. */
const mostShown = 5;

/** What is wrong with one, `null` where nothing is, `undefined` where the clause says nothing of it. */
export type SaidOfOne = Mismatch | null | undefined;

/** Judges each of these answers by itself, and counts them by cell: those of which something was said. */
export function judgeResponses(
  answers: Iterable<SampledRequest>,
  say: (sample: SampledRequest) => SaidOfOne,
  facts: LoadFacts,
  none: string,
): JudgeResult {
  const tally = createCoverageCounter();
  const wrong: { readonly sample: SampledRequest; readonly wrong: Mismatch }[] = [];
  for (const sample of answers) {
    const said = say(sample);
    if (said === undefined) continue;
    tally.add(sample.cell, said !== null);
    if (said !== null) wrong.push({ sample, wrong: said });
  }
  const seen = tally.coverage();
  const [first] = wrong;
  if (seen.looked === 0) return unproven(none);
  if (first === undefined) return { ...holds(formatCount(seen.looked, "answer")), seen };
  const { expected, actual } = first.wrong;
  const witness = wrong.slice(0, mostShown).map(({ sample }) => describeRequest(sample, facts));
  return { ...breach(expected, `${formatShare(wrong.length, seen.looked)}${actual}`, witness), seen };
}

/** `on 3 of 41,000 answers: `; nothing where one was looked at. */
export const formatShare = (broken: number, looked: number, noun = "answers"): string =>
  looked === 1 ? "" : `on ${formatNumber(broken)} of ${formatNumber(looked)} ${noun}: `;

/** What a flow asks for. */
export type FlowEndpoint = LoadEvidence["flows"][number]["operation"]["kind"];

/** What the exact counts of a second say of a clause: how many were looked at, how many of them are broken, and how the first is. */
export interface SecondCountsResult {
  readonly looked: number;
  readonly broken: number;
  readonly wrong: Mismatch | null;
}

/** Judges a run of which exact counts were kept, and not each answer: all of them were looked at when they came. */
export function judgeSecondCounts(
  { evidence: { summary, flows, tier } }: LoadFacts,
  say: (slot: SecondCounts, endpoint: FlowEndpoint | undefined) => SecondCountsResult,
  none: string,
): JudgeResult {
  const endpoints = new Map(flows.map(({ name, operation }) => [name, operation.kind]));
  const cells = new Map<string, { readonly of: string; readonly kind: string }>();
  const tally = createCoverageCounter();
  let first: Mismatch | null = null;
  for (const slot of summary) {
    const endpoint = endpoints.get(slot.flow);
    const { looked, broken, wrong } = say(slot, endpoint);
    const of = matrixRow(endpoint ?? slot.flow, tier, slot.key);
    const cell = cells.get(of) ?? { of, kind: "all" };
    cells.set(of, cell);
    if (looked > broken) tally.add(cell, false, looked - broken);
    if (broken > 0) tally.add(cell, true, broken);
    first ??= wrong;
  }
  const seen = tally.coverage();
  if (seen.looked === 0) return unproven(none);
  if (first === null) return { ...holds(formatCount(seen.looked, "answer")), seen };
  return { ...breach(first.expected, `${formatShare(seen.broken, seen.looked)}${first.actual}`), seen };
}
