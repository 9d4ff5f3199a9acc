import { describe, expect, it } from "vitest";

import { clauseOf, isClauseId } from "../spec/clauses.ts";
import { faults, listChecks, startServer, variants } from "./index.ts";

const invoke = (baseUrl: string, key: string): Promise<Response> =>
  fetch(`${baseUrl}/agents/echo/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: '{"query":"hello"}',
  });

describe("startServer", () => {
  it("answers each tier's key, and refuses the expired one", async () => {
    await using server = await startServer();
    for (const key of Object.values(server.keys)) expect((await invoke(server.baseUrl, key)).status).toBe(200);
    const expired = server.allKeys.find(({ name }) => name === "expired");
    expect((await invoke(server.baseUrl, expired?.key ?? "")).status).toBe(401);
  });

  it("lets a virtual clock stand still until it is moved", async () => {
    await using server = await startServer({ clock: "virtual" });
    const { key } = server.issueKey("free");
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) statuses.push((await invoke(server.baseUrl, key)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    const before = server.now();
    await server.advance(60_000);
    expect(server.now() - before).toBe(60_000);
    expect((await invoke(server.baseUrl, key)).status).toBe(200);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e18, "5" as never])("does not move a clock by %s", async (ms) => {
    await using server = await startServer({ clock: "virtual" });
    await expect(server.advance(ms)).rejects.toMatchObject({ name: "UsageProblem" });
  });

  it("is stopped twice without harm", async () => {
    const server = await startServer();
    await server.stop();
    await expect(server.stop()).resolves.toBeUndefined();
  });

  it("does not move the machine's clock", async () => {
    await using server = await startServer();
    await expect(server.advance(1)).rejects.toThrow("runs on the machine's clock");
  });

  it("misbehaves as it was told to, and hears of requests", async () => {
    const seen: string[] = [];
    await using server = await startServer({
      faults: ["invoke-answers-202"],
      onRequest: ({ path }) => void seen.push(path),
    });
    const response = await invoke(server.baseUrl, server.keys.pro);
    expect(response.status).toBe(202);
    await response.text();
    await expect.poll(() => seen).toEqual(["/v1/agents/echo/invoke"]);
  });

  it("refuses a fault that is none", async () => {
    await expect(startServer({ faults: ["no-such-thing"] })).rejects.toMatchObject({ name: "UsageProblem" });
  });
});

describe("the catalogue", () => {
  it("names every fault with what it breaks, and every variant", () => {
    expect(faults.find(({ name }) => name === "invoke-answers-202")?.breaks).toEqual(["INV-1"]);
    const isAdvised = (clause: string): boolean => isClauseId(clause) && clauseOf(clause).level === "advisory";
    expect(variants.flatMap(({ breaks }) => breaks).filter((clause) => !isAdvised(clause))).toEqual([]);
  });

  it("lists the checks of a selection", () => {
    const [entry] = listChecks({ only: ["INV-10"] });
    expect(entry).toMatchObject({ id: "INV-10", clause: "INV-10", suite: "Invoke", level: "must" });
    expect(new Set(listChecks().map(({ id }) => id)).size).toBe(listChecks().length);
  });
});
