import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createSecureServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { findEngines } from "../app/load/available-engines.ts";
import { listenOnLoopback } from "../base/network/network.ts";
import { createTestCa, type ForwardProxy, forwardTo, startProxy, type TestCa } from "../base/testing/network.ts";
import { hasOpenssl } from "../base/testing/test-scope.ts";
import { type ReferenceProcess, startReferenceProcess } from "../reference/embedded/process/server-process.ts";
import { readReport } from "../report/model/report-file.ts";
import type { Report } from "../report/model/report.ts";
import { commandLineIn } from "./testing/command.ts";

/** A host name that does not resolve. Only a proxy can forward requests for it. */
const host = "api.vendor.test";
const password = "pass-word-of-a-proxy";
const folder = mkdtempSync(join(tmpdir(), "network-"));
const command = commandLineIn(folder);
const engines = await findEngines();

let served: ReferenceProcess;
let proxy: ForwardProxy;

beforeAll(async () => {
  served = await startReferenceProcess();
  const allowed = `Basic ${Buffer.from(`corp:${password}`).toString("base64")}`;
  proxy = await startProxy(Number(new URL(served.baseUrl).port), allowed);
});
beforeEach(() => void proxy.requests.splice(0));
afterAll(async () => {
  proxy.close();
  await served.close();
});

const reportIn = (name: string): Report => readReport(readFileSync(join(folder, name, "report.json"), "utf8"), name);
const withUser = (url: string): string => url.replace("http://", `http://corp:${password}@`);
const fewChecks = ["LST-1", "INV-1", "SSE-1", "REQ-*"].flatMap((each) => ["--only", each]);
// The target has no slow agent.
fewChecks.push("--skip", "INV-1/slow*");
const aimed = async (baseUrl: string, ...more: string[]): Promise<string[]> => [
  "--base-url",
  baseUrl,
  "--api-key",
  (await served.issueKey("pro")).key,
  "--tier",
  "pro",
  "--agent",
  "echo",
  ...more,
];

describe("a proxy that the environment names", () => {
  const variables = (): Record<string, string> => ({ HTTP_PROXY: withUser(proxy.url) });

  it("gets the requests of a run in the absolute form, and its password stands nowhere", async () => {
    const { out, err } = await command(
      ["run", ...(await aimed(`http://${host}/v1`)), ...fewChecks, "--out", "plain"],
      variables(),
    );
    expect(reportIn("plain").totals).toMatchObject({ error: 0, skipped: 0 });
    expect(reportIn("plain").target.way).toEqual({ proxy: { url: proxy.url, asksWho: true } });
    expect(proxy.requests.length).toBe(reportIn("plain").requests);
    expect(proxy.requests.filter((each) => !each.includes(` http://${host}/v1/`))).toEqual([]);
    const files = readdirSync(join(folder, "plain")).map((name) => readFileSync(join(folder, "plain", name), "utf8"));
    expect([out, err, ...files].filter((text) => text.includes(password))).toEqual([]);
  });

  it.each([
    ["NO_PROXY names the host", `http://${host}/v1`, { NO_PROXY: `other.test,.${host}` }, []],
    ["--proxy none", `http://${host}/v1`, {}, ["--proxy", "none"]],
  ])("is left out where %s", async (_, baseUrl, more, flags) => {
    const args = ["run", ...(await aimed(baseUrl)), ...fewChecks, ...flags, "--out", "left-out"];
    const { code, err } = await command(args, { ...variables(), ...more });
    expect([code, err, proxy.requests]).toEqual([3, expect.stringContaining(`unreachable: No answer from`), []]);
    expect(err).not.toContain("through the proxy");
  });

  it("never stands before loopback, unless somebody names it", async () => {
    const args = ["run", ...(await aimed(served.baseUrl)), "--only", "LST-1"];
    await command([...args, "--out", "near"], variables());
    const unasked = proxy.requests.length;
    await command([...args, "--out", "asked", "--proxy", withUser(proxy.url)]);
    expect([unasked, reportIn("asked").totals.fail, proxy.requests.length]).toEqual([0, 0, reportIn("asked").requests]);
  });

  it.each([
    ["refuses us", () => proxy.url, /Proxy Authentication Required|proxy wants a user and a password \(407\)/],
    ["is down", () => "http://127.0.0.1:9", /ECONNREFUSED/],
  ])("is named where it %s", async (_, url, says) => {
    const args = ["run", ...(await aimed(`http://${host}/v1`)), "--only", "LST-1", "--proxy", url(), "--out", "no-way"];
    const { code, err } = await command(args);
    expect([code, err]).toEqual([3, expect.stringMatching(says)]);
    expect(err).toContain(`The request went through the proxy ${url()}.`);
  });

  it("is what init looks through, and stands in the file where a flag named it, unless with a password", async () => {
    const network = async (proxyUrl: string): Promise<unknown> => {
      const holding = { CONFORMANCE_API_KEY: (await served.issueKey("pro")).key };
      const args = ["init", "--base-url", `http://${host}`, "--yes", "--force", "--out", "found.json"];
      const { code, out } = await command([...args, "--proxy", proxyUrl], holding);
      expect([code, out.includes(password)]).toEqual([0, false]);
      const file = readFileSync(join(folder, "found.json"), "utf8");
      return (JSON.parse(file) as { readonly network: unknown }).network;
    };
    const open = await startProxy(Number(new URL(served.baseUrl).port));
    expect(await network(open.url)).toEqual({ proxy: open.url });
    expect(await network(withUser(proxy.url))).toBeUndefined();
    open.close();
    expect(proxy.requests.length).toBeGreaterThan(3);
  });

  it.each([
    [
      "a socks proxy",
      ["--proxy", "socks5://127.0.0.1:9"],
      /--proxy is a socks5 proxy; the harness speaks to http and https/,
    ],
    ["an address that is none", ["--proxy", "http://"], /--proxy is no address of a proxy/],
    ["a file that is not there", ["--ca", "none.pem"], /--ca cannot be read: none\.pem \(ENOENT\)/],
    ["a certificate without its key", ["--client-cert", "plain/report.json"], /is no PEM file|belong together/],
    ["a proxy, and no target", ["--proxy", "http://127.0.0.1:9"], /--proxy needs a target/],
  ])("is a usage error where it is %s", async (name, flags, says) => {
    const target = name.endsWith("no target") ? [] : await aimed(`http://${host}`);
    const { code, err } = await command(["run", ...target, ...flags]);
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
  });

  it("is nothing that k6 can use before loopback: one line, exit 2", async () => {
    const target = await aimed(served.baseUrl, "--proxy", proxy.url);
    const { code, err } = await command(["load", "far-over", ...target, "--engine", "k6"]);
    expect([code, proxy.requests]).toEqual([2, []]);
    expect(err).toMatch(
      /k6 sends nothing through a proxy to this machine itself: choose the engine autocannon|needs k6 v2/,
    );
  });
});

describe.skipIf(!hasOpenssl())("a private authority that wants to see a client's certificate, behind a proxy", () => {
  let authority: TestCa;
  let server: Server;
  let port: number;
  let tunnel: ForwardProxy;
  const baseUrl = `https://${host}/v1`;
  const trusted = (): string[] => ["--ca", authority.ca];
  const shown = (): string[] => [
    ...trusted(),
    "--client-cert",
    authority.clientCert,
    "--client-key",
    authority.clientKey,
  ];
  const variables = (): Record<string, string> => ({ HTTPS_PROXY: tunnel.url });

  beforeAll(async () => {
    authority = createTestCa(folder, host);
    const [ca, cert, key] = [authority.ca, authority.cert, authority.key].map((file) => readFileSync(file));
    const needed = { requestCert: true, rejectUnauthorized: true, ca, cert, key };
    server = createSecureServer(needed, forwardTo(Number(new URL(served.baseUrl).port)));
    port = await listenOnLoopback(server);
    tunnel = await startProxy(port);
  });
  beforeEach(() => void tunnel.requests.splice(0));
  afterAll(() => {
    tunnel.close();
    server.close();
  });

  const onlyTunnels = (): void => expect(new Set(tunnel.requests)).toEqual(new Set([`CONNECT ${host}:443`]));

  it("is run through tunnels, and its certificate is one that clients trust", async () => {
    const args = ["run", ...(await aimed(baseUrl)), ...shown(), ...fewChecks, "--out", "secure"];
    await command(args, variables());
    const { totals, findings } = reportIn("secure");
    expect(totals).toMatchObject({ fail: 0, error: 0, skipped: 0 });
    expect(findings.find(({ clause }) => clause === "REQ-1")).toMatchObject({ outcome: "pass", reading: "https" });
    onlyTunnels();
  });

  it("is replayed through tunnels", async () => {
    const { key } = await served.issueKey("pro");
    const shownBy = reportIn("secure").findings.find(({ evidence = [] }) => evidence.length > 0);
    const args = ["replay", "secure", shownBy?.check ?? "none", "--yes", ...shown()];
    const { code, err } = await command(args, { ...variables(), CONFORMANCE_API_KEY: key });
    expect([[0, 1].includes(code), err]).toEqual([true, expect.stringContaining("Sending ")]);
    onlyTunnels();
  });

  it.each([
    ["no --ca", () => [], /does not trust its certificate.*`network\.ca`/],
    ["no certificate of ours", trusted, /certificate required|alert|socket|closed|reset/i],
  ])("is not reached with %s", async (_, flags, says) => {
    const args = ["run", ...(await aimed(baseUrl)), ...flags(), "--only", "LST-1", "--out", "untrusted"];
    const { code, err } = await command(args, variables());
    expect([code, err]).toEqual([3, expect.stringMatching(says)]);
  });

  it("is described by a target file, from where its files are named", async () => {
    const { key } = await served.issueKey("pro");
    const network = { proxy: tunnel.url, ca: "ca.pem", clientCert: "client.pem", clientKey: "client.key" };
    const target = { baseUrl, keys: { pro: { key, tier: "pro" } }, agents: { answering: "echo" }, network };
    writeFileSync(join(folder, "vendor.json"), JSON.stringify(target));
    await command(["run", "--target", "vendor.json", "--only", "LST-1", "--out", "described"]);
    expect(reportIn("described").totals).toMatchObject({ pass: 2, fail: 0 });
    const { url } = tunnel;
    expect(reportIn("described").target.way).toEqual({
      proxy: { url, asksWho: false },
      ca: "ca.pem",
      cert: "client.pem",
      key: "client.key",
    });
    onlyTunnels();
  });

  it.each([
    ["autocannon", "through tunnels", (): string => baseUrl],
    ["autocannon", "straight", (): string => `https://localhost:${port}/v1`],
    ["k6", "through tunnels", (): string => baseUrl],
    ["k6", "straight", (): string => `https://localhost:${port}/v1`],
  ] as const)("is loaded by %s %s", async (engine, way, url): Promise<void> => {
    if (engines[engine] !== null) return;
    const keys = {
      one: { key: (await served.issueKey("free")).key, tier: "free" },
      two: { key: (await served.issueKey("free")).key, tier: "free" },
    };
    const file = `${engine} ${way}.json`;
    writeFileSync(join(folder, file), JSON.stringify({ baseUrl: url(), keys, agents: { answering: "echo" } }));
    const args = [
      "load",
      "burst",
      "--target",
      file,
      ...shown(),
      "--yes",
      "--engine",
      engine,
      "--out",
      `${engine} ${way}`,
    ];
    const { err } = await command(args, variables());
    const { load, totals } = reportIn(`${engine} ${way}`);
    expect([totals.fail, totals.error, err]).toEqual([0, 0, expect.any(String)]);
    expect(load?.runs.map(({ requests }) => requests)).toEqual([expect.objectContaining({ unanswered: 0, failed: 0 })]);
    expect(new Set(tunnel.requests)).toEqual(new Set(way === "straight" ? [] : [`CONNECT ${host}:443`]));
  });
});
