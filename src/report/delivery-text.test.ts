import { describe, expect, it } from "vitest";

import type { DeliveryReply } from "../evidence/delivery.ts";
import { deliveryLines } from "./delivery-text.ts";
import { sampleDelivery, textBody } from "./testing/sample.ts";

describe("a delivery as text", () => {
  it("reads as the receiver got it, with when it came and what it was answered", () => {
    expect(deliveryLines(sampleDelivery("d1"))).toEqual([
      "* request 1 to the address `signed`, from 127.0.0.1, 0.02 s into the run",
      "< POST /f3a9c2/signed",
      "< Content-Type: application/json",
      "< X-Service-Signature: 00ff",
      "<",
      '< {"id":"evt_1","type":"agent.completed"}',
      "* the harness answered 204 after 0.00 s",
    ]);
  });

  it("tells how far the target's clock was moved", () => {
    const [first] = deliveryLines(sampleDelivery("d1", { attempt: 3, clockMs: 360_000 }));
    expect(first).toBe(
      "* request 3 to the address `signed`, from 127.0.0.1, 0.02 s into the run, with the target's clock moved by 6 min 0 s",
    );
  });

  it.each<{ reply: DeliveryReply; says: string }>([
    { reply: { kind: "held" }, says: "* the harness had not answered yet" },
    { reply: { kind: "reset" }, says: "* the harness reset the connection on purpose" },
    {
      reply: { kind: "silent", leftMs: 3020 },
      says: "* the harness did not answer, on purpose; the sender gave up after 3.00 s",
    },
    {
      reply: { kind: "endless", status: 200, leftMs: null },
      says: "* the harness answered 200 with a body that does not end, on purpose; the sender kept waiting",
    },
  ])("says what it was answered: $reply.kind", ({ reply, says }) => {
    expect(deliveryLines(sampleDelivery("d1", { reply })).at(-1)).toBe(says);
  });

  it("lets nothing that a sender writes act upon a terminal, or look like a line of the report", () => {
    const request = {
      method: "POST",
      url: "/\u001b[2Jx",
      headers: [["X-\u202e", "a\nFAIL"]] as const,
      body: textBody("\nFAIL\u001b]0;x\u0007"),
    };
    const lines = deliveryLines(sampleDelivery("d1", { hook: "a\u001bb", peer: "\u009b", request }));
    expect(lines.every((line) => /^[<*]( |$)/.test(line))).toBe(true);
    // oxlint-disable-next-line no-control-regex
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});
