import { Socket } from "node:net";

import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { startReferenceProcess } from "../../reference/embedded/process/server-process.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { startAnsweringServer } from "../../wire/testing/hostile.ts";
import { discoverForLoad } from "./discover-for-load.ts";

const served = await startReferenceProcess();
afterAll(served.close);

describe("the look before load", () => {
  it.each([
    ["makes a slow agent where load needs one and nobody named it, with a key that is fresh no more", true],
    ["tries no agent where load needs none", false],
  ])("%s", async (_, isNeeded) => {
    const { key } = await served.issueKey("pro");
    const target = aTarget(served.baseUrl, {
      keys: { pro: aKey({ name: "pro", key, tier: "pro", fresh: true }) },
      agents: { answering: "echo", streaming: "echo" },
    });
    const discovered = await discoverForLoad(
      target,
      new AbortController().signal,
      new Set(isNeeded ? ["agents.slowStreaming", "receiver"] : ["receiver"]),
    );
    expect(discovered).toMatchObject({ target: { agents: target.agents } });
    expect([Object.keys(discovered.target.roleAssignments), [...discovered.used.keys()]]).toEqual(
      isNeeded ? [["slowStreaming"], ["pro"]] : [[], []],
    );
  });

  it.each([
    ["everything is named", { answering: "echo", streaming: "echo" }],
    ["agents have to be found", {}],
  ])("ends with the limit that this machine met where %s", async (_, agents) => {
    const { key } = await served.issueKey("pro");
    const target = aTarget(served.baseUrl, { keys: { pro: aKey({ name: "pro", key, tier: "pro" }) }, agents });
    const connect = vi.spyOn(Socket.prototype, "connect").mockImplementation(function (this: Socket) {
      process.nextTick(() => this.destroy(Object.assign(new Error("connect EMFILE"), { code: "EMFILE" })));
      return this;
    });
    onTestFinished(() => connect.mockRestore());
    await expect(discoverForLoad(target, new AbortController().signal, new Set())).rejects.toMatchObject({
      reason: { kind: "harness limit", limit: { code: "EMFILE" } },
    });
  });

  it("says that the key's limit is used up", async () => {
    const { baseUrl, close } = await startAnsweringServer((_, response) => {
      response.setHeader("X-RateLimit-Limit", "100");
      response.setHeader("X-RateLimit-Remaining", "0");
      response.setHeader("X-RateLimit-Reset-After", "3000");
      response.end('{"data":[{"agent_id":"echo"}],"pagination":{"page":1,"limit":2,"total":1,"pages":1}}');
    });
    onTestFinished(close);
    const target = aTarget(baseUrl, { keys: { spent: aKey({ name: "spent", tier: "free" }) } });
    await expect(discoverForLoad(target, new AbortController().signal, new Set())).rejects.toMatchObject({
      reason: {
        kind: "nothing to load",
        sentence: expect.stringMatching(/^The key `spent` has too few requests left/),
      },
    });
  });
});
