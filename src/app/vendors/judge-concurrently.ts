import { UsageError } from "../../base/usage-error.ts";
import type { Target } from "../../target/target.ts";
import { type JudgedVendor, judgeVendor, type PrintLine, unjudged, type VendorJudging } from "./judge-vendor.ts";
import type { NamedVendor } from "./vendors-file.ts";

/** So many runs at once, unless told: they wait for most of their time, and one core has time for these. */
export const defaultConcurrency = 12;

export interface ConcurrentJudging {
  readonly vendors: readonly NamedVendor[];
  readonly judging: VendorJudging;
  /** So many runs at once. */
  readonly concurrency: number;
  readonly folderOf: (name: string) => string;
  readonly sayOf: (name: string) => PrintLine;
}

/** A vendor and its target; or why that cannot be used. */
interface Entry {
  readonly named: NamedVendor;
  readonly target: Target | null;
  readonly problem: string | null;
}

/**
 * Judges vendors side by side, in the order of their file. What is of one address is judged one after the other, because runs on the same
 * deployment would disturb each other. One that fails costs the others nothing.
 */
export async function judgeConcurrently({
  vendors,
  judging,
  concurrency,
  folderOf,
  sayOf,
}: ConcurrentJudging): Promise<JudgedVendor[]> {
  const results = new Map<NamedVendor, JudgedVendor>();
  const entries = vendors.map(entryOf);
  const lanes = [...Map.groupBy(entries, ({ named, target }) => target?.baseUrl ?? named).values()];
  const judge = async ({ named, target, problem }: Entry): Promise<void> => {
    const say = sayOf(named.name);
    const failed = problem ?? (judging.signal.aborted ? "Interrupted before anything was sent to it." : null);
    if (failed !== null) say(`not judged: ${failed}`);
    results.set(
      named,
      failed === null
        ? await judgeVendor(named, target, judging, folderOf(named.name), say)
        : { vendor: unjudged(named.name, target, failed), target: null, isHarness: false },
    );
  };
  const work = async (): Promise<void> => {
    for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift())
      for (const entry of lane) await judge(entry);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return vendors.flatMap((named) => results.get(named) ?? []);
}

function entryOf(named: NamedVendor): Entry {
  if (named.kind === "report") return { named, target: null, problem: null };
  try {
    return { named, target: named.target(), problem: null };
  } catch (error) {
    if (error instanceof UsageError) return { named, target: null, problem: error.message };
    throw error;
  }
}
