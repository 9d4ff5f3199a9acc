import { z } from "zod";

import { parseBoundedJson } from "../base/parsing.ts";
import { is2xx } from "../base/http.ts";
import type { DeepReadonly } from "../base/json.ts";
import { memoizeByObject } from "../base/memoize.ts";
import { headerNames } from "../spec/headers.ts";
import { requestSchema, valuesOfHeader } from "./exchange.ts";

const disconnectedMs = z.number().nullable().describe("When the sender gave up; null where it had not.");

const replySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("answered"), status: z.int(), endMs: z.number() }),
  z.object({ kind: z.literal("held") }).describe("Not answered yet."),
  z.object({ kind: z.literal("reset") }),
  z.object({ kind: z.literal("silent"), leftMs: disconnectedMs }).describe("Never answered."),
  z
    .object({ kind: z.literal("endless"), status: z.int(), leftMs: disconnectedMs })
    .describe("A head, and a body that does not end."),
]);

export const deliverySchema = z
  .object({
    id: z.string(),
    hook: z.string().describe("Name of the receiver's address that it came to."),
    attempt: z.int().positive().describe("It was the n-th request to that address."),
    /** The request's `url` is only its path and query, because the webhook receiver sees no more. */
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
    otherSignatures: z
      .array(z.string())
      .describe("The same by the secrets of other webhooks that share this address.")
      .exactOptional(),
    reply: replySchema,
    since: z
      .string()
      .describe("Requirement set of the probe that opened the address, if it is later than 1.0.")
      .exactOptional(),
  })
  .meta({ id: "delivery" });

export type DeliveryReply = DeepReadonly<z.infer<typeof replySchema>>;

/** A request that the harness's webhook receiver got, and the receiver's reply. */
export type Delivery = DeepReadonly<z.infer<typeof deliverySchema>>;

export const deliveryHeaderValues = ({ request }: Pick<Delivery, "request">, name: string): string[] =>
  valuesOfHeader(request.headers, name);

/** Whether a delivery has exactly one signature, and that signature is valid (clause HOOK-21). */
export function hasValidSignature({
  request,
  computedSignature,
}: Pick<Delivery, "request" | "computedSignature">): boolean {
  const values = deliveryHeaderValues({ request }, headerNames.deliverySignature);
  return computedSignature !== null && values.length === 1 && values[0] === computedSignature;
}

/** Parses a delivery's body. Returns `undefined` if the body is not JSON or was too long to record. */
export const deliveryJson: (delivery: Delivery) => unknown = memoizeByObject(({ request: { body } }: Delivery) =>
  body.kind === "text" ? parseBoundedJson(body.text) : undefined,
);

export const wasAccepted = ({ reply }: Delivery): boolean => reply.kind === "answered" && is2xx(reply.status);
