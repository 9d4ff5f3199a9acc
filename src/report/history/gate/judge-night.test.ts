import { describe, expect, it } from "vitest";

import { runsOf } from "../../../base/testing/test-scope.ts";
import { defaultRegressionRules } from "../../compare/regression-rules.ts";
import { type Night, type NightFinding, type NightLoad } from "../night.ts";
import { noChanges, replayNights, sampleNight, simulateNights } from "../testing/simulate-nights.ts";
import { nightLines } from "../summary.ts";
import { judgeNight, changesToReport, trialsToConfirm } from "./judge-night.ts";

/** The regressions and slow-downs that a replay of nights reported, each with the number of its night. */
const alarmsOf = ({ judgements }: ReturnType<typeof replayNights>): string[] =>
  judgements.flatMap(({ regressions, slower }, night) => [
    ...regressions.map(({ says }) => `night ${night}: ${says}`),
    ...new Set(slower.map(({ scenario }) => `night ${night}: ${scenario} slower`)),
  ]);

describe("sixty nights with a slow-down of 15 %, a new failure, and noise", () => {
  const truth = {
    ...noChanges,
    slower: { from: 35, share: 0.15, scenario: "burst" },
    failing: { from: 20, check: "INV-7" },
  };
  const replayed = replayNights(simulateNights(1, truth));
  const slow = replayed.judgements.findIndex(({ slower }) => slower.length > 0);

  it("report the slow-down and the failure once each, and nothing else", () => {
    expect(alarmsOf(replayed)).toEqual([
      "night 20: INV-7: expected 200; got 500 with the code INTERNAL",
      `night ${slow}: burst slower`,
    ]);
  });

  it("report the slow-down within two weeks, and name its first night within two nights", () => {
    expect(slow).toBeGreaterThanOrEqual(38);
    expect(slow).toBeLessThanOrEqual(48);
    const since = replayed.judgements[slow]?.slower[0]?.since ?? "";
    const first = replayed.nights.findIndex(({ started }) => started === since);
    expect(Math.abs(first - 35)).toBeLessThanOrEqual(2);
  });

  it("list it as known on every later night", () => {
    const after = replayed.judgements.slice(slow + 1);
    expect(after.every(({ known }) => known.some(({ scenario }) => scenario === "burst"))).toBe(true);
  });
});

describe("histories of noise alone", () => {
  it("raise no alarm", () => {
    const seeds = Array.from({ length: runsOf({ quick: 3, full: 20 }) }, (_, at) => at + 1);
    const alarms = seeds.flatMap((seed) => alarmsOf(replayNights(simulateNights(seed, noChanges))));
    expect(alarms).toEqual([]);
  });
});

const load = (run: Partial<NightLoad> = {}): NightLoad => ({
  scenario: "burst",
  tier: "pro",
  engine: "autocannon",
  requests: { planned: 210, sent: 210, admitted: 110, refused: 100, failed: 0, unanswered: 0 },
  perSecond: { sent: 100, admitted: 52 },
  latencyMs: { admitted: { count: 110, p50: 20, p90: 30, p99: 40 }, refused: null },
  validity: { invalid: null, counts: null, pace: null },
  ...run,
});

const row = (finding: Partial<NightFinding> = {}): NightFinding => ({
  check: "SSE-5",
  clause: "SSE-5",
  suite: "Stream",
  level: "must",
  outcome: "pass",
  ...finding,
});

const nights = (count: number, of: (at: number) => Night): Night[] => Array.from({ length: count }, (_, at) => of(at));
const judge = (history: readonly Night[], tonight: Night) => judgeNight(history, tonight, defaultRegressionRules);

describe("findings", () => {
  const passing = (at: number): Night => sampleNight(at, [], [row()]);

  it("are not compared on the first night", () => {
    expect(judge([], sampleNight(0, [], [row({ outcome: "fail" })]))).toMatchObject({
      comparison: null,
      regressions: [],
    });
  });

  it("fail the first night that breaks them, and are not reported again while they stay broken", () => {
    const failing = (at: number): Night => sampleNight(at, [], [row({ outcome: "fail", actual: "two endings" })]);
    const history = nights(5, passing);
    expect(judge(history, failing(5)).regressions).toHaveLength(1);
    expect(judge([...history, failing(5)], failing(6)).regressions).toEqual([]);
  });

  it("are not reported as gone by a night on which nothing could be judged", () => {
    expect(judge(nights(5, passing), sampleNight(5, [], []))).toMatchObject({ comparison: null, regressions: [] });
  });

  it("are compared with the last night that judged them", () => {
    const skipped = sampleNight(5, [], [row({ outcome: "skipped", reason: "no key" })]);
    const silent = sampleNight(6, [], []);
    const failing = sampleNight(7, [], [row({ outcome: "fail", actual: "two endings" })]);
    expect(judge([...nights(5, passing), skipped, silent], failing).regressions).toMatchObject([{ kind: "failing" }]);
  });

  it("that are no longer exercised fail the second such night in a row, once", () => {
    const skipped = (at: number): Night => sampleNight(at, [], [row({ outcome: "skipped", reason: "no room" })]);
    const history = nights(5, passing);
    expect(judge(history, skipped(5)).regressions).toEqual([]);
    expect(judge([...history, skipped(5)], skipped(6)).regressions).toMatchObject([{ kind: "skipped-must" }]);
    expect(judge([...history, skipped(5), skipped(6)], skipped(7)).regressions).toEqual([]);
    expect(judge([...history, skipped(5)], passing(6)).regressions).toEqual([]);
  });

  it("that are missing fail the second such night in a row, once", () => {
    const both = (at: number): Night => sampleNight(at, [], [row(), row({ check: "SSE-6", clause: "SSE-6" })]);
    const history = nights(5, both);
    expect(judge(history, passing(5)).regressions).toEqual([]);
    expect(judge([...history, passing(5)], passing(6)).regressions).toMatchObject([{ kind: "skipped-must" }]);
    expect(judge([...history, passing(5), passing(6)], passing(7)).regressions).toEqual([]);
    expect(judge([...history, passing(5)], both(6)).regressions).toEqual([]);
  });

  it("that a stopped run did not reach are not reported as gone", () => {
    const both = (at: number): Night => sampleNight(at, [], [row(), row({ check: "SSE-6", clause: "SSE-6" })]);
    const stopped = { ...sampleNight(5, [], [row()]), stopped: "the target did not answer any more" };
    expect(judge(nights(5, both), stopped).regressions).toEqual([]);
  });

  it("that keep changing are named as flaky, and still fail the night", () => {
    const flipping = (at: number): Night =>
      sampleNight(at, [], [row(at % 2 === 0 ? {} : { outcome: "fail", actual: "two endings" })]);
    const judgement = judge(nights(9, flipping), flipping(9));
    expect(judgement.flaky).toMatchObject([{ check: "SSE-5", flips: 9, broken: 5, nights: 10 }]);
    expect(judgement.regressions).toHaveLength(1);
    const lines = nightLines(judgement, flipping(9)).filter(({ kind }) => kind === "flaky");
    expect(lines.map(({ says }) => says)).toEqual([expect.stringContaining('{"check":"SSE-5","flaky":true,')]);
  });
});

describe("exact counts", () => {
  const usual = (at: number): Night => sampleNight(at, [load()], []);
  const requests = load().requests;
  const history = nights(12, usual);

  it("fail the night at once if responses fail for the first time", () => {
    const tonight = sampleNight(12, [load({ requests: { ...requests, admitted: 108, failed: 2 } })], []);
    expect(judge(history, tonight).regressions.map(({ says }) => says)).toEqual([
      "load burst pro autocannon: 2 responses failed (neither admitted nor refused), and none on every night before.",
    ]);
    expect(judge([...history, tonight], { ...tonight, started: usual(13).started }).regressions).toEqual([]);
  });

  it.each([
    { name: "a second run confirms the change", again: 111, regressions: 1 },
    { name: "no second run confirms it", again: 110, regressions: 0 },
  ])("that were the same on every night fail the night only with confirmation: $name", ({ again, regressions }) => {
    const more = (admitted: number): NightLoad =>
      load({ requests: { ...requests, admitted, refused: 210 - admitted } });
    const first = sampleNight(12, [more(111)], []);
    expect(trialsToConfirm(history, first)).toEqual([{ scenario: "burst", tier: "pro", engine: "autocannon" }]);
    const { regressions: found, unconfirmed } = judge(history, { ...first, second: [more(again)] });
    // Two counts differ, the admitted and the refused requests.
    expect([found.length, unconfirmed.length]).toEqual(regressions === 1 ? [2, 0] : [0, 2]);
  });

  it("are not compared if the run was invalid", () => {
    const invalid = load({
      validity: { invalid: "stopped", counts: null, pace: null },
      requests: { ...requests, failed: 9 },
    });
    expect(judge(history, sampleNight(12, [invalid], [])).regressions).toEqual([]);
  });
});

describe("times", () => {
  const at = (night: number, p50: number, run: Partial<NightLoad> = {}): Night => {
    const ms = p50 * (1 + ((night * 7) % 5) / 100);
    return sampleNight(
      night,
      [load({ latencyMs: { admitted: { count: 110, p50: ms, p90: 2 * ms, p99: 3 * ms }, refused: null }, ...run })],
      [],
    );
  };
  const usual = nights(20, (night) => at(night, 20));
  const slow = [20, 21, 22, 23].map((night) => at(night, 40));
  const tonight = at(24, 40);

  it("do not fail one bad night, nor two", () => {
    expect(trialsToConfirm(usual, at(20, 60))).toEqual([]);
    expect(trialsToConfirm([...usual, at(20, 60)], at(21, 60))).toEqual([]);
  });

  it("fail a night if several nights agree and a second run confirms it", () => {
    const history = [...usual, ...slow];
    expect(trialsToConfirm(history, tonight)).toHaveLength(1);
    expect(judge(history, tonight)).toMatchObject({
      slower: [],
      unconfirmed: [expect.any(String), expect.any(String)],
    });
    expect(judge(history, { ...tonight, second: at(24, 20).load }).slower).toEqual([]);
    const confirmed = judge(history, { ...tonight, second: tonight.load });
    expect(confirmed.slower).toMatchObject([
      { figure: "admitted p50", direction: "slower", since: usual[19]?.started.replace("20T", "21T") },
      { figure: "admitted p90" },
    ]);
  });

  it("are reported again only when they become slower than the new level", () => {
    const confirmed = { ...tonight, second: tonight.load };
    const reported = { ...confirmed, reported: changesToReport(judge([...usual, ...slow], confirmed)) };
    const later = nights(12, (night) => at(25 + night, 40));
    const history = [...usual, ...slow, reported, ...later];
    expect(trialsToConfirm(history, at(37, 40))).toEqual([]);
    const worse = [37, 38, 39, 40].map((night) => at(night, 60));
    const again = { ...at(41, 60), second: at(41, 60).load };
    expect(judge([...history, ...worse], again).slower.length).toBeGreaterThan(0);
  });

  it("are not compared if the generator was the bottleneck, or within one night", () => {
    const busy = { validity: { invalid: null, counts: null, pace: "the generator was busy" } };
    expect(trialsToConfirm([...usual, ...slow.map((_, place) => at(20 + place, 40, busy))], at(24, 40, busy))).toEqual(
      [],
    );
    const sameNight = [0, 1, 2, 3].map((hour) => ({ ...at(20, 40), started: `2030-01-21T0${2 + hour}:00:00.000Z` }));
    expect(trialsToConfirm([...usual, ...sameNight], { ...at(20, 40), started: "2030-01-21T06:30:00.000Z" })).toEqual(
      [],
    );
  });
});
