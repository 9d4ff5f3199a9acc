import { describeInBrowser } from "../../report/html/testing/browser.ts";
import { demandFlawless, hostile } from "../../report/html/testing/looking.ts";
import type { Night } from "../night.ts";
import { replay } from "../testing/replay.ts";
import { nothingHappens, simulateNights } from "../testing/simulated.ts";
import { trendPage } from "./page.ts";

const { nights } = replay(
  simulateNights(1, {
    ...nothingHappens,
    slower: { from: 35, share: 0.4, scenario: "burst" },
    failing: { from: 20, check: "INV-7" },
  }),
);
const pageOf = (of: readonly Night[], problem: string | null = null): string =>
  trendPage(
    { nights: of, damaged: problem === null ? [] : [{ file: `nights/${problem}.json`, problem }] },
    { hasReports: ({ id }) => of.slice(-14).some((night) => night.id === id) },
  );

/** A check that holds on one night and not on the next. */
const flaky = nights.map((night, at) => ({
  ...night,
  findings: night.findings.map((each) =>
    each.check === "INV-2" && at % 3 === 0 ? ({ ...each, outcome: "fail", actual: "500" } as const) : each,
  ),
}));

/** A target's texts, and those of a store that somebody else has written into. */
const evil = flaky.map((night): Night => ({
  ...night,
  target: { ...night.target, name: hostile, baseUrl: hostile },
  suite: { version: hostile, clauses: hostile },
  stopped: hostile,
  findings: night.findings.map((each) => ({
    ...each,
    check: `${each.check}${hostile}`,
    clause: hostile,
    instance: hostile,
    expected: hostile,
    actual: hostile,
    reason: hostile,
  })),
  load: night.load.map((each) => ({ ...each, scenario: `${each.scenario}${hostile}`, tier: hostile })),
  reported: {
    regressions: night.reported.regressions.map((each) => ({
      says: hostile,
      check: `${each.check ?? ""}${hostile}`,
      instance: hostile,
    })),
    changes: night.reported.changes.map((each) => ({ ...each, scenario: `${each.scenario}${hostile}`, tier: hostile })),
  },
}));

const pages = [
  ["two months", pageOf(flaky)],
  ["no night", pageOf([], "it is not JSON")],
  ["hostile texts", pageOf(evil, hostile)],
] as const;

describeInBrowser("the trend page in a browser", (viewer) => {
  demandFlawless(viewer, pages);
});
