import { requestsIn } from "../../rules/limits/admission/history.ts";
import { hasCountsOnly, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";

const nothingTold = unproven(
  "no webhook was registered, or more came to it than is kept",
  "webhooks in the target file",
);

/** HOOK-8: one `agent.completed` for each execution that completed; duplicates are no fault. */
export function judgeDeliveries(facts: LoadFacts): JudgeResult {
  const { evidence, sent, main } = facts;
  const { deliveries } = evidence;
  if (deliveries === null) return nothingTold;
  const invokes = hasCountsOnly(facts)
    ? requestsIn(main.history.decisions.filter(({ outcome }) => outcome === "admitted"))
    : sent.filter((each) => each.kind === "invoke" && isAdmitted(each)).length;
  const most = hasCountsOnly(facts) ? Infinity : sent.filter((each) => isAgentCall(each) && !isRefused(each)).length;
  const { distinctRequests, received, duplicates } = deliveries;
  const text = `${distinctRequests} of ${invokes} came (${received} deliveries, ${duplicates} of them again)`;
  if (invokes === 0) return unproven("no invoke was admitted");
  if (distinctRequests < invokes) return breach(`an \`agent.completed\` for each of the ${invokes} invokes`, text);
  return distinctRequests > most ? breach(`at most ${most} executions can have completed`, text) : holds(text);
}

/** HOOK-21: all of them signed. */
export function judgeSignatures({ evidence: { deliveries } }: LoadFacts): JudgeResult {
  if (deliveries === null) return nothingTold;
  const { received, badSignatures } = deliveries;
  if (badSignatures > 0)
    return breach("every delivery is signed over its raw body", `${badSignatures} of ${received} are not`);
  return received > 0 ? holds(`${received} deliveries`) : unproven("no delivery came");
}

/** HOOK-17: `request_id` in each. */
export function judgeRequestIds({ evidence: { deliveries } }: LoadFacts): JudgeResult {
  if (deliveries === null) return nothingTold;
  const { received, distinctRequests } = deliveries;
  if (received === 0) return unproven("no delivery came");
  return distinctRequests === 0
    ? breach("the string `request_id` in each delivery", `none of ${received} has one`)
    : holds(`${received} deliveries`);
}
