import { createServer, type RequestListener } from "node:http";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import { tierNames } from "../spec/tiers.ts";
import { readTargetFile } from "./target-file.ts";
import { UsageError } from "../base/line.ts";
import { type Target, usableKeys } from "./target.ts";

const folder = mkdtempSync(join(tmpdir(), "target-file-"));
const environment = { ACME_PRO: "pk_pro-1", ACME_HOST: "api.acme.example", EMPTY: "" };

function read(changes: object): Target {
  const path = join(folder, "target.json");
  const whole = { baseUrl: "https://${ACME_HOST}", keys: { pro: { key: "${ACME_PRO}", tier: "pro" } }, ...changes };
  writeFileSync(path, JSON.stringify(whole));
  return readTargetFile(path, environment);
}

describe("a target file", () => {
  it("reads environment variables, and remembers the one of the key", () => {
    const { baseUrl, name, keys } = read({});
    expect([baseUrl, name]).toEqual(["https://api.acme.example/v1", "api.acme.example"]);
    expect(keys["pro"]).toMatchObject({ key: "pk_pro-1", tier: "pro", variable: "ACME_PRO", fresh: false });
  });

  it("needs no more than a base URL and a key", () => {
    const { agents, tiers, clock } = read({ keys: { only: { key: "k1" } } });
    expect([agents, tiers, clock]).toEqual([{}, {}, null]);
  });

  it.each([
    [{ answering: "echo" }, { answering: "echo", streaming: "echo" }, "named to answer"],
    [{ answering: "echo", streaming: "drip" }, { answering: "echo", streaming: "drip" }, "named"],
    [{ failing: "crash" }, { failing: "crash" }, "found"],
  ])("with the agents %j lets a run ask %j", (named, agents, agentSource) => {
    expect(read({ agents: named })).toMatchObject({ agents, agentSource });
    expect(Object.keys(read({ agents: named }).agents)).toHaveLength(Object.keys(agents).length);
  });

  it("does not use expired or restricted keys for any probe", () => {
    const target = read({
      keys: {
        pro: { key: "k1", tier: "pro" },
        old: { key: "k2", expired: true },
        reader: { key: "k3", scope: "read-only" },
        one: { key: "k4", agents: ["echo"] },
        elsewhere: { key: "k5", allowedIps: ["203.0.113.9"] },
        brief: { key: "k6", expiresInSeconds: 600 },
      },
    });
    expect(usableKeys(target).map(({ name }) => name)).toEqual(["pro"]);
    expect(target.keys["brief"]?.expiresInSeconds).toBe(600);
  });

  it("sends no key to a local server that asks for none", () => {
    const { auth, keys } = read({ baseUrl: "http://localhost:8787", auth: "none", keys: {} });
    expect([auth, Object.values(keys).map(({ key }) => key)]).toEqual(["none", [""]]);
    expect(read({}).auth).toBe("keys");
  });

  it("reads the limits of custom tiers", () => {
    const tiers = { gold: { perHour: 900, perMinute: 90, concurrent: 9 } };
    const target = read({ tiers, keys: { gold: { key: "k", tier: "gold" } } });
    expect(target.tiers["gold"]).toEqual({
      perHour: 900,
      perMinute: 90,
      concurrent: 9,
      burst: null,
      tokensPerMonth: null,
    });
  });

  it("reads the receiver settings, with defaults that work", () => {
    const publicUrl = "https://tunnel.example/hook";
    const local = { listen: "127.0.0.1:0", publicUrl: null, sources: null };
    expect(read({ webhooks: { publicUrl } }).webhooks).toEqual({ ...local, publicUrl, isReachabilityPromised: true });
    expect(read({ baseUrl: "http://localhost:8787" }).webhooks).toEqual({ ...local, isReachabilityPromised: false });
    expect(read({ baseUrl: "https://api.acme.example" }).webhooks).toBeNull();
  });

  it("reads the source addresses of deliveries, and the header that shows them", () => {
    const sources = ["203.0.113.7", "198.51.100.0/30"];
    const listed = { addresses: sources, header: null };
    expect(read({ webhooks: { sources } }).webhooks?.sources).toEqual(listed);
    expect(read({ webhooks: { sources, sourceHeader: "X-Real-Ip" } }).webhooks?.sources).toEqual({
      ...listed,
      header: "X-Real-Ip",
    });
  });

  it("reads the settle time of the clock, with a default by distance", () => {
    const settleMsOf = (url: string, settleMs?: number): number | undefined =>
      read({ clock: { advance: { url }, settleMs } }).clock?.settleMs;
    expect(settleMsOf("http://127.0.0.1/clock", 2000)).toBe(2000);
    expect(settleMsOf("http://127.0.0.1/clock")).toBe(150);
    expect(settleMsOf("https://acme.example/clock")).toBe(1000);
  });

  it("does not use a key that needs signatures for general use", () => {
    const target = read({ keys: { main: { key: "k" }, signed: { key: "s", signed: true } } });
    expect(usableKeys(target).map(({ name }) => name)).toEqual(["main"]);
  });

  it("reads a signing secret and open paths", () => {
    const { signing, paths } = read({ signing: { secret: "s3cret" }, paths: { batch: "/agents/{agent_id}/batch" } });
    expect([signing, paths]).toEqual([
      { secret: "s3cret" },
      { batch: "/agents/{agent_id}/batch", operation: null, execute: null },
    ]);
  });

  it.each([
    [
      { colour: "red" },
      /the file has "colour", which is not known there; allowed: name, baseUrl, keys, auth, agents, tiers/,
    ],
    [
      { keys: { pro: { key: "k", teir: "pro", fersh: true } } },
      /keys\.pro has "teir", "fersh", which is not known there; allowed: key, tier, expired/,
    ],
    [{ agents: { slows: "x" } }, /agents has "slows".*allowed: answering, streaming, slow/],
    [{ tiers: { gold: { perHour: 0, perMinute: 1, concurrent: 1 } } }, /tiers\.gold\.perHour: /],
    [{ clock: { advance: { url: "x" } } }, /clock\.advance\.url: /],
    [
      { clock: { advance: { url: "http://127.0.0.1/", metod: "POST" } } },
      /clock\.advance has "metod".*allowed: method, url, headers, body/,
    ],
    [{ webhooks: { listen: "8080" } }, /webhooks\.listen: must be HOST:PORT/],
    [{ webhooks: { publicUrl: "tunnel.example" } }, /webhooks\.publicUrl: /],
    [{ webhooks: { sources: ["tunnel.example"] } }, /webhooks\.sources\.0: must be an address or a range/],
    [{ webhooks: { sources: ["203.0.113.0/99"] } }, /webhooks\.sources\.0: must be an address or a range/],
    [{ webhooks: { sources: ["::1"], sourceHeader: "X Ip" } }, /webhooks\.sourceHeader: must be the name of a header/],
    [{ triggers: { "agent.restarted": { url: "http://127.0.0.1/" } } }, /triggers has "agent\.restarted"/],
    [{ clock: { advance: { url: "http://127.0.0.1/" }, settleMs: -1 } }, /clock\.settleMs: /],
    [{ paths: { execute: ".example/x" } }, /paths\.execute: must begin with \//],
    [{ paths: { batches: "/x" } }, /paths has "batches".*allowed: batch, operation, execute/],
    [{ keys: { pro: { key: "a\nb" } } }, /keys\.pro\.key holds white space or characters that a header cannot carry/],
    [{ keys: { pro: { key: "${EMPTY}" } } }, /keys\.pro\.key takes \$EMPTY, which is not set/],
    [
      { keys: { pro: { key: "k", tier: "pros" } } },
      new RegExp(`keys\\.pro\\.tier is "pros"; allowed: ${tierNames.join(", ")}`),
    ],
    [{ auth: "none", keys: {} }, /auth is none, but https:\/\/api\.acme\.example\/v1 is not on loopback/],
    [{ auth: "none", baseUrl: "http://127.0.0.1:9" }, /auth: is none, so there must be no `keys`/],
    [{ baseUrl: "https://x.example/?a=1" }, /must not carry a query/],
  ])("says where %j is wrong, and what is allowed, in one line", (changes, expected) => {
    expect(() => read(changes)).toThrow(UsageError);
    expect(() => read(changes)).toThrow(expected);
    expect(() => read(changes)).toThrow(/^[^\n]*$/);
  });

  it("does not repeat a key in the error", () => {
    expect(() => read({ keys: { pro: { key: "top secret" } } })).toThrow(/^(?!.*secret).*$/);
  });
});

interface Served {
  readonly url: string;
  readonly close: () => void;
}

async function serve(listener: RequestListener): Promise<Served> {
  const server = createServer(listener);
  const port = await listenOnLoopback(server);
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/clock`, close };
}

describe("the calls of a target file", () => {
  it("advance the clock, with seconds or milliseconds as a number or inside a text", async () => {
    const calls: string[] = [];
    const server = await serve((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
      request.on("end", () => {
        calls.push(`${request.method} ${request.url} ${String(request.headers["x-admin"])} ${body}`);
        response.end();
      });
    });
    const advance = {
      url: server.url,
      headers: { "x-admin": "yes" },
      body: { seconds: "${seconds}", ms: "${milliseconds}", note: "by ${seconds} s, ${milliseconds} ms" },
    };
    await read({ clock: { advance } }).clock?.advance(1500);
    server.close();
    expect(calls).toEqual(['POST /clock yes {"seconds":1.5,"ms":1500,"note":"by 1.5 s, 1500 ms"}']);
  });

  it("cause an event", async () => {
    const calls: string[] = [];
    const server = await serve((request, response) => {
      calls.push(`${request.method} ${String(request.headers["x-admin"])}`);
      response.writeHead(calls.length === 1 ? 200 : 500).end();
    });
    const call = { url: server.url, method: "PUT", headers: { "x-admin": "yes" } };
    const { triggers } = read({ triggers: { "deployment.created": call } });
    await triggers["deployment.created"]?.();
    expect(calls).toEqual(["PUT yes"]);
    await expect(triggers["deployment.created"]?.()).rejects.toThrow(/PUT http:\S+ answered 500/);
    server.close();
  });

  it("report their secrets for redaction", async () => {
    const headers = { "Content-Type": "application/json", Authorization: "Bearer header-token-1", "x-admin": "yes" };
    const server = await serve((_, response) => void response.writeHead(403).end());
    const advance = { url: `${server.url}?token=query-token-2`, headers };
    const created = { url: "http://me:pass-word-3@127.0.0.1/", headers };
    const { clock, callSecrets } = read({ clock: { advance }, triggers: { "deployment.created": created } });
    expect(callSecrets).toEqual(["header-token-1", "query-token-2", "pass-word-3"]);
    await expect(clock?.advance(1000)).rejects.toThrow(/^(?!.*query-token).* answered 403$/);
    server.close();
  });

  it("report an error response of the target", async () => {
    const server = await serve((_, response) => void response.writeHead(403).end());
    const { clock } = read({ clock: { advance: { url: server.url } } });
    await expect(clock?.advance(1000)).rejects.toThrow(
      /advances the target's clock failed: POST http:\S+ answered 403/,
    );
    server.close();
  });
});
