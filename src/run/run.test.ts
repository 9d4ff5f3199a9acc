import { afterEach, describe, expect, it } from "vitest";

import { type HostileServer, startHostileAfterDiscovery } from "../wire/testing/hostile.ts";
import { check, suite, type Suite } from "./judge/check.ts";
import { holds } from "./judge/finding.ts";
import { probe, type ProbeContext } from "./probe.ts";
import { runSuites, type RunOptions } from "./run.ts";
import { aKey, aTarget } from "./testing/values.ts";

let server: HostileServer | null = null;
afterEach(() => server?.close());

const usageTimes = (
  times: number,
  afterwards?: (scene: ProbeContext) => Promise<unknown>,
  { clause = "USE-1", requests = times }: { readonly clause?: "USE-1" | "USE-2"; readonly requests?: number } = {},
): Suite[] => [
  suite("Usage", [
    check(
      clause,
      probe(`usage is read ${times} times`, { requests }, async (scene) => {
        for (let sent = 0; sent < times; sent++) await scene.client.send("GET", "/usage");
        return afterwards?.(scene) ?? null;
      }),
      holds,
    ),
  ]),
];

/** Runs against a target that answers reads correctly. */
async function run(suites: Suite[], changes: Partial<RunOptions> = {}) {
  server = await startHostileAfterDiscovery((socket) => void socket.destroy());
  const keys = { key: aKey({ tier: "team" }) };
  const signal = new AbortController().signal;
  const target = aTarget(server.baseUrl, { keys });
  return runSuites({ target, suites, maxRequests: 100, maxWaitMs: 0, signal, ...changes });
}

const onlyFinding = async (...given: Parameters<typeof run>): Promise<unknown> => {
  const result = await run(...given);
  return result.kind === "judged" ? result.judgements[0]?.finding : result;
};

describe("a run", () => {
  it("finds an agent by itself, and judges", async () => {
    const result = await run(usageTimes(2));
    expect(result).toMatchObject({
      kind: "judged",
      stopped: null,
      // The connection of invoke breaks three times, and a fourth time if the connection was reused.
      requests: 9,
      lost: 3,
      target: { agents: { answering: "echo" } },
    });
  });

  it("keeps to the request budget, and names the setting that would enable the rest", async () => {
    const reported = usageTimes(50, undefined, { requests: 1 });
    expect(await onlyFinding(reported, { maxRequests: 10 })).toMatchObject({
      kind: "unproven",
      reason: { why: "requests used up", most: 10 },
      needs: { need: "maxRequests" },
    });
  });

  it("skips a probe that exceeds the request budget, and runs later ones that fit", async () => {
    const suites = [...usageTimes(50), ...usageTimes(2, undefined, { clause: "USE-2" })];
    const result = await run(suites, { maxRequests: 20 });
    expect(result.kind === "judged" && result.judgements.map(({ finding }) => finding)).toMatchObject([
      { kind: "unproven", reason: { why: "too many requests", requests: 50 }, needs: { need: "maxRequests" } },
      { kind: "holds" },
    ]);
  });

  it("says so if the budget does not even allow discovery", async () => {
    expect(await run(usageTimes(1), { maxRequests: 1 })).toMatchObject({
      kind: "nothing to judge",
      sentence: { why: "nothing judged", because: { why: "requests used up", most: 1 } },
    });
  });

  it("stops if it is interrupted, with the exchanges so far", async () => {
    const controller = new AbortController();
    const suites = usageTimes(1, async ({ client }) => {
      controller.abort();
      return client.send("GET", "/usage");
    });
    const result = await run(suites, { signal: controller.signal });
    expect(result).toMatchObject({ kind: "judged", stopped: "interrupted" });
    expect(result.kind === "judged" ? result.exchanges.length : 0).toBeGreaterThanOrEqual(4);
  });

  it("stops if the target goes away and does not come back", async () => {
    const suites = usageTimes(0, async ({ client }) => {
      server?.close();
      for (let sent = 0; sent < 20; sent++) await client.send("GET", "/usage");
      return null;
    });
    const result = await run(suites, { deadAfterMs: 200 });
    expect(result).toMatchObject({ kind: "judged", stopped: expect.stringContaining("the target was lost after") });
    expect(result.judgements[0]?.finding).toMatchObject({ kind: "unproven" });
    expect(result.kind === "judged" ? result.requests : Infinity).toBeLessThan(18);
  });

  it("reports a probe that throws as a failure of the harness", async () => {
    const failing = (): Promise<never> => Promise.reject(new TypeError("no such field"));
    expect(await onlyFinding(usageTimes(0, failing))).toMatchObject({ kind: "error" });
  });

  it("needs a key that is neither expired nor restricted", async () => {
    const target = aTarget("http://127.0.0.1:9/v1", { keys: { old: aKey({ expired: true }) } });
    expect(await run(usageTimes(1), { target })).toMatchObject({
      kind: "nothing to judge",
      sentence: expect.stringMatching(/no key for general use/) as string,
    });
  });
});
