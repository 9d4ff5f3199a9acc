import { seededRandom, shuffled } from "../base/numbers.ts";
import type { Patch } from "../reference/patch.ts";
import { allVariants } from "../reference/catalogue.ts";
import { type PatchTrial, tryGroups } from "./trial.ts";
import { type TrialExtent, replacedDecisions } from "./scope.ts";

export interface SeedTrial {
  readonly seed: number;
  readonly variants: readonly string[];
  /** Failed clauses and errors of the harness. Legal variants must not cause complaints. */
  readonly complaints: readonly string[];
  /** A reduced set of `variants` that still causes complaints. Empty if there are no complaints. */
  readonly fewest: readonly string[];
}

const minVariants = 10;
const maxVariants = 20;

/** Pairs of variants that are each legal alone, but illegal together. */
export const incompatibleVariants: readonly { readonly names: readonly [string, string]; readonly reason: string }[] = [
  {
    names: ["unknown-agent-before-key", "body-before-agent"],
    reason: "A wrong key with a wrong body for an unknown agent gets 400. Only 404 may come before 401 (AUTH-16).",
  },
  { names: ["index-from-1", "index-wavers"], reason: "Every second stream begins at `index` 2 (SSE-11)." },
  {
    names: ["burst-adds", "usage-of-minute"],
    reason: "The usage of the minute leaves the burst out, so the first invokes add nothing (USE-7).",
  },
  {
    names: ["burst-adds", "alert-of-minute"],
    reason: "The watched minute leaves the burst out, so a threshold is crossed without a message (ALR-3).",
  },
  {
    names: ["page-past-the-end-404", "unknown-path-html"],
    reason: "A page past the end of the list gets HTML, as if the path were unknown (SVC-1).",
  },
];

const isLegalWith = (variant: Patch, drawn: readonly Patch[]): boolean =>
  !drawn.some((other) =>
    incompatibleVariants.some(({ names }) => names.includes(variant.name) && names.includes(other.name)),
  );

/** Draws 10 to 20 variants by a seed. No two of these variants are incompatible or replace the same function. */
export function drawVariants(seed: number, from: readonly Patch[] = allVariants): readonly Patch[] {
  const numbers = seededRandom(seed);
  const wanted = minVariants + Math.floor(numbers() * (maxVariants - minVariants + 1));
  const taken = new Set<string>();
  const drawn: Patch[] = [];
  for (const variant of shuffled(from, numbers)) {
    const decisions = replacedDecisions(variant);
    if (drawn.length === wanted) break;
    if (decisions.some((decision) => taken.has(decision)) || !isLegalWith(variant, drawn)) continue;
    for (const decision of decisions) taken.add(decision);
    drawn.push(variant);
  }
  return drawn;
}

/** Lists the false findings about a legal server: clauses that wrongly fail, and errors of the harness. */
export const complaintsOfLegal = (trial: PatchTrial): string[] => [
  ...falseAlarmsOf(trial).map(
    (clause) =>
      `turns ${clause} red: ${trial.said.find((text) => new RegExp(`^${clause}\\b(?!\\d)`).test(text)) ?? ""}`,
  ),
  ...trial.errors.map((error) => `harness error: ${error}`),
];

/** Tries the variants that each seed draws. After false findings, searches for the variants that cause them. */
export async function trySeeds(
  seeds: readonly number[],
  extent: TrialExtent,
  onSeed: (trial: SeedTrial) => void = () => {},
): Promise<SeedTrial[]> {
  const drawn = seeds.map((seed) => ({ seed, patches: drawVariants(seed) }));
  const trials = await tryGroups(
    drawn.map(({ patches }) => patches),
    extent,
  );
  const done: SeedTrial[] = [];
  for (const [index, { seed, patches }] of drawn.entries()) {
    const trial = trials[index];
    const complaints = trial === undefined ? ["was not tried"] : complaintsOfLegal(trial);
    const fewest =
      complaints.length === 0 || trial === undefined ? [] : await reduceToCause(patches, falseAlarmsOf(trial), extent);
    const seedTrial = {
      seed,
      variants: patches.map(({ name }) => name),
      complaints,
      fewest: fewest.map(({ name }) => name),
    };
    onSeed(seedTrial);
    done.push(seedTrial);
  }
  return done;
}

const falseAlarmsOf = ({ red, breaks }: PatchTrial): readonly string[] =>
  red.filter((clause) => !breaks.includes(clause));

/** Reduces variants to a small set that still causes the false findings. */
async function reduceToCause(
  patches: readonly Patch[],
  red: readonly string[],
  extent: TrialExtent,
): Promise<readonly Patch[]> {
  const isStill = async (fewer: readonly Patch[]): Promise<boolean> => {
    const [trial] = await tryGroups([fewer], extent, { clauses: red.length === 0 ? null : red });
    return trial !== undefined && complaintsOfLegal(trial).length > 0;
  };
  if (red.length > 0 && !(await isStill(patches))) return patches;
  let left = patches;
  for (let size = Math.ceil(patches.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < left.length;) {
      const fewer = left.toSpliced(from, size);
      if (fewer.length > 0 && (await isStill(fewer))) left = fewer;
      else from += size;
    }
  return left;
}
