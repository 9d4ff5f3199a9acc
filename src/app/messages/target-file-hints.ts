import type { Need } from "../../run/plan/needs.ts";
import { type AgentRole, agentRoles } from "../../target/target.ts";

/**
 * A hint that would enable a check: `give` names what the user has to provide, and `is` explains it. A list of alternatives shows only
 * `give`.
 */
export interface Hint {
  readonly give: string;
  /** Explanation of `give`; `null` if `give` is clear by itself. */
  readonly is: string | null;
}

type OfAgent = `agents.${AgentRole}`;
type OfEvent = Extract<Need, `triggers.${string}`>;

/** The requirements of probes whose hints this file has. `receiver` is missing: command line and library word that hint differently. */
type OtherNeed = Exclude<Need, OfAgent | OfEvent | "receiver">;

const hintsByNeed: Readonly<Record<OtherNeed, Hint>> = {
  clock: { give: "`clock.advance` in the target file", is: "a call that moves the target's clock" },
  signing: {
    give: "`signing.secret`, or `signingSecret` of a key, in the target file",
    is: "the secret that requests are signed with",
  },
  "paths.batch": {
    give: "`paths.batch` in the target file",
    is: "where a batch is posted, such as /agents/{agent_id}/batch",
  },
  "paths.start": {
    give: "`paths.batch` or `paths.operation` in the target file",
    is: "where a batch is posted, or an operation is started",
  },
  "paths.execute": {
    give: "`paths.execute` in the target file",
    is: "the local execution path of an entrypoint, from the origin",
  },
  "keys.expired": { give: 'a key with `"expired": true` under `keys` in the target file', is: null },
  "keys.second": { give: "a second valid key under `keys` in the target file", is: null },
  "keys.temporary": { give: "a key with `expiresInSeconds` under `keys` in the target file", is: null },
  "keys.readOnly": { give: 'a key with `"scope": "read-only"` under `keys` in the target file', is: null },
  "keys.oneAgent": {
    give: "a key with `agents` under `keys` in the target file",
    is: "one that may call only those",
  },
  "keys.elsewhere": {
    give: "a key with `allowedIps` that lack this machine's address under `keys` in the target file",
    is: "one that may not come from here",
  },
  "keys.nearQuota": {
    give: 'a key with `"nearQuota": true`, or with few `tokensPerMonth`, under `keys` in the target file',
    is: "its tokens of the month nearly used up",
  },
};

/** Returns the hint for a missing requirement. It names a line of the target file. */
export function targetFileHint(need: Exclude<Need, "receiver">): Hint {
  if (isOfEvent(need))
    return {
      give: "`triggers` in the target file",
      is: `a call under "${need.slice("triggers.".length)}" that makes the event happen`,
    };
  if (isOfAgent(need))
    return {
      give: `\`${need}\` in the target file`,
      is: `an agent that ${agentRoles[need.slice("agents.".length) as AgentRole]}`,
    };
  return hintsByNeed[need];
}

const isOfEvent = (need: Need): need is OfEvent => need.startsWith("triggers.");
const isOfAgent = (need: Need): need is OfAgent => need.startsWith("agents.");
