import { hasValidSignature } from "../../evidence/delivery.ts";
import { bodyText } from "../../evidence/exchange.ts";
import { type Check, check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { deliveriesTo } from "../webhooks/await-deliveries.ts";
import { mixedEvents, secretOfMixedEvents, oddKinds } from "../webhooks/odd-webhooks.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { eventsOfType } from "./events.ts";
import { missingDeliveryExcuse } from "./missing-deliveries.ts";
import { allDeliveries } from "./probes.ts";

const on = { sent: invokedWithWebhooks, all: allDeliveries };
type Evidence = EvidenceOf<typeof on>;

const notCreated = inapplicable("the key has few requests a minute");

/** Judges that the target signs deliveries with the exact secret of the webhook, whatever characters it has. */
function judgeSecrets({ sent, all }: Evidence): Finding<never> {
  const { odd } = sent;
  if (odd === undefined || odd === null) return notCreated;
  const signed = oddKinds.flatMap((kind) =>
    isSuccess(odd[kind].exchange)
      ? deliveriesTo(all.deliveries, odd[kind].hook).map((delivery) => ({ kind, delivery }))
      : [],
  );
  const isSignedOtherwise = sent.deliveries.some((each) => each.computedSignature !== null && hasValidSignature(each));
  if (!isSignedOtherwise) return inapplicable("no delivery is signed with a usual secret; see HOOK-21");
  const wrong = signed.find(({ delivery }) => !hasValidSignature(delivery));
  if (wrong !== undefined)
    return breach(
      `a signature keyed with the secret as it was sent (kind: ${wrong.kind})`,
      "a signature that is keyed otherwise",
      wrong.delivery,
      odd[wrong.kind].exchange,
    );
  return signed.length > 0 ? holds() : inapplicable("no delivery came to a webhook with such a secret");
}

/** Judges that a webhook gets the execution events even if `agent.*` comes second in its list of events. */
function judgeMixedEvents({ sent, all }: Evidence): Finding<never> {
  const { odd, webhooks, reach, deliveries } = sent;
  if (odd === undefined || odd === null) return notCreated;
  const mixed = odd[secretOfMixedEvents];
  const { wildcard, deployments } = webhooks;
  const isControlled = isSuccess(wildcard.exchange) && deployments !== null && isSuccess(deployments.exchange);
  if (!isControlled) return unproven("no webhook was created for one of the two alone");
  if (!isSuccess(mixed.exchange)) {
    const isAboutSecret = /secret/i.test(bodyText(mixed.exchange) ?? "");
    return hasStatus(mixed.exchange, 400, 422) && isSuccess(odd.long.exchange) && !isAboutSecret
      ? breach(`a webhook of ${mixedEvents.join(" and ")} is created`, describeStatus(mixed.exchange), mixed.exchange)
      : unproven(`no such webhook was created (${outcomeOf(mixed.exchange)})`);
  }
  const byWildcard = deliveriesTo(deliveries, wildcard.hook);
  for (const event of ["agent.invoked", "agent.completed"] as const) {
    const [known] = eventsOfType(byWildcard, event);
    if (known === undefined || eventsOfType(deliveriesTo(all.deliveries, mixed.hook), event).length > 0) continue;
    return (
      missingDeliveryExcuse(reach, all, [mixed]) ??
      breach(`\`${event}\` also where \`agent.*\` is the second event`, "none came", known, mixed.exchange)
    );
  }
  return byWildcard.length > 0 ? holds() : unproven("no delivery came; see HOOK-8");
}

/** Checks of webhooks with unusual secrets, and with an unusual list of events. */
export const oddWebhookChecks: readonly Check[] = [
  check("HOOK-21", on, judgeSecrets, { as: "every kind of secret", since: "1.2" }),
  check("HOOK-16", on, judgeMixedEvents, { as: "not the first event", since: "1.2" }),
];
