import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Scenario } from "./scenarios.ts";
import { flow, invoke } from "../../scenarios/traffic.ts";
import { type ReferenceProcess, startReferenceProcess } from "../reference/embedded/process/server-process.ts";
import { getPath } from "../base/json.ts";
import { type StorageBounds, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { runAutocannon } from "./engines/autocannon/run.ts";
import { judgeLoad } from "./judge/judge.ts";
import type { LoadEvidence } from "../evidence/load-evidence.ts";
import { runInstrumented, type Instrumentation } from "./instrumented-run.ts";
import { type Lateness, startLateServer } from "./testing/late-server.ts";
import { engineOptionsFor, testScenario } from "./testing/engine-options.ts";

const requests = 40;

const invokeScenario = (other: Partial<Scenario>): Scenario =>
  testScenario([flow("invokes", invoke, { kind: "shared", atOnce: 4, requests })], other);

const openReceiver = (storage?: StorageBounds): Promise<Receiver> =>
  startReceiver({
    ...(storage !== undefined && { storage }),
    listen: "127.0.0.1:0",
    publicUrl: null,
    time: { now: () => performance.now(), clockOffsetMs: () => 0, maxClockOffsetMs: () => 0 },
  });

const nothing: Instrumentation = { receiver: null, rssBytes: null, deliveryTimeoutMs: 5000 };

/** One server without faults for all tests, since it takes seconds to start. Each test has its own keys. */
let faultless: ReferenceProcess;
beforeAll(async () => {
  faultless = await startReferenceProcess();
});
afterAll(() => faultless.close());

async function surrounded(
  scenario: Scenario,
  patches: readonly string[],
  around: (served: ReferenceProcess) => Instrumentation,
): Promise<LoadEvidence> {
  const on = async (served: ReferenceProcess): Promise<LoadEvidence> =>
    runInstrumented(runAutocannon, scenario, await engineOptionsFor(served), around(served));
  if (patches.length === 0) return on(faultless);
  const served = await startReferenceProcess({ patches: patches.map((name) => ({ kind: "fault", name })) });
  try {
    return await on(served);
  } finally {
    await served.close();
  }
}

describe("the instrumentation of a run", () => {
  it("measures nothing that the scenario does not claim", async () => {
    const evidence = await surrounded(invokeScenario({}), [], () => nothing);
    expect([evidence.ledger, evidence.deliveries, evidence.server]).toEqual([null, null, null]);
    expect(evidence.requests).toHaveLength(requests);
  });

  it("is the usage report before and after, and the server's memory", async () => {
    const evidence = await surrounded(invokeScenario({ claims: ["USE-7"] }), [], ({ rssBytes }) => ({
      ...nothing,
      rssBytes,
    }));
    const used = (body: unknown): number => Number(getPath(body, "requests", "used"));
    const grown = used(evidence.ledger?.after) - used(evidence.ledger?.before);
    // The second read of the usage report may count as a request itself.
    expect([requests, requests + 1]).toContain(grown);
    expect(evidence.server?.rssBytes.length).toBeGreaterThan(0);
    expect(evidence.notes.join(" ")).toContain("GET /usage");
  });

  it.each([
    ["all of them, signed", [], 0],
    ["badly signed ones", ["signature-upper-case"], requests],
  ] as const)("is the webhook's deliveries: %s", async (_, patches, badSignatures) => {
    const receiver = await openReceiver();
    const evidence = await surrounded(invokeScenario({ needs: ["receiver"] }), patches, () => ({
      ...nothing,
      receiver,
    }));
    await receiver.close();
    expect(evidence.deliveries).toEqual({
      received: requests,
      badSignatures,
      distinctRequests: requests,
      duplicates: 0,
    });
  });

  it("fails without a receiver if the scenario needs one", async () => {
    await expect(surrounded(invokeScenario({ needs: ["receiver"] }), [], () => nothing)).rejects.toThrow(
      /needs a receiver/,
    );
  });
});

/** Runs a scenario against a server whose report and deliveries are late or duplicated. */
async function late(scenario: Scenario, lateness: Partial<Lateness>, around: Instrumentation): Promise<LoadEvidence> {
  const server = await startLateServer({ staleReports: 0, copies: 1, lastDeliveryMs: 0, ...lateness }, requests);
  try {
    return await runInstrumented(runAutocannon, scenario, await engineOptionsFor(server), around);
  } finally {
    await server.close();
  }
}

describe("a target with late reports and deliveries", () => {
  const ledger = invokeScenario({ claims: ["USE-7", "USE-8"] });
  const usageResults = (evidence: LoadEvidence): readonly string[] =>
    judgeLoad(evidence, ledger).flatMap(({ clause, kind }) => (clause?.startsWith("USE") ? [`${clause} ${kind}`] : []));

  it.each<[string, number, number, readonly string[]]>([
    ["at once", 0, 1, ["USE-7 holds", "USE-8 holds"]],
    ["a moment later", 1, 2, ["USE-7 holds", "USE-8 holds"]],
    ["never", Infinity, 3, ["USE-7 breach", "USE-8 breach"]],
  ])("reads the usage report until it agrees: %s", async (_, staleReports, reads, expected) => {
    const evidence = await late(ledger, { staleReports }, nothing);
    expect(evidence.ledger?.readsAfter).toBe(reads);
    expect(usageResults(evidence)).toEqual(expected);
  });

  it("waits for missing deliveries despite duplicates", async () => {
    const receiver = await openReceiver();
    const storm = invokeScenario({ needs: ["receiver"], claims: ["HOOK-8", "HOOK-21"] });
    const evidence = await late(storm, { copies: 2, lastDeliveryMs: 900 }, { ...nothing, receiver });
    await receiver.close();
    expect(evidence.deliveries).toEqual({
      received: 2 * requests - 1,
      badSignatures: 0,
      distinctRequests: requests,
      duplicates: requests - 1,
    });
    expect(judgeLoad(evidence, storm).filter(({ kind }) => kind !== "holds")).toEqual([]);
  });

  it("proves nothing about deliveries if there are more than the receiver keeps, without waiting", async () => {
    const receiver = await openReceiver({ stored: 0, bytes: 0 });
    const storm = invokeScenario({ needs: ["receiver"], claims: ["HOOK-8", "HOOK-21"] });
    const evidence = await late(storm, { copies: 3 }, { ...nothing, receiver, deliveryTimeoutMs: 30_000 });
    await receiver.close();
    expect(evidence.deliveries).toBeNull();
    expect(judgeLoad(evidence, storm).filter(({ kind }) => kind === "breach")).toEqual([]);
  });
});
