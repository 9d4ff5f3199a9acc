import type { Flow, KeyRole, Operation, TrafficShape } from "../../scenarios/scenario.ts";

export type { Flow, KeyRole, Operation, TrafficShape as Shape };
export type AgentRole = Operation["agent"];

/** k6 takes letters, digits, `-` and `_` in the name of a scenario. */
export const k6NameOf = (flow: Flow): string => flow.name.replaceAll(/[^A-Za-z0-9_-]/g, "-");
