import { clauseIds } from "../../spec/clauses.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { allSuites } from "../../suites/all.ts";
import { type ClauseCatalogue, catalogueEntryOf } from "./catalogue-entry.ts";

/** The only export of this file, because the build (tools/bundle.ts) replaces the file by this computed object. */
export const clauseCatalogue = Object.fromEntries(
  clauseIds.map((id) => [id, catalogueEntryOf(id, allSuites, allFaults, allVariants)]),
) as unknown as ClauseCatalogue;
