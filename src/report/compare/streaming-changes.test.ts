import { describe, expect, it } from "vitest";

import type { AgentStreaming } from "../model/streaming.ts";
import { sampleReport } from "../testing/sample.ts";
import { compareReports } from "./compare-reports.ts";
import { defaultRegressionRules } from "./regression-rules.ts";
import { comparisonSections } from "./sections.ts";

const quality = (agent: string, firstMs: number): AgentStreaming => ({
  agent,
  streams: 20,
  firstContentMs: { p50: firstMs, p99: 2 * firstMs, max: 2 * firstMs },
  gapMs: { p50: 3, p99: 40, max: 41 },
  perSecond: { unit: "tokens", median: 120.4 },
  lumps: 1,
});
const reportWith = (...streaming: AgentStreaming[]) => ({ report: sampleReport([], { streaming }) });

describe("streaming quality in a comparison", () => {
  const found = compareReports(
    reportWith(quality("echo", 10), quality("gone", 10)),
    reportWith(quality("echo", 9000)),
    defaultRegressionRules,
  );

  it("has the figures of both reports beside each other", () => {
    expect(comparisonSections(found)).toEqual([
      {
        title: "Streaming quality, by agent",
        tone: "plain",
        count: 2,
        entries: [],
        lines: [
          {
            label: "echo",
            text: "median to first content 10 ms → 9,000 ms; median gap 3 ms → 3 ms; gap p99 40 ms → 40 ms; longest gap 41 ms → 41 ms; a second 120 tokens → 120 tokens; at once 1 of 20 → 1 of 20",
          },
          expect.objectContaining({
            label: "gone",
            text: expect.stringMatching(/^median to first content 10 ms → –; median gap 3 ms → –/),
          }),
        ],
      },
    ]);
  });

  it("is never a regression", () => {
    expect(found.regressions).toEqual([]);
  });
});
