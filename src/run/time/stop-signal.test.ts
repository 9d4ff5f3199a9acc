import { createServer, type Server } from "node:http";

import { afterEach, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../../base/network/network.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { suites as allSuites } from "../../suites/all.ts";
import { type Hosting, startHosting } from "../../suites/testing/hosting.ts";
import { check, suite, type Suite } from "../judge/check.ts";
import { holds } from "../judge/finding.ts";
import { probe, type ProbeContext } from "../probe.ts";
import { runSuites, type RunOptions } from "../run.ts";
import { startRunClock } from "./run-clock.ts";

let hosting: Hosting | null = null;
let other: Server | null = null;
afterEach(() => {
  hosting?.close();
  other?.close();
});

async function run(suites: readonly Suite[], changes: (own: Hosting) => Partial<RunOptions>) {
  hosting = await startHosting();
  const { target } = hosting;
  const signal = new AbortController().signal;
  const result = await runSuites({ target, suites, maxRequests: 500, maxWaitMs: 0, signal, ...changes(hosting) });
  if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
  return result;
}

const webhookSuites = allSuites.filter(({ checks }) => checks.some(({ clause }) => /^(HOOK|WHK|ALRT?)-/.test(clause)));

const awaiting = (wait: (scene: ProbeContext<"receiver">) => Promise<unknown>): Suite[] => [
  suite("Waiting", [
    check("HOOK-8", probe("it waits", { needs: ["receiver"], requests: 0, stage: "exclusive" }, wait), holds),
  ]),
];

describe("a run that has used up its requests", () => {
  it("does not wait for effects of requests that it never sent", async () => {
    let triggered = 0;
    const count = (): Promise<void> => Promise.resolve(void (triggered += 1));
    const result = await run(webhookSuites, ({ target }) => ({
      target: { ...target, triggers: { "deployment.created": count, "deployment.deleted": count } },
      maxRequests: 5,
    }));
    expect(triggered).toBe(0);
    expect(result.requests).toBe(5);
    const kinds = result.runs.filter(({ planned }) => planned.probe.needs.some((need) => need.startsWith("triggers.")));
    expect(kinds.filter(({ result: { kind } }) => kind === "ran")).toEqual([]);
  });
});

describe("a run that is interrupted", () => {
  // None of these waits ends by itself, so only the interruption can end the run.
  it.each<[string, (scene: ProbeContext<"receiver">) => Promise<unknown>]>([
    ["an answer", () => new Promise(() => {})],
    [
      "a delivery",
      ({ given }) => given.receiver.open("never", { secret: null, replies: [] }).waitForDeliveries(1, 2 ** 31 - 1),
    ],
    ["a moment", ({ time }) => time.sleepReal(2 ** 31 - 1)],
  ])("ends while it waits for %s", async (_, wait) => {
    const controller = new AbortController();
    const suites = awaiting((scene) => {
      setImmediate(() => controller.abort());
      return wait(scene);
    });
    const result = await run(suites, () => ({ signal: controller.signal }));
    expect(result).toMatchObject({ stopped: "interrupted", judgements: [{ finding: { kind: "unproven" } }] });
  });

  it("passes no more time", async () => {
    const advances: number[] = [];
    const advance = (ms: number): Promise<void> => Promise.resolve(void advances.push(ms));
    const time = startRunClock({
      clock: { advance, settleMs: 0, agentsFollow: true },
      maxWaitMs: 0,
      signal: AbortSignal.abort(),
    });
    await expect(time.passTime(1000, "a test")).rejects.toThrow(/abort/);
    await expect(time.sleepReal(1)).rejects.toThrow(/abort/);
    expect(advances).toEqual([]);
  });
});

describe("a receiver that cannot be reached", () => {
  it("gets no webhook and no alert, and every check says why", async () => {
    other = createServer((_, response) => void response.end("somebody else"));
    const port = await listenOnLoopback(other);
    const publicUrl = `http://127.0.0.1:${port}`;
    const receiver = await startReceiver({
      listen: "127.0.0.1:0",
      publicUrl,
      time: { now: () => 0, clockOffsetMs: () => 0, maxClockOffsetMs: () => 0 },
    });
    const why = await receiver.reachable();
    await receiver.close();
    const result = await run(webhookSuites, ({ target }) => ({
      target: {
        ...target,
        webhooks: { listen: "127.0.0.1:0", publicUrl, isReachabilityPromised: true, sources: null },
      },
    }));
    const created = result.exchanges.filter(
      ({ request: { method, url } }) => method === "POST" && /\/(webhooks|alerts)$/.test(url),
    );
    expect(created).toEqual([]);
    const skipped = result.runs.filter(({ planned }) => planned.probe.needs.includes("receiver"));
    expect(skipped.length).toBeGreaterThan(5);
    const reasons = skipped.flatMap(({ result: outcome, planned }) =>
      planned.skip === null ? [outcome.kind === "skipped" ? outcome.reason : outcome.kind] : [],
    );
    expect(new Set(reasons)).toEqual(new Set([why]));
    expect(why).toMatch(/does not lead to the receiver: something else answered 200/);
  });
});
