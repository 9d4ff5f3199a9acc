import { randomUUID, createHmac } from "node:crypto";

import { executionEvents, type WebhookEvent } from "../../spec/events.ts";
import type { DeliverySender } from "../../run/party-session.ts";
import type { Header } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";

export interface DeliveryEvent {
  readonly id: string;
  readonly type: string;
  readonly created: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly agent_id: string;
  readonly deployment_id?: string;
}

export const asciiText = "How is the weather in Berlin?";
/** Text outside ASCII, to find receivers that decode the body before they check its signature. */
export const textOutsideAscii = "Grüße aus 東京: 🙂 \u2028 ½";

interface EventOptions {
  readonly text?: string;
  readonly created?: Date;
}

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

function executionData(type: string, text: string): Readonly<Record<string, unknown>> {
  const common = { request_id: `req_${randomUUID()}`, input: { query: text } };
  if (type === "agent.completed") return { ...common, result: { answer: text }, execution_time: 1.5, tokens_used: 17 };
  if (type !== "agent.failed") return common;
  return { ...common, error: { code: "EXECUTION_ERROR", message: text, details: "the model did not answer" } };
}

/** Returns `agent.completed` if the webhook selects it, else the first event type that the webhook selects. */
export const usualType = ({ events }: Pick<DeliverySender, "events">): WebhookEvent =>
  events.find((event) => event === "agent.completed") ?? events[0];

export const compactJson = (event: object): string => JSON.stringify(event);

export const escapedJson = (event: object): string =>
  JSON.stringify(event)
    .replaceAll("/", String.raw`\/`)
    .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Writes JSON with unusual white space. A receiver that parses and writes the JSON again would change the text. */
export const spacedJson = (event: object): string =>
  ` ${JSON.stringify(event, null, "\t").replaceAll('": ', '"  : ').replaceAll("\n", "\r\n")}\n`;

/**
 * Writes JSON with its fields in reverse order and the number `1.50`. A receiver that parses and writes the JSON again
 * would change the text.
 */
export const reversedJson = (event: DeliveryEvent): string =>
  JSON.stringify(reversed(event)).replace('"execution_time":1.5', '"execution_time":1.50');

function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, each]): [string, unknown] => [name, reversed(each)]),
  );
}

/** Returns the value of the header `X-Service-Signature` for a body. */
export const deliverySignature = (body: string, secret: string): string =>
  createHmac("sha256", Buffer.from(secret, "utf8")).update(body, "utf8").digest("hex");

export const signatureHeader = (signature: string): Header => [headerNames.deliverySignature, signature];

export const wrongSignature = (signature: string): string =>
  signature.replaceAll(/./g, (digit) => ((Number.parseInt(digit, 16) + 8) % 16).toString(16));

/** Returns a signature whose last digit is wrong, to find receivers that compare only the beginning. */
export const nearlyRightSignature = (signature: string): string =>
  signature.slice(0, -1) + wrongSignature(signature.slice(-1));
