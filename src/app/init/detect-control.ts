import type { Network } from "../../base/network/network.ts";
import { deploymentEvents } from "../../spec/events.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { HttpCall, ParsedTargetFile } from "../../target/target-file-schema.ts";
import { type ControlOffer, controlTokenHeader, readOffer } from "../../target/test-control.ts";

/** Access to the test control of a target. */
export interface ControlAccess {
  readonly baseUrl: string;
  readonly token: string;
  /** Environment variable that holds the token. The target file names it, and never contains the token. */
  readonly variable: string;
  readonly network: Network;
}

/** The parts of a target file that a test control provides. */
export type ControlParts = Pick<ParsedTargetFile, "agents" | "clock" | "control" | "triggers">;

/** A detected test control, or why there is none. */
export type DetectedControl =
  | { readonly kind: "found"; readonly calls: readonly string[]; readonly parts: ControlParts }
  | { readonly kind: "absent"; readonly why: string };

/** Asks a target for its test control, by GET requests alone. Says which parts of a target file follow. */
export async function detectControl({ baseUrl, token, variable, network }: ControlAccess): Promise<DetectedControl> {
  const url = new URL("/test-control", baseUrl).href;
  try {
    const offer = await readOffer({ url, token }, network);
    return { kind: "found", calls: offer.calls, parts: partsOf(offer, url, `\${${variable}}`) };
  } catch (error) {
    if (error instanceof ControlCallFailed) return { kind: "absent", why: error.message };
    throw error;
  }
}

/** Returns the parts of a target file. `token` is the name of a variable there. */
function partsOf({ calls, agents, agentsFollowClock }: ControlOffer, url: string, token: string): ControlParts {
  const callOf = (path: string, body: HttpCall["body"]): HttpCall => ({
    method: "POST",
    url: url + path,
    headers: { [controlTokenHeader]: token },
    body,
  });
  return {
    ...(Object.keys(agents).length > 0 && { agents }),
    ...(calls.includes("clock") && {
      clock: {
        advance: callOf("/clock/advance", { seconds: "${seconds}" }),
        ...(agentsFollowClock && { agentsFollow: true }),
      },
    }),
    ...(calls.includes("keys") && { control: { url, token } }),
    ...(calls.includes("deployments") && { triggers: triggersOf(callOf, agents) }),
  };
}

/** The agent that `created` and `deleted` are about. No other probe uses it. */
const newAgent = "newcomer";

/** The calls for the deployment events. Without an agent that only webhooks are about, the agent that answers is used. */
function triggersOf(
  callOf: (path: string, body: HttpCall["body"]) => HttpCall,
  agents: ControlOffer["agents"],
): NonNullable<ParsedTargetFile["triggers"]> {
  const existing = agents.webhooked ?? agents.answering;
  const calls = deploymentEvents.flatMap((event) => {
    const kind = event.replace("deployment.", "");
    const agent = kind === "created" || kind === "deleted" ? newAgent : existing;
    return agent === undefined ? [] : [[event, callOf("/deployments", { agent_id: agent, event: kind })]];
  });
  return Object.fromEntries(calls) as NonNullable<ParsedTargetFile["triggers"]>;
}
