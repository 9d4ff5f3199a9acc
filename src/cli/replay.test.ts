import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Exchange } from "../evidence/exchange.ts";
import { findPatch } from "../reference/catalogue.ts";
import { type Reference, startReference } from "../reference/reference.ts";
import { serializeEvidence, serializeReport } from "../report/model/report-file.ts";
import type { ReportFinding } from "../report/model/finding.ts";
import { sampleDelivery, sampleExchange, sampleFinding, sampleReport, textBody } from "../report/testing/sample.ts";
import { hostilities, startAnsweringServer, startHostile } from "../wire/testing/hostile.ts";
import { commandLineIn, type Ended } from "./testing/command.ts";

const root = mkdtempSync(join(tmpdir(), "replay-"));
const conformance = commandLineIn(root);
let reference: Reference;
let broken: Reference;

const file = (name: string, content: object): string => {
  writeFileSync(join(root, name), JSON.stringify(content));
  return name;
};
const keyOf = (name: string): string => reference.keys.find((each) => each.name === name)?.key ?? "";
const targetAt = (baseUrl: string, names: readonly string[]): object => ({
  baseUrl,
  keys: Object.fromEntries(names.map((name) => [name, { key: keyOf(name), tier: name }])),
  agents: { answering: "echo", streaming: "echo", failing: "crasher" },
});

/** Writes a report folder with one finding and these exchanges. */
function keep(name: string, exchanges: readonly Exchange[], finding: Partial<ReportFinding>, baseUrl = here): void {
  const { target } = sampleReport([]);
  const report = sampleReport([sampleFinding({ outcome: "fail", expected: "this", actual: "that", ...finding })], {
    target: { ...target, baseUrl },
  });
  mkdirSync(join(root, name));
  writeFileSync(join(root, name, "report.json"), serializeReport(report));
  const deliveries = [sampleDelivery("d1")];
  writeFileSync(join(root, name, "evidence.json"), serializeEvidence({ exchanges, deliveries, probes: [] }));
}

const here = "http://127.0.0.1:8080/v1";
const secretKey = "pk_very_secret_4mJ9sQ2vXk7TtB1n";
const get = { method: "GET", url: `${here}/usage`, body: { kind: "none" } } as const;
const replay = (args: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  conformance(["replay", ...args], variables);
const withKey = { CONFORMANCE_API_KEY: secretKey };

beforeAll(async () => {
  reference = await startReference();
  const faults = ["done-twice", "crash-answers-200"].flatMap((name) => findPatch("fault", name) ?? []);
  broken = await startReference({ patches: faults });
  file("broken.json", targetAt(broken.baseUrl, ["team", "free"]));
  file("sound.json", targetAt(reference.baseUrl, ["team", "free"]));
  file("less.json", targetAt(broken.baseUrl, ["free"]));
  const only = ["--only", "SSE-5", "--only", "ERR-13", "--only", "AUTH-2"];
  const ended = await conformance(["run", "--target", "broken.json", ...only, "--out", "kept", "-q"]);
  if (ended.code !== 1) throw new Error(ended.err);
  keep("one", [sampleExchange("x1", get)], { evidence: ["x1"] });
});

afterAll(async () => {
  await reference.close();
  await broken.close();
  rmSync(root, { recursive: true });
});

describe("conformance replay", () => {
  it.each<[string, string[], number, RegExp[]]>([
    [
      "a stream that is still broken",
      ["SSE-5", "--target", "broken.json"],
      0,
      [
        /^SSE-5 was saved as fail: expected exactly one/,
        /events +start, chunk × 16, done × 2$/m,
        /^1 response alike$/m,
      ],
    ],
    [
      "a stream that is mended",
      ["SSE-5", "--target", "sound.json", "--base-url", "SOUND"],
      1,
      [
        /! events +saved start, chunk × 16, done × 2\n +! +now +start, chunk × 16, done\n/,
        /^1 of 1 response differs$/m,
      ],
    ],
    [
      "a status that is mended",
      ["ERR-13", "--target", "sound.json", "--base-url", "SOUND"],
      1,
      [
        /^x\d+ {2}POST http:\S+\/v1\/agents\/crasher\/invoke, with the key \w+ \(1 of 1\): differs$/m,
        /^ {2}! status +saved 200\n {2}! +now +500$/m,
        /differ every time: .*x-ratelimit-remaining/,
        /^To judge it again: conformance run --target sound\.json --only ERR-13$/m,
      ],
    ],
    ["quietly", ["ERR-13", "--target", "broken.json", "-q"], 0, [/^x\d+ .*: alike\n\n1 response alike\n$/]],
  ])("shows %s", async (_, args, code, texts) => {
    const said = args.map((each) => (each === "SOUND" ? reference.baseUrl : each));
    const ended = await replay(["kept", ...said]);
    for (const text of texts) expect(ended.out).toMatch(text);
    expect(ended.code).toBe(code);
    for (const { key } of reference.keys) expect(ended.out + ended.err).not.toContain(key);
  });

  it("takes keys from the variables that the commands of a report name", async () => {
    const variables = { TEAM_KEY: keyOf("team"), FREE_KEY: keyOf("free") };
    const ended = await replay(["kept/report.json", "ERR-13", "--base-url", reference.baseUrl], variables);
    expect(ended.code, ended.err).toBe(1);
    expect(ended.out).toContain("Bearer [redacted ");
    expect(ended.out).not.toContain(keyOf("team"));
  });

  it("shows what a wrong key gets", async () => {
    const ended = await replay(["one", "SSE-5", "--base-url", reference.baseUrl], withKey);
    expect(ended.out).toMatch(/! status +saved 200\n +! +now +401/);
    expect(ended.out).toMatch(/! body\.result +saved object\n +! +now +absent/);
    expect(ended.code).toBe(1);
    expect(ended.out).not.toContain(secretKey);
  });

  it("sends what was sent, the key in the place where it was redacted, and to the new address", async () => {
    const seen: string[] = [];
    const server = await startAnsweringServer((request, response, body) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
      response.setHeader("content-type", "application/json").end(`{"result":{}}`);
    });
    const headers = [["Authorization", "Bearer [redacted key, its last character cut off]N"]] as const;
    const url = `${here}/agents/a%20b/invoke?x=1`;
    const later = {
      ...sampleExchange("x2", { ...get, url: `${here.slice(0, -3)}/api/v1/agents/e/execute/t` }),
      sentMs: 99,
    };
    keep("several", [later, sampleExchange("x1", { url, headers, body: textBody('{"q":"ä"}') })], {
      evidence: ["x2", "x1"],
    });
    const ended = await replay(["several", "SSE-5", "--base-url", server.baseUrl], withKey);
    server.close();
    expect(seen).toEqual([
      `POST /v1/agents/a%20b/invoke?x=1 Bearer ${secretKey.slice(0, -1)}N {"q":"ä"}`,
      `GET /api/v1/agents/e/execute/t Bearer ${secretKey} `,
    ]);
    expect(ended.code, ended.out).toBe(0);
  });
});

describe("conformance replay refuses", () => {
  const hook = { url: `${here}/webhooks`, headers: [["Authorization", "Bearer [redacted signing secret]"]] } as const;
  const cut = { kind: "cut", head: "a", tail: "b", bytes: 300_000, sha256: "c" } as const;
  beforeAll(() => {
    keep("elsewhere", [sampleExchange("x1", { ...get, url: "http://127.0.0.2:8080/v1/usage" })], { evidence: ["x1"] });
    keep("disguised", [sampleExchange("x1", { ...get, url: `${here}@127.0.0.2/usage`.replace("/v1", "") })], {
      evidence: ["x1"],
    });
    keep("cut", [sampleExchange("x1", { body: cut })], { evidence: ["x1"] });
    keep("redacted", [sampleExchange("x1", { body: textBody("[redacted key]") })], { evidence: ["x1"] });
    keep("signed", [sampleExchange("x1", hook)], { evidence: ["x1"] });
    keep("delivered", [sampleExchange("x1")], { evidence: ["x1", "d1"] });
    keep("bare", [], { evidence: [] });
    const far = "https://api.example.com/v1";
    keep("far", [sampleExchange("x1", { url: `${far}/agents/echo/invoke` })], { evidence: ["x1"] }, far);
    const headers = [["Authorization", "Bearer [redacted home]"]] as const;
    keep(
      "luring",
      [sampleExchange("x1", { ...get, url: `${far}/usage`, headers }), { ...sampleExchange("x2"), key: "other" }],
      { evidence: ["x1"] },
      far,
    );
  });

  it.each<[string, string[], RegExp, Record<string, string>?]>([
    [
      "an unknown check",
      ["kept", "SSE-999"],
      /^The report has no check "SSE-999"\. Failed checks of it that can be: ERR-13, SSE-5\.|SSE-5, ERR-13/,
    ],
    ["a check without exchanges", ["bare", "SSE-5"], /^SSE-5 \(fail\) names no exchange/],
    ["deliveries", ["delivered", "SSE-5"], /^SSE-5 rests on deliveries \(d1\).*conformance run --only SSE-5/],
    ["no report", ["absent", "SSE-5"], /^The report cannot be read: absent \(ENOENT\)/],
    ["an unknown instance", ["one", "SSE-5", "--instance", "free"], /^SSE-5 has no instance "free"/],
    ["a missing key", ["one", "SSE-5"], /^The requests were sent with the key "key", .*set CONFORMANCE_API_KEY/],
    [
      "a key that the target file has not",
      ["kept", "SSE-5", "--target", "less.json"],
      /^The target file has no key "team".*it has free/,
    ],
    [
      "one key for a report of several",
      ["luring", "SSE-5", "--api-key", "k"],
      /^--api-key is for a report made with one key/,
    ],
    ["a key that is none", ["one", "SSE-5", "--api-key", "a b"], /^The API key holds white space/],
    [
      "a target file and a key",
      ["one", "SSE-5", "--api-key", "k", "--target", "sound.json"],
      /^--api-key and --target exclude/,
    ],
    ["a target file of another address", ["kept", "SSE-5", "--target", "sound.json"], /choose one with --base-url/],
    [
      "a request to another host",
      ["elsewhere", "SSE-5"],
      /^The request x1 cannot be sent again: it went to http:\/\/127\.0\.0\.2:8080/,
      withKey,
    ],
    [
      "an address in disguise",
      ["disguised", "SSE-5"],
      /^The request x1 cannot be sent again: it went to http:\/\/127\.0\.0\.2/,
      withKey,
    ],
    ["a body that was cut", ["cut", "SSE-5"], /of its body of 300000 bytes only the ends were kept/, withKey],
    ["a body with a secret", ["redacted", "SSE-5"], /a secret was redacted in its body/, withKey],
    [
      "a secret that is no key",
      ["signed", "SSE-5", "--target", "sound.json", "--base-url", here],
      /has no key "signing secret"/,
    ],
    [
      "a POST to another machine",
      ["far", "SSE-5"],
      /^https:\/\/api\.example\.com\/v1 is not this machine, and this sends POST \/v1\/agents\/echo\/invoke: give --yes/,
      withKey,
    ],
    [
      "variables that a report leads away",
      ["luring", "SSE-5"],
      /the report alone says that HOME_KEY goes there/,
      { HOME_KEY: "secret" },
    ],
  ])("%s, in one line", async (_, args, text, variables = {}) => {
    const ended = await replay(args, variables);
    expect(ended.err).toMatch(text);
    expect(ended.err.trimEnd().split("\n")).toHaveLength(1);
    expect(ended.out).toBe("");
    expect(ended.code).toBe(2);
  });
});

describe("conformance replay, of a target that does harm", () => {
  const quick = [
    "closes at once",
    "resets the connection",
    "sends bytes that are not HTTP",
    "sends the status 000",
    "sends large events without end",
    "announces less than it sends",
    "sends a gzip bomb",
    "sends broken gzip",
    "nests JSON 100,000 deep",
    "nests JSON 4,000 deep",
    "nests the JSON of an event",
    "sends text that is not UTF-8",
    "sends 100 kB of headers",
    "sends 1 MB of headers",
  ] as const;
  it.each(quick)(
    "says that it is another answer: %s",
    async (name) => {
      const server = await startHostile(hostilities[name]);
      const ended = await replay(["one", "SSE-5", "--base-url", server.baseUrl], withKey);
      server.close();
      expect(ended.out).toMatch(/^1 of 1 response differs$/m);
      expect(ended.code).toBe(1);
      expect(ended.out.length).toBeLessThan(20_000);
    },
    30_000,
  );

  it("shows neither a key that comes back, in whatever pieces, nor what a terminal would act upon", async () => {
    const server = await startAnsweringServer((request, response) => {
      const key = (request.headers.authorization ?? "").slice("Bearer ".length);
      const pieces = [key.slice(0, 10), key.slice(10)].map(
        (content) => `event: chunk\ndata: ${JSON.stringify({ content })}\n\n`,
      );
      response.writeHead(200, { "content-type": "text/event-stream", "x-echo": Buffer.from(key).toString("base64") });
      response.end(`event: start\ndata: {"message":"\\u001b[31m${key}"}\n\n${pieces.join("")}`);
    });
    const ended = await replay(["one", "SSE-5", "--base-url", server.baseUrl], withKey);
    server.close();
    for (const part of [
      secretKey,
      secretKey.slice(0, 10),
      secretKey.slice(10),
      Buffer.from(secretKey).toString("base64"),
    ])
      expect(ended.out).not.toContain(part);
    expect(ended.out).not.toContain("\u001b");
    expect(ended.code).toBe(1);
  });

  it("ends with 3 where nobody is there", async () => {
    const server = await startAnsweringServer(() => {});
    server.close();
    const ended = await replay(["one", "SSE-5", "--base-url", server.baseUrl], withKey);
    expect(ended.out).toMatch(/the target was not reached$/m);
    expect(ended.code).toBe(3);
  });
});
