import { clauseIds } from "../../spec/clauses.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { allSuites } from "../../suites/all.ts";
import { type Catalogue, entryOf } from "./entry.ts";

/**
 * For each clause: its checks, what they need, and the faults that break it. Computing this is slow, because every suite and fault must be
 * loaded. So the build (tools/bundle.ts) replaces this whole module by its result: add nothing else to this file.
 */
export const catalogue = Object.fromEntries(
  clauseIds.map((id) => [id, entryOf(id, allSuites, { faults: allFaults, variants: allVariants })]),
) as unknown as Catalogue;
