import { createHmac } from "node:crypto";

/** The signed parts of a request. */
export interface SignableRequest {
  readonly method: string;
  /** The path from the origin, percent-encoded as sent, with or without the query. */
  readonly path: string;
  /** Unix seconds, as a decimal string. */
  readonly timestamp: string;
  /** The body as sent, in UTF-8. Empty without a body. */
  readonly body: string;
}

/**
 * The value of `X-Signature`: the lower-case hexadecimal HMAC-SHA256, keyed with the secret, of method, path, timestamp and
 * body, separated by line feeds. Source: Authentication 4.
 */
export const requestSignature = ({ method, path, timestamp, body }: SignableRequest, secret: string): string =>
  createHmac("sha256", secret).update(`${method}\n${path}\n${timestamp}\n${body}`, "utf8").digest("hex");
