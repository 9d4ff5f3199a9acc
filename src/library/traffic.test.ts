import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import {
  judgeClient,
  judgeRecording,
  NothingToJudge,
  renderHar,
  renderText,
  startProxy,
  startServer,
  troubles,
  UsageProblem,
} from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "library-traffic-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const invoke = (baseUrl: string, key: string, body: object): Promise<Response> =>
  fetch(`${baseUrl}/agents/echo/invoke`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(body),
  });

describe("a program with a proxy", () => {
  it("gets a report of the server and of its clients, and can judge the recording of both again", async () => {
    await using server = await startServer({ clock: "virtual", faults: ["missing-query-other-code"] });
    const breaches: string[] = [];
    await using proxy = await startProxy(server.baseUrl, { onBreach: (check) => void breaches.push(check) });
    await invoke(proxy.baseUrl, server.keys.pro, { query: "hello" });
    await invoke(proxy.baseUrl, server.keys.pro, {});
    expect(proxy.count()).toBe(2);
    const { server: judged, client } = await proxy.finish();
    expect([judged.verdict, client.report.party]).toEqual(["nonconformant", "client"]);
    expect(breaches).toEqual([expect.stringContaining("INV-10")]);
    const again = await judgeRecording(file("session.har", renderHar(judged.document)), { tiers: { "*": "pro" } });
    expect([again.verdict, again.report.target.tiers]).toEqual(["nonconformant", { "key-1": "pro" }]);
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ["a file that is not there", () => judgeRecording(join(folder, "none.har")), /none\.har/],
    ["a tier that is none", () => startProxy("http://127.0.0.1:9/v1", { tiers: { "*": "gold" as "pro" } }), /gold/],
    ["an address that is none", () => startProxy("staging"), /staging/],
  ])("gets a problem of %s", async (_, act, says) => {
    await expect(act()).rejects.toThrow(UsageProblem);
    await expect(act()).rejects.toThrow(says);
  });
});

describe("a program that judges a client", () => {
  const client = file(
    "client.mjs",
    `const { AGENT_BASE_URL, AGENT_API_KEY, AGENT_ID } = process.env;
     const headers = { Authorization: "Bearer " + AGENT_API_KEY, "Content-Type": "application/json" };
     const send = () => fetch(AGENT_BASE_URL + "/agents/" + AGENT_ID + "/invoke", { method: "POST", headers, body: '{"query":"hi"}' });
     if ((await send()).status === 429) await send();`,
  );

  it("gets its verdict, with the seed of the trouble", async () => {
    const judged = await judgeClient([process.execPath, client], { troubles: ["429"], seed: 7 });
    expect(judged.report).toMatchObject({ party: "client", trouble: { seed: 7, kinds: ["429"] } });
    const [waits] = judged.report.findings.filter(({ check }) => check === "CLI-12");
    expect(waits).toMatchObject({ outcome: "warning" });
    expect(renderText(judged.document)).toContain("CLI-12");
    expect(troubles).toContain("429");
  });

  it.each<[string, () => Promise<unknown>, typeof UsageProblem | typeof NothingToJudge]>([
    ["a program that is not there", () => judgeClient(["no-such-client"]), UsageProblem],
    ["an unknown trouble", () => judgeClient([process.execPath, client], { troubles: ["418"] }), UsageProblem],
    ["a client that fails", () => judgeClient([process.execPath, "--no-such-flag"]), NothingToJudge],
  ])("is told of %s", async (_, act, problem) => {
    await expect(act()).rejects.toThrow(problem);
  });
});
