import { createHmac } from "node:crypto";

/** An event that a receiver got. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly created: string;
  readonly names: readonly string[];
}

/** The decisions of a webhook receiver. A fault or a variant replaces some of them. */
export interface ReceiverBehaviour {
  /** Returns the HMAC key for a secret. */
  readonly keyOf: (secret: string) => Buffer;
  /** Returns the bytes or text that the receiver computes the signature of. `raw` is the body as it arrived. */
  readonly signedContent: (raw: Buffer) => Buffer | string;
  /** Whether the receiver accepts the given signature, when its own is `expected`. */
  readonly acceptsSignature: (expected: string, given: string) => boolean;
  readonly mismatchStatus: number;
  /** Status for a delivery without a signature; `null` accepts it. */
  readonly unsignedStatus: number | null;
  /** Returns the status for a verified event. `earlier` are the events before it. */
  readonly statusOf: (event: ReceivedEvent, earlier: readonly ReceivedEvent[]) => number;
  /** Delay of the response in milliseconds. */
  readonly delayMs: (event: ReceivedEvent) => number;
  /** Maximum size of a body in bytes. */
  readonly maxBytes: number;
}

/** The decisions of a receiver as the document describes it. */
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

/** Whether a receiver accepts the signature of a body made with one of its secrets. */
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
