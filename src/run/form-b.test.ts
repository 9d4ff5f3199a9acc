import { describe, expect, it } from "vitest";

import { hasPython } from "../base/testing/test-scope.ts";
import { clauseOf } from "../spec/clauses.ts";
import { suites } from "../suites/all.ts";
import { runSuites } from "./run.ts";
import type { RunResult } from "./run-result.ts";
import { selectChecks } from "./plan/selection.ts";
import { startFormBServer } from "./testing/form-b-server.ts";

type Judged = Extract<RunResult, { kind: "judged" }>;

/** Whether the run with this defect uses slow agents, which take real time. `null` is the run without a defect. */
const isSlow = (defect: string | null): boolean => defect === null || defect === "retry-after-in-milliseconds";

/** The suites for a server whose `Remaining` falls too fast: all of them would leave HDR-12 too few requests. */
const fewSuites = selectChecks(suites, { only: ["HDR-*", "ERR-*", "LST-*"], skip: [] });

async function judge(defect: string | null): Promise<Judged> {
  const server = await startFormBServer(defect);
  const { answering = "", streaming = "" } = server.target.agents;
  try {
    const result = await runSuites({
      target: { ...server.target, agents: isSlow(defect) ? server.target.agents : { answering, streaming } },
      suites: defect === "remaining-falls-by-two" ? fewSuites : suites,
      maxRequests: 5000,
      maxWaitMs: 2000,
      signal: new AbortController().signal,
    });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    return result;
  } finally {
    server.close();
  }
}

const breaches = ({ judgements }: Judged): string[] =>
  judgements.flatMap(({ check, finding }) =>
    finding.kind === "breach" ? [`${check.clause}: ${finding.expected}; ${finding.actual}`] : [],
  );
const broken = (result: Judged): string[] => [...new Set(breaches(result).map((each) => each.replace(/:.*/s, "")))];
const failures = ({ judgements }: Judged): unknown[] =>
  judgements.flatMap(({ finding }) => (finding.kind === "error" ? [finding.reason] : []));

let running: ReturnType<typeof judge> | undefined;
/** Tests the server without a defect. All tests share one run. */
const runOnce = (): ReturnType<typeof judge> => (running ??= judge(null));

describe.skipIf(!hasPython()).concurrent("a server of another author, in another language and in form B", () => {
  it("gives no false alarm", async () => {
    const result = await runOnce();
    expect(breaches(result)).toEqual([]);
    expect(failures(result)).toEqual([]);
    expect(result.stopped).toBeNull();
  });

  it("follows the expected readings", async () => {
    const { judgements } = await runOnce();
    const readings = Object.fromEntries(
      judgements.flatMap(({ check, finding }) => (finding.kind === "follows" ? [[check.id, finding.reading]] : [])),
    );
    expect(readings).toMatchObject({
      "ERR-2": "form-b",
      "ERR-9": "RATE_LIMITED",
      "REQ-7/list": "envelope",
      "HDR-10": "minute",
      "SSE-8": "absent",
      "SSE-10": "from-1",
    });
  });

  it("has most clauses proven", async () => {
    const { judgements } = await runOnce();
    const proven = judgements.filter(
      ({ check, finding }) =>
        clauseOf(check.clause).level === "must" && (finding.kind === "holds" || finding.kind === "follows"),
    );
    expect(new Set(proven.map(({ check }) => check.clause)).size).toBeGreaterThan(75);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ["done-without-execution-time", ["SSE-14"], []],
    // HDR-13 covers concurrent requests. The clause turns red only if all of these requests are admitted in the same
    // window.
    ["remaining-falls-by-two", ["HDR-12"], ["HDR-13"]],
    ["retry-after-in-milliseconds", ["ERR-16"], []],
    ["no-headers-on-404", ["HDR-2", "HDR-7", "HDR-8"], []],
    ["unknown-parameters-refused", ["INV-12"], []],
    ["wrong-key-is-forbidden", ["AUTH-3", "ERR-1", "ERR-10"], []],
  ])("is caught at %s, and at nothing else", async (defect, clauses, perhaps) => {
    const result = await judge(defect);
    expect(
      broken(result)
        .filter((clause) => !perhaps.includes(clause))
        .toSorted(),
    ).toEqual(clauses);
    expect(failures(result)).toEqual([]);
  });
});
