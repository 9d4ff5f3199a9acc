/**
 * Limits of flattening a JSON value: the maximum depth, and the maximum number of values. What lies beyond these limits is not compared.
 */
const maxDepth = 30;
const maxValues = 2000;

/** Flattened JSON: each leaf value by its path, and the kinds of values at each path. */
export interface TakenApart {
  readonly values: ReadonlyMap<string, string>;
  /** Kinds of values, such as `string`, by path. Paths have `[]` in place of array indexes. */
  readonly kinds: ReadonlyMap<string, ReadonlySet<string>>;
  /** Paths of empty arrays. The kinds of their items are unknown. */
  readonly empty: ReadonlySet<string>;
}

/**
 * Flattens a JSON value.
 *
 * @param name root of the paths, such as `body`
 */
export function takeApart(json: unknown, name: string): TakenApart {
  const values = new Map<string, string>();
  const kinds = new Map<string, Set<string>>();
  const empty = new Set<string>();
  const walk = (value: unknown, path: string, shape: string, depth: number): void => {
    const known = kinds.get(shape) ?? new Set<string>();
    kinds.set(shape, known.add(kindOf(value)));
    if (values.size >= maxValues) return;
    if (typeof value !== "object" || value === null || depth >= maxDepth) {
      values.set(path, depth >= maxDepth ? "…" : JSON.stringify(value));
      return;
    }
    if (Array.isArray(value)) {
      if (value.length === 0) empty.add(shape);
      value.forEach((each, index) => walk(each, `${path}[${index}]`, `${shape}[]`, depth + 1));
    } else for (const [key, each] of Object.entries(value)) walk(each, `${path}.${key}`, `${shape}.${key}`, depth + 1);
  };
  walk(json, name, name, 0);
  return { values, kinds, empty };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** A path at which the shapes of two JSON values differ, with the kind of each. */
export interface ShapeChange {
  readonly path: string;
  readonly kept: string;
  readonly now: string;
}

/**
 * Finds the outermost paths at which the shapes of two values differ. Items of an array that is empty in one of the values are not
 * compared.
 */
export function shapeChanges(kept: TakenApart, now: TakenApart): ShapeChange[] {
  const changes: ShapeChange[] = [];
  const isBelow = (path: string, above: string): boolean =>
    path.startsWith(above) && /^[.[]/.test(path.slice(above.length));
  const isOpen = (path: string): boolean =>
    [...kept.empty, ...now.empty].some((array) => path.startsWith(`${array}[]`)) ||
    changes.some((change) => isBelow(path, change.path));
  for (const path of new Set([...kept.kinds.keys(), ...now.kinds.keys()])) {
    const [was, is] = [kindsAt(kept, path), kindsAt(now, path)];
    if (was !== is && !isOpen(path)) changes.push({ path, kept: was, now: is });
  }
  return changes;
}

const kindsAt = ({ kinds }: TakenApart, path: string): string =>
  [...(kinds.get(path) ?? ["absent"])].toSorted().join(" or ");
