import { createHmac } from "node:crypto";

import type { Header } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";

/** Returns the value of `X-Service-Signature` for a raw body. Source: Delivery security and policy 1. */
export const deliverySignature = (body: string, secret: string): string =>
  createHmac("sha256", Buffer.from(secret, "utf8")).update(body, "utf8").digest("hex");

/** Returns a header line that carries a signature. */
export const signatureHeader = (signature: string): Header => [headerNames.deliverySignature, signature];

/** Returns a signature in which every digit is wrong. */
export const wrongSignature = (signature: string): string =>
  signature.replaceAll(/./g, (digit) => ((Number.parseInt(digit, 16) + 8) % 16).toString(16));

/** Returns a signature in which only the last digit is wrong. */
export const nearlyRightSignature = (signature: string): string =>
  signature.slice(0, -1) + wrongSignature(signature.slice(-1));
