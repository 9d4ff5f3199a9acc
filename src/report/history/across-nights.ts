import type { Night, NightFinding } from "./night.ts";
import { findingKey } from "../model/finding-text.ts";
import { isBroken, isExercised } from "../model/finding.ts";
import type { ReportDocument } from "../model/report.ts";
import { totalsOf } from "../model/verdict.ts";

export interface OpenFailure {
  readonly finding: NightFinding;
  /** Start of the first night in the current series of failures, ISO 8601. */
  readonly since: string;
  readonly nights: number;
  /** Whether the failure may be older than the history: the check passed in no night of the history. */
  readonly isOlder: boolean;
}

export function openFailures(nights: readonly Night[]): OpenFailure[] {
  const last = nights.at(-1);
  if (last === undefined) return [];
  const open = new Map(last.findings.filter(isBroken).map((each) => [findingKey(each), each]));
  const found = new Map<string, { since: string; nights: number; isOlder: boolean }>();
  const running = new Set(open.keys());
  for (const night of nights.toReversed()) {
    for (const finding of night.findings) {
      const key = findingKey(finding);
      if (!running.has(key) || !isExercised(finding)) continue;
      const known = found.get(key) ?? { since: night.started, nights: 0, isOlder: true };
      if (isBroken(finding)) found.set(key, { ...known, since: night.started, nights: known.nights + 1 });
      else {
        found.set(key, { ...known, isOlder: false });
        running.delete(key);
      }
    }
    if (running.size === 0) break;
  }
  return [...open].flatMap(([key, finding]) => {
    const known = found.get(key);
    return known === undefined ? [] : [{ finding, ...known }];
  });
}

export interface FlakyCheck {
  readonly check: string;
  readonly instance: string | null;
  readonly flips: number;
  readonly nights: number;
  readonly broken: number;
}

export const flakyNights = 14;
/**
 * A check is flaky if it starts or stops failing this often in `flakyNights` nights. A failure and its fix count as
 * two.
 */
const minFlips = 3;

/** Returns the flaky checks, most changes first. Ignores nights on which a check was not exercised. */
export function flakyChecksOf(nights: readonly Night[]): FlakyCheck[] {
  const sides = new Map<string, { check: string; instance: string | null; broken: boolean[] }>();
  for (const { findings } of nights.slice(-flakyNights))
    for (const finding of findings) {
      if (!isExercised(finding)) continue;
      const key = findingKey(finding);
      const known = sides.get(key) ?? { check: finding.check, instance: finding.instance ?? null, broken: [] };
      known.broken.push(isBroken(finding));
      sides.set(key, known);
    }
  return [...sides.values()]
    .map(({ check, instance, broken }) => ({
      check,
      instance,
      flips: broken.filter((side, at) => at > 0 && side !== broken[at - 1]).length,
      nights: broken.length,
      broken: broken.filter(Boolean).length,
    }))
    .filter(({ flips }) => flips >= minFlips)
    .toSorted((one, other) => other.flips - one.flips);
}

interface PairsOfNight {
  readonly started: string;
  readonly seed: number | null;
  readonly seen: number;
  /** Number of pairs of request properties that no earlier night had covered. */
  readonly added: number;
  /** Number of pairs of request properties covered by this night or an earlier night. */
  readonly union: number;
}

export interface PairsOfNights {
  readonly total: number;
  readonly seen: number;
  /** Nights, oldest first, that measured the same pairs of request properties as the last night. */
  readonly nights: readonly PairsOfNight[];
  /** Flags or target-file lines that would make a run cover more pairs. The last night's run reported them. */
  readonly cut: NonNullable<Night["pairs"]>["cut"];
}

export function pairsOfNights(nights: readonly Night[]): PairsOfNights | null {
  const last = nights.findLast(({ pairs }) => pairs?.seen !== undefined)?.pairs;
  if (last?.seen === undefined) return null;
  const { seen: newest, total, cut } = last;
  const union = new Uint8Array(Math.ceil(total / 8));
  const rows = nights.flatMap(({ started, pairs }): PairsOfNight[] => {
    if (pairs?.seen === undefined || pairs.seen.of !== newest.of || pairs.total !== total) return [];
    const own = decodeBitmap(pairs.seen.bits, total);
    const before = countBits(union);
    for (const [at, byte] of own.entries()) union[at] = (union[at] ?? 0) | byte;
    const after = countBits(union);
    return [{ started, seed: pairs.seed ?? null, seen: countBits(own), added: after - before, union: after }];
  });
  return { total, seen: countBits(union), nights: rows, cut };
}

/** Decodes a bitmap of `total` bits from a file that may be damaged: missing bytes count as zero. */
function decodeBitmap(base64: string, total: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(total / 8));
  bytes.set(Buffer.from(base64, "base64").subarray(0, bytes.length));
  const spare = bytes.length * 8 - total;
  const lastAt = bytes.length - 1;
  if (spare > 0) bytes[lastAt] = (bytes[lastAt] ?? 0) & (0xff >> spare);
  return bytes;
}

function countBits(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) for (let rest = byte; rest > 0; rest &= rest - 1) count += 1;
  return count;
}

const lookbackNights = 14;

/** Converts a night to a report without load metrics, so that two nights can be compared like two reports. */
export function documentOf(night: Night, findings: readonly NightFinding[] = night.findings): ReportDocument {
  const { suite, target, started, finished, verdict, stopped, requests, unselected, pairs } = night;
  return {
    report: {
      format: "agent-hosting-conformance/report/1",
      suite,
      target,
      started,
      finished,
      durationMs: Math.max(0, Date.parse(finished) - Date.parse(started)),
      requests,
      waitedMs: 0,
      verdict,
      ...(stopped === undefined ? {} : { stopped }),
      totals: totalsOf(findings),
      findings,
      ...(pairs === undefined ? {} : { pairs }),
      upcoming: [],
      created: [],
      unselected,
      untestable: [],
    },
    evidence: null,
    load: new Map(),
  };
}

/**
 * Returns the earlier findings to compare with tonight's findings. A check that is skipped for a single night, e.g. by
 * a rate limit, counts as unchanged.
 */
export function nightBaseline(history: readonly Night[], tonight: Night): ReportDocument | null {
  const recent = history.slice(-lookbackNights).filter(({ findings }) => findings.length > 0);
  const last = recent.at(-1);
  if (last === undefined || tonight.findings.length === 0) return null;
  const findingOn = createFindingLookup(recent.toReversed());
  const keys = new Set(tonight.findings.map(findingKey));
  const compared = tonight.findings.flatMap(
    (finding) =>
      (finding.outcome === "skipped"
        ? findingBeforeSkip(finding, findingOn)
        : latestJudgedFinding(finding, findingOn)) ?? [],
  );
  // A run that was stopped early did not reach every check. Therefore, only a complete run can have lost findings.
  const gone = tonight.stopped === undefined ? lostFindings(recent.at(-2), findingOn, keys) : [];
  return documentOf(last, [...compared, ...gone]);
}

const lostFindings = (
  before: Night | undefined,
  findingOn: FindingOnNight,
  tonight: ReadonlySet<string>,
): readonly NightFinding[] =>
  (before?.findings ?? []).filter((finding) => {
    const key = findingKey(finding);
    const earlier = findingOn(2, key);
    const isLost = isExercised(finding) && earlier !== undefined && isExercised(earlier);
    return isLost && !tonight.has(key) && findingOn(0, key) === undefined;
  });

type FindingOnNight = (nightsBefore: number, key: string) => NightFinding | undefined;

function createFindingLookup(newestFirst: readonly Night[]): FindingOnNight {
  const byNight = new Map<number, ReadonlyMap<string, NightFinding>>();
  return (at, key) => {
    const known =
      byNight.get(at) ?? new Map(newestFirst[at]?.findings.map((finding) => [findingKey(finding), finding]));
    byNight.set(at, known);
    return known.get(key);
  };
}

function latestJudgedFinding(finding: NightFinding, findingOn: FindingOnNight): NightFinding | undefined {
  const key = findingKey(finding);
  let first: NightFinding | undefined;
  for (let at = 0; at < lookbackNights; at += 1) {
    const row = findingOn(at, key);
    first ??= row;
    if (row !== undefined && (isExercised(row) || !isExercised(finding))) return row;
  }
  return first;
}

function findingBeforeSkip(finding: NightFinding, findingOn: FindingOnNight): NightFinding | undefined {
  const key = findingKey(finding);
  const [last, two, three] = [findingOn(0, key), findingOn(1, key), findingOn(2, key)];
  if (last === undefined) return undefined;
  if (isExercised(last)) return finding;
  const isGone = two !== undefined && three !== undefined && isExercised(two) && isExercised(three);
  return isGone ? two : last;
}
