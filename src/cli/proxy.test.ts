import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Agent, request } from "undici";
import { afterAll, afterEach, describe, expect, it } from "vitest";

import { createTestCa } from "../base/testing/network.ts";
import { hasOpenssl } from "../base/testing/test-scope.ts";
import { readReport } from "../report/model/report-file.ts";
import { findPatch } from "../reference/catalogue.ts";
import { systemClock, startReference } from "../reference/reference.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "proxy-"));
const conformance = commandLineIn(folder);
const key = "ah_pro_8pZr5HdW0gUf2xNa7KqEj4Vm";
const main = new URL("main.ts", import.meta.url).pathname;

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface RunningProxy {
  readonly baseUrl: string;
  readonly child: ChildProcess;
  /** Resolves with the exit code and all output. */
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
}

/** Starts the command in a process of its own, and waits until it listens. */
async function startProxy(...args: readonly string[]): Promise<RunningProxy> {
  const child = spawn(process.execPath, [main, "proxy", "--port", "0", ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], NO_COLOR: "1" },
  });
  opened.push(() => child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
  const listens = Promise.withResolvers<string>();
  child.stderr.on("data", (piece: Buffer) => {
    err += piece.toString();
    const [, baseUrl] = /^(\S+) passes everything on/m.exec(err) ?? [];
    if (baseUrl !== undefined) listens.resolve(baseUrl);
  });
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, out, err }));
  void ended.then(() => listens.reject(new Error(err)));
  return { baseUrl: await listens.promise, child, ended };
}

const invoke = async (baseUrl: string, json: object, dispatcher?: Agent): Promise<number> => {
  const { statusCode, body } = await request(`${baseUrl}/agents/echo/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(json),
    ...(dispatcher && { dispatcher }),
  });
  await body.dump();
  return statusCode;
};

async function referenceWith(fault: string | null, tls: { cert: string; key: string } | null = null) {
  const patches = fault === null ? [] : [findPatch("fault", fault) ?? []].flat();
  const reference = await startReference({ clock: systemClock(), patches, ...(tls && { tls }) });
  opened.push(() => reference.close());
  return reference;
}

describe("conformance proxy", () => {
  it("ends at SIGINT with a report of what passed, and the report's exit code", async () => {
    const { baseUrl } = await referenceWith("missing-query-other-code");
    const proxy = await startProxy("--upstream", baseUrl, "--out", "wrong", "--html", "wrong.html");
    expect(await invoke(proxy.baseUrl, { query: "hello" })).toBe(200);
    expect(await invoke(proxy.baseUrl, {})).toBe(400);
    proxy.child.kill("SIGINT");
    const { code, out, err } = await proxy.ended;
    expect(out).toMatch(/FAIL {2}INV-10/);
    expect(err).toMatch(/^INV-10\S* is broken: .*INVALID_INPUT/m);
    expect(err).toContain("2 exchanges passed");
    expect(code).toBe(1);
    const written = ["report.json", "evidence.json"].map((name) => readFileSync(join(folder, "wrong", name), "utf8"));
    for (const text of [...written, readFileSync(join(folder, "wrong.html"), "utf8"), out, err])
      expect(text).not.toContain(key.slice(7, 20));
    expect(readReport(written[0] ?? "", "")).toMatchObject({ verdict: "nonconformant", recording: { exchanges: 2 } });
  });

  it("writes a report that can be judged again", async () => {
    const { code, out } = await conformance(["judge", "wrong"]);
    expect(out).toMatch(/FAIL {2}INV-10/);
    expect(code).toBe(1);
    const clients = await conformance(["judge", "wrong/client", "--json", "clients.json"]);
    expect(clients.code).toBe(0);
    const texts = [join("wrong", "client", "report.json"), "clients.json"].map((path) =>
      readFileSync(join(folder, path), "utf8"),
    );
    const [saved, again] = texts.map((text) => readReport(text, ""));
    expect(again?.findings).toEqual(saved?.findings);
    expect(saved).toMatchObject({ party: "client", verdict: "partial" });
  });

  it("ends by itself after --for, with 3 if nothing passed", async () => {
    const { baseUrl } = await referenceWith(null);
    const { code, err } = await (await startProxy("--upstream", baseUrl, "--for", "1ms")).ended;
    expect(err).toContain("0 exchanges passed");
    expect(code).toBe(3);
  });

  it.skipIf(!hasOpenssl())("speaks HTTPS on either side", async () => {
    const files = createTestCa(folder, "localhost");
    const read = (path: string): string => readFileSync(path, "utf8");
    const { baseUrl } = await referenceWith(null, { cert: read(files.cert), key: read(files.key) });
    const upstream = baseUrl.replace("127.0.0.1", "localhost");
    const tls = ["--tls-cert", files.cert, "--tls-key", files.key, "--ca", files.ca];
    const proxy = await startProxy("--upstream", upstream, ...tls, "--out", "tls");
    const dispatcher = new Agent({ connect: { ca: read(files.ca) } });
    opened.push(() => dispatcher.destroy());
    expect(proxy.baseUrl).toMatch(/^https:/);
    expect(await invoke(proxy.baseUrl.replace("127.0.0.1", "localhost"), { query: "hello" }, dispatcher)).toBe(200);
    proxy.child.kill("SIGINT");
    expect(await proxy.ended).toMatchObject({ code: 0, out: expect.stringContaining("partial: nothing broken") });
  });

  it.each<[string, string[], RegExp]>([
    ["no upstream", [], /^Give the server with --upstream URL/],
    ["an upstream that is no URL", ["--upstream", "here"], /^The base URL is not a URL/],
    ["a port that is none", ["--upstream", "http://h/v1", "--port", "x"], /^--port is "x"/],
    [
      "an address of another machine",
      ["--upstream", "http://h/v1", "--host", "192.0.2.1"],
      /^The proxy cannot listen on 192\.0\.2\.1/,
    ],
    ["a duration that is none", ["--upstream", "http://h/v1", "--for", "long"], /^--for is "long"/],
    [
      "a certificate without a key",
      ["--upstream", "http://h/v1", "--tls-cert", "c.pem"],
      /^--tls-cert and --tls-key go together/,
    ],
  ])("refuses %s with one line", async (_, args, says) => {
    const { code, out, err } = await conformance(["proxy", ...args]);
    expect(err).toMatch(says);
    expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({ code: 2, out: "", lines: 1 });
  });
});
