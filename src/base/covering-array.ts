import { once } from "./memoize.ts";
import { seededRandom } from "./numbers.ts";

/**
 * A row of a covering array: one value for each dimension, by the dimension's name. A covering array is a list of rows
 * that together contain each possible pair of values.
 */
export type Row = Readonly<Record<string, string>>;

type Choices = Readonly<Record<string, readonly string[] | undefined>>;

export interface CoveringInput {
  /** Values by dimension, in the order in which the tested program checks the dimensions, e.g. `key` before `body`. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Values that the tested program refuses, e.g. a wrong `key`. It then checks no later dimension, e.g. no `body`. */
  readonly refused: Choices;
  /**
   * Rules for rows: a row that matches `when` may have only the values in `only`. For example, a row with the method
   * `other` may only have the body `none`.
   */
  readonly exclusions: readonly { readonly when: Choices; readonly only: Choices }[];
  /** Whether the rows must cover each pair of values of these two dimensions. */
  readonly isPaired: (one: string, other: string) => boolean;
  /** Whether pairs and triples with this value need to be covered, e.g. `false` for the value `none`. */
  readonly counts: (value: string) => boolean;
}

/** Functions that build covering arrays of the pairs in `possiblePairs`. */
export interface Covering {
  /** Returns the names of all value pairs that some row can cover. */
  readonly possiblePairs: () => readonly string[];
  /** Returns the names of the value pairs that a row covers, e.g. `key=valid method=GET`. */
  readonly pairsIn: (row: Row) => readonly string[];
  readonly cover: (options: CoverOptions) => Row[];
  /** Completes each partial row in eight random ways. Keeps the result with the most new triples of values. */
  readonly extend: (options: ExtendOptions) => Row[];
}

interface ExtendOptions {
  /** Existing rows. Triples of values in these rows do not count as new. */
  readonly known: Iterable<Row>;
  /** Partial rows to complete. Rows that break a rule of {@link CoveringInput.exclusions} are dropped. */
  readonly begun: readonly Row[];
  readonly seed: number;
}

interface CoverOptions {
  /** Names of the pairs of values that existing rows contain. `cover` adds the pairs of its new rows to this set. */
  readonly covered: Set<string>;
  readonly seed: number;
  readonly costOf: (row: Row) => number;
  /** Partial rows to complete and add, e.g. `{ key: "wrong" }`, even without new pairs. Drops impossible rows. */
  readonly needed?: readonly Row[];
  /** Whether the new rows must cover a pair that is not in `covered`. Default: always. */
  readonly isWanted?: (pair: string) => boolean;
}

const pairRowCandidates = 4;
const tripleRowCandidates = 8;
const undecided = -1;

/**
 * Builds covering arrays by the AETG algorithm (Cohen and others, IEEE TSE 23, 1997). No npm library builds them with
 * existing rows, row costs and refused values.
 */
export function prepareCovering({ values, refused, exclusions, isPaired, counts }: CoveringInput): Covering {
  const names = Object.keys(values);
  // Represents values (items) and pairs by numbers, because a run looks up hundreds of thousands of pairs.
  const items = names.flatMap((name, at) => (values[name] ?? []).map((value) => ({ at, name, value })));
  const itemsAt = names.map((_, at) => items.flatMap((item, id) => (item.at === at ? [id] : [])));
  const idsByValue = names.map((_, at) => new Map((itemsAt[at] ?? []).map((id) => [items[id]?.value, id])));
  const idAt = (at: number, value: string | undefined): number => idsByValue[at]?.get(value) ?? undecided;
  const isRefused = items.map(({ name, value }) => refused[name]?.includes(value) === true);
  const isCounted = items.map(({ value }) => counts(value));
  const paired = names.map((one) => names.map((other) => isPaired(one, other)));
  const pairId = (first: number, second: number): number => first * items.length + second;
  const textOf = (id: number): string => `${items[id]?.name}=${items[id]?.value}`;
  const pairName = (first: number, second: number): string => `${textOf(first)} ${textOf(second)}`;

  const indexed = (choices: Choices): (readonly [number, ReadonlySet<number>])[] =>
    Object.entries(choices).map(([name, those]) => {
      const at = names.indexOf(name);
      // Drops unknown values, for which `idAt` returns `undecided`.
      return [at, new Set((those ?? []).map((value) => idAt(at, value)).filter((id) => id !== undecided))];
    });
  const rules = exclusions.map(({ when, only }) => ({ when: indexed(when), only: indexed(only) }));
  const rulesAt = names.map((_, at) =>
    rules.filter((rule) => [...rule.when, ...rule.only].some(([own]) => own === at)),
  );
  type Ids = readonly number[];
  const isKept = (row: Ids, { when, only }: (typeof rules)[number]): boolean =>
    !when.every(([at, those]) => those.has(row[at] ?? undecided)) ||
    only.every(([at, those]) => row[at] === undecided || those.has(row[at] ?? undecided));
  const idsOf = (row: Row): number[] => names.map((name, at) => idAt(at, row[name]));
  const rowOf = (ids: Ids): Row =>
    Object.fromEntries(names.map((name, at) => [name, items[ids[at] ?? undecided]?.value ?? ""]));

  /** Chooses a value for each undecided dimension of a row. Returns `null` if no complete row is possible. */
  const complete = (begun: Ids, preferred: (at: number, row: Ids) => Ids): number[] | null => {
    const lastFixed = begun.findLastIndex((id) => id !== undecided);
    const row = [...begun];
    const fill = (at: number): boolean => {
      if (at === names.length) return true;
      if (begun[at] !== undecided) return fill(at + 1);
      for (const id of preferred(at, row)) {
        // A refused value here would keep the tested program from checking the later values that `begun` fixes.
        if (at < lastFixed && isRefused[id]) continue;
        row[at] = id;
        if ((rulesAt[at] ?? []).every((rule) => isKept(row, rule)) && fill(at + 1)) return true;
      }
      row[at] = undecided;
      return false;
    };
    return rules.every((rule) => isKept(row, rule)) && fill(0) ? row : null;
  };

  const pairsOf = (row: Ids): (readonly [number, number])[] => {
    const found: (readonly [number, number])[] = [];
    let refusedBefore = 0;
    for (const [other, second] of row.entries()) {
      for (let one = 0; one < other; one += 1) {
        const first = row[one] ?? undecided;
        // Skips the pair if a refused value other than `first` comes before `second`. For example, a program that
        // refuses the key does not check the body.
        if (refusedBefore === Number(isRefused[first]) && paired[one]?.[other] && isCounted[first] && isCounted[second])
          found.push([first, second]);
      }
      refusedBefore += Number(isRefused[second] === true);
    }
    return found;
  };
  const possible = once(() =>
    items.flatMap((one, first) =>
      items.flatMap((other, second) => {
        if (one.at >= other.at || !paired[one.at]?.[other.at] || !isCounted[first] || !isCounted[second]) return [];
        const begun = names.map((_, at) => (at === one.at ? first : at === other.at ? second : undecided));
        if (complete(begun, (at) => itemsAt[at] ?? []) === null) return [];
        return [{ name: pairName(first, second), id: pairId(first, second), begun }];
      }),
    ),
  );

  const triplesOf = (row: Ids): Int32Array => {
    const firstRefused = row.findIndex((id) => isRefused[id]) + 1;
    const own = row.filter((id) => isCounted[id]);
    const found = new Int32Array((own.length * (own.length - 1) * (own.length - 2)) / 6);
    let count = 0;
    for (let at = 0; at < own.length; at += 1)
      for (let between = at + 1; between < own.length; between += 1) {
        const pair = pairId(own[at] ?? undecided, own[between] ?? undecided) + firstRefused * items.length ** 2;
        for (let last = between + 1; last < own.length; last += 1) {
          found[count] = pairId(pair, own[last] ?? undecided);
          count += 1;
        }
      }
    return found;
  };

  return {
    possiblePairs: () => possible().map(({ name }) => name),
    pairsIn: (row) => pairsOf(idsOf(row)).map(([first, second]) => pairName(first, second)),
    cover: ({ covered, seed, costOf, needed = [], isWanted = () => true }) => {
      const random = seededRandom(seed);
      const isNew = new Uint8Array(items.length ** 2);
      for (const { name, id } of possible()) if (!covered.has(name)) isNew[id] = 1;
      const gainOf = (id: number, at: number, row: Ids): number => {
        let gain = 0;
        for (let otherAt = 0; otherAt < row.length; otherAt += 1) {
          const other = row[otherAt] ?? undecided;
          if (other !== undecided && otherAt !== at)
            gain += isNew[at < otherAt ? pairId(id, other) : pairId(other, id)] ?? 0;
        }
        return gain;
      };
      const worths = new Float64Array(items.length);
      const byGain = (at: number, row: Ids): number[] => {
        const ids = itemsAt[at] ?? [];
        for (const id of ids) worths[id] = gainOf(id, at, row) + random();
        return ids.toSorted((one, other) => (worths[other] ?? 0) - (worths[one] ?? 0));
      };
      const rows: Row[] = [];
      const add = (begun: Ids): void => {
        const tried = Array.from({ length: pairRowCandidates }, () => complete(begun, byGain)).flatMap((ids) => {
          if (ids === null) return [];
          const row = rowOf(ids);
          const found = pairsOf(ids);
          const gain = found.reduce((sum, [first, second]) => sum + (isNew[pairId(first, second)] ?? 0), 0);
          return [{ row, found, worth: gain / costOf(row) }];
        });
        const [best] = tried.toSorted((one, other) => other.worth - one.worth);
        if (best === undefined) return;
        rows.push(best.row);
        for (const [first, second] of best.found) {
          isNew[pairId(first, second)] = 0;
          covered.add(pairName(first, second));
        }
      };
      for (const row of needed) add(idsOf(row));
      for (const { name, id, begun } of possible()) if (isNew[id] === 1 && isWanted(name)) add(begun);
      return rows;
    },
    extend: ({ known, begun, seed }) => {
      const random = seededRandom(seed);
      const isMet = new Uint8Array((names.length + 1) * items.length ** 3);
      const meet = (row: Ids): void => {
        for (const triple of triplesOf(row)) isMet[triple] = 1;
      };
      for (const row of known) meet(idsOf(row));
      const anyOrder = (at: number): number[] => {
        const ids = itemsAt[at] ?? [];
        const first = Math.floor(random() * ids.length);
        return [...ids.slice(first), ...ids.slice(0, first)];
      };
      return begun.flatMap((beginning) => {
        const tried = Array.from({ length: tripleRowCandidates }, () => complete(idsOf(beginning), anyOrder)).flatMap(
          (ids) => {
            if (ids === null) return [];
            return [{ ids, worth: triplesOf(ids).reduce((sum, each) => sum + 1 - (isMet[each] ?? 0), 0) }];
          },
        );
        const [best] = tried.toSorted((one, other) => other.worth - one.worth);
        if (best === undefined) return [];
        meet(best.ids);
        return [rowOf(best.ids)];
      });
    },
  };
}
