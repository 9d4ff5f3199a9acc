import { dayMs } from "../../../base/duration.ts";
import { newestRequirements } from "../../../spec/clause.ts";
import { tierNames } from "../../../spec/tiers.ts";
import { totalsOf, verdictOf } from "../../model/verdict.ts";
import { type Night, type NightFinding, nightFormat, type NightLoad, nothingReported, trialIdText } from "../night.ts";
import type { TrialId } from "../../model/load-results.ts";
import { seededRandom } from "../../../base/numbers.ts";
import { randomUUID } from "node:crypto";
import { defaultRegressionRules } from "../../compare/regression-rules.ts";
import { judgeNight, trialsToConfirm, type NightJudgement, changesToReport } from "../gate/judge-night.ts";

/** The real changes in a simulated history. All other differences are noise. Night numbers begin with 0. */
interface SimulatedChanges {
  readonly nights: number;
  readonly checks: number;
  /** Load of this scenario is slower by `share` from night `from` on; `null` for no slow-down. */
  readonly slower: { readonly from: number; readonly share: number; readonly scenario: string } | null;
  /** This check fails from night `from` on; `null` for no failure. */
  readonly failing: { readonly from: number; readonly check: string } | null;
}

export const noChanges: SimulatedChanges = { nights: 60, checks: 60, slower: null, failing: null };

/** One night of a simulated target. `confirmationRuns` returns the results of second runs on that night. */
interface SimulatedNight {
  readonly night: Night;
  readonly confirmationRuns: (names: readonly TrialId[]) => NightLoad[];
}

const loadTrials: readonly TrialId[] = ["burst", "concurrency"].flatMap((scenario) =>
  tierNames.map((tier) => ({ scenario, tier, engine: "autocannon" })),
);
const firstMs = Date.parse("2030-01-01T02:00:00.000Z");

/**
 * Simulates nights of a target on a shared machine. Single latencies scatter log-normally by 5 to 8 %, and all latencies of a night
 * together by 2 %. On one night in twenty, everything is slower by 30 to 100 %, as if the machine did other work. Sometimes an
 * observation differs.
 */
export function simulateNights(seed: number, truth: SimulatedChanges): SimulatedNight[] {
  const numbers = seededRandom(seed);
  const levels = loadTrials.map(() => ({
    p50: 10 + 200 * numbers(),
    p90: 1.2 + numbers(),
    refused: 2 + 40 * numbers(),
    scatter: 0.05 + 0.03 * numbers(),
  }));
  return Array.from({ length: truth.nights }, (_, at): SimulatedNight => {
    const neighbour = numbers() < 0.05 ? 1.3 + 0.7 * numbers() : 1;
    const machine = neighbour * Math.exp(0.02 * normallyDistributed(numbers));
    const sendAll = (): NightLoad[] =>
      loadTrials.map((name, place) => {
        const level = levels[place] ?? { p50: 1, p90: 1, refused: 1, scatter: 0 };
        const run = 0.8 * normallyDistributed(numbers);
        const noise = (): number => machine * Math.exp(level.scatter * (run + 0.6 * normallyDistributed(numbers)));
        const { slower } = truth;
        const slow = slower !== null && at >= slower.from && name.scenario === slower.scenario ? 1 + slower.share : 1;
        return loadNight(name, {
          p50: level.p50 * slow * noise(),
          p90: level.p50 * level.p90 * slow * noise(),
          refused: level.refused * slow * noise(),
        });
      });
    const [load, again] = [sendAll(), sendAll()];
    const night = sampleNight(at, load, findingsOf(at, truth, numbers));
    return {
      night,
      confirmationRuns: (names) =>
        again.filter((each) => names.some((name) => trialIdText(name) === trialIdText(each))),
    };
  });
}

const normallyDistributed = (numbers: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - numbers())) * Math.cos(2 * Math.PI * numbers());

const loadNight = (
  name: TrialId,
  ms: { readonly p50: number; readonly p90: number; readonly refused: number },
): NightLoad => ({
  ...name,
  requests: { planned: 210, sent: 210, admitted: 110, refused: 100, failed: 0, unanswered: 0 },
  perSecond: { sent: 100, admitted: 52 },
  latencyMs: {
    admitted: { count: 110, p50: ms.p50, p90: Math.max(ms.p50, ms.p90), p99: 2 * ms.p90 },
    refused: { count: 100, p50: ms.refused, p90: 1.5 * ms.refused, p99: 2 * ms.refused },
  },
  validity: { invalid: null, counts: null, pace: null },
});

function findingsOf(at: number, { failing, checks }: SimulatedChanges, numbers: () => number): NightFinding[] {
  return Array.from({ length: checks }, (_, place): NightFinding => {
    const check = `INV-${place + 1}`;
    const isGap = place % 5 === 4;
    const row = { check, clause: check, suite: "Invoke", level: isGap ? "gap" : "must" } as const;
    if (failing !== null && at >= failing.from && failing.check === check)
      return { ...row, outcome: "fail", expected: "200", actual: "500 with the code INTERNAL" };
    if (isGap) return { ...row, outcome: "observed", reason: numbers() < 0.02 ? "answers 202" : "answers 201" };
    return { ...row, outcome: "pass" };
  });
}

export function sampleNight(at: number, load: readonly NightLoad[], findings: readonly NightFinding[]): Night {
  const started = new Date(firstMs + at * dayMs).toISOString();
  return {
    format: nightFormat,
    id: `${started.replace(/[:.]/g, "-")}-${randomUUID().slice(0, 8)}`,
    started,
    finished: new Date(firstMs + at * dayMs + 300_000).toISOString(),
    suite: { version: "0.1.0", clauses: "0123456789abcdef", requirements: newestRequirements },
    target: { name: "Acme", baseUrl: "https://acme.example/v1", fingerprint: "f00d", tiers: {} },
    verdict: verdictOf(findings, null),
    requests: 5000,
    totals: totalsOf(findings),
    findings,
    unselected: [],
    load,
    second: [],
    reported: nothingReported,
  };
}

interface ReplayedHistory {
  readonly nights: readonly Night[];
  readonly judgements: readonly NightJudgement[];
  /** Number of second runs that the judgements requested. */
  readonly confirmations: number;
}

/** Replays simulated nights one by one, like `conformance nightly`: first runs, second runs, judgement, history entry. */
export function replayNights(simulated: readonly SimulatedNight[]): ReplayedHistory {
  const nights: Night[] = [];
  const judgements: NightJudgement[] = [];
  let confirmations = 0;
  for (const { night: first, confirmationRuns } of simulated) {
    const second = confirmationRuns(trialsToConfirm(nights, first));
    confirmations += second.length;
    const night = { ...first, second };
    const judgement = judgeNight(nights, night, defaultRegressionRules);
    judgements.push(judgement);
    nights.push({ ...night, reported: changesToReport(judgement) });
  }
  return { nights, judgements, confirmations };
}
