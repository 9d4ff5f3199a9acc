import type { Check, Suite } from "../../run/judge/check.ts";
import { callRelations } from "./calls.ts";
import { relationsOfCounts } from "./counts.ts";
import { deliveryRelations } from "./deliveries.ts";
import { identityRelations } from "./identities.ts";

/** Every check that compares messages of a run. Those of receivers' replies are among the checks of retries. */
export const relations: readonly Check[] = [
  ...callRelations,
  ...relationsOfCounts,
  ...deliveryRelations,
  ...identityRelations,
];

/** The prefix of a check's clause, such as `HOOK`. */
const sectionOf = ({ clause }: Check): string => clause.slice(0, clause.indexOf("-"));

/** Adds the relations of a section to its suite. The first check of a suite shows its section. */
export const withRelations = ({ title, checks }: Suite): Suite => {
  const [first] = checks;
  const own = first === undefined ? [] : relations.filter((each) => sectionOf(each) === sectionOf(first));
  return { title, checks: [...checks, ...own] };
};
