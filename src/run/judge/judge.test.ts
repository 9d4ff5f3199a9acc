import { describe, expect, it } from "vitest";

import { publishedTiers } from "../../spec/tiers.ts";
import { aKey, anExchange, aTarget } from "../testing/values.ts";
import { type Check, check, observe, suite } from "./check.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import { breach, follows, holds, inapplicable, observed, unproven } from "./finding.ts";
import { judgeEvidence, resultsByProbe, type ProbeResults } from "./judge-evidence.ts";
import { planProbes } from "../plan/plan.ts";
import { probe, tierProbe } from "../probe.ts";

const one = probe("one", { requests: 1 }, () => Promise.resolve({ value: 1 }));
const two = probe("two", { requests: 1 }, () => Promise.resolve({ value: 2 }));
const tiered = tierProbe("tiered", { requests: () => 1, waitSeconds: () => 0 }, () => Promise.resolve({ value: 3 }));

const ran = (evidence: unknown): ProbeResult => ({ kind: "ran", evidence });
const results = (entries: Readonly<Record<string, readonly (readonly [string | null, ProbeResult])[]>>): ProbeResults =>
  new Map(
    Object.entries(entries).map(([name, rows]) => [name, rows.map(([instance, result]) => ({ instance, result }))]),
  );

const judge = (each: Check, given: ProbeResults) =>
  judgeEvidence([suite("S", [each])], given).map(({ instance, finding, evidenceIds }) => ({
    instance,
    finding,
    evidenceIds,
  }));

describe("judging", () => {
  const pair = [anExchange("x1"), anExchange("x2")] as const;
  const evidence = results({ one: [[null, ran({ first: pair[0], all: pair })]] });

  it.each([
    ["a breach lists the exchanges of the check", check("INV-1", one, () => breach("a", "b", pair[1])), ["x2"]],
    [
      "a breach without exchanges lists all of the evidence",
      check("INV-1", one, () => breach("a", "b")),
      ["x1", "x1", "x2"],
    ],
    ["a reading lists the evidence", check("INV-3", one, () => follows("absent")), ["x1", "x1", "x2"]],
    ["an observation lists the evidence", observe("INV-21", one, () => observed("400")), ["x1", "x1", "x2"]],
    ["a pass lists no exchanges", check("INV-1", one, holds), []],
    ["an unproven finding lists no exchanges", check("INV-1", one, () => unproven("no case")), []],
  ])("%s", (_, each, exchanges) => {
    expect(judge(each, evidence).map((row) => row.evidenceIds)).toEqual([exchanges]);
  });

  it("omits inapplicable rows, but keeps one row for each clause", () => {
    const silent = (as: string): Check => check("INV-1", one, () => inapplicable("not spoken of"), { as });
    const rowsOf = (...checks: readonly Check[]) =>
      judgeEvidence([suite("S", checks)], evidence).map((row) => row.check.id);
    expect(rowsOf(silent("a"), check("INV-1", one, holds), silent("b"))).toEqual(["INV-1"]);
    expect(rowsOf(silent("a"), silent("b"))).toEqual(["INV-1/a"]);
  });

  it("reports a check that throws as a failure of the harness", () => {
    const throwing = check("INV-1", one, () => {
      throw new TypeError("no such field");
    });
    expect(judge(throwing, evidence)[0]?.finding).toMatchObject({
      kind: "error",
      reason: expect.stringMatching(/^the check INV-1 failed: TypeError: no such field/) as string,
    });
  });

  it("reports a probe that failed as a failure of the harness", () => {
    const given = results({ one: [[null, { kind: "broken", error: "TypeError: x" }]] });
    expect(judge(check("INV-1", one, holds), given)[0]?.finding).toEqual({
      kind: "error",
      reason: 'the probe "one" failed: TypeError: x',
    });
  });

  it("passes no check whose probe did not run", () => {
    const given = results({
      one: [[null, { kind: "skipped", reason: "no time", needs: "more" }]],
      two: [[null, ran({})]],
    });
    const finding = { kind: "unproven", reason: "no time", needs: "more" };
    expect(judge(check("INV-1", one, holds), given)[0]?.finding).toEqual(finding);
    expect(judge(check("INV-1", { a: two, b: one }, holds), given)[0]?.finding).toEqual(finding);
    expect(judge(check("INV-1", one, holds), new Map())[0]?.finding).toMatchObject({ kind: "unproven" });
  });

  it("passes a check the evidence of its probes by name", () => {
    const given = results({ one: [[null, ran({ value: 5 })]], two: [[null, ran({ value: 7 })]] });
    const both = check("INV-1", { a: one, b: two }, ({ a, b }) => breach(String(a.value), String(b.value)));
    expect(judge(both, given)[0]?.finding).toMatchObject({ expected: "5", actual: "7" });
  });

  it("judges each tier separately, with the evidence of probes that run once", () => {
    const given = results({
      one: [[null, ran({ value: 1 })]],
      tiered: [
        ["free", ran({ value: 10 })],
        ["pro", ran({ value: 100 })],
      ],
    });
    const each = check("LIM-1", { once: one, tier: tiered }, ({ once, tier }) =>
      breach(String(once.value), String(tier.value)),
    );
    expect(judge(each, given).map(({ instance, finding }) => [instance, finding])).toMatchObject([
      ["free", { expected: "1", actual: "10" }],
      ["pro", { expected: "1", actual: "100" }],
    ]);
  });

  it("says what is needed if no key has a known tier", () => {
    expect(judge(check("LIM-1", tiered, holds), new Map())[0]).toMatchObject({
      instance: null,
      finding: { kind: "unproven", reason: "the tier of no key is known" },
    });
  });
});

describe("a plan", () => {
  const needy = probe("needy", { needs: ["agents.slow"], requests: 1 }, () => Promise.resolve({}));
  const suites = [
    suite("S", [
      check("INV-1", one, holds),
      check("INV-2", { a: one, b: needy }, holds),
      observe("INV-21", two, () => observed("x")),
      check("LIM-1", tiered, holds),
    ]),
  ];
  const keys = {
    a: aKey({ name: "a", tier: "pro" }),
    b: aKey({ name: "b", key: "pk_other", tier: "pro" }),
    c: aKey({ name: "c", key: "pk_third", tier: "free" }),
    d: aKey({ name: "d", key: "pk_old", tier: "team", expired: true }),
    e: aKey({ name: "e", key: "pk_reader", tier: "team", scope: "read-only" }),
  };
  const planned = planProbes(suites, aTarget("http://127.0.0.1:9/v1", { keys, tiers: { gold: publishedTiers.pro } }));

  it("has each probe once, and a tier probe once for each tier of a usable key", () => {
    expect(
      planned.map(({ probe: { name }, tested }) => [name, tested?.tier ?? null, tested?.key.name ?? null]),
    ).toEqual([
      ["one", null, null],
      ["needy", null, null],
      ["two", null, null],
      ["tiered", "pro", "a"],
      ["tiered", "free", "c"],
    ]);
  });

  it("skips a probe if the target lacks a need, and names the line that would enable it", () => {
    expect(planned.find(({ probe: { name } }) => name === "needy")?.skip).toEqual({
      reason: "the target has no `agents.slow`",
      needs: { need: "agents.slow" },
    });
  });

  it("marks probes that serve only observations", () => {
    expect(planned.filter(({ isJudged }) => !isJudged).map(({ probe: { name } }) => name)).toEqual(["two"]);
  });

  it("keeps results of several instances separate", () => {
    const runs = planned.map((each) => ({ planned: each, result: ran(each.tested?.tier ?? "once") }));
    expect(
      resultsByProbe(runs)
        .get("tiered")
        ?.map(({ instance }) => instance),
    ).toEqual(["pro", "free"]);
  });
});
