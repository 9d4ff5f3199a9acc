import { createServer } from "node:http";
import { Socket } from "node:net";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { HarnessLimitError } from "../base/harness-limit.ts";
import { listenOnLoopback } from "../base/network/network.ts";
import { targetFromObject } from "./target-file.ts";
import { withConfirmedFreshness } from "./control-calls.ts";

const freshAt = "2026-03-04T05:06:07.000Z";

/** Starts a server that gives this answer to every call. Returns the URL for a call. */
async function serve(status: number, answer: unknown): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(status).end(JSON.stringify(answer)));
  onTestFinished(() => void server.close());
  const port = await listenOnLoopback(server);
  return `http://127.0.0.1:${port}/used`;
}

async function freshKeys(freshness: object | undefined): Promise<string[]> {
  const keys = { main: { key: "k1", fresh: true }, second: { key: "k2", fresh: true }, old: { key: "k3" } };
  const target = targetFromObject({ baseUrl: "http://127.0.0.1:1", keys, freshness }, "here", {});
  const confirmed = await withConfirmedFreshness(target);
  return Object.values(confirmed.keys).flatMap(({ name, fresh }) => (fresh ? [name] : []));
}

const keyUse = (main: string | null): object => ({ main: { last_used_at: main }, second: { last_used_at: null } });

describe("keys that a target file calls fresh", () => {
  it.each<[string, number, unknown, readonly string[]]>([
    ["were never used", 200, { start: "s1", keys: keyUse(null) }, ["main", "second"]],
    [
      "were used before they were fresh",
      200,
      { start: "s1", keys: keyUse("2026-03-04T05:06:06Z") },
      ["main", "second"],
    ],
    ["were used since, on a clock that stands still", 200, { start: "s1", keys: keyUse(freshAt) }, ["second"]],
    ["are unknown to the target", 200, { start: "s1", keys: { main: { last_used_at: null } } }, ["main"]],
    ["belong to another start of the server", 200, { start: "s2", keys: keyUse(null) }, []],
    ["cannot be asked for", 401, { start: "s1", keys: keyUse(null) }, []],
    ["are not what the target names", 200, { start: "s1" }, []],
  ])("and %s", async (_, status, answer, expected) => {
    const url = await serve(status, answer);
    expect(await freshKeys({ freshAt, start: "s1", ask: { method: "GET", url } })).toEqual(expected);
  });

  it("count as used if the target does not answer", async () => {
    const ask = { method: "GET", url: "http://127.0.0.1:9/used" };
    expect(await freshKeys({ freshAt, start: "s1", ask })).toEqual([]);
  });

  it("are a question for the harness alone if it has no file left to ask for them", async () => {
    const none = Object.assign(new Error("connect EMFILE 127.0.0.1:9"), { code: "EMFILE" });
    const connecting = vi.spyOn(Socket.prototype, "connect").mockImplementation(function (this: Socket) {
      return this.destroy(none);
    });
    onTestFinished(() => connecting.mockRestore());
    const ask = { method: "GET", url: "http://127.0.0.1:9/used" };
    await expect(freshKeys({ freshAt, start: "s1", ask })).rejects.toThrow(HarnessLimitError);
  });

  it("are taken at the file's word if it says nothing about confirming it", async () => {
    expect(await freshKeys(undefined)).toEqual(["main", "second"]);
  });
});
