import type { EngineOptions } from "../../src/load/engine.ts";
import { defaultEngineOptions } from "../../src/load/testing/engine-options.ts";

/** Returns options for a load engine. By default, they state rate limits that no benchmark reaches. */
export const engineOptionsFor = (
  url: string,
  key: string,
  limits: Partial<EngineOptions["limits"]> = {},
): EngineOptions => ({
  ...defaultEngineOptions(),
  baseUrl: url,
  keys: { main: key, second: null },
  tier: "enterprise",
  limits: { perHour: 1e9, perMinute: 1e9, concurrent: 100, burst: null, tokensPerMonth: 1e12, ...limits },
  isFresh: true,
  agents: { answering: "echo", streaming: "echo", slow: null, slowStreaming: null, failing: null },
});
