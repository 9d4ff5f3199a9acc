import { describe, expect, it } from "vitest";

import type { Row } from "../../base/covering-array.ts";
import { sumOf } from "../../base/numbers.ts";
import type { LimitTest } from "../../run/probe.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import type { Target } from "../../target/target.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { countPairs, neededForLimit, needForUnanswered } from "./count-pairs.ts";
import { clausesOfPair } from "./clauses-of-pairs.ts";
import { allPairs, type CutPairs, reachOf } from "./plan.ts";

const target = aTarget("http://127.0.0.1:9/v1", { keys: { free: aKey({ tier: "free" }) } });
const reach = reachOf(target, false);
const rows = reach.covering.cover({ covered: new Set(), seed: 1, costOf: () => 1 });
const fresh = rows.filter(({ state }) => state === "fresh");
const inMinute = rows.filter(({ state }) => state === "minute used up");
const answer = "an answer";
const count = (answered: readonly Row[], unanswered: ReadonlyMap<Row, Enabler | null> = new Map()) =>
  countPairs({
    target,
    readOnly: false,
    reach,
    answered,
    covered: new Set(answered.flatMap(reach.covering.pairsIn)),
    unanswered,
    tested: [],
  });
const because = (lost: readonly Row[], needs: Enabler | null) => new Map(lost.map((row) => [row, needs]));
const needsOf = (cut: readonly CutPairs[]): unknown[] => cut.map(({ needs }) => needs);

describe("counting pairs of properties", () => {
  it("leaves no pair uncovered if every generated request was answered", () => {
    const { uncovered, coveredCount } = count(rows);
    expect(uncovered).toEqual([]);
    expect(coveredCount).toBe(reach.pairs.size);
  });

  it("calls a pair uncovered if nothing explains that its requests have no response", () => {
    const { uncovered } = count(fresh, because(inMinute, null));
    expect(uncovered).toContain("endpoint=usage state=minute used up");
    expect(uncovered.filter((name) => !inMinute.flatMap(reach.covering.pairsIn).includes(name))).toEqual([]);
  });

  it.each<Enabler>([answer, need("maxRequests"), need("selection")])("counts pairs as cut that need %j", (needs) => {
    const lost = rows.filter(({ key, endpoint }) => key === "wrong" && endpoint === "list");
    const kept = rows.filter((row) => !lost.includes(row));
    const { uncovered, cut, coveredCount } = count(kept, because(lost, needs));
    expect(uncovered).toEqual([]);
    expect(coveredCount).toBeLessThan(reach.pairs.size);
    expect(needsOf(cut)).toContainEqual(needs);
  });

  it("counts the triples of endpoint, kind of key and state, and says what would bring the others", () => {
    const { triples } = count(rows);
    expect(triples?.covered).toBeGreaterThan(10);
    expect(triples?.covered).toBe((triples?.total ?? 0) - sumOf((triples?.cut ?? []).map(({ pairs }) => pairs)));
    expect(needsOf(triples?.cut ?? [])).toContainEqual(need("keys.oneAgent"));
  });

  it("keeps a bit for each pair that was seen", () => {
    const bits = Buffer.from(count(fresh).seen?.bits ?? "", "base64");
    const seen = allPairs().filter((_, at) => ((bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0);
    expect(new Set(seen)).toEqual(new Set(fresh.flatMap(reach.covering.pairsIn)));
  });
});

describe("what would bring requests with a key that is used up", () => {
  const state = "minute used up";
  const test = (result: LimitTest["result"], tier = "free"): LimitTest => ({ state, tier, result });
  const withClock = { ...target, clock: { advance: () => Promise.resolve(), settleMs: 0, agentsFollow: true } };

  it.each<[string, Enabler | null, LimitTest[], Target]>([
    ["a whole run, if the selection has no probe of that limit", need("selection"), [], target],
    [
      "what the probe needs, if it was skipped",
      need("maxRequests"),
      [test({ kind: "skipped", needs: need("maxRequests") })],
      target,
    ],
    [
      "a limit within reach, if the probe was skipped for no such reason",
      need("limit within reach"),
      [test({ kind: "skipped", needs: null })],
      target,
    ],
    ["a test clock, if a real clock left no time", need("clock"), [test({ kind: "ran" })], target],
    ["a response, if the limit was tested", needForUnanswered, [test({ kind: "ran" })], withClock],
    ["nothing, if the harness failed", null, [test({ kind: "broken" })], withClock],
  ])("is %s", (_, needs, tested, given) => {
    expect(neededForLimit({ key: "free", state }, given, tested)).toEqual(needs);
  });
});

describe("the clauses of a pair", () => {
  it.each([
    ["endpoint=list key=wrong", ["AUTH-3"]],
    ["key=missing body=truncated", ["AUTH-2", "REQ-11"]],
    ["endpoint=health state=minute used up", ["HLT-15"]],
    ["endpoint=stream agent=unknown", ["SSE-21"]],
    ["temperature=0.7 maxTokens=16", ["INV-13", "INV-14"]],
    ["endpoint=usage key=pro", ["USE-1"]],
    ["key=pro agent=slow", ["AUTH-1"]],
  ])("of %s are those that speak of its values, else that of its endpoint", (pair, clauses) => {
    expect(clausesOfPair(pair)).toEqual(clauses);
  });

  it("are must clauses for every pair", () => {
    const clauses = new Set(allPairs().flatMap(clausesOfPair));
    expect([...clauses].filter((id) => clauseOf(id).level !== "must")).toEqual([]);
  });
});
