import { notNegative, remainingWithinLimit } from "../rules/limits/header-rules.ts";
import { latencyGroupOf } from "./histogram.ts";
import type { LoadSample, SecondCounts } from "./load-evidence.ts";
import { hasKnownHeaders } from "./load-sample.ts";
import { rateValues } from "../spec/headers.ts";

/** A run of more requests keeps its exact counts a second and not each request. */
export const maxKeptSamples = 150_000;

type Slot = { -readonly [Name in keyof SecondCounts]: SecondCounts[Name] };

/** Counts requests as they come, per flow, key and second of the target's time. */
export interface SecondCounter {
  readonly add: (sample: LoadSample) => void;
  /** In the order of the seconds. */
  readonly counts: () => SecondCounts[];
}

export function createSecondCounter(): SecondCounter {
  const slots = new Map<string, Slot>();
  let last: Slot | null = null;
  const slotOf = (sample: LoadSample, second: number): Slot => {
    // Requests come by the thousand for the same second.
    if (last !== null && last.second === second && last.flow === sample.flow && last.key === sample.key) return last;
    const name = `${sample.flow} ${sample.key} ${second}`;
    last = slots.get(name) ?? emptySlot(sample, second);
    slots.set(name, last);
    return last;
  };
  return {
    add: (sample) => count(slotOf(sample, sample.date ?? Math.floor(sample.endMs / 1000)), sample),
    counts: () => [...slots.values()].toSorted((one, other) => one.second - other.second),
  };
}

/** The slots of all samples. */
export function countBySecond(samples: Iterable<LoadSample>): SecondCounts[] {
  const summary = createSecondCounter();
  for (const sample of samples) summary.add(sample);
  return summary.counts();
}

/** Counts bodies of one status that were looked at, and how many of them broke which clause. */
function countBody(
  bodies: SecondCounts["bodies"],
  status: number,
  looked: number,
  flaws: readonly (NonNullable<LoadSample["flaws"]>[number] & { readonly count?: number })[],
): void {
  let body = bodies.find((each) => each.status === status);
  if (body === undefined) bodies.push((body = { status, looked: 0, flaws: [] }));
  body.looked += looked;
  for (const { count: of = 1, ...flaw } of flaws) {
    const known = body.flaws.find(({ clause }) => clause === flaw.clause);
    if (known === undefined) body.flaws.push({ ...flaw, count: of });
    else known.count += of;
  }
}

type Head = SecondCounts["heads"][number];

const headCounts = ["answered", "lacking", "negative", "aboveLimit"] as const satisfies readonly (keyof Head)[];

/** Adds the answers of one status to those of the same. */
function countHead(heads: SecondCounts["heads"], more: Head): void {
  const head = heads.find(({ status }) => status === more.status);
  if (head === undefined) heads.push({ ...more });
  else for (const name of headCounts) head[name] += more[name];
}

const headOf = (sample: LoadSample, status: number): Head => ({
  status,
  answered: 1,
  lacking: Number(rateValues.some((name) => sample[name] === null)),
  negative: Number(typeof notNegative.judge(sample, null) === "string"),
  aboveLimit: Number(typeof remainingWithinLimit.judge(sample, null) === "string"),
});

/** Slots of several processes: those of the same flow, key and second are added up. */
export function mergeSecondCounts(parts: readonly (readonly SecondCounts[])[]): SecondCounts[] {
  const slots = new Map<string, Slot>();
  for (const slot of parts.flat()) {
    const name = `${slot.flow} ${slot.key} ${slot.second}`;
    const found = slots.get(name);
    if (found === undefined) slots.set(name, structuredClone(slot));
    else addUp(found, slot);
  }
  return [...slots.values()].toSorted((one, other) => one.second - other.second);
}

const emptySlot = ({ flow, key, sentMs, endMs }: LoadSample, second: number): Slot => ({
  flow,
  key,
  second,
  admitted: 0,
  refused: 0,
  failed: 0,
  unanswered: 0,
  tokens: 0,
  heads: [],
  bodies: [],
  firstSentMs: sentMs,
  lastEndMs: endMs,
});

function count(slot: Slot, sample: LoadSample): void {
  const { status, tokens, flaws, sentMs, endMs } = sample;
  slot[status === null ? "unanswered" : countedAs[latencyGroupOf(status)]] += 1;
  if (status !== null && hasKnownHeaders(sample)) countHead(slot.heads, headOf(sample, status));
  slot.tokens += tokens ?? 0;
  if (status !== null && flaws !== null) countBody(slot.bodies, status, 1, flaws);
  slot.firstSentMs = Math.min(slot.firstSentMs, sentMs);
  slot.lastEndMs = Math.max(slot.lastEndMs, endMs);
}

const countedAs = { admitted: "admitted", refused: "refused", other: "failed" } as const;

const counts = [
  "admitted",
  "refused",
  "failed",
  "unanswered",
  "tokens",
] as const satisfies readonly (keyof SecondCounts)[];

function addUp(sum: Slot, slot: SecondCounts): void {
  for (const name of counts) sum[name] += slot[name];
  for (const head of slot.heads) countHead(sum.heads, head);
  for (const { status, looked, flaws } of slot.bodies) countBody(sum.bodies, status, looked, flaws);
  sum.firstSentMs = Math.min(sum.firstSentMs, slot.firstSentMs);
  sum.lastEndMs = Math.max(sum.lastEndMs, slot.lastEndMs);
}
