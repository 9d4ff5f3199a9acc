import { createServer } from "node:http";

import { describe, expect, it, onTestFinished } from "vitest";

import { listenOnLoopback } from "../../base/network/network.ts";
import type { Target } from "../../target/target.ts";
import { check, suite } from "../judge/check.ts";
import { holds } from "../judge/finding.ts";
import { agentIds } from "../discovery/discover-target.ts";
import { probe } from "../probe.ts";
import { runSuites } from "../run.ts";
import type { RunResult } from "../run-result.ts";
import { aKey, aTarget } from "../testing/values.ts";

/** Runs a probe that requests a path. Returns the paths that the server received, and the result of the run. */
async function runWithPath(path: string, agents: Target["agents"] = { answering: "echo" }) {
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    response.writeHead(200, { "content-type": "application/json" }).end('{"data":[],"pagination":{"page":1}}');
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => void server.close());
  const target = aTarget(`http://127.0.0.1:${port}/v1`, {
    keys: { key: aKey({ tier: "team" }) },
    agents,
    agentSource: "named",
  });
  const requestPath = probe("a path is requested", { requests: 1 }, ({ client }) => client.send("GET", path));
  const result: RunResult = await runSuites({
    target,
    suites: [suite("Path", [check("USE-1", requestPath, holds)])],
    maxRequests: 20,
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  return { paths, result };
}

describe("a path with a segment that URLs drop", () => {
  it.each([
    "/agents/../health",
    "/agents/./health",
    "/operations/..",
    "/webhooks/%2E%2e/metrics",
    "/webhooks/.%2e?a=b",
  ])("%s is never sent", async (path) => {
    const { paths, result } = await runWithPath(path);
    expect(paths.slice(0, 3)).toEqual(["/v1/agents?page=1&limit=2", "/v1/usage", "/v1/agents/echo/health"]);
    expect(paths).toHaveLength(3);
    expect(result).toMatchObject({
      judgements: [{ finding: { kind: "unproven", reason: expect.stringContaining("URLs drop the segment") } }],
    });
  });

  it.each(["/agents/.../health", "/agents/..a/health", "/agents/%252e%252e/health", "/usage?to=../x"])(
    "%s is sent unchanged",
    async (path) => {
      expect((await runWithPath(path)).paths.at(-1)).toBe(`/v1${path}`);
    },
  );

  it("ends the run before any request if it is the named agent", async () => {
    const { paths, result } = await runWithPath("/usage", { answering: ".." });
    expect(paths).toEqual([]);
    expect(result).toMatchObject({
      kind: "nothing to judge",
      sentence: { why: "agent without a path", agent: ".." },
    });
  });

  it("is not used as the id of a listed agent", () => {
    expect(agentIds({ data: [{ id: ".." }, { id: "." }, { id: "a.b" }] })).toEqual(["a.b"]);
  });
});
