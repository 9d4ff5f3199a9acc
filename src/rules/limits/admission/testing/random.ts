import { seededRandom } from "../../../../base/numbers.ts";

/** Random choices from a seed, so that every simulated history can be repeated. */
export interface Random {
  /** A number in [0, 1). */
  readonly next: () => number;
  /** A number in [from, to). */
  readonly between: (from: number, to: number) => number;
  /** A whole number in [from, to]. */
  readonly whole: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(choices: readonly [T, ...T[]]) => T;
}

export function randomOf(seed: number): Random {
  const next = seededRandom(seed);
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    whole,
    chance: (probability) => next() < probability,
    pick: (choices) => choices[whole(0, choices.length - 1)] ?? choices[0],
  };
}
