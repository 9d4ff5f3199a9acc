import { randomUUID } from "node:crypto";

import { executionEvents, type WebhookEvent } from "../../spec/events.ts";
import type { DeliverySender } from "../../run/send/delivery-sender.ts";

/** A webhook delivery event, as the document lists its fields. */
export interface DeliveryEvent {
  readonly id: string;
  readonly type: string;
  readonly created: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly agent_id: string;
  readonly deployment_id?: string;
}

/** Text of the events: plain, or outside ASCII to find a receiver that checks the signature over decoded text. */
export const plainText = "How is the weather in Berlin?";
export const textOutsideAscii = "Grüße aus 東京: 🙂 \u2028 ½";

/** Options of an event. Default: plain text, created now. */
interface EventOptions {
  readonly text?: string;
  readonly created?: Date;
}

/** Creates an event of a type. Each event has an id of its own. */
export function createEvent(
  type: string,
  { agent }: Pick<DeliverySender, "agent">,
  { text = plainText, created = new Date() }: EventOptions = {},
): DeliveryEvent {
  return {
    id: `evt_${randomUUID()}`,
    type,
    created: created.toISOString(),
    data: isExecutionEvent(type) ? executionData(type, text) : {},
    agent_id: agent,
    deployment_id: `dep_${randomUUID()}`,
  };
}

const isExecutionEvent = (type: string): boolean => executionEvents.some((event) => event === type);

/** The data of an execution event. The document shows the fields for two types; other types get the common fields. */
function executionData(type: string, text: string): Readonly<Record<string, unknown>> {
  const common = { request_id: `req_${randomUUID()}`, input: { query: text } };
  if (type === "agent.completed") return { ...common, result: { answer: text }, execution_time: 1.5, tokens_used: 17 };
  if (type !== "agent.failed") return common;
  return { ...common, error: { code: "EXECUTION_ERROR", message: text, details: "the model did not answer" } };
}

/** The type of the events in most cases: `agent.completed` if the webhook subscribed to it. */
export const usualType = ({ events }: Pick<DeliverySender, "events">): WebhookEvent =>
  events.find((event) => event === "agent.completed") ?? events[0];
