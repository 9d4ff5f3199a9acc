import { afterAll, describe, expect, it } from "vitest";

import { startReferenceProcess } from "../../reference/embedded/process/server-process.ts";
import { aKey, aTarget } from "../../run/testing/targets.ts";
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
    expect(discovered).toMatchObject({ kind: "ready", target: { agents: target.agents } });
    const { roleAssignments, used } =
      discovered.kind === "ready" ? { ...discovered, ...discovered.target } : { roleAssignments: {}, used: new Map() };
    expect([Object.keys(roleAssignments), [...used.keys()]]).toEqual(
      isNeeded ? [["slowStreaming"], ["pro"]] : [[], []],
    );
  });
});
