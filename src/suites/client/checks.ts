import { check, suite, type Suite } from "../../run/judge/check.ts";
import { breach, type Finding, holds, noted, unproven } from "../../run/judge/finding.ts";
import type { JudgedId } from "../../spec/clauses.ts";
import { type ObservedRuns, ranPlainly, ranTroubled } from "./probes.ts";
import { responseHandlingChecks } from "./response-handling-checks.ts";
import {
  acceptRule,
  authorizationRule,
  timestampRule,
  jsonBodyRule,
  pageParametersRule,
  parametersRule,
  queryRule,
  type RequestRule,
  signatureRule,
  versionSegmentRule,
  contentTypeRule,
  creationFieldsRule,
  integerPagesRule,
} from "./request-rules.ts";
import { retryChecks } from "./retry-checks.ts";

/** Rules about single requests, by the id of the clause that each rule judges. */
const requestRules = {
  "CLI-1": versionSegmentRule,
  "CLI-2": authorizationRule,
  "CLI-3": contentTypeRule,
  "CLI-4": acceptRule,
  "CLI-5": jsonBodyRule,
  "CLI-6": queryRule,
  "CLI-7": parametersRule,
  "CLI-8": integerPagesRule,
  "CLI-9": pageParametersRule,
  "CLI-10": signatureRule,
  "CLI-11": timestampRule,
  "CLI-23": creationFieldsRule,
} as const satisfies Partial<Readonly<Record<JudgedId, RequestRule>>>;

/** Maximum number of requests that a finding shows. */
const maxListedRequests = 5;

const judgeRequests =
  ({ expected, noneReason, mayBeDeliberate, problemOf }: RequestRule) =>
  ({ isStrict, runs }: ObservedRuns): Finding<never> => {
    const judged = runs
      .flatMap(({ calls }) => calls)
      .map((call) => ({ call, problem: problemOf(call) }))
      .filter(({ problem }) => problem !== undefined);
    if (judged.length === 0) return unproven(noneReason);
    const wrong = judged.filter(({ problem }) => problem !== null);
    if (wrong.length === 0) return holds();
    const problems = [...new Set(wrong.map(({ problem }) => problem ?? ""))].slice(0, maxListedRequests);
    const found = breach(
      expected,
      `${problems.join("; ")} (${wrong.length} of ${judged.length} requests)`,
      ...wrong.slice(0, maxListedRequests).map(({ call }) => call.exchange),
    );
    return mayBeDeliberate && !isStrict ? noted(found) : found;
  };

const ruleChecks = Object.entries(requestRules).flatMap(([id, rule]) => [
  check(id as keyof typeof requestRules, ranPlainly, judgeRequests(rule)),
  check(id as keyof typeof requestRules, ranTroubled, judgeRequests(rule), { as: "under trouble" }),
]);

/** The suite that judges a client by its calls. */
export const clientCalls: Suite = suite("Calling the service", [
  ...ruleChecks,
  ...retryChecks,
  ...responseHandlingChecks,
]);
