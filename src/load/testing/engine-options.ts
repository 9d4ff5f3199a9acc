import { plainNetwork } from "../../base/network/network.ts";
import type { TierLimits, TierName } from "../../spec/tiers.ts";
import type { EngineOptions } from "../engine.ts";
import type { Flow, Scenario } from "../scenarios.ts";

/** The part of a running reference server that an engine needs. */
interface Served {
  readonly baseUrl: string;
  readonly tiers: { readonly pro: TierLimits };
  readonly issueKey: (tier: TierName) => Promise<{ readonly key: string }>;
}

/** Returns options with the clock at normal speed, and without a stop, progress and role requests. */
export const defaultEngineOptions = (): Pick<
  EngineOptions,
  "roleRequests" | "speed" | "segments" | "signal" | "onProgress" | "network" | "dashboardFile" | "userAgent"
> => ({
  roleRequests: {},
  speed: 1,
  segments: 1,
  signal: new AbortController().signal,
  onProgress: () => {},
  network: plainNetwork,
  dashboardFile: null,
  userAgent: "test",
});

/** Returns options for a reference server, with a new Pro key and every agent. */
export const engineOptionsFor = async (served: Served, other: Partial<EngineOptions> = {}): Promise<EngineOptions> => ({
  ...defaultEngineOptions(),
  baseUrl: served.baseUrl,
  keys: { main: (await served.issueKey("pro")).key, second: null },
  tier: "pro",
  limits: served.tiers.pro,
  isFresh: true,
  agents: { answering: "echo", streaming: "echo", slow: "sleeper", slowStreaming: "dripper", failing: "crasher" },
  ...other,
});

/** Makes a Pro scenario for autocannon that sends these flows and claims no clauses. */
export const testScenario = (flows: readonly Flow[], other: Partial<Scenario> = {}): Scenario => ({
  name: "made-for-a-test",
  title: "made for a test",
  sends: "made for a test",
  claims: [],
  tiers: ["pro"],
  engines: ["autocannon"],
  enterpriseLimits: null,
  needs: [],
  flows: () => flows,
  speed: () => 1,
  seconds: () => 1,
  admitted: () => ({}),
  ...other,
});
