/** Returns a random number between `min` and `max`. `numbers` yields random numbers in [0, 1). */
export const numberBetween = (numbers: () => number, min: number, max: number): number => min + numbers() * (max - min);

/** Returns a random item of a list, which must not be empty. */
export const randomItem = <T>(numbers: () => number, items: readonly T[]): T =>
  items[Math.floor(numbers() * items.length)] as T;
