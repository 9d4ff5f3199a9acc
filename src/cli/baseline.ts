import { readFileSync } from "node:fs";

import { z } from "zod";

import type { Baseline } from "../report/baseline.ts";
import { UsageProblem } from "../target/problem.ts";

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
 * @throws {UsageProblem}
 */
export function readBaseline(path: string): Baseline {
  let raw: unknown;
  try {
    raw = JSON.parse(readFileSync(path, "utf8")) as unknown;
  } catch (error) {
    throw new UsageProblem(
      `The baseline cannot be read: ${path} (${error instanceof Error ? error.message.replaceAll("\n", " ") : String(error)}).`,
    );
  }
  const parsed = baselineSchema.safeParse(raw);
  if (parsed.success) return parsed.data.known;
  const [issue] = parsed.error.issues;
  throw new UsageProblem(
    `${path}: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}. A baseline is {"known": [{"check": "SSE-5", "reason": "…"}]}.`,
  );
}
