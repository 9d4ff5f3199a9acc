/**
 * Maximum depth of a JSON value that is compared. The next constant limits the number of values. Anything beyond is
 * ignored.
 */
const maxComparedDepth = 30;
const maxComparedValues = 2000;

/** A flattened JSON value. `values`: the JSON text of each leaf, by its path, such as `body.items[0].id`. */
export interface FlatJson {
  readonly values: ReadonlyMap<string, string>;
  /** The types of values at each path, such as `string`. Here, a path has `[]` in place of an array index. */
  readonly kinds: ReadonlyMap<string, ReadonlySet<string>>;
  /** Paths of empty arrays, whose items have no known type. */
  readonly empty: ReadonlySet<string>;
}

/**
 * Lists the values of a JSON value by their paths.
 *
 * @param name beginning of each path, such as `body`
 */
export function flattenJson(json: unknown, name: string): FlatJson {
  const values = new Map<string, string>();
  const kinds = new Map<string, Set<string>>();
  const empty = new Set<string>();
  const walk = (value: unknown, path: string, shape: string, depth: number): void => {
    const known = kinds.get(shape) ?? new Set<string>();
    kinds.set(shape, known.add(jsonTypeOf(value)));
    if (values.size >= maxComparedValues) return;
    if (typeof value !== "object" || value === null || depth >= maxComparedDepth) {
      values.set(path, depth >= maxComparedDepth ? "…" : JSON.stringify(value));
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

function jsonTypeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** A path at which two JSON values have different types. `kept` and `now` name these types. */
export interface ShapeChange {
  readonly path: string;
  readonly kept: string;
  readonly now: string;
}

/**
 * Returns the paths at which the types of two JSON values differ, without the paths below them. Ignores the items of an
 * array that is empty in one of the two.
 */
export function shapeChanges(kept: FlatJson, now: FlatJson): ShapeChange[] {
  const changes: ShapeChange[] = [];
  const isBelow = (path: string, above: string): boolean =>
    path.startsWith(above) && /^[.[]/.test(path.slice(above.length));
  const isOpen = (path: string): boolean =>
    [...kept.empty, ...now.empty].some((array) => path.startsWith(`${array}[]`)) ||
    changes.some((change) => isBelow(path, change.path));
  for (const path of new Set([...kept.kinds.keys(), ...now.kinds.keys()])) {
    const [was, is] = [typesAt(kept, path), typesAt(now, path)];
    if (was !== is && !isOpen(path)) changes.push({ path, kept: was, now: is });
  }
  return changes;
}

const typesAt = ({ kinds }: FlatJson, path: string): string =>
  [...(kinds.get(path) ?? ["absent"])].toSorted().join(" or ");
