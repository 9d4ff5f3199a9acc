import { describe, expect, it } from "vitest";

import { readTarget } from "./target-flags.ts";

const baseUrl = "http://127.0.0.1:9";

describe("a target from flags and environment", () => {
  it("is the embedded server where nothing is named", () => {
    expect(readTarget({}, { CONFORMANCE_API_KEY: "k" })).toBeNull();
    expect(readTarget({}, { CONFORMANCE_BASE_URL: "" })).toBeNull();
  });

  it("comes from the environment, and a flag goes before it", () => {
    const environment = { CONFORMANCE_BASE_URL: baseUrl, CONFORMANCE_API_KEY: "from-environment" };
    expect(readTarget({}, environment)?.keys["key"]?.key).toBe("from-environment");
    const flagged = readTarget({ apiKey: "from-flag", baseUrl: "http://127.0.0.1:10/v1/" }, environment);
    expect([flagged?.keys["key"]?.key, flagged?.baseUrl]).toEqual(["from-flag", "http://127.0.0.1:10/v1"]);
  });

  it("has agents that were named, or none as yet", () => {
    expect(readTarget({ baseUrl, apiKey: "k" }, {})).toMatchObject({ agents: {}, agentSource: "found" });
    expect(readTarget({ baseUrl, apiKey: "k", agent: "echo" }, {})).toMatchObject({
      agents: { answering: "echo", streaming: "echo" },
      agentSource: "named to answer",
    });
  });

  it("listens for deliveries where a flag says so, or unasked where the target is on loopback", () => {
    const far = { baseUrl: "https://api.acme.example", apiKey: "k" };
    expect(readTarget(far, {})?.webhooks).toBeNull();
    expect(readTarget({ baseUrl, apiKey: "k" }, {})?.webhooks).toMatchObject({ isReachabilityPromised: false });
    expect(readTarget({ ...far, receiverUrl: "https://tunnel.example/hook" }, {})?.webhooks).toEqual({
      listen: "127.0.0.1:0",
      publicUrl: "https://tunnel.example/hook",
      isReachabilityPromised: true,
      sources: null,
    });
    expect(() => readTarget({ ...far, receiverListen: "8080" }, {})).toThrow(/^--receiver-listen: must be HOST:PORT/);
    expect(() => readTarget({ ...far, receiverUrl: "ftp://x" }, {})).toThrow(/^--receiver-url: /);
    expect(() => readTarget({ receiverUrl: "https://tunnel.example" }, {})).toThrow(/needs a target/);
  });

  it("knows the key's tier only where it was said", () => {
    expect(readTarget({ baseUrl, apiKey: "k" }, {})?.keys["key"]?.tier).toBeNull();
    expect(readTarget({ baseUrl, apiKey: "k", tier: "team" }, {})?.keys["key"]?.tier).toBe("team");
  });
});
