import { readFileSync } from "node:fs";

import { z } from "zod";

import { errorCodeOrText } from "../base/errors.ts";
import { parseAs, parseJson } from "../base/parsing.ts";
import type { Baseline } from "../report/model/failure-policy.ts";
import { UsageError } from "../base/usage-error.ts";

const baselineSchema = z.strictObject({
  $schema: z.string().optional(),
  known: z.array(
    z.strictObject({
      check: z.string().min(1),
      instance: z.string().min(1).optional(),
      reason: z.string().min(1),
    }),
  ),
});

/**
 * Reads a baseline file: `{"known": [{"check": "SSE-5", "reason": "fixed in 2.3"}]}`.
 *
 * @throws {UsageError}
 */
export function readBaseline(path: string): Baseline {
  const json = parseJson(textOf(path));
  if (json.kind === "problem") throw new UsageError(`${path} is not JSON: ${json.problem}`);
  const parsed = parseAs(json.value, baselineSchema);
  if (parsed.kind === "value") return parsed.value.known;
  throw new UsageError(`${path}: ${parsed.problem}. A baseline is {"known": [{"check": "SSE-5", "reason": "…"}]}.`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`The baseline cannot be read: ${path} (${errorCodeOrText(error)}).`);
  }
}
