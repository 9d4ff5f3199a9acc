import { describe, expect, it } from "vitest";

import { publishedTiers } from "../../spec/tiers.ts";
import { anExchange } from "../testing/evidence.ts";
import { type Check, check, observe, suite } from "./check.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import { breach, follows, holds, inapplicable, observed, unproven } from "./finding.ts";
import { judgeAll, resultsByProbe, type ProbeResults } from "./judge.ts";
import { planProbes } from "../plan/plan.ts";
import { probe, tierProbe } from "../probe.ts";
import { aKey, aTarget } from "../testing/targets.ts";

const one = probe("one", { requests: 1 }, () => Promise.resolve({ value: 1 }));
const two = probe("two", { requests: 1 }, () => Promise.resolve({ value: 2 }));
const tiered = tierProbe("tiered", { requests: () => 1, waitSeconds: () => 0 }, () => Promise.resolve({ value: 3 }));

const ran = (evidence: unknown): ProbeResult => ({ kind: "ran", evidence });
const results = (entries: Readonly<Record<string, readonly (readonly [string | null, ProbeResult])[]>>): ProbeResults =>
  new Map(
    Object.entries(entries).map(([name, rows]) => [name, rows.map(([instance, result]) => ({ instance, result }))]),
  );

const judge = (each: Check, given: ProbeResults) =>
  judgeAll([suite("S", [each])], given).map(({ instance, finding, exchanges }) => ({ instance, finding, exchanges }));

describe("judging", () => {
  const shown = [anExchange("x1"), anExchange("x2")] as const;
  const evidence = results({ one: [[null, ran({ first: shown[0], all: shown })]] });

  it.each([
    [
      "a breach names the exchanges that the check names",
      check("INV-1", one, () => breach("a", "b", shown[1])),
      ["x2"],
    ],
    ["a breach names all of the evidence's otherwise", check("INV-1", one, () => breach("a", "b")), ["x1", "x1", "x2"]],
    ["a reading names what it rests on", check("INV-3", one, () => follows("absent")), ["x1", "x1", "x2"]],
    ["so does an observation", observe("INV-21", one, () => observed("400")), ["x1", "x1", "x2"]],
    ["what holds needs no proof in the report", check("INV-1", one, holds), []],
    ["what is unproven has none", check("INV-1", one, () => unproven("no case")), []],
  ])("%s", (_, each, exchanges) => {
    expect(judge(each, evidence).map((row) => row.exchanges)).toEqual([exchanges]);
  });

  it("has no row for what a clause does not speak of, and none without a row", () => {
    const silent = (as: string): Check => check("INV-1", one, () => inapplicable("not spoken of"), { as });
    const rowsOf = (...checks: readonly Check[]) => judgeAll([suite("S", checks)], evidence).map((row) => row.check.id);
    expect(rowsOf(silent("a"), check("INV-1", one, holds), silent("b"))).toEqual(["INV-1"]);
    expect(rowsOf(silent("a"), silent("b"))).toEqual(["INV-1/a"]);
  });

  it("takes a check that throws for a fault of the harness", () => {
    const throwing = check("INV-1", one, () => {
      throw new TypeError("no such field");
    });
    expect(judge(throwing, evidence)[0]?.finding).toMatchObject({
      kind: "error",
      reason: expect.stringMatching(/^the check INV-1 failed: TypeError: no such field/) as string,
    });
  });

  it("takes a probe that broke for a fault of the harness", () => {
    const given = results({ one: [[null, { kind: "broken", error: "TypeError: x" }]] });
    expect(judge(check("INV-1", one, holds), given)[0]?.finding).toEqual({
      kind: "error",
      reason: 'the probe "one" failed: TypeError: x',
    });
  });

  it("passes nothing whose probe did not run", () => {
    const given = results({
      one: [[null, { kind: "skipped", reason: "no time", needs: "more" }]],
      two: [[null, ran({})]],
    });
    const finding = { kind: "unproven", reason: "no time", needs: "more" };
    expect(judge(check("INV-1", one, holds), given)[0]?.finding).toEqual(finding);
    expect(judge(check("INV-1", { a: two, b: one }, holds), given)[0]?.finding).toEqual(finding);
    expect(judge(check("INV-1", one, holds), new Map())[0]?.finding).toMatchObject({ kind: "unproven" });
  });

  it("gives a check of several probes their evidence by name", () => {
    const given = results({ one: [[null, ran({ value: 5 })]], two: [[null, ran({ value: 7 })]] });
    const both = check("INV-1", { a: one, b: two }, ({ a, b }) => breach(String(a.value), String(b.value)));
    expect(judge(both, given)[0]?.finding).toMatchObject({ expected: "5", actual: "7" });
  });

  it("judges each tier for itself, beside what there is once", () => {
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

  it("says what is needed where no key's tier is known", () => {
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

  it("has each probe once, and a tier's probe once for each tier that a usable key has", () => {
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

  it("skips what the target cannot give, and says which line would enable it", () => {
    expect(planned.find(({ probe: { name } }) => name === "needy")?.skip).toEqual({
      reason: "the target has no `agents.slow`",
      needs: { need: "agents.slow" },
    });
  });

  it("knows which probes only observations rest on", () => {
    expect(planned.filter(({ isJudged }) => !isJudged).map(({ probe: { name } }) => name)).toEqual(["two"]);
  });

  it("keeps results of several instances apart", () => {
    const runs = planned.map((each) => ({ planned: each, result: ran(each.tested?.tier ?? "once") }));
    expect(
      resultsByProbe(runs)
        .get("tiered")
        ?.map(({ instance }) => instance),
    ).toEqual(["pro", "free"]);
  });
});
