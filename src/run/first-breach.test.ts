import { describe, expect, it } from "vitest";

import { breachShownBy } from "./judge/judge-evidence.ts";
import { check, suite } from "./judge/check.ts";
import { breach, holds } from "./judge/finding.ts";
import { planProbes, type ProbeRun } from "./plan/plan.ts";
import { type Probe, probe } from "./probe.ts";
import { aTarget } from "./testing/values.ts";

const send = (name: string, traits: Partial<Parameters<typeof probe>[1]> = {}): Probe =>
  probe(name, { requests: 1, ...traits }, () => Promise.resolve({}));
const [one, other, later, review] = [
  send("one"),
  send("other"),
  send("later", { isJudgedLater: true }),
  send("review", { stage: "review" }),
];
const broken = () => breach("a", "b");
const suites = [
  suite("Stream", [
    check("SSE-1", one, holds),
    check("SSE-2", { one, other }, broken),
    check("SSE-3", later, broken),
    check("SSE-4", review, broken),
  ]),
];
const planned = planProbes(suites, aTarget("http://127.0.0.1:1/v1"));

/** The clause that the last of these probes shows to be broken. */
function clauseShownBy(names: readonly string[], stopsAt = () => true): string | null {
  const done = names.flatMap((name): ProbeRun[] =>
    planned
      .filter((each) => each.probe.name === name)
      .map((each) => ({ planned: each, result: { kind: "ran", evidence: {} } })),
  );
  const last = done.at(-1);
  if (last === undefined) throw new Error("no probe has ended");
  return breachShownBy(last, done, { suites, stopsAt })?.check.clause ?? null;
}

describe("the first breach of a run", () => {
  it.each<[string, string[], string | null]>([
    ["is not looked for before all probes of a check have ended", ["one"], null],
    ["is shown by the last probe of a check", ["one", "other"], "SSE-2"],
    ["is not shown again by probes of other checks", ["one", "other", "later"], null],
    ["is not looked for in what is judged after its probe", ["later"], null],
    ["is not looked for in a review, after which nothing is sent", ["review"], null],
  ])("%s", (_, names, clause) => {
    expect(clauseShownBy(names)).toBe(clause);
  });

  it("is none that does not count", () => {
    expect(clauseShownBy(["one", "other"], () => false)).toBeNull();
  });
});
