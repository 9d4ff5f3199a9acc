import { describe, expect, it } from "vitest";

import { minuteLimit } from "../../../../scenarios/minute-limit.ts";
import { publishedTiers } from "../../../spec/tiers.ts";
import { loadEvidenceSchema } from "../../../evidence/load-evidence.ts";
import { peakCpuShare } from "./process.ts";
import { createLineCollector } from "./evidence.ts";
import { evidenceOfLog } from "./evidence.ts";
import { explainFailure } from "./process.ts";
import { readLine } from "./lines.ts";
import { segmentsOf } from "./command.ts";

const startMs = 1_795_254_638_000;

const sampleLine = (other: Record<string, unknown> = {}): string =>
  JSON.stringify({
    load: "sample",
    flow: "serial",
    key: "main",
    dueMs: null,
    sentMs: startMs,
    headMs: startMs + 3,
    endMs: startMs + 4,
    latencyMs: 1.5,
    status: 200,
    limit: 10,
    remaining: 9,
    reset: 1_795_254_660,
    resetAfter: 22,
    retryAfterSeconds: null,
    date: 1_795_254_638,
    left: false,
    tokens: 12,
    error: null,
    flaws: [],
    stream: null,
    ...other,
  });

const endLine = (other: Record<string, unknown> = {}): string =>
  JSON.stringify({
    load: "end",
    scenario: "minute-limit",
    tier: "free",
    limits: publishedTiers.free,
    speed: 1,
    segment: "0:1/2",
    durationMs: 1000,
    droppedIterations: 0,
    iterations: 2,
    errors: 0,
    ...other,
  });

describe("the lines of a script", () => {
  it.each(["Request Failed", "", 'level=info msg="{}"', '{"other":1}'])("are told from words of k6: %s", (line) => {
    expect(readLine(line)).toBeNull();
  });

  it.each(['{"load":"sample"}', '{"load":"other"}', '{"load":'])(
    "that are malformed are an error of ours: %s",
    (line) => {
      expect(() => readLine(line)).toThrow(Error);
    },
  );

  it("may have decimals in times, and headers that are no numbers", () => {
    const malformed = [{ name: "remaining", actual: "X-RateLimit-Remaining: abc" }];
    expect(readLine(sampleLine({ resetAfter: 53.25, reset: 1_795_254_638.5 }))).toMatchObject({ resetAfter: 53.25 });
    expect(readLine(sampleLine({ remaining: null, malformed }))).toMatchObject({ malformed });
    expect(() => readLine(sampleLine({ remaining: 1.5 }))).toThrow(/remaining/);
  });

  const names = Object.keys(JSON.parse(sampleLine()) as object);
  const mayBeNull = ["dueMs", "status", "limit", "remaining", "reset", "resetAfter"].concat([
    "retryAfterSeconds",
    "date",
    "tokens",
    "error",
    "flaws",
    "stream",
  ]);
  it.each([
    ...names.map((name): [string, unknown] => [name, {}]),
    ...names.filter((name) => !mayBeNull.includes(name)).map((name): [string, unknown] => [name, null]),
    ...["status", "limit", "remaining", "date", "tokens"].map((name): [string, unknown] => [name, 1.5]),
    ["tokens", -1],
    ["limit", 2 ** 60],
  ])("are held to what each field may be: %s is %j", (name, value) => {
    expect(() => readLine(sampleLine({ [name]: value }))).toThrow(name);
  });

  it.each(mayBeNull)("may be null: %s", (name) => {
    const line = sampleLine({ [name]: null });
    expect(readLine(line)).toEqual(JSON.parse(line));
  });

  it("add up to counts, in order of sending", () => {
    const collector = createLineCollector();
    const lines = [
      sampleLine({ sentMs: startMs + 2, status: 429, retryAfterSeconds: 22 }),
      sampleLine(),
      sampleLine({ status: 503, dueMs: startMs - 200 }),
      sampleLine({ status: null, error: "connection refused" }),
      sampleLine({ status: null, left: true }),
    ];
    for (const line of lines) collector.take(line);
    const { requests, late, failures, latency } = collector.collected();

    expect(collector.counts).toStrictEqual({ sent: 5, admitted: 1, refused: 1, failed: 2 });
    expect(requests.map(({ status }) => status)).toStrictEqual([200, 503, null, null, 429]);
    expect(late).toBe(1);
    expect([...failures]).toStrictEqual([["connection refused", 1]]);
    expect([latency.admitted.count, latency.refused.count, latency.other.count]).toStrictEqual([1, 1, 1]);
  });

  it("of a pod's log are evidence, whatever stands between them", () => {
    const log = [
      "Defaulted container",
      sampleLine(),
      "Request Failed",
      sampleLine({ status: 429 }),
      endLine(),
      "",
    ].join("\r\n");
    const evidence = loadEvidenceSchema.parse(evidenceOfLog(log, [minuteLimit], "v2.2.0"));

    expect(evidence).toMatchObject({ scenario: "minute-limit", tier: "free", segments: ["0:1/2"], isFresh: false });
    expect(evidence.requests).toHaveLength(2);
    expect(evidence.flows.map(({ name }) => name)).toContain("serial");
  });

  it.each([
    { log: sampleLine(), message: "its last line" },
    { log: endLine({ scenario: "unheard-of" }), message: '"unheard-of"' },
  ])("are no evidence without $message", ({ log, message }) => {
    expect(() => evidenceOfLog(log, [minuteLimit], "v2.2.0")).toThrow(message);
  });
});

describe("the end of k6", () => {
  const ended = (code: number | null, log: readonly string[] = []) => ({ code, log, cpu: [] });
  const lastLine = (errors: number) => {
    const line = readLine(endLine({ errors }));
    return line?.load === "end" ? line : null;
  };

  it.each([
    { name: "a run to its end", end: ended(0), last: lastLine(0), stopped: false, says: /^$/ },
    { name: "a run that we stopped", end: ended(105), last: null, stopped: true, says: /^$/ },
    {
      name: "a script that threw at its start",
      end: ended(107, ["no key"]),
      last: null,
      stopped: false,
      says: /did not start.*no key/s,
    },
    {
      name: "iterations that threw",
      end: ended(0, ["TypeError"]),
      last: lastLine(3),
      stopped: false,
      says: /3 of its iterations.*TypeError/s,
    },
    { name: "no last line", end: ended(0), last: null, stopped: false, says: /code 0 before it was done/ },
    { name: "a kill by somebody else", end: ended(null), last: null, stopped: false, says: /by a signal/ },
  ])("is explained: $name", ({ end, last, stopped, says }) => {
    expect(explainFailure(end, last, stopped)?.message ?? "").toMatch(says);
  });
});

describe("a load in parts", () => {
  it.each([
    { count: 1, parts: ["0:1"], sequence: "0,1" },
    { count: 2, parts: ["0:1/2", "1/2:1"], sequence: "0,1/2,1" },
    { count: 3, parts: ["0:1/3", "1/3:2/3", "2/3:1"], sequence: "0,1/3,2/3,1" },
  ])("has $count of them, without a gap", ({ count, parts, sequence }) => {
    expect(segmentsOf(count)).toStrictEqual({ parts, sequence });
  });
});

describe("how busy a process was", () => {
  const at = (seconds: number, cpuSeconds: number) => ({ atMs: startMs + seconds * 1000, cpuSeconds });

  it("is that of its most busy second under load, not of its start", () => {
    const business = [at(0, 0), at(1, 0.9), at(2, 1), at(3, 1.6), at(4, 1.7)];

    expect(peakCpuShare(business, startMs + 1500, startMs + 4000)).toBeCloseTo(0.6);
  });

  it("is unknown without readings, or after a short load", () => {
    expect(peakCpuShare([], startMs, startMs + 1000)).toBeNull();
    expect(peakCpuShare([at(0, 0)], startMs, startMs + 1000)).toBeNull();
  });
});
