import { requestSignature } from "../authentication/signing.ts";
import {
  compactJson,
  escapedJson,
  reversedJson,
  spacedJson,
  type DeliveryEvent,
  asciiText,
  textOutsideAscii,
  deliverySignature,
} from "./event.ts";

/**
 * Webhook secrets, some of which look like hexadecimal or base64. The HMAC key is always the secret's text in UTF-8.
 */
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

/** Returns signatures of fixed texts, to test a receiver or client without a network. */
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
