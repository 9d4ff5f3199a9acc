import { type Delivery, deliveryHeaderValues, hasValidSignature } from "../../evidence/delivery.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable } from "../../run/judge/finding.ts";
import { headerNames } from "../../spec/headers.ts";
import { isSuccess } from "../shared/response.ts";
import { invokedWithWebhooks, type InvokedWithWebhooks } from "../webhooks/probes.ts";
import { areTwoWebhooks } from "../webhooks/same-url.ts";

const isSignedByFirst = hasValidSignature;

function isSignedBySecond(delivery: Delivery): boolean {
  const [signature, ...more] = deliveryHeaderValues(delivery, headerNames.deliverySignature);
  return signature !== undefined && more.length === 0 && (delivery.otherSignatures ?? []).includes(signature);
}

/** Minimum number of executions. With fewer, a target that merges the webhooks may have repeated a delivery. */
const minExecutions = 2;

/** Judges that each of two webhooks with one URL signs with its own secret. */
function judgeOneUrl({ sameUrl, invoked, deliveries }: InvokedWithWebhooks): Finding<never> {
  if (sameUrl === undefined || sameUrl === null) return inapplicable("the key has few requests a minute");
  const { created, deliveries: arrived } = sameUrl;
  if (!areTwoWebhooks(created)) return inapplicable("the target makes no second webhook of one URL");
  if (!deliveries.some((each) => each.computedSignature !== null && hasValidSignature(each)))
    return inapplicable("no delivery to another webhook has a valid signature; see HOOK-21");
  const foreign = arrived.find((each) => !isSignedByFirst(each) && !isSignedBySecond(each));
  if (foreign !== undefined)
    return breach("a signature by the secret of one of the two webhooks", "another signature", foreign, ...created);
  const [first, second] = [arrived.filter(isSignedByFirst), arrived.filter(isSignedBySecond)];
  if (first.length > 0 && second.length > 0) return holds();
  const completed = invoked.filter(isSuccess).length;
  // A target may merge webhooks of one URL. Each execution then has fewer than two deliveries.
  if (completed < minExecutions || arrived.length < 2 * completed)
    return inapplicable(`${arrived.length} deliveries came to one URL of two webhooks, after ${completed} executions`);
  return breach(
    "of two webhooks with one URL, each signs with its own secret",
    `all ${arrived.length} deliveries, two for each execution, are signed with the secret of the ${first.length > 0 ? "first" : "second"}`,
    ...arrived.slice(0, 2),
    ...created,
  );
}

/** Checks that two webhooks with one URL sign with their own secrets. */
export const sameUrlCheck: Check = check("HOOK-21", invokedWithWebhooks, judgeOneUrl, {
  as: "two webhooks of one URL",
  since: "1.2",
});
