import {
  compactJson,
  escapedJson,
  reversedJson,
  spacedJson,
  createEvent,
  type EventOptions,
  textOutsideAscii,
  usualType,
  deliverySignature,
  nearlyRightSignature,
  signatureHeader,
  wrongSignature,
} from "./event.ts";
import { minuteMs } from "../../base/duration.ts";
import type { DeliverySender, SentDelivery } from "../../run/party-session.ts";
import type { Pace } from "../../wire/transport.ts";
import { deliveryProbe } from "../../run/probe.ts";

const sendSigned = (
  sender: DeliverySender,
  what: string,
  body: string,
  { secret = sender.secrets[0], pace }: { readonly secret?: string; readonly pace?: Pace } = {},
): Promise<SentDelivery> =>
  sender.deliver({
    what,
    body,
    headers: [signatureHeader(deliverySignature(body, secret))],
    ...(pace && { pace }),
  });

const usualBody = (sender: DeliverySender, options?: EventOptions): string =>
  compactJson(createEvent(usualType(sender), sender, options));

const nameWithWebhook = (what: string, at: number, { secrets }: DeliverySender): string =>
  secrets.length === 1 ? what : `${what}, webhook ${at + 1}`;

async function sendInSequence<T>(items: readonly T[], send: (item: T, at: number) => Promise<SentDelivery>) {
  const sent: SentDelivery[] = [];
  for (const [at, item] of items.entries()) sent.push(await send(item, at));
  return sent;
}

/** The positive control: plain deliveries with a correct signature, which the receiver must accept. */
export const controlDelivered = deliveryProbe("a rightly signed delivery is sent for each secret", (sender) =>
  sendInSequence(sender.secrets, (secret, at) =>
    sendSigned(sender, nameWithWebhook("the right signature", at, sender), usualBody(sender), { secret }),
  ),
);

export const formsDelivered = deliveryProbe("rightly signed deliveries are sent in several JSON texts", (sender) => {
  const event = (text?: string) => createEvent(usualType(sender), sender, text === undefined ? {} : { text });
  const forms: readonly [what: string, body: string][] = [
    ["text outside ASCII", compactJson(event(textOutsideAscii))],
    ["text outside ASCII, escaped", escapedJson(event(textOutsideAscii))],
    ["white space", spacedJson(event())],
    ["another order of keys", reversedJson(event())],
  ];
  return sendInSequence(forms, ([what, body]) => sendSigned(sender, what, body));
});

export const deliveredWithoutDeploymentId = deliveryProbe("a delivery without `deployment_id` is sent", (sender) => {
  const { deployment_id: _, ...event } = createEvent(usualType(sender), sender);
  return sendSigned(sender, "no `deployment_id`", compactJson(event));
});

export const unknownFieldsDelivered = deliveryProbe("a delivery with unknown fields is sent", (sender) => {
  const event = createEvent(usualType(sender), sender);
  const data = { ...event.data, conformance_unknown: [1, null, { deep: true }] };
  return sendSigned(sender, "unknown fields", compactJson({ ...event, data, conformance_unknown: "text" }));
});

export const typesDelivered = deliveryProbe("a delivery of each event type is sent", (sender) =>
  sendInSequence(sender.events, (type) => sendSigned(sender, type, compactJson(createEvent(type, sender)))),
);

export const wronglySignedDelivered = deliveryProbe("wrongly signed deliveries are sent", async (sender) => {
  const sent: SentDelivery[] = [];
  for (const [at, secret] of sender.secrets.entries()) {
    const body = usualBody(sender);
    const right = deliverySignature(body, secret);
    const cases: readonly [what: string, body: string, signature: string][] = [
      ["a wrong signature", body, wrongSignature(right)],
      ["a signature whose last digit is wrong", body, nearlyRightSignature(right)],
      ["a truncated signature", body, right.slice(0, 32)],
      ["a signature made with another secret", body, deliverySignature(body, `${secret}-not`)],
      ["a body that differs by one byte", body.replace("evt_", "evt-"), right],
    ];
    const send = ([what, text, signature]: (typeof cases)[number]): Promise<SentDelivery> =>
      sender.deliver({ what: nameWithWebhook(what, at, sender), body: text, headers: [signatureHeader(signature)] });
    sent.push(...(await sendInSequence(cases, send)));
  }
  return sent;
});

export const unsignedDelivered = deliveryProbe("a delivery without a signature is sent", (sender) =>
  sender.deliver({ what: "no signature", body: usualBody(sender), headers: [] }),
);

export const duplicatesDelivered = deliveryProbe("events are sent twice, again later, and out of order", (sender) => {
  const now = Date.now();
  const created = (ms: number): Date => new Date(now - ms);
  const body = (ms: number): string => usualBody(sender, { created: created(ms) });
  const [first, newer, older] = [body(2 * minuteMs), body(0), body(minuteMs)];
  const deliveries: readonly [what: string, body: string][] = [
    ["an event for the first time", first],
    ["the same event at once again", first],
    ["a newer event", newer],
    ["an older event after it", older],
    ["the first event again, later", first],
  ];
  return sendInSequence(deliveries, ([what, text]) => sendSigned(sender, what, text));
});

export const upperCaseDelivered = deliveryProbe("a signature in upper-case hexadecimal is sent", (sender) => {
  const body = usualBody(sender);
  const signature = deliverySignature(body, sender.secrets[0]).toUpperCase();
  return sender.deliver({ what: "an upper-case signature", body, headers: [signatureHeader(signature)] });
});

export const unknownTypeDelivered = deliveryProbe("a delivery of an unknown event type is sent", (sender) =>
  sendSigned(
    sender,
    "the type `agent.conformance_unknown`",
    compactJson(createEvent("agent.conformance_unknown", sender)),
  ),
);

const mebibyte = 1024 * 1024;

export const largeDelivered = deliveryProbe("a delivery of 1 MiB is sent", (sender) =>
  // Pads the body with white space, which JSON allows. An extra field could make the receiver refuse the body.
  sendSigned(sender, "a body of 1 MiB", usualBody(sender).padEnd(mebibyte)),
);

export const deliveredInPieces = deliveryProbe("deliveries are sent slowly, and in pieces", (sender) => {
  const paces: readonly [what: string, pace: Pace][] = [
    ["a body in 40 pieces", { pieces: 40, pauseMs: 0 }],
    ["a body in 8 pieces within 2 s", { pieces: 8, pauseMs: 250 }],
  ];
  return sendInSequence(paces, ([what, pace]) => sendSigned(sender, what, usualBody(sender), { pace }));
});

const atOnce = 20;

export const manyDelivered = deliveryProbe(`${atOnce} deliveries are sent at once`, (sender) =>
  Promise.all(
    Array.from({ length: atOnce }, (_, at) => sendSigned(sender, `${at + 1} of ${atOnce} at once`, usualBody(sender))),
  ),
);
