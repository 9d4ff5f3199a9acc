import { check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import {
  type AllDeliveries,
  allDeliveries,
  deploymentCreated,
  deploymentDeleted,
  deploymentHealthChanged,
  deploymentUpdated,
  type TriggeredEvent,
} from "./probes.ts";
import { eventsOfType, eventTypeOf } from "./event.ts";
import { missingDeliveryExcuse, unpublishedTypeExcuse } from "./missing-deliveries.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import {
  invokedWithWebhooks,
  type InvokedWithWebhooks,
  type MalformedWebhooks,
  malformedWebhooks,
} from "../webhooks/probes.ts";

/** Webhooks of the deployment events, tied to an agent and not, and what came once one of these events was made to happen. */
interface Evidence {
  readonly sent: InvokedWithWebhooks;
  readonly untied: MalformedWebhooks;
  readonly triggered: TriggeredEvent;
  readonly all: AllDeliveries;
}

function isTold({ sent, untied, triggered: { event, failure, deliveries }, all }: Evidence): Finding<never> {
  if (eventsOfType(deliveries, event).length > 0) return holds();
  if (failure !== null)
    return unproven(failure, `a call under \`triggers\` in the target file that makes \`${event}\` happen`);
  const { deployments } = sent.webhooks;
  const { withoutAgent } = untied;
  if (deployments === null || withoutAgent === null)
    return unproven("the key has too few requests for a webhook of these events");
  const asked = [deployments, withoutAgent];
  const unable = missingDeliveryExcuse(sent.reach, all, asked) ?? unpublishedTypeExcuse(deliveries);
  if (unable !== null) return unable;
  const { agent } = deployments;
  if (!isSuccess(withoutAgent.exchange))
    return unproven(
      `every webhook must be tied to an agent (${outcomeOf(withoutAgent.exchange)}), and the event may be of another one than ${formatValue(agent)}`,
      `a call under \`triggers\` in the target file that makes \`${event}\` happen to ${formatValue(agent)}`,
    );
  const types = deliveries.map((each) => formatValue(eventTypeOf(each)));
  return breach(`\`${event}\``, types.length === 0 ? "no delivery came" : `only ${types.join(", ")}`);
}

const webhooks = { sent: invokedWithWebhooks, untied: malformedWebhooks };

/** What a run removes it removes last. */
export const deploymentChecks = [
  check("HOOK-11", { ...webhooks, triggered: deploymentCreated, all: allDeliveries }, isTold),
  check("HOOK-12", { ...webhooks, triggered: deploymentUpdated, all: allDeliveries }, isTold),
  check("HOOK-14", { ...webhooks, triggered: deploymentHealthChanged, all: allDeliveries }, isTold),
  check("HOOK-13", { ...webhooks, triggered: deploymentDeleted, all: allDeliveries }, isTold),
] as const;
