import { clauseIds } from "../../spec/clauses.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { suites } from "../../suites/all.ts";
import { type Catalogue, entryOf } from "./entry.ts";

/**
 * Checks, needs and faults of each clause. They are computed from every suite and fault, which are slow to load. So the build (tools/bundle.ts)
 * replaces this whole module by the result: do not add anything else here.
 */
export const catalogue = Object.fromEntries(
  clauseIds.map((id) => [id, entryOf(id, suites, { faults: allFaults, variants: allVariants })]),
) as unknown as Catalogue;
