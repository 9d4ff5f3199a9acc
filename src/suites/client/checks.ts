import { check, suite, type Suite } from "../../run/judge/check.ts";
import { breach, type Finding, holds, noted, unproven } from "../../run/judge/finding.ts";
import type { JudgedId } from "../../spec/clauses.ts";
import { type Observed, ranPlainly, ranTroubled } from "./probes.ts";
import { readingChecks } from "./reading-checks.ts";
import {
  acceptNamed,
  authorized,
  currentTimestamp,
  jsonBody,
  pagesNamed,
  parametersInRange,
  queried,
  type RequestRule,
  rightlySigned,
  segmentOnce,
  typedBody,
  typedCreations,
  wholePages,
} from "./request-rules.ts";
import { retryChecks } from "./retry-checks.ts";

/** Rules about single requests, by the clause that each judges. */
const requestRules = {
  "CLI-1": segmentOnce,
  "CLI-2": authorized,
  "CLI-3": typedBody,
  "CLI-4": acceptNamed,
  "CLI-5": jsonBody,
  "CLI-6": queried,
  "CLI-7": parametersInRange,
  "CLI-8": wholePages,
  "CLI-9": pagesNamed,
  "CLI-10": rightlySigned,
  "CLI-11": currentTimestamp,
  "CLI-23": typedCreations,
} as const satisfies Partial<Readonly<Record<JudgedId, RequestRule>>>;

/** Maximum number of requests that a finding shows. */
const maxShown = 5;

const judgeRequests =
  ({ expected, none, mayBeMeant, problemOf }: RequestRule) =>
  ({ isStrict, runs }: Observed): Finding<never> => {
    const judged = runs
      .flatMap(({ calls }) => calls)
      .map((call) => ({ call, problem: problemOf(call) }))
      .filter(({ problem }) => problem !== undefined);
    if (judged.length === 0) return unproven(none);
    const wrong = judged.filter(({ problem }) => problem !== null);
    if (wrong.length === 0) return holds();
    const problems = [...new Set(wrong.map(({ problem }) => problem ?? ""))].slice(0, maxShown);
    const found = breach(
      expected,
      `${problems.join("; ")} (${wrong.length} of ${judged.length} requests)`,
      ...wrong.slice(0, maxShown).map(({ call }) => call.exchange),
    );
    return mayBeMeant && !isStrict ? noted(found) : found;
  };

const ruleChecks = Object.entries(requestRules).flatMap(([id, rule]) => [
  check(id as keyof typeof requestRules, ranPlainly, judgeRequests(rule)),
  check(id as keyof typeof requestRules, ranTroubled, judgeRequests(rule), { as: "under trouble" }),
]);

/** The suite that judges a client by its calls. */
export const clientCalls: Suite = suite("Calling the service", [...ruleChecks, ...retryChecks, ...readingChecks]);
