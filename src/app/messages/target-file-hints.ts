import type { Need } from "../../run/plan/needs.ts";
import { type AgentRole, agentRoles } from "../../target/target.ts";

/**
 * A hint how to enable a skipped check. `give` names what the user has to provide, such as a line of the target file.
 */
export interface Hint {
  readonly give: string;
  /** Explains `give`, after a colon. Left out in a list of alternatives. `null` if `give` needs no explanation. */
  readonly is: string | null;
}

type AgentNeed = `agents.${AgentRole}`;
type EventNeed = Extract<Need, `triggers.${string}`>;

/**
 * Requirements of probes that have a hint in the table below. The hint for `receiver` differs between command line and
 * library, so it is not here.
 */
type TableNeed = Exclude<Need, AgentNeed | EventNeed | "receiver">;

const hintsByNeed: Readonly<Record<TableNeed, Hint>> = {
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

/** Returns the hint for a missing requirement of a probe: the line of the target file that would meet it. */
export function targetFileHint(need: Exclude<Need, "receiver">): Hint {
  if (isEventNeed(need))
    return {
      give: "`triggers` in the target file",
      is: `a call under "${need.slice("triggers.".length)}" that makes the event happen`,
    };
  if (isAgentNeed(need))
    return {
      give: `\`${need}\` in the target file`,
      is: `an agent that ${agentRoles[need.slice("agents.".length) as AgentRole]}`,
    };
  return hintsByNeed[need];
}

const isEventNeed = (need: Need): need is EventNeed => need.startsWith("triggers.");
const isAgentNeed = (need: Need): need is AgentNeed => need.startsWith("agents.");
