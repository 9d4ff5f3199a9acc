import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { tierNames } from "../spec/tiers.ts";
import { startAnsweringServer, startHostile } from "../wire/testing/hostile.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "bad-input-"));
const conformance = commandLineIn(folder);

const file = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
const targetFile = (name: string, changes: object): string[] => [
  "run",
  "--target",
  file(name, { baseUrl: "http://127.0.0.1:9", keys: { main: { key: "pk_1", tier: "pro" } }, ...changes }),
];
const at = (baseUrl: string, ...more: string[]): string[] => [
  "run",
  "--base-url",
  baseUrl,
  "--api-key",
  "pk_1",
  ...more,
];

const initAt = (...more: string[]): string[] => ["init", "--base-url", "http://127.0.0.1:9", ...more];

const fromFlags: [string, string[], RegExp][] = [
  ["an unknown flag", ["run", "--bass-url", "x"], /unknown option '--bass-url'.*--base-url/],
  ["an unknown command", ["runn"], /unknown command 'runn'.*run/],
  ["an unknown clause", ["run", "--only", "SSE-999"], /--only "SSE-999" matches no clause, check or suite/],
  ["an unknown suite", ["run", "--skip", "Webhoks"], /--skip "Webhoks" matches no clause, check or suite.*suites: /],
  [
    "a clause to explain that is not there",
    ["explain", "SSE-999"],
    /There is no clause "SSE-999"\. There are: SSE-1 to SSE-\d+/,
  ],
  [
    "a level that is none",
    ["list", "--level", "most"],
    /--level is "most"; allowed: must, should, advisory, gap, policy/,
  ],
  [
    "a party that is none",
    ["list", "--party", "nobody"],
    /--party is "nobody"; allowed: server, client, receiver, file, people/,
  ],
  ["a selection of nothing", ["run", "--only", "SSE-4", "--skip", "SSE-*"], /No check is left/],
  ["a base URL that is none", at("not a url"), /The base URL is not a URL: "not a url"\. Give it like https:/],
  ["a base URL without a scheme", at("api.example.com/v1"), /The base URL is not a URL/],
  ["ftp", at("ftp://api.example.com"), /neither http nor https/],
  ["a base URL with a query", at("https://api.example.com/v1?a=b"), /must not carry a query or a fragment/],
  [
    "a base URL with credentials",
    at("https://me:pw@api.example.com/v1"),
    /must not carry a user name or password: "https:\/\/…@api/,
  ],
  [
    "no key",
    ["run", "--base-url", "http://127.0.0.1:9"],
    /There is a base URL but no API key\. Set CONFORMANCE_API_KEY/,
  ],
  [
    "a key with a blank",
    ["run", "--base-url", "http://127.0.0.1:9", "--api-key", "a b"],
    /The API key holds white space/,
  ],
  ["a key and no target", ["run", "--api-key", "pk_1"], /--api-key needs a target: give --base-url/],
  ["an unknown tier", at("http://127.0.0.1:9", "--tier", "gold"), /--tier is "gold"; allowed: free, pro, team/],
  [
    "a wait that is none",
    at("http://127.0.0.1:9", "--max-wait", "soon"),
    /--max-wait is "soon"; give a duration like 90s/,
  ],
  ["a negative wait", at("http://127.0.0.1:9", "--max-wait=-5s"), /--max-wait is "-5s"/],
  ["a wait without a unit", at("http://127.0.0.1:9", "--max-wait", "90"), /--max-wait is "90"/],
  ["no requests at all", at("http://127.0.0.1:9", "--max-requests", "0"), /--max-requests is "0"; give a whole number/],
  ["a fault on a foreign target", at("http://127.0.0.1:9", "--fault", "done-twice"), /fault/],
  ["an unknown fault", ["run", "--fault", "stream-nonsense"], /There is no fault "stream-nonsense"\. Near: .*stream/],
  [
    "an unknown variant",
    ["run", "--variant", "zzz"],
    /There is no variant "zzz"\. `conformance serve --help` lists them/,
  ],
  [
    "an output folder where none can be made",
    ["run", "--out", "/proc/none"],
    /The output folder cannot be written: \/proc\/none \(\w+\)\. Give another with --out/,
  ],
  [
    "an output folder that is a file",
    ["run", "--out", file("taken.txt", "x")],
    /The output folder cannot be written: \S+ \(ENOTDIR\)\. Give another with --out/,
  ],
  [
    "a file that cannot be written",
    ["run", "--json", join(file("plain.txt", "x"), "report.json")],
    /--json cannot be written: \S+plain\.txt\/report\.json \(E/,
  ],
  ["no baseline", ["run", "--baseline", "none.json"], /The baseline cannot be read: none\.json/],
  ["a report that is not there", ["rejudge", "none"], /none/],
  [
    "a receiver's address that is none",
    at("http://127.0.0.1:9", "--receiver-listen", "here"),
    /--receiver-listen: .*HOST:PORT/,
  ],
  ["a receiver's URL that is none", at("http://127.0.0.1:9", "--receiver-url", "here"), /--receiver-url: /],
  [
    "a proxy with a wrong percent-encoding",
    at("http://127.0.0.1:9", "--proxy", "http://user:%zz@host:1"),
    /^--proxy has a user name or password with a wrong percent-encoding\. Write % as %25\./,
  ],
  ["a receiver and no target", ["run", "--receiver-listen", "127.0.0.1:0"], /--receiver-listen needs a target/],
  ["a plan of nothing", ["plan", "--only", "SSE-4", "--skip", "SSE-*"], /No check is left/],
  ["a plan of an unknown clause", ["plan", "--only", "SSE-999"], /--only "SSE-999" matches no clause/],
  ["a plan with a wait that is none", ["plan", "--max-wait", "soon"], /--max-wait is "soon"/],
  ["a plan without a key", ["plan", "--base-url", "http://127.0.0.1:9"], /There is a base URL but no API key/],
  [
    "init with nobody to ask, and nothing said",
    ["init"],
    /There is no terminal to ask on\. Give --base-url, the key in \$CONFORMANCE_API_KEY .*, --yes\./,
  ],
  ["init without leave to write", initAt("--api-key", "pk_1"), /There is no terminal to ask on\. Give --yes\./],
  ["init without a key", initAt("--yes", "--key-variable", "NOT_SET"), /Give the key in \$NOT_SET/],
  [
    "init with a key for the name of a variable",
    initAt("--key-variable", "pk-4471-x"),
    /no name for an environment variable/,
  ],
  ["init with a key with a blank", initAt("--yes", "--api-key", "a b"), /holds white space/],
  ["init with a base URL that is none", ["init", "--base-url", "here"], /The base URL is not a URL: "here"/],
  ["init with an unknown tier", initAt("--tier", "gold"), /--tier is "gold"; allowed: free, pro, team/],
  ["init with an empty name", initAt("--name", ""), /--name is empty/],
  [
    "init over a file that is there",
    initAt("--yes", "--api-key", "pk_1", "--out", file("there.json", "{}")),
    /there\.json is there already\. Give another file \(--out\), or --force/,
  ],
  [
    "init into a folder that is not there",
    initAt("--yes", "--api-key", "pk_1", "--out", join(folder, "none", "a.json")),
    /The folder of .*a\.json is not there, or cannot be written/,
  ],
  ["a port that is none", ["serve", "--port", "http"], /--port is "http"; give a number from 0 to 65535/],
];

const fromFiles: [string, string[], RegExp][] = [
  [
    "a target file that is not there",
    ["run", "--target", "none.json"],
    /The target file cannot be read: none\.json \(ENOENT\)/,
  ],
  ["a target file that is not JSON", ["run", "--target", file("broken.json", "{")], /broken\.json is not JSON: /],
  [
    "a target file and a base URL",
    [...targetFile("both.json", {}), "--base-url", "http://127.0.0.1:9"],
    /--base-url and --target exclude each other/,
  ],
  [
    "a typo at the top",
    targetFile("top.json", { agent: {} }),
    /the file has "agent", which is not known there; allowed: name, baseUrl, keys, auth, agents/,
  ],
  [
    "a typo in a key",
    targetFile("key.json", { keys: { main: { key: "k", teir: "pro" } } }),
    /keys\.main has "teir", which is not known there; allowed: key, tier/,
  ],
  [
    "a typo in an agent's role",
    targetFile("role.json", { agents: { answring: "a" } }),
    /agents has "answring".*allowed: answering, streaming/,
  ],
  ["no key in the file", targetFile("keyless.json", { keys: {} }), /keys: at least one key is needed/],
  [
    "a tier that is none",
    targetFile("tier.json", { keys: { main: { key: "k", tier: "gold" } } }),
    new RegExp(`keys\\.main\\.tier is "gold"; allowed: ${tierNames.join(", ")}\\.`),
  ],
  [
    "a variable that is not set",
    targetFile("unset.json", { keys: { main: { key: "${NOT_SET_HERE}" } } }),
    /keys\.main\.key takes \$NOT_SET_HERE, which is not set/,
  ],
  [
    "a base URL in the file that is none",
    targetFile("url.json", { baseUrl: "nonsense" }),
    /The base URL is not a URL: "nonsense"/,
  ],
  [
    "a duplicate name in the file",
    [
      "plan",
      "--target",
      file("twice.json", '{"baseUrl": "http://127.0.0.1:9",\n "keys": {}, "baseUrl": "http://127.0.0.1:8"}'),
    ],
    /twice\.json has a duplicate name "baseUrl" in line 2, column 14\./,
  ],
  [
    "__proto__ in the file",
    ["plan", "--target", file("proto.json", '{"keys": {"__proto__": {"key": "a"}}}')],
    /proto\.json has the name "__proto__", which cannot be used, in line 1, column 11\./,
  ],
  ["a number for a string", targetFile("number.json", { name: 5 }), /name: .*expected string/],
];

const depth = 20_000;
const deep = {
  array: "[".repeat(depth) + "]".repeat(depth),
  object: '{"a":'.repeat(depth) + "1" + "}".repeat(depth),
};
const deepFiles = Object.entries(deep).flatMap(([kind, text]): [string, string[]][] => {
  const name = `deep-${kind}.json`;
  file(name, text);
  const report = mkdtempSync(join(folder, "report-"));
  writeFileSync(join(report, "report.json"), text);
  return [
    [`a target file, ${kind}`, ["plan", "--target", name]],
    [`a baseline, ${kind}`, ["run", "--baseline", name]],
    [`a vendors file, ${kind}`, ["vendors", name]],
    [`a report, ${kind}`, ["report", report]],
    [`a statement, ${kind}`, ["verify", name, report]],
    [`load evidence, ${kind}`, ["load", "judge", name]],
    [`an agent file, ${kind}`, ["serve", "--port", "0", "--agent", name]],
  ];
});

describe("a file that is nested 20,000 deep: one line, exit code 2", () => {
  it.each(deepFiles)("%s", async (_, args) => {
    const { code, out, err } = await conformance(args);
    expect(err).toMatch(/\.json\b/);
    expect(err.trimEnd()).not.toContain("\n");
    expect(err).not.toMatch(/RangeError|\bat .*\.ts:\d+/);
    expect([code, out]).toEqual([2, ""]);
  });
});

describe("bad input: one line, exit code 2, nothing sent", () => {
  it.each([...fromFlags, ...fromFiles])("%s", async (_, args, expected) => {
    const { code, out, err } = await conformance(args);
    expect(err).toMatch(expected);
    expect(err.trimEnd()).not.toContain("\n");
    expect(err).not.toMatch(/\bat .*\.ts:\d+/);
    expect([code, out]).toEqual([2, ""]);
  });
});

describe("a target that cannot be judged: one sentence, exit code 3", () => {
  it.each<[string, () => Promise<{ baseUrl: string; close: () => void }>, RegExp]>([
    [
      "nothing listens",
      () => Promise.resolve({ baseUrl: "http://127.0.0.1:9/v1", close: () => {} }),
      /Is the server running/,
    ],
    ["it closes at once", () => startHostile((socket) => void socket.end()), /does not respond to HTTP requests/],
    [
      "it answers HTML",
      () => startAnsweringServer((_, response) => void response.setHeader("content-type", "text/html").end("<p>")),
      /is not an Agent Hosting Service Interface/,
    ],
  ])("%s", async (_, start, expected) => {
    const server = await start();
    const { code, out, err } = await conformance(["run", "--base-url", server.baseUrl, "--quiet"], {
      CONFORMANCE_API_KEY: "pk_secret-4471",
    });
    server.close();
    expect(err).toMatch(expected);
    expect(err.trimEnd()).not.toContain("\n");
    expect(err).not.toContain("pk_secret-4471");
    expect([code, out]).toEqual([3, ""]);
  });
});
