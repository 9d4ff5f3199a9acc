import { z } from "zod";

import { levels } from "../interface/clauses.ts";
import { outcomes, verdicts } from "../report/report.ts";
import { type Night, nightFormat } from "./night.ts";

const count = z.int().nonnegative();
const ms = z.number().nonnegative();
const why = z.string().nullable();

const findingSchema = z.object({
  check: z.string(),
  clause: z.string(),
  suite: z.string(),
  level: z.enum([...levels, "load"]),
  outcome: z.enum(outcomes),
  instance: z.string().exactOptional(),
  reading: z.string().exactOptional(),
  expected: z.string().exactOptional(),
  says: z.string().exactOptional(),
});

const latencySchema = z.object({ count, p50: ms, p90: ms, p99: ms }).nullable();
const loadName = { scenario: z.string(), tier: z.string().nullable(), engine: z.string() };

const loadSchema = z.object({
  ...loadName,
  requests: z.object({
    planned: count,
    sent: count,
    admitted: count,
    refused: count,
    failed: count,
    unanswered: count,
  }),
  perSecond: z.object({ sent: z.number(), admitted: z.number() }),
  latencyMs: z.object({ admitted: latencySchema, refused: latencySchema }),
  validity: z.object({ counts: why, times: why }),
});

const reportedSchema = z.object({
  regressions: z.array(z.object({ says: z.string(), check: z.string().nullable(), instance: z.string().nullable() })),
  changes: z.array(
    z.object({
      ...loadName,
      figure: z.string(),
      direction: z.enum(["slower", "faster"]),
      wasMs: ms,
      isMs: ms,
      since: z.iso.datetime(),
      isKnown: z.boolean(),
    }),
  ),
});

/** A file of the history. */
const nightSchema = z.object({
  format: z.literal(nightFormat),
  id: z.string(),
  started: z.iso.datetime(),
  finished: z.iso.datetime(),
  suite: z.object({ version: z.string(), clauses: z.string() }),
  target: z.object({ name: z.string(), baseUrl: z.string(), fingerprint: z.string() }),
  verdict: z.enum(verdicts),
  stopped: why,
  requests: count,
  totals: z.object(
    Object.fromEntries(outcomes.map((outcome) => [outcome, count])) as Record<(typeof outcomes)[number], typeof count>,
  ),
  findings: z.array(findingSchema),
  unselected: z.array(z.string()),
  load: z.array(loadSchema),
  second: z.array(loadSchema),
  reported: reportedSchema,
}) satisfies z.ZodType<Night>;

/** A file of the history as text: small, and ends with a line feed. */
export const nightText = (night: Night): string => `${JSON.stringify(night)}\n`;

/** The night that a text holds, or what is wrong with the text, without a full stop. */
export type ReadNight =
  | { readonly kind: "night"; readonly night: Night }
  | { readonly kind: "damaged"; readonly problem: string };

export function readNight(text: string): ReadNight {
  const raw = parsed(text);
  if (raw === undefined) return { kind: "damaged", problem: "it is not JSON: half-written, or damaged" };
  const night = nightSchema.safeParse(raw);
  if (night.success) return { kind: "night", night: night.data };
  const [issue] = night.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "the file" : issue.path.join(".");
  return { kind: "damaged", problem: `${where}: ${issue?.message ?? "is not as it should be"}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
