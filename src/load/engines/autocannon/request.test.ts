import { describe, expect, it } from "vitest";

import { invoke, slowInvoke } from "../../../../scenarios/traffic.ts";
import { EngineProblem } from "../../engine.ts";
import { prepareRequest, type RequestTarget } from "./request.ts";

const whereAgentIs = (answering: string): RequestTarget => ({
  baseUrl: "http://127.0.0.1:1/v1",
  agents: { answering, streaming: null, slow: null, slowStreaming: null, failing: null },
  roleRequests: {},
  userAgent: "test",
});

describe("a call of an agent", () => {
  it.each([
    ["echo", "/agents/echo/invoke"],
    ["a/b c?", "/agents/a%2Fb%20c%3F/invoke"],
    ["...", "/agents/.../invoke"],
  ])("has its id %s in the path", (id, path) => {
    expect(prepareRequest(invoke, "key", whereAgentIs(id)).url).toBe(`http://127.0.0.1:1/v1${path}`);
  });

  it.each([".", ".."])("that is named %s is refused: the URL would lose it", (id) => {
    expect(() => prepareRequest(invoke, "key", whereAgentIs(id))).toThrow(EngineProblem);
    expect(() => prepareRequest(invoke, "key", whereAgentIs(id))).toThrow(/taken out of every URL/);
  });

  it("for a role that no agent has says where to name one", () => {
    expect(() => prepareRequest(slowInvoke, "key", whereAgentIs("echo"))).toThrow(/"slow": name one/);
  });
});
