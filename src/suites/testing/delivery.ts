import type { Delivery, DeliveryReply } from "../../evidence/delivery.ts";
import type { Header } from "../../evidence/exchange.ts";

/** Fields of a test delivery. An omitted field gets a valid default. */
export interface DeliveryOptions {
  readonly hook?: string;
  /** Fields that override those of a valid event. */
  readonly event?: Readonly<Record<string, unknown>>;
  /** Raw text of the body, sent instead of `event`. */
  readonly text?: string;
  readonly headers?: readonly Header[];
  readonly computedSignature?: string | null;
  readonly otherSignatures?: readonly string[];
  readonly reply?: DeliveryReply;
  readonly receivedMs?: number;
  readonly clockMs?: number;
}

let count = 0;

/** Builds a delivery of `agent.completed` with reply 200, for tests of checks. */
export function delivery(made: DeliveryOptions = {}): Delivery {
  count += 1;
  const { receivedMs = 2000, clockMs = 0, computedSignature = "ab12" } = made;
  const text = made.text ?? JSON.stringify({ ...validEvent(), ...made.event });
  return {
    id: `d${count}`,
    hook: made.hook ?? "webhook-wildcard",
    attempt: 1,
    request: {
      method: "POST",
      url: "/hook",
      headers: made.headers ?? [["x-service-signature", computedSignature ?? ""]],
      body: { kind: "text", text, bytes: Buffer.byteLength(text) },
    },
    peer: "127.0.0.1",
    receivedMs,
    clockMs,
    clockAtMostMs: clockMs,
    computedSignature,
    ...(made.otherSignatures && { otherSignatures: made.otherSignatures }),
    reply: made.reply ?? { kind: "answered", status: 200, endMs: receivedMs + 1 },
  };
}

const validEvent = (): Readonly<Record<string, unknown>> => ({
  id: "evt-1",
  type: "agent.completed",
  created: "2026-03-04T05:06:07Z",
  agent_id: "echo",
  data: { request_id: "r1", input: {}, result: {}, execution_time: 0.5, tokens_used: 3 },
});
