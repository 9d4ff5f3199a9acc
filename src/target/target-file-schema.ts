import { z } from "zod";

import { webhookEvents } from "../spec/events-and-errors.ts";
import { profileNames } from "../spec/profiles.ts";
import { tierNames } from "../spec/tiers.ts";
import { networkSchema } from "./network-settings.ts";
import { isAddressOrRange } from "./source-address.ts";
import { agentRoles, type AgentRole, isRequestRole, type RequestRole } from "./target.ts";

const positiveInteger = z.int().positive();
const nonEmptyText = z.string().min(1);
/** Path to append to a URL. Without the slash, `https://example.com` plus `.org/run` would name another host. */
const endpointPath = z.string().startsWith("/", "must begin with /");

const keySchema = z
  .strictObject({
    key: nonEmptyText.describe("The API key; ${NAME} takes an environment variable."),
    tier: nonEmptyText.describe(`${tierNames.join(", ")}, or a tier named under \`tiers\`.`).optional(),
    expired: z.boolean().describe("The key has expired; it must answer 401 EXPIRED_API_KEY.").optional(),
    fresh: z
      .boolean()
      .describe("Nothing was sent with this key before the run; `freshness` says how to confirm it.")
      .optional(),
    scope: z.enum(["read-only"]).describe("The key may only read.").optional(),
    agents: z.array(nonEmptyText).min(1).describe("The key is restricted to these agents.").optional(),
    allowedIps: z
      .array(nonEmptyText)
      .min(1)
      .describe(
        "The key is restricted to these source addresses. A key is tried as one of another address if they lack this machine's.",
      )
      .optional(),
    expiresInSeconds: positiveInteger
      .describe("A temporary key: seconds from the start of the run until it expires.")
      .optional(),
    signed: z
      .boolean()
      .describe(
        "The key lets in only requests that are signed with `signing.secret`; without one, the main key's are signed.",
      )
      .optional(),
    tokensPerMonth: positiveInteger
      .describe(
        "Tokens a month that the key has instead of its tier's: few enough, such as 200, and a run uses them up.",
      )
      .optional(),
    signingSecret: nonEmptyText
      .describe(
        "The secret that requests of this key are signed with: it lets in no others. Without one, `signing.secret`.",
      )
      .optional(),
    nearQuota: z.boolean().describe("The key has nearly used up its tokens of the month.").optional(),
    disposable: z
      .boolean()
      .describe(
        "The key may be sent in a URL, which ends in logs: revoke it after the run. On loopback, the main key is sent. Default false.",
      )
      .optional(),
  })
  .describe("One API key of the target.");

const tierSchema = z
  .strictObject({
    perHour: positiveInteger,
    perMinute: positiveInteger,
    concurrent: positiveInteger,
    burst: positiveInteger.nullable().optional(),
    tokensPerMonth: positiveInteger.nullable().optional(),
  })
  .describe("Numbers of a custom tier.");

const roleAssignmentSchema = z
  .strictObject({
    agent: nonEmptyText.describe("Id of the agent."),
    body: z
      .record(z.string(), z.json())
      .describe("Fields of the request's body that make it play the role, such as its `query` or `parameters`.")
      .optional(),
    path: endpointPath
      .describe(
        "Where it is asked, below the base URL, if not where the document says; {agent_id} and {endpoint} stand for an agent, and for `invoke` or `stream`.",
      )
      .optional(),
  })
  .describe("An agent, and a request that makes it play the role.");

const ownRequestSchema = z
  .strictObject({
    agent: nonEmptyText.describe("Id of the agent."),
    body: z
      .record(z.string(), z.json())
      .describe(
        "Fields that the agent needs in every request, such as a `context` in its `parameters`. {query} in its `query` stands for the query of the harness.",
      ),
  })
  .describe("An agent, and what it needs in every request.");

const describeRole = (role: string, is: string): string =>
  `Id of an agent that ${is}; or an agent, and ${isRequestRole(role) ? "a request with which it does" : "what it needs in every request"}.`;

const agentsSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(agentRoles).map(([role, is]) => [
      role,
      z
        .union([nonEmptyText, isRequestRole(role) ? roleAssignmentSchema : ownRequestSchema])
        .describe(describeRole(role, is))
        .optional(),
    ]),
  ) as {
    [R in AgentRole]: z.ZodOptional<
      z.ZodUnion<[z.ZodString, R extends RequestRole ? typeof roleAssignmentSchema : typeof ownRequestSchema]>
    >;
  },
);

const httpCall = z.strictObject({
  method: z.enum(["POST", "PUT", "PATCH", "GET"]).default("POST"),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(nonEmptyText, z.string()).optional(),
  body: z.json().describe('A value that is just "${seconds}" or "${milliseconds}" is sent as a number.').optional(),
});

const triggersSchema = z.strictObject(
  Object.fromEntries(
    webhookEvents.map((event) => [event, httpCall.describe(`A call that makes \`${event}\` happen.`).optional()]),
  ) as Record<(typeof webhookEvents)[number], z.ZodOptional<typeof httpCall>>,
);

const listenSchema = z
  .string()
  .regex(/^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$/, "must be HOST:PORT, such as 127.0.0.1:0")
  .describe("Where the harness listens for deliveries, HOST:PORT; port 0 takes a free one.");

export const webhooksSchema = z
  .strictObject({
    listen: listenSchema.optional(),
    publicUrl: z
      .url({ protocol: /^https?$/ })
      .describe("Address under which the target reaches the harness, such as a tunnel's.")
      .optional(),
    sources: z
      .array(z.string().refine(isAddressOrRange, "must be an address or a range, such as 203.0.113.0/28"))
      .min(1)
      .describe("The published source addresses of deliveries, or ranges of them. Each delivery must come from one.")
      .optional(),
    sourceHeader: z
      .string()
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, "must be the name of a header")
      .describe(
        "Header in which a tunnel passes on the sender's address, such as X-Forwarded-For. Its last address counts.",
      )
      .optional(),
  })
  .describe("The harness may create webhooks and alerts on the target, and listens for what they send.");

const freshnessSchema = z
  .strictObject({
    freshAt: z.iso.datetime().describe("When the keys with `fresh` were unused, by the target's clock."),
    start: nonEmptyText.describe("The id of the server's start for which that is so."),
    ask: httpCall.describe(
      'A call that answers `{"start": ID, "keys": {NAME: {"last_used_at": TIME or null}}}`, with the names of this file.',
    ),
  })
  .describe("How to confirm that keys are still fresh. A key counts as used unless start and time both fit.");

const controlSchema = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .describe("Address of the test control, with its path, such as `…/test-control`."),
    token: nonEmptyText.describe("Its token; ${NAME} takes an environment variable."),
  })
  .describe("The test control of the target: a run asks it for keys and agents that this file does not list.");

/** Schema of a target file. Most parts are optional. A run skips each probe that needs a missing part. */
export const targetFileSchema = z
  .strictObject({
    $schema: z.string().optional(),
    name: nonEmptyText.optional(),
    baseUrl: nonEmptyText.describe("Address of the deployment, with or without /v1."),
    keys: z.record(nonEmptyText, keySchema).default({}),
    auth: z
      .literal("none")
      .describe("The server is local and asks for no keys (`auth_settings.type` is none): no key is sent.")
      .optional(),
    agents: agentsSchema.optional(),
    tiers: z.record(nonEmptyText, tierSchema).optional(),
    webhooks: webhooksSchema.optional(),
    triggers: triggersSchema.optional(),
    clock: z
      .strictObject({
        advance: httpCall,
        settleMs: z
          .int()
          .nonnegative()
          .max(60_000)
          .describe(
            "Real milliseconds after a move in which what it started reaches the harness; 150 on loopback, else 1000.",
          )
          .optional(),
        agentsFollow: z
          .boolean()
          .describe("Agents tell the time by it, too: no real time passes for their sake. Default false.")
          .optional(),
      })
      .optional(),
    control: controlSchema.optional(),
    freshness: freshnessSchema.optional(),
    signing: z.strictObject({ secret: nonEmptyText.describe("The secret that requests are signed with.") }).optional(),
    offers: z
      .array(z.enum(profileNames))
      .min(1)
      .describe(
        "The profiles that the vendor offers. Others get no verdict if their endpoints are missing. `core` is always among them. Default: all.",
      )
      .optional(),
    network: networkSchema.optional(),
    direct: z
      .boolean()
      .describe(
        "Nothing stands before the target that sets `X-Forwarded-For`: what anybody writes there is not to be believed.",
      )
      .optional(),
    paths: z
      .strictObject({
        batch: endpointPath
          .describe("Where a batch is posted, below the base URL; {agent_id} stands for an agent.")
          .optional(),
        operation: endpointPath
          .describe(
            "Where a long-running operation is started by the body of an invoke, if not by a batch, below the base URL; {agent_id} stands for an agent.",
          )
          .optional(),
        execute: endpointPath
          .describe("The local execution path of an entrypoint, from the origin; {agent_id} stands for an agent.")
          .optional(),
      })
      .describe("Paths that the document leaves open.")
      .optional(),
  })
  .refine(({ keys, control, auth }) => control !== undefined || auth === "none" || Object.keys(keys).length > 0, {
    path: ["keys"],
    message: "at least one key is needed",
  })
  .refine(({ keys, auth }) => auth === undefined || Object.keys(keys).length === 0, {
    path: ["auth"],
    message: "is none, so there must be no `keys`",
  })
  .meta({
    description: "A deployment of the Agent Hosting Service Interface, as the conformance harness is to use it.",
    // Repeats the condition of the first `refine`, because `z.toJSONSchema` leaves out `refine` conditions.
    anyOf: [{ required: ["keys"] }, { required: ["control"] }, { required: ["auth"] }],
  });

export type ParsedTargetFile = z.infer<typeof targetFileSchema>;
export type HttpCall = z.infer<typeof httpCall>;
