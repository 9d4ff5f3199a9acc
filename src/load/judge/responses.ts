import { formatNumber, sumOf } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import { type LoadEvidence, type SecondCounts } from "../../evidence/load-evidence.ts";
import { type BodyRule, bodyRules } from "../../rules/bodies/rules.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";
import { matrixRow, type SampledRequest } from "./sampled-requests.ts";
import { describeRequest, hasCountsOnly, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import type { Cell, Coverage } from "../../run/judge/finding.ts";
import { getOrAdd } from "../../base/memoize.ts";

const maxListed = 5;

interface EachJudge<Item> {
  /** Returns the mismatch; `null` if there is none, and `undefined` if the clause does not apply. */
  readonly check: (item: Item) => Mismatch | null | undefined;
  readonly cellOf: (item: Item) => Cell;
  readonly describe: (item: Item) => string;
  readonly noun: "response" | "stream";
}

/** Judges each response or stream by itself. Returns `null` if the clause applies to none of the items. */
export function judgeEach<Item>(items: Iterable<Item>, { check, cellOf, describe, noun }: EachJudge<Item>) {
  const counter = createCoverageCounter();
  const violations: { readonly item: Item; readonly mismatch: Mismatch }[] = [];
  for (const item of items) {
    const mismatch = check(item);
    if (mismatch === undefined) continue;
    counter.add(cellOf(item), mismatch !== null);
    if (mismatch !== null) violations.push({ item, mismatch });
  }
  const seen = counter.coverage();
  const [first] = violations;
  if (seen.looked === 0) return null;
  if (first === undefined) return { ...holds(formatCount(seen.looked, noun)), seen };
  const { expected, actual } = first.mismatch;
  const witness = violations.slice(0, maxListed).map(({ item }) => describe(item));
  return { ...breach(expected, `${formatShare(violations.length, seen.looked, noun)}${actual}`, witness), seen };
}

/** Judges each response. `whenNone` is the finding's reason if the clause applies to no response. */
export const judgeResponses = (
  responses: Iterable<SampledRequest>,
  check: EachJudge<SampledRequest>["check"],
  facts: LoadFacts,
  whenNone: string,
): JudgeResult =>
  judgeEach(responses, {
    check,
    cellOf: ({ cell }) => cell,
    describe: (sample) => describeRequest(sample, facts),
    noun: "response",
  }) ?? unproven(whenNone);

const formatShare = (broken: number, checked: number, noun: "response" | "stream"): string =>
  checked === 1 ? "" : `on ${formatNumber(broken)} of ${formatNumber(checked)} ${noun}s: `;

export type FlowEndpoint = LoadEvidence["flows"][number]["operation"]["kind"];

interface SecondCountsResult {
  readonly checked: number;
  readonly broken: number;
  readonly mismatch: Mismatch | null;
}

/** Judges the responses of a load with too many requests to keep. Its evidence has only counts per second. */
export function judgeSecondCounts(
  { evidence: { summary, flows, tier } }: LoadFacts,
  check: (counts: SecondCounts, endpoint: FlowEndpoint | undefined) => SecondCountsResult,
  whenNone: string,
): JudgeResult {
  const endpoints = new Map(flows.map(({ name, operation }) => [name, operation.kind]));
  const cells = new Map<string, Cell>();
  const counter = createCoverageCounter();
  let first: Mismatch | null = null;
  for (const counts of summary) {
    const endpoint = endpoints.get(counts.flow);
    const { checked, broken, mismatch } = check(counts, endpoint);
    const of = matrixRow(endpoint ?? counts.flow, tier, counts.key);
    const cell = getOrAdd(cells, of, () => ({ of, kind: "all" }));
    if (checked > broken) counter.add(cell, false, checked - broken);
    if (broken > 0) counter.add(cell, true, broken);
    first ??= mismatch;
  }
  const seen = counter.coverage();
  if (seen.looked === 0) return unproven(whenNone);
  if (first === null) return { ...holds(formatCount(seen.looked, "response")), seen };
  return { ...breach(first.expected, `${formatShare(seen.broken, seen.looked, "response")}${first.actual}`), seen };
}

const noBodies = "the evidence has no checked body of such a response";

/** Creates the judge of a clause about response bodies. The evidence has no bodies, only their violations (`flaws`). */
const judgeBodies =
  ({ clause, appliesTo }: BodyRule) =>
  (facts: LoadFacts): JudgeResult => {
    if (hasCountsOnly(facts))
      return judgeSecondCounts(
        facts,
        ({ bodies }, endpoint) => {
          const judged = endpoint === undefined ? [] : bodies.filter(({ status }) => appliesTo(endpoint, status));
          const flaws = judged.flatMap((body) => body.flaws.filter((flaw) => flaw.clause === clause));
          return {
            checked: sumOf(judged.map(({ looked }) => looked)),
            broken: sumOf(flaws.map(({ count }) => count)),
            mismatch: flaws[0] ?? null,
          };
        },
        noBodies,
      );
    return judgeResponses(
      facts.sent,
      ({ flaws, status, plannedFlow }) => {
        if (flaws === null || status === null || !appliesTo(plannedFlow.operation.kind, status)) return undefined;
        return flaws.find((flaw) => flaw.clause === clause) ?? null;
      },
      facts,
      noBodies,
    );
  };

export const bodyJudges: readonly (readonly [clause: string, judge: (facts: LoadFacts) => JudgeResult])[] =
  bodyRules.map((rule) => [rule.clause, judgeBodies(rule)]);

function createCoverageCounter() {
  const counts = new Map<Cell, { looked: number; broken: number }>();
  return {
    add: (cell: Cell, isBroken: boolean, count = 1): void => {
      const kept = getOrAdd(counts, cell, () => ({ looked: 0, broken: 0 }));
      kept.looked += count;
      if (isBroken) kept.broken += count;
    },
    coverage: (): Coverage => {
      const cells = [...counts].map(([cell, count]) => ({ ...cell, ...count }));
      const sum = (of: "looked" | "broken"): number => sumOf(cells.map((cell) => cell[of]));
      return { looked: sum("looked"), broken: sum("broken"), cells, unseen: [] };
    },
  };
}
