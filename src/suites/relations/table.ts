import type { Check, Suite } from "../../run/judge/check.ts";
import { callRelations } from "./calls.ts";
import { relationsOfCounts } from "./counts.ts";
import { deliveryRelations } from "./deliveries.ts";
import { identityRelations } from "./identities.ts";
import { streamTimesCheck } from "./stream-times.ts";

/** Every check that compares two messages of a run, except the checks of receivers' replies in `retry-checks.ts`. */
export const relations: readonly Check[] = [
  ...callRelations,
  ...relationsOfCounts,
  ...deliveryRelations,
  streamTimesCheck,
  ...identityRelations,
];

/** Returns the first part of the id of a check's clause, such as `HOOK`. */
const sectionOf = ({ clause }: Check): string => clause.slice(0, clause.indexOf("-"));

/** Adds the checks of `relations` with the section of a suite's first check. */
export const addRelations = ({ title, checks }: Suite): Suite => {
  const [first] = checks;
  const own = first === undefined ? [] : relations.filter((each) => sectionOf(each) === sectionOf(first));
  return { title, checks: [...checks, ...own] };
};
