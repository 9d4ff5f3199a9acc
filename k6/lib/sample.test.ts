import { expect, it } from "vitest";

import type { Flow } from "../../scenarios/scenario.ts";
import { sampleOf } from "./sample.ts";

const flow: Flow = {
  name: "refused",
  key: "main",
  operation: { kind: "invoke", agent: "answering" },
  shape: { kind: "after refusal", rounds: 2 },
  afterSeconds: 0,
  leaveAfterMs: null,
};

const blockedFor = (blocked: number): Parameters<typeof sampleOf>[2] => {
  const timings = { blocked, connecting: 0, tls_handshaking: 0, sending: 0, waiting: 0.2, receiving: 0, duration: 0.2 };
  const response: Partial<Parameters<typeof sampleOf>[2]> = {
    status: 200,
    error: "",
    error_code: 0,
    headers: {},
    body: "{}",
    timings,
  };
  return response as Parameters<typeof sampleOf>[2];
};

it("keeps the order of two sequential requests within one tick of the clock", () => {
  const atMs = 1_700_000_000_000;
  const [first, second] = [0.9, 0.1].map((blocked) => sampleOf(flow, { atMs, dueMs: null }, blockedFor(blocked)));
  expect(second?.sentMs).toBe(first?.sentMs);
});

it("counts the time that a new connection takes as time before the request", () => {
  expect(sampleOf(flow, { atMs: 1000, dueMs: null }, blockedFor(12.7)).sentMs).toBe(1012);
});
