import { z } from "zod";

import { agentRoles } from "./target.ts";

const positive = z.int().positive();
const text = z.string().min(1);

const keySchema = z
  .strictObject({
    key: text.describe("The API key; ${NAME} takes an environment variable."),
    tier: text.describe("free, pro, team, enterprise, or a tier named under `tiers`.").optional(),
    expired: z.boolean().describe("The key has expired; it must answer 401 EXPIRED_API_KEY.").optional(),
    fresh: z.boolean().describe("Nothing was sent with this key before the run.").optional(),
    scope: z.enum(["read-only"]).describe("The key may only read.").optional(),
    agents: z.array(text).min(1).describe("The key is restricted to these agents.").optional(),
    allowedIps: z.array(text).min(1).describe("The key is restricted to these source addresses.").optional(),
    expiresInSeconds: positive
      .describe("A temporary key: seconds from the start of the run until it expires.")
      .optional(),
  })
  .describe("One API key of the target.");

const tierSchema = z
  .strictObject({
    perHour: positive,
    perMinute: positive,
    concurrent: positive,
    burst: positive.nullable().optional(),
    tokensPerMonth: positive.nullable().optional(),
  })
  .describe("Numbers of a custom tier.");

const agentsSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(agentRoles).map(([role, is]) => [role, text.describe(`Id of an agent that ${is}.`).optional()]),
  ) as Record<keyof typeof agentRoles, z.ZodOptional<z.ZodString>>,
);

const httpCall = z.strictObject({
  method: z.enum(["POST", "PUT", "PATCH", "GET"]).default("POST"),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(text, z.string()).optional(),
  body: z.json().describe('A value that is just "${seconds}" is sent as a number.').optional(),
});

/** The target file. Every part but `baseUrl` and one key is optional; what is absent skips what needs it. */
export const targetFileSchema = z
  .strictObject({
    $schema: z.string().optional(),
    name: text.optional(),
    baseUrl: text.describe("Address of the deployment, with or without /v1."),
    keys: z.record(text, keySchema).refine((keys) => Object.keys(keys).length > 0, "at least one key is needed"),
    agents: agentsSchema.optional(),
    tiers: z.record(text, tierSchema).optional(),
    webhooks: z
      .strictObject({ listen: text.optional(), publicUrl: z.url({ protocol: /^https?$/ }).optional() })
      .optional(),
    clock: z.strictObject({ advance: httpCall }).optional(),
    signing: z.strictObject({ secret: text }).optional(),
    paths: z.strictObject({ batch: text.optional() }).optional(),
  })
  .describe("A deployment of the Agent Hosting Service Interface, as the conformance harness is to use it.");

export type TargetFile = z.infer<typeof targetFileSchema>;
export type ClockCall = z.infer<typeof httpCall>;
