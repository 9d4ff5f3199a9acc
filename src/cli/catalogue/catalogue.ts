import { clauseIds } from "../../spec/clauses.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { suites } from "../../suites/all.ts";
import { type Catalogue, entryOf } from "./entry.ts";

/**
 * What is known of each clause. Every suite and every fault is loaded for it, so the build puts the finished data in the place of this
 * module (tools/bundle.ts): nothing else belongs here.
 */
export const catalogue = Object.fromEntries(
  clauseIds.map((id) => [id, entryOf(id, suites, { faults: allFaults, variants: allVariants })]),
) as unknown as Catalogue;
