import { describe, expect, it } from "vitest";

import { scenarioNamed } from "../scenarios.ts";
import { flow, invoke } from "../../../scenarios/traffic.ts";
import type { LoadEvidence, LoadSample } from "../../evidence/load-evidence.ts";
import { countBySecond } from "../second-counts.ts";
import { evidenceOf, sample } from "../testing/samples.ts";
import { judgeLoad } from "./judge.ts";

const flows: LoadEvidence["flows"] = [flow("serial", invoke, { kind: "in turn", requests: 40 })];
const flaw = { clause: "INV-2", expected: "`result`, an object", actual: '"text"' } as const;
const at = (index: number, other: Partial<LoadSample> = {}): LoadSample =>
  sample({ sentMs: 1000 + 10 * index, headMs: 1002 + 10 * index, endMs: 1003 + 10 * index, ...other });

const admitted = Array.from({ length: 7 }, (_, index) => at(index, { remaining: 9 - index }));
const broken = [at(7, { remaining: 2, flaws: [flaw] }), at(8, { remaining: 1, flaws: [flaw] })];
const unread = at(9, { remaining: 0, flaws: null });
const refused = at(10, { status: 429, remaining: 0, retryAfterSeconds: 3 });
const sent = [...admitted, ...broken, unread, refused];

const named = (name: string) => scenarioNamed(name) ?? expect.fail(`no scenario is named ${name}`);
const judged = (evidence: LoadEvidence, scenario = "minute-limit") =>
  judgeLoad({ ...evidence, flows }, named(scenario)).find(({ clause }) => clause === "INV-2");

describe("clauses about single bodies under load", () => {
  it("are judged on every response with a body, with coverage", () => {
    expect(judged(evidenceOf(sent))).toMatchObject({
      kind: "breach",
      expected: flaw.expected,
      actual: 'on 2 of 9 responses: "text"',
      seen: { looked: 9, broken: 2, cells: [{ of: "invoke free", kind: "200", looked: 9, broken: 2 }] },
    });
  });

  it("are judged in every scenario, with a finding for an unclaimed breach", () => {
    expect(judged(evidenceOf(sent), "burst")?.kind).toBe("breach");
    expect(judged(evidenceOf(admitted), "burst")).toBeUndefined();
    expect(judged(evidenceOf(admitted))).toMatchObject({ kind: "holds", seen: { looked: 7 } });
  });

  it("are judged on the counts of a long run", () => {
    const summary = countBySecond(sent);
    expect(
      judged(evidenceOf([], { summary, generator: { planned: 11, sent: 11, dropped: 0, late: 0, busiest: 0.1 } })),
    ).toMatchObject({
      kind: "breach",
      actual: 'on 2 of 9 responses: "text"',
      seen: { looked: 9, cells: [{ of: "invoke free", kind: "all" }] },
    });
  });

  it("are unproven if the evidence has no bodies", () => {
    expect(judged(evidenceOf(sent.map((each) => ({ ...each, flaws: null }))))?.kind).toBe("unproven");
  });

  it("count refusals by the limit that they report", () => {
    const codes = judgeLoad({ ...evidenceOf(sent), flows }, named("far-over")).find(({ clause }) => clause === "ERR-9");
    expect(codes?.seen?.cells).toStrictEqual([{ of: "invoke free", kind: "429 minute", looked: 1, broken: 0 }]);
  });
});
