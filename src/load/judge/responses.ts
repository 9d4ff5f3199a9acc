import { formatNumber, sumOf } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import type { LoadEvidence, SecondCounts } from "../../evidence/load-evidence.ts";
import { type BodyRule, bodyRules } from "../../rules/bodies/rules.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { createCoverageCounter, matrixRow } from "./coverage.ts";
import { describeRequest, hasCountsOnly, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** Maximum number of violations that a finding lists. */
const maxListed = 5;

/**
 * Judges each response by itself, and counts the judged responses.
 * @param check returns the mismatch, `null` if there is none, or `undefined` if the clause does not apply
 */
export function judgeResponses(
  responses: Iterable<SampledRequest>,
  check: (sample: SampledRequest) => Mismatch | null | undefined,
  facts: LoadFacts,
  whenNone: string,
): JudgeResult {
  const counter = createCoverageCounter();
  const violations: { readonly sample: SampledRequest; readonly mismatch: Mismatch }[] = [];
  for (const sample of responses) {
    const mismatch = check(sample);
    if (mismatch === undefined) continue;
    counter.add(sample.cell, mismatch !== null);
    if (mismatch !== null) violations.push({ sample, mismatch });
  }
  const seen = counter.coverage();
  const [first] = violations;
  if (seen.looked === 0) return unproven(whenNone);
  if (first === undefined) return { ...holds(formatCount(seen.looked, "response")), seen };
  const { expected, actual } = first.mismatch;
  const witness = violations.slice(0, maxListed).map(({ sample }) => describeRequest(sample, facts));
  return { ...breach(expected, `${formatShare(violations.length, seen.looked)}${actual}`, witness), seen };
}

/** Formats a prefix such as `on 3 of 41,000 responses: `. Empty if only one response was judged. */
export const formatShare = (broken: number, checked: number, noun = "responses"): string =>
  checked === 1 ? "" : `on ${formatNumber(broken)} of ${formatNumber(checked)} ${noun}: `;

export type FlowEndpoint = LoadEvidence["flows"][number]["operation"]["kind"];

/** How many responses of one second were judged, how many broke the clause, and the first mismatch. */
export interface SecondCountsResult {
  readonly checked: number;
  readonly broken: number;
  readonly mismatch: Mismatch | null;
}

/** Judges a long run, whose evidence has only counts per second. */
export function judgeSecondCounts(
  { evidence: { summary, flows, tier } }: LoadFacts,
  check: (counts: SecondCounts, endpoint: FlowEndpoint | undefined) => SecondCountsResult,
  whenNone: string,
): JudgeResult {
  const endpoints = new Map(flows.map(({ name, operation }) => [name, operation.kind]));
  const cells = new Map<string, { readonly of: string; readonly kind: string }>();
  const counter = createCoverageCounter();
  let first: Mismatch | null = null;
  for (const counts of summary) {
    const endpoint = endpoints.get(counts.flow);
    const { checked, broken, mismatch } = check(counts, endpoint);
    const of = matrixRow(endpoint ?? counts.flow, tier, counts.key);
    const cell = cells.get(of) ?? { of, kind: "all" };
    cells.set(of, cell);
    if (checked > broken) counter.add(cell, false, checked - broken);
    if (broken > 0) counter.add(cell, true, broken);
    first ??= mismatch;
  }
  const seen = counter.coverage();
  if (seen.looked === 0) return unproven(whenNone);
  if (first === null) return { ...holds(formatCount(seen.looked, "response")), seen };
  return { ...breach(first.expected, `${formatShare(seen.broken, seen.looked)}${first.actual}`), seen };
}

const noBodies = "the evidence has no checked body of such a response";

/**
 * Creates the judge of a clause about bodies. The engine compared the bodies with the document during the run, and the
 * evidence has the mismatches.
 */
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

/** Judges of the clauses about bodies of single responses. */
export const bodyJudges: readonly (readonly [clause: string, judge: (facts: LoadFacts) => JudgeResult])[] =
  bodyRules.map((rule) => [rule.clause, judgeBodies(rule)]);
