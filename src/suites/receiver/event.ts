import { createHmac, randomUUID } from "node:crypto";
import { executionEvents, type WebhookEvent } from "../../spec/events-and-errors.ts";
import type { DeliverySender } from "../../run/party-session.ts";
import type { Header } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import { requestSignature } from "../authentication/signing.ts";

interface DeliveryEvent {
  readonly id: string;
  readonly type: string;
  readonly created: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly agent_id: string;
  readonly deployment_id?: string;
}

const asciiText = "How is the weather in Berlin?";
/** Text outside ASCII, to find receivers that decode the body before they check its signature. */
export const textOutsideAscii = "Grüße aus 東京: 🙂 \u2028 ½";

export interface EventOptions {
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

/** Writes JSON with unusual white space, to find receivers that check the signature of re-serialized JSON. */
export const spacedJson = (event: object): string =>
  ` ${JSON.stringify(event, null, "\t").replaceAll('": ', '"  : ').replaceAll("\n", "\r\n")}\n`;

/**
 * Writes JSON with its fields in reverse order, and `execution_time` as `1.50`, to find receivers that check the
 * signature of re-serialized JSON.
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

/** Returns the signature with a wrong last digit, to find receivers that compare only the beginning. */
export const nearlyRightSignature = (signature: string): string =>
  signature.slice(0, -1) + wrongSignature(signature.slice(-1));

/** Webhook secrets. Some look like hexadecimal or base64, but the HMAC key is always the secret's text in UTF-8. */
const secrets: Readonly<Record<string, string>> = {
  text: "correct horse battery staple",
  "looks like hexadecimal": "3b6fd5a0c1e29487aa10bb42cc93dd74",
  "looks like base64": "c2VjcmV0LW9mLWEtd2ViaG9vaw==",
  prefixed: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "outside ASCII": "Schlüssel-ключ-🔑",
  "longer than a block": "0123456789abcdef".repeat(6),
};

const event = (text: string): DeliveryEvent => ({
  id: "evt_1",
  type: "agent.completed",
  created: "2030-01-02T03:04:05.678Z",
  data: {
    request_id: "req_1",
    input: { query: text },
    result: { answer: text },
    execution_time: 1.5,
    tokens_used: 17,
  },
  agent_id: "weather",
  deployment_id: "dep_1",
});

const deliveryBodies: Readonly<Record<string, string>> = {
  plain: compactJson(event(asciiText)),
  "text outside ASCII": compactJson(event(textOutsideAscii)),
  "text outside ASCII, escaped": escapedJson(event(textOutsideAscii)),
  "white space": spacedJson(event(asciiText)),
  "another order of keys": reversedJson(event(asciiText)),
};

const requests = {
  "no body": { method: "GET", path: "/v1/usage", body: "" },
  "a query string": { method: "GET", path: "/v1/agents?page=1&limit=2", body: "" },
  "a body": { method: "POST", path: "/v1/agents/weather/invoke", body: JSON.stringify({ query: textOutsideAscii }) },
} as const;

const timestamp = "1893553445";

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

const pairsOf = <A, B>(
  ones: Readonly<Record<string, A>>,
  others: Readonly<Record<string, B>>,
): readonly { readonly name: string; readonly one: A; readonly other: B }[] =>
  Object.entries(ones).flatMap(([first, one]) =>
    Object.entries(others).map(([second, other]) => ({ name: `secret ${first}; ${second}`, one, other })),
  );

/** Returns signatures of fixed deliveries and requests, to test a receiver or client without a network. */
export const signatureVectors = () => ({
  format: "agent-hosting-conformance/signature-vectors/1",
  about:
    "HMAC-SHA256 in lower-case hexadecimal. The key is the secret's UTF-8 bytes, whatever the secret looks like. `signed` is what is signed, byte by byte, in base64.",
  deliveries: pairsOf(secrets, deliveryBodies).map(({ name, one: secret, other: body }) => ({
    name,
    secret,
    signed: base64(body),
    signature: deliverySignature(body, secret),
  })),
  requests: pairsOf(secrets, requests).map(({ name, one: secret, other: { method, path, body } }) => ({
    name,
    secret,
    method,
    path,
    timestamp,
    body: base64(body),
    signed: base64(`${method}\n${path}\n${timestamp}\n${body}`),
    signature: requestSignature({ method, path, timestamp, body }, secret),
  })),
});
