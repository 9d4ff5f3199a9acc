import { createHmac } from "node:crypto";

/** The signature of a body that comes in pieces. */
export interface Signing {
  readonly add: (piece: Uint8Array) => void;
  /** Lower-case hexadecimal. To be asked once. */
  readonly signature: () => string;
}

/** HMAC-SHA256 of a body's raw bytes, keyed with a webhook's secret. Source: Delivery security and policy 1. */
export function startSigning(secret: string): Signing {
  const hmac = createHmac("sha256", Buffer.from(secret, "utf8"));
  return { add: (piece) => void hmac.update(piece), signature: () => hmac.digest("hex") };
}

/** What `X-Service-Signature` has to be for these raw bytes. */
export function signatureOf(secret: string, bytes: Uint8Array): string {
  const signing = startSigning(secret);
  signing.add(bytes);
  return signing.signature();
}
