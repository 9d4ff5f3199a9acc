import { createHmac } from "node:crypto";

import type { Header } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";

/**
 * Computes the value of `X-Service-Signature`: the lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the
 * UTF-8 bytes of the webhook's secret. Source: Delivery security and policy 1.
 */
export const deliverySignature = (body: string, secret: string): string =>
  createHmac("sha256", Buffer.from(secret, "utf8")).update(body, "utf8").digest("hex");

/** The header that carries a signature. */
export const signatureHeader = (signature: string): Header => [headerNames.deliverySignature, signature];

/** Another digit for each digit of a signature, so that no part of the signature is right. */
export const wrongSignature = (signature: string): string =>
  signature.replaceAll(/./g, (digit) => ((Number.parseInt(digit, 16) + 8) % 16).toString(16));

/** A signature whose last digit alone is wrong. */
export const nearlyRightSignature = (signature: string): string =>
  signature.slice(0, -1) + wrongSignature(signature.slice(-1));
