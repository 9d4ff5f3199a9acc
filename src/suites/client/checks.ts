import { check, suite, type Suite } from "../../run/judge/check.ts";
import { breach, type Finding, holds, noted, unproven } from "../../run/judge/finding.ts";
import { type ObservedRuns, ranPlainly, ranTroubled } from "./probes.ts";
import { type RequestRule, requestRules } from "./request-rules.ts";
import { retryChecks } from "./retry-checks.ts";
import { responseHandlingChecks } from "./response-handling-checks.ts";

const maxListedRequests = 5;

const judgeRequests =
  ({ expected, noneReason, isAlwaysBreach, problemOf }: RequestRule) =>
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
    return isAlwaysBreach === true || isStrict ? found : noted(found);
  };

const ruleChecks = Object.entries(requestRules).flatMap(([id, rule]) => [
  check(id as keyof typeof requestRules, ranPlainly, judgeRequests(rule)),
  check(id as keyof typeof requestRules, ranTroubled, judgeRequests(rule), { as: "under trouble" }),
]);

export const clientCalls: Suite = suite("Calling the service", [
  ...ruleChecks,
  ...retryChecks,
  ...responseHandlingChecks,
]);
