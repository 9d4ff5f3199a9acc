import { webhookEvents, type WebhookEvent } from "../../interface/events.ts";
import { fieldsOf } from "../edit.ts";
import { fieldTrouble, type Trouble } from "../trouble.ts";
import type { DeliveryRecord, Webhook, WebhookMetrics } from "../webhooks/webhook.ts";
import type { TokenUsage } from "./invoking.ts";
import { isoTime } from "./reading.ts";

/** How an execution stands. */
export type TurnStage =
  | { readonly kind: "invoked" }
  | {
      readonly kind: "completed";
      readonly text: string;
      readonly usage: TokenUsage;
      /** Milliseconds on the clock since the request came. */
      readonly elapsedMs: number;
    }
  | { readonly kind: "failed"; readonly message: string; readonly details: string }
  | { readonly kind: "timeout"; readonly timeoutMs: number };

/** What the data of an execution event is made of. */
export interface TurnEventFacts {
  readonly requestId: string;
  /** The body of the request. */
  readonly input: unknown;
  readonly stage: TurnStage;
}

/** What a webhook is asked for with; the field of an absent value is `null`. */
export interface WebhookWish {
  readonly url: string;
  readonly events: readonly string[];
  readonly agentId: string | null;
  readonly secret: string | null;
}

/** Decisions about webhooks and what they are told. Source: Endpoints 6 and 7; Resources, "Webhook metrics"; Events. */
export interface Webhooking {
  /** What is wrong with the body of a creation, or `null`. `refusedAddress` says why nothing is delivered to a URL. */
  webhookTrouble(body: unknown, refusedAddress: (url: string) => string | null): Trouble | null;
  /** What is taken from a body that passed. */
  webhookWish(body: unknown): WebhookWish;
  webhookBody(webhook: Webhook): unknown;
  /** Deliveries come in order of creation. */
  deliveriesBody(webhook: Webhook, deliveries: readonly DeliveryRecord[]): unknown;
  metricsBody(webhook: Webhook, metrics: WebhookMetrics): unknown;
  turnEventData(facts: TurnEventFacts): unknown;
  /** The event that tells of a stream whose client left before its end, or `null` for none. */
  eventOfLeaving(): "agent.failed" | null;
}

const selectors: readonly string[] = [...webhookEvents, "agent.*", "deployment.*"];

export const eventOf = {
  invoked: "agent.invoked",
  completed: "agent.completed",
  failed: "agent.failed",
  timeout: "agent.timeout",
} as const satisfies Record<TurnStage["kind"], WebhookEvent>;

export const standardWebhooking: Webhooking = {
  webhookTrouble: (body, refusedAddress) => {
    const { url, events, agent_id: agentId, secret } = fieldsOf(body);
    if (url === undefined) return fieldTrouble("missing-field", "url", "missing");
    if (typeof url !== "string") return fieldTrouble("invalid-input", "url", "must be a string");
    const refused = refusedAddress(url);
    if (refused !== null) return fieldTrouble("invalid-input", "url", refused);
    if (agentId !== undefined && typeof agentId !== "string")
      return fieldTrouble("invalid-input", "agent_id", "must be a string");
    if (secret !== undefined && (typeof secret !== "string" || secret === ""))
      return fieldTrouble("invalid-input", "secret", "must be a string that is not empty");
    return eventsTrouble(events);
  },
  webhookWish: (body) => {
    const { url, events, agent_id: agentId, secret } = fieldsOf(body);
    return {
      url: textOf(url) ?? "",
      events: [events ?? []].flat().map(String),
      agentId: textOf(agentId),
      secret: textOf(secret),
    };
  },
  webhookBody: ({ id, url, events, agentId, createdMs }) => ({
    webhook_id: id,
    url,
    events,
    agent_id: agentId,
    status: "active",
    created_at: isoTime(createdMs),
  }),
  deliveriesBody: (webhook, deliveries) => ({
    webhook_id: webhook.id,
    data: deliveries.toReversed().map(deliveryItem),
  }),
  metricsBody: ({ id, createdMs }, metrics) => ({
    webhook_id: id,
    total_deliveries: metrics.totalDeliveries,
    successful: metrics.successful,
    failed: metrics.failed,
    average_response_time: metrics.averageResponseMs ?? 0,
    last_delivery: isoTime(metrics.lastDeliveryMs ?? createdMs),
  }),
  turnEventData: ({ requestId, input, stage }) => ({ request_id: requestId, input, ...stageData(stage) }),
  eventOfLeaving: () => null,
};

function eventsTrouble(events: unknown): Trouble | null {
  if (events === undefined) return fieldTrouble("missing-field", "events", "missing");
  if (!Array.isArray(events) || events.length === 0)
    return fieldTrouble("invalid-input", "events", "must be an array of event types that is not empty");
  const at = events.findIndex((event) => !selectors.includes(event));
  return at === -1 ? null : fieldTrouble("invalid-input", `events.${at}`, `must be one of ${selectors.join(", ")}`);
}

function stageData(stage: TurnStage): object {
  switch (stage.kind) {
    case "invoked":
      return {};
    case "completed": {
      const { text, usage, elapsedMs } = stage;
      const tokens = usage.prompt + usage.completion;
      return { result: { output: text }, execution_time: elapsedMs / 1000, tokens_used: tokens };
    }
    case "failed":
      return { error: { code: "EXECUTION_ERROR", message: stage.message, details: stage.details } };
    case "timeout":
      return { timeout: stage.timeoutMs / 1000 };
  }
}

function deliveryItem({ id, eventId, type, state, attempts, nextAttemptMs, createdMs }: DeliveryRecord): object {
  return {
    delivery_id: id,
    event_id: eventId,
    type,
    status: state,
    created_at: isoTime(createdMs),
    attempts: attempts.map(({ atMs, status, failure }) => ({
      attempted_at: isoTime(atMs),
      status_code: status,
      error: failure,
    })),
    next_attempt_at: nextAttemptMs === null ? null : isoTime(nextAttemptMs),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
