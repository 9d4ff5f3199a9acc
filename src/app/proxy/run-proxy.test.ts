import { createServer } from "node:http";

import { request } from "undici";
import { afterEach, describe, expect, it } from "vitest";

import { listenOnLoopback, plainNetwork } from "../../base/network/network.ts";
import { findPatch } from "../../reference/catalogue.ts";
import { systemClock, type Reference, startReference } from "../../reference/reference.ts";
import type { Report } from "../../report/model/report.ts";
import { newestRequirements } from "../../spec/clause.ts";
import { type JudgingProxy, startProxy } from "./run-proxy.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function referenceWith(...faults: readonly string[]): Promise<Reference> {
  const patches = faults.flatMap((name) => findPatch("fault", name) ?? []);
  const reference = await startReference({ clock: systemClock(), patches });
  opened.push(() => reference.close());
  return reference;
}

const breaches: string[] = [];
const proxyTo = (baseUrl: string, tiers: ReadonlyMap<string, string> = new Map()): Promise<JudgingProxy> =>
  startProxy({
    baseUrl,
    network: plainNetwork,
    host: "127.0.0.1",
    port: 0,
    tls: null,
    tiers,
    keepsBodies: true,
    requirements: newestRequirements,
    tierName: "--tier",
    onBreach: (check) => breaches.push(check),
  });

const key = "ah_pro_8pZr5HdW0gUf2xNa7KqEj4Vm";

async function call(baseUrl: string, path: string, json?: object, token = key): Promise<number> {
  const { statusCode, body } = await request(baseUrl + path, {
    method: json === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, ...(json && { "content-type": "application/json" }) },
    body: json === undefined ? null : JSON.stringify(json),
  });
  await body.dump();
  return statusCode;
}

const redIn = ({ findings }: Report): string[] => [
  ...new Set(findings.flatMap(({ outcome, clause }) => (outcome === "fail" || outcome === "error" ? [clause] : []))),
];

/** Some requests to each endpoint that every server has. */
async function useAll(baseUrl: string): Promise<void> {
  for (const path of ["/agents?page=1&limit=2", "/usage", "/agents/echo/health", "/agents/none/health"])
    await call(baseUrl, path);
  await call(baseUrl, "/agents/echo/invoke", { query: "hello" });
  await call(baseUrl, "/agents/echo/invoke", {});
  await call(baseUrl, "/agents/echo/stream", { query: "hello" });
  await call(baseUrl, "/usage", undefined, "ah_wrong_000000000000000");
}

describe("a judging proxy", () => {
  it("finds nothing wrong with a right server, and keeps no key", async () => {
    const { baseUrl } = await referenceWith();
    const proxy = await proxyTo(baseUrl, new Map([["key-1", "pro"]]));
    await useAll(proxy.baseUrl);
    const { report, evidence } = (await proxy.finish()).server;
    expect(redIn(report)).toEqual([]);
    expect(report.totals.pass).toBeGreaterThan(70);
    expect(report).toMatchObject({
      verdict: "partial",
      created: [],
      recording: { exchanges: 8, keys: 2, leftOut: [] },
    });
    expect(JSON.stringify({ report, evidence })).not.toContain(key.slice(7, 18));
  });

  it.each([
    ["missing-query-other-code", "INV-10"],
    ["end-missing", "SSE-5"],
  ])("finds the fault %s, and says so while it goes on", async (fault, clause) => {
    const { baseUrl } = await referenceWith(fault);
    const proxy = await proxyTo(baseUrl);
    await useAll(proxy.baseUrl);
    const { report } = (await proxy.finish()).server;
    expect(redIn(report)).toEqual([clause]);
    expect(breaches.some((check) => check.startsWith(clause))).toBe(true);
  });

  it("judges the clients, too: a path with two versions breaks a must, other mistakes may be meant", async () => {
    const { baseUrl } = await referenceWith();
    const proxy = await proxyTo(baseUrl);
    await call(proxy.baseUrl, "/v1/usage");
    await call(proxy.baseUrl, "/agents/echo/invoke", {});
    const { server, client } = await proxy.finish();
    expect(redIn(server.report)).toEqual([]);
    expect(redIn(client.report)).toEqual(["CLI-1"]);
    expect(client.report).toMatchObject({ party: "client", recording: { exchanges: 2 } });
    expect(client.report.findings.find(({ check }) => check === "CLI-6")?.outcome).toBe("note");
    expect(JSON.stringify(client)).not.toContain(key.slice(7, 18));
  });

  it("keeps the first exchanges of each kind, and counts the others", async () => {
    const { baseUrl } = await referenceWith();
    const proxy = await proxyTo(baseUrl);
    for (let at = 0; at < 20; at += 1)
      await Promise.all(Array.from({ length: 50 }, () => call(proxy.baseUrl, "/agents/echo/health")));
    const { report, evidence } = (await proxy.finish()).server;
    expect(redIn(report)).toEqual([]);
    expect(evidence.exchanges.length).toBeLessThan(20);
    expect(report.recording).toMatchObject({
      exchanges: evidence.exchanges.length,
      counted: 1000 - evidence.exchanges.length,
    });
  });

  it("judges each key by its tier: no key is admitted more often than that", async () => {
    const server = createServer((incoming, response) => {
      incoming
        .resume()
        .on("end", () => response.writeHead(200, { "Content-Type": "application/json" }).end('{"result":{}}'));
    });
    const port = await listenOnLoopback(server);
    opened.push(() => server.close());
    const proxy = await proxyTo(`http://127.0.0.1:${port}/v1`, new Map([["*", "free"]]));
    for (let at = 0; at < 60; at += 1) await call(proxy.baseUrl, "/agents/echo/invoke", { query: "hello" });
    const { report } = (await proxy.finish()).server;
    expect(report.findings.find(({ check }) => check === "LIM-1/recorded")).toMatchObject({ outcome: "fail" });
  });

  it("does not blame the server for the responses of the proxy, or for clients that leave", async () => {
    const reference = await referenceWith();
    const proxy = await proxyTo(reference.baseUrl);
    await call(proxy.baseUrl, "/usage");
    const controller = new AbortController();
    const left = request(`${proxy.baseUrl}/agents/sleeper/invoke`, {
      method: "POST",
      body: "{}",
      signal: controller.signal,
    });
    controller.abort();
    await expect(left).rejects.toThrow(/abort/i);
    await reference.close();
    expect(await call(proxy.baseUrl, "/usage")).toBe(502);
    const { report } = (await proxy.finish()).server;
    expect(redIn(report)).toEqual([]);
    expect(report.recording?.leftOut.map(({ why }) => why)).toContain(
      "answered by the proxy itself, because the server gave no response",
    );
  });
});
