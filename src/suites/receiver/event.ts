import { randomUUID } from "node:crypto";

import { executionEvents, type WebhookEvent } from "../../spec/events.ts";
import type { DeliverySender } from "../../run/send/delivery-sender.ts";

/** A webhook delivery event with the fields of the document. */
export interface DeliveryEvent {
  readonly id: string;
  readonly type: string;
  readonly created: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly agent_id: string;
  readonly deployment_id?: string;
}

/** Text of most events, in ASCII. */
export const asciiText = "How is the weather in Berlin?";
/** Text that finds a receiver which decodes the body before it checks the signature. */
export const textOutsideAscii = "Grüße aus 東京: 🙂 \u2028 ½";

/** Options of an event. Default: plain text, created now. */
interface EventOptions {
  readonly text?: string;
  readonly created?: Date;
}

/** Creates an event with a new id. */
export function createEvent(
  type: string,
  { agent }: Pick<DeliverySender, "agent">,
  { text = asciiText, created = new Date() }: EventOptions = {},
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

/** Returns the `data` of an execution event. Types that the document does not show get the fields that others share. */
function executionData(type: string, text: string): Readonly<Record<string, unknown>> {
  const common = { request_id: `req_${randomUUID()}`, input: { query: text } };
  if (type === "agent.completed") return { ...common, result: { answer: text }, execution_time: 1.5, tokens_used: 17 };
  if (type !== "agent.failed") return common;
  return { ...common, error: { code: "EXECUTION_ERROR", message: text, details: "the model did not answer" } };
}

/** Returns `agent.completed` if the webhook selects it, else another type that the webhook selects. */
export const usualType = ({ events }: Pick<DeliverySender, "events">): WebhookEvent =>
  events.find((event) => event === "agent.completed") ?? events[0];
