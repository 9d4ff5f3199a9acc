import { createHash } from "node:crypto";

import type { Row } from "../../base/covering-array.ts";
import { once } from "../../base/memoize.ts";
import { tiersUnderTest } from "../../run/plan/needs.ts";
import type { LimitTest } from "../../run/probe.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { type Dimension, dimensions } from "../../spec/dimensions.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import type { Target } from "../../target/target.ts";
import { allPairs, type CutPairs, mergeCuts, type Reach } from "./plan.ts";
import { missingFor } from "./reach.ts";

/** A bitmap of the pairs of values that occurred in some request. Bitmaps of several runs can be added up. */
export interface PairBitmap {
  /** A hash of all pairs in order. Only bitmaps of the same hash can be added up. */
  readonly of: string;
  /** A bit for each pair, in base64. */
  readonly bits: string;
}

/** How many triples of endpoint, kind of key and state a run covered, and what would enable the others. */
export interface TripleCounts {
  readonly covered: number;
  readonly reachable: number;
  readonly total: number;
  readonly cut: readonly CutPairs[];
}

/** How many pairs and triples of values the requests of a run covered, and why the others are missing. */
export interface PairCounts {
  /** Number of pairs that some request of the run covered. */
  readonly coveredCount: number;
  /** Pairs that the run should have covered and did not. Neither the target nor a bound of the run explains why. */
  readonly uncovered: readonly string[];
  readonly total: number;
  /** Pairs that the run could not cover because of the target, the selection or its own bounds. */
  readonly cut: readonly CutPairs[];
  /** Counts of triples. Absent in the evidence of earlier versions. */
  readonly triples?: TripleCounts;
  /** The covered pairs. Absent in the evidence of earlier versions. */
  readonly seen?: PairBitmap;
}

/**
 * The requests of a run as rows: one value for each dimension. A generated request that was not sent is `unanswered`.
 */
interface SentRows {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly reach: Reach;
  /** The rows of all requests that were answered. */
  readonly answered: readonly Row[];
  /** Names of the pairs that the answered rows contain. */
  readonly covered: ReadonlySet<string>;
  /**
   * The generated rows without a response, and what would enable one. `null` if neither the target nor a bound of the
   * run is the reason.
   */
  readonly unanswered: ReadonlyMap<Row, Enabler | null>;
  readonly tested: readonly LimitTest[];
}

/** Requirement of a pair whose request got no response. A legal server may lose a request, or answer too late. */
export const noAnswer = "a response to each request";

/**
 * Counts the pairs of a run. A missing pair is `uncovered` if no unanswered request that contains the pair has a
 * reason.
 */
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
    seen: bitsOf(covered),
  };
}

/**
 * Returns what would enable requests with a key that is used up, for a run that sent none. `null` if the probe that
 * uses up the key failed in the harness.
 */
export function neededForLimit({ key = "", state }: Row, target: Target, tested: readonly LimitTest[]): Enabler | null {
  const own = tested.filter((each) => each.state === state && (each.tier === null || each.tier === key));
  if (own.some(({ result }) => result.kind === "ran")) return target.clock === null ? need("clock") : noAnswer;
  if (own.some(({ result }) => result.kind === "broken")) return null;
  const needs = own.flatMap(({ result }) => (result.kind === "skipped" ? (result.needs ?? []) : []));
  const isTested = state === "tokens spent" || tiersUnderTest(target).some(({ tier }) => tier === key);
  return needs[0] ?? need(isTested && own.length === 0 ? "selection" : "limit within reach");
}

function countTriples({ target, readOnly, answered, unanswered, tested }: SentRows): TripleCounts {
  const seen = new Set(answered.filter(isDocumented).map(nameOfTriple));
  const leftOut = new Map(
    [...unanswered].filter(([row]) => isDocumented(row)).map(([row, why]) => [nameOfTriple(row), why]),
  );
  const causeOf = (triple: Triple): Enabler | null => {
    const { endpoint, state } = triple;
    const missing = (["endpoint", "key", "state"] as const satisfies Dimension[])
      .map((name) => missingFor(name, triple[name], target))
      .find((each) => each !== null);
    if (missing !== undefined) return missing;
    if (readOnly && publishedEndpoints[endpoint].method === "POST") return need("readOnly");
    if (state !== "fresh") return neededForLimit(triple, target, tested);
    return leftOut.get(nameOfTriple(triple)) ?? (target.clock === null ? need("clock") : noAnswer);
  };
  const missing = allTriples().filter((each) => !seen.has(nameOfTriple(each)));
  const cut = missing.flatMap((each) => causeOf(each) ?? []).map((needs) => ({ needs, pairs: 1 }));
  const total = allTriples().length;
  return { covered: total - missing.length, reachable: total - cut.length, total, cut: mergeCuts(cut) };
}

/** An endpoint, a kind of key and a state. */
interface Triple extends Row {
  readonly endpoint: EndpointName;
  readonly key: string;
  readonly state: string;
}

const nameOfTriple = ({ endpoint, key, state }: Row): string => `${endpoint} ${key} ${state}`;
const isDocumented = ({ method }: Row): boolean => method === "documented";

/** The triples whose three pairs are possible. A rejected key has no state. */
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

function bitsOf(covered: ReadonlySet<string>): PairBitmap {
  const bytes = Buffer.alloc(Math.ceil(allPairs().length / 8));
  for (const [at, name] of allPairs().entries())
    if (covered.has(name)) bytes.writeUInt8(bytes.readUInt8(at >> 3) | (1 << (at & 7)), at >> 3);
  return { of: hashOfPairs(), bits: bytes.toString("base64") };
}
