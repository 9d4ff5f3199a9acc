/** Returns `compute` with a cache. The cache keeps a result as long as the argument object exists. */
export function memoizeByObject<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined || known.has(key)) return before as V;
    const value = compute(key);
    known.set(key, value);
    return value;
  };
}

export function memoizeByPair<K extends object, P extends string | number | boolean | null, V>(
  compute: (key: K, plain: P) => V,
): (key: K, plain: P) => V {
  const ofKey = memoizeByObject((key: K) => memoizeByValue((plain: P) => compute(key, plain)));
  return (key, plain) => ofKey(key)(plain);
}

/** Maximum number of values in the cache of {@link memoizeByValue}. A full cache is emptied before the next value. */
const maxPlainValues = 10_000;

export function memoizeByValue<P extends string | number | boolean | null, V>(
  compute: (plain: P) => V,
): (plain: P) => V {
  const known = new Map<P, V>();
  return (plain) => {
    const before = known.get(plain);
    if (before !== undefined || known.has(plain)) return before as V;
    if (known.size === maxPlainValues) known.clear();
    const value = compute(plain);
    known.set(plain, value);
    return value;
  };
}

/** Returns the map's value for a key. If the map has no value for the key, calls `make` and adds the result. */
export function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make();
  map.set(key, value);
  return value;
}

export function once<V>(compute: () => V): () => V {
  let known: { readonly value: V } | null = null;
  return () => (known ??= { value: compute() }).value;
}
