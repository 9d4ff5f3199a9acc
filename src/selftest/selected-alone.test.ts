import { describe, expect, it } from "vitest";

import { sampleOf } from "../base/testing/test-scope.ts";
import { suiteFaults } from "../reference/catalogue.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import type { Patch } from "../reference/patch.ts";
import type { Judgement } from "../run/judge/judge-evidence.ts";
import { selectChecks } from "../run/plan/selection.ts";
import { runSuites } from "../run/run.ts";
import { clauseOf, clausesOfParty } from "../spec/clauses.ts";
import { suites } from "../suites/all.ts";

/** Runs only the checks of these clauses against the embedded server. Without clauses, runs all checks. */
async function runAlone(only: readonly string[], patches: readonly Patch[] = []): Promise<readonly Judgement[]> {
  const embedded = await startEmbedded(patches);
  try {
    const { judgements } = await runSuites({
      target: embedded.target,
      suites: selectChecks(suites, { only, skip: [] }),
      maxWaitMs: 0,
      signal: new AbortController().signal,
      deadlines: { headMs: 6000, silenceMs: 6000, exchangeMs: 12_000 },
    });
    return judgements;
  } finally {
    await embedded.close();
  }
}

const isExercised = ({ finding }: Judgement): boolean => !["unproven", "error", "inapplicable"].includes(finding.kind);

const exercised = new Set((await runAlone([])).filter(isExercised).map(({ check }) => check.clause));
const mustsAndShoulds = clausesOfParty("server").filter((id) => ["must", "should"].includes(clauseOf(id).level));

/**
 * Faults that a run with one clause does not show. Some show only after hundreds of requests, or only with objects that
 * stay on the target for good. Others need a successful request to an agent or endpoint that the clause alone does not
 * use. For each of these clauses there are other faults.
 */
const shownByMoreOnly: Readonly<Record<string, readonly string[]>> = {
  "version-of-invoke-stays": ["VER-4"],
  "batch-looked-at-before-key": ["AUTH-16"],
  "deliveries-answer-wrong-keys-403": ["ERR-1", "ERR-10"],
  "operations-answer-wrong-keys-403": ["ERR-1", "ERR-10"],
  "limit-answers-503": ["ERR-1", "ERR-10"],
  "limit-without-error": ["ERR-2", "ERR-3", "ERR-4"],
  "hour-says-none-left-too-early": ["HDR-12"],
  "last-usage-in-text": ["USE-4"],
  "third-page-counts-twice": ["HDR-12"],
  "deliveries-count-twice": ["HDR-12"],
  "crash-answers-200": ["ERR-18"],
  "details-array-for-two-fields": ["ERR-7"],
  "warnings-missing-after-a-change": ["HLT-14"],
  "timeout-ends-silently": ["SSE-5"],
  "missing-query-other-code-beside-parameters": ["INV-10"],
  "no-chunks-at-times": ["SSE-6"],
  "failure-says-done": ["HOOK-43"],
  "unknown-agent-health-counts": ["HLT-16"],
  "list-answers-201-at-times": ["LST-1"],
  "usage-answers-201-at-times": ["USE-1"],
  "key-usage-201-at-times": ["KEY-9"],
  "max-tokens-ignored-in-streams": ["INV-15"],
  "slow-success-told-as-failed": ["HOOK-43"],
  "second-key-has-a-burst": ["HDR-20"],
  "tokens-fall": ["USE-10"],
  "remaining-above-limit-on-403": ["HDR-11"],
  "reset-in-milliseconds-on-403": ["HDR-14"],
  "reset-after-the-window-on-403": ["HDR-16"],
  "uptime-in-milliseconds-at-times": ["HLT-8"],
  "tokens-not-limited-in-batches": ["LIM-19"],
  "tokens-not-limited-in-operations": ["LIM-19"],
  "retries-from-another-address": ["HOOK-44"],
  "deployments-told-from-another-address": ["HOOK-44"],
};

const faultsOfClauses = suiteFaults.flatMap((fault) =>
  fault.breaks
    .filter((clause) => !(shownByMoreOnly[fault.name] ?? []).includes(clause))
    .map((clause) => ({ name: fault.name, clause, fault })),
);

describe("a clause that is selected alone", () => {
  it.each(
    sampleOf(
      mustsAndShoulds.filter((id) => exercised.has(id)),
      { of: 4 },
    ),
  )("%s is exercised and holds, as in a full run", async (id) => {
    const judgements = await runAlone([id]);
    expect(judgements.some(isExercised)).toBe(true);
    expect(judgements.filter(({ finding }) => finding.kind === "breach")).toEqual([]);
  });

  it.each(sampleOf(faultsOfClauses, { of: 16 }))("$clause shows the fault $name", async ({ clause, fault }) => {
    const judgements = await runAlone([clause], [fault]);
    expect(judgements.some(({ finding }) => finding.kind === "breach")).toBe(true);
  });
});

describe("clauses whose evidence the probes of others send are exercised by every check", () => {
  it.each([
    ["REQ-3"],
    ["ERR-8"],
    ["HOOK-13"],
    ["HOOK-16"],
    ["HDR-3"],
    ["HDR-4"],
    ["HDR-12"],
    ["HDR-15"],
    ["HOOK-26", "HOOK-21"],
  ])("%s", async (...only) => {
    const judgements = await runAlone(only);
    expect(judgements.filter((each) => !isExercised(each) || each.finding.kind === "breach")).toEqual([]);
  });
});
