import type { AgentRole, KeyRole } from "../../../../scenarios/scenario.ts";

// k6 scripts import this file, so it may import neither Node's modules nor packages.

export const keyVariables: Readonly<Record<KeyRole, string>> = { main: "API_KEY", second: "API_KEY_SECOND" };

export const agentVariables: Readonly<Record<AgentRole, string>> = {
  answering: "AGENT",
  streaming: "AGENT_STREAMING",
  slow: "AGENT_SLOW",
  slowStreaming: "AGENT_SLOW_STREAMING",
  failing: "AGENT_FAILING",
};
