import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import { type Delivery, deliveryHeaderValues, deliveryJson, hasValidSignature } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type WebhookEvent, webhookEvents } from "../../spec/events-and-errors.ts";
import {
  type Check,
  check,
  checkEvery,
  type ClauseCase,
  type EvidenceOf,
  observe,
  suite,
} from "../../run/judge/check.ts";
import { breach, type Finding, holds, observed, type Unproven, unproven } from "../../run/judge/finding.ts";
import { checkFields, fieldMatrix } from "../shared/cases.ts";
import { maxExecutionMs, durationUnitMismatch } from "../shared/durations.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { fieldMismatch, negativeQuantity } from "../../rules/bodies/fields.ts";
import { hasZone, isTimestamp } from "../../rules/bodies/timestamps.ts";
import {
  allDeliveries,
  failingWithWebhooks,
  failingStreamHook,
  timingOutWithWebhooks,
  webhookProbes,
} from "./probes.ts";
import { retryChecks } from "./retry-checks.ts";
import { hookOfScript } from "./retry-probe.ts";
import {
  eventsOfType,
  eventTypeOf,
  isPublishedEvent,
  withoutPings,
  missingDeliveryExcuse,
  receiverOverflowExcuse,
  unpublishedTypeExcuse,
} from "./events.ts";
import { judgeDeliveredAgentId, judgeCreatedTime, sourceChecks, uniqueIdsCheck } from "./event-content.ts";
import { deploymentChecks, isOfDeployment } from "./deployment-events.ts";
import { webhookSecretChecks } from "./unusual-webhook-checks.ts";
import { batchTimeCheck, executionEndChecks } from "./execution-ends.ts";
import { unusualEndChecks } from "./unusual-ends.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { formatValue, getPath, isObject } from "../../base/json.ts";
import { deliveriesTo } from "../webhooks/create-webhook.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";

type WebhookEvidence = EvidenceOf<typeof webhookProbes>;

const failedProbes = { ended: failingWithWebhooks, all: allDeliveries };
const timedOutProbes = { ended: timingOutWithWebhooks, all: allDeliveries };
type FailureEvidence = EvidenceOf<typeof failedProbes>;

const noDelivery = unproven("no delivery came; see HOOK-8");

const deliveryCase = memoizeByObject((delivery: Delivery): ClauseCase<{ readonly root: unknown }> => ({
  cell: { of: "deliveries received", kind: typeOrOther(eventTypeOf(delivery)) },
  proof: delivery,
  subject: { root: deliveryJson(delivery) },
}));

const typeOrOther = (type: unknown): string => (isPublishedEvent(type) ? type : "other");

const isWhole = ({ request }: Delivery): boolean => request.body.kind !== "cut";

const checkDeliveryField = (clause: "HOOK-1" | "HOOK-2" | "HOOK-3" | "HOOK-4" | "HOOK-5" | "HOOK-6"): Check =>
  checkFields(clause, webhookProbes, {
    table: "delivery",
    noun: "deliveries",
    members: ({ all }) => withoutPings(all.deliveries).filter(isWhole).map(deliveryCase),
    whenEmpty: noDelivery,
  });

const completedData = checkEvery(
  "HOOK-17",
  { ...webhookProbes, exchanges: allExchanges },
  {
    matrix: fieldMatrix("completed"),
    noun: "deliveries",
    members: ({ all, exchanges }) =>
      eventsOfType(all.deliveries, "agent.completed").map((delivery) => {
        const agent = getPath(deliveryJson(delivery), "agent_id");
        const tookMs = maxExecutionMs(exchanges, agent, delivery.receivedMs);
        return { ...deliveryCase(delivery), subject: rootAndTime(delivery, tookMs) };
      }),
    judge: ({ root, tookMs }) =>
      fieldMismatch("completed", "HOOK-17", root) ??
      durationUnitMismatch("data.execution_time", getPath(root, "data", "execution_time"), tookMs),
    whenEmpty: unproven("no `agent.completed` came"),
  },
);

const rootAndTime = memoizeByPair((delivery: Delivery, tookMs: number) => ({ root: deliveryJson(delivery), tookMs }));

const judgeSentForEachInvoke =
  (event: "agent.invoked" | "agent.completed") =>
  ({ sent, all }: WebhookEvidence): Finding<never> => {
    const { wildcard, both, completed } = sent.webhooks;
    const webhooks =
      event === "agent.completed" ? [wildcard, both, completed].filter((each) => each !== null) : [wildcard, both];
    const expected = sent.invoked.filter(isSuccess).length;
    if (expected === 0) return unproven(`no invoke succeeded (${sent.invoked.map(outcomeOf).join(", ")})`);
    const counts = webhooks.map(({ hook }) => eventsOfType(deliveriesTo(sent.deliveries, hook), event).length);
    const max = Math.max(...counts);
    if (max >= expected) return holds();
    const excuse = missingDeliveryExcuse(sent.reach, all, webhooks) ?? unpublishedTypeExcuse(all.deliveries);
    if (excuse !== null) return excuse;
    const actual = max === 0 ? "none came" : `${max} came`;
    return breach(`\`${event}\` for each of ${expected} invokes`, actual, ...sent.invoked);
  };

const judgeSentAfterFailure = ({ ended, all }: FailureEvidence): Finding<never> => {
  const { invoked, event, deliveries: arrived, named, wildcard, reach } = ended;
  if (eventsOfType(arrived, event).length > 0) return holds();
  if (!hasStatus(invoked, 408, 500, 502, 503, 504))
    return unproven(`the execution did not fail as expected (${outcomeOf(invoked)})`);
  const excuse = missingDeliveryExcuse(reach, all, [named, wildcard]) ?? unpublishedTypeExcuse(arrived);
  if (excuse !== null) return excuse;
  const types = arrived.map((each) => formatValue(eventTypeOf(each)));
  return breach(`\`${event}\``, types.length === 0 ? "no delivery came" : `only ${types.join(", ")}`, invoked);
};

function judgeWildcardGets(
  event: WebhookEvent,
  byName: readonly Delivery[],
  byWildcard: readonly Delivery[],
): Finding<never> {
  const [known] = eventsOfType(byName, event);
  if (known === undefined) return unproven(`the webhook that names \`${event}\` got none`);
  return eventsOfType(byWildcard, event).length > 0
    ? holds()
    : breach(`\`${event}\` also to the webhook of \`agent.*\``, "only to the webhook that names it", known);
}

const wildcardNotCreated = (exchange: Exchange): Unproven =>
  unproven(`no webhook of \`agent.*\` was created (${outcomeOf(exchange)})`);

const wildcardGetsFailure = ({ ended, all }: FailureEvidence): Finding<never> => {
  const { event, named, wildcard, deliveries: arrived } = ended;
  if (!isSuccess(wildcard.exchange)) return wildcardNotCreated(wildcard.exchange);
  return (
    receiverOverflowExcuse(all, [wildcard]) ??
    judgeWildcardGets(event, deliveriesTo(arrived, named.hook), deliveriesTo(arrived, wildcard.hook))
  );
};

const signatureHeader = "X-Service-Signature";

/** Matches delivery headers that are common or documented. The report lists all other headers (HOOK-31). */
const knownHeaders =
  /^(host|connection|keep-alive|content-(type|length|encoding)|transfer-encoding|accept.*|user-agent|date|x-service-signature|x-forwarded-.*|forwarded|via)$/i;

const isStreamFailure = (delivery: Delivery): boolean =>
  ["STREAM_ERROR", "CAPACITY_ERROR"].some((code) => code === getPath(deliveryJson(delivery), "data", "error", "code"));

export const deliveries = suite("Webhook deliveries", [
  checkDeliveryField("HOOK-1"),
  checkDeliveryField("HOOK-2"),
  checkDeliveryField("HOOK-3"),
  checkEvery("HOOK-39", webhookProbes, {
    matrix: fieldMatrix("delivery"),
    noun: "deliveries",
    members: ({ all }) => withoutPings(all.deliveries).map(deliveryCase),
    judge: ({ root }) => {
      const created = getPath(root, "created");
      if (typeof created !== "string" || !isTimestamp(created)) return undefined;
      return hasZone(created)
        ? null
        : { expected: "`created`, a timestamp with its zone: `Z`", actual: formatValue(created) };
    },
    whenEmpty: noDelivery,
  }),
  checkDeliveryField("HOOK-4"),
  checkDeliveryField("HOOK-5"),
  checkDeliveryField("HOOK-6"),
  uniqueIdsCheck,
  check("HOOK-36", invokedWithWebhooks, judgeDeliveredAgentId),
  check("HOOK-37", invokedWithWebhooks, judgeCreatedTime),
  check("HOOK-7", webhookProbes, judgeSentForEachInvoke("agent.invoked")),
  check("HOOK-8", webhookProbes, judgeSentForEachInvoke("agent.completed")),
  // `retryChecks` come early, so that their probe starts early. Without a test clock, retries arrive during later
  // probes.
  ...retryChecks,
  check("HOOK-9", failedProbes, judgeSentAfterFailure),
  check("HOOK-10", timedOutProbes, judgeSentAfterFailure),
  check("HOOK-15", webhookProbes, ({ sent, all }) => {
    const named = [sent.webhooks.both, sent.webhooks.completed, sent.webhooks.unsigned, sent.webhooks.deployments];
    const created = named.filter((each) => each !== null).filter(({ exchange }) => isSuccess(exchange));
    for (const { hook, events } of created) {
      const foreign = deliveriesTo(all.deliveries, hook).find((each) => {
        const type = eventTypeOf(each);
        return isPublishedEvent(type) && !events.includes(type);
      });
      if (foreign !== undefined)
        return breach(`only ${events.join(", ")}, as subscribed`, formatValue(eventTypeOf(foreign)), foreign);
    }
    for (const { hook, events, exchange } of created)
      for (const event of events) {
        const [known] = eventsOfType(sent.deliveries, event);
        const isMissing = known !== undefined && eventsOfType(deliveriesTo(sent.deliveries, hook), event).length === 0;
        if (isMissing && receiverOverflowExcuse(all, [{ hook }]) === null)
          return breach(
            `\`${event}\` to each webhook that subscribed to it`,
            "only to another webhook",
            known,
            exchange,
          );
      }
    return sent.deliveries.some((each) => isPublishedEvent(eventTypeOf(each))) ? holds() : noDelivery;
  }),
  check("HOOK-16", webhookProbes, ({ sent: { webhooks, deliveries: arrived }, all }) => {
    if (!isSuccess(webhooks.wildcard.exchange)) return wildcardNotCreated(webhooks.wildcard.exchange);
    const dropped = receiverOverflowExcuse(all, [webhooks.wildcard]);
    if (dropped !== null) return dropped;
    const byName = deliveriesTo(arrived, webhooks.both.hook);
    const byWildcard = deliveriesTo(arrived, webhooks.wildcard.hook);
    const invoked = judgeWildcardGets("agent.invoked", byName, byWildcard);
    return invoked.kind === "holds" ? judgeWildcardGets("agent.completed", byName, byWildcard) : invoked;
  }),
  check("HOOK-16", failedProbes, wildcardGetsFailure, { as: "agent.failed" }),
  check("HOOK-16", timedOutProbes, wildcardGetsFailure, { as: "agent.timeout" }),
  completedData,
  checkEvery("HOOK-41", webhookProbes, {
    matrix: fieldMatrix("completed"),
    noun: "deliveries",
    members: ({ all }) => eventsOfType(all.deliveries, "agent.completed").map(deliveryCase),
    judge: ({ root }) => negativeQuantity("completed", root),
    whenEmpty: unproven("no `agent.completed` came with an `execution_time`"),
  }),
  checkFields("HOOK-18", failedProbes, {
    table: "failed",
    noun: "deliveries",
    members: ({ all }) => eventsOfType(all.deliveries, "agent.failed").map(deliveryCase),
    whenEmpty: unproven("no `agent.failed` came"),
  }),
  observe("HOOK-19", webhookProbes, ({ all }) => {
    const types = webhookEvents.filter((type) => type !== "agent.completed" && type !== "agent.failed");
    const fieldsByType = types.flatMap((type) => {
      const [first] = eventsOfType(all.deliveries, type);
      const data = first === undefined ? undefined : getPath(deliveryJson(first), "data");
      return isObject(data) ? [`${type}: ${Object.keys(data).join(", ")}`] : [];
    });
    return fieldsByType.length === 0 ? unproven("none of these events came") : observed(fieldsByType.join("; "));
  }),
  checkEvery("HOOK-20", failedProbes, {
    matrix: fieldMatrix("failed"),
    noun: "deliveries",
    // Leaves out failed streams: their code can be `STREAM_ERROR` or `CAPACITY_ERROR`, not only `EXECUTION_ERROR`.
    members: ({ all, ended: { hearsStreams } }) =>
      eventsOfType(all.deliveries, "agent.failed")
        .filter((each) => each.hook !== failingStreamHook && !(hearsStreams && isStreamFailure(each)))
        .map(deliveryCase),
    judge: ({ root }) => {
      const code = getPath(root, "data", "error", "code");
      if (typeof code !== "string") return undefined;
      return code === "EXECUTION_ERROR" ? null : { expected: "`code` is EXECUTION_ERROR", actual: formatValue(code) };
    },
    whenEmpty: unproven("no `agent.failed` came with a code; see HOOK-18"),
  }),
  check("HOOK-21", webhookProbes, ({ all }) => {
    // Leaves out deliveries to the receiver `mismatched`, which expects a different secret on purpose.
    const signed = withoutPings(all.deliveries).filter(
      ({ computedSignature, hook }) => computedSignature !== null && hook !== hookOfScript("mismatched"),
    );
    const wrong = signed.find((delivery) => !hasValidSignature(delivery));
    if (wrong !== undefined) {
      const values = deliveryHeaderValues(wrong, signatureHeader);
      return breach(
        `\`${signatureHeader}: ${wrong.computedSignature}\``,
        values.length === 0 ? "no such header" : values.map(formatValue).join(", "),
        wrong,
      );
    }
    return signed.length > 0 ? holds() : noDelivery;
  }),
  observe("HOOK-31", webhookProbes, ({ all: { deliveries: arrived } }) => {
    if (arrived.length === 0) return noDelivery;
    const names = new Set(arrived.flatMap(({ request }) => request.headers.map(([name]) => name)));
    const own = [...names].filter((name) => !knownHeaders.test(name));
    return observed(own.length === 0 ? "no such header" : own.join(", "));
  }),
  observe("HOOK-34", webhookProbes, ({ sent: { webhooks, deliveries: arrived } }) => {
    const { unsigned } = webhooks;
    if (unsigned === null) return unproven("the key has too few requests for a webhook without a secret");
    if (!isSuccess(unsigned.exchange)) return observed(`such a webhook is rejected: ${outcomeOf(unsigned.exchange)}`);
    const [first] = deliveriesTo(withoutPings(arrived), unsigned.hook);
    if (first === undefined) return unproven("no delivery came to a webhook without a secret");
    const values = deliveryHeaderValues(first, signatureHeader);
    return observed(values.length === 0 ? `no \`${signatureHeader}\`` : `still a \`${signatureHeader}\``);
  }),
  ...webhookSecretChecks,
  ...unusualEndChecks,
  ...executionEndChecks,
  batchTimeCheck,
  ...deploymentChecks,
  ...sourceChecks,
  check(
    "HOOK-16",
    webhookProbes,
    ({ all }) => {
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
