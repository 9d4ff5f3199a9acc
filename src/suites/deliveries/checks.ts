import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import { type Delivery, deliveryHeader, deliveryJson, hasValidSignature } from "../../evidence/delivery.ts";
import { deploymentEvents, type WebhookEvent, webhookEvents } from "../../spec/events.ts";
import { type Check, check, observe, suite } from "../../run/judge/check.ts";
import { breach, type Finding, holds, observed, unproven } from "../../run/judge/finding.ts";
import { type Member, checkEvery } from "../../run/judge/check-every.ts";
import { fieldMatrix } from "../shared/matrices.ts";
import { maxExecutionMs, unitMismatch } from "../shared/durations.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { negativeQuantity, fieldMismatch } from "../../rules/bodies/fields.ts";
import { judgePresence } from "../shared/cases.ts";
import {
  type AllDeliveries,
  allDeliveries,
  type FailedExecution,
  failingWithWebhooks,
  failingStreamHook,
  timingOutWithWebhooks,
} from "./probes.ts";
import { retryChecks } from "./retry-checks.ts";
import { hookOfScript } from "./retry-probe.ts";
import { eventsOfType, eventTypeOf } from "./event.ts";
import { uniqueIdsCheck } from "./event-ids.ts";
import { judgeAgentNamed, judgeCreatedTime } from "./event-content.ts";
import {
  missingDeliveryExcuse,
  isPublishedEvent,
  droppedByReceiver,
  unpublishedTypeExcuse,
  withoutPings,
} from "./missing-deliveries.ts";
import { deploymentChecks } from "./deployment-events.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath, isObject } from "../../base/json.ts";
import { hasZone, isTimestamp } from "../../rules/bodies/timestamps.ts";
import { deliveriesTo } from "../webhooks/await-deliveries.ts";
import { invokedWithWebhooks, type InvokedWithWebhooks } from "../webhooks/probes.ts";

/** What webhooks got of an agent that was invoked, and all that came to webhooks later. */
const told = { sent: invokedWithWebhooks, all: allDeliveries };
interface Told {
  readonly sent: InvokedWithWebhooks;
  readonly all: AllDeliveries;
}

const noDelivery = () => unproven("no delivery came; see HOOK-8");

/** Judges the rows that a clause states, on every delivery of the run. */
const field = (clause: "HOOK-1" | "HOOK-2" | "HOOK-3" | "HOOK-4" | "HOOK-5" | "HOOK-6"): Check =>
  checkEvery(clause, told, {
    matrix: fieldMatrix("delivery"),
    noun: "deliveries",
    members: ({ all }) => withoutPings(all.deliveries).filter(isKept).map(deliverySeen),
    judge: (body) => fieldMismatch("delivery", clause, body),
    whenEmpty: noDelivery,
    judgeAcross: (bodies) => judgePresence("delivery", clause, bodies),
  });

/** Of `agent.completed`, its data; that seconds are seconds shows by the requests of the run. */
const completedData = checkEvery(
  "HOOK-17",
  { ...told, everything: allExchanges },
  {
    matrix: fieldMatrix("completed"),
    noun: "deliveries",
    members: ({ all, everything: seen }) =>
      eventsOfType(all.deliveries, "agent.completed").map((delivery) => ({
        ...deliverySeen(delivery),
        subject: completedIn(
          delivery,
          maxExecutionMs(seen, getPath(deliveryJson(delivery), "agent_id"), delivery.receivedMs),
        ),
      })),
    judge: ({ body, tookMs }) =>
      fieldMismatch("completed", "HOOK-17", body) ??
      unitMismatch("data.execution_time", getPath(body, "data", "execution_time"), tookMs),
    whenEmpty: unproven("no `agent.completed` came"),
  },
);

const completedIn = memoizeByPair((delivery: Delivery, tookMs: number) => ({ body: deliveryJson(delivery), tookMs }));

/** Whether a body was kept whole, so that it can be judged. */
const isKept = ({ request }: Delivery): boolean => request.body.kind !== "cut";

const deliverySeen = memoizeByObject((delivery: Delivery): Member<unknown> => ({
  cell: { of: "deliveries received", kind: typeText(eventTypeOf(delivery)) },
  proof: delivery,
  subject: deliveryJson(delivery),
}));

const typeText = (type: unknown): string => (isPublishedEvent(type) ? type : "other");

/** Judges whether the webhooks of an agent that was invoked were told of it, once for each time. */
const invokeTold =
  (event: "agent.invoked" | "agent.completed") =>
  ({ sent, all }: Told): Finding<never> => {
    const { wildcard, both, completed } = sent.webhooks;
    const asked =
      event === "agent.completed" ? [wildcard, both, completed].filter((each) => each !== null) : [wildcard, both];
    const expected = sent.invoked.filter(isSuccess).length;
    if (expected === 0) return unproven(`the agent did not answer (${sent.invoked.map(outcomeOf).join(", ")})`);
    const counts = asked.map(({ hook }) => eventsOfType(deliveriesTo(sent.deliveries, hook), event).length);
    const most = Math.max(...counts);
    if (most >= expected) return holds();
    const unable = missingDeliveryExcuse(sent.reach, all, asked) ?? unpublishedTypeExcuse(all.deliveries);
    if (unable !== null) return unable;
    const what = most === 0 ? "none came" : `${most} came`;
    return breach(`\`${event}\` for each of ${expected} invokes`, what, ...sent.invoked);
  };

interface Ended {
  readonly ended: FailedExecution;
  readonly all: AllDeliveries;
}

/** Judges whether webhooks were told how an execution ended. */
const endTold = ({ ended, all }: Ended): Finding<never> => {
  const { invoked, event, deliveries, named, wildcard, reach } = ended;
  if (eventsOfType(deliveries, event).length > 0) return holds();
  if (invoked.answer.kind === "answered" && !hasStatus(invoked, 408, 500, 502, 503, 504))
    return unproven(`the execution did not end so (${outcomeOf(invoked)})`);
  const unable = missingDeliveryExcuse(reach, all, [named, wildcard]) ?? unpublishedTypeExcuse(deliveries);
  if (unable !== null) return unable;
  const types = deliveries.map((each) => formatValue(eventTypeOf(each)));
  return breach(`\`${event}\``, types.length === 0 ? "no delivery came" : `only ${types.join(", ")}`, invoked);
};

/** Judges whether `agent.*` selected what a webhook got that named the event. */
function isSelected(event: WebhookEvent, named: readonly Delivery[], byWildcard: readonly Delivery[]): Finding<never> {
  const [known] = eventsOfType(named, event);
  if (known === undefined) return unproven(`no webhook that names \`${event}\` got one`);
  return eventsOfType(byWildcard, event).length > 0
    ? holds()
    : breach(`\`${event}\` to a webhook of \`agent.*\` also`, `only to the one that names it`, known);
}

const selectedAtEnd = ({ ended: { event, named, wildcard, deliveries }, all }: Ended): Finding<never> =>
  isSuccess(wildcard.exchange)
    ? (droppedByReceiver(all, [wildcard]) ??
      isSelected(event, deliveriesTo(deliveries, named.hook), deliveriesTo(deliveries, wildcard.hook)))
    : unproven(`no webhook of \`agent.*\` was created (${outcomeOf(wildcard.exchange)})`);

const signatureHeader = "X-Service-Signature";

/** Headers that any request has, or that the document names. */
const plainHeaders =
  /^(host|connection|keep-alive|content-(type|length|encoding)|transfer-encoding|accept.*|user-agent|date|x-service-signature|x-forwarded-.*|forwarded|via)$/i;

const more = { ended: failingWithWebhooks, all: allDeliveries };
const isOfStreams = (delivery: Delivery): boolean =>
  ["STREAM_ERROR", "CAPACITY_ERROR"].some((code) => code === getPath(deliveryJson(delivery), "data", "error", "code"));
const timedOut = { ended: timingOutWithWebhooks, all: allDeliveries };

export const deliveries = suite("Webhook deliveries", [
  field("HOOK-1"),
  field("HOOK-2"),
  field("HOOK-3"),
  checkEvery("HOOK-39", told, {
    matrix: fieldMatrix("delivery"),
    noun: "deliveries",
    members: ({ all }) => withoutPings(all.deliveries).map(deliverySeen),
    judge: (body) => {
      const created = getPath(body, "created");
      if (typeof created !== "string" || !isTimestamp(created)) return undefined;
      return hasZone(created)
        ? null
        : { expected: "`created`, a timestamp with its zone: `Z`", actual: formatValue(created) };
    },
    whenEmpty: noDelivery,
  }),
  field("HOOK-4"),
  field("HOOK-5"),
  field("HOOK-6"),
  uniqueIdsCheck,
  check("HOOK-36", invokedWithWebhooks, judgeAgentNamed),
  check("HOOK-37", invokedWithWebhooks, judgeCreatedTime),
  check("HOOK-7", told, invokeTold("agent.invoked")),
  check("HOOK-8", told, invokeTold("agent.completed")),
  // Begun early: on a real clock the retries come while the probes of the other checks take their time.
  ...retryChecks,
  check("HOOK-9", more, endTold),
  check("HOOK-10", timedOut, endTold),
  check("HOOK-15", told, ({ sent, all }) => {
    const named = [sent.webhooks.both, sent.webhooks.completed, sent.webhooks.unsigned, sent.webhooks.deployments];
    const asked = named.filter((each) => each !== null).filter(({ exchange }) => isSuccess(exchange));
    for (const { hook, events } of asked) {
      const foreign = deliveriesTo(all.deliveries, hook).find((each) => {
        const type = eventTypeOf(each);
        return isPublishedEvent(type) && !events.includes(type);
      });
      if (foreign !== undefined)
        return breach(`only ${events.join(", ")}, as subscribed`, formatValue(eventTypeOf(foreign)), foreign);
    }
    for (const { hook, events, exchange } of asked)
      for (const event of events) {
        const [known] = eventsOfType(sent.deliveries, event);
        const isMissing = known !== undefined && eventsOfType(deliveriesTo(sent.deliveries, hook), event).length === 0;
        if (isMissing && droppedByReceiver(all, [{ hook }]) === null)
          return breach(`\`${event}\` to each webhook that subscribed to it`, "only to another", known, exchange);
      }
    return sent.deliveries.some((each) => isPublishedEvent(eventTypeOf(each))) ? holds() : noDelivery();
  }),
  check("HOOK-16", told, ({ sent: { webhooks, deliveries: came }, all }) => {
    if (!isSuccess(webhooks.wildcard.exchange))
      return unproven(`no webhook of \`agent.*\` was created (${outcomeOf(webhooks.wildcard.exchange)})`);
    const away = droppedByReceiver(all, [webhooks.wildcard]);
    if (away !== null) return away;
    const [named, byWildcard] = [deliveriesTo(came, webhooks.both.hook), deliveriesTo(came, webhooks.wildcard.hook)];
    const invoked = isSelected("agent.invoked", named, byWildcard);
    return invoked.kind === "holds" ? isSelected("agent.completed", named, byWildcard) : invoked;
  }),
  check("HOOK-16", more, selectedAtEnd, { as: "agent.failed" }),
  check("HOOK-16", timedOut, selectedAtEnd, { as: "agent.timeout" }),
  completedData,
  checkEvery("HOOK-41", told, {
    matrix: fieldMatrix("completed"),
    noun: "deliveries",
    members: ({ all }) => eventsOfType(all.deliveries, "agent.completed").map(deliverySeen),
    judge: (body) => negativeQuantity("completed", body),
    whenEmpty: unproven("no `agent.completed` came with an `execution_time`"),
  }),
  checkEvery("HOOK-18", more, {
    matrix: fieldMatrix("failed"),
    noun: "deliveries",
    members: ({ all }) => eventsOfType(all.deliveries, "agent.failed").map(deliverySeen),
    judge: (body) => fieldMismatch("failed", "HOOK-18", body),
    whenEmpty: unproven("no `agent.failed` came"),
  }),
  observe("HOOK-19", told, ({ all }) => {
    const types = webhookEvents.filter((type) => type !== "agent.completed" && type !== "agent.failed");
    const shown = types.flatMap((type) => {
      const [first] = eventsOfType(all.deliveries, type);
      const data = first === undefined ? undefined : getPath(deliveryJson(first), "data");
      return isObject(data) ? [`${type}: ${Object.keys(data).join(", ")}`] : [];
    });
    return shown.length === 0 ? unproven("none of these events came") : observed(shown.join("; "));
  }),
  checkEvery("HOOK-20", more, {
    matrix: fieldMatrix("failed"),
    noun: "deliveries",
    // What fails in a stream has codes of its own there.
    members: ({ all, ended: { hearsStreams } }) =>
      eventsOfType(all.deliveries, "agent.failed")
        .filter((each) => each.hook !== failingStreamHook && !(hearsStreams && isOfStreams(each)))
        .map(deliverySeen),
    judge: (body) => {
      const code = getPath(body, "data", "error", "code");
      if (typeof code !== "string") return undefined;
      return code === "EXECUTION_ERROR" ? null : { expected: "`code` is EXECUTION_ERROR", actual: formatValue(code) };
    },
    whenEmpty: unproven("no `agent.failed` came with a code; see HOOK-18"),
  }),
  check("HOOK-21", told, ({ all }) => {
    // That one was told another secret on purpose.
    const signed = withoutPings(all.deliveries).filter(
      ({ computedSignature, hook }) => computedSignature !== null && hook !== hookOfScript("mismatched"),
    );
    const wrong = signed.find((delivery) => !hasValidSignature(delivery));
    if (wrong !== undefined) {
      const values = deliveryHeader(wrong, signatureHeader);
      return breach(
        `\`${signatureHeader}: ${wrong.computedSignature}\``,
        values.length === 0 ? "no such header" : values.map(formatValue).join(", "),
        wrong,
      );
    }
    return signed.length > 0 ? holds() : noDelivery();
  }),
  observe("HOOK-31", told, ({ all: { deliveries: came } }) => {
    if (came.length === 0) return noDelivery();
    const names = new Set(came.flatMap(({ request }) => request.headers.map(([name]) => name)));
    const own = [...names].filter((name) => !plainHeaders.test(name));
    return observed(own.length === 0 ? "no such header" : own.join(", "));
  }),
  observe("HOOK-34", told, ({ sent: { webhooks, deliveries: came } }) => {
    const { unsigned } = webhooks;
    if (unsigned === null) return unproven("the key has too few requests for a webhook without a secret");
    if (!isSuccess(unsigned.exchange)) return observed(`such a webhook is refused: ${outcomeOf(unsigned.exchange)}`);
    const [first] = deliveriesTo(came, unsigned.hook);
    if (first === undefined) return unproven("no delivery came to a webhook without a secret");
    const values = deliveryHeader(first, signatureHeader);
    return observed(values.length === 0 ? `no \`${signatureHeader}\`` : `\`${signatureHeader}\` all the same`);
  }),
  ...deploymentChecks,
  check(
    "HOOK-16",
    told,
    ({ all }) => {
      const isOfDeployment = (each: Delivery): boolean => deploymentEvents.some((event) => event === eventTypeOf(each));
      const found = all.deliveries.filter(isOfDeployment);
      const foreign = found.find(({ hook }) => hook.endsWith("wildcard"));
      if (foreign !== undefined)
        return breach("no deployment event to a webhook of `agent.*`", formatValue(eventTypeOf(foreign)), foreign);
      return found.length > 0
        ? holds()
        : unproven("no deployment event was sent", '`triggers` in the target file, such as "deployment.updated"');
    },
    { as: "no deployment event" },
  ),
]);
