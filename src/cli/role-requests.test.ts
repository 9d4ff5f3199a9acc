import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { tryParseJson, getPath } from "../base/json.ts";
import { listenOnLoopback } from "../base/network/network.ts";
import { type ReferenceProcess, startReferenceProcess } from "../reference/embedded/process/server-process.ts";
import { readReport } from "../report/model/report-file.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "players-"));
const command = commandLineIn(folder);

/** Agents of the reference server by the query that selects one. A single agent can so play every role. */
const natures: Readonly<Record<string, string>> = {
  "fail, please": "crasher",
  "take your time": "sleeper",
  "tell me a long story": "dripper",
  "break off": "breaker",
  "too much": "full",
};

let served: ReferenceProcess;
let server: Server;
let port: number;

beforeAll(async () => {
  served = await startReferenceProcess();
  server = createServer((incoming, response) => {
    void text(incoming).then(async (body) => {
      const nature = natures[String(getPath(tryParseJson(body), "query"))] ?? "echo";
      const path = (incoming.url ?? "").replace("/agents/echo/", `/agents/${nature}/`);
      const headers = new Headers(incoming.headers as Record<string, string>);
      for (const name of ["connection", "content-length", "host", "transfer-encoding"]) headers.delete(name);
      const method = incoming.method ?? "GET";
      const answer = await fetch(new URL(path, served.baseUrl), { method, headers, body: body === "" ? null : body });
      response.writeHead(answer.status, [...answer.headers].flat());
      for await (const piece of answer.body ?? []) response.write(piece);
      response.end();
    });
  });
  port = await listenOnLoopback(server);
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await served.close();
});

const failing = { agent: "echo", body: { query: "fail, please" } };
const agents = {
  answering: "echo",
  streaming: "echo",
  failing,
  slow: { agent: "echo", body: { query: "take your time" } },
  slowStreaming: { agent: "echo", body: { query: "tell me a long story" }, path: "/agents/{agent_id}/{endpoint}" },
  failingInStream: { agent: "echo", body: { query: "break off" } },
  overloaded: { agent: "echo", body: { query: "too much" } },
};

async function targetFile(name: string): Promise<string> {
  const { key } = await served.issueKey("pro");
  const target = { baseUrl: `http://127.0.0.1:${port}`, keys: { pro: { key, tier: "pro" } }, agents };
  writeFileSync(join(folder, name), JSON.stringify(target));
  return name;
}

describe("one agent that plays roles by what it is asked", () => {
  it("shows a run what it takes agents of their own for otherwise, and the report says who played what", async () => {
    const only = ["SSE-15", "SSE-7", "LIM-5", "LIM-6", "ERR-16"].flatMap((clause) => ["--only", clause]);
    only.push("--skip", "SSE-15/timing out");
    const { err } = await command(["run", "--target", await targetFile("one.json"), ...only, "--out", "one"]);
    const { findings, target } = readReport(readFileSync(join(folder, "one/report.json"), "utf8"), "one");
    expect([findings.filter(({ outcome }) => !["pass", "observed"].includes(outcome)), err]).toEqual([
      [],
      expect.any(String),
    ]);
    expect(target.roles).toMatchObject({
      answering: "echo",
      failing: 'echo asked with {"query":"fail, please"}',
      slowStreaming: 'echo at /agents/{agent_id}/{endpoint} asked with {"query":"tell me a long story"}',
    });
  });

  it("is in the plan", async () => {
    const { out } = await command(["plan", "--target", await targetFile("planned.json")]);
    expect(out).toMatch(/Roles[^]*failing +echo asked with \{"query":"fail, please"\}/);
  });

  it("holds the slots of a load", async () => {
    const file = await targetFile("loaded.json");
    await command(["load", "concurrency", "--engine", "autocannon", "--target", file, "--out", "loaded"]);
    const { totals, load } = readReport(readFileSync(join(folder, "loaded/report.json"), "utf8"), "loaded");
    expect([totals.fail, totals.error, load?.runs[0]?.requests.refused]).toEqual([0, 0, 6]);
  });

  it("is asked for by init, and written into the file", async () => {
    const { key } = await served.issueKey("pro");
    const at = ["--base-url", `http://127.0.0.1:${port}`, "--agent", "echo", "--out", "found.json", "--yes"];
    const { code, out } = await command(["init", ...at, "--failing-prompt", "fail, please"], {
      CONFORMANCE_API_KEY: key,
    });
    const file: unknown = JSON.parse(readFileSync(join(folder, "found.json"), "utf8"));
    expect([code, getPath(file, "agents", "failing")]).toEqual([0, failing]);
    expect(out).toContain("asked with");
  });

  it.each([
    ["a path for an agent that answers", { answering: { ...failing, path: "/bots" } }, /agents\.answering/],
    ["no agent", { failing: { body: {} } }, /agents\.failing/],
    ["a path without a slash", { failing: { agent: "echo", path: "bot" } }, /agents\.failing/],
  ])("cannot be described with %s", async (_, wrong, says) => {
    const target = { baseUrl: "http://127.0.0.1:9", keys: { pro: { key: "k" } }, agents: wrong };
    writeFileSync(join(folder, "wrong.json"), JSON.stringify(target));
    const { code, err } = await command(["run", "--target", "wrong.json"]);
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
  });
});
