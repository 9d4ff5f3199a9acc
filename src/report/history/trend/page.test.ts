import { describe, expect, it } from "vitest";

import { newestRequirements } from "../../../spec/clause.ts";
import type { Night, ReportedLatencyShift } from "../night.ts";
import { noChanges, replayNights, simulateNights } from "../testing/simulate-nights.ts";
import { trendEvents } from "./tables.ts";
import { findOpenFailures } from "../finding-history.ts";
import { renderTrendPage } from "./page.ts";

const { nights } = replayNights(
  simulateNights(1, {
    ...noChanges,
    slower: { from: 35, share: 0.15, scenario: "burst" },
    failing: { from: 20, check: "INV-7" },
  }),
);
const page = (of: readonly Night[], damaged: readonly { file: string; problem: string }[] = []): string =>
  renderTrendPage({ nights: of, damaged }, { hasReports: ({ id }) => id === nights[59]?.id });

describe("the trend page", () => {
  it("lists open failures with their first night", () => {
    expect(findOpenFailures(nights)).toMatchObject([
      { finding: { check: "INV-7" }, since: nights[20]?.started, nights: 40, isOlder: false },
    ]);
    expect(page(nights)).toContain("21 Jan 2030");
  });

  it("draws no charts for a single night, and says why", () => {
    const alone = page(nights.slice(0, 1));
    expect(alone).not.toContain("<figure");
    expect(alone).toContain("There is only one night, and nothing to compare it with yet.");
    expect(alone).toMatch(/1 night, 1 Jan 2030\s/);
  });

  it("charts the streaming quality of agents with streams on two nights", () => {
    const quality = (agent: string, p50: number) => ({
      agent,
      streams: 20,
      firstContentMs: { p50, p99: p50, max: p50 },
      gapMs: { p50: 3, p99: 40, max: 41 },
      perSecond: { unit: "tokens" as const, median: 120 },
      lumps: 0,
    });
    const [first, second] = nights;
    if (first === undefined || second === undefined) throw new Error("there are nights");
    const shown = page([
      { ...first, streaming: [quality("echo", 10), quality("once", 5)] },
      { ...second, streaming: [quality("echo", 12.5)] },
    ]);
    expect(shown).toContain("Median time to the first content: 12.5 ms on 2 Jan 2030, over 2 nights.");
    expect(shown).not.toContain("Streams of once");
    expect(page([first, second])).not.toContain("Streaming quality");
  });

  it("lists changes newest first, with the night that ended them", () => {
    const happenings = trendEvents(nights);
    expect(happenings.at(-1)).toMatchObject({ kind: "regression", reported: nights[20]?.started, over: null });
    const mended = nights.map((night, at) =>
      at < 50 ? night : { ...night, findings: night.findings.map((each) => ({ ...each, outcome: "pass" as const })) },
    );
    expect(trendEvents(mended).at(-1)).toMatchObject({ over: nights[50]?.started });
    expect(findOpenFailures(mended)).toEqual([]);
  });

  it("names the night from which on another requirement set judged", () => {
    const [first, second, ...others] = nights.slice(0, 4);
    if (first === undefined || second === undefined) throw new Error("there are nights");
    const before = [first, second].map((night) => ({ ...night, suite: { ...night.suite, requirements: "1.0" } }));
    expect(trendEvents([...before, ...others])).toMatchObject([
      {
        kind: "requirements",
        reported: others[0]?.started,
        says: expect.stringMatching(
          `^judged by requirement set ${newestRequirements}, before by 1.0: .* not of the target$`,
        ) as string,
      },
    ]);
    expect(page([...before, ...others])).toContain(`judged by requirement set ${newestRequirements}, before by 1.0`);
  });

  it("marks the change only on the charts of the load that became slower", () => {
    const charts = page(nights).split("<figure").slice(1);
    const marked = charts.filter((chart) => /\+1\d % from \d+ Feb 2030 on/.test(chart));
    expect(marked.length).toBeGreaterThan(0);
    expect(marked.every((chart) => chart.includes("burst"))).toBe(true);
  });

  it("counts the loads that a night reported: one for each scenario, tier and engine", () => {
    const [night] = nights;
    if (night === undefined) throw new Error("there are nights");
    const change = (engine: string, figure: string): ReportedLatencyShift => ({
      scenario: "burst",
      tier: "pro",
      engine,
      figure,
      direction: "slower",
      isKnown: false,
      wasMs: 10,
      isMs: 20,
      since: night.started,
    });
    const changes = [change("k6", "p50"), change("k6", "p90"), change("autocannon", "p50")];
    const shown = page([{ ...night, reported: { regressions: [], changes } }]);
    expect(shown.slice(shown.indexOf('id="nights"'))).toMatch(/<td class="number">2<\/td>\s*<\/tr>/);
  });

  it("links to saved reports, and names entries that cannot be read", () => {
    const text = page(nights, [{ file: "nights/x.json", problem: "it is not JSON" }]);
    expect(text.match(/href="reports\//g)).toHaveLength(1);
    expect(text).toContain("x.json");
    expect(text).toContain("it is not JSON");
  });

  it("adds up the pairs of properties that the nights combined, if any night kept them", () => {
    const pairs = { covered: 3, reachable: 3, total: 8, unseen: [], cut: [{ needs: "`clock.advance`", pairs: 5 }] };
    const kept = nights.slice(0, 2).map((night, at) => {
      const bits = Buffer.from([[0b0111, 0b1110][at] ?? 0]).toString("base64");
      return { ...night, pairs: { ...pairs, seed: at + 1, seen: { of: "a hash", bits } } };
    });
    expect(page(nights)).not.toContain('id="pairs"');
    expect(page(kept)).toMatch(/2 nights combined 4 of 8 pairs\s+of\s+properties in some request \(50 %\)/);
    expect(page(kept)).toMatch(/others needed <code>clock\.advance<\/code> \(62 %\)/);
  });

  it("loads nothing over the network", () => {
    expect(page(nights)).toContain("default-src &#39;none&#39;");
  });

  it.each([
    { name: "no night", of: [] },
    { name: "one night", of: nights.slice(0, 1) },
    {
      name: "a night on which nothing was judged",
      of: nights.slice(0, 2).map((night) => ({ ...night, findings: [], load: [] })),
    },
  ])("stands with $name", ({ of }) => {
    expect(page(of)).not.toContain("NaN");
  });
});
