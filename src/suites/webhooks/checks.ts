import { z } from "zod";

import { formatValue, getPath, isObject } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { isTimestamp } from "../../rules/bodies/timestamps.ts";
import { check, checkEvery, observe, suite } from "../../run/judge/check.ts";
import { breach, follows, holds, observed, type Unproven, unproven } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import { eventTypeOf, isPublishedEvent } from "../deliveries/events.ts";
import { allDeliveries } from "../deliveries/probes.ts";
import { allExchanges, type AllExchanges } from "../shared/all-exchanges.ts";
import { responseCell, emptyMatrix } from "../shared/cases.ts";
import { rejectedReceiverAddress } from "../shared/acceptance.ts";
import {
  describeFields,
  describeStatus,
  describeVerdict,
  hasStatus,
  isSuccess,
  outcomeOf,
  schemaMismatch,
} from "../shared/response.ts";
import { deliveriesTo, webhookIdOf } from "./create-webhook.ts";
import { bareWebhookRequested, invokedWithWebhooks, type InvokedWithWebhooks, malformedWebhooks } from "./probes.ts";
import { urlQueryCheck } from "../deliveries/unusual-webhook-checks.ts";
import { inapplicableForFewRequests } from "../shared/few-requests.ts";

const validAndMalformed = { valid: invokedWithWebhooks, malformed: malformedWebhooks };

const tooFewRequests = () => unproven("the key has few requests a minute", need("clock"));

const notCreated = (exchange: Exchange): Unproven => unproven(`no webhook was created (${outcomeOf(exchange)})`);

function createdWebhook(exchange: Exchange): unknown {
  const body = bodyJson(exchange);
  const places = [getPath(body, "data", "result"), getPath(body, "webhook"), getPath(body, "data"), body];
  return places.find((each) => isObject(each)) ?? body;
}

/**
 * Drops 402, 403 and 409 responses at the end of the list if an earlier request created a webhook. These statuses can
 * mean that the key has reached its maximum number of webhooks.
 */
function withoutQuotaRefusals(answers: readonly Exchange[]): readonly Exchange[] {
  const end = answers.findLastIndex((each) => !hasStatus(each, 402, 403, 409));
  return answers.slice(0, answers.some(isSuccess) ? end + 1 : answers.length);
}

const integer = z.int();
const metricsSchema = z.looseObject({
  webhook_id: z.string(),
  total_deliveries: integer,
  successful: integer,
  failed: integer,
  // `average_response_time` and `last_delivery` may be `null`, because a webhook without deliveries has neither.
  average_response_time: z.number().nullable(),
  last_delivery: z.string().refine(isTimestamp, "an ISO 8601 timestamp").nullable(),
});

interface WebhookMetrics {
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly exchange: Exchange;
}

const metricsIn = (exchanges: readonly Exchange[]): WebhookMetrics[] =>
  exchanges.flatMap((exchange) => {
    const metrics = isSuccess(exchange) ? objectWith("total_deliveries", bodyJson(exchange)) : null;
    return metrics === null ? [] : [{ metrics, exchange }];
  });

const metricResponses = ({ shown, listed }: InvokedWithWebhooks): Exchange[] => [
  ...shown,
  ...(listed === null ? [] : [listed]),
];

const metricsOf = (evidence: InvokedWithWebhooks): WebhookMetrics | null =>
  metricsIn(metricResponses(evidence))[0] ?? null;

function allMetrics(all: AllExchanges, evidence: InvokedWithWebhooks): WebhookMetrics[] {
  const own = metricResponses(evidence);
  const others = all.exchanges.filter(
    ({ id, request, key }) => key !== null && /\/webhooks\b/.test(request.url) && own.every((each) => each.id !== id),
  );
  return metricsIn([...own, ...others]);
}

function objectWith(name: string, value: unknown, levels = 3): Readonly<Record<string, unknown>> | null {
  if (!isObject(value)) return null;
  if (Object.hasOwn(value, name)) return value;
  if (levels === 0) return null;
  for (const inner of Object.values(value)) {
    const found = objectWith(name, inner, levels - 1);
    if (found !== null) return found;
  }
  return null;
}

const noMetrics = () => unproven("no response has webhook metrics");

const ownFields = ["url", "events", "agent_id", "secret"];

export const webhooks = suite("Webhooks", [
  check("WHK-1", invokedWithWebhooks, ({ webhooks: created, reach }) => {
    const answers = Object.values(created).flatMap((each) => each?.exchange ?? []);
    if (answers.every((each) => hasStatus(each, 429))) return unproven("a limit refused the requests (429)");
    const successes = answers.filter(isSuccess);
    const failures = withoutQuotaRefusals(answers).filter(
      (each) => !isSuccess(each) && !hasStatus(each, 429) && each !== created.unsigned?.exchange,
    );
    const unanswered = failures.filter(({ answer }) => answer.kind !== "answered");
    // A single request without a response proves nothing if other creations succeeded.
    if (failures.length === 1 && unanswered.length === 1 && successes.length > 0)
      return unproven(`one creation was not answered (${unanswered.map(outcomeOf).join(", ")})`);
    const [rejected] = failures;
    if (rejected !== undefined)
      return (
        (successes.length === 0 ? rejectedReceiverAddress(rejected, reach.isNamed) : null) ??
        breach("a success", outcomeOf(rejected), rejected)
      );
    if (successes.length === 0) return unproven(`no webhook was created (${answers.map(outcomeOf).join(", ")})`);
    const isAll = (status: number): boolean => successes.every((each) => hasStatus(each, status));
    return follows(isAll(201) ? "answers-201" : isAll(200) ? "answers-200" : "answers-2xx");
  }),
  urlQueryCheck,
  ...(["numberAsUrl", "textAsEvents"] as const).map((name) =>
    check(
      "WHK-2",
      validAndMalformed,
      ({ valid, malformed }) => {
        const control = (valid.webhooks.deployments ?? valid.webhooks.both).exchange;
        if (!isSuccess(control)) return notCreated(control);
        const exchange = malformed[name];
        if (exchange === null) return inapplicableForFewRequests;
        if (hasStatus(exchange, 429)) return unproven("a limit refused the request first (429)");
        if (isSuccess(exchange)) return follows("accepted");
        const status = statusOf(exchange) ?? 0;
        const what = name === "numberAsUrl" ? "`url` that is a number" : "`events` that is no array";
        return status >= 400 && status < 500
          ? follows("refused")
          : breach(`400 for ${what}, or success`, outcomeOf(exchange), exchange, control);
      },
      { as: name === "numberAsUrl" ? "url" : "events" },
    ),
  ),
  check("WHK-3", invokedWithWebhooks, ({ webhooks: created, elsewhere, deliveries }) => {
    if (elsewhere === null)
      return unproven(
        "only one agent of the target is known to answer",
        "`agents.webhooked` in the target file: an agent that nothing else invokes",
      );
    if (!isSuccess(elsewhere.exchange)) return notCreated(elsewhere.exchange);
    const own = Object.values(created).flatMap((each) => (each === null ? [] : deliveriesTo(deliveries, each.hook)));
    if (own.length === 0) return unproven("no webhook of the invoked agent got an event");
    // Ignores events that the document does not define, e.g. pings (test messages), because they belong to no agent.
    const isEvent = (each: Delivery): boolean => isPublishedEvent(eventTypeOf(each));
    const agents = new Set(own.filter(isEvent).map((each) => getPath(deliveryJson(each), "agent_id")));
    const foreign = deliveriesTo(deliveries, elsewhere.hook)
      .filter(isEvent)
      .find((each) => agents.has(getPath(deliveryJson(each), "agent_id")));
    return foreign === undefined
      ? holds()
      : breach(
          `no event of another agent to a webhook of ${formatValue(elsewhere.agent)}`,
          `${formatValue(eventTypeOf(foreign))} of ${formatValue(getPath(deliveryJson(foreign), "agent_id"))}`,
          foreign,
        );
  }),
  check(
    "WHK-3",
    { sent: invokedWithWebhooks, all: allDeliveries },
    ({ sent: { webhooks: created, deliveries }, all }) => {
      const own = new Set(Object.values(created).flatMap((each) => each?.hook ?? []));
      const ownEvents = (those: readonly Delivery[]): { agent: string; delivery: Delivery }[] =>
        those.flatMap((delivery) => {
          const agent = getPath(deliveryJson(delivery), "agent_id");
          const type = eventTypeOf(delivery);
          const isOwn = own.has(delivery.hook) && isPublishedEvent(type);
          return isOwn && typeof agent === "string" ? [{ agent, delivery }] : [];
        });
      const [first, ...others] = new Set(ownEvents(deliveries).map(({ agent }) => agent));
      if (first === undefined || others.length > 0)
        return unproven("the events do not name the agent that was invoked");
      const foreign = ownEvents(all.deliveries).find(({ agent }) => agent !== first);
      return foreign === undefined
        ? holds()
        : breach(
            `only events of ${formatValue(first)} to its webhooks`,
            `${formatValue(eventTypeOf(foreign.delivery))} of ${formatValue(foreign.agent)}`,
            foreign.delivery,
          );
    },
    { as: "throughout" },
  ),
  observe("WHK-4", invokedWithWebhooks, ({ webhooks: { both } }) =>
    isSuccess(both.exchange)
      ? observed(`${outcomeOf(both.exchange)} with ${describeFields(bodyJson(both.exchange))}`)
      : notCreated(both.exchange),
  ),
  observe("WHK-5", malformedWebhooks, ({ withoutUrl, unknownEvent }) =>
    withoutUrl === null || unknownEvent === null
      ? tooFewRequests()
      : observed(`without url: ${describeStatus(withoutUrl)}; unknown event type: ${describeStatus(unknownEvent)}`),
  ),
  observe(
    "WHK-5",
    bareWebhookRequested,
    (requested) =>
      requested === null
        ? unproven("the key has few requests a minute")
        : observed(`without url and events: ${describeVerdict(requested)}`),
    { as: "two fields", since: "1.2" },
  ),
  observe("WHK-6", malformedWebhooks, ({ withoutUrl, withoutAgent, withoutSecret }) =>
    withoutUrl === null || withoutAgent === null || withoutSecret === null
      ? tooFewRequests()
      : observed(
          `without url: ${describeStatus(withoutUrl)}; without agent_id: ${describeStatus(withoutAgent.exchange)}; without secret: ${describeStatus(withoutSecret)}`,
        ),
  ),
  check("WHK-7", invokedWithWebhooks, ({ webhooks: { both }, listed }) => {
    if (!isSuccess(both.exchange)) return notCreated(both.exchange);
    if (listed === null) return unproven("the response to the creation has no `webhook_id` or `id`");
    if (hasStatus(listed, 429)) return unproven("a limit refused the request (429)");
    return hasStatus(listed, 200)
      ? holds()
      : breach(
          `200 for the webhook ${formatValue(webhookIdOf(both.exchange))}`,
          outcomeOf(listed),
          listed,
          both.exchange,
        );
  }),
  observe("WHK-8", invokedWithWebhooks, ({ listed }) => {
    if (listed === null || !isSuccess(listed)) return unproven("the deliveries were not listed");
    const body = bodyJson(listed);
    const items = itemsIn(body);
    const [item] = items ?? [];
    return observed(
      items === null
        ? `answers ${describeFields(body)}`
        : `answers ${Array.isArray(body) ? "an array" : describeFields(body)}; ${items.length} items${item === undefined ? "" : `, each with ${describeFields(item)}`}`,
    );
  }),
  checkEvery(
    "WHK-9",
    { all: allExchanges, hooked: invokedWithWebhooks },
    {
      matrix: emptyMatrix("every response with webhook metrics"),
      members: (evidence) =>
        allMetrics(evidence.all, evidence.hooked).map((each) => ({
          cell: responseCell(each.exchange, evidence.all),
          proof: each.exchange,
          subject: each,
        })),
      judge: ({ metrics, exchange }) => schemaMismatch(metricsSchema, metrics, "webhook metrics", exchange),
      whenEmpty: ({ hooked: { listed } }) =>
        listed === null || !isSuccess(listed) ? unproven("no webhook has a known id") : follows("absent"),
      judgeAcross: () => follows("present"),
    },
  ),
  observe("WHK-10", invokedWithWebhooks, (evidence) => {
    const found = metricsOf(evidence);
    if (found === null) return noMetrics();
    return observed(
      `\`average_response_time\` is ${formatValue(found.metrics["average_response_time"])} without a unit, where the receiver answers in a few milliseconds`,
    );
  }),
  check("WHK-11", invokedWithWebhooks, (evidence) => {
    const found = metricsOf(evidence);
    if (found === null) return noMetrics();
    const parsed = metricsSchema.safeParse(found.metrics);
    if (!parsed.success) return unproven("the metrics are incomplete; see WHK-9");
    const { total_deliveries: total, successful, failed } = parsed.data;
    return total === successful + failed
      ? holds()
      : breach(`\`total_deliveries\` is ${successful} + ${failed}`, String(total), found.exchange);
  }),
  observe("WHK-12", invokedWithWebhooks, ({ webhooks: { both } }) => {
    const record = createdWebhook(both.exchange);
    if (!isSuccess(both.exchange) || !isObject(record)) return notCreated(both.exchange);
    const more = Object.keys(record).filter((name) => !ownFields.includes(name));
    return observed(more.length === 0 ? "none is shown" : `the webhook is shown with ${more.join(", ")}`);
  }),
]);

export function itemsIn(body: unknown): readonly unknown[] | null {
  const data = getPath(body, "data");
  const places = [
    body,
    data,
    ...[body, data, getPath(data, "result")].flatMap((each) => [each, getPath(each, "deliveries")]),
    getPath(data, "data"),
    getPath(body, "items"),
    getPath(body, "results"),
    getPath(data, "items"),
  ];
  return places.find((each): each is readonly unknown[] => Array.isArray(each)) ?? null;
}
