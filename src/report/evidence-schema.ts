import { z } from "zod";

import type { Delivery } from "../evidence/delivery.ts";
import type { Exchange } from "../evidence/exchange.ts";

const bytes = z.int().nonnegative().describe("Length of the decoded body in bytes.");

const bodySchema = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("none") }),
    z.object({ kind: z.literal("text"), text: z.string(), bytes }),
    z.object({ kind: z.literal("base64"), base64: z.string(), bytes }).describe("A body that is not UTF-8."),
    z
      .object({ kind: z.literal("cut"), head: z.string(), tail: z.string(), bytes, sha256: z.string() })
      .describe("A long body: its first and last part, its length, and the SHA-256 of the whole in hexadecimal."),
  ])
  .meta({ id: "body" });

const headersSchema = z
  .array(z.tuple([z.string(), z.string()]))
  .describe("Name and value of each header, in order, names in the sender's spelling.");

const streamEventSchema = z.object({
  name: z.string().nullable().describe("The `event:` name; null where the event had none."),
  data: z.string(),
  atMs: z.number().describe("Milliseconds since the start of the run."),
});

const endingSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("complete") }),
  z.object({ kind: z.literal("closed by us") }),
  z.object({ kind: z.literal("broken"), detail: z.string() }),
  z.object({ kind: z.literal("deadline"), detail: z.string() }),
]);

const answerSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("answered"),
    status: z.int(),
    headers: headersSchema,
    headMs: z.number().describe("When the head had arrived, in milliseconds since the start of the run."),
    endMs: z.number(),
    body: bodySchema,
    ending: endingSchema,
    events: z.array(streamEventSchema),
  }),
  z.object({
    kind: z.literal("unanswered"),
    reason: z.enum(["unreachable", "broken", "silent"]),
    detail: z.string(),
    endMs: z.number(),
  }),
]);

const requestSchema = z
  .object({ method: z.string(), url: z.string(), headers: headersSchema, body: bodySchema })
  .meta({ id: "request" });

/** One request and what came of it, as kept. */
export const exchangeSchema = z
  .object({
    id: z.string(),
    key: z.string().nullable().describe("Name of the target's key that was used; never the key itself."),
    request: requestSchema,
    sentMs: z.number().describe("Milliseconds since the start of the run."),
    clockMs: z.number().describe("How far the target's own clock had been moved by then, in milliseconds."),
    answer: answerSchema,
  })
  .meta({ id: "exchange" }) satisfies z.ZodType<Exchange>;

const leftMs = z.number().nullable().describe("When the sender gave up; null where it had not.");

const replySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("answered"), status: z.int(), endMs: z.number() }),
  z.object({ kind: z.literal("held") }).describe("Not answered yet."),
  z.object({ kind: z.literal("reset") }),
  z.object({ kind: z.literal("silent"), leftMs }).describe("Never answered."),
  z.object({ kind: z.literal("endless"), status: z.int(), leftMs }).describe("A head, and a body that does not end."),
]);

/** One request that the harness's receiver got, as kept. */
export const deliverySchema = z
  .object({
    id: z.string(),
    hook: z.string().describe("Name of the receiver's address that it came to."),
    attempt: z.int().positive().describe("It was the n-th request to that address."),
    request: requestSchema,
    peer: z.string().describe("Address that it came from."),
    receivedMs: z.number().describe("When it had arrived whole, in milliseconds since the start of the run."),
    clockMs: z.number().describe("How far the target's own clock had been moved by then, in milliseconds."),
    clockAtMostMs: z.number().describe("The same with a move that was under way."),
    computedSignature: z
      .string()
      .nullable()
      .describe(
        "What X-Service-Signature has to be, computed over the raw bytes; null for a webhook without a secret.",
      ),
    reply: replySchema,
  })
  .meta({ id: "delivery" }) satisfies z.ZodType<Delivery>;

const place = {
  probe: z.string().describe("Name of the probe."),
  instance: z.string().nullable().describe("Tier that the probe ran for, where it runs once a tier."),
};

const probeSchema = z.union([
  z.strictObject({
    ...place,
    evidence: z
      .unknown()
      .describe(
        'What the probe saw. {"$exchange": ID} stands for the exchange of that id, {"$delivery": ID} for the delivery; {"$literal": OBJECT} for an object that has one of these names itself.',
      ),
  }),
  z.strictObject({
    ...place,
    skipped: z.object({ reason: z.string(), needs: z.string().nullable().describe("What would enable the probe.") }),
  }),
  z.strictObject({ ...place, failed: z.string().describe("How the harness failed at this probe.") }),
]);

/** `evidence.json`: everything that a run saw, so that it can be judged again. */
export const evidenceSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/evidence/1"),
    exchanges: z.record(z.string(), exchangeSchema).describe("Every recorded exchange, by its id."),
    deliveries: z
      .record(z.string(), deliverySchema)
      // Versions without a receiver kept none.
      .default({})
      .describe("Every delivery that the receiver got, by its id."),
    probes: z.array(probeSchema),
  })
  .describe("What a run of the conformance harness sent and saw. Keys and secrets are redacted.");

export type EvidenceFile = z.infer<typeof evidenceSchema>;
