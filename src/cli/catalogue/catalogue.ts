import { clauseIds } from "../../spec/clauses.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { suites } from "../../suites/all.ts";
import { type Catalogue, entryOf } from "./entry.ts";

/**
 * Checks, needs and faults of each clause. Loading every suite and fault for it is slow, so the build replaces this module by its data
 * (tools/bundle.ts). Nothing else belongs here.
 */
export const catalogue = Object.fromEntries(
  clauseIds.map((id) => [id, entryOf(id, suites, { faults: allFaults, variants: allVariants })]),
) as unknown as Catalogue;
