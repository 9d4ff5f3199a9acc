/** Groups items by a key, in the order of their first items. Unlike with `Map.groupBy`, the types say that no group is empty. */
export const groupsBy = <T>(items: Iterable<T>, keyOf: (item: T) => unknown): [T, ...T[]][] =>
  [...Map.groupBy(items, keyOf).values()] as [T, ...T[]][];
