/** The same function, which computes the value of each object once: for what hundreds of checks ask of the same evidence. */
export function oncePer<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before.value;
    const value = compute(key);
    known.set(key, { value });
    return value;
  };
}

/** The same function, which computes its value when it is first asked for: what is slow to make is not made for a command that needs none. */
export function once<V>(compute: () => V): () => V {
  let known: { readonly value: V } | null = null;
  return () => (known ??= { value: compute() }).value;
}
