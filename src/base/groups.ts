/** Groups items by a key. Unlike `Map.groupBy`, it returns groups whose type says that they are not empty. */
export const groupsBy = <T>(items: Iterable<T>, keyOf: (item: T) => unknown): [T, ...T[]][] =>
  [...Map.groupBy(items, keyOf).values()] as [T, ...T[]][];
