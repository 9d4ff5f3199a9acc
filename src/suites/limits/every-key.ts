import { hourMs, minuteMs } from "../../base/duration.ts";
import { isHourLimit } from "../../rules/limits/header-rules.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable } from "../../run/judge/finding.ts";
import { type AllSamples, allSamples, type KeySamples } from "../headers/probes.ts";
import { requestsLeaving } from "../headers/value-sequences.ts";
import { elapsedSeconds, isSameWindow, mayOthersCountBetween, sortAndMarkOverlaps } from "../shared/compare-samples.ts";
import { countedReadIn } from "./key-history.ts";

/** Minimum number of requests in a row. A token bucket's refill and rounding can hide 2 of 3 falls of `Remaining`. */
const minInRow = 4;

function countedRows({ samples }: KeySamples, all: AllSamples): Sample[][] {
  const countedRead = countedReadIn(all);
  const rows: Sample[][] = [[]];
  for (const { sample, isAfterAll, isBeforeNext } of sortAndMarkOverlaps(samples)) {
    const row = rows.at(-1);
    const last = row?.at(-1);
    const counts = sample.kind === "invoke" || sample.kind === countedRead;
    const isAlone = isAfterAll && isBeforeNext;
    if (sample.kind === "health" && isAlone) continue;
    if (!counts || !isAdmitted(sample) || !isAlone) rows.push([]);
    else if (last === undefined) row?.push(sample);
    else if (isSameWindow(last, sample) && !mayOthersCountBetween(all, last, sample)) row?.push(sample);
    else rows.push([sample]);
  }
  return rows.filter(({ length }) => length >= minInRow);
}

const isAtLimit = ({ remaining, limit }: Sample): boolean => remaining !== null && remaining === limit;

function cannotBeGivenBack(row: readonly Sample[], { samples, limits, unjudged = [] }: KeySamples, hasClock: boolean) {
  const [first, last] = [row[0], row.at(-1)];
  if (first === undefined || last === undefined || limits === null) return false;
  const windowMs = isHourLimit(first.limit, limits) ? hourMs : minuteMs;
  const refilled = 1 + Math.ceil((((first.limit ?? 0) * 1000) / windowMs) * elapsedSeconds(first, last, hasClock).max);
  return row.length - 1 > refilled + requestsLeaving(first, last, [...samples, ...unjudged], hasClock).length;
}

/** Judges HDR-12 for every key: `Remaining` must not stay at the limit. */
export function judgeEveryKeyCounted(all: AllSamples): Finding<never> {
  const rows = all.keys.map((key) => ({ key, rows: countedRows(key, all) }));
  const limitsThatFall = new Set(rows.flatMap((each) => each.rows.flatMap(([first]) => countedLimit(first))));
  if (limitsThatFall.size === 0) return inapplicable("no key shows that `Remaining` falls with the first request");
  for (const { key, rows: own } of rows) {
    const row = own.find(
      (each) => limitsThatFall.has(each[0]?.limit ?? 0) && cannotBeGivenBack(each, key, all.hasClock),
    );
    if (row === undefined || !key.samples.filter(({ remaining }) => remaining !== null).every(isAtLimit)) continue;
    return breach(
      "`Remaining` falls by 1 with each request, whatever key it has",
      `with the key ${key.key}, it stays at ${row[0]?.limit} over ${row.length} requests in a row (${row[0]?.id} to ${row.at(-1)?.id})`,
    );
  }
  return holds();
}

const countedLimit = (first: Sample | undefined): number[] =>
  first?.limit !== undefined && first.limit !== null && first.remaining === first.limit - 1 ? [first.limit] : [];

export const everyKeyCountedCheck: Check = check("HDR-12", allSamples, judgeEveryKeyCounted, {
  as: "every key",
  since: "1.2",
});
