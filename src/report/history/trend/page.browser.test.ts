import { describeInBrowser, testPagesForFlaws } from "../../html/testing/view-pages.ts";
import { everyHostileText, nightWithText } from "../../testing/hostile.ts";
import type { Night } from "../night.ts";
import { noChanges, replayNights, simulateNights } from "../testing/simulate-nights.ts";
import { renderTrendPage } from "./page.ts";

const { nights } = replayNights(
  simulateNights(1, {
    ...noChanges,
    slower: { from: 35, share: 0.4, scenario: "burst" },
    failing: { from: 20, check: "INV-7" },
  }),
);
const pageOf = (of: readonly Night[], problem: string | null = null): string =>
  renderTrendPage(
    { nights: of, damaged: problem === null ? [] : [{ file: `nights/${problem}.json`, problem }] },
    { hasReports: ({ id }) => of.slice(-14).some((night) => night.id === id) },
  );

const streamingOfAgent = (agent: string, at: number) => ({
  agent,
  streams: 20,
  firstContentMs: { p50: 10 + at, p99: 50, max: 60 },
  gapMs: at % 5 === 0 ? null : { p50: 3, p99: 40 - (at % 7), max: 41 },
  perSecond: at % 5 === 0 ? null : { unit: "tokens" as const, median: 120 },
  lumps: 0,
});

/** Nights on which the check INV-2 often changes between passing and broken, with the streaming quality of an agent. */
const flaky = nights.map((night, at) => ({
  ...night,
  streaming: [streamingOfAgent("echo", at)],
  findings: night.findings.map((each) =>
    each.check === "INV-2" && at % 3 === 0 ? ({ ...each, outcome: "fail", actual: "500" } as const) : each,
  ),
}));

const pages = [
  ["two months", pageOf(flaky)],
  ["no night", pageOf([], "it is not JSON")],
  [
    "hostile texts",
    pageOf(
      flaky.map((night) => nightWithText(night, everyHostileText)),
      everyHostileText,
    ),
  ],
] as const;

describeInBrowser("the trend page in a browser", (viewer) => {
  testPagesForFlaws(viewer, pages);
});
