import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import { suite } from "../../run/judge/check.ts";
import { delivery } from "../testing/delivery.ts";
import { exchange } from "../testing/exchange.ts";
import { judgeBy } from "../testing/judging.ts";
import { secretKindsCheck, type WebhooksByKindOfSecret } from "./secret-probe.ts";

const secrets = suite("Secrets", [secretKindsCheck]);
const hook = "webhook-secret-base64";

const webhooks = (status: number): WebhooksByKindOfSecret["webhooks"] => [
  {
    kind: "base64",
    webhook: { hook, events: ["agent.completed"], agent: "echo", exchange: exchange({ status, path: "/webhooks" }) },
  },
];

const signed = (signature: string): Delivery => delivery({ hook, headers: [["X-Service-Signature", signature]] });

describe("deliveries to webhooks with secrets of several kinds", () => {
  it.each<[name: string, status: number, deliveries: readonly Delivery[], expected: string]>([
    ["are signed with the secret", 201, [signed("ab12")], "holds"],
    ["are signed with something else", 201, [signed("ab12"), signed("ffff")], "breach"],
    ["do not come", 201, [], "unproven"],
    ["are refused with their webhook", 400, [], "unproven"],
    ["come to another webhook", 201, [delivery({ computedSignature: "ffff" })], "unproven"],
  ])("%s", (_, status, deliveries, expected) => {
    const evidence = { asked: { webhooks: webhooks(status) }, all: { deliveries } };
    expect(judgeBy(secrets, "HOOK-21/every kind of secret", evidence).kind).toBe(expected);
  });
});
