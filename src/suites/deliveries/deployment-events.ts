import { messageOf } from "../../base/errors.ts";
import { formatValue, getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { type Check, check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { type Probe, probe } from "../../run/probe.ts";
import { isSegment } from "../../base/http.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { deploymentEvents, healthStatuses } from "../../spec/events-and-errors.ts";
import type { Target } from "../../target/target.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import {
  agentIdOf,
  awaitCondition,
  awaitUnexpected,
  createWebhook,
  deliveriesTo,
  hookPrefix,
  type RequestedWebhook,
  requestedWebhookOf,
} from "../webhooks/create-webhook.ts";
import { invokedWithWebhooks, malformedWebhooks } from "../webhooks/probes.ts";
import {
  eventsOfType,
  eventTypeOf,
  isToWebhook,
  receiverOverflowExcuse,
  missingDeliveryExcuse,
  unpublishedTypeExcuse,
  type AllDeliveries,
} from "./events.ts";
import { allDeliveries } from "./probes.ts";

interface TriggeredEvent {
  readonly event: (typeof deploymentEvents)[number];
  readonly failure: string | null;
  readonly deliveries: readonly Delivery[];
  /** A webhook of the deployed agent for `agent.*`; `null` if none was requested. Absent in older evidence. */
  readonly sameAgent?: RequestedWebhook | null;
  /** The agent's health right before and after the event; `null` unless both were read. Absent in older evidence. */
  readonly health?: { readonly before: Exchange; readonly after: Exchange } | null;
}

interface TriggerOptions {
  readonly invokesAgent?: boolean;
  /** Whether to create a webhook for `agent.*`, which must get no deployment event (HOOK-16). */
  readonly createsAgentWebhook?: boolean;
  readonly readsHealth?: boolean;
  /** Probes that must run first, because they prepare the deployment. */
  readonly after?: readonly Probe[];
}

const sameAgentWebhook = { name: "deployed-agent", events: ["agent.*"], since: "1.1" } as const;

const triggerProbe = (
  event: TriggeredEvent["event"],
  what: string,
  { invokesAgent, createsAgentWebhook, readsHealth, after = [] }: TriggerOptions = {},
) => {
  const trigger = `triggers.${event}` as const;
  return probe(
    `a deployment ${what}, and webhooks are awaited`,
    {
      needs: ["receiver", trigger],
      requests: (target) => (invokesAgent ? 2 : createsAgentWebhook && !hasFewRequests(target) ? 1 : 0),
      stage: "exclusive",
      after,
      ...(invokesAgent ? { creates: { webhooks: 1 } } : {}),
      ...(createsAgentWebhook ? { creates: { webhooks: 1 }, createsFew: {} } : {}),
    },
    async ({ client, given, target, time, recorder, outages }): Promise<TriggeredEvent> => {
      if (outages.count() > 0 && !hasWebhooks(recorder))
        throw new SkipError("the target was away after the webhooks of deployment events were created");
      const before = given.receiver.deliveries().length;
      const agentBefore = readsHealth ? agentIdOf({ target }) : null;
      const later = client.since("1.2");
      const healthBefore = agentBefore === null ? null : await later.health(agentBefore);
      const failure = await failureOf(given[trigger]);
      const arrived = (): Delivery[] => given.receiver.deliveries().slice(before).filter(isToWebhook);
      if (failure === null) await awaitCondition(() => arrived().some((each) => eventTypeOf(each) === event), time);
      await awaitUnexpected(time);
      const named = failure === null ? agentOfEvent(arrived(), event) : null;
      const health =
        healthBefore === null || named === null || named !== agentBefore
          ? null
          : { before: healthBefore, after: await later.health(named) };
      const agent = invokesAgent ? named : null;
      const hasOtherWebhooks = agent === agentIdOf({ target });
      // Without a test clock, the target may still retry deliveries to earlier webhooks of this agent. An invoke would
      // add deliveries among these retries.
      if (agent !== null && (time.canAdvance || !hasOtherWebhooks) && !isSlow(agent, target)) {
        await client.health(agent);
        await client.invoke(agent, { query: defaultQuery });
        await client.health(agent);
      }
      const deliveries = arrived();
      // If the agent has webhooks of earlier probes, one of them is already for `agent.*`.
      if (agent !== null && !hasOtherWebhooks && !hasFewRequests(target)) {
        const name = "deployed-wildcard";
        await createWebhook(client, given.receiver, { name, events: ["agent.*"], agent });
      }
      const sameAgent =
        createsAgentWebhook && named !== null && named !== agentIdOf({ target }) && !hasFewRequests(target)
          ? requestedWebhookOf(await createWebhook(client, given.receiver, { ...sameAgentWebhook, agent: named }))
          : null;
      return { event, failure, deliveries, sameAgent, health };
    },
  );
};

/**
 * Whether the webhooks `deployments` and `without-agent` were created since the last outage. An outage can delete
 * webhooks.
 */
const hasWebhooks = (recorder: Recorder): boolean =>
  ["deployments", "without-agent"].every((name) =>
    recorder
      .exchangesSinceOutage()
      .some(
        (each) =>
          each.request.url.endsWith("/webhooks") &&
          each.request.body.kind === "text" &&
          each.request.body.text.includes(`/${hookPrefix}${name}"`) &&
          isSuccess(each),
      ),
  );

function agentOfEvent(deliveries: readonly Delivery[], event: TriggeredEvent["event"]): string | null {
  const agents = eventsOfType(deliveries, event).map((each) => getPath(deliveryJson(each), "agent_id"));
  return agents.find((agent): agent is string => typeof agent === "string" && isSegment(agent)) ?? null;
}

const isSlow = (agent: string, { agents: { slow, slowStreaming, timingOut, timingOutByDefault } }: Target): boolean =>
  [slow, slowStreaming, timingOut, timingOutByDefault].includes(agent);

async function failureOf(call: () => Promise<void>): Promise<string | null> {
  try {
    await call();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

const creationProbes = { sent: invokedWithWebhooks, untied: malformedWebhooks };

interface DeploymentEvidence extends EvidenceOf<typeof creationProbes> {
  readonly triggered: TriggeredEvent;
  readonly all: AllDeliveries;
}

function judgeDelivered(evidence: DeploymentEvidence): Finding<never> {
  const {
    sent,
    untied,
    triggered: { event, failure, deliveries },
    all,
  } = evidence;
  if (eventsOfType(deliveries, event).length > 0) return holds();
  if (failure !== null)
    return unproven(failure, `a call under \`triggers\` in the target file that makes \`${event}\` happen`);
  const { deployments } = sent.webhooks;
  const { withoutAgent } = untied;
  if (deployments === null || withoutAgent === null)
    return unproven("the key has too few requests for a webhook of these events");
  const excuse =
    missingDeliveryExcuse(sent.reach, all, [deployments, withoutAgent]) ?? unpublishedTypeExcuse(deliveries);
  if (excuse !== null) return excuse;
  const agent = formatValue(deployments.agent);
  if (!isSuccess(withoutAgent.exchange))
    return unproven(
      `every webhook must name an agent (${outcomeOf(withoutAgent.exchange)}), and the event may be of another agent than ${agent}`,
      `a call under \`triggers\` in the target file that makes \`${event}\` happen to ${agent}`,
    );
  const types = deliveries.map((each) => formatValue(eventTypeOf(each)));
  return breach(`\`${event}\``, types.length === 0 ? "no delivery came" : `only ${types.join(", ")}`);
}

const created = triggerProbe("deployment.created", "is created", { createsAgentWebhook: true });
const updated = triggerProbe("deployment.updated", "is updated", { invokesAgent: true });
const healthChanged = triggerProbe("deployment.health_changed", "changes its health", { readsHealth: true });
/** Runs after `created`, because some targets can remove only the deployment that was just created. */
const deleted = triggerProbe("deployment.deleted", "is removed", { after: [created] });

export const deploymentTriggers = [...Object.values(creationProbes), created, updated, healthChanged, deleted];

const deploymentCheck = (
  clause: "HOOK-11" | "HOOK-12" | "HOOK-13" | "HOOK-14",
  trigger: ReturnType<typeof triggerProbe>,
): Check => check(clause, { ...creationProbes, triggered: trigger, all: allDeliveries }, judgeDelivered);

export const isOfDeployment = (delivery: Delivery): boolean =>
  deploymentEvents.some((event) => event === eventTypeOf(delivery));

const sameAgentProbes = { created, all: allDeliveries };

function judgeSameAgent({ created: { sameAgent }, all }: EvidenceOf<typeof sameAgentProbes>): Finding<never> {
  if (sameAgent === undefined || sameAgent === null)
    return unproven("no webhook of `agent.*` was created for an agent that only a deployment event names");
  if (!isSuccess(sameAgent.exchange))
    return unproven(`no webhook of \`agent.*\` was created (${outcomeOf(sameAgent.exchange)})`);
  const { hook, agent, exchange } = sameAgent;
  const foreign = deliveriesTo(all.deliveries, hook).find(isOfDeployment);
  if (foreign !== undefined)
    return breach("no deployment event to a webhook of `agent.*`", formatValue(eventTypeOf(foreign)), foreign);
  const isLater = (each: Delivery): boolean =>
    getPath(deliveryJson(each), "agent_id") === agent && each.receivedMs > exchange.answer.endMs;
  if (!all.deliveries.filter(isOfDeployment).some(isLater))
    return unproven("no later deployment event of this agent was delivered");
  return receiverOverflowExcuse(all, [sameAgent]) ?? holds();
}

function judgeHealthAfterChange({ event, deliveries, health }: TriggeredEvent, all: AllDeliveries): Finding<never> {
  const events = eventsOfType(deliveries, event);
  const last = events.at(-1);
  if (health === undefined || health === null || last === undefined)
    return inapplicable("no event told of a change of the agent whose health was read");
  const [before, after] = [health.before, health.after].map((each) => getPath(bodyJson(each), "status"));
  const statuses = events.map((each) => getPath(deliveryJson(each), "data", "status"));
  const named = statuses.at(-1);
  if (!isHealthStatus(before) || !isHealthStatus(after) || !isHealthStatus(named))
    return inapplicable("the event or a health report has no status of the document");
  if (mayBeOfOtherDeployment(last, [health.before, health.after], all))
    return inapplicable("the event may be of another deployment than the health reports");
  return before !== after || statuses.includes(after)
    ? holds()
    : breach(`\`status\` ${named} right after \`${event}\``, `still ${after}`, health.after, health.before, last);
}

/**
 * Whether the event may be of another deployment of the agent than the health reports. Assumed not to be if nothing names
 * a deployment, or if the event and an execution or a report name the same one, and nothing names another. An id that
 * only deployment events name is no proof: the agent may run on a deployment that has no name.
 */
function mayBeOfOtherDeployment(event: Delivery, reports: readonly Exchange[], { deliveries }: AllDeliveries): boolean {
  const agent = getPath(deliveryJson(event), "agent_id");
  const ofAgent = [event, ...deliveries].filter((each) => getPath(deliveryJson(each), "agent_id") === agent);
  const executions = ofAgent.filter((each) => !isOfDeployment(each));
  const inUse = deploymentIdsIn([...executions.map(deliveryJson), ...reports.map(bodyJson)]);
  const named = new Set([...deploymentIdsIn(ofAgent.map(deliveryJson)), ...inUse]);
  return named.size > 1 || (named.size === 1 && !inUse.includes(getPath(deliveryJson(event), "deployment_id")));
}

const deploymentIdsIn = (values: readonly unknown[]): unknown[] =>
  values.map((each) => getPath(each, "deployment_id") ?? null).filter((id) => id !== null);

const isHealthStatus = (value: unknown): value is (typeof healthStatuses)[number] =>
  healthStatuses.some((each) => each === value);

/** HOOK-13 comes last, because its probe removes the deployment. */
export const deploymentChecks = [
  deploymentCheck("HOOK-11", created),
  check("HOOK-16", sameAgentProbes, judgeSameAgent, { as: "no deployment event, same agent", since: "1.1" }),
  deploymentCheck("HOOK-12", updated),
  deploymentCheck("HOOK-14", healthChanged),
  check(
    "HOOK-14",
    { ...creationProbes, changed: healthChanged, all: allDeliveries },
    ({ changed, all }) => judgeHealthAfterChange(changed, all),
    { as: "health follows", since: "1.2" },
  ),
  deploymentCheck("HOOK-13", deleted),
] as const;
