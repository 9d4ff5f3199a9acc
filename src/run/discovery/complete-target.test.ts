import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import type { Client } from "../send/client.ts";
import type { SendOptions } from "../send/send-guard.ts";
import { assignDerivedRoles } from "./complete-target.ts";
import type { Need } from "../plan/needs.ts";
import { anExchange, aTarget } from "../testing/values.ts";
import { startRunClock } from "../time/run-clock.ts";

const answered = (tookMs: number): Exchange => {
  const { answer, ...rest } = anExchange("x1");
  return answer.kind === "answered"
    ? { ...rest, answer: { ...answer, headMs: tookMs, endMs: tookMs } }
    : anExchange("x1");
};

/** Derives the roles of an agent that has this pause between chunks and this response time. */
function deriveRoles(gapMs: number, tookMs: number) {
  let nowMs = 0;
  const timers = { now: () => nowMs, sleep: () => Promise.resolve() };
  const { signal } = new AbortController();
  const time = startRunClock({ clock: null, maxWaitMs: 0, signal, timers });
  const open = (_method: string, _path: string, { closeWhen }: SendOptions) => {
    for (let count = 1; count <= 6; count++) {
      nowMs += gapMs;
      closeWhen?.(Array.from({ length: count }, () => ({ name: "chunk", data: "{}", atMs: nowMs, id: null })));
    }
    return { finished: Promise.resolve(answered(nowMs)), close: () => {} };
  };
  const client = { open, invoke: () => Promise.resolve(answered(tookMs)) } as unknown as Client;
  const target = aTarget("http://127.0.0.1/v1", { agents: { answering: "bot", streaming: "bot" } });
  const needed = new Set<Need>(["agents.slow", "agents.slowStreaming"]);
  return assignDerivedRoles(client, target, { time, signal, needed });
}

describe("derived roles", () => {
  it.each([
    ["slow streams if chunks arrive with the requested delay", 200, 5, ["slowStreaming"]],
    ["slow invokes if a long response takes a second", 0, 1500, ["slow"]],
    ["none if the delay has no effect and a long response arrives at once", 0, 5, []],
  ] as const)("are %s", async (_, gapMs, tookMs, roles) => {
    const target = await deriveRoles(gapMs, tookMs);
    expect(Object.keys(target.roleAssignments)).toEqual(roles);
    for (const role of roles) expect(target.roleAssignments[role]?.agent).toBe("bot");
  });

  it("are fulfilled by the request fields", async () => {
    const { roleAssignments } = await deriveRoles(200, 5);
    expect(roleAssignments.slowStreaming?.body).toMatchObject({ parameters: { stream_delay_ms: 200 } });
  });
});
