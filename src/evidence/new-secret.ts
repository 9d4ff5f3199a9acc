import { randomUUID } from "node:crypto";

import { generatedPrefix } from "./secret.ts";

/**
 * Generates a webhook secret. It never has eight digits in a row, so that no number in the evidence looks like a part
 * of it.
 */
export const generateSecret = (): string =>
  generatedPrefix +
  randomUUID()
    .replaceAll("-", "")
    .replaceAll(/.{4}(?=.)/g, "$&-");
