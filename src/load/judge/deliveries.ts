import { requestsIn } from "../../rules/limits/admission/history.ts";
import { isAdmitted, isAgentCall, isRefused } from "../../rules/limits/sample.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { hasCountsOnly, type LoadFacts } from "./facts.ts";

const notCounted = unproven(
  "no webhook was registered, or the receiver got more deliveries or connections than it keeps",
  "webhooks in the target file",
);

/** Judges HOOK-8: each completed execution leads to a delivery of `agent.completed`. Duplicates are legal. */
export function judgeDeliveries(facts: LoadFacts): JudgeResult {
  const { evidence, sent, main } = facts;
  const { deliveries } = evidence;
  if (deliveries === null) return notCounted;
  const invokes = hasCountsOnly(facts)
    ? requestsIn(main.history.decisions.filter(({ outcome }) => outcome === "admitted"))
    : sent.filter((each) => each.kind === "invoke" && isAdmitted(each)).length;
  const max = hasCountsOnly(facts) ? Infinity : sent.filter((each) => isAgentCall(each) && !isRefused(each)).length;
  const { distinctRequests, received, duplicates } = deliveries;
  const text = `${distinctRequests} of ${invokes} arrived (${received} deliveries, ${duplicates} of them duplicates)`;
  if (invokes === 0) return unproven("no invoke was admitted");
  if (distinctRequests < invokes) return breach(`an \`agent.completed\` for each of the ${invokes} invokes`, text);
  return distinctRequests > max ? breach(`at most ${max} executions can have completed`, text) : holds(text);
}

/** Judges HOOK-21: every delivery is signed. */
export function judgeDeliverySignatures({ evidence: { deliveries } }: LoadFacts): JudgeResult {
  if (deliveries === null) return notCounted;
  const { received, badSignatures } = deliveries;
  if (badSignatures > 0)
    return breach("every delivery is signed over its raw body", `${badSignatures} of ${received} are not`);
  return received > 0 ? holds(`${received} deliveries`) : unproven("there was no delivery");
}

/** Judges a part of HOOK-17: each delivery has a `request_id`. */
export function judgeRequestIds({ evidence: { deliveries } }: LoadFacts): JudgeResult {
  if (deliveries === null) return notCounted;
  const { received, distinctRequests } = deliveries;
  if (received === 0) return unproven("there was no delivery");
  // The evidence counts a delivery without an id as a duplicate. So only deliveries without any id prove a breach.
  return distinctRequests === 0
    ? breach("the string `request_id` in each delivery", `none of ${received} has one`)
    : holds(`${received} deliveries`);
}
