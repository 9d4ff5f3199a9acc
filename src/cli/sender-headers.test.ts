import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import { evidenceSchema } from "../evidence/evidence.ts";
import { packageVersion } from "../base/package-root.ts";
import { type ReferenceProcess, startReferenceProcess } from "../reference/embedded/process/server-process.ts";
import { readReport } from "../report/model/report-file.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "sender-headers-"));
const command = commandLineIn(folder);
const seen: Pick<IncomingMessage, "method" | "url" | "headers">[] = [];

let served: ReferenceProcess;
let server: Server;
let port: number;

beforeAll(async () => {
  served = await startReferenceProcess();
  server = createServer((incoming, response) => {
    const { method, url = "/", headers } = incoming;
    seen.push({ method, url, headers });
    const forwarded = request(new URL(url, served.baseUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    incoming.pipe(forwarded);
  });
  port = await listenOnLoopback(server);
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the flags that name the target, with a key that was never used. */
async function targetFlags(): Promise<string[]> {
  const { key } = await served.issueKey("pro");
  return ["--base-url", `http://127.0.0.1:${port}`, "--api-key", key];
}

async function run(out: string, ...others: readonly string[]) {
  seen.length = 0;
  const flags = [...(await targetFlags()), "--only", "LST-1", "--only", "INV-1", "--out", out, ...others];
  const { code, err } = await command(["run", ...flags]);
  expect({ code, err }).toMatchObject({ code: 0 });
  const text = readFileSync(join(folder, out, "report.json"), "utf8");
  return { report: readReport(text, out), evidence: readFileSync(join(folder, out, "evidence.json"), "utf8") };
}

describe("the requests of a run", () => {
  it("name the harness, its version and the start of the run that the report has", async () => {
    const { report, evidence } = await run("plain");
    const agent = `agent-hosting-conformance/${packageVersion()} (run ${report.started})`;
    expect(new Set(seen.map(({ headers }) => headers["user-agent"]))).toEqual(new Set([agent]));
    expect(seen.filter(({ headers }) => headers["x-request-id"] !== undefined)).toEqual([]);
    expect(evidence).not.toContain(agent);
  });

  it("name their exchange with --request-ids, unless they may run an agent", async () => {
    const { report, evidence } = await run("ids", "--request-ids");
    const idsOf = (matches: (each: (typeof seen)[number]) => boolean): (string | undefined)[] =>
      seen.filter(matches).map(({ headers }) => headers["x-request-id"]?.toString());
    const named = idsOf(({ method }) => method === "GET");
    const unnamed = idsOf(({ method, url = "" }) => method === "POST" && /\/(invoke|stream)$/.test(url));
    expect([named.includes(undefined), new Set(named).size, new Set(unnamed)]).toEqual([
      false,
      named.length,
      new Set([undefined]),
    ]);
    const exchanges = Object.values(evidenceSchema.parse(JSON.parse(evidence)).exchanges).filter(
      ({ request: { method } }) => method === "GET",
    );
    expect(exchanges.map(({ id }) => `${report.started}-${id}`).filter((id) => !named.includes(id))).toEqual([]);
    expect(exchanges.length).toBeGreaterThan(0);
  });

  it("name the harness under load", async () => {
    seen.length = 0;
    await command(["load", "burst", "--engine", "autocannon", ...(await targetFlags()), "--tier", "pro", "--yes"]);
    const agents = new Set(seen.map(({ headers }) => headers["user-agent"]?.replace(/ \(run [^)]*\)$/, "")));
    expect(agents).toEqual(new Set([`agent-hosting-conformance/${packageVersion()}`]));
  });
});
