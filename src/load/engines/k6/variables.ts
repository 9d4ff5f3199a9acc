import type { AgentRole, KeyRole } from "../../../../scenarios/scenario.ts";

// Scripts of k6 import this file: it may use neither Node nor other packages.

/** Environment variables of a k6 script that hold the keys. */
export const keyVariables: Readonly<Record<KeyRole, string>> = { main: "API_KEY", second: "API_KEY_SECOND" };

/** Environment variables of a k6 script that name the agents. */
export const agentVariables: Readonly<Record<AgentRole, string>> = {
  answering: "AGENT",
  streaming: "AGENT_STREAMING",
  slow: "AGENT_SLOW",
  slowStreaming: "AGENT_SLOW_STREAMING",
  failing: "AGENT_FAILING",
};
