import { boundTable, isBound, type RunBounds } from "../../run/plan/bounds.ts";
import type { Need } from "../../run/plan/needs.ts";
import type { Enabler, Messages, Setting, SkipCause } from "../../run/skip-reason.ts";
import { type AgentRole, agentRoles } from "../../target/target.ts";

interface MessageTerms {
  /** Returns the name by which the user knows a setting: `--max-wait` on the command line, `maxWaitMs` in the library. */
  readonly nameOf: (setting: keyof RunBounds | "agent") => string;
  readonly hints: Readonly<
    Record<
      "agent" | "receiver" | "receiver that is taken" | "receiver within reach" | "selection" | "tier" | "watch",
      Hint
    >
  >;
}

export function createMessages({ nameOf, hints }: MessageTerms): Messages {
  const reason = (cause: SkipCause): string => {
    if (typeof cause === "string") return cause;
    switch (cause.why) {
      case "too long a wait":
        return `${cause.for}: ${formatSeconds(cause.ms)} to wait, and ${nameOf("maxWaitMs")} leaves ${formatSeconds(cause.leftMs)}`;
      case "no time left":
        return `${cause.takes}, which ${nameOf("maxWaitMs")} does not leave`;
      case "no time left to":
        return `${cause.consequence}: \`${nameOf("maxWaitMs")}\` does not leave the time to ${cause.purpose}`;
      case "requests used up":
        return `${nameOf("maxRequests")} ${cause.most} is used up`;
      case "executions used up":
        return `${nameOf("maxExecutions")} ${cause.most} is used up`;
      case "large window":
        return `it uses up a window of ${cause.requests} requests, which is done only where ${nameOf("maxWindow")} allows it`;
      case "too many requests":
        return `it sends ${cause.requests} requests, and ${nameOf("maxRequests")} leaves ${cause.left}`;
      case "too many executions":
        return `it runs agents ${cause.executions} times, and ${nameOf("maxExecutions")} leaves ${cause.left}`;
      case "requests without a bound":
        return `responses decide how many requests it sends, so ${nameOf("maxRequests")} cannot limit it`;
      case "read only":
        return `${nameOf("readOnly")}: it sends more than GET requests`;
      case "fast":
        return `${nameOf("fast")}: it waits, or sends many requests one after the other`;
      case "agent without a path":
        return `The agent that answers is named ${JSON.stringify(cause.agent)}, which no URL can contain unchanged, so no request can address it. Give another under \`agents.answering\`, or with \`${nameOf("agent")}\`.`;
      case "nothing judged":
        return `Nothing was judged: ${reason(cause.because)}.`;
    }
  };
  const hintOf = (what: Need | Setting): Hint => {
    if (isBound(what)) return boundHint(what, nameOf(what));
    if (what === "limit within reach")
      return { give: "a key whose limit may be used up", is: `a known tier, and more \`${nameOf("maxWaitMs")}\`` };
    if (what === "unbounded requests") return { give: `a run without \`${nameOf("maxRequests")}\``, is: null };
    return hasOwnHint(what) ? hints[what] : targetFileHint(what);
  };
  const hasOwnHint = (what: Need | Setting): what is keyof typeof hints => Object.hasOwn(hints, what);
  const needs = (enabler: Enabler): string => {
    if (typeof enabler === "string") return enabler;
    if ("anyOf" in enabler) return joinAlternatives(enabler.anyOf.map(shortNeeds));
    const { give, is } = hintOf(enabler.need);
    return is === null ? give : `${give}: ${is}`;
  };
  const shortNeeds = (enabler: Enabler): string =>
    typeof enabler === "object" && "need" in enabler ? hintOf(enabler.need).give : needs(enabler);
  return { reason, needs };
}

const otherValueTexts = { count: "a larger", duration: "a longer", switch: "a run without" } as const;

const boundHint = (bound: keyof RunBounds, name: string): Hint => ({
  give: `${otherValueTexts[boundTable[bound].kind]} \`${name}\``,
  is: null,
});

const joinAlternatives = (texts: readonly string[]): string => `${texts.slice(0, -1).join(", ")}, or ${texts.at(-1)}`;

const formatSeconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))} s`;

interface Hint {
  readonly give: string;
  readonly is: string | null;
}

type AgentNeed = `agents.${AgentRole}`;
type EventNeed = Extract<Need, `triggers.${string}`>;

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

function targetFileHint(need: Exclude<Need, "receiver">): Hint {
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
