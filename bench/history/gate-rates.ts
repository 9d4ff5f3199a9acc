import { quantile } from "../../src/base/statistics/samples.ts";
import { noChanges, replayNights, simulateNights } from "../../src/report/history/testing/simulate-nights.ts";

// Simulates histories of 60 nightly runs each. Prints how well `conformance nightly` finds slow-downs and failures in
// them. Usage: `node bench/history/gate-rates.ts [HISTORIES]`. The default of 200 histories takes some minutes.

const histories = Number(process.argv[2] ?? 200);
const seeds = Array.from({ length: histories }, (_, at) => at + 1);
const slowFrom = 35;

const withNoise = seeds.filter((seed) => {
  const { judgements } = replayNights(simulateNights(seed, noChanges));
  return judgements.some(({ slower, regressions }) => slower.length + regressions.length > 0);
});

const found = seeds.map((seed) => {
  const slower = { from: slowFrom, share: 0.15, scenario: "burst" };
  const { judgements, nights } = replayNights(
    simulateNights(5000 + seed, { ...noChanges, slower, failing: { from: 20, check: "INV-7" } }),
  );
  const alarms = judgements.flatMap(({ slower: loads }, night) =>
    loads.length === 0
      ? []
      : [{ night, isRight: night >= slowFrom && loads.every((each) => each.scenario === "burst") }],
  );
  const right = alarms.find(({ isRight }) => isRight)?.night ?? null;
  const since = right === null ? null : judgements[right]?.slower[0]?.since;
  const first = nights.findIndex(({ started }) => started === since);
  const failures = judgements.flatMap(({ regressions }, night) => (regressions.length === 0 ? [] : [night]));
  return { alarms, right, firstOff: first < 0 ? null : first - slowFrom, isFailureRight: failures.join() === "20" };
});

const nightsTaken = found.flatMap(({ right }) => (right === null ? [] : [right - slowFrom + 1]));
const offsets = found.flatMap(({ firstOff }) => (firstOff === null ? [] : [Math.abs(firstOff)]));
const at = (share: number): number => quantile(nightsTaken, share);
const lines = [
  `histories                                        ${histories} of noise, ${histories} with a slow-down of 15 % and a new failure`,
  `noise alone: histories with any alarm            ${withNoise.length}`,
  `slow-down: not found within 25 nights            ${found.filter(({ right }) => right === null).length}`,
  `slow-down: nights until it was reported          ${at(0.5)} (median), ${at(0.9)} (nine of ten), ${at(1)} (most)`,
  `slow-down: first bad night named within 1, 2     ${offsets.filter((off) => off <= 1).length}, ${offsets.filter((off) => off <= 2).length} of ${offsets.length}`,
  `slow-down: reported more than once               ${found.filter(({ alarms }) => alarms.filter(({ isRight }) => isRight).length > 1).length}`,
  `slow-down: another alarm that was false          ${found.filter(({ alarms }) => alarms.some(({ isRight }) => !isRight)).length}`,
  `failure: reported once, on its night             ${found.filter(({ isFailureRight }) => isFailureRight).length}`,
];
process.stdout.write(`${lines.join("\n")}\n`);
