import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../../../base/network/network.ts";
import type { Flow } from "../../scenarios.ts";
import { failingInvoke, flow, health, invoke, slowInvoke, slowStream, stream } from "../../../../scenarios/traffic.ts";
import { type ReferenceProcess, startReferenceProcess } from "../../../reference/embedded/process/server-process.ts";
import type { EngineOptions } from "../../engine.ts";
import { type LoadEvidence, loadEvidenceSchema } from "../../../evidence/load-evidence.ts";
import { defaultEngineOptions, engineOptionsFor, testScenario } from "../../testing/engine-options.ts";
import { runAutocannon } from "./run.ts";

const scenarioOf = (...flows: readonly Flow[]) => testScenario(flows);

const statuses = ({ requests }: LoadEvidence, name: string) =>
  requests.filter((each) => each.flow === name).map(({ status }) => status);
const countsOf = (evidence: LoadEvidence, name: string) =>
  Object.fromEntries(
    Map.groupBy(statuses(evidence, name), String)
      .entries()
      .map(([status, all]) => [status, all.length]),
  );

describe("load by autocannon", () => {
  let served: ReferenceProcess;

  beforeAll(async () => {
    served = await startReferenceProcess();
  });
  afterAll(() => served.close());

  const run = async (flows: readonly Flow[], other: Partial<EngineOptions> = {}): Promise<LoadEvidence> =>
    runAutocannon(scenarioOf(...flows), await engineOptionsFor(served, other));

  it("sends exactly as many as it should, in whatever shape", async () => {
    const shapes = [
      { kind: "at once", requests: 7 },
      { kind: "in turn", requests: 9 },
      { kind: "shared", atOnce: 3, requests: 11 },
      { kind: "shared", atOnce: 5, requests: 2 },
    ] as const;
    const evidence = await run(shapes.map((shape, at) => flow(`flow ${at}`, health, shape)));
    expect(shapes.map((_, at) => statuses(evidence, `flow ${at}`))).toEqual(
      shapes.map(({ requests }) => Array(requests).fill(200)),
    );
    expect(evidence.generator).toEqual(expect.objectContaining({ planned: 29, sent: 29, dropped: 0 }));
  });

  it("records the rate-limit headers of each request, in order", async () => {
    const evidence = await run([flow("serial", invoke, { kind: "in turn", requests: 103 })]);
    expect(countsOf(evidence, "serial")).toEqual({ 200: 100, 429: 3 });
    const admitted = evidence.requests.slice(0, 100);
    expect(admitted.map(({ remaining }) => remaining)).toEqual(Array.from({ length: 100 }, (_, at) => 99 - at));
    expect(admitted.every(({ tokens, limit, date }) => tokens !== null && limit === 100 && date !== null)).toBe(true);
    expect(evidence.requests.at(-1)?.retryAfterSeconds).toBeGreaterThan(0);
    expect(evidence.requests.every(({ sentMs, headMs, endMs }) => sentMs <= headMs && headMs <= endMs)).toBe(true);
    expect(evidence.latency.admitted.count).toBe(100);
    expect(loadEvidenceSchema.parse(JSON.parse(JSON.stringify(evidence)))).toEqual(evidence);
  });

  it("ends a closed loop with whole answers: none is torn off", async () => {
    const evidence = await run([flow("loop", health, { kind: "closed", atOnce: 4, seconds: 0.3 })]);
    expect(Object.keys(countsOf(evidence, "loop"))).toEqual(["200"]);
    expect(evidence.generator.planned).toBe(evidence.generator.sent);
  });

  it("sends flows with the key they name", async () => {
    const second = (await served.issueKey("pro")).key;
    const main = (await served.issueKey("pro")).key;
    const shape = { kind: "in turn", requests: 2 } as const;
    const evidence = await run([flow("mine", invoke, shape), flow("theirs", invoke, shape, { key: "second" })], {
      keys: { main, second },
    });
    const remaining = evidence.requests.map(({ key, remaining: left }) => [key, left]);
    expect(remaining).toEqual(
      expect.arrayContaining([
        ["main", 99],
        ["main", 98],
        ["second", 99],
        ["second", 98],
      ]),
    );
  });

  it("sends streams, disconnecting clients and retries with undici, and notes it", async () => {
    const evidence = await run([
      flow("streams", stream, { kind: "shared", atOnce: 2, requests: 3 }),
      flow("left-stream", slowStream, { kind: "at once", requests: 1 }, { leaveAfterMs: 1300 }),
      flow("left-invoke", slowInvoke, { kind: "at once", requests: 1 }, { leaveAfterMs: 300 }),
      flow("failing", failingInvoke, { kind: "at once", requests: 1 }),
    ]);
    const whole = evidence.streams.filter(({ flow: name }) => name === "streams");
    expect(whole).toHaveLength(3);
    for (const each of whole)
      expect(each).toEqual(
        expect.objectContaining({
          sequence: ["start", "chunk", "done"],
          ending: "whole",
          indexes: "rising",
          status: 200,
        }),
      );
    expect(whole.every(({ totalTokens }) => totalTokens !== null)).toBe(true);
    const [left] = evidence.streams.filter(({ flow: name }) => name === "left-stream");
    expect(left).toEqual(expect.objectContaining({ ending: "left", totalTokens: null }));
    expect(left?.sequence).not.toContain("done");
    expect(evidence.requests.find(({ flow: name }) => name === "left-invoke")).toEqual(
      expect.objectContaining({ status: null, left: true }),
    );
    expect(statuses(evidence, "failing")).toEqual([500]);
    expect(evidence.notes.at(-1)).toContain("streams, left-stream, left-invoke");
  });

  it("keeps the samples so far when it is stopped", async () => {
    const controller = new AbortController();
    const evidence = await run(
      [
        flow("loop", health, { kind: "closed", atOnce: 2, seconds: 600 }),
        flow("never", health, { kind: "in turn", requests: 5 }, { afterSeconds: 500 }),
      ],
      { signal: controller.signal, onProgress: ({ sent }) => void (sent > 0 && controller.abort()) },
    );
    expect(evidence.stopped).toBe("interrupted");
    expect(evidence.requests.length).toBeGreaterThan(0);
    expect(statuses(evidence, "never")).toEqual([]);
  });

  it.each<[string, readonly Flow[], Partial<EngineOptions>, RegExp]>([
    [
      "a pace",
      [flow("paced", invoke, { kind: "paced", perSecond: 1, seconds: 1 })],
      {},
      /cannot keep the constant rate.*"paced"/,
    ],
    [
      "a key that is not there",
      [flow("one", invoke, { kind: "in turn", requests: 1 }, { key: "second" })],
      {},
      /second key/,
    ],
    ["several processes", [flow("one", invoke, { kind: "in turn", requests: 1 })], { segments: 2 }, /engine k6/],
    [
      "an agent that is not there",
      [flow("one", slowInvoke, { kind: "in turn", requests: 1 })],
      { agents: { answering: "echo", streaming: null, slow: null, slowStreaming: null, failing: null } },
      /role "slow"/,
    ],
  ])("refuses %s in one sentence", async (_, flows, other, message) => {
    await expect(run(flows, other)).rejects.toThrow(message);
  });
});

describe("load by autocannon after a refusal", () => {
  it("asks once well before retry_after, and once right after it", async () => {
    const served = await startReferenceProcess({ speed: 60 });
    try {
      const evidence = await runAutocannon(scenarioOf(flow("refused", invoke, { kind: "after refusal", rounds: 1 })), {
        ...defaultEngineOptions(),
        baseUrl: served.baseUrl,
        keys: { main: (await served.issueKey("free")).key, second: null },
        tier: "free",
        limits: served.tiers.free,
        isFresh: true,
        agents: { answering: "echo", streaming: null, slow: null, slowStreaming: null, failing: null },
        speed: 60,
      });
      expect(evidence.requests.at(-1)?.status).toBe(200);
      expect(statuses(evidence, "refused").slice(0, -1)).toContain(429);
    } finally {
      await served.close();
    }
  });
});

describe("load by autocannon on other targets", () => {
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) server.close();
  });

  const runOnUrl = (baseUrl: string, sent: Flow): Promise<LoadEvidence> =>
    runAutocannon(scenarioOf(sent), {
      ...defaultEngineOptions(),
      baseUrl,
      keys: { main: "ah_test", second: null },
      tier: null,
      limits: { perHour: 100, perMinute: 10, concurrent: 2, burst: null, tokensPerMonth: null },
      isFresh: false,
      agents: { answering: "echo", streaming: null, slow: null, slowStreaming: null, failing: null },
    });
  const runOn = async (answer: RequestListener, sent: Flow): Promise<LoadEvidence> => {
    const server = createServer(answer);
    servers.push(server);
    const port = await listenOnLoopback(server);
    return runOnUrl(`http://127.0.0.1:${port}/v1`, sent);
  };
  const isHealth = ({ url }: IncomingMessage): boolean => url?.endsWith("/health") === true;

  it("records a request that was never answered as one", async () => {
    let count = 0;
    const evidence = await runOn(
      (request, response) => {
        count += isHealth(request) ? 0 : 1;
        if (isHealth(request) || count % 2 === 1) response.end("{}");
        else request.socket.destroy();
      },
      flow("cut", invoke, { kind: "shared", atOnce: 1, requests: 6 }),
    );
    expect(countsOf(evidence, "cut")).toEqual({ 200: 3, null: 3 });
    expect(evidence.requests.every(({ limit, remaining }) => limit === null && remaining === null)).toBe(true);
  });

  it("sends as many to a server that closes every connection", async () => {
    const evidence = await runOn(
      (_, response) => void response.writeHead(200, { connection: "close" }).end("{}"),
      flow("closing", invoke, { kind: "shared", atOnce: 2, requests: 7 }),
    );
    expect(countsOf(evidence, "closing")).toEqual({ 200: 7 });
    expect(evidence.notes.at(-1)).toContain("undici");
  });

  it("ignores requests on connections that the server had already closed", async () => {
    let count = 0;
    const evidence = await runOn(
      (request, response) => {
        count += isHealth(request) ? 0 : 1;
        response.writeHead(200, { connection: count % 5 === 4 ? "close" : "keep-alive" }).end("{}");
      },
      flow("some", invoke, { kind: "shared", atOnce: 1, requests: 12 }),
    );
    expect(countsOf(evidence, "some")).toEqual({ 200: 12 });
    expect(evidence.generator).toMatchObject({ planned: 12, sent: 12, dropped: 0 });
  });

  it("reports a server that does not answer", async () => {
    await expect(
      runOnUrl("http://127.0.0.1:9/v1", flow("one", invoke, { kind: "in turn", requests: 1 })),
    ).rejects.toThrow(/127\.0\.0\.1:9.* does not answer/);
  });
});
