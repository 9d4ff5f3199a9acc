import { check } from "../../run/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/finding.ts";
import {
  type Delivered,
  delivered,
  deploymentCreated,
  deploymentDeleted,
  deploymentHealthChanged,
  deploymentUpdated,
  type Triggered,
} from "./probes.ts";
import { eventsOfType, eventTypeOf } from "./event.ts";
import { excusedSilence, unreadable } from "./silence.ts";
import { isSuccess, outcomeOf, show } from "../answers/shape.ts";
import { hooked, type Hooked, type Misshapen, misshapen } from "../webhooks/probes.ts";

/** Webhooks of the deployment events, tied to an agent and not, and what came once one of these events was made to happen. */
interface Evidence {
  readonly sent: Hooked;
  readonly untied: Misshapen;
  readonly triggered: Triggered;
  readonly all: Delivered;
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
  const unable = excusedSilence(sent.reach, all, asked) ?? unreadable(deliveries);
  if (unable !== null) return unable;
  const { agent } = deployments;
  if (!isSuccess(withoutAgent.exchange))
    return unproven(
      `every webhook must be tied to an agent (${outcomeOf(withoutAgent.exchange)}), and the event may be of another one than ${show(agent)}`,
      `a call under \`triggers\` in the target file that makes \`${event}\` happen to ${show(agent)}`,
    );
  const types = deliveries.map((each) => show(eventTypeOf(each)));
  return breach(`\`${event}\``, types.length === 0 ? "no delivery came" : `only ${types.join(", ")}`);
}

const webhooks = { sent: hooked, untied: misshapen };

/** What a run removes it removes last. */
export const deploymentChecks = [
  check("HOOK-11", { ...webhooks, triggered: deploymentCreated, all: delivered }, isTold),
  check("HOOK-12", { ...webhooks, triggered: deploymentUpdated, all: delivered }, isTold),
  check("HOOK-14", { ...webhooks, triggered: deploymentHealthChanged, all: delivered }, isTold),
  check("HOOK-13", { ...webhooks, triggered: deploymentDeleted, all: delivered }, isTold),
] as const;
