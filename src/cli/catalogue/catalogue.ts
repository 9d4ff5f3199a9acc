import { clauseIds } from "../../spec/clauses.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { allSuites } from "../../suites/all.ts";
import { type Catalogue, catalogueEntryOf } from "./catalogue-entry.ts";

/**
 * The checks of every clause, and the text that explains them. Do not export anything else from this file: the build
 * (tools/bundle.ts) replaces this module by the computed `clauseCatalogue`.
 */
export const clauseCatalogue = Object.fromEntries(
  clauseIds.map((id) => [id, catalogueEntryOf(id, allSuites, { faults: allFaults, variants: allVariants })]),
) as unknown as Catalogue;
