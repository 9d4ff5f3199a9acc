import { describe, expect, it } from "vitest";

import { decisionOf, type History } from "./history.ts";
import { type HistoryJudgement, judgeAdmission } from "./judge.ts";

const limits = { perHour: 100, perMinute: 2, concurrent: 20, burst: 2, tokensPerMonth: null };

type Sent = readonly [second: number, outcome: "admitted" | "refused"];

function judge(sent: readonly Sent[]): HistoryJudgement {
  const decisions = sent.map(([second, outcome], index) => {
    const [sentMs, answeredMs] = [second * 1000, second * 1000 + 100];
    return decisionOf({ id: `r${index + 1}`, sentMs, answeredMs, endedMs: answeredMs, outcome });
  });
  const history: History = { priorUse: "nothing", decisions };
  return judgeAdmission(history, limits, {}, true);
}

const admittedOneASecond = (count: number): Sent[] =>
  Array.from({ length: count }, (_, second) => [second, "admitted"]);

const shapesOf = (judgement: HistoryJudgement): string[] =>
  judgement.kind === "explained"
    ? [...new Set(judgement.readings.flatMap(({ minute }) => minute.map(({ shape }) => shape)))]
    : [];

const every = ["rolling", "fixed", "anchored", "pushed", "weighted", "bucket"];

describe("the example of docs/judging-limits.md", () => {
  it.each([
    [2, every],
    [5, ["fixed", "weighted"]],
    [8, ["fixed", "weighted"]],
  ])("%i requests admitted within as many seconds are explained", (count, shapes) => {
    expect(shapesOf(judge(admittedOneASecond(count)))).toEqual(shapes);
  });

  it("ten requests admitted within ten seconds are a breach that nine of them prove", () => {
    const witness = admittedOneASecond(9).map((_, index) => `r${index + 1}`);
    expect(judge(admittedOneASecond(10))).toMatchObject({ breach: "too many admitted", limit: "minute", witness });
  });

  const ten: readonly Sent[] = [
    [0, "admitted"],
    [1, "admitted"],
    [2, "refused"],
    [20, "refused"],
    [58, "admitted"],
    [59, "admitted"],
    [60, "refused"],
    [100, "refused"],
    [119, "admitted"],
    [120, "admitted"],
  ];

  it.each([
    [2, every],
    [3, every],
    [4, every],
    [6, ["fixed", "weighted"]],
    [8, ["fixed", "weighted"]],
    [10, ["fixed", "weighted"]],
  ])("the first %i requests of the table leave the shapes of its last column", (count, shapes) => {
    expect(shapesOf(judge(ten.slice(0, count)))).toEqual(shapes);
  });

  it("a refused second request is a breach", () => {
    const changed = ten.with(1, [1, "refused"]);
    expect(judge(changed)).toMatchObject({ breach: "refused below limit", witness: ["r2"] });
  });
});
