/** Returns a random number between two limits. */
export const between = (numbers: () => number, min: number, max: number): number => min + numbers() * (max - min);

/** Returns a random item of a list that is not empty. */
export const oneOf = <T>(numbers: () => number, items: readonly T[]): T =>
  items[Math.floor(numbers() * items.length)] as T;
