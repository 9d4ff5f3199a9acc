import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { messageOf } from "../../../base/errors.ts";
import { scenarioNamed, scenarios, requestCount, type Scenario } from "../../scenarios.ts";
import { publishedTiers, type PublishedTier } from "../../../spec/tiers.ts";
import { acceleratedClock } from "../../../reference/clock.ts";
import { type Reference, startReference } from "../../../reference/reference.ts";
import { EngineProblem, type EngineOptions, type LoadProgress } from "../../engine.ts";
import { loadEvidenceSchema } from "../../../evidence/load-evidence.ts";
import { findK6 } from "./binary.ts";
import { scriptOf } from "./command.ts";
import { runK6 } from "./run.ts";
import { defaultEngineOptions } from "../../testing/engine-options.ts";

const lacking = await findK6().then(
  () => null,
  (error: unknown) => messageOf(error),
);
if (lacking !== null) process.stderr.write(`Skipping the tests that run k6. ${lacking}\n`);

const named = (name: string): Scenario => {
  const scenario = scenarioNamed(name);
  if (scenario === undefined) throw new Error(`There is no scenario ${name}.`);
  return scenario;
};

/** Returns how many requests a flow sends on the Pro tier. */
function plannedOnPro(scenario: string, flow: string): number {
  const planned = named(scenario)
    .flows(publishedTiers.pro)
    .find(({ name }) => name === flow);
  return (planned === undefined ? null : requestCount(planned)) ?? 0;
}

describe.skipIf(lacking !== null)("a load sent by k6", () => {
  let reference: Reference;
  beforeAll(async () => {
    reference = await startReference();
  });
  afterAll(() => reference.close());

  const partsFor = (tier: PublishedTier, other: Partial<EngineOptions> = {}): EngineOptions => ({
    ...defaultEngineOptions(),
    baseUrl: reference.baseUrl,
    keys: { main: reference.issueKey(tier).key, second: reference.issueKey(tier).key },
    tier,
    limits: publishedTiers[tier],
    isFresh: true,
    agents: {
      answering: reference.agents.answering,
      streaming: reference.agents.streaming,
      slow: reference.agents.slow,
      slowStreaming: reference.agents.slowStream,
      failing: reference.agents.failing,
    },
    ...other,
  });

  it("is recorded request by request, with its rate-limit headers", async () => {
    const progress: LoadProgress[] = [];
    const parts = partsFor("pro", { onProgress: (each) => progress.push(each) });
    const evidence = loadEvidenceSchema.parse(await runK6(named("burst"), parts));
    const stampede = evidence.requests.filter(({ flow }) => flow === "stampede");

    expect(evidence).toMatchObject({ engine: "k6", segments: ["0:1"], stopped: null, generator: { dropped: 0 } });
    expect(evidence.generator.sent).toBe(evidence.generator.planned);
    expect(evidence.requests).toHaveLength(evidence.generator.planned);
    expect(stampede).toHaveLength(plannedOnPro("burst", "stampede"));
    const admitted = stampede.filter(({ status }) => status === 200);
    // The stampede may cross the end of a minute.
    const minutes = new Set(admitted.map(({ date }) => Math.floor((date ?? 0) / 60)));
    expect(admitted.length).toBeLessThanOrEqual(100 * minutes.size);
    expect(evidence.requests.every(({ sentMs, headMs, endMs }) => sentMs <= headMs && headMs <= endMs)).toBe(true);
    expect(
      evidence.requests.every(({ limit, remaining, reset, date }) => ![limit, remaining, reset, date].includes(null)),
    ).toBe(true);
    expect(progress.at(-1)).toMatchObject({ sent: evidence.generator.sent });
  });

  it("shared by two processes sends the same requests once", async () => {
    const evidence = loadEvidenceSchema.parse(await runK6(named("burst"), partsFor("pro", { segments: 2 })));

    expect(evidence.segments).toStrictEqual(["0:1/2", "1/2:1"]);
    expect(evidence.generator.sent).toBe(evidence.generator.planned);
    expect(evidence.requests.filter(({ flow }) => flow === "burst")).toHaveLength(plannedOnPro("burst", "burst"));
  });

  it("records the order and the end of streams", async () => {
    const evidence = await runK6(named("usage-ledger"), partsFor("free"));

    expect(evidence.streams).toHaveLength(1);
    expect(evidence.streams[0]).toMatchObject({
      sequence: ["start", "chunk", "done"],
      ending: "whole",
      indexes: "rising",
    });
    expect(evidence.requests.every(({ tokens }) => tokens !== null && tokens > 0)).toBe(true);
  });

  it("leaves and comes back as the flows say, in the time of a clock that runs faster", async () => {
    const speed = 4;
    const faster = await startReference({ clock: acceleratedClock(speed) });
    try {
      const keys = { main: faster.issueKey("pro").key, second: null };
      const evidence = await runK6(named("slots-back"), partsFor("pro", { baseUrl: faster.baseUrl, keys, speed }));
      const left = evidence.streams.filter(({ flow }) => flow === "left-streams");
      const statuses = (flow: string) =>
        evidence.requests.filter((each) => each.flow === flow).map(({ status }) => status);

      expect(left).toHaveLength(10);
      expect(left.every(({ ending, sequence }) => ending === "left" && sequence[0] === "start")).toBe(true);
      expect(statuses("left-streams")).toStrictEqual(Array.from({ length: 10 }, () => 200));
      expect(statuses("left-invokes")).toStrictEqual(Array.from({ length: 10 }, () => null));
      expect(statuses("failing")).toStrictEqual(Array.from({ length: 10 }, () => 500));
      expect(statuses("after-left-streams")).toStrictEqual(Array.from({ length: 10 }, () => 200));
    } finally {
      await faster.close();
    }
  });

  it("keeps the requests so far when it is stopped", async () => {
    const stopping = new AbortController();
    const parts = partsFor("pro", {
      signal: stopping.signal,
      onProgress: ({ sent }) => sent > 20 && stopping.abort(),
    });
    const evidence = loadEvidenceSchema.parse(await runK6(named("far-over"), parts));

    expect(evidence.stopped).toBe("interrupted");
    expect(evidence.generator.sent).toBeGreaterThan(20);
  });

  it("writes k6's own report on request", async () => {
    const dashboardFile = join(mkdtempSync(join(tmpdir(), "conformance-")), "k6.html");
    await runK6(named("sustained"), partsFor("pro", { dashboardFile, speed: 20 }));

    expect(readFileSync(dashboardFile, "utf8")).toMatch(/<html/i);
  });

  it.each(scenarios.map(({ name }) => name))("is described by a script that k6 takes: %s", async (name) => {
    const { path } = await findK6();
    const roles = ["AGENT_SLOW", "AGENT_SLOW_STREAMING", "AGENT_FAILING", "API_KEY_SECOND"];
    const variables = [
      "BASE_URL=http://127.0.0.1:1/v1",
      "API_KEY=one",
      "TIER=pro",
      ...roles.map((role) => `${role}=one`),
    ];
    const args = [
      "inspect",
      "--execution-requirements",
      ...variables.flatMap((variable) => ["-e", variable]),
      scriptOf(name),
    ];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, K6_AUTO_EXTENSION_RESOLUTION: "false" };
    const { stdout } = await promisify(execFile)(path, args, { env });

    expect(JSON.parse(stdout)).toMatchObject({ thresholds: { checks: ["rate==1"], iteration_errors: ["count==0"] } });
  });

  it("fails with the script's message if an agent is missing", async () => {
    const parts = partsFor("pro");
    const without = { ...parts, agents: { ...parts.agents, slow: null } };

    await expect(runK6(named("concurrency"), without)).rejects.toThrow(EngineProblem);
    await expect(runK6(named("concurrency"), without)).rejects.toThrow(/AGENT_SLOW/);
  });
});
