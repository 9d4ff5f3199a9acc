import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import type { Report } from "../../report/model/report.ts";
import { coreMessages } from "../../selftest/trial.ts";
import { newestRequirements } from "../../spec/clause.ts";
import { readExchangeLines } from "./read-recording.ts";
import { readHar } from "./read-har.ts";
import { judgeRecording, type JudgeRecordingOptions } from "./judge-recording.ts";
import type { Recording } from "./recording.ts";
import { anEntry, archive } from "./testing/archive.ts";

const judge = (recording: Recording, options: Partial<JudgeRecordingOptions> = {}) =>
  judgeRecording(recording, {
    file: "recorded",
    baseUrl: null,
    tiers: new Map(),
    keepsBodies: true,
    requirements: newestRequirements,
    messages: coreMessages,
    ...options,
  });

const redIn = ({ findings }: Report): string[] => [
  ...new Set(
    findings.flatMap(({ outcome, clause }) => (["pass", "observed", "skipped"].includes(outcome) ? [] : [clause])),
  ),
];
const outcomeOf = ({ findings }: Report, check: string) => findings.find((each) => each.check === check)?.outcome;

const fixture = (name: string): string => readFileSync(new URL(`testing/${name}.har`, import.meta.url), "utf8");
const fixtures = ["mitmproxy", "playwright"] as const;
const key = "ah_recorded_5Qm2XwK8tR0vLz";

describe("a recording of a right server", () => {
  it.each(fixtures)("by %s has nothing red, names its gaps, and no longer has the key", async (name) => {
    const { report, evidence } = await judge(readHar(JSON.parse(fixture(name))), {
      tiers: new Map([["key-1", "pro"]]),
    });
    expect(redIn(report)).toEqual([]);
    expect(report.totals.pass).toBeGreaterThan(70);
    expect(report.verdict).toBe("partial");
    expect(report.recording).toMatchObject({
      keys: 1,
      leftOut: [expect.objectContaining({ why: expect.stringContaining("without a response") })],
      gaps: expect.arrayContaining([expect.objectContaining({ what: "streams whose end was not recorded" })]),
    });
    expect(JSON.stringify({ report, evidence })).not.toContain(key.slice(3, 12));
  });

  it.each<[string, (text: string) => string]>([
    ["hides its keys", (text) => text.replaceAll(key, "***")],
    ["leaves the header with the key out", (text) => text.replaceAll('"Authorization"', '"X-Left-Out"')],
    ["has no times", (text) => text.replaceAll('"startedDateTime"', '"_startedDateTime"')],
    ["has no bodies", (text) => text.replaceAll(/"text":"(?:[^"\\]|\\.)*"/g, '"_left":""')],
    [
      "has header names in lower case",
      (text) =>
        text.replaceAll(/"name":"[A-Za-z-]+"/g, (each) => each.replace(/:"(.*)"/, (name) => name.toLowerCase())),
    ],
  ])("that %s has nothing red", async (_, change) => {
    for (const name of fixtures) {
      const { report } = await judge(readHar(JSON.parse(change(fixture(name)))));
      expect(redIn(report)).toEqual([]);
    }
  });
});

describe("a GET request below the base URL", () => {
  it.each([
    ["the default port", "https://api.example.com:443/v1/usage"],
    ["its host in upper case", "https://API.example.com/v1/usage"],
    ["dot segments", "https://api.example.com/x/../v1/usage"],
  ])("is judged by the checks of all responses, with %s in its URL", async (_, url) => {
    const { report } = await judge(readHar(archive([anEntry({ url })])), { baseUrl: "https://api.example.com/v1" });
    expect(redIn(report)).toEqual(expect.arrayContaining(["HDR-1", "USE-2"]));
  });
});

describe("a recording whose URLs have a user and a password", () => {
  it.each([
    ["no base URL", null],
    ["a base URL", "http://127.0.0.1:8080/v1"],
  ])("is judged with %s given, and shows no password", async (_, baseUrl) => {
    const entry = anEntry({ url: "http://me:hunter2@127.0.0.1:8080/v1/usage" });
    const { report, evidence } = await judge(readHar(archive([entry])), { baseUrl });
    expect(report.target.baseUrl).toBe("http://127.0.0.1:8080/v1");
    expect(redIn(report)).toContain("USE-2");
    expect(JSON.stringify({ report, evidence })).not.toContain("hunter2");
  });
});

describe("a recording of a wrong server", () => {
  it.each<[string, string, string, string]>([
    ["another code for an absent query", "INV-10", "MISSING_REQUIRED_FIELD", "MISSING_REQUIRED_THING"],
    ["a rate-limit header of another name", "HDR-7", "X-RateLimit-Reset-After", "X-RateLimit-After"],
    ["a status that the document does not define", "HLT-2", '\\"healthy\\",\\"checks\\"', '\\"unwell!\\",\\"checks\\"'],
    ["an event of another name", "SSE-2", "event: chunk", "event: piece"],
  ])("shows %s", async (_, clause, right, wrong) => {
    for (const name of fixtures) {
      const { report } = await judge(readHar(JSON.parse(fixture(name).replaceAll(right, wrong))));
      expect(report.verdict).toBe("nonconformant");
      expect(redIn(report)).toContain(clause);
    }
  });
});

/** Creates admitted invokes with one key, one in each second. */
const invokes = (count: number, token = "ah_test_1f6b0c9d3e") =>
  Array.from({ length: count }, (_, at) =>
    anEntry({
      method: "POST",
      url: "http://127.0.0.1:8080/v1/agents/echo/invoke",
      sent: [
        ["Authorization", `Bearer ${token}`],
        ["Content-Type", "application/json"],
      ],
      body: '{"query":"hello"}',
      content: { text: '{"result":{}}' },
      entry: { startedDateTime: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString() },
    }),
  );

describe("the limits of a key in a recording", () => {
  it.each<[string, ReadonlyMap<string, string>, string]>([
    ["more than its tier admits in a minute", new Map([["key-1", "free"]]), "fail"],
    ["less than its tier admits in a minute", new Map([["*", "pro"]]), "skipped"],
    ["without a tier", new Map(), "skipped"],
  ])("are judged by each distinct key: %s", async (_, tiers, outcome) => {
    const both = [...invokes(55), ...invokes(8, "ah_test_other77c0")];
    const { report } = await judge(readHar(archive(both)), { tiers });
    expect(outcomeOf(report, "LIM-1/recorded")).toBe(outcome);
    expect(report.recording?.keys).toBe(2);
  });

  it("are not judged if several keys are hidden behind one text", async () => {
    const { report } = await judge(readHar(archive(invokes(30, "[hidden]"))), { tiers: new Map([["*", "free"]]) });
    expect(outcomeOf(report, "LIM-1/recorded")).toBe("skipped");
    expect(report.recording?.gaps).toEqual([{ what: "requests whose key the recorder hid", count: 30 }]);
  });

  it("do not suffer from requests that the recording does not show", async () => {
    const window = (remaining: number) =>
      [
        ["X-RateLimit-Limit", "100"],
        ["X-RateLimit-Remaining", String(remaining)],
        ["X-RateLimit-Reset", "1767225660"],
        ["X-RateLimit-Reset-After", "55"],
        ["Date", "Thu, 01 Jan 2026 00:00:05 GMT"],
        ["Content-Type", "application/json"],
      ] as const;
    const entries = invokes(4).map((entry, at) => ({
      ...entry,
      response: { ...entry.response, headers: window(90 - 20 * at).map(([name, value]) => ({ name, value })) },
    }));
    const { report } = await judge(readHar(archive(entries)), { tiers: new Map([["*", "pro"]]) });
    expect(outcomeOf(report, "HDR-12")).toBe("skipped");
    expect(redIn(report).filter((clause) => clause !== "HDR-15")).toEqual([]);
  });
});

describe("the server of a recording", () => {
  const elsewhere = anEntry({
    url: "https://metrics.example.com/v1/usage",
    sent: [["Authorization", "Bearer someone_elses_key_00"]],
  });

  it("is the one whose exchanges fit the interface best; others are not judged and not kept", async () => {
    const { report, evidence } = await judge(readHar(archive([elsewhere, ...invokes(2)])));
    expect(report.target.baseUrl).toBe("http://127.0.0.1:8080/v1");
    expect(report.recording?.leftOut).toEqual([{ why: "to another server, or outside the base URL", exchanges: 1 }]);
    expect(JSON.stringify({ report, evidence })).not.toMatch(/metrics\.example|elses_key/);
  });

  it.each<[string, Partial<JudgeRecordingOptions>, object, RegExp]>([
    [
      "no request to the interface",
      {},
      anEntry({ url: "http://127.0.0.1/index.html" }),
      /no request to this interface/,
    ],
    ["none below the base URL", { baseUrl: "http://other/v1" }, anEntry(), /no exchange with http:\/\/other\/v1/],
    ["a key that is not there", { tiers: new Map([["key-9", "pro"]]) }, anEntry(), /--tier names the key "key-9"/],
  ])("is asked for if there is %s", async (_, options, entry, says) => {
    await expect(judge(readHar(archive([entry])), options)).rejects.toThrow(says);
  });
});

it("keeps no secret of a body, a cookie, or a URL, and with `keepsBodies: false` no body", async () => {
  const secrets = ["whsec-short", "sid-77aa", "ah_query_9c1d2e3f4a"];
  const entries = [
    anEntry({
      method: "POST",
      url: `http://127.0.0.1:8080/v1/webhooks?api_key=${secrets[2]}`,
      sent: [
        ["Authorization", `Bearer ${key}`],
        ["Cookie", `sid=${secrets[1]}`],
        ["Content-Type", "application/json"],
      ],
      body: JSON.stringify({ url: "http://r/1", secret: secrets[0], note: `the key is ${key}` }),
    }),
  ];
  const kept = await judge(readHar(archive(entries)));
  expect(JSON.stringify(kept)).toContain("http://r/1");
  for (const secret of [...secrets, key]) expect(JSON.stringify(kept)).not.toContain(secret);
  const without = await judge(readHar(archive(entries)), { keepsBodies: false });
  expect(JSON.stringify(without.evidence)).not.toContain("http://r/1");
});

it("judges JSON lines of exchanges, and names the line that is none", async () => {
  const [first] = readHar(archive(invokes(1))).exchanges;
  const text = JSON.stringify(first?.exchange);
  const lines = `${text}\n\n${text}\n`;
  const { report } = await judge(readExchangeLines(lines, "traffic.jsonl"));
  expect(report.recording).toMatchObject({ format: "JSON lines of exchanges", exchanges: 2 });
  expect(() => readExchangeLines(`${lines}{"id":1}\n`, "traffic.jsonl")).toThrow(
    /traffic\.jsonl, line 4 is no exchange/,
  );
});
