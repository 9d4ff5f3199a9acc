import type { ClauseId } from "../../spec/clauses.ts";
import { executionEvents } from "../../spec/events-and-errors.ts";
import { createHmac } from "node:crypto";

export interface ReceiverPatch {
  readonly name: string;
  readonly summary: string;
  readonly breaks: readonly ClauseId[];
  readonly behaviour: Partial<ReceiverBehaviour>;
}

const fault = (
  name: string,
  clause: ClauseId,
  summary: string,
  behaviour: Partial<ReceiverBehaviour>,
): ReceiverPatch => ({ name, summary, breaks: [clause], behaviour });

const knownNames = ["id", "type", "created", "data", "agent_id", "deployment_id"];

const isOlder = (event: ReceivedEvent, earlier: readonly ReceivedEvent[]): boolean =>
  earlier.some(({ created }) => Date.parse(created) > Date.parse(event.created));

export const receiverFaults: readonly ReceiverPatch[] = [
  fault("refuses-everything", "RCV-1", "Every delivery answers 401.", { acceptsSignature: () => false }),
  fault("key-as-hexadecimal", "RCV-1", "The secret is decoded as hexadecimal.", {
    keyOf: (secret) => Buffer.from(secret, "hex"),
  }),
  fault("redirects", "RCV-1", "A verified delivery is redirected.", { statusOf: () => 302 }),
  fault("signs-printed-json", "RCV-2", "The signature is checked over JSON that was parsed and printed again.", {
    signedContent: (raw) => JSON.stringify(JSON.parse(raw.toString("utf8"))),
  }),
  fault("signs-latin1", "RCV-2", "The signature is checked over the body decoded as Latin-1.", {
    signedContent: (raw) => raw.toString("latin1"),
  }),
  fault("signs-trimmed-body", "RCV-2", "White space around the body is removed before the signature is checked.", {
    signedContent: (raw) => raw.toString("utf8").trim(),
  }),
  fault("requires-deployment", "RCV-3", "An event without `deployment_id` answers 400.", {
    statusOf: ({ names }) => (names.includes("deployment_id") ? 204 : 400),
  }),
  fault("strict-fields", "RCV-4", "An event with an unknown field answers 422.", {
    statusOf: ({ names }) => (names.every((name) => knownNames.includes(name)) ? 204 : 422),
  }),
  fault("no-deployment-events", "RCV-5", "A deployment event answers 400.", {
    statusOf: ({ type }) => (type.startsWith("deployment.") ? 400 : 204),
  }),
  fault("one-event-missing", "RCV-5", "The handler of `agent.timeout` fails.", {
    statusOf: ({ type }) => (type === executionEvents[3] ? 500 : 204),
  }),
  fault("compares-beginning", "RCV-6", "A signature is compared up to its own length.", {
    acceptsSignature: (expected, given) => given !== "" && expected.startsWith(given),
  }),
  fault("compares-half", "RCV-6", "Only the first half of the signature is compared.", {
    acceptsSignature: (expected, given) => given.length === 64 && expected.slice(0, 32) === given.slice(0, 32),
  }),
  fault("checks-form-only", "RCV-6", "Any 64 hexadecimal digits are accepted as a signature.", {
    acceptsSignature: (_, given) => /^[0-9a-f]{64}$/i.test(given),
  }),
  fault("mismatch-403", "RCV-6", "A wrong signature answers 403.", { mismatchStatus: 403 }),
  fault("mismatch-200", "RCV-6", "A wrong signature answers 200, and the event is dropped.", { mismatchStatus: 200 }),
  fault("mismatch-500", "RCV-6", "A wrong signature makes the handler fail.", { mismatchStatus: 500 }),
  fault("accepts-unsigned", "RCV-7", "A delivery without a signature is accepted.", { unsignedStatus: null }),
  fault("unsigned-500", "RCV-7", "A delivery without a signature makes the handler fail.", { unsignedStatus: 500 }),
  fault("unsigned-400", "RCV-8", "A delivery without a signature answers 400.", { unsignedStatus: 400 }),
  fault("slow-handler", "RCV-9", "The handler of `deployment.deleted` takes 3.2 s.", {
    delayMs: ({ type }) => (type === "deployment.deleted" ? 3200 : 0),
  }),
  fault("refuses-duplicates", "RCV-10", "An event that was seen before answers 409.", {
    statusOf: ({ id }, earlier) => (earlier.some((each) => each.id === id) ? 409 : 204),
  }),
  fault("refuses-older-events", "RCV-10", "An event older than another answers 400.", {
    statusOf: (event, earlier) => (isOlder(event, earlier) ? 400 : 204),
  }),
];

const variant = (name: string, summary: string, behaviour: Partial<ReceiverBehaviour>): ReceiverPatch => ({
  name,
  summary,
  breaks: [],
  behaviour,
});

export const receiverVariants: readonly ReceiverPatch[] = [
  variant("answers-200", "A delivery answers 200.", { statusOf: () => 200 }),
  variant("answers-202", "A delivery answers 202.", { statusOf: () => 202 }),
  variant("answers-299", "A delivery answers 299.", { statusOf: () => 299 }),
  variant("any-case", "A signature may be upper-case.", {
    acceptsSignature: (expected, given) => expected === given.toLowerCase(),
  }),
  variant("unknown-types-refused", "An unknown event type answers 400.", {
    statusOf: ({ type }) => (type.includes("unknown") ? 400 : 204),
  }),
  variant("small-bodies", "A body of more than 64 KiB answers 413.", { maxBytes: 65_536 }),
  variant("takes-a-moment", "A delivery takes 50 ms.", { delayMs: () => 50 }),
  variant("duplicates-answer-200", "An event that was seen before answers 200.", {
    statusOf: ({ id }, earlier) => (earlier.some((each) => each.id === id) ? 200 : 204),
  }),
];

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly created: string;
  readonly names: readonly string[];
}

/** The decisions of a webhook receiver. A fault or a variant replaces some of these decisions. */
export interface ReceiverBehaviour {
  readonly keyOf: (secret: string) => Buffer;
  /** Returns the content that the signature covers. `raw` is the body as it arrived. */
  readonly signedContent: (raw: Buffer) => Buffer | string;
  readonly acceptsSignature: (expected: string, given: string) => boolean;
  readonly mismatchStatus: number;
  /** Status of the response to a delivery without a signature. `null`: the receiver accepts the delivery. */
  readonly unsignedStatus: number | null;
  readonly statusOf: (event: ReceivedEvent, earlier: readonly ReceivedEvent[]) => number;
  readonly delayMs: (event: ReceivedEvent) => number;
  readonly maxBytes: number;
}

export const standardReceiver: ReceiverBehaviour = {
  keyOf: (secret) => Buffer.from(secret, "utf8"),
  signedContent: (raw) => raw,
  acceptsSignature: (expected, given) => expected === given,
  mismatchStatus: 401,
  unsignedStatus: 401,
  statusOf: () => 204,
  delayMs: () => 0,
  maxBytes: Infinity,
};

/** Whether the receiver accepts `given` as the signature of the body `raw` with one of its secrets. */
export const isVerified = (
  behaviour: ReceiverBehaviour,
  secrets: readonly string[],
  raw: Buffer,
  given: string,
): boolean =>
  secrets.some((secret) => {
    const hmac = createHmac("sha256", behaviour.keyOf(secret)).update(behaviour.signedContent(raw));
    return behaviour.acceptsSignature(hmac.digest("hex"), given);
  });
