import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { projectRoot } from "./measuring/scratch.ts";
import type { Measurement } from "./measuring/measurement.ts";
import { rows } from "./rows/all.ts";
import { ratioOf, summarizeRounds, measureRow } from "./tool/measure.ts";
import { chooseRows, minRatio, maxRatio, isGoalMet, maxSubject, noGoal, type BenchRow, sizeOf } from "./tool/row.ts";
import { toFigureRow, toFigures, mergeRows, readFigures } from "./tool/figures.ts";
import { replaceFigures } from "./tool/page.ts";
import { formatRow, terminalTable } from "./tool/row-text.ts";

const took = (wallMs: number, cpuMs = wallMs, bytes: number | null = null): Measurement => ({ wallMs, cpuMs, bytes });

/** A row whose measurements return the given times and record their order. */
function scriptedRow(subject: readonly number[], baseline: readonly number[], order: string[]): BenchRow {
  const side = (name: string, times: readonly number[]) => {
    let at = 0;
    return async () => {
      order.push(name);
      at += 1;
      return took(times[Math.max(0, at - 2)] ?? 0);
    };
  };
  return {
    name: "scripted",
    what: "a subject",
    against: "a baseline",
    compared: "wall time",
    goal: maxRatio(2),
    maxRounds: null,
    open: async () => ({
      subject: side("subject", subject),
      baseline: side("baseline", baseline),
      close: async () => void order.push("closed"),
    }),
  };
}

describe("the bench's arithmetic", () => {
  it("takes the median of the rounds' own ratios, so that a slow moment of the machine weighs on both sides", () => {
    const rounds = [
      { first: "baseline", subject: took(20, 40), baseline: took(10, 10) },
      { first: "subject", subject: took(900, 60), baseline: took(300, 20) },
      { first: "baseline", subject: took(10, 20), baseline: took(10, 10) },
    ] as const;
    const result = summarizeRounds("wall time", rounds);
    expect(result).toMatchObject({ ratio: 2, lowestRatio: 1, highestRatio: 3, cpuRatio: 3 });
    expect([result.subject.wallMs, result.baseline.wallMs]).toEqual([20, 10]);
  });

  it.each([
    ["wall time", took(30, 5), took(10, 50), 3],
    ["CPU time", took(30, 5), took(10, 50), 0.1],
    ["a rate, as the same work in less time", took(30), took(15), 0.5],
    ["memory", took(0, 0, 300), took(0, 0, 100), 3],
  ] as const)("is subject over baseline: %s", (name, subject, baseline, ratio) => {
    const compared = name.startsWith("a rate") ? "rate" : (name as "wall time" | "CPU time" | "memory");
    expect(ratioOf(compared, subject, baseline)).toBeCloseTo(ratio);
  });

  it.each([
    ["at most, met", maxRatio(2), { ratio: 2, subject: 0 }, true],
    ["at most, missed", maxRatio(2), { ratio: 2.01, subject: 0 }, false],
    ["at least, met", minRatio(0.8), { ratio: 0.8, subject: 0 }, true],
    ["at least, missed", minRatio(0.8), { ratio: 0.79, subject: 0 }, false],
    ["by itself", maxSubject(300), { ratio: 99, subject: 299 }, true],
    ["none", noGoal, { ratio: 99, subject: 0 }, null],
  ] as const)("holds a row to its goal: %s", (_, goal, figures, met) => {
    expect(isGoalMet(goal, figures)).toBe(met);
  });
});

describe("the rounds of a row", () => {
  it("begin in turns with either side, after a go of each that is not counted", async () => {
    const order: string[] = [];
    const measured = await measureRow(scriptedRow([30, 30, 60], [10, 10, 10], order), sizeOf(1), 3);
    expect(order.join(" ")).toBe("baseline subject baseline subject subject baseline baseline subject closed");
    expect(measured).toMatchObject({ kind: "measured", result: { ratio: 3, highestRatio: 6 } });
  });

  it("say why there are none where a side fails, and close what was opened", async () => {
    const order: string[] = [];
    const row = scriptedRow([1], [1], order);
    const failing: BenchRow = {
      ...row,
      open: async (size) => ({ ...(await row.open(size)), subject: () => Promise.reject(new Error("no such server")) }),
    };
    const measured = await measureRow(failing, sizeOf(1), 2);
    expect(measured).toMatchObject({ kind: "failed", reason: "no such server" });
    expect(order.at(-1)).toBe("closed");
    const figures = toFigureRow(measured, new Date(0));
    expect(formatRow(figures)).toContain("failed: no such server");
    expect(terminalTable([figures])).toContain("no such server");
  });
});

describe("the rows of the bench", () => {
  it("have names of their own, each of which can be chosen alone and by its family", () => {
    const names = rows.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(chooseRows(rows, [name]).map((row) => row.name)).toContain(name);
    expect(() => chooseRows(rows, ["no-such"])).toThrow('no row "no-such"');
    expect([...new Set(chooseRows(rows, ["start", "limiter"]).map(({ name }) => name.split("-")[0]))]).toEqual([
      "start",
      "limiter",
    ]);
  });

  it("are those whose goals the project has set itself", () => {
    const families = [...new Set(rows.map(({ name }) => name.split("-")[0] ?? ""))];
    expect(families.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "evidence",
      "judge",
      "limiter",
      "load",
      "page",
      "proxy",
      "reference",
      "run",
      "start",
      "streams",
      "vendors",
    ]);
    expect(rows.filter(({ goal }) => goal.of === "nothing").map(({ name }) => name)).toEqual([
      "limiter-cost-1",
      "limiter-cost-1000",
      "limiter-cost-1000000",
    ]);
  });
});

describe("the figures of docs/performance.md", () => {
  const page = readFileSync(join(projectRoot, "docs", "performance.md"), "utf8");
  const figures = readFigures(join(projectRoot, "bench", "figures.json"));

  it("are those of bench/figures.json, and nobody's hand has changed them", () => {
    expect(replaceFigures(page, figures)).toBe(page);
    expect(figures.scale).toBe(1);
  });

  it("stand in the order of the rows, the fresh ones in place of the kept ones", () => {
    const [one, other] = figures.rows;
    if (one === undefined || other === undefined) throw new Error("there are no figures");
    const fresh = { ...one, what: "measured again" };
    const merged = mergeRows([other, one], [fresh], [one.name, other.name]);
    expect(merged.map(({ what }) => what)).toEqual(["measured again", other.what]);
    expect(toFigures(merged, 1).rows).toHaveLength(2);
  });
});
