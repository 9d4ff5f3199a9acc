/** Groups items by a key. Unlike with `Map.groupBy`, the result type says that no group is empty. */
export const groupsBy = <T>(items: Iterable<T>, keyOf: (item: T) => unknown): [T, ...T[]][] =>
  [...Map.groupBy(items, keyOf).values()] as [T, ...T[]][];
