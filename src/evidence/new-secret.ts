import { randomUUID } from "node:crypto";

import { generatedPrefix } from "./secret.ts";

/**
 * A secret of the harness's own, for a webhook. Never eight digits in a row stand in it, so that no number can be taken for a part of it: evidence
 * has them by the hundred thousand.
 */
export const generateSecret = (): string =>
  generatedPrefix +
  randomUUID()
    .replaceAll("-", "")
    .replaceAll(/.{4}(?=.)/g, "$&-");
