import { type WebhookEvent, webhookEvents } from "../../spec/events-and-errors.ts";
import { fieldsOf, isoTime, textOrNull } from "../json-edit.ts";
import { type ApiError, fieldError } from "./errors.ts";
import type { Endpoint } from "../endpoint.ts";
import type { DeliveryRecord, DeliveryTotals, NewWebhook, Webhook } from "../webhooks/store.ts";
import type { TokenUsage } from "./execution.ts";
import type { ReferenceKey } from "../keys.ts";

export type ExecutionStage =
  | { readonly kind: "invoked" }
  | {
      readonly kind: "completed";
      readonly text: string;
      readonly usage: TokenUsage;
      readonly elapsedMs: number;
    }
  | { readonly kind: "failed"; readonly message: string; readonly details: string }
  | { readonly kind: "timeout"; readonly timeoutMs: number };

export interface ExecutionEventInput {
  readonly requestId: string;
  readonly input: unknown;
  readonly endpoint: Endpoint;
  readonly stage: ExecutionStage;
}

export type WebhookRequest = Pick<NewWebhook, "url" | "events" | "agentId" | "secret">;

export const eventSelectors: readonly string[] = [...webhookEvents, "agent.*", "deployment.*"];

export const eventTypeByStage = {
  invoked: "agent.invoked",
  completed: "agent.completed",
  failed: "agent.failed",
  timeout: "agent.timeout",
} as const satisfies Record<ExecutionStage["kind"], WebhookEvent>;

/**
 * The reference server's standard behaviour for webhooks. Source: Endpoints 6 and 7; Resources, "Webhook metrics";
 * Events.
 */
export const standardWebhooks = {
  validateWebhook: (body: unknown, addressRefusal: (url: string) => string | null): ApiError | null => {
    const { url, events, agent_id: agentId, secret } = fieldsOf(body);
    if (url === undefined) return fieldError("missing-field", "url", "missing");
    if (typeof url !== "string") return fieldError("invalid-input", "url", "must be a string");
    const refused = addressRefusal(url);
    if (refused !== null) return fieldError("invalid-input", "url", refused);
    if (agentId !== undefined && typeof agentId !== "string")
      return fieldError("invalid-input", "agent_id", "must be a string");
    if (secret !== undefined && (typeof secret !== "string" || secret === ""))
      return fieldError("invalid-input", "secret", "must be a string that is not empty");
    return validateEvents(events);
  },
  readWebhookRequest: (body: unknown): WebhookRequest => {
    const { url, events, agent_id: agentId, secret } = fieldsOf(body);
    return {
      url: textOrNull(url) ?? "",
      events: [events ?? []].flat().map(String),
      agentId: textOrNull(agentId),
      secret: textOrNull(secret),
    };
  },
  showsWebhook: ({ owner }: Webhook, { name }: ReferenceKey): boolean => owner === name,
  webhookBody: ({ id, url, events, agentId, createdMs }: Webhook): unknown => ({
    webhook_id: id,
    url,
    events,
    agent_id: agentId,
    status: "active",
    created_at: isoTime(createdMs),
  }),
  deliveriesBody: (webhook: Webhook, deliveries: readonly DeliveryRecord[]): unknown => ({
    webhook_id: webhook.id,
    data: deliveries.toReversed().map(deliveryItem),
  }),
  metricsBody: (
    { id, createdMs }: Webhook,
    { delivered, failed, answers, answersMs, lastAttemptMs }: DeliveryTotals,
  ): unknown => ({
    webhook_id: id,
    total_deliveries: delivered + failed,
    successful: delivered,
    failed,
    average_response_time: answers === 0 ? 0 : answersMs / answers,
    last_delivery: isoTime(lastAttemptMs ?? createdMs),
  }),
  executionEventData: ({ requestId, input, stage }: ExecutionEventInput): unknown => ({
    request_id: requestId,
    input,
    ...stageData(stage),
  }),
  endStages: (end: ExecutionStage, _agentId: string): readonly ExecutionStage[] => [end],
  disconnectEvent: (): "agent.failed" | null => null,
};

function validateEvents(events: unknown): ApiError | null {
  if (events === undefined) return fieldError("missing-field", "events", "missing");
  if (!Array.isArray(events) || events.length === 0)
    return fieldError("invalid-input", "events", "must be an array of event types that is not empty");
  const at = events.findIndex((event) => !eventSelectors.includes(event));
  return at === -1 ? null : fieldError("invalid-input", `events.${at}`, `must be one of ${eventSelectors.join(", ")}`);
}

function stageData(stage: ExecutionStage): object {
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
