import type { Mutant, Replacement } from "./mutant.ts";

/** Mutants that change different answers and deliveries, and what stands in the place of all of these. */
export interface Batch {
  readonly mutants: readonly Mutant[];
  readonly replacement: Replacement;
}

/** Puts mutants together, of different answers, at most so many in each. */
export function batchesOf(mutants: readonly Mutant[], most: number): Batch[] {
  const batches: Batch[] = [];
  for (const mutant of mutants) {
    const alone: Batch = { mutants: [mutant], replacement: mutant.make() };
    const at = batches.findIndex((each) => each.mutants.length < most && isApart(each, alone));
    const found = batches[at];
    if (found === undefined) batches.push(alone);
    else batches[at] = joined(found, alone);
  }
  return batches;
}

const isApart = ({ replacement: one }: Batch, { replacement: other }: Batch): boolean =>
  [...other.exchanges.keys()].every((id) => !one.exchanges.has(id)) &&
  [...other.deliveries.keys()].every((id) => !one.deliveries.has(id));

const joined = (one: Batch, other: Batch): Batch => ({
  mutants: [...one.mutants, ...other.mutants],
  replacement: {
    exchanges: new Map([...one.replacement.exchanges, ...other.replacement.exchanges]),
    deliveries: new Map([...one.replacement.deliveries, ...other.replacement.deliveries]),
  },
});
