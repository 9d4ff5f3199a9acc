import { createHash } from "node:crypto";

import type { Row } from "../../base/covering-array.ts";
import { once } from "../../base/memoize.ts";
import { tiersUnderTest } from "../../run/plan/needs.ts";
import type { LimitTest } from "../../run/probe.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { type Dimension, dimensions } from "../../spec/dimensions.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import type { Target } from "../../target/target.ts";
import { allPairs, type CutPairs, mergeCuts, type CoverageReach, reachOf, rowsInState } from "./plan.ts";
import { missingSettingFor } from "./missing-settings.ts";
import { chooseRows, hasFreshKey, runsAgent } from "./choose.ts";

interface PairBitmap {
  /** Hash of the list of all pairs of request values. Only bitmaps with equal hashes can be combined. */
  readonly of: string;
  /** Base64 of one bit for each pair of request values. A bit is 1 if a request with both values got a response. */
  readonly bits: string;
}

interface TripleCounts {
  readonly covered: number;
  readonly reachable: number;
  readonly total: number;
  readonly cut: readonly CutPairs[];
}

/** The pairs of request values, e.g. `endpoint=list key=wrong`, that a run covered, missed or could not reach. */
export interface PairCounts {
  readonly coveredCount: number;
  /** Names of the missed pairs for which no reason is known. `cut` counts those with a reason, e.g. no test clock. */
  readonly uncovered: readonly string[];
  readonly total: number;
  readonly cut: readonly CutPairs[];
  /** Counts of triples of endpoint, kind of key and state of the key. Absent in older evidence. */
  readonly triples?: TripleCounts;
  /** Bitmap of the pairs that the run covered. Absent in older evidence. */
  readonly seen?: PairBitmap;
}

/** The answered and unanswered requests of a run. Each row lists a request's values, such as endpoint and key kind. */
interface SentRows {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly reach: CoverageReach;
  readonly answered: readonly Row[];
  readonly covered: ReadonlySet<string>;
  readonly unanswered: ReadonlyMap<Row, Enabler | null>;
  readonly tested: readonly LimitTest[];
}

export const needForUnanswered = "a response to each request";

export function countPairs(sent: SentRows): PairCounts {
  const { reach, covered, unanswered } = sent;
  const { covering, pairs, total, cut } = reach;
  const causes = new Map<string, Enabler>();
  for (const [row, needs] of unanswered)
    if (needs !== null) for (const name of covering.pairsIn(row)) causes.set(name, needs);
  const missing = [...pairs].filter((name) => !covered.has(name));
  return {
    coveredCount: pairs.size - missing.length,
    uncovered: missing.filter((name) => !causes.has(name)),
    total,
    cut: mergeCuts([
      ...cut,
      ...missing.flatMap((name) => causes.get(name) ?? []).map((needs) => ({ needs, pairs: 1 })),
    ]),
    triples: countTriples(sent),
    seen: bitmapOf(covered),
  };
}

export function neededForLimit({ key = "", state }: Row, target: Target, tested: readonly LimitTest[]): Enabler | null {
  const own = tested.filter((each) => each.state === state && (each.tier === null || each.tier === key));
  if (own.some(({ result }) => result.kind === "ran")) return target.clock === null ? need("clock") : needForUnanswered;
  if (own.some(({ result }) => result.kind === "broken")) return null;
  const needs = own.flatMap(({ result }) => (result.kind === "skipped" ? (result.needs ?? []) : []));
  const isTested = state === "tokens spent" || tiersUnderTest(target).some(({ tier }) => tier === key);
  return needs[0] ?? need(isTested && own.length === 0 ? "selection" : "limit within reach");
}

function countTriples({ target, readOnly, answered, unanswered, tested }: SentRows): TripleCounts {
  const answeredTriples = new Set(answered.filter(isDocumented).map(nameOfTriple));
  const leftOut = new Map(
    [...unanswered].filter(([row]) => isDocumented(row)).map(([row, why]) => [nameOfTriple(row), why]),
  );
  const causeOf = (triple: Triple): Enabler | null => {
    const { endpoint, state } = triple;
    const missing = (["endpoint", "key", "state"] as const satisfies Dimension[])
      .map((name) => missingSettingFor(name, triple[name], target))
      .find((each) => each !== null);
    if (missing !== undefined) return missing;
    if (readOnly && publishedEndpoints[endpoint].method === "POST") return need("readOnly");
    if (state !== "fresh") return neededForLimit(triple, target, tested);
    return leftOut.get(nameOfTriple(triple)) ?? (target.clock === null ? need("clock") : needForUnanswered);
  };
  const missing = allTriples().filter((each) => !answeredTriples.has(nameOfTriple(each)));
  const cut = missing.flatMap((each) => causeOf(each) ?? []).map((needs) => ({ needs, pairs: 1 }));
  const total = allTriples().length;
  return { covered: total - missing.length, reachable: total - cut.length, total, cut: mergeCuts(cut) };
}

interface Triple extends Row {
  readonly endpoint: EndpointName;
  readonly key: string;
  readonly state: string;
}

const nameOfTriple = ({ endpoint, key, state }: Row): string => `${endpoint} ${key} ${state}`;
const isDocumented = ({ method }: Row): boolean => method === "documented";

const allTriples = once((): readonly Triple[] => {
  const pairs = new Set(allPairs());
  const refused: readonly string[] = dimensions.key.refused;
  const keys = dimensions.key.values.filter((key) => !refused.includes(key));
  return dimensions.endpoint.values.flatMap((endpoint) =>
    keys.flatMap((key) =>
      dimensions.state.values
        .map((state) => ({ endpoint, key, state }))
        .filter(({ state }) =>
          [`endpoint=${endpoint} key=${key}`, `endpoint=${endpoint} state=${state}`, `key=${key} state=${state}`].every(
            (name) => pairs.has(name),
          ),
        ),
    ),
  );
});

const hashOfPairs = once(() => createHash("sha256").update(allPairs().join("\n")).digest("hex").slice(0, 16));

function bitmapOf(covered: ReadonlySet<string>): PairBitmap {
  const bytes = Buffer.alloc(Math.ceil(allPairs().length / 8));
  for (const [at, name] of allPairs().entries())
    if (covered.has(name)) bytes.writeUInt8(bytes.readUInt8(at >> 3) | (1 << (at & 7)), at >> 3);
  return { of: hashOfPairs(), bits: bytes.toString("base64") };
}

export interface PlannedRun {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly seed: number;
  readonly tested: readonly LimitTest[];
  readonly left: { readonly requests: number; readonly executions: number };
}

export function expectedPairCounts({ target, readOnly, seed, tested, left }: PlannedRun): PairCounts {
  const reach = reachOf(target, readOnly);
  const inStates = readOnly ? [] : tested.flatMap((each) => rowsOfTest(each, target, seed));
  const covered = new Set(inStates.flatMap(reach.covering.pairsIn));
  const chosen = chooseRows({ target, reach, covered, known: inStates, seed });
  const { sent } = chosen;
  const dropped = rowsOverBounds(sent, left);
  const answered = [...inStates, ...sent.filter((row) => !dropped.has(row))];
  const [bound = needForUnanswered] = dropped.values();
  const leftOut = needsOfLeftOut(chosen, target, tested).map(
    ([row, needs]) => [row, needs === needForUnanswered ? bound : needs] as const,
  );
  // For each missing pair, `countPairs` reports the last reason in the map. `needForUnanswered`, the least useful reason,
  // comes first, so that other reasons replace it.
  const noResponseFirst = leftOut.toSorted(
    ([, one], [, other]) => Number(one !== needForUnanswered) - Number(other !== needForUnanswered),
  );
  const unanswered = new Map<Row, Enabler | null>([...noResponseFirst, ...dropped]);
  for (const row of answered) for (const name of reach.covering.pairsIn(row)) covered.add(name);
  return countPairs({ target, readOnly, reach, answered, covered, unanswered, tested });
}

/** Returns the rows not chosen, each with the setting it needs; `null` if the probe that uses up its limit crashed. */
export const needsOfLeftOut = (
  { all, sent }: ReturnType<typeof chooseRows>,
  target: Target,
  tested: readonly LimitTest[],
) =>
  all
    .filter((row) => !sent.includes(row))
    .map((row) => [row, hasFreshKey(row) ? need("clock") : neededForLimit(row, target, tested)] as const);

function rowsOfTest({ state, tier, result }: LimitTest, target: Target, seed: number): readonly Row[] {
  if (result.kind !== "ran" || (target.clock === null && state !== "minute used up")) return [];
  return rowsInState(target, { key: tier ?? "near quota", state, seed });
}

function rowsOverBounds(rows: readonly Row[], left: PlannedRun["left"]): ReadonlyMap<Row, Enabler> {
  const dropped = new Map<Row, Enabler>();
  let [requests, executions] = [0, 0];
  for (const row of rows) {
    const isRun = runsAgent(row);
    if (requests >= left.requests) dropped.set(row, need("maxRequests"));
    else if (isRun && executions >= left.executions) dropped.set(row, need("maxExecutions"));
    else {
      requests += 1;
      executions += Number(isRun);
    }
  }
  return dropped;
}
